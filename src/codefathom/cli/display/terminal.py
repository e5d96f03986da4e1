"""What a stream is: a terminal or not, in colour or not, and how wide."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

_USUAL_COLUMNS = 80


def is_terminal(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether what is written there can be changed afterwards."""
    return stream.isatty() and environ.get("TERM") != "dumb"


def is_colourful(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a reader wants colours there."""
    return is_terminal(stream, environ) and not environ.get("NO_COLOR")


def columns(stream: TextIO) -> int:
    """Return how many characters a line of the terminal takes; where that is not known, what most take."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):
        return _USUAL_COLUMNS
