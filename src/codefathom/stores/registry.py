"""The list of indexes that this user has made or checked, in the user's state folder: no other index is believed.

An index can come with a clone, from another user or out of a container. Whoever made it could write anything into it.
So each index that was made or checked here is marked with a random word, which the state folder keeps too, with the
folders of project and index and the numbers that the file system has for them. Another index at the same place, also a
later one of the same repository, does not carry the word. Losing the state folder costs one check.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple

from codefathom.errors import IndexingError
from codefathom.stores.folder import File, Folder

_FIRST_LINE = "fathom index 1"
_MAX_BYTES = 20_000
_KEY_BYTES = 32


class IndexPlace(NamedTuple):
    """The place of an index."""

    root: str  # of its project
    folder: str
    catalogue: str  # path of the file


class Registry:
    """The indexes that are known. Nothing raises: a registry that cannot be read knows none."""

    def __init__(self, folder: str) -> None:
        self._base = Folder(folder)
        self._folder = self._base.below("indexes")

    def word(self, place: IndexPlace) -> str:
        """Return the word that the index at a place was marked with; "" when none of this user's lies there."""
        expected = _lines(place)
        if expected is None:
            return ""
        try:
            content = self._file(place).read(_MAX_BYTES)
        except (OSError, IndexingError):
            return ""
        *lines, word = content.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
        return word if lines == expected else ""

    def places(self) -> Iterator[IndexPlace]:
        """Yield the indexes that are known, the latest first; some may be gone."""
        files = [self._folder.file(name) for name in self._folder.names()]
        stamps = {file: file.status() for file in files}
        for file in sorted(files, key=lambda file: -(status.st_mtime_ns if (status := stamps[file]) else 0)):
            with suppress(OSError, IndexingError, ValueError):
                first, root, folder, *_ = file.read(_MAX_BYTES).decode("ascii").split("\n")
                if first == _FIRST_LINE:
                    yield IndexPlace(_path(root), _path(folder), "")

    def add(self, place: IndexPlace, word: str) -> bool:
        """Store an index that was made or checked; return False when that cannot be written."""
        lines = _lines(place)
        if lines is None:
            return False
        try:
            self._base.make(private=True)
            self._folder.make()
            content = "\n".join([*lines, word, ""]).encode("utf-8", "surrogateescape")
            self._file(place).replace([content], by_many=True, private=True)
        except (OSError, IndexingError):
            return False
        return True

    def forget(self, place: IndexPlace) -> None:
        """Forget the index at a place."""
        with suppress(OSError, IndexingError):
            self._file(place).remove()

    def sign(self, content: bytes) -> str:
        """Return a signature that only this user can make; "" when the state folder cannot be written."""
        key = self._base.file("signing-key")
        try:
            self._base.make(private=True)
            if not key.kind():
                key.replace([os.urandom(_KEY_BYTES)], by_many=True, private=True)
            secret = key.read(_KEY_BYTES)
        except (OSError, IndexingError):
            return ""
        return blake2b(content, key=secret, digest_size=32).hexdigest() if len(secret) == _KEY_BYTES else ""

    def _file(self, place: IndexPlace) -> File:
        name = blake2b(os.path.realpath(place.folder).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        return self._folder.file(name)


def _lines(place: IndexPlace) -> list[str] | None:
    """Return the lines that are stored for an index before its word; None when there is no index."""
    try:
        folder, catalogue = os.stat(place.folder), os.stat(place.catalogue, follow_symlinks=False)
    except OSError:
        return None
    numbers = (folder.st_dev, folder.st_ino, catalogue.st_dev, catalogue.st_ino)
    # A line end in a path would look like another line: written as Python writes it.
    return [_FIRST_LINE, ascii(place.root), ascii(os.path.realpath(place.folder)), " ".join(map(str, numbers))]


def _path(written: str) -> str:
    """Return the path that `ascii` has written. Raises ValueError."""
    from ast import literal_eval  # noqa: PLC0415 -- a search must not pay for it

    try:
        path = literal_eval(written)
    except SyntaxError as error:
        raise ValueError(written) from error
    if not isinstance(path, str):
        raise ValueError(written)
    return path
