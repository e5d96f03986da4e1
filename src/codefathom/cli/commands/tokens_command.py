"""`fathom tokens`: tokens for programs, in the data folder of the server; a running server sees each change at once."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from codefathom.cli.face import Face
from codefathom.cli.options import TokensOptions
from codefathom.config.user_places import user_data_dir
from codefathom.errors import UsageError
from codefathom.shapes import to_json
from codefathom.system.extras import install_line
from codefathom.text.printable import show_text

if TYPE_CHECKING:
    from codefathom.server.access.audit_list import AuditAction
    from codefathom.server.access.token_table import StoredToken, TokenTable


def run(options: TokensOptions, face: Face) -> int:
    """Do one action with the tokens of the server that has the data folder of the settings."""
    try:
        from codefathom.server.access.audit_list import AuditEntry, AuditList
        from codefathom.server.access.token_table import TokenTable
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the server needs the package {error.name!r}", hint=f"install it: {install_line('server')}"
        ) from error
    if bool(options.name) is (options.action == "list"):
        raise UsageError(
            f"`fathom tokens {options.action}` {'takes no name' if options.name else 'needs the name of a token'}",
            hint="`fathom tokens list` shows all tokens; `fathom tokens new NAME` makes one",
        )
    server = face.settings().server
    data_dir = os.path.realpath(server.data_dir or user_data_dir(os.environ))
    table, audit = TokenTable(data_dir), AuditList(data_dir, lambda: server.audit_days)
    try:
        if options.action == "list":
            _list(table, face)
            return 0
        done = _make(options, table, face) if options.action == "new" else _revoke(options, table, face)
        audit.add(AuditEntry(os.environ.get("USER", ""), "command", *done))
        return 0
    finally:
        table.close()
        audit.close()


def _make(options: TokensOptions, table: TokenTable, face: Face) -> tuple[AuditAction, str, str]:
    from codefathom.server.http.user_roles import Grant, role_of  # needs the extra, as above

    made = table.make(options.name, Grant(role_of(options.role), options.project), options.days, "command line")
    if face.common.json:
        face.write(to_json({**_shape(made.token), "secret": made.secret}))
    else:
        face.write(f"{made.secret}\n")
    face.note("store this token: it is not shown again")
    return "token made", "", f"{made.token.name}: {_may(made.token)}"


def _revoke(options: TokensOptions, table: TokenTable, face: Face) -> tuple[AuditAction, str, str]:
    token = table.revoke(options.name)
    face.write(to_json(_shape(token)) if face.common.json else f"the token {token.name} is revoked\n")
    return "token revoked", "", token.name


def _list(table: TokenTable, face: Face) -> None:
    tokens = table.listed()
    if face.common.json:
        face.write(to_json([_shape(token) for token in tokens]))
        return
    lines = [f"{token.name}  {_may(token)}  {_state(token)}" for token in tokens]
    face.write(show_text("\n".join([*lines, ""])) or "there is no token; `fathom tokens new NAME` makes one\n")


def _may(token: StoredToken) -> str:
    return f"{token.grant.role.word} in {', '.join(token.grant.projects) or 'all projects'}"


def _state(token: StoredToken) -> str:
    if token.revoked_at is not None:
        return f"revoked {_day(token.revoked_at)}"
    if token.expires_at is None:
        return "never expires"
    return f"{'expires' if token.is_valid(time.time()) else 'expired'} {_day(token.expires_at)}"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


def _shape(token: StoredToken) -> dict[str, Any]:
    """Return a token as JSON, without its hash."""
    return {
        "id": token.id,
        "name": token.name,
        "role": token.grant.role.word,
        "projects": token.grant.projects,
        "made_by": token.made_by,
        "made_at": token.made_at,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
    }
