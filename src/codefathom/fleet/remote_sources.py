"""Sources that are elsewhere → clones of their repositories: addresses of git, and what code hosts list."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from codefathom.clones.git_address import checked_url, repository_path
from codefathom.clones.git_copies import address_of
from codefathom.errors import FathomError
from codefathom.fleet.fleet_clones import CloneOutcome, FleetClones, HostListing, RemoteRepository
from codefathom.fleet.host_access import access_to
from codefathom.fleet.host_sources import HostSource, host_source, is_host_source
from codefathom.fleet.manifest import CLONES, Repository
from codefathom.fleet.reader_lists import ReaderList, read_lists, write_lists
from codefathom.fleet.readers_file import fleet_readers
from codefathom.fleet.sources import RemotePlaces, RepositoryPlace, UnreadSource
from codefathom.project.location import Location
from codefathom.types import Failure, Progress


def clone_addresses(root: str, repositories: Iterable[Repository]) -> dict[str, str]:
    """Return the addresses of those repositories that are clones of the fleet in a folder, by name."""
    clones = os.path.join(root, CLONES)
    addresses = {item.name: address_of(item.place) for item in repositories if os.path.dirname(item.place) == clones}
    return {name: address for name, address in addresses.items() if address}


class SourceListings(NamedTuple):
    """What sources on other machines list."""

    listed: Mapping[str, Sequence[RemoteRepository]]  # by source
    unread: Mapping[str, UnreadSource]
    left_out: tuple[str, ...]


class RemoteSources:
    """The sources of one fleet that are elsewhere."""

    def __init__(self, place: Location) -> None:
        self._place = place
        self.clones = FleetClones(place.root, place.settings)

    def bring(self, sources: Sequence[str], on_progress: Callable[[Progress], None]) -> RemotePlaces:
        """Bring the clones of sources up to date, by whoever has the writer lock of the fleet."""
        listed, unread, left_out = self.listings(sources, on_progress)
        by_source: dict[str, list[RepositoryPlace | UnreadSource]] = {source: [] for source in sources}
        for source, problem in unread.items():
            by_source[source].append(problem)
        failures = self._ask_for_readers(listed, on_progress)
        repositories = list({item.key: item for items in listed.values() for item in items}.values())
        outcomes = self.clones.bring(repositories, on_progress)
        by_key = {item.key: outcome for item, outcome in zip(repositories, outcomes, strict=True)}
        for source, items in listed.items():
            by_source[source] += [
                RepositoryPlace(outcome.place, source, item.path, outcome.problem, outcome.remedy, item.active_s)
                for item in items
                if not (outcome := by_key[item.key]).is_empty
            ]
        empty = [item.address for item in repositories if by_key[item.key].is_empty]
        notes = [*left_out, *(f"{address} has no commit yet" for address in empty)]
        return RemotePlaces(by_source, tuple(notes), failures)

    def listings(self, sources: Sequence[str], on_progress: Callable[[Progress], None]) -> SourceListings:
        """Return what sources list: an address itself, a code host the repositories that it has."""
        listed: dict[str, Sequence[RemoteRepository]] = {}
        unread: dict[str, UnreadSource] = {}
        left_out: list[str] = []
        for source in sources:
            try:
                listing = self._listing(source, on_progress)
                listed[source] = listing.repositories
                left_out += listing.notes
            except FathomError as error:
                unread[source] = UnreadSource(source, str(error), str(error.hint))
        return SourceListings(listed, unread, tuple(left_out))

    def _ask_for_readers(
        self, listed: Mapping[str, Sequence[RemoteRepository]], on_progress: Callable[[Progress], None]
    ) -> tuple[Failure, ...]:
        """Ask the hosts that `readers.toml` names who may read what; return what they did not tell.

        The answers hold from now on, and not only from the end of the run: who may read less is kept out at once.
        """
        readers = fleet_readers(self._place.root)
        if readers is None or not readers.hosts:
            return ()
        from codefathom.fleet.host_readers import ask_host  # with all that speaks to other machines

        names = {host.name for host in readers.hosts}
        before = read_lists(self._place.root)
        # Of a source that was not listed, what its host has said before stays, and gets older.
        lists = {clone: item for clone, item in before.items() if item.source not in listed}
        failures: list[Failure] = []
        for source, items in listed.items():
            host = self._host(source)
            if host is None or host.host_name not in names:
                continue
            clones = {os.path.basename(self.clones.place_of(item)): item for item in items}
            on_progress(Progress("wait", 0, 0, message=f"{source}: who may read {len(clones):,} repositories"))
            lists |= ask_host(host, clones, before, self._place.variables, _telling(on_progress))
            failures += _untold(source, [lists[clone] for clone in clones])
        write_lists(self._place.root, lists)
        return tuple(failures)

    def _host(self, source: str) -> HostSource | None:
        return host_source(source, self._place.settings.server.git_schemes) if is_host_source(source) else None

    def has(self, place: str) -> bool:
        """Return True for the folder of a clone."""
        return self.clones.has(place)

    def bring_again(
        self, places: Sequence[str], sources: Sequence[str], on_progress: Callable[[Progress], None]
    ) -> Mapping[str, CloneOutcome]:
        """Bring these clones alone up to date, by place. No code host is asked for its repositories."""
        schemes = self._place.settings.server.git_schemes
        hosts = [host_source(source, schemes) for source in sources if is_host_source(source)]
        repositories = []
        for place in places:
            address = address_of(place)
            above = f"{os.path.dirname(address)}/".lower()
            host = next((host for host in hosts if above.startswith(f"{host.host}/{host.group}/".lower())), None)
            login = access_to(host, self._place.variables).login if host else ""
            repositories.append(RemoteRepository("", address, repository_path(address), login, place))
        return dict(zip(places, self.clones.bring(repositories, on_progress), strict=True))

    def _listing(self, source: str, on_progress: Callable[[Progress], None]) -> HostListing:
        schemes = self._place.settings.server.git_schemes
        if not is_host_source(source):
            return HostListing((RemoteRepository(source, checked_url(source, schemes), repository_path(source)),), ())
        from codefathom.fleet.code_hosts import list_repositories  # with all that speaks to other machines

        return list_repositories(host_source(source, schemes), self._place.variables, _telling(on_progress))

    def remove_unused(self, places: Iterable[str]) -> None:
        """Remove all clones but these."""
        self.clones.remove_unused(places)


def _telling(on_progress: Callable[[Progress], None]) -> Callable[[str], None]:
    return lambda text: on_progress(Progress("wait", 0, 0, message=text))


def _untold(source: str, lists: Sequence[ReaderList]) -> Iterable[Failure]:
    """Yield a sentence for each reason for which a host did not tell who may read some repositories."""
    paths: dict[str, list[str]] = {}
    for item in lists:
        if item.problem:
            paths.setdefault(item.problem, []).append(item.path)
    for problem, such in paths.items():
        others = f" and {len(such) - 1:,} other repositories" if such[1:] else ""
        yield Failure(source, f"its host did not tell who may read {such[0]}{others}: {problem}")
