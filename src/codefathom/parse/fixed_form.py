"""Fortran in fixed form, with its columns of punched cards → free form. Pure; bytes keep their places.

In fixed form a comment has a C or * in its first column; a line that goes on from the one above has a sign in column 6.
"""

from __future__ import annotations

import re

ENDINGS = (".f", ".for", ".ftn", ".f77", ".fpp")

_COMMENT = re.compile(rb"^[Cc*]", re.MULTILINE)
_CONTINUED = re.compile(rb"^( {5})[^ 0\r\n]", re.MULTILINE)
_FREE = re.compile(rb"&[ \t]*\r?$|^ {0,4}(?:module|program|subroutine|use|end)\b", re.MULTILINE | re.IGNORECASE)


def free_form(data: bytes) -> bytes:
    """Return code in fixed form with the signs of free form for comments and continued lines; free form as it is."""
    return data if _FREE.search(data) else _CONTINUED.sub(rb"\1&", _COMMENT.sub(b"!", data))
