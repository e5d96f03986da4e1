"""Names of texts that are on no disk: a caller hands them in, and the index keeps them as `texts://NAME`. Pure.

No file can have such a path: those of files have one slash between two names.
"""

from __future__ import annotations

from codefathom.errors import UsageError
from codefathom.text.printable import is_harmless, is_text

KEPT_TEXTS = "texts://"
_ALL = "texts:/"  # as a folder, in which all of them lie
_MAX_CHARS = 500  # of a name
_HINT = 'give a name like a path, such as "notes/meeting.md": of at most 500 characters, without ".." and controls'


def is_kept_text(path: str) -> bool:
    """Return True for the path of a text that is on no disk."""
    return path.startswith(KEPT_TEXTS)


def kept_path(name: str) -> str:
    """Return the path in the index of a text of this name; `texts://` before it may be there already.

    Raises UsageError for a name that cannot be one.
    """
    rest = name.removeprefix(KEPT_TEXTS)
    is_plain = is_text(rest) and is_harmless(rest) and rest == rest.strip() and not set("\\\n\t") & set(rest)
    if not is_plain or len(rest) > _MAX_CHARS or {"", ".", ".."} & set(rest.split("/")):
        raise UsageError(f"{rest[:80]!r} cannot be the name of a text", hint=_HINT)
    return KEPT_TEXTS + rest


def kept_place(path: str) -> str:
    """Return a path of kept texts as a place in the index: of one text, of a folder of them, or of all.

    Raises UsageError for one that holds no name of a text.
    """
    return _ALL if path == KEPT_TEXTS else kept_path(path.rstrip("/"))
