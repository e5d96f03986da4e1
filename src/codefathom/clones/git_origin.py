"""A repository elsewhere, as a value. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from codefathom.source.size_limits import MOST_REVISION_FILES


@dataclass(frozen=True, slots=True)
class GitOrigin:
    """A repository elsewhere, of which there is a copy here, and how much of it is taken."""

    url: str
    branch: str = ""  # "" for the usual one
    schemes: tuple[str, ...] = ()
    most_bytes: int = 1_000_000_000
    most_files: int = MOST_REVISION_FILES  # and folders
    limit_s: float = 600.0
    authorization: str = field(default="", repr=False)  # header that its server is sent; git keeps it nowhere
