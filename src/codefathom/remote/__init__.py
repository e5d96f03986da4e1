"""From a name in the settings to a model: over HTTP, or from a folder on this disk."""
