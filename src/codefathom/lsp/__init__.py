"""Answers for editors over the Language Server Protocol: what an index knows, beside a language's own server."""
