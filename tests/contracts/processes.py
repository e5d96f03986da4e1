"""Servers of other makers as processes of their own, on free ports."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.waiting import Started, comes


class ServerProcess:
    """A server that can be stopped and started again, with its data in a folder."""

    stop_signal = signal.SIGKILL

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    def command(self) -> tuple[Sequence[str], dict[str, Any]]:
        """Return the words that start it, and options of the process."""
        raise NotImplementedError

    def is_ready(self) -> bool:
        raise NotImplementedError

    def start(self) -> None:
        words, options = self.command()
        self._process = Started(words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        assert comes(self.is_ready)

    def stop(self) -> None:
        """Stop at once, as after a failure; what was committed stays."""
        if self._process is not None:
            self._process.send_signal(self.stop_signal)
            self._process.wait()
        self._process = None
