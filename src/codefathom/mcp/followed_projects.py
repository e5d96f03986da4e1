"""The projects that sessions of one process follow: each is opened once, however many sessions ask it."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from codefathom.mcp.project_session import ProjectSession
from codefathom.project.location import Location


class FollowedProjects:
    """Projects with the number of their users. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: list[tuple[Location, ProjectSession]] = []
        self._n_users: dict[ProjectSession, int] = {}

    def take(self, place: Location) -> ProjectSession:
        """Return the project of a place, for one user more; one that has failed is begun anew. Raises as it does."""
        with self._lock:
            for held, project in self._held:
                if _is_same(held, place) and not project.has_failed:
                    self._n_users[project] += 1
                    return project
            project = ProjectSession(place)
            self._held.append((place, project))
            self._n_users[project] = 1
            return project

    def leave(self, projects: Sequence[ProjectSession]) -> None:
        """Take one user away from each; what nobody uses any more ends, and is closed."""
        unused = []
        with self._lock:
            for project in projects:
                self._n_users[project] -= 1
                if not self._n_users[project]:
                    del self._n_users[project]
                    unused.append(project)
            self._held = [(place, project) for place, project in self._held if project not in unused]
        for project in unused:
            project.stop()
        for project in unused:
            project.close()


def _is_same(one: Location, other: Location) -> bool:
    """Return True for places that answer the same: their folders, settings and revision are equal."""
    folders = [(place.root, place.index_dir, place.cache_dir, place.state_dir, place.is_kept) for place in (one, other)]
    names = [place.revision.name if place.revision is not None else "" for place in (one, other)]
    return folders[0] == folders[1] and names[0] == names[1] and one.settings == other.settings
