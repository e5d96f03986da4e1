"""Trials of what docs/reliability.md promises. Each module is a program: `python -m evals.trials.NAME --help`."""
