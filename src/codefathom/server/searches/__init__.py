"""Searches in processes of their own, each in its turn."""
