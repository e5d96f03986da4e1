"""Who did what: each change that a request or a command made, kept for some time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from codefathom.server.access.token_table import ACCESS_FILE
from codefathom.server.server_database import ServerDatabase
from codefathom.source.secrets import mask

# What the list says was done; the page has the words for each in its languages.
AuditAction: TypeAlias = Literal[
    "signed in",
    "signed out",
    "token made",
    "token revoked",
    "project added",
    "project added and indexed",
    "project changed",
    "project removed",
    "index started",
    "index removed",
    "job cancelled",
    "watching started",
    "watching stopped",
    "store prepared",
    "store compared",
    "vectors moved",
    "vectors removed",
    "backup written",
    "backup restored",
]
_DAY_S = 86_400.0
_LONGEST = 1_000  # characters of details
_TABLES = """
CREATE TABLE IF NOT EXISTS audit (
    number INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    who TEXT NOT NULL,
    kind TEXT NOT NULL,
    action TEXT NOT NULL,
    project TEXT NOT NULL,
    details TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS audit_at ON audit (at);
"""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that somebody did; `at` is in seconds since the epoch, secrets in `details` are masked."""

    who: str
    kind: str  # nobody, token, person, or command: `fathom tokens` on the machine of the server
    action: AuditAction
    project: str = ""
    details: str = ""
    at: float = 0.0


class AuditList:
    """The list of one server. Safe to use from several threads and processes."""

    def __init__(self, data_dir: str, days: Callable[[], int], clock: Callable[[], float] = time.time) -> None:
        """`days` returns for how long entries are kept."""
        self._database = ServerDatabase(os.path.join(data_dir, ACCESS_FILE), _TABLES)
        self._days = days
        self._clock = clock

    def add(self, entry: AuditEntry) -> None:
        """Add an entry, and forget those that are too old."""
        now = self._clock()
        details = mask(_sound(entry.details)[:_LONGEST]).text
        with self._database.transaction():
            self._database.write("DELETE FROM audit WHERE at < ?", (now - self._days() * _DAY_S,))
            self._database.write(
                "INSERT INTO audit (at, who, kind, action, project, details) VALUES (?, ?, ?, ?, ?, ?)",
                (now, _sound(entry.who), entry.kind, entry.action, _sound(entry.project), details),
            )

    def listed(self, limit: int, offset: int = 0) -> tuple[AuditEntry, ...]:
        """Return entries, the latest first."""
        rows = self._database.read(
            "SELECT who, kind, action, project, details, at FROM audit WHERE at >= ? "
            "ORDER BY number DESC LIMIT ? OFFSET ?",
            (self._clock() - self._days() * _DAY_S, limit, offset),
        )
        return tuple(AuditEntry(*row) for row in rows)

    def count(self) -> int:
        """Return the number of entries."""
        rows = self._database.read("SELECT COUNT(*) FROM audit WHERE at >= ?", (self._clock() - self._days() * _DAY_S,))
        return int(rows[0][0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _sound(text: str) -> str:
    """Replace half characters, which SQLite cannot hold."""
    return text.encode("utf-8", "replace").decode()
