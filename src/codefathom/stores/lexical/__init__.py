"""The view of words."""
