"""Facts that need no look at a file: what a path means, and what belongs to each language. Pure."""
