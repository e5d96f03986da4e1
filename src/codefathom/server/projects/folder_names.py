"""The folders of the server that go on as somebody types a path. Their names are data of strangers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice

_MOST = 12
_MOST_LOOKED_AT = 5_000  # entries of a folder: what follows is not offered


def folders_below(folder: str, typed: str) -> list[str]:
    """Return paths that go on as `typed` does, by the subfolders of the folder that its part before the last "/" names.

    Links are not offered, hidden folders only where a dot is typed, and no name that cannot be written as one line.
    """
    head, sign, tail = typed.rpartition("/")
    names: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, _MOST_LOOKED_AT):
            is_hidden = entry.name.startswith(".") and not tail.startswith(".")
            if entry.name.startswith(tail) and not is_hidden and entry.name.isprintable():
                with suppress(OSError):
                    names += [entry.name] if entry.is_dir(follow_symlinks=False) else []
    return [f"{head}{sign}{name}" for name in sorted(names)[:_MOST]]


def tops_like(tops: Iterable[str], typed: str) -> list[str]:
    """Return those folders that begin with what is typed, and are more than it."""
    return sorted(top for top in tops if top.startswith(typed) and top != typed)[:_MOST]
