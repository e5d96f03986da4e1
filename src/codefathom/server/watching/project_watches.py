"""The watched projects of the server: which they are is kept, so that a restart changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

from codefathom.server.http.problem_json import ConflictError, NotFoundError
from codefathom.server.jobs.job_process import ReadyProcesses
from codefathom.server.jobs.job_queue import Jobs
from codefathom.server.projects.project_table import Projects, ServedProject
from codefathom.server.server_config import ServerConfig
from codefathom.server.server_database import ServerDatabase
from codefathom.server.watching.fleet_sources import FleetSources
from codefathom.server.watching.project_files import FollowedFiles
from codefathom.server.watching.project_watch import FollowedProject, ProjectWatch, WatchState

_TABLES = "CREATE TABLE IF NOT EXISTS watches (project_id TEXT PRIMARY KEY);"


class Watches:
    """The watches of all projects. Safe to use from several threads."""

    def __init__(
        self,
        path: str,
        projects: Projects,
        jobs: Jobs,
        processes: ReadyProcesses,
        config: Callable[[], ServerConfig],
    ) -> None:
        """Open the table; `resume` starts what is in it. The processes are those that `jobs` starts."""
        self._database = ServerDatabase(path, _TABLES)
        self._projects = projects
        self._jobs = jobs
        self._processes = processes
        self._config = config
        self._lock = RLock()
        self._watches: dict[str, ProjectWatch] = {}

    def resume(self) -> None:
        """Start the watches that an earlier server had, as many as are allowed now."""
        projects = {project.id: project for project in self._projects.listed()}
        with self._lock:
            for (project_id,) in self._database.read("SELECT project_id FROM watches ORDER BY rowid"):
                if project_id not in projects:
                    self.forget(project_id)
                elif len(self._watches) < self._config().watched_projects:
                    self._begin(projects[project_id])

    def start(self, project: ServedProject) -> WatchState:
        """Watch a project from now on. Raises ConflictError when that is not possible."""
        with self._lock:
            if project.id not in self._watches:
                self._refuse(project)
                self._database.write("INSERT OR IGNORE INTO watches VALUES (?)", (project.id,))
                self._begin(project)
            return self.state(project.id)

    def stop(self, project_id: str) -> None:
        """Watch a project no longer. Raises NotFoundError when it is not watched."""
        if not self.forget(project_id):
            raise NotFoundError(
                f"the project {project_id!r} is not watched", hint=f"POST /projects/{project_id}/watch starts it"
            )

    def forget(self, project_id: str) -> bool:
        """Stop the watch of a project if there is one; return whether there was."""
        with self._lock:
            n_kept = self._database.write("DELETE FROM watches WHERE project_id = ?", (project_id,))
            watch = self._watches.pop(project_id, None)
        if watch is not None:
            watch.end()
            watch.join()
            if not self._watches:
                self._processes.close()
        return watch is not None or bool(n_kept)

    def renew(self, project: ServedProject) -> None:
        """Begin the watch of a project anew, if there is one: its settings have changed."""
        with self._lock:
            if (watch := self._watches.get(project.id)) is not None:
                watch.end()
                watch.join()
                self._begin(project)

    def state(self, project_id: str) -> WatchState:
        """Return the state of the watch of a project."""
        with self._lock:
            watch = self._watches.get(project_id)
            if watch is not None:
                return watch.state
            is_kept = self._database.read("SELECT 1 FROM watches WHERE project_id = ?", (project_id,))
        return WatchState(is_on=True, error=self._too_many()) if is_kept else WatchState()

    def close(self) -> None:
        """Stop all watches; the next server starts them again."""
        with self._lock:
            watches = list(self._watches.values())
            self._watches.clear()
        for watch in watches:
            watch.end()
        for watch in watches:
            watch.join()
        self._processes.close()
        self._database.close()

    # ---- inside

    def _begin(self, project: ServedProject) -> None:
        followed: FollowedProject
        if self._projects.is_fleet(project):
            followed = FleetSources(project, self._projects, self._processes)
        else:
            followed = FollowedFiles(project, self._projects, self._config().data_dir, self._processes.prepare)
        self._watches[project.id] = ProjectWatch(project, followed, self._jobs)

    def _refuse(self, project: ServedProject) -> None:
        if project.revision:
            raise ConflictError(
                f"{project.id!r} is the revision {project.revision!r}, whose files do not change",
                hint="a branch that has moved is taken in with the next search or job",
            )
        if project.url:
            raise ConflictError(
                f"{project.id!r} is the server's own copy of a repository, which changes by its jobs only",
                hint=f"POST /projects/{project.id}/index brings it up to date",
            )
        if len(self._watches) >= self._config().watched_projects:
            raise ConflictError(
                self._too_many(), hint="stop the watching of another project, or raise server.watched_projects"
            )

    def _too_many(self) -> str:
        return f"the server watches {len(self._watches)} projects, and no more are allowed"
