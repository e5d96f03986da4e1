"""Paths of this machine in requests → the projects of the server, and what belongs to none of them.

Who has a token for some projects can name what lies in them; who may manage the server, what lies in its allowed roots,
too. What lies elsewhere does not exist: the answer is the same whether it does or not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codefathom.askers.open_paths import OF_NONE, free_name
from codefathom.askers.path_scopes import PathResolver
from codefathom.askers.routes import RoutedFolder, is_at_or_below
from codefathom.errors import FathomError, UsageError
from codefathom.facts.reasons import FOLDER_OF_SERVER, HIDDEN_FILE, Note
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import NotFoundError
from codefathom.server.projects.project_table import Projects
from codefathom.server.server_config import ServerConfig
from codefathom.system.real_paths import moved_part, refuse_moved
from codefathom.types import Skipped

_MOST_PARTS = 64  # of a path


class ServedPlaces(NamedTuple):
    """The meaning of some paths; all paths are absolute and resolved."""

    projects: Mapping[str, tuple[str, ...]]  # by id, the places in each; empty: all of it
    unserved: Mapping[str, FathomError]  # projects by a rule of the settings that this server does not have
    loose: tuple[str, ...]  # files and folders that belong to no project
    left_out: tuple[Skipped, ...]
    apart: tuple[str, ...]  # folders below which nothing is loose
    named: tuple[str, ...]  # the paths themselves

    @property
    def loose_name(self) -> str:
        """The name under which the files of no project are listed."""
        return free_name(OF_NONE, {*self.projects, *self.unserved})


def served_places(projects: Projects, config: ServerConfig, caller: Caller, paths: Sequence[str]) -> ServedPlaces:
    """Return the meaning of paths for a caller. Raises UsageError for one that is not absolute or does not exist."""
    for path in paths:
        if not os.path.isabs(path):
            raise UsageError(f"{path!r} is not an absolute path", hint="write the path from the root of the disk on")
        if path.count("/") > _MOST_PARTS:  # each step of it is resolved
            raise UsageError(f"{path[:80]!r}… has more than {_MOST_PARTS} parts", hint="name a folder above it")
    here = [item for item in projects.listed(caller) if not item.revision]  # the files of one do not lie there
    for root in (item.root for item in here if moved_part(item.root)):
        if any(
            is_at_or_below(os.path.normpath(path).replace(os.sep, "/"), root.replace(os.sep, "/")) for path in paths
        ):
            refuse_moved(root)
    served = [RoutedFolder(item.id, item.root.replace(os.sep, "/"), "") for item in here if not moved_part(item.root)]
    roots = tuple(item.root for item in served)
    resolver = PathResolver(
        config.routes if caller.may_manage else (),
        within=(*roots, *(config.allowed_roots if caller.may_manage else ())),
        projects=served,
    )
    scopes = resolver.scopes(paths)
    own = {folder: inside for folder, inside in scopes.projects.items() if folder in served}
    unserved: dict[str, FathomError] = {}
    for folder in scopes.projects:
        if folder not in own:
            name = free_name(folder.project, {*unserved, *(item.project for item in own)})
            unserved[name] = NotFoundError(
                f"the folder {folder.root!r} is not a project of this server yet",
                hint="POST /index adds and indexes it",
            )
    kinds = {place: _reason(place, config, caller) for place in scopes.loose}
    return ServedPlaces(
        {folder.project: inside for folder, inside in own.items()},
        unserved,
        tuple(place for place, kind in kinds.items() if not kind),
        (*scopes.left_out, *(Skipped(place, Note(kind)) for place, kind in kinds.items() if kind)),
        (*roots, config.data_dir),
        tuple(paths),
    )


def _reason(place: str, config: ServerConfig, caller: Caller) -> str:
    """Return the kind of note that says why a file or folder of no project is left out, "" if it is searched."""
    roots = [root.replace(os.sep, "/") for root in config.allowed_roots]
    top = max((root for root in roots if is_at_or_below(place, root)), key=len, default="")
    if not caller.may_manage or not top or is_at_or_below(place, config.data_dir.replace(os.sep, "/")):
        return FOLDER_OF_SERVER
    is_hidden = any(part.startswith(".") for part in place.removeprefix(top).split("/"))
    return HIDDEN_FILE if is_hidden else ""
