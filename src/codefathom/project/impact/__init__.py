"""What a change of files reaches: from two versions of texts to symbols, uses and tests."""
