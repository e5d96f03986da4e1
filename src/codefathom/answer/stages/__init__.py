"""The stages between a question and its answer."""
