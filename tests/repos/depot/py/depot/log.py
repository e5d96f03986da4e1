from __future__ import annotations

import sys


def say(text: str) -> None:
    """Write a line for the guard."""
    print(text, file=sys.stderr)
