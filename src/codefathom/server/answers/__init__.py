"""Answers while they are written, and the conversations they belong to."""
