"""Settings of coding agents and editors, the hosts of MCP servers: what fathom writes there and takes away again."""
