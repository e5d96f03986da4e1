"""Machine code of the grammars: compared with the installed package, and only then loaded.

The package keeps all grammars in one archive, with a list of their hashes. A grammar that was taken out once lies in
the user's cache, where a repository, another user or a broken disk may have put something else. So nothing is loaded
from the cache by its path: the bytes are read, compared with the list, and loaded from a place that only this process
can write to: sealed memory on Linux, elsewhere a private folder. Bytes that differ are taken out of the archive again,
and put into the cache where that can be written.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import tarfile
import tempfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from semble_grammars.cache import cache_dir
from tree_sitter import Language

from codefathom.errors import IndexingError
from codefathom.stores.folder import File, Folder

_SYSTEMS = {"darwin": "macos", "linux": "linux", "windows": "windows"}
_PROCESSORS = {"arm64": "arm64", "aarch64": "arm64", "x86_64": "x86_64", "amd64": "x86_64"}
# The largest library has 6.5 MB: what is longer than this is no grammar, and is not read to its end.
_MAX_BYTES = 64_000_000
_PIECE_BYTES = 1 << 18
_OWN_FOLDERS = 3  # the last parts of the package's place in the cache, in which no link is followed


class GrammarError(Exception):
    """A grammar cannot be loaded; the text is the reason."""


class _Library(NamedTuple):
    """An entry of the list that comes with the package."""

    archive: str  # path
    file: str  # name in the archive and in the cache
    symbol: str  # the function that returns the grammar
    sha256: str


def load_language(name: str) -> Language:
    """Return the grammar of a language. Raises GrammarError."""
    library = _listed().get(name)
    if library is None:
        raise GrammarError("the installed package semble-grammars has none")
    return Language(_capsule(_loaded(_sound_bytes(library), library.file), library))


def _sound_bytes(library: _Library) -> bytes:
    """Return the bytes of a library as the package has them: from the cache, or from the archive."""
    cached = _cached(library.file)
    if cached is not None:
        with suppress(OSError, IndexingError):  # there is none, or it is no file that may be read
            data = cached.read(_MAX_BYTES)
            if sha256(data).hexdigest() == library.sha256:
                return data
    data = _extracted(library)
    if cached is not None:
        with suppress(OSError, IndexingError):  # it cannot be written: the next process takes it out again
            cached.folder.make()
            cached.replace([data], by_many=True)
    return data


def _cached(name: str) -> File | None:
    """Return the place of a library in the user's cache; None where the cache would be relative to some project."""
    path = cache_dir()
    if not path.is_absolute():
        return None
    parts = (*path.parts[-_OWN_FOLDERS:], _platform())
    return Folder(str(Path(*path.parts[:-_OWN_FOLDERS])), parts).file(name)


def _extracted(library: _Library) -> bytes:
    try:
        # As a stream, it is unpacked in large pieces, and no further than to the end of the library.
        with tarfile.open(library.archive, "r|gz", bufsize=_PIECE_BYTES) as archive:
            files = (archive.extractfile(member) for member in archive if member.name == library.file)
            file = next(files, None)
            data = file.read(_MAX_BYTES) if file is not None else b""
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise GrammarError(f"the archive of the package semble-grammars cannot be read: {error}") from error
    if sha256(data).hexdigest() != library.sha256:
        raise GrammarError("the archive of the package semble-grammars is damaged; install it again")
    return data


@lru_cache(maxsize=1)
def _listed() -> Mapping[str, _Library]:
    """Return the libraries of the installed package for this machine, by language. Raises GrammarError."""
    folder = resources.files("semble_grammars") / "grammars" / _platform()
    try:
        content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        archive = str(folder / content["archive"])
        return {
            name: _Library(archive, entry["file"], entry["symbol"], entry["sha256"])
            for name, entry in content["languages"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise GrammarError(f"the package semble-grammars has none for {_platform()}: {error}") from error


def _platform() -> str:
    system, processor = platform.system().lower(), platform.machine().lower()
    return f"{_SYSTEMS.get(system, system)}-{_PROCESSORS.get(processor, processor)}"


def _loaded(data: bytes, name: str) -> ctypes.CDLL:
    """Load machine code that was compared. Raises GrammarError."""
    problems: list[str] = []
    for load in (_from_memory, _from_private_folder):
        try:
            return load(data, name)
        except OSError as error:
            problems.append(str(error))
    raise GrammarError(f"the system does not load it: {'; '.join(dict.fromkeys(problems))}")


def _from_memory(data: bytes, name: str) -> ctypes.CDLL:
    """Load from memory that has no name and cannot be changed any more. Raises OSError where there is none."""
    if not hasattr(os, "memfd_create"):
        raise OSError("this system has no files in memory")
    import fcntl  # noqa: PLC0415 -- Windows has none

    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(data)
        seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        # It stays open: the loader takes a second library under the same number for the first one.
        return ctypes.CDLL(f"/proc/self/fd/{descriptor}")
    except OSError:
        os.close(descriptor)
        raise


def _from_private_folder(data: bytes, name: str) -> ctypes.CDLL:
    """Load from a folder that nobody else may enter, and which is removed at once. Raises OSError."""
    # Windows does not remove a file that is loaded; there the folder stays until somebody cleans the temporary files.
    with tempfile.TemporaryDirectory(prefix="fathom-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        return ctypes.CDLL(str(path))


def _capsule(loaded: ctypes.CDLL, library: _Library) -> object:
    """Return the grammar in the form in which tree-sitter takes it. Raises GrammarError."""
    function = getattr(loaded, library.symbol, None)
    if function is None:
        raise GrammarError(f"{library.file} has no function {library.symbol}")
    function.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return capsule(function(), b"tree_sitter.Language", None)
