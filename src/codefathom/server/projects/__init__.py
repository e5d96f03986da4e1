"""Which projects the server knows, and their opened engines."""
