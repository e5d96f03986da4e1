"""The server of `fathom serve`: what the engine can do, over HTTP. Needs the extra `server`."""
