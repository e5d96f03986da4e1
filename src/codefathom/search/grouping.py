"""A page of hits, best first → the same hits gathered by repository and file. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def by_repository(items: Sequence[_T], place_of: Callable[[_T], tuple[str, str]]) -> tuple[_T, ...]:
    """Return all items, those of a repository together, and in it those of a file; `place_of` gives project and path.

    Repositories and files are in the order of their best items, and the items of a file keep their order. A repository
    is the first folder of a path, as in `repo:`; in a project that is a folder of its root, and the files
    of the root are together.
    """
    repositories: dict[tuple[str, str], dict[str, list[_T]]] = {}
    for item in items:
        project, path = place_of(item)
        files = repositories.setdefault((project, path.partition("/")[0] if "/" in path else ""), {})
        files.setdefault(path, []).append(item)
    return tuple(item for files in repositories.values() for same in files.values() for item in same)
