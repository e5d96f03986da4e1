"""The stores of a project's vectors: which one is in force, moving to another, comparing it with the index."""
