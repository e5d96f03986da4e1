"""The reach of a change of files: from two versions of texts to symbols, uses and tests."""
