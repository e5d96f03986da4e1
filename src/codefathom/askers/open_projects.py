"""Several projects by their names, groups or folders, for one question to all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from codefathom.askers.joined import JoinedProjects
from codefathom.askers.project_list import ProjectList
from codefathom.config.settings import Settings
from codefathom.engine import Engine, OnProgress, OnWait
from codefathom.errors import FathomError, UsageError
from codefathom.system.real_paths import refuse_moved


class Federation(JoinedProjects):
    """Opened projects, by name. Safe to ask from several threads."""

    @classmethod
    def open(
        cls,
        names: Sequence[str] = (),
        *,
        is_all: bool = False,
        settings_of: Callable[[str], Settings] | None = None,
        on_progress: OnProgress | None = None,
        on_wait: OnWait = lambda _: None,
    ) -> Self:
        """Open projects by the names, groups or folders that `fathom projects` knows; with `is_all`, all that have one.

        `settings_of` gives the settings for a root, by default those of its files and the environment. A project that
        cannot be opened is told with the answers. Raises UsageError for a name that means nothing.
        """
        chosen = ProjectList().chosen(names, is_all=is_all)
        if not chosen:
            raise UsageError("no project is named", hint="name projects, or ask all of them")
        engines: dict[str, Engine] = {}
        unopened: dict[str, FathomError] = {}
        for item in chosen:
            try:
                refuse_moved(item.root)
                settings = settings_of(item.root) if settings_of else None
                engines[item.name] = Engine.open(
                    item.root, settings=settings, on_progress=on_progress, on_wait=on_wait, revision=item.revision
                )
            except FathomError as error:
                unopened[item.name] = error
        return cls(engines, unopened)
