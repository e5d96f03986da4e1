"""A folder in which the client of Qdrant itself keeps points, for trying Qdrant without a server.

The client lets only one process open such a folder. So a commit writes a new one, and a small file names the one that
counts; a reader opens a copy of it, which it then has in memory. Its files are Python pickles: the folder is one that a
user has set, never one that came with a repository.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote

from codefathom.errors import StoreError

_library: Any = import_module("qdrant_client")

_T = TypeVar("_T")


class LocalQdrant:
    """The points of one project in a folder."""

    has_graph = False

    def __init__(self, path: str, name: str) -> None:
        self._folder = os.path.join(os.path.abspath(os.path.expanduser(path)), quote(name, safe=""))
        self._lock = Lock()
        self._client: Any = None
        self._opened = ""

    def reading(self, ask: Callable[[Any], _T]) -> _T:
        """Ask a client that has the points in memory. One thread at a time: the client is not made for more."""
        with self._lock:
            while self._client is None or self._current() != self._opened:
                self._close()
                self._opened = self._current()
                self._client = self._copy(self._opened)  # whole only if it still counts now: then nobody has removed it
            return ask(self._client)

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """Lend a client for a copy of the points; afterwards that copy counts."""
        os.makedirs(self._folder, exist_ok=True)
        old, new = self._current(), f"points-{uuid.uuid4().hex[:8]}"
        place = os.path.join(self._folder, new)
        try:
            if old:
                shutil.copytree(os.path.join(self._folder, old), place)
            client = _library.QdrantClient(path=place, force_disable_check_same_thread=True)
            try:
                yield client
            finally:
                client.close()
            draft = os.path.join(self._folder, f"{new}.json")
            with open(draft, "w", encoding="utf-8") as file:
                json.dump({"folder": new}, file)
            os.replace(draft, os.path.join(self._folder, "current.json"))
        except OSError as error:
            raise StoreError(f"cannot write {self._folder!r}: {error.strerror}", hint="set store.url") from error
        finally:
            current = self._current()
            for name in os.listdir(self._folder):
                if name.startswith("points-") and name != current:
                    shutil.rmtree(os.path.join(self._folder, name), ignore_errors=True)

    def version(self) -> str:
        """Return the version of the client, which is the store here."""
        return f"a folder, without a server (client {_library.__version__})" if hasattr(_library, "__version__") else ""

    def close(self) -> None:
        """Release the memory."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client, self._opened = None, ""

    def _current(self) -> str:
        """Return the name of the folder that counts, "" when there is none."""
        try:
            with open(os.path.join(self._folder, "current.json"), encoding="utf-8") as file:
                return os.path.basename(str(json.load(file)["folder"]))
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def _copy(self, name: str) -> Any:
        if not name:
            return _library.QdrantClient(":memory:")
        with tempfile.TemporaryDirectory(prefix="fathom-qdrant-", ignore_cleanup_errors=True) as copy:
            try:
                shutil.copytree(os.path.join(self._folder, name), copy, dirs_exist_ok=True)
            except OSError as error:
                if self._current() != name:  # replaced meanwhile
                    return None
                raise StoreError(
                    f"cannot read {self._folder!r}: {error}", hint="run `fathom store verify --fix`"
                ) from error
            return _library.QdrantClient(path=copy, force_disable_check_same_thread=True)
