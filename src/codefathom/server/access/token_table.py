"""Named tokens for programs, which the server keeps: their hashes, roles, and when they end."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import token_hex

from codefathom.errors import UsageError
from codefathom.project.repository_sight import words_of_token
from codefathom.server.http.auth import Caller, hash_of, new_token
from codefathom.server.http.problem_json import ConflictError, NotFoundError
from codefathom.server.http.user_roles import Grant, grant_of, role_of
from codefathom.server.server_database import ServerDatabase

ACCESS_FILE = "access.db"  # in the data folder of the server
DEFAULT_DAYS = 90
MOST_DAYS = 3_650
_DAY_S = 86_400.0
_NAME = re.compile(r"[\w.-]{1,80}")
_PROJECT = re.compile(r"[\w.*-]{1,200}")
_TABLES = """
CREATE TABLE IF NOT EXISTS tokens (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    projects TEXT NOT NULL,
    made_by TEXT NOT NULL,
    made_at REAL NOT NULL,
    expires_at REAL,
    revoked_at REAL
);
"""
_SELECT = "SELECT id, name, hash, role, projects, made_by, made_at, expires_at, revoked_at FROM tokens ORDER BY number"


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token that the server keeps. Times are seconds since the epoch."""

    id: str
    name: str
    hash: str
    grant: Grant
    made_by: str
    made_at: float
    expires_at: float | None  # None: never
    revoked_at: float | None

    def is_valid(self, now: float) -> bool:
        """Return True if the token gives access at a time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def caller(self) -> Caller:
        """Whoever sends this token. The id is another one than that of a token of the settings with the same name."""
        return Caller(self.name, (self.grant,), "token", f"token:{self.id}", words=words_of_token(self.name))


@dataclass(frozen=True, slots=True)
class MadeToken:
    """A new token, with its secret, which nobody can read again."""

    token: StoredToken
    secret: str


class TokenTable:
    """All tokens of one server that are not in its settings. Safe to use from several threads and processes."""

    def __init__(self, data_dir: str, clock: Callable[[], float] = time.time) -> None:
        self._database = ServerDatabase(os.path.join(data_dir, ACCESS_FILE), _TABLES)
        self._clock = clock
        self._kept: tuple[tuple[int, int] | None, Mapping[str, StoredToken]] = (None, {})

    @property
    def is_used(self) -> bool:
        """True once a token was made: from then on the server demands one, also when all of them are revoked."""
        return bool(self._by_hash())

    def make(self, name: str, grant: Grant, days: int = DEFAULT_DAYS, made_by: str = "") -> MadeToken:
        """Return a new token; with 0 days it never expires. Raises UsageError, and ConflictError for a name in use."""
        _check(name, grant, days)
        now, secret = self._clock(), new_token()
        expires_at = now + days * _DAY_S if days else None
        token = StoredToken(token_hex(8), name, hash_of(secret), grant, made_by, now, expires_at, None)
        with self._database.transaction():
            if any(item.name == name and item.is_valid(now) for item in self.listed()):
                raise ConflictError(
                    f"there is a token with the name {name!r} already", hint="choose another name, or revoke that token"
                )
            self._database.write(
                "INSERT INTO tokens (id, name, hash, role, projects, made_by, made_at, expires_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (token.id, name, token.hash, grant.role.word, "+".join(grant.projects), made_by, now, expires_at),
            )
        return MadeToken(token, secret)

    def listed(self) -> tuple[StoredToken, ...]:
        """Return all tokens, those that have ended, too, in the order in which they were made."""
        return tuple(self._by_hash().values())

    def revoke(self, id_or_name: str) -> StoredToken:
        """End a token now; requests that are under way end, too. Raises NotFoundError."""
        now = self._clock()
        for token in self.listed():
            if id_or_name in {token.id, token.name} and token.is_valid(now):
                self._database.write("UPDATE tokens SET revoked_at = ? WHERE id = ?", (now, token.id))
                return token
        raise NotFoundError(f"no such token is valid: {id_or_name!r}", hint="`fathom tokens list` shows all tokens")

    def find(self, secret: str) -> Caller | None:
        """Return the owner of a secret, None for one that is unknown, revoked or expired.

        The hash of the secret is looked up: the time that takes says nothing about a hash that is here.
        """
        token = self._by_hash().get(hash_of(secret))
        return token.caller if token is not None and token.is_valid(self._clock()) else None

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _by_hash(self) -> Mapping[str, StoredToken]:
        """Return all tokens; each request asks for them, and they are read again only where they have changed."""
        version = self._database.version()  # before they are read
        kept_version, tokens = self._kept
        if version != kept_version:
            tokens = {row[2]: _token(*row) for row in self._database.read(_SELECT)}
            self._kept = version, tokens
        return tokens


def has_tokens(data_dir: str) -> bool:
    """Return True if tokens were made for the server with this data folder; makes no file."""
    if not os.path.exists(os.path.join(data_dir, ACCESS_FILE)):
        return False
    table = TokenTable(data_dir)
    try:
        return table.is_used
    finally:
        table.close()


def _check(name: str, grant: Grant, days: int) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid name of a token", hint="use letters, digits, . _ and -")
    for project in grant.projects:
        if not _PROJECT.fullmatch(project):
            raise UsageError(
                f"{project!r} is not the id of a project",
                hint="GET /projects lists them; a pattern such as shop-* works, too",
            )
    if not 0 <= days <= MOST_DAYS:
        raise UsageError(
            f"a token cannot be valid for {days} days",
            hint=f"give a number from 1 to {MOST_DAYS}, or 0: it never expires",
        )


def _token(token_id: str, name: str, digest: str, role: str, projects: str, *times: object) -> StoredToken:
    made_by, made_at, expires_at, revoked_at = times
    grant = grant_of(role_of(role), projects)
    return StoredToken(
        token_id, name, digest, grant, str(made_by), _time(made_at) or 0.0, _time(expires_at), _time(revoked_at)
    )


def _time(value: object) -> float | None:
    return value if isinstance(value, float) else None
