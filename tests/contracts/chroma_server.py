"""The real server of Chroma, from its package."""

from __future__ import annotations

import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.contracts.processes import ServerProcess

_MAIN = "import sys; from chromadb.cli.cli import app; sys.argv[0] = 'chroma'; app()"


class ChromaServer(ServerProcess):
    """A server on a free port with its data in a folder."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def command(self) -> tuple[Sequence[str], dict[str, Any]]:
        words = ["run", "--path", str(self.data), "--host", "127.0.0.1", "--port", str(self.port)]
        return [sys.executable, "-c", _MAIN, *words], {}

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/heartbeat") as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@contextmanager
def served(folder: Path) -> Iterator[ChromaServer]:
    """Lend a server, and stop it."""
    server = ChromaServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
