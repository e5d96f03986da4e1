"""The Model Context Protocol at /mcp: the tools of `fathom mcp`, for the tokens of this server."""
