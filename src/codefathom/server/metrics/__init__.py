"""Measurements and logs of the server."""
