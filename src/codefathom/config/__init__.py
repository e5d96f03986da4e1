"""Settings: what there is, where it comes from, and what a project's own file may say."""
