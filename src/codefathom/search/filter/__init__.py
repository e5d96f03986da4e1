"""Conditions on what may be found."""
