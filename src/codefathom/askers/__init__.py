"""Several projects at once: which ones a user has named, and one question to all of them."""
