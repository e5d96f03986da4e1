"""One opened project: its back ends, its texts as models and people see them, and what is told of it."""
