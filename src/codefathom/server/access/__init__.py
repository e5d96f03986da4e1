"""Who may do what: the table of routes, tokens, sessions, and the list of what was done."""
