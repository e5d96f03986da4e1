"""Stage 7: what was found → a context in a budget → an answer with checked citations."""
