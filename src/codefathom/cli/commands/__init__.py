"""The commands: each asks the engine one thing and shows the answer."""
