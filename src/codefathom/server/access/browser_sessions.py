"""Sessions of people who signed in at the provider: kept here, so that they can be ended; the browser has a secret."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable

from codefathom.server.access.openid_client import OpenIdClient, Person
from codefathom.server.http.auth import hash_of
from codefathom.server.server_database import ServerDatabase

SESSIONS_FILE = "browser_sessions.db"  # in the data folder; not in a backup: people sign in again
_MOST_OF_ONE = 20  # sessions of a person, such as in several browsers
_HOUR_S = 3_600.0
_TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    number INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    issuer TEXT NOT NULL,
    client TEXT NOT NULL,
    name TEXT NOT NULL,
    groups TEXT NOT NULL,
    made_at REAL NOT NULL
);
"""


class BrowserSessions:
    """The sessions of one server. Safe to use from several threads."""

    def __init__(self, data_dir: str, clock: Callable[[], float] = time.time) -> None:
        self._database = ServerDatabase(os.path.join(data_dir, SESSIONS_FILE), _TABLES)
        self._clock = clock

    def start(self, person: Person, client: OpenIdClient) -> str:
        """Return the secret of a new session; it was never sent by anybody before."""
        secret = secrets.token_urlsafe(32)
        with self._database.transaction():
            self._database.write(
                "INSERT INTO sessions (hash, issuer, client, name, groups, made_at) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    hash_of(secret),
                    client.issuer,
                    client.client_id,
                    person.name,
                    json.dumps(person.groups),
                    self._clock(),
                ),
            )
            self._database.write(
                "DELETE FROM sessions WHERE name = ? AND number NOT IN "
                "(SELECT number FROM sessions WHERE name = ? ORDER BY number DESC LIMIT ?)",
                (person.name, person.name, _MOST_OF_ONE),
            )
        return secret

    def find(self, secret: str, client: OpenIdClient) -> Person | None:
        """Return the person of a session; None for one that has ended, or began at another provider."""
        rows = self._database.read(
            "SELECT name, groups FROM sessions WHERE hash = ? AND issuer = ? AND client = ? AND made_at > ?",
            (hash_of(secret), client.issuer, client.client_id, self._oldest(client.session_hours)),
        )
        return Person(rows[0][0], tuple(json.loads(rows[0][1]))) if rows else None

    def end(self, secret: str) -> bool:
        """End a session now; return whether there was one."""
        return bool(self._database.write("DELETE FROM sessions WHERE hash = ?", (hash_of(secret),)))

    def forget_old(self, session_hours: int) -> None:
        """Delete the sessions that have ended."""
        self._database.write("DELETE FROM sessions WHERE made_at <= ?", (self._oldest(session_hours),))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _oldest(self, session_hours: int) -> float:
        return self._clock() - session_hours * _HOUR_S
