"""The command `fathom`."""
