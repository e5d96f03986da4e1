"""Conditions on the lines that a search may return."""
