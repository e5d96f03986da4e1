"""A fleet as it is kept: made, given sources, brought up to date, described, removed. It is asked like a project."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing, suppress
from typing import NamedTuple, Self

from codefathom.config.settings import Settings
from codefathom.errors import UsageError
from codefathom.fleet.fleet_list import FleetList, NamedFleet
from codefathom.fleet.fleet_look import look_at
from codefathom.fleet.fleet_place import place_of_fleet, store_to_write
from codefathom.fleet.fleet_run import FleetReport, FleetRun
from codefathom.fleet.look_turns import FleetLook
from codefathom.fleet.manifest import CLONES, Manifest, Repository, Shard
from codefathom.fleet.reader_lists import (
    HOST_READERS,
    HostCount,
    ReaderHost,
    problem_of_list,
    read_lists,
)
from codefathom.fleet.readers_file import (
    classes_of,
    fleet_readers,
    mixed_slots,
    reader_hosts,
    reader_rules,
    readers_by_repository,
)
from codefathom.fleet.remote_sources import RemoteSources
from codefathom.fleet.shard_parts import wrong_content
from codefathom.fleet.shard_stores import open_store
from codefathom.fleet.shards import SHARDS, LocalMaker, ShardMaker, forget, older_format
from codefathom.fleet.sources import checked_source
from codefathom.project.location import Location, locate
from codefathom.project.repository_sight import ReaderRule
from codefathom.stores.folder import Folder
from codefathom.stores.lock import WriterLock
from codefathom.types import Failure, Progress

_SETTINGS = "fathom.toml"
_OWN = (SHARDS, "words", CLONES, HOST_READERS)


class FleetExtent(NamedTuple):
    """How much a fleet holds."""

    n_repositories: int
    n_branches: int  # beside the default ones
    n_shards: int
    n_lines: int  # that are indexed


class FleetStatus(NamedTuple):
    """The contents of a fleet."""

    name: str
    root: str
    generation: int  # 0 before the first run
    sources: tuple[str, ...]
    repositories: tuple[Repository, ...]
    shards: tuple[Shard, ...]
    n_bytes_text: int  # of the files of all repositories
    n_bytes_distinct: int  # of those whose content is indexed: equal files count once
    n_bytes: int  # of the whole fleet on the disk, but for clones
    n_bytes_clones: int  # of repositories elsewhere
    forks: tuple[str, ...]  # of the repositories
    rules: tuple[ReaderRule, ...] | None = None  # who may read which repository; None: all may read all
    old: tuple[tuple[Shard, int], ...] = ()  # shards that an older fathom has written, with their format
    mixed: tuple[Shard, ...] = ()  # shards that hold repositories of different readers since the rules have changed
    n_closed: int = 0  # repositories that not everybody may read
    hosts: tuple[HostCount, ...] = ()  # that say who may read their repositories
    unsure: tuple[Failure, ...] = ()  # repositories whose host did not say so, or not lately

    @property
    def extent(self) -> FleetExtent:
        """How much it is."""
        return _extent(self.repositories, self.shards)

    @property
    def n_lines(self) -> int:
        """Lines that are indexed."""
        return self.extent.n_lines

    @property
    def n_branches(self) -> int:
        """Branches beside the default ones; each is one of `repositories`."""
        return self.extent.n_branches

    @property
    def failed(self) -> tuple[Repository, ...]:
        """Repositories that could not be read the last time."""
        return tuple(item for item in self.repositories if item.problem)


class Fleet:
    """One fleet of this user. `Engine.open(fleet.root)` asks it."""

    def __init__(self, named: NamedFleet, settings: Settings | None = None) -> None:
        self.name, self.root = named
        marker = os.path.join(self.root, _SETTINGS)
        if not os.path.lexists(marker):  # it makes the folder a project, and is the place for the fleet's settings
            with open(marker, "x", encoding="utf-8"):
                pass
        self._settings = settings
        self._manifest = Manifest(self.root)

    @classmethod
    def open(cls, name: str, settings: Settings | None = None) -> Self:
        """Open a fleet by its name. Raises UsageError."""
        return cls(FleetList().named(name), settings)

    @classmethod
    def make(cls, name: str, at: str = "", settings: Settings | None = None) -> Self:
        """Open a fleet, which is made if there is none of this name: in a folder, or in the user's state folder."""
        return cls(FleetList().make(name, at), settings)

    def add(self, sources: Sequence[str]) -> tuple[str, ...]:
        """Add sources: folders of clones, folders, addresses, lists of these. Raises UsageError for any other one."""
        schemes = locate(self.root, self._settings, is_root=True).settings.server.git_schemes
        checked = tuple(checked_source(source, schemes) for source in sources)
        for source in checked:
            if os.path.realpath(source) == self.root:
                raise UsageError(f"{source!r} is the folder of the fleet", hint="give a folder of repositories")
        self._manifest.add_sources(checked)
        return checked

    def remove_source(self, source: str) -> None:
        """Take a source out; its repositories go with the next run. Raises UsageError for one that is not there."""
        listed = self._manifest.sources()
        chosen = source if source in listed else os.path.abspath(source)
        if not self._manifest.remove_source(chosen):
            raise UsageError(
                f"{source!r} is not a source of the fleet {self.name!r}",
                hint=f"its sources are {', '.join(listed)}" if listed else "it has none",
            )

    def index(
        self,
        on_progress: Callable[[Progress], None] = lambda _: None,
        *,
        full: bool = False,
        only: Sequence[str] = (),
    ) -> FleetReport:
        """Bring all repositories up to date, or only those of these names, and no other one is looked at.

        Raises LockedError when another process does that, UsageError for a name that no repository has, FathomError.
        """
        place = self._place
        store = open_store(store_to_write(place, self._manifest)) if place.settings.search.fleet_store else None
        maker = self._maker(place, on_progress)
        run = FleetRun(self._manifest, place, RemoteSources(place), maker, on_progress, store=store)
        return run.run(full=full, only=only)

    def look(self, on_progress: Callable[[Progress], None] = lambda _: None) -> FleetLook:
        """Ask the sources what they have now, without any work on the index: what a run would take in.

        Raises FathomError; repositories that cannot be asked are in the outcome.
        """
        return look_at(self._place, self._manifest, on_progress)

    def _maker(self, place: Location, on_progress: Callable[[Progress], None]) -> ShardMaker:
        cluster = place.settings.search.fleet_cluster
        if not cluster:
            return LocalMaker(place, on_progress)
        from codefathom.fleet.cluster.cluster_maker import ClusterMaker
        from codefathom.fleet.cluster.ray_cluster import RayCluster

        Folder(self.root).below(SHARDS).make()
        store = store_to_write(place, self._manifest)
        return ClusterMaker(place, self._manifest, store, RayCluster.connect(cluster), on_progress)

    def extent(self) -> FleetExtent:
        """Return how much the fleet holds; unlike `status`, this looks at no file."""
        return _extent(self._manifest.repositories(), self._manifest.shards())

    def status(self) -> FleetStatus:
        """Return the contents of the fleet."""
        manifest = self._manifest
        total, distinct = manifest.n_contents()
        rules, repositories = reader_rules(self.root), manifest.repositories()
        readers = readers_by_repository(rules, repositories, self.root)
        mixed = mixed_slots(repositories, classes_of(rules, repositories, self.root))
        own = fleet_readers(self.root)
        hosts = own.hosts if own is not None else ()
        return FleetStatus(
            self.name,
            self.root,
            manifest.generation,
            tuple(manifest.sources()),
            tuple(repositories),
            tuple(manifest.shards()),
            total,
            distinct,
            _room_of(self.root) - (n_clones := _room_of(os.path.join(self.root, CLONES))),
            n_clones,
            tuple(manifest.forks()),
            rules,
            tuple((item, version) for item in manifest.shards() if (version := older_format(item, self.root))),
            tuple(shard for shard in manifest.shards() if shard.slot in mixed),
            sum(item is not None for item in readers.values()),
            reader_hosts(self.root),
            tuple(
                self._unsure(
                    hosts,
                    repositories,
                    {number for number, names in readers.items() if names is not None and not names},
                )
            ),
        )

    def _unsure(
        self, hosts: Sequence[ReaderHost], repositories: Sequence[Repository], nobodys: Container[int]
    ) -> Iterator[Failure]:
        """Yield the clones whose hosts did not say who may read them; `nobodys` nobody but administrators reads."""
        lists = read_lists(self.root) if hosts else {}
        for item in repositories if hosts else ():
            if (clone := item.clone_in(self.root)) and not item.is_branch:
                problem = problem_of_list(lists.get(clone), hosts, is_for_nobody=item.id in nobodys)
                if problem:
                    yield Failure(item.name, problem)

    def verify(self) -> tuple[Failure, ...]:
        """Compare all bytes of all shards with what was written, and return the shards that differ, with the reason."""
        folder, parts = Folder(self.root).below(SHARDS), self._manifest.parts()
        problems = [
            Failure(shard.folder, problem)
            for shard in self._manifest.shards()
            if (problem := wrong_content(folder.below(shard.folder), parts.get(shard.slot, [])))
        ]
        return tuple(problems)

    def remove(self) -> int:
        """Remove the fleet with its shards and clones; return its size in bytes. Other repositories stay.

        Raises LockedError.
        """
        folder, place = Folder(self.root), self._place
        lock = WriterLock(folder)
        if not lock.acquire():
            raise UsageError(f"another process is indexing the fleet {self.name!r}", hint="wait until it has ended")
        try:
            n_bytes = folder.n_bytes()
            for name in folder.below(SHARDS).names():
                forget(place, name)
            self.close()
            for name in folder.names():
                if name in _OWN or name.startswith(("fleet.db", "graph.", "use.lock")):
                    folder.remove(name)
            FleetList().forget(self.name)
        finally:
            lock.release()
        return n_bytes

    @property
    def _place(self) -> Location:
        return place_of_fleet(locate(self.root, self._settings, is_root=True), self.name)

    def close(self) -> None:
        """Close the manifest."""
        self._manifest.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with closing(self._manifest):
            pass


def _extent(repositories: Sequence[Repository], shards: Sequence[Shard]) -> FleetExtent:
    n_branches = sum(item.is_branch for item in repositories)
    n_lines = sum(shard.n_lines for shard in shards)
    return FleetExtent(len(repositories) - n_branches, n_branches, len(shards), n_lines)


def _room_of(folder: str) -> int:
    """Return the size of all files below a folder; one with several names, such as those of words, counts once."""
    sizes: dict[tuple[int, int], int] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # a file that was replaced in this moment
                status = os.lstat(os.path.join(place, name))
                sizes[status.st_dev, status.st_ino] = status.st_size
    return sum(sizes.values())
