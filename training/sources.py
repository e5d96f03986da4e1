"""The manifest of what the model learns from, and the check that nothing in it is excluded."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# Names that several projects share: only the whole owner/name tells them apart.
_SHARED_NAMES = {"framework"}


class Source(NamedTuple):
    """One repository or package the model learns from."""

    name: str
    url: str
    revision: str
    licence: str
    split: str  # train, or eval: kept apart for scoring
    pairs: int = 0  # used of what was mined
    language: str = ""  # of most of its files


def read_sources(path: Path) -> list[Source]:
    """Return the sources of a manifest."""
    return [Source(**row) for row in json.loads(path.read_text("utf-8"))]


def forbidden(sources: Sequence[Source], excluded: Sequence[str]) -> list[str]:
    """Return the names of sources that are an excluded repository, or a fork, mirror or package of one."""
    full = {name.lower() for name in excluded}
    short = {name.rpartition("/")[2] for name in full} - _SHARED_NAMES
    bare = {re.sub(r"[^a-z0-9]|(?:\.js|-rs|-python)$", "", name) for name in short}

    def is_forbidden(name: str) -> bool:
        name = name.lower()
        last = re.split("[/:]", name)[-1]
        return name in full or last in short or re.sub("[^a-z0-9]", "", last) in bare

    return [source.name for source in sources if is_forbidden(source.name)]
