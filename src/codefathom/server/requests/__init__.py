"""Questions of routes and of the tools of agents: to one project, to several, for an answer."""
