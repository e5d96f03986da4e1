"""The data of the monitoring page: parts of the service, contents of the indexes, free disk space."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from codefathom.config.configuration import load_settings
from codefathom.config.settings import DeclaredSetting, Settings, StoreSettings, declared_settings
from codefathom.errors import FathomError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, Told
from codefathom.fleet.shard_states import FleetState, fleet_state
from codefathom.project.roles import ROLES, ask_models, check_models
from codefathom.project.store_choice import shown_store
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import LeftError, SlowError
from codefathom.server.live import Live
from codefathom.server.projects.project_settings import in_haste
from codefathom.server.projects.project_table import Projects, ServedProject
from codefathom.server.requests.asker_elsewhere import asker_for
from codefathom.server.searches.look import Look
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.served_settings import open_hosts
from codefathom.server.state import ServerState
from codefathom.system.memory import resident_bytes
from codefathom.types import Check, Status

_SHARDS_S = 2.0  # for the machines of a cluster that have shards; a load balancer waits for the answer


@dataclass(frozen=True, slots=True)
class Store:
    """The state of the index of a project, or the reason why it is unknown."""

    project: ServedProject
    status: Status | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, its value and the origin of the value."""

    declared: DeclaredSetting
    value: object
    origin: str


def services(state: ServerState) -> tuple[Check, ...]:
    """Return a check for each part that the server needs, without the models."""
    return (*_machine(state), *_no_model(settings_of_server(state)))


def models_of(projects: Projects, live: Live) -> tuple[Check, ...]:
    """Ask the models of the server and of each project with others; the names of these begin with their projects."""
    config = live.current
    own = load_settings(config.data_dir, environ=config.variables, user_file=config.user_file)
    groups: dict[tuple[str, ...], tuple[Settings, list[str]]] = {_model_names(own): (own, [])}
    for project in projects.listed():
        with suppress(FathomError):  # the part "projects" says so
            settings = projects.settings_of(project)
            groups.setdefault(_model_names(settings), (settings, []))[1].append(project.id)
    checks: list[Check] = []
    for names, (settings, ids) in groups.items():
        answers = ask_models(in_haste(settings), config.variables)
        is_own = names == _model_names(own)
        checks += answers if is_own else [replace(check, part=_of_projects(ids, check.part)) for check in answers]
    return tuple(checks)


def stores_of(projects: Projects) -> tuple[Check, ...]:
    """Ask the vector stores of the indexed projects, each once."""
    groups: dict[StoreSettings, tuple[list[str], str]] = {}  # the projects of a store, and what is wrong with it
    for project in projects.listed():
        with suppress(FathomError):  # the part "projects" says so
            if not projects.summary(project).held:
                continue
            with projects.lease(project.id) as engine:
                store = engine.stores.in_force
                if store.vectors != "flat":
                    ids, _ = groups.setdefault(store, ([], "" if store in groups else engine.stores.problem()))
                    ids.append(project.id)
    return tuple(_store_check(store, *group) for store, group in groups.items())


def fleets_of(projects: Projects) -> Mapping[str, FleetState]:
    """Ask for the shards of all fleets among the projects, by the id of the project."""
    states: dict[str, FleetState] = {}
    for project in projects.listed():
        if projects.is_fleet(project):
            try:
                search = projects.settings_of(project).search
            except FathomError as error:
                states[project.id] = FleetState(problem=str(error))
            else:
                states[project.id] = fleet_state(project.root, search.fleet_cluster, _SHARDS_S, search.fleet_store)
    return states


def _of_projects(ids: Sequence[str], part: Told) -> Note:
    return Note(say.OF_PROJECTS, {"projects": tuple(ids), "part": part})


def _store_check(store: StoreSettings, ids: Sequence[str], problem: str) -> Check:
    name = _of_projects(ids, Note(say.VECTOR_STORE))
    if not problem:
        return Check(name, True, shown_store(store))
    detail = f"{problem}; meanwhile the vectors of the index answer"
    return Check(name, False, detail, "`fathom store test` asks it again")


def models_of_project(state: ServerState, caller: Caller, project_id: str) -> tuple[Check, ...]:
    """Ask the models of a project for one word each. Raises NotFoundError."""
    with state.projects.lease(project_id, caller) as engine:
        return check_models(engine.opened)


def _model_names(settings: Settings) -> tuple[str, ...]:
    llm, embed, rerank = settings.llm, settings.embed, settings.rerank
    return (*map(llm.of, ROLES), llm.base_url, embed.model, embed.base_url, rerank.model, rerank.base_url)


def _machine(state: ServerState) -> Iterator[Check]:
    folder = state.config.data_dir
    yield Check(
        Note(say.DATA_FOLDER),
        os.access(folder, os.W_OK),
        folder,
        "" if os.access(folder, os.W_OK) else Note(say.MAKE_WRITABLE),
    )
    problem = state.live.problem
    yield Check(
        Note(say.SETTINGS),
        not problem,
        problem or state.config.user_file,
        Note(say.CORRECT_SETTINGS) if problem else "",
    )
    jobs = Counter(job.state for job in state.jobs.listed(limit=500))
    counts = {"running": jobs["running"], "waiting": jobs["queued"], "failed": jobs["failed"]}
    yield Check(Note(say.INDEXING), True, Note(say.JOBS, counts))
    problems = tuple(
        Note(say.PROJECT_FAILED, {"project": project.id, "error": problem_of_project})
        for project in state.projects.listed()
        if (problem_of_project := state.projects.summary(project).problem)
    )
    registered = Note(say.REGISTERED, {"count": len(state.projects.listed())})
    yield Check(Note(say.PROJECTS), not problems, Note(say.ALL_OF, {"notes": problems}) if problems else registered)


def _no_model(settings: Settings) -> Iterator[Check]:
    if not any(settings.llm.of(role) for role in ROLES):
        hint = Note(say.SET_A_MODEL, {"model": "ollama:qwen2.5-coder:14b"})
        yield Check(Note(say.LANGUAGE_MODEL), False, Note(say.NO_MODEL_SET), hint)


def gauges(state: ServerState) -> dict[str, float]:
    """Return the values of now for Prometheus, without those that are not known."""
    cache, memory = state.cache.counts(), resident_bytes()
    jobs = state.jobs.listed(limit=500)
    states = Counter(job.state for job in jobs)
    values: dict[str, float] = {
        "projects": len(state.projects.listed()),
        "opened_projects": len(state.projects.opened),
        "cache_entries": cache.n_entries,
        "cache_hits_total": cache.n_hits,
        "cache_misses_total": cache.n_misses,
        "start_time_seconds": state.measures.started_at,
        "jobs_running": states["running"],
        "jobs_queued": states["queued"],
    }
    if memory is not None:
        values |= {"memory_server_bytes": memory.own, "memory_processes_bytes": memory.children}
    reports = (job.report for job in sorted(jobs, key=lambda job: -job.ended_at) if job.report)
    report = next((report for report in reports if report.n_bytes and report.seconds), None)
    if report is not None:
        n_files = report.n_added + report.n_changed
        values["indexing_files_per_second"] = n_files / report.seconds
        values["indexing_bytes_per_second"] = report.n_bytes / report.seconds
    return values


def stores(state: ServerState, caller: Caller, lease: SearchLease) -> tuple[Store, ...]:
    """Return the state of the index of each project that the caller may see."""
    return tuple(_store(state, caller, project, lease) for project in state.projects.listed(caller))


def _store(state: ServerState, caller: Caller, project: ServedProject, lease: SearchLease) -> Store:
    try:
        with asker_for(state, project.id, caller, lease) as asker:
            return Store(project, asker.look(Look("status")))
    except (LeftError, SlowError):
        raise
    except FathomError as error:
        return Store(project, None, str(error))


def modules(state: ServerState, caller: Caller, lease: SearchLease) -> dict[str, dict[str, int]]:
    """Return, for each project with an index, the number of files in each first folder, the largest first."""
    counted: dict[str, dict[str, int]] = {}
    for project in state.projects.listed(caller):
        if not state.projects.summary(project).held:
            continue
        counted[project.id] = {}
        try:
            with asker_for(state, project.id, caller, lease) as asker:
                counted[project.id] = asker.look(Look("modules"))
        except (LeftError, SlowError):
            raise
        except FathomError:  # removed or gone in this moment
            continue
    return counted


def settings_of_server(state: ServerState) -> Settings:
    """Return the settings that hold for projects without own values."""
    # A folder without a project file: what lies where the server was started is nobody's business here.
    return load_settings(state.config.data_dir, environ=state.config.variables, user_file=state.config.user_file)


def open_hosts_of(state: ServerState) -> list[str]:
    """Return the hosts at which the settings of a project may ask for models."""
    return open_hosts(settings_of_server(state), state.config.variables, state.config.model_hosts)


def listed_settings(settings: Settings, *, with_server: bool) -> tuple[Setting, ...]:
    """Return every setting as it may be shown."""
    shown = [declared for declared in declared_settings() if with_server or not declared.key.startswith("server.")]
    return tuple(
        Setting(declared, declared.shown(_value(settings, declared.key)), settings.origins.get(declared.key, "default"))
        for declared in shown
    )


def _value(settings: Settings, key: str) -> object:
    section, _, name = key.partition(".")
    return getattr(getattr(settings, section), name)


def free_bytes(folder: str) -> int:
    """Return the free space on the disk of a folder."""
    return shutil.disk_usage(folder).free
