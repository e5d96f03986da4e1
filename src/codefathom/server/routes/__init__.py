"""The routes, and what turns a request into work."""
