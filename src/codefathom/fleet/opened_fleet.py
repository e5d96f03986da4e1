"""A fleet as it is asked: the shards of one generation behind the catalogue, the words and the vectors of a project.

So all that a project answers a fleet answers, by the same code: a search goes once through the whole pipeline, and its
scores and order are those of one index of all text.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast

from codefathom.errors import DamagedError, IndexingError, SourceError, UnwritableError, UsageError
from codefathom.facts.reasons import ALSO_IN, ALSO_IN_ONE, IN_BRANCH, IN_BRANCHES, SHARD_MIXED, Note
from codefathom.fleet.fleet_place import name_of_fleet, store_to_read
from codefathom.fleet.fleet_run import WORDS
from codefathom.fleet.inspected_fleet import fleet_checks, fleet_status
from codefathom.fleet.manifest import OF_DEFAULT, Manifest
from codefathom.fleet.reach import FleetReach, current_reach, partial_notes, reaching
from codefathom.fleet.readers_file import READERS
from codefathom.fleet.repository_filter import asks_for_branches, with_branches, with_forks
from codefathom.fleet.shard_catalogs import ShardCatalogs
from codefathom.fleet.shard_vectors import ShardVectors, open_vectors
from codefathom.fleet.sources import tree_of
from codefathom.fleet.trees import FleetFiles, ShardTree
from codefathom.project.current_index import CurrentIndex, FleetAction, Run
from codefathom.project.location import Location
from codefathom.project.opening import OpenedProject
from codefathom.project.repository_sight import BRANCH_MARK
from codefathom.providers.base import Embedder
from codefathom.question.question import Question
from codefathom.remote.vector_stores import vector_folder
from codefathom.search.question.query import branch_words, parse_query
from codefathom.source.scan import FileTree
from codefathom.stores.base import VectorStore
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.folder import Folder
from codefathom.stores.lexical.lexical_view import LexicalView
from codefathom.types import Branches, Check, Hit, Partial, Status, UnaskedShard, Where

if TYPE_CHECKING:
    from codefathom.config.settings import StoreSettings
    from codefathom.providers.base import ChatModel

_T = TypeVar("_T")
_IN_WORDS = ("search", "context", "ask", "map")  # kinds of questions with conditions and paths among words
_MOST_OTHERS = 3  # places of a content that a hit names


class OpenedFleet(OpenedProject):
    """One generation of a fleet, opened like the index of a project."""

    upgrades = False
    _own_words = ""  # name of the words of those shards that can be asked, where these are not all

    def __init__(
        self,
        place: Location,
        manifest: Manifest,
        on_wait: Callable[[str], None],
        wrap_model: Callable[[ChatModel], ChatModel],
    ) -> None:
        """Open a fleet that a run has made. Raises IndexingError for one that is empty."""
        name = name_of_fleet(place)
        self._manifest, self.has_branches = manifest, manifest.has_branches
        self.shards = _shards_of(manifest, place)
        if not self.shards.shards and place.sight is not None:
            raise IndexingError(
                f"you may read none of the repositories that are indexed in the fleet {name!r}",
                hint=f"its operator says in its file {READERS} who may read what, and then runs `fathom fleet index`",
            )
        if not self.shards.shards:
            raise IndexingError(
                f"the fleet {name!r} has no text yet",
                hint=f"run `fathom fleet index {name}`; `fathom fleet status {name}` says more",
            )
        if len(self.shards.broken) == len(self.shards.shards):
            raise self.shards.set_aside(*next(iter(self.shards.broken.items())))
        trees = {item.name: tree_of(item.place, item.state) for item in manifest.repositories() if item.state}
        self._trees = trees
        place = replace(place, revision=FleetFiles(name, ShardTree(trees)))
        super().__init__(place, on_wait, wrap_model)
        active = manifest.activity()
        self._sources = self._sources._replace(activity_of=lambda path: active.get(path.partition("/")[0], 0))

    def _opened_catalog(self, folder: Folder) -> tuple[Catalog, UnwritableError | None]:
        return cast(Catalog, self.shards), None

    def _make_vectors(self) -> None:
        """Do nothing: shards are only read, and their vectors lie beside them."""

    def _opened_words(self, folder: Folder) -> LexicalView:
        shards, words = self.shards, folder.below(WORDS)
        if not shards.broken and self._manifest.sight is None:
            of_default = OF_DEFAULT if self._manifest.is_default_only else ""
            return LexicalView.open(words.below(f"{shards.generation}{of_default}"), shards.identity)
        # The words of shards that are as they were written, and may be read: frequencies are those of them alone.
        # A later run removes them after a reader that was killed.
        sound = [slot for slot in shards.shards if slot not in shards.broken]
        self._own_words = f"{shards.generation}-{os.urandom(8).hex()}"
        view = LexicalView(words.below(self._own_words), shards.identity)
        others = [(shards.folder_of(slot).below("lexical"), shards.shards[slot].identity) for slot in sound]
        with suppress(OSError):  # else nothing is found by words, which the answer says
            view.join(others, shards.generation)
        return view

    def close(self) -> None:
        """Release files."""
        super().close()
        if self._own_words:
            with suppress(OSError, IndexingError):
                Folder(self.place.root).below(WORDS).remove(self._own_words)

    def vector_store(self, store: StoreSettings, embedder: Embedder | None = None) -> VectorStore:
        """Return the vectors of a model in all shards."""
        model, shards = embedder or self.embedder, self.shards
        name, dimensions = vector_folder(model), model.dimensions
        if not self.place.settings.search.fleet_cluster:
            return ShardVectors(shards, lambda slot: open_vectors(shards, slot, name, dimensions))
        from codefathom.fleet.cluster.cluster_shards import ClusterCatalogs, ClusterVectors
        from codefathom.fleet.cluster.shard_calls import VectorsPart

        return ClusterVectors(cast(ClusterCatalogs, shards), VectorsPart(name, dimensions))

    def repository_of(self, path: str) -> tuple[str, FileTree | None]:
        """Return how the paths of the repository of a file begin, with its files."""
        name = path.partition("/")[0]
        return f"{name}/", self._trees.get(name)

    def marked(self, hits: tuple[Hit, ...], generation: int) -> tuple[Hit, ...]:
        """Say of each hit where else its file is. Its lines are those that were indexed: no generation changes."""
        return tuple(map(self._with_others, hits))

    def _with_others(self, hit: Hit) -> Hit:
        notes: list[Note] = []
        if self.has_branches and (branches := self._manifest.branches_with(hit.chunk.path)):
            is_one = len(branches) == 1
            notes.append(Note(IN_BRANCH, {"branch": branches[0]}) if is_one else _in_branches(branches))
        paths, n_paths = self._manifest.others(hit.chunk.path, _MOST_OTHERS)
        if n_paths == 1:
            notes.append(Note(ALSO_IN_ONE, {"path": paths[0]}))
        elif n_paths:
            notes.append(Note(ALSO_IN, {"count": n_paths, "paths": tuple(paths)}))
        return replace(hit, reasons=(*hit.reasons, *notes)) if notes else hit


def _in_branches(branches: Sequence[str]) -> Note:
    return Note(IN_BRANCHES, {"branches": tuple(branches)})


def _shards_of(manifest: Manifest, place: Location) -> ShardCatalogs:
    """Return the shards where they are asked: in this process, or on the machines of a cluster."""
    search = place.settings.search
    if not search.fleet_cluster:
        return ShardCatalogs(manifest)
    from codefathom.fleet.cluster.cluster_shards import ClusterCatalogs
    from codefathom.fleet.cluster.ray_cluster import RayCluster

    store = store_to_read(search.fleet_store, manifest)
    return ClusterCatalogs(manifest, RayCluster.connect(search.fleet_cluster), search.fleet_timeout_s, store)


def _asks_for_branches(question: Question) -> bool:
    """Return True for a question that asks for branches, or names a file of one, such as shop@release-2/main.py."""
    paths, where = [question.path, *question.files, *question.folders], question.where
    if question.kind in _IN_WORDS:
        query = parse_query(question.text)
        paths += query.paths
        if asks_for_branches(query.where):
            return True
    else:
        target, of_branches = branch_words(question.text)
        if of_branches is not None:
            return True
        paths.append(target.lstrip("@"))
    return asks_for_branches(where) or any(BRANCH_MARK in path.lstrip("@").partition("/")[0] for path in paths)


class FleetIndex(CurrentIndex):
    """The index of a fleet, opened when it is first needed, and anew after a run has switched it."""

    is_fleet = True
    _manifest: Manifest | None = None
    _branches: FleetIndex | None = None
    _only_default = True

    @property
    def opened(self) -> OpenedProject:
        """The generation of now. Raises IndexingError for a fleet that is empty."""
        with self.lock:
            manifest = self._manifest or Manifest(self.place.root, self.place.sight, only_default=self._only_default)
            self._manifest = manifest
            before = self._opened
            if before is None or before.catalog.generation != manifest.generation:
                manifest.look_again()
                # The one before stays open: another thread may be reading it.
                self._opened = OpenedFleet(self.place, manifest, self.on_wait, self._wrap_model)
            return cast(OpenedProject, self._opened)

    def condition(self, where: Where) -> Where:
        """Return a condition with the names of the repositories where it asks for forks or branches."""
        shards = self._shards
        return with_branches(with_forks(where, lambda: shards().forks()), lambda: shards().branches())

    def files_of_branches(self, where: Where) -> Callable[[str], bool]:
        """See `CurrentIndex`. A file is one of each branch that has its content; all are looked up at once."""
        return self._shards().files_of(self.condition(where)).has

    def asked_by(self, question: Question) -> CurrentIndex:
        """Return the index of all branches for a question that asks for them, or names a file of one."""
        if not self._only_default or not _asks_for_branches(question):
            return self
        return self._of_all_branches() if self._has_branches else self

    @property
    def _has_branches(self) -> bool:
        return cast(OpenedFleet, self.opened).has_branches

    def _of_all_branches(self) -> CurrentIndex:
        if isinstance(self._shared, FleetIndex):
            return self._shared._of_all_branches().with_settings(self.settings)
        with self.lock:
            if self._branches is None:
                self._branches = copy(self)
                self._branches._opened = self._branches._manifest = None
                self._branches._only_default = False
            return self._branches

    def branches_asked(self) -> Branches:
        """Return which branches a question of this index reads."""
        return None if not self._has_branches else "default" if self._only_default else "all"

    def _shards(self) -> ShardCatalogs:
        return cast(OpenedFleet, self.opened).shards

    def in_time(self, ask: Callable[[], _T]) -> _T:
        """Return an answer within the time for a question; what is not reached is named, see `partial`.

        A shard that turns out to be damaged is left out, and the others are asked again.
        """
        while True:
            with self.looking():
                try:
                    return ask()
                except (UsageError, SourceError) as error:
                    if not (notes := self.partial_notes()):
                        raise
                    # A name or a path that was not found may be in a shard that was not asked.
                    raise type(error)(
                        error.told, hint=". ".join(filter(None, map(str, (error.hint, *notes))))
                    ) from error
                except DamagedError:
                    opened = self.opened
                    if not isinstance(opened, OpenedFleet) or not opened.shards.find_broken():
                        raise

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Have the questions of the block end in time, and let them leave out what cannot be asked."""
        reach = FleetReach(self.place.root, time.monotonic() + self.settings.search.fleet_timeout_s)
        with reaching(reach):
            yield

    def partial(self) -> Partial | None:
        """Return the shards that the question of now has not reached."""
        reach, opened = current_reach(self.place.root), self._opened
        if reach is None or not isinstance(opened, OpenedFleet) or not (reach.unasked or opened.shards.mixed):
            return None
        shards = opened.shards
        unasked = tuple(
            UnaskedShard(shards.shards[slot].folder, shards.repositories_of(slot), reason)
            for slot, reason in sorted(reach.unasked.items())
        )
        # The name of such a shard is made of all that is in it.
        mixed = tuple(
            UnaskedShard(f"mixed-{number}", names, Note(SHARD_MIXED))
            for number, names in enumerate(shards.mixed, start=1)
        )
        return Partial(len(shards.shards) + len(mixed), (*unasked, *mixed))

    def partial_notes(self) -> tuple[Note, ...]:
        """Return the same as a note, or none."""
        return partial_notes(self.partial())

    @property
    def last_opened(self) -> OpenedProject:
        """The same: a question is answered from one generation."""
        return self.opened

    def refresh(self) -> bool:
        """Return False: a fleet is brought up to date by its own runs."""
        return False

    def status(self) -> Status:
        """Return the contents of the fleet."""
        return fleet_status(self._shards(), self.place, self.opened.embedder.name)

    def doctor(self) -> tuple[Check, ...]:
        """Return the checks of a project that are about no catalogue, and whether all shards can be asked."""
        return fleet_checks(self.opened, self._shards())

    @property
    def history(self) -> CurrentIndex:
        """Refuse. Raises UsageError."""
        self.refuse_fleet("has no history of its own", instead="")

    def refuse(self, what: str) -> NoReturn:
        """Raise UsageError: only a run changes a fleet."""
        self.refuse_fleet(what)

    def refuse_fleet(self, what: str, instead: FleetAction = "index") -> NoReturn:
        """Raise UsageError with what a fleet cannot do, and the action of `fathom fleet` that can be used instead."""
        name = name_of_fleet(self.place)
        in_git = f"run this in the folder of one of its repositories; `fathom fleet status {name} -v` shows the folders"
        hint = f"run `fathom fleet {instead} {name}`" if instead else in_git
        raise UsageError(f"{name!r} is a fleet, which {what}", hint=hint)

    def whole_run(self, *, full: bool, retry: bool, wait_s: float | None, keep_rules: bool) -> Run:
        """Refuse. Raises UsageError."""
        self.refuse("is not indexed like a project")

    def close(self) -> None:
        """Release files."""
        super().close()
        with self.lock:
            if self._branches is not None:
                self._branches.close()
            if self._manifest is not None:
                with closing(self._manifest):
                    self._manifest = None
