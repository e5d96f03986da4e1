"""The real server of Chroma, from its package."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import Started, comes

_MAIN = "import sys; from chromadb.cli.cli import app; sys.argv[0] = 'chroma'; app()"


class ChromaServer:
    """A server on a free port with its data in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    @property
    def data(self) -> Path:
        return self._folder / "data"

    def start(self) -> None:
        words = ["run", "--path", str(self._folder / "data"), "--host", "127.0.0.1", "--port", str(self._port)]
        self._process = Started(
            [sys.executable, "-c", _MAIN, *words],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert comes(self._is_ready)

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self._process = None

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/heartbeat") as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@contextmanager
def served(folder: Path) -> Iterator[ChromaServer]:
    """Lend a server, and stop it."""
    server = ChromaServer(folder)
    try:
        yield server
    finally:
        server.stop()
