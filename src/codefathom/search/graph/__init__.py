"""How files and symbols are connected: imports, calls and uses."""
