"""Repositories elsewhere as bare clones below the folder of a fleet, several brought up to date at the same time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import NamedTuple, TypeVar

from codefathom.clones.git_copies import bring_bare
from codefathom.clones.git_origin import GitOrigin
from codefathom.config.settings import Settings
from codefathom.errors import FathomError, IndexingError
from codefathom.fleet.manifest import CLONES
from codefathom.fleet.sources import MOST_BRANCHES, is_branch_read
from codefathom.stores.folder import Folder
from codefathom.types import Progress

_T = TypeVar("_T")
_AT_ONCE = 4  # most of a fetch is waiting


class RemoteRepository(NamedTuple):
    """A repository elsewhere."""

    key: str  # stays when the repository is renamed
    address: str
    path: str  # its name there, such as group/name
    authorization: str = ""  # header for its server
    place: str = ""  # of a clone that is there; "" for that of its key
    is_open: bool = False  # its host says that everybody who is there may read it
    active_s: int = 0  # when its host says that it was last active; 0: it says nothing


class HostListing(NamedTuple):
    """The repositories that a host lists."""

    repositories: tuple[RemoteRepository, ...]
    notes: tuple[str, ...]  # what is left out


class CloneOutcome(NamedTuple):
    """What became of a clone; one that could not be brought up to date stays as it was."""

    place: str
    problem: str = ""
    remedy: str = ""

    @property
    def is_empty(self) -> bool:
        """True for a repository that has no commit."""
        return not self.problem and not os.path.isdir(self.place)


class FleetClones:
    """The clones of one fleet. Whoever brings them up to date has the writer lock of the fleet."""

    def __init__(self, root: str, settings: Settings) -> None:
        self._folder = Folder(root).below(CLONES)
        self._server, self._patterns = settings.server, settings.source.fleet_branches
        self._most_file_bytes = max(settings.source.max_file_bytes, settings.source.max_document_bytes)

    def bring(
        self, repositories: Sequence[RemoteRepository], on_progress: Callable[[Progress], None]
    ) -> list[CloneOutcome]:
        """Bring clones up to date, new ones included; return what became of each, in order."""
        if repositories:
            self._folder.make(private=True)
        outcomes: dict[int, CloneOutcome] = {}
        for number, outcome in in_threads(self._outcome, repositories):
            outcomes[number] = outcome
            on_progress(Progress("clone", len(outcomes), len(repositories), message=repositories[number].path))
        return [outcomes[number] for number in range(len(repositories))]

    def has(self, place: str) -> bool:
        """Return True for the folder of a clone of this fleet."""
        return os.path.dirname(place) == self._folder.path

    def remove_unused(self, places: Iterable[str]) -> None:
        """Remove all clones but these."""
        used = {os.path.basename(place) for place in places}
        with suppress(OSError, IndexingError):
            for name in self._folder.names():
                if name not in used:
                    self._folder.remove(name)

    def _outcome(self, repository: RemoteRepository) -> CloneOutcome:
        place = repository.place or self.place_of(repository)
        origin = self.origin_of(repository)
        try:
            for _ in bring_bare(origin, place, self._most_file_bytes, self.branch_choice if self._patterns else None):
                pass
        except (FathomError, OSError) as error:
            remedy = str(error.hint) if isinstance(error, FathomError) else "see if the disk is full"
            return CloneOutcome(place, str(error), remedy)
        return CloneOutcome(place)

    def branch_choice(self, names: Sequence[str]) -> list[str]:
        """Return the branches that are read, and one more of too many: the run says that there are more."""
        return sorted(name for name in names if is_branch_read(name, self._patterns))[: MOST_BRANCHES + 1]

    def origin_of(self, repository: RemoteRepository) -> GitOrigin:
        """Return a repository as git reads it, with the limits of the settings."""
        server = self._server
        return GitOrigin(
            repository.address,
            schemes=server.git_schemes,
            most_bytes=server.clone_max_bytes,
            most_files=server.clone_max_files,
            limit_s=server.clone_timeout_s,
            authorization=repository.authorization,
        )

    def place_of(self, repository: RemoteRepository) -> str:
        """Return the folder of the clone of a repository."""
        # With another limit other files are absent, so that it is another clone.
        text = f"{repository.key} {self._most_file_bytes}"
        return os.path.join(self._folder.path, f"{blake2b(text.encode(), digest_size=12).hexdigest()}.git")


def in_threads(
    work: Callable[[RemoteRepository], _T], repositories: Sequence[RemoteRepository]
) -> Iterator[tuple[int, _T]]:
    """Yield what comes of each repository with its number, as it comes, of four at a time. Raises as `work`."""
    waiting: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[tuple[int, _T | _Raised]] = SimpleQueue()
    stopped = Event()
    for number in range(len(repositories)):
        waiting.put(number)

    def work_on() -> None:
        while not stopped.is_set():
            try:
                number = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((number, work(repositories[number])))
            except BaseException as error:  # raised again where the outcome is waited for
                done.put((number, _Raised(error)))

    for _ in range(min(_AT_ONCE, len(repositories))):
        # A thread that waits for a silent server must not keep an interrupted program from ending.
        Thread(target=work_on, name="clone", daemon=True).start()
    try:
        for _ in repositories:
            number, outcome = done.get()
            if isinstance(outcome, _Raised):
                raise outcome.error
            yield number, outcome
    finally:
        stopped.set()


class _Raised(NamedTuple):
    error: BaseException
