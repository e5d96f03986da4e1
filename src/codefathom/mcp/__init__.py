"""Tools for coding agents over the Model Context Protocol."""
