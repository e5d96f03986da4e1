"""One module for each tool: `make(scratch)` returns it."""
