"""The word that tells whether two processes run the same code: what they send each other is understood by no other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b

from codefathom import __version__

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_NOT_RUN = ("static", "__pycache__")  # the page, and what Python makes of the files
_LARGE = 1_000_000  # bytes; of larger files, such as models, the size is compared


@cache
def code_word() -> str:
    """Return the version of this program with a digest of its files, as they are when it is first asked for."""
    return f"{__version__} (code {code_digest(_PACKAGE)})"


def code_digest(package: str) -> str:
    """Return the digest of the files of a package."""
    digest = blake2b(digest_size=6)
    for path in sorted(_files(package)):
        size = os.path.getsize(path)
        digest.update(f"{os.path.relpath(path, package)}\0{size}\0".encode())
        if size <= _LARGE:
            with open(path, "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()


def _files(package: str) -> Iterator[str]:
    for place, folders, names in os.walk(package):
        folders[:] = [name for name in folders if name not in _NOT_RUN]
        yield from (os.path.join(place, name) for name in names)
