"""Connections between files and symbols: imports, calls and uses."""
