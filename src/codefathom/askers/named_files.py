"""Paths that somebody names for several projects → the projects that they belong to. No file is opened."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from codefathom.errors import FathomError, UsageError


def files_by_project(
    paths: Sequence[str],
    roots: Mapping[str, str],
    unopened: Mapping[str, FathomError] | None = None,
    *,
    here: str | None = None,
) -> dict[str, tuple[str, ...]]:
    """Return the paths of each project by its name; each is relative to the root, or absolute.

    A path begins with the name of its project, or is one of the disk: absolute, or relative to the folder `here`, if
    there is one. One that is there on the disk counts before one that begins with a name. Raises the error of a project
    that is not open, and UsageError for a path that lies in none of them.
    """
    owners: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        name, _, rest = path.partition("/")
        place = "" if here is None and not os.path.isabs(path) else os.path.abspath(os.path.join(here or "", path))
        owner = _around(place, roots) if place else ""
        if name in roots and not (owner and os.path.lexists(place)):
            owners[name].append(rest or ".")
        elif unopened and name in unopened:
            raise unopened[name]
        elif owner:
            owners[owner].append(place)
        else:
            raise UsageError(
                f"{path!r} is not inside any of these projects", hint="begin the path with the name of its project"
            )
    return {name: tuple(files) for name, files in owners.items()}


def relative_to(root: str, files: Collection[str]) -> tuple[str, ...]:
    """Return paths as the index of the project writes them."""
    return tuple(os.path.relpath(os.path.join(root, file), root).replace(os.sep, "/") for file in files)


def _around(place: str, roots: Mapping[str, str]) -> str:
    """Return the innermost project that a path of the disk lies in; "" without one."""
    around = [name for name, root in roots.items() if f"{place}/".startswith(os.path.join(root, ""))]
    return max(around, key=lambda name: len(roots[name]), default="")
