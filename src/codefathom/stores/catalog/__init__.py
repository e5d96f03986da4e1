"""The catalogue: one SQLite file that decides what exists."""
