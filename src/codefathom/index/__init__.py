"""The changes of a project → its index."""
