"""Index runs of the server: their table, their queue, and the process of each."""
