"""The evidence for each candidate, and the order that follows from it."""
