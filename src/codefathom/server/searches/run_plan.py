"""The plan of the first run of a project that is not added yet, as a process of the searches makes it.

The names and sizes of the files are looked at, no file is read, and nothing of it is kept. Of a repository elsewhere
its branch is known before a copy is made, and nothing more.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

from codefathom.clones.git_copies import default_branch
from codefathom.clones.git_origin import GitOrigin
from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.facts.languages import language_of
from codefathom.facts.reasons import Note
from codefathom.project.location import locate_registered
from codefathom.project.stores.revised_place import at_revision
from codefathom.server.projects.packed_settings import PackedSettings
from codefathom.source.work_tree import branch_of
from codefathom.types import Forecast, IndexReport, Skipped

_MOST_REASONS = 12
_MOST_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class RunPlanTask:
    """A look at what a first run would do; either a root or an origin is given."""

    settings: Settings | PackedSettings
    folder: str  # of whoever asks, who removes it
    root: str = ""  # resolved
    revision: str = ""
    origin: GitOrigin | None = None
    limit_s: float = 0.0  # after which the process is to end
    is_traced: bool = False  # the stages are told too


class LeftOutFiles(NamedTuple):
    """Files and folders that are left out for one reason."""

    why: str | Note
    n: int
    examples: tuple[str, ...]  # paths, the first ones


class RunPlan(NamedTuple):
    """The files that a first run would read, and what it would take."""

    branch: str  # that is checked out, or the default one of a repository elsewhere; "" where none is known
    n_files: int = 0
    n_bytes: int = 0
    languages: Mapping[str, int] = {}  # number of files, the most frequent first
    left_out: tuple[LeftOutFiles, ...] = ()  # those of most files first
    n_reasons_left_out: int = 0  # further reasons
    forecast: Forecast | None = None  # None: not known yet
    model_tokens: int = 0  # that a language model would be sent at most


def run_plan(task: RunPlanTask) -> RunPlan:
    """Return the plan of a first run. Raises FathomError."""
    if task.origin is not None:
        return RunPlan(default_branch(task.origin, task.folder))
    settings = task.settings.read() if isinstance(task.settings, PackedSettings) else task.settings
    place = locate_registered(task.root, settings)
    if task.revision:
        place = at_revision(place, task.revision)
    # An index that is there already would be read, or made; no other store is asked for one that is not there yet.
    place = replace(
        place,
        index_dir=os.path.join(task.folder, "index"),
        state_dir=os.path.join(task.folder, "state"),
        settings=place.settings._replace(store=place.settings.store._replace(vectors="flat")),
    )
    with closing(Engine(place)) as engine:
        return _plan(engine.plan(), task.revision or branch_of(task.root))


def _plan(report: IndexReport, branch: str) -> RunPlan:
    languages = Counter(map(language_of, report.added))
    left_out = _left_out(report.skipped)
    return RunPlan(
        branch,
        len(report.added),
        report.n_bytes,
        dict(languages.most_common()),
        left_out[:_MOST_REASONS],
        max(len(left_out) - _MOST_REASONS, 0),
        report.forecast,
        report.for_model.n_tokens,
    )


def _left_out(skipped: Iterable[Skipped]) -> tuple[LeftOutFiles, ...]:
    groups: dict[str, list[Skipped]] = defaultdict(list)
    for item in skipped:
        groups[item.reason].append(item)
    return tuple(
        LeftOutFiles(items[0].why, len(items), tuple(item.path for item in items[:_MOST_EXAMPLES]))
        for items in sorted(groups.values(), key=lambda items: (-len(items), items[0].reason))
    )
