"""Facts that several rooms share. Pure."""
