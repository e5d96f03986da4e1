"""What a question asks for, and where."""
