"""The JSON of tokens and of the audit list."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from codefathom.server.schemas.search_schemas import In, Out, PageOut, Sound

GivenRole = Literal["reader", "indexer", "maintainer", "admin"]
_PROJECTS = "projects in which the role holds, also patterns such as shop-*; none: all projects, and the server itself"


class TokenIn(In):
    """A token to make."""

    name: str = Field(max_length=80, examples=["ci"], description="name of the program that uses the token")
    role: GivenRole = Field(default="reader", examples=["reader"])
    projects: tuple[str, ...] = Field(default=(), max_length=200, examples=[["shop"]], description=_PROJECTS)
    days: int = Field(
        default=90, ge=0, le=3_650, examples=[90], description="days until the token expires; 0: it never expires"
    )


class TokenOut(Out):
    """A token, without its secret."""

    id: str = Field(examples=["5f0c9e1b7a3d2c48"], description="empty for a token of the settings")
    name: str = Field(examples=["ci"])
    role: GivenRole = Field(examples=["reader"])
    projects: list[str] = Field(examples=[["shop"]], description=_PROJECTS)
    origin: Literal["server", "settings"] = Field(
        examples=["server"], description="settings: it stands in server.tokens, and can be removed only there"
    )
    state: Literal["valid", "expired", "revoked"] = Field(examples=["valid"])
    made_by: Sound = Field(examples=["ada@example.org"])
    made_at: float | None = Field(examples=[1_790_000_000.0])
    expires_at: float | None = Field(examples=[1_797_000_000.0], description="null: it never expires")


class TokensOut(Out):
    """All tokens, those that have ended, too."""

    tokens: list[TokenOut]


class MadeTokenOut(Out):
    """A new token with its secret, which is shown this once."""

    token: TokenOut
    secret: str = Field(
        examples=["fathom_…"], description="send it as Authorization: Bearer SECRET; only its hash is stored"
    )


class AuditEntryOut(Out):
    """One thing that somebody did."""

    at: float = Field(examples=[1_790_000_000.0])
    who: Sound = Field(examples=["ada@example.org"], description="name of the person or the token; empty without one")
    kind: Literal["nobody", "token", "person", "command"] = Field(
        examples=["person"], description="command: `fathom tokens` on the machine of the server"
    )
    action: str = Field(examples=["index removed"])
    project: Sound = Field(examples=["shop"])
    details: Sound = Field(examples=["embed.model"], description="what was changed; secrets are masked")


class AuditOut(PageOut):
    """What was done, the latest first."""

    entries: list[AuditEntryOut]
