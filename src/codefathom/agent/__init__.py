"""A model that looks for itself: tools, a loop of rounds with a forced last one, a final answer by schema."""
