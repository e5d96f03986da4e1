"""A look at the sources of a fleet: which of its repositories are no longer as the last run has left them.

It needs no lock and writes nothing; an unchanged repository costs one question to git, and no work on an index.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from codefathom.clones.git_address import checked_url
from codefathom.clones.git_copies import RemoteHeads, address_of
from codefathom.errors import FathomError
from codefathom.fleet.fleet_place import fleet_rules
from codefathom.fleet.look_turns import EVERYTHING, Difference, FleetLook
from codefathom.fleet.manifest import Manifest, Repository
from codefathom.fleet.reader_lists import read_lists
from codefathom.fleet.readers_file import classes_of, fleet_readers, mixed_slots, reader_rules
from codefathom.fleet.remote_looks import HeadsOutcome, RemoteLooks
from codefathom.fleet.remote_sources import RemoteSources
from codefathom.fleet.sources import (
    MOST_BRANCHES,
    RepositoryPlace,
    UnreadSource,
    branches_of,
    is_name_for,
    places_of,
    sources_elsewhere,
    state_of,
    version_of,
)
from codefathom.project.location import Location
from codefathom.types import Failure, Progress

_MOST_NAMES = 500  # for more, a run over all of them is as good
_HALF_HOUR_S = 1_800.0


def look_at(place: Location, manifest: Manifest, on_progress: Callable[[Progress], None]) -> FleetLook:
    """Ask all sources of a fleet what they have now. Raises FathomError."""
    return _Looking(place, manifest, on_progress).look()


class _Looking:
    def __init__(self, place: Location, manifest: Manifest, on_progress: Callable[[Progress], None]) -> None:
        self._place, self._manifest, self._on_progress = place, manifest, on_progress
        self._patterns = place.settings.source.fleet_branches
        self._rules = fleet_rules(place)
        self._remote = RemoteSources(place)
        listed = manifest.repositories()
        self._defaults = {item.place: item for item in listed if not item.is_branch}
        self._branches: dict[str, dict[str, Repository]] = {}
        for item in listed:
            if item.is_branch:
                self._branches.setdefault(item.place, {})[item.branch] = item
        self._differences: dict[str, str] = {}
        self._failures: list[Failure] = []
        self._n_unasked = 0

    def look(self) -> FleetLook:
        sources = sources_elsewhere(self._manifest.sources())
        listings = self._remote.listings(sources, self._on_progress)
        items = list({item.key: item for each in listings.listed.values() for item in each}.values())
        places = [self._remote.clones.place_of(item) for item in items]
        looks = RemoteLooks(self._remote.clones, self._on_progress, with_branches=bool(self._patterns))
        outcomes = dict(zip(places, looks.heads(items), strict=True))
        addresses = dict(zip(places, (item.address for item in items), strict=True))
        elsewhere: dict[str, list[RepositoryPlace | UnreadSource]] = {source: [] for source in sources}
        for source, problem in listings.unread.items():
            elsewhere[source].append(problem)
        for source, listed in listings.listed.items():
            clones = [(self._remote.clones.place_of(item), item.path) for item in listed]
            elsewhere[source] += [RepositoryPlace(clone, source, path) for clone, path in clones]
        n_places = self._compare(elsewhere, outcomes, addresses)
        self._see_to_readers()
        if len(self._differences) > _MOST_NAMES:
            self._differences[EVERYTHING] = f"{len(self._differences)} repositories"
        is_blind = bool(listings.unread) or (n_places > 0 and self._n_unasked == n_places)
        differences = tuple(Difference(name, version) for name, version in self._differences.items())
        return FleetLook(n_places, differences, tuple(self._failures), is_blind)

    def _compare(
        self,
        elsewhere: Mapping[str, list[RepositoryPlace | UnreadSource]],
        outcomes: Mapping[str, HeadsOutcome],
        addresses: Mapping[str, str],
    ) -> int:
        """Compare all repositories that sources have now with those of the last run; return their number."""
        there, unread = set[str](), set[str]()
        for item in places_of(self._manifest.sources(), elsewhere):
            if isinstance(item, UnreadSource):
                self._failures.append(Failure(item.source, f"{item.problem}; {item.remedy}"))
                unread.add(item.source)
                continue
            there.add(item.path)
            if item.path in outcomes:
                self._compare_clone(item, outcomes[item.path], addresses[item.path])
            else:
                self._compare_folder(item)
        for entry in self._defaults.values():
            if entry.place not in there and entry.source not in unread:
                self._needs_everything(f"{entry.name} is gone")
        return len(there)

    def _needs_everything(self, why: str) -> None:
        self._differences[EVERYTHING] = f"{self._differences.get(EVERYTHING, '')} {why}".strip()

    def _note_unread(self, name: str, problem: str, remedy: str) -> None:
        self._n_unasked += 1
        self._failures.append(Failure(name, f"{problem}; {remedy}"))

    # ---- repositories elsewhere

    def _compare_clone(self, item: RepositoryPlace, outcome: HeadsOutcome, address: str) -> None:
        entry, heads = self._defaults.get(item.path), outcome.heads
        if heads is None:
            self._note_unread(entry.name if entry else item.name, outcome.problem, outcome.remedy)
            if outcome.is_of_host:
                return  # a run would wait for it in vain, once for each repository
            if entry is None:
                self._needs_everything(f"{item.name} is new")
            elif not entry.problem:  # a run writes it down once, where `status` shows it
                self._differences[entry.name] = outcome.problem
        elif entry is None:
            if heads.commit:  # without a commit there is nothing to take in
                self._needs_everything(f"{item.name} is new at {heads.commit}")
        elif not self._is_at(address, item.path) or not is_name_for(entry.name, item.name):
            self._needs_everything(f"{entry.name} is called {item.name} now, at {heads.commit}")
        else:
            self._compare_heads(entry, heads)

    def _is_at(self, address: str, place: str) -> bool:
        return address_of(place) == checked_url(address, self._place.settings.server.git_schemes)

    def _compare_heads(self, entry: Repository, heads: RemoteHeads) -> None:
        if entry.problem or entry.state != state_of(heads.commit, self._rules):
            self._differences[entry.name] = heads.commit
        if not self._patterns and not self._branches.get(entry.place):
            return
        chosen = self._remote.clones.branch_choice([name for name in heads.branches if name != heads.default])
        states = {name: state_of(heads.branches[name], self._rules) for name in chosen[:MOST_BRANCHES]}
        self._compare_branches(entry, states, heads.default)

    # ---- repositories on this machine

    def _compare_folder(self, item: RepositoryPlace) -> None:
        entry = self._defaults.get(item.path)
        if entry is None:
            self._needs_everything(f"{item.path} is new")
            return
        self._on_progress(Progress("scan", 0, 0, message=entry.name))
        try:
            version = version_of(item.path, self._rules)
            refs = branches_of(item.path, self._patterns)
            names = [name for name in refs if name != version.branch][:MOST_BRANCHES]
            states = {name: version_of(item.path, self._rules, refs[name]).state for name in names}
        except (FathomError, OSError) as error:
            remedy = str(error.hint) if isinstance(error, FathomError) else "see that this user may read it"
            self._note_unread(entry.name, str(error), remedy)
            if not entry.problem:
                self._differences[entry.name] = str(error)
            return
        if entry.problem or entry.state != version.state:
            self._differences[entry.name] = version.state
        self._compare_branches(entry, states, version.branch)

    def _compare_branches(self, entry: Repository, states: Mapping[str, str], default: str) -> None:
        before = self._branches.get(entry.place, {})
        if set(before) != set(states):
            self._needs_everything(f"{entry.name} has the branches {sorted(states)}")
        elif (before and entry.branch != default) or any(before[name].state != states[name] for name in states):
            self._differences.setdefault(entry.name, repr((default, sorted(states.items()))))

    # ---- who may read them

    def _see_to_readers(self) -> None:
        """See if readers have to be asked for again, or shards hold repositories of different readers."""
        root, repositories = self._place.root, self._manifest.repositories()
        rules = reader_rules(root)
        if mixed_slots(repositories, classes_of(rules, repositories, root)):
            self._needs_everything("other readers")
        readers = fleet_readers(root)
        if readers is None or not readers.hosts:
            return
        until_s = min(host.hours for host in readers.hosts) * _HALF_HOUR_S  # when half of the time is over
        tried_at = min((item.tried_at for item in read_lists(root).values()), default=0.0)
        if time.time() - tried_at > until_s:
            self._needs_everything("readers have to be asked for")
