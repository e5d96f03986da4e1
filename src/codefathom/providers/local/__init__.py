"""Models that run in this process, from files."""
