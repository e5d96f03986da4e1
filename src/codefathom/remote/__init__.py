"""From a name in the settings to a model that can be asked: over HTTP, or from a folder on this disk."""
