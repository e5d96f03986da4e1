"""The parts of a question: its words, marks and symbols, its scope, and the plan of its search."""
