"""What changed in a project → its index."""
