"""Properties of a stream: a terminal or not, with colours or not, and its width."""

from __future__ import annotations

import os
from collections.abc import Mapping

TYPE_CHECKING = False  # see `cli`: nothing is imported here that a first answer can do without
if TYPE_CHECKING:
    from typing import TextIO

_USUAL_COLUMNS = 80


def is_terminal(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return True if a line written to the stream can be changed afterwards."""
    return stream.isatty() and environ.get("TERM") != "dumb"


def is_colourful(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return True if the stream shows colours and the reader has not switched them off."""
    return is_terminal(stream, environ) and not environ.get("NO_COLOR")


def columns(stream: TextIO) -> int:
    """Return the number of characters in a line of the terminal; if it is unknown, the usual number."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):
        return _USUAL_COLUMNS
