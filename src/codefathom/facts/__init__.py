"""Facts that every room shares: each has its one home here. Pure."""
