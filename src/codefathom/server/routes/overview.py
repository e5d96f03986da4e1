"""What the monitoring page shows: parts of the service, contents of the indexes, room on the disk."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from codefathom.config.configuration import load_settings
from codefathom.config.model_names import shown_model
from codefathom.config.settings import DeclaredSetting, Settings, declared_settings
from codefathom.errors import FathomError
from codefathom.project.roles import ROLES
from codefathom.server.http.auth import Caller
from codefathom.server.projects.project_table import ServedProject
from codefathom.server.routes.search_requests import indexed
from codefathom.server.served_settings import open_hosts
from codefathom.server.state import ServerState
from codefathom.types import Check, Status


@dataclass(frozen=True, slots=True)
class Store:
    """What can be said of the index of a project, or why nothing can."""

    project: ServedProject
    status: Status | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, its value and where that comes from."""

    known: DeclaredSetting
    value: object
    origin: str


def services(state: ServerState) -> tuple[Check, ...]:
    """Return what the server needs, without asking any model."""
    return (*_machine(state), *_models(settings_of_server(state)))


def _machine(state: ServerState) -> Iterator[Check]:
    folder = state.config.data_dir
    yield Check(
        "data folder", os.access(folder, os.W_OK), folder, "" if os.access(folder, os.W_OK) else "make it writable"
    )
    problem = state.live.problem
    yield Check("settings", not problem, problem or state.config.user_file, "correct the file" if problem else "")
    jobs = Counter(job.state for job in state.jobs.listed(limit=500))
    yield Check("indexing", True, f"{jobs['running']} running, {jobs['queued']} waiting, {jobs['failed']} failed")
    problems = [f"{project.id}: {found}" for project in state.projects.listed() if (found := _problem(state, project))]
    yield Check("projects", not problems, "; ".join(problems) or f"{len(state.projects.listed())} known")


def _problem(state: ServerState, project: ServedProject) -> str:
    return state.projects.summary(project).problem


def _models(settings: Settings) -> Iterator[Check]:
    yield Check("embedding model", True, shown_model(settings.embed.model))
    names = {role: settings.llm.of(role) for role in ROLES}
    if not any(names.values()):
        hint = "set llm.model, such as ollama:qwen2.5-coder:14b, for answers in words"
        yield Check("language model", False, "none is configured; answers consist of excerpts", hint)
    for role, name in names.items():
        if name:
            yield Check(f"model for {role}", True, shown_model(name))


def stores(state: ServerState, caller: Caller) -> tuple[Store, ...]:
    """Return how the indexes are kept of all projects that the caller may see."""
    return tuple(_store(state, caller, project) for project in state.projects.listed(caller))


def _store(state: ServerState, caller: Caller, project: ServedProject) -> Store:
    try:
        with indexed(state, project.id, caller) as engine:
            return Store(project, engine.status())
    except FathomError as error:
        return Store(project, None, str(error))


def modules(state: ServerState, caller: Caller, project_id: str) -> dict[str, int]:
    """Return how many files lie in each first folder, most first."""
    with indexed(state, project_id, caller) as engine:
        counted = Counter(path.partition("/")[0] if "/" in path else "" for path, *_ in engine.files.listed())
    return dict(counted.most_common())


def settings_of_server(state: ServerState) -> Settings:
    """Return the settings that hold where no project says otherwise."""
    # A folder without a project file: what lies where the server was started is nobody's business here.
    return load_settings(state.config.data_dir, environ=state.config.variables, user_file=state.config.user_file)


def open_hosts_of(state: ServerState) -> list[str]:
    """Return the hosts at which the settings of a project may ask for models."""
    return open_hosts(settings_of_server(state), state.config.variables, state.config.model_hosts)


def listed_settings(settings: Settings, *, with_server: bool) -> tuple[Setting, ...]:
    """Return every setting as it may be shown."""
    shown = [known for known in declared_settings() if with_server or not known.key.startswith("server.")]
    return tuple(
        Setting(known, known.shown(_value(settings, known.key)), settings.origins.get(known.key, "default"))
        for known in shown
    )


def _value(settings: Settings, key: str) -> object:
    section, _, name = key.partition(".")
    return getattr(getattr(settings, section), name)


def free_bytes(folder: str) -> int:
    """Return how much room there is on the disk of a folder."""
    return shutil.disk_usage(folder).free
