"""Text → runs of letters, digits and underscores, where every reading of words begins. Pure."""

from __future__ import annotations

import re

_RUN = re.compile(r"\w+")
_TO_BLANKS = str.maketrans({chr(code): " " for code in range(128) if not _RUN.match(chr(code))})


def word_runs(text: str) -> list[str]:
    """Return the runs in order, of any script."""
    # Three times as fast as the expression, and nearly all code is ASCII.
    return text.translate(_TO_BLANKS).split() if text.isascii() else _RUN.findall(text)
