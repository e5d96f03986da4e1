"""/tokens and /audit: tokens of programs, and who did what."""

from __future__ import annotations

import time
from typing import Annotated, TypeAlias, cast

from fastapi import APIRouter, Path, Query, Request, status

from codefathom.server.access.token_table import StoredToken
from codefathom.server.http.auth import Token
from codefathom.server.http.problem_json import ConflictError
from codefathom.server.http.user_roles import Grant, role_of
from codefathom.server.routes.routes_files import Offset
from codefathom.server.schemas.access_schemas import (
    AuditEntryOut,
    AuditOut,
    GivenRole,
    MadeTokenOut,
    TokenIn,
    TokenOut,
    TokensOut,
)
from codefathom.server.state import CallerHere, ServerState, note_for_audit
from codefathom.shapes import rest_shape
from codefathom.types import Rest

TokenId: TypeAlias = Annotated[str, Path(max_length=100, examples=["5f0c9e1b7a3d2c48"])]


def router(state: ServerState) -> APIRouter:
    """Return the routes for administrators: tokens, and the audit list."""
    routes = APIRouter(tags=["people"])

    @routes.get("/tokens", summary="List the tokens of programs")
    def tokens() -> TokensOut:
        of_settings = [_settings_out(token) for token in state.config.tokens]
        return TokensOut(tokens=[*of_settings, *map(_out, state.tokens.listed())])

    @routes.post("/tokens", summary="Make a token for a program", status_code=status.HTTP_201_CREATED)
    def make(body: TokenIn, caller: CallerHere, request: Request) -> MadeTokenOut:
        if caller.kind == "nobody":  # the next request would need a token, which the page does not have yet
            raise ConflictError(
                "this server requires no token, and would require one from now on",
                hint="make the first one where the server runs: fathom tokens new NAME --role admin",
            )
        grant = Grant(role_of(body.role), body.projects)
        made = state.tokens.make(body.name, grant, body.days, caller.name)
        note_for_audit(request, f"{made.token.name}: {_said(grant)}")
        return MadeTokenOut(token=_out(made.token), secret=made.secret)

    @routes.delete("/tokens/{token_id}", summary="Revoke a token: it ends at once", status_code=204)
    def revoke(token_id: TokenId, request: Request) -> None:
        note_for_audit(request, state.tokens.revoke(token_id).name)

    @routes.get("/audit", summary="List who did what, the latest first")
    def audit(limit: Annotated[int, Query(ge=1, le=500, examples=[100])] = 100, offset: Offset = 0) -> AuditOut:
        shown = state.audit.listed(limit, offset)
        n_more = max(state.audit.count() - offset - len(shown), 0)
        entries = [AuditEntryOut.model_validate(entry) for entry in shown]
        return AuditOut(entries=entries, **rest_shape(Rest(n_more), offset, len(shown)))

    return routes


def _said(grant: Grant) -> str:
    return f"{grant.role.word} in {', '.join(grant.projects) or 'all projects'}"


def _settings_out(token: Token) -> TokenOut:
    return TokenOut(
        id="",
        name=token.name,
        role=cast("GivenRole", token.grant.role.word),
        projects=list(token.grant.projects),
        origin="settings",
        state="valid",
        made_by="",
        made_at=None,
        expires_at=None,
    )


def _out(token: StoredToken) -> TokenOut:
    is_valid = token.is_valid(time.time())
    return TokenOut(
        id=token.id,
        name=token.name,
        role=cast("GivenRole", token.grant.role.word),
        projects=list(token.grant.projects),
        origin="server",
        state="valid" if is_valid else "expired" if token.revoked_at is None else "revoked",
        made_by=token.made_by,
        made_at=token.made_at,
        expires_at=token.expires_at,
    )
