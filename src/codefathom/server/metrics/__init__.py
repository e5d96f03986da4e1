"""What is measured and logged of the server."""
