"""Words and files for the two plain peers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

MAX_BYTES = 1_000_000
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")
_NOISE = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do does for from how in into is it its not of on or that the their this to used "
        "using what when where which who why with",
    )
)


def words(text: str) -> list[str]:
    """Return identifiers in lower case, whole and split at underscores, digits and capitals."""
    found = []
    for whole in _WORD.findall(text):
        parts = [part.lower() for part in _PART.findall(whole)]
        found.extend(parts)
        if len(parts) > 1:
            found.append(whole.lower())
    return found


def keywords(question: str) -> list[str]:
    """Return the words of a question a person would grep for, each once."""
    return [word for word in dict.fromkeys(words(question)) if word not in _NOISE and len(word) > 1]


def text_files(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (path below root, text) of every file that is text, hidden folders left out."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            text = read_text(path)
            if text is not None:
                yield path.relative_to(root).as_posix(), text


def read_text(path: Path) -> str | None:
    """Return the text of a file; None when it is binary, large or unreadable."""
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else b"\0"
    except OSError:
        return None
    return None if b"\0" in data else data.decode("utf-8", "replace")
