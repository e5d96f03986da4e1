"""The JSON that the routes take and give."""
