"""The projects of the server, the folders in which they may lie, and their opened engines."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from codefathom.askers.path_scopes import PathResolver
from codefathom.askers.routes import RoutedFolder
from codefathom.clones.git_address import checked_url, folder_of, repository_name
from codefathom.clones.git_origin import GitOrigin
from codefathom.config.configuration import find_root, is_bare_repository
from codefathom.config.settings import Settings
from codefathom.config.user_places import PROJECT_FILE
from codefathom.engine import Engine
from codefathom.errors import DamagedError, FathomError, MovedError, SettingsError
from codefathom.facts.reasons import Told
from codefathom.fleet.fleet_list import FleetList
from codefathom.fleet.inspected_fleet import fleet_summary
from codefathom.fleet.readers_file import reader_rules
from codefathom.project.browsing import IndexSummary, index_summary
from codefathom.project.location import Location, word_of
from codefathom.project.removal import remove_index
from codefathom.project.repository_sight import RepositorySight, sight_of
from codefathom.project.usable import faults
from codefathom.server.http.auth import ANYONE, Caller
from codefathom.server.http.problem_json import (
    ClosedError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    NotIndexedError,
    RequestError,
)
from codefathom.server.http.user_roles import Role
from codefathom.server.jobs.job_messages import Order
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.live import stamp_of
from codefathom.server.projects.folder_names import folders_below, tops_like
from codefathom.server.projects.opened_engines import OpenedEngines
from codefathom.server.projects.project_settings import check_changes, checks
from codefathom.server.projects.served_engine import ServedEngine
from codefathom.server.served_settings import ClosedSettingError, served_settings
from codefathom.server.server_config import ServerConfig
from codefathom.server.server_database import ServerDatabase
from codefathom.source.revisions.revision import checked_name, store_of
from codefathom.stores.folder import Folder
from codefathom.stores.lock import WriterLock
from codefathom.system.real_paths import refuse_moved
from codefathom.types import Check

_TABLES = """
CREATE TABLE IF NOT EXISTS projects (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    root TEXT NOT NULL,
    added_at REAL NOT NULL,
    settings TEXT NOT NULL,
    revision TEXT NOT NULL DEFAULT '',
    UNIQUE (root, revision)
);
CREATE TABLE IF NOT EXISTS clones (
    project_id TEXT PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    branch TEXT NOT NULL
);
"""
_LISTED = """
SELECT id, name, root, added_at, settings, revision, coalesce(url, ''), coalesce(branch, '')
FROM projects LEFT JOIN clones ON project_id = id ORDER BY added_at, projects.rowid
"""


@dataclass(frozen=True, slots=True)
class ServedProject:
    """A folder that the server answers questions about."""

    id: str
    name: str
    root: str
    added_at: float  # seconds since the epoch
    settings: Mapping[str, object] = field(default_factory=dict)  # over those of the files and the environment
    revision: str = ""  # read from the object store of git; "" for the files of the folder
    url: str = ""  # of the repository that it is a copy of
    branch: str = ""  # or tag or commit, of which the files are in the folder

    @property
    def overrides(self) -> Mapping[str, object]:
        """The settings that win over those of files."""
        if not self.url:
            return self.settings
        # Beside the copy: what a repository brings along must not pass for its index.
        return {**self.settings, "index.dir": os.path.join(os.path.dirname(self.root), "index")}

    @property
    def is_here(self) -> bool:
        """True if the files are on this machine: a repository must be cloned first."""
        return not self.url or os.path.isdir(os.path.join(self.root, ".git"))


class ProjectPlace(NamedTuple):
    """The project that a path would become."""

    root: str
    name: str
    has_index: bool
    project_id: str  # of the project that is there already, else ""
    revision: str


class Summary(NamedTuple):
    """The facts about a project that need no opened engine."""

    index_dir: str
    held: IndexSummary | None  # None: not indexed, or damaged
    problem: Told = ""  # why the project cannot be opened
    damage: Told = ""  # in what the index differs from what was written
    is_moved: bool = False  # the folder, or one above it, has become a link

    @property
    def is_usable(self) -> bool:
        """True if questions about the project can be answered."""
        return self.held is not None and not self.problem


class Projects:
    """The registry. Safe to use from several threads."""

    def __init__(self, config: Callable[[], ServerConfig], clock: Callable[[], float] = time.time) -> None:
        self._config = config
        self._clock = clock
        self._database = ServerDatabase(os.path.join(config().data_dir, "projects.db"), _TABLES)
        _bring_to_present_form(self._database)
        self._clones = Folder(config().data_dir).below("clones")
        self._stamps: dict[str, tuple[int, int]] = {}  # of the settings file of each project
        self._wishes: dict[str, Settings] = {}  # by project, for which a job was begun because its index lacks a part
        # By project, folder of its index, and what a reader may see of it.
        self._counted: dict[tuple[str, str, RepositorySight | None], IndexSummary] = {}
        self._kept: tuple[tuple[int, int] | None, tuple[ServedProject, ...]] = (None, ())  # with their version
        self.opened = OpenedEngines(lambda: config().opened_projects, self._open)

    def listed(self, caller: Caller = ANYONE) -> tuple[ServedProject, ...]:
        """Return the projects that the caller may see, in the order in which they were added."""
        return tuple(project for project in self._all() if caller.may_use(project.id))

    def _all(self) -> tuple[ServedProject, ...]:
        """Return all projects; each question asks for them, and they are read again only where they have changed."""
        version = self._database.version()  # before they are read
        kept_version, projects = self._kept
        if version != kept_version:
            projects = tuple(map(_project, self._database.read(_LISTED)))
            self._kept = version, projects
        return projects

    def get(self, project_id: str, caller: Caller = ANYONE) -> ServedProject:
        """Return a project. Raises NotFoundError, also for one that the caller may not see."""
        for project in self.listed(caller):
            if project.id == project_id:
                return project
        raise NotFoundError(f"no such project: {project_id!r}", hint="GET /projects lists them")

    def lease(self, project_id: str, caller: Caller = ANYONE) -> AbstractContextManager[Engine]:
        """Return the engine of a project for the time of a `with`; meanwhile nobody closes it.

        Raises NotFoundError; MovedError and ForbiddenError for a folder that is not where it was, or not allowed now.
        """
        project = self.get(project_id, caller)
        self._check_place(project)
        if not project.is_here:
            raise NotIndexedError(
                f"the repository of {project_id!r} is not cloned yet",
                hint=f"POST /projects/{project_id}/index clones it, GET /jobs shows errors",
            )
        self._look_at_settings(project)
        return self.opened.lease(project.id, self.sight_of(project, caller))

    def sight_of(self, project: ServedProject, caller: Caller) -> RepositorySight | None:
        """Return what a caller may see of a fleet; None: all of it. Raises ForbiddenError where nobody can say."""
        # Whatever revision the project names: the folder of a fleet is opened as the fleet.
        if caller.role_in(project.id) >= Role.ADMIN or FleetList().of_root(project.root) is None:
            return None
        try:
            rules = reader_rules(project.root)
        except SettingsError as error:  # whose words are for the operator
            raise ForbiddenError(
                f"the server cannot read who may see what of the fleet {project.id!r}",
                hint="ask an administrator: `fathom fleet status` says what is wrong",
            ) from error
        return None if rules is None else sight_of(rules, caller.words)

    def sees_all(self, project_id: str, caller: Caller) -> bool:
        """Return True if a caller may see all of a project: in a fleet each repository."""
        try:
            return self.sight_of(self.get(project_id, caller), caller) is None
        except (NotFoundError, ForbiddenError):
            return False

    def check_sees_all(self, project: ServedProject, caller: Caller) -> None:
        """Raise ForbiddenError unless a caller may see all of a project."""
        if not self.sees_all(project.id, caller):
            raise ForbiddenError(
                f"this shows all repositories of the fleet {project.id!r}, and {caller.said} may see some of them only",
                hint="ask an administrator of this server",
            )

    def place(self, path: str, revision: str = "") -> ProjectPlace:
        """Return the project that a path, or a revision of its repository, would become.

        Raises RequestError when it cannot be one, UsageError and SourceError for what is no revision of it.

        Outside the allowed roots nothing is looked at: the answer is the same whether there is such a place or not.
        """
        full = self._allowed(path, path)
        if not os.path.isdir(full):
            raise RequestError(
                f"no such folder on the server: {path!r}", hint="give the path of the folder of a project"
            )
        routed = self._routed(full)
        root = routed.root if routed else find_root(full)
        if not self._is_allowed(root):
            raise _outside(f"the project around {path!r}")
        revision = checked_name(revision) or ("HEAD" if is_bare_repository(root) else "")
        here = self._engine(root, revision, self._settings(root, {})).place
        taken = next((item.id for item in self.listed() if (item.root, item.revision) == (root, revision)), "")
        name = routed.project if routed else os.path.basename(root) or root
        name = f"{name} at {revision}" if revision else name
        return ProjectPlace(root, name, _summary(here).held is not None, taken, revision)

    def settings_of_new(self, root: str, settings: Mapping[str, object]) -> Settings:
        """Return the settings that a project would have, which is added with these. Raises RequestError."""
        return self._settings(root, self._checked(root, settings))

    def origin_of_new(self, url: str, branch: str = "") -> GitOrigin:
        """Return the repository that a project would be a copy of. Raises UsageError and ForbiddenError."""
        checked_url(url, self._config().git_schemes)
        checked_name(branch)
        if (folder := folder_of(url)) is not None:
            self._allowed(folder, url)
        return self._origin(url, branch)

    def _origin(self, url: str, branch: str) -> GitOrigin:
        config = self._config()
        limits = config.clone_max_bytes, config.clone_max_files, config.clone_timeout_s
        return GitOrigin(url, branch, config.git_schemes, *limits)

    def folders_like(self, typed: str) -> list[str]:
        """Return the folders that go on as a path does that somebody types; outside the allowed roots, only these."""
        head, sign, _ = typed.rpartition("/")
        try:
            folder = self._allowed(f"{head}{sign}", typed) if sign else ""
        except ForbiddenError:
            folder = ""
        return folders_below(folder, typed) if folder else tops_like(self._config().allowed_roots, typed)

    def _allowed(self, path: str, said: str) -> str:
        """Return the resolved path of a place inside the allowed roots. Raises ForbiddenError, which repeats `said`."""
        # Of "~name" the answer would tell whether there is such a user.
        is_home = path == "~" or path.startswith(("~/", f"~{os.sep}"))
        full = "" if "\0" in path else os.path.realpath(os.path.expanduser(path) if is_home else path)
        if not full or (path.startswith("~") and not is_home) or not self._is_allowed(full):
            raise _outside(repr(said))
        return full

    def _check_place(self, project: ServedProject) -> None:
        """Compare the place of a project with what was added, and with the folders that are allowed now.

        Raises MovedError and ForbiddenError.
        """
        refuse_moved(project.root)
        if not project.url and not self._is_allowed(project.root):  # copies of repositories lie in the data folder
            raise _outside(repr(project.root))

    def _is_allowed(self, full: str) -> bool:
        return any(_is_inside(full, top) for top in self._config().allowed_roots)

    def summary(self, project: ServedProject, caller: Caller = ANYONE) -> Summary:
        """Return the facts about a project that need no opened engine; of a fleet, what the caller may see."""
        try:
            self._check_place(project)
            if not project.is_here:
                return Summary("", None)
            settings = self._settings(project.root, project.overrides)
            if unusable := faults(settings, self._config().variables, keys=False):
                raise unusable[0]
            place = self._engine(project.root, project.revision, settings).place
            sight = self.sight_of(project, caller)
            key = (project.id, place.index_dir, sight)
            earlier = self._counted.get(key)
            if self.is_fleet(project):
                summary = Summary(place.index_dir, fleet_summary(place.root, earlier, sight))
            else:
                summary = _summary(place, earlier)
            if summary.held is not None:
                self._counted[key] = summary.held
            return summary
        except FathomError as error:
            return Summary("", None, error.told, is_moved=isinstance(error, MovedError))

    def is_fleet(self, project: ServedProject) -> bool:
        """Return True if a project is a fleet, which only `fathom fleet` changes."""
        return not project.revision and FleetList().of_root(project.root) is not None

    def settings_outside(self) -> Settings:
        """Return the settings for files of no project. Raises SettingsError."""
        return self._settings(self._config().data_dir, {})

    def settings_of(self, project: ServedProject) -> Settings:
        """Return the settings in force for a project. Raises SettingsError, MovedError, ForbiddenError."""
        self._check_place(project)
        return self._settings(project.root, project.overrides)

    def is_new_wish(self, project_id: str, settings: Settings) -> bool:
        """Return True the first time that these settings of a project ask for more than its index has."""
        before, self._wishes[project_id] = self._wishes.get(project_id), settings
        return before != settings

    def add(
        self, path: str, name: str = "", settings: Mapping[str, object] | None = None, revision: str = ""
    ) -> ServedProject:
        """Add the project that a path lies in, or a revision of it.

        Raises RequestError, ConflictError when it is there already, and as `place` for a revision.
        """
        place = self.place(path, revision)
        if place.project_id:
            what = f"the revision {place.revision!r} of {place.root!r}" if place.revision else repr(place.root)
            raise ConflictError(f"{what} is already the project {place.project_id!r}", hint=f"use {place.project_id!r}")
        checked = self._checked(place.root, settings or {})
        with self._database.transaction():
            chosen = self._free_id(name or place.name)
            project = ServedProject(
                chosen, name or place.name, place.root, self._clock(), checked, revision=place.revision
            )
            self._database.write("INSERT OR IGNORE INTO projects VALUES (?, ?, ?, ?, ?, ?)", _row(project))
        return next(item for item in self.listed() if (item.root, item.revision) == (place.root, place.revision))

    def add_clone(
        self, url: str, branch: str = "", name: str = "", settings: Mapping[str, object] | None = None
    ) -> ServedProject:
        """Add a repository by its address; a job brings it here. Raises UsageError, RequestError and ConflictError."""
        checked = self._checked(self._config().data_dir, settings or {})
        self.origin_of_new(url, branch)
        with self._database.transaction():
            if taken := next((project.id for project in self.listed() if project.url == url), ""):
                raise ConflictError(f"{url!r} is already the project {taken!r}", hint=f"use {taken!r}")
            shown = name or repository_name(url)
            chosen = self._free_id(shown)
            root = os.path.join(self._clones.path, chosen, "tree")
            self._database.write(
                "INSERT INTO projects VALUES (?, ?, ?, ?, ?, ?)",
                _row(ServedProject(chosen, shown, root, self._clock(), checked)),
            )
            self._database.write("INSERT INTO clones VALUES (?, ?, ?)", (chosen, url, branch))
        return self.get(chosen)

    def order(self, job: IndexJob) -> Order:
        """Return the order for the process of a job, with the present settings and limits.

        Raises NotFoundError, MovedError and ForbiddenError.
        """
        project = self.get(job.project_id)
        self._check_place(project)
        if not project.url:
            hosts = self._config().model_hosts
            settings = {**self._index_by_rule(job.root), **job.settings}
            order = Order(
                job.root, job.full, settings, model_hosts=hosts, retry=job.retry, only=job.only, move_to=job.move_to
            )
            return replace(order, revision=project.revision)
        origin, hosts = self._origin(project.url, project.branch), self._config().model_hosts
        return Order(job.root, job.full, project.overrides, origin, hosts, move_to=job.move_to)

    def find_or_add(self, path: str, revision: str = "") -> ServedProject:
        """Return the project that a path lies in, which is added where it is not there yet. Raises as `place`."""
        place = self.place(path, revision)
        return self.get(place.project_id) if place.project_id else self.add(path, revision=revision)

    def change(self, project_id: str, name: str | None, settings: Mapping[str, object] | None) -> ServedProject:
        """Change name or settings, where given. Raises NotFoundError and RequestError."""
        project = self.get(project_id)
        checked = project.settings if settings is None else self._checked(project.root, settings)
        self._database.write(
            "UPDATE projects SET name = ?, settings = ? WHERE id = ?",
            (name or project.name, json.dumps(dict(checked)), project_id),
        )
        if checked != project.settings:
            self.opened.drop(project_id)
        return self.get(project_id)

    def trial(self, project_id: str, settings: Mapping[str, object]) -> tuple[Check, ...]:
        """Return a check for each model of a project, with these settings over its own.

        The settings are not stored. Raises NotFoundError and RequestError.
        """
        project = self.get(project_id)
        overrides = {**project.overrides, **self._checked(project.root, {**project.settings, **settings})}
        return checks(project.root, self._settings(project.root, overrides), project.revision)

    def remove(self, project_id: str) -> None:
        """Forget a project; files and index stay, but for those that the server has made of a repository.

        Raises NotFoundError.
        """
        project = self.get(project_id)
        if project.revision:
            with suppress(FathomError):  # such as a repository that is gone
                self.remove_index(project)
        with self._database.transaction():
            self._database.write("DELETE FROM projects WHERE id = ?", (project_id,))
            self._database.write("DELETE FROM clones WHERE project_id = ?", (project_id,))
        self.opened.drop(project_id)
        if project.url:
            self.sweep()

    def check_repository(self, project: ServedProject) -> None:
        """Raise ForbiddenError for a repository outside the allowed roots, and SourceError where there is none."""
        # The server itself has brought what has an address, and a command what is in a fleet.
        if not project.url and not self.is_fleet(project):
            self._check_store(project.root)

    def remove_index(self, project: ServedProject) -> int:
        """Remove the index of a project and return its size in bytes; 0 when there is none.

        Raises ConflictError for a fleet, which is nothing without its index.
        """
        if self.is_fleet(project):
            raise ConflictError(
                f"{project.id!r} is a fleet, whose index is not removed over HTTP",
                hint="`fathom fleet remove` removes a fleet; DELETE /projects/ID takes it off the list of the server",
            )
        self.opened.drop(project.id)
        if not project.is_here:
            return 0
        return remove_index(self._open(project.id).place, wait_s=0)

    def sweep(self) -> None:
        """Remove copies of repositories that are no projects any more."""
        for name in set(self._clones.names()) - {project.id for project in self.listed()}:
            with suppress(OSError):
                self._clones.remove(name)

    def close(self) -> None:
        """Close engines and the registry."""
        self.opened.close()
        self._database.close()

    def _look_at_settings(self, project: ServedProject) -> None:
        """Have the engine opened again when the project's settings file has changed, and can be used."""
        stamp = stamp_of(os.path.join(project.root, PROJECT_FILE))
        if self._stamps.setdefault(project.id, stamp) == stamp:
            return
        self._stamps[project.id] = stamp
        try:
            self._settings(project.root, project.overrides)
        except SettingsError:  # the summary says so; what is open goes on
            return
        self.opened.drop(project.id)

    def _open(self, project_id: str, sight: RepositorySight | None = None) -> Engine:
        project = self.get(project_id)
        engine = self._engine(project.root, project.revision, self.settings_of(project))
        return engine if sight is None else ServedEngine(replace(engine.place, sight=sight))

    def _engine(self, root: str, revision: str, settings: Settings) -> Engine:
        """Return an engine that has read nothing yet.

        Raises SourceError where folder or revision are gone, ForbiddenError for a repository outside the allowed roots.
        """
        if revision:
            self._check_store(root)
        return ServedEngine.open(root, settings=settings, revision=revision, is_root=True)

    def _check_store(self, root: str) -> None:
        if not self._is_allowed(store_of(root)):
            raise _outside(f"the repository of {root!r}")

    def _free_id(self, name: str) -> str:
        taken = {project.id for project in self.listed()}
        return _free_id(name, taken | set(self._clones.names()))

    def _settings(self, root: str, overrides: Mapping[str, object]) -> Settings:
        refuse_moved(root)
        config = self._config()
        overrides = {**self._index_by_rule(root), **overrides}
        return served_settings(root, overrides, config.variables, config.user_file, config.model_hosts)

    def _index_by_rule(self, root: str) -> Mapping[str, object]:
        """Return the setting for the index of a project whose root is that of a rule which says where it lies."""
        routed = self._routed(root)
        is_meant = routed is not None and routed.index_dir and routed.root == root.replace(os.sep, "/")
        return {"index.dir": routed.index_dir} if routed and is_meant else {}

    def _routed(self, place: str) -> RoutedFolder | None:
        routes = self._config().routes
        return PathResolver(routes).project_of(place.replace(os.sep, "/")) if routes else None

    def _checked(self, root: str, settings: Mapping[str, object]) -> Mapping[str, object]:
        """Return settings that can be used. Raises RequestError."""
        check_changes(settings)
        try:
            self._refuse_faults(root, settings)
        except SettingsError as error:
            kind = ClosedError if isinstance(error, ClosedSettingError) else RequestError
            raise kind(str(error), hint=error.hint) from error
        return dict(settings)

    def _refuse_faults(self, root: str, settings: Mapping[str, object]) -> None:
        """Raise SettingsError where settings would keep a project from being asked."""
        variables = self._config().variables
        # What is wrong without these settings too cannot be corrected here.
        own = {str(error) for error in faults(self._settings(root, {}), variables, keys=True)}
        for error in faults(self._settings(root, settings), variables, keys=True):
            if str(error) not in own:
                raise error


def _bring_to_present_form(database: ServerDatabase) -> None:
    """Make the table of projects anew where an older version has made it: a folder could be one project only."""
    with database.transaction():
        if "revision" not in {row[1] for row in database.read("PRAGMA table_info(projects)")}:
            database.write("ALTER TABLE projects RENAME TO older_projects")
            database.write(_TABLES.partition(";")[0])
            database.write("INSERT INTO projects SELECT *, '' FROM older_projects ORDER BY rowid")
            database.write("DROP TABLE older_projects")


def _summary(place: Location, earlier: IndexSummary | None = None) -> Summary:
    try:
        return Summary(place.index_dir, index_summary(place.index_folder, word_of(place), earlier))
    except DamagedError as error:
        # What another process is making again is not damaged any more.
        is_made = WriterLock(place.index_folder).progress() is not None
        return Summary(place.index_dir, None, damage="" if is_made else error.told)


def _outside(what: str) -> ForbiddenError:
    return ForbiddenError(
        f"{what} is outside the folders that this server may index",
        hint="add a folder that contains it to server.allowed_roots",
    )


def _is_inside(path: str, top: str) -> bool:
    return path == top or path.startswith(os.path.join(top, ""))


def _free_id(name: str, taken: set[str]) -> str:
    """Return a name for addresses and tokens: letters, digits and signs that need no quoting."""
    stem = re.sub(r"[^a-z0-9_.]+", "-", name.lower()).strip("-.")[:40] or "project"
    number = 1
    while (chosen := stem if number == 1 else f"{stem}-{number}") in taken or chosen in _RESERVED:
        number += 1
    return chosen


_RESERVED = {"indexed", "plan", "validate-path"}  # routes below /projects


def _project(row: tuple[Any, ...]) -> ServedProject:
    project_id, name, root, added_at, settings, revision, url, branch = row
    return ServedProject(project_id, name, root, added_at, json.loads(settings), revision, url, branch)


def _row(project: ServedProject) -> tuple[object, ...]:
    settings = json.dumps(dict(project.settings))
    return (project.id, project.name, project.root, project.added_at, settings, project.revision)
