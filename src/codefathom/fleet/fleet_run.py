"""A run over a fleet: what its repositories are now → new versions of the shards that differ → one switch to them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from codefathom.errors import DamagedError, FathomError, IndexingError, SourceError, UsageError
from codefathom.fleet.fleet_clones import CloneOutcome
from codefathom.fleet.fleet_place import fleet_rules
from codefathom.fleet.manifest import OF_DEFAULT, Manifest, Repository, Shard, locked
from codefathom.fleet.readers_file import classes_of, mixed_slots, reader_rules
from codefathom.fleet.repository_filter import no_repository
from codefathom.fleet.shard_catalogs import KEPT, SIGHT
from codefathom.fleet.shard_parts import ShardPart, wrong_content, wrong_size
from codefathom.fleet.shard_store import ShardStore
from codefathom.fleet.shards import (
    SHARDS,
    BuiltShard,
    MadeShard,
    ShardMaker,
    ShardOrder,
    folder_name,
    forget,
    older_format,
)
from codefathom.fleet.sources import (
    MOST_BRANCHES,
    RemotePlaces,
    RepositoryPlace,
    UnreadSource,
    branch_name,
    branches_of,
    is_name_for,
    listed_files,
    name_of,
    newest_commit_s,
    places_of,
    sources_elsewhere,
    tree_of,
    version_of,
)
from codefathom.project.location import Location
from codefathom.project.repository_sight import base_of
from codefathom.source.scan import FileTree
from codefathom.stores.catalog.schema import FORMAT
from codefathom.stores.folder import Folder
from codefathom.stores.lexical.lexical_view import LexicalView
from codefathom.stores.lock import WriterLock
from codefathom.types import Failure, Progress

if TYPE_CHECKING:
    from codefathom.fleet.remote_sources import RemoteSources

WORDS = "words"
MOST_BYTES = 50_000_000  # of the files of a shard, about 1.5 million lines; a larger repository is alone
_BEFORE = "before"  # key of the shards that were in force before the last switch
_LAST_SLOT = "last_slot"  # key of the highest number that a shard has had
_CHECKED = "store-check"  # folder of a shard that is compared
_AT_ONCE = 5_000  # values in one statement
OnProgress = Callable[[Progress], None]


class FleetReport(NamedTuple):
    """The outcome of a run."""

    generation: int
    n_repositories: int
    changed: tuple[str, ...]  # names of repositories that are new, changed or gone
    n_shards_made: int
    failures: tuple[Failure, ...]  # repositories and sources that could not be read, with the remedy
    damaged: tuple[Failure, ...] = ()  # shards that were not as they were written, and were made again
    notes: tuple[str, ...] = ()  # repositories elsewhere that are left out, have another name, or are gone


@dataclass
class _Changes:
    """What is different since the last run."""

    names: list[str] = field(default_factory=list)
    contents: set[bytes] = field(default_factory=set)  # that a repository has won or lost
    slots: set[int] = field(default_factory=set)
    damaged: dict[int, Failure] = field(default_factory=dict)  # folders of damaged shards by slot, with the reason
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class FleetRun:
    """One run; it needs the writer lock of the fleet."""

    def __init__(
        self,
        manifest: Manifest,
        place: Location,
        remote: RemoteSources,
        maker: ShardMaker,
        on_progress: OnProgress,
        *,
        store: ShardStore | None = None,
    ) -> None:
        """With a store, the shards are put there, too."""
        self._manifest, self._place, self._remote, self._on_progress = manifest, place, remote, on_progress
        self._maker, self._store = maker, store
        self._patterns = place.settings.source.fleet_branches
        self._rules = fleet_rules(place)
        self._changes = _Changes()
        self._active: Mapping[int, int] = {}  # when repositories were last active, as the run before has read it

    def run(self, *, full: bool = False, only: Sequence[str] = ()) -> FleetReport:
        """Bring the fleet up to date; with `full`, list also repositories that seem to be as before.

        With `only`, just the repositories of these names are fetched and compared, and none is added or removed.
        Raises LockedError when another process writes, UsageError for a name that no repository has, FathomError.
        """
        lock = WriterLock(Folder(self._place.root))
        if not lock.acquire():
            raise locked(self._place.root)
        try:
            # Before the transaction: this may take long, and what was brought stays after a kill.
            sources = sources_elsewhere(self._manifest.sources())
            if only:
                chosen = self._chosen(only)
                # Branches lie in the clone of their repository, which is fetched once.
                clones = dict.fromkeys(item.place for item in chosen if self._remote.has(item.place))
                brought = self._remote.bring_again(list(clones), sources, self._on_progress)
                with self._manifest.transaction():
                    self._active = self._manifest.latest_activity()
                    self._list_again(chosen, brought, full=full)
                    report = self._switched(full=full)
            else:
                elsewhere = self._remote.bring(sources, self._on_progress)
                self._changes.notes += elsewhere.notes
                self._changes.failures += elsewhere.failures
                with self._manifest.transaction():
                    self._active = self._manifest.latest_activity()
                    self._list(elsewhere, full=full)
                    report = self._switched(full=full)
            self._remove_unused()
            if not only:
                self._remote.remove_unused(item.place for item in self._manifest.repositories())
            return report
        finally:
            lock.release()

    def _switched(self, *, full: bool) -> FleetReport:
        """Make the shards that differ, and put them in force, inside the transaction."""
        manifest, changes = self._manifest, self._changes
        is_reclassed = self._classify()
        self._assign()
        changes.slots |= self._sharing(changes.contents)
        before = {shard.slot: shard for shard in manifest.shards()}
        parts = manifest.parts()
        self._find_damage(before.values(), parts, full=full)
        self._find_old(before.values())
        orders = (self._order(slot, before.get(slot), parts.get(slot, ())) for slot in sorted(changes.slots))
        n_made = sum(map(self._take_in, self._maker.make(filter(None, orders))))
        changes.notes += self._maker.notes
        if self._store is not None:
            self._publish(self._store, full=full)  # before the switch: whoever reads the new state finds its shards
        generation = manifest.generation
        if changes.names or n_made or is_reclassed or not generation:
            generation += 1
            manifest.put_meta(
                {"generation": str(generation), _BEFORE: " ".join(shard.folder for shard in before.values())}
            )
            manifest.use_activity()
            self._join_words(generation)
        n_repositories = manifest.n_default
        failures, damaged = tuple(changes.failures), tuple(changes.damaged.values())
        return FleetReport(
            generation, n_repositories, tuple(changes.names), n_made, failures, damaged, tuple(changes.notes)
        )

    # ---- repositories

    def _chosen(self, names: Sequence[str]) -> list[Repository]:
        listed = self._manifest.repositories()
        by_name = {item.name: item for item in listed}
        for name in names:
            if name not in by_name:
                error = no_repository(name, by_name)
                new = "new ones come with `fathom fleet index` without a name"
                raise UsageError(error.told, hint=f"{error.hint}; {new}")
        return [item for item in listed if item.name in names or base_of(item.name) in names]

    def _list_again(self, chosen: Sequence[Repository], brought: Mapping[str, CloneOutcome], *, full: bool) -> None:
        for number, item in enumerate(chosen, start=1):
            outcome = brought.get(item.place, CloneOutcome(item.place))
            self._on_progress(Progress("scan", number, len(chosen), message=item.name))
            place = RepositoryPlace(item.place, item.source, "", outcome.problem, outcome.remedy)
            if not item.is_branch:
                self._take(item, place, full=full)
            elif not place.problem:  # which its repository has told
                ref = branches_of(item.place, [item.branch]).get(item.branch, f"refs/heads/{item.branch}")
                self._take(item, place, full=full, ref=ref)

    def _list(self, elsewhere: RemotePlaces, *, full: bool) -> None:
        manifest = self._manifest
        before = manifest.repositories()
        by_place = {item.place: item for item in before if not item.is_branch}
        by_branch = {(item.place, item.branch): item for item in before if item.is_branch}
        taken, unread = {item.name for item in before}, set[str]()
        places: list[RepositoryPlace] = []
        for item in places_of(manifest.sources(), elsewhere.by_source):
            if isinstance(item, UnreadSource):
                self._changes.failures.append(Failure(item.source, f"{item.problem}; {item.remedy}"))
                unread.add(item.source)
            else:
                places.append(item)
        # Names are given in the order of places, and keep to their repository.
        for number, place in enumerate(places, start=1):
            repository = self._named(place, by_place.pop(place.path, None), taken)
            self._on_progress(Progress("scan", number, len(places), message=repository.name))
            branch = self._take(repository, place, full=full)
            self._list_branches(repository._replace(branch=branch), place, by_branch, taken, full=full)
        for repository in (*by_place.values(), *by_branch.values()):
            if repository.source not in unread:
                self._drop(repository)
                self._changes.notes.append(f"{repository.name} is gone, or no source names it")

    def _list_branches(
        self,
        default: Repository,
        place: RepositoryPlace,
        before: dict[tuple[str, str], Repository],
        taken: set[str],
        *,
        full: bool,
    ) -> None:
        """Take in the branches of a repository beside its default one; those that are left in `before` are gone."""
        refs: Mapping[str, str] = {}
        try:
            if place.problem:
                raise SourceError(place.problem)
            refs = branches_of(place.path, self._patterns)
        except FathomError:  # as `_take` has told
            for key in [key for key in before if key[0] == place.path]:
                del before[key]
        names = [name for name in refs if name != default.branch]
        if len(names) > MOST_BRANCHES:
            self._changes.notes.append(
                f"{default.name} has more than {MOST_BRANCHES} branches that source.fleet_branches names; the first "
                f"{MOST_BRANCHES} by name are read"
            )
        for name in names[:MOST_BRANCHES]:
            entry = before.get((place.path, name))
            if entry is not None and base_of(entry.name) == default.name:
                del before[place.path, name]
            else:  # new, or its repository has another name now
                own = branch_name(default.name, name, taken)
                taken.add(own)
                entry = Repository(0, own, place.path, place.source, "", 0, 0, 0, branch=name)
            self._take(entry._replace(source=place.source), place, full=full, ref=refs[name])

    def _named(self, place: RepositoryPlace, before: Repository | None, taken: set[str]) -> Repository:
        """Return the repository of a place, a new one where it has none, or has another name elsewhere now."""
        origin = place.name or place.path
        if before is not None and (not place.name or place.problem or is_name_for(before.name, origin)):
            return before._replace(source=place.source)
        if before is not None:  # paths begin with the name, so that it is another repository from now on
            self._drop(before)
            taken.discard(before.name)
        name = name_of(origin, taken)
        taken.add(name)
        if before is not None:
            self._changes.notes.append(f"{before.name} is called {name} now")
        return Repository(0, name, place.path, place.source, "", 0, 0, 0)

    def _take(self, repository: Repository, place: RepositoryPlace, *, full: bool, ref: str = "HEAD") -> str:
        """Take in the files of a repository, and return its branch.

        Of one that cannot be read what was read before stays.
        """
        manifest, changes = self._manifest, self._changes
        try:
            if place.problem:
                raise SourceError(place.problem, hint=place.remedy)
            version = version_of(repository.place, self._rules, ref)
            repository, branch = repository._replace(branch=version.branch), repository.branch
            if version.state == repository.state and not full and not repository.problem:
                if branch != version.branch:
                    manifest.put_repository(repository)
                self._note_activity(repository, version.tree, place, is_new=repository.id not in self._active)
                return version.branch
            before = manifest.contents(repository.id) if repository.id else {}
            files = listed_files(version.tree, self._rules, before)
        except (FathomError, OSError) as error:
            remedy = str(error.hint) if isinstance(error, FathomError) else "see that this user may read it"
            changes.failures.append(Failure(repository.name, f"{error}; {remedy}"))
            manifest.put_repository(repository._replace(problem=str(error), remedy=remedy))
            return repository.branch
        size = sum(file.size for file, _ in files)
        manifest.put_repository(
            repository._replace(state=version.state, n_files=len(files), n_bytes=size, problem="", remedy="")
        )
        number = repository.id or manifest.read("SELECT id FROM repositories WHERE name = ?", (repository.name,))[0][0]
        self._note_activity(repository._replace(id=number), version.tree, place, is_new=True)
        now = {file.path: content for file, content in files}
        was = {path: content for path, (_, content) in before.items()}
        if now == was and not full and repository.id:
            return version.branch
        manifest.put_files(number, files)
        changes.names.append(repository.name)
        changes.contents |= {content for path, content in now.items() if was.get(path) != content}
        changes.contents |= {content for path, content in was.items() if now.get(path) != content}
        changes.slots |= {repository.slot} - {0}
        return version.branch

    def _note_activity(self, repository: Repository, tree: FileTree, place: RepositoryPlace, *, is_new: bool) -> None:
        """Keep when a repository was last active: its newest commit is looked up where the files are of a new one.

        It never becomes less: a run for some repositories asks no host. What lies in the future counts as now.
        """
        before = self._active.get(repository.id, 0)
        latest = max(before, 0 if repository.is_branch else place.active_s)
        with suppress(SourceError):  # the files can be read all the same
            latest = max(latest, newest_commit_s(tree) if is_new else 0)
        latest = min(latest, int(time.time()))
        if latest != before:
            self._manifest.put_activity({repository.id: latest})

    def _drop(self, repository: Repository) -> None:
        files = self._manifest.contents(repository.id).values()
        self._changes.contents |= {content for _, content in files}
        self._changes.slots |= {repository.slot} - {0}
        self._changes.names.append(repository.name)
        self._manifest.remove_repository(repository)

    # ---- shards

    def _classify(self) -> bool:
        """Keep who may read which repository, and take all repositories out of shards in which that differs.

        Return True if it has changed for one. A shard that is left is not used again: words of what was taken out of it
        would count in its frequencies.
        """
        manifest, changes = self._manifest, self._changes
        rules, before = reader_rules(self._place.root), manifest.classes()
        if rules is None and not before:  # everybody reads all, as before
            return False
        repositories = manifest.repositories()
        now = classes_of(rules, repositories, self._place.root)
        mixed = mixed_slots(repositories, now)
        for item in repositories:
            if item.slot in mixed:
                changes.slots.add(item.slot)
                manifest.put_repository(item._replace(slot=0))
            if now[item.id] != before.get(item.id, ""):  # another repository may now be the first with a content
                changes.contents |= {content for _, content in manifest.contents(item.id).values()}
        manifest.put_classes(now)
        return manifest.classes() != before

    def _assign(self) -> None:
        """Give each new repository a shard: the last one of its readers while it has room.

        A large repository has one of its own. Branches beside default ones have shards of their own: a question that
        does not ask for them opens, looks up and counts none of what only they have.
        """
        manifest = self._manifest
        if not manifest.has_unplaced and manifest.meta(_LAST_SLOT):
            return
        repositories, classes = manifest.repositories(), manifest.classes()
        sizes: dict[int, int] = {}
        open_slots: dict[tuple[str, bool], int] = {}  # by class of readers, and whether it has default branches
        for item in repositories:
            if item.slot:
                sizes[item.slot] = sizes.get(item.slot, 0) + item.n_bytes
                kind = classes.get(item.id, ""), item.is_branch
                open_slots[kind] = max(open_slots.get(kind, 0), item.slot)
        last = max([*sizes, *self._changes.slots, int(manifest.meta(_LAST_SLOT) or 0)], default=0)
        for item in repositories:
            if item.slot or not item.state:
                continue
            kind = classes.get(item.id, ""), item.is_branch
            slot, is_large = open_slots.get(kind, 0), item.n_bytes >= MOST_BYTES
            if is_large or not slot or sizes[slot] >= MOST_BYTES or sizes[slot] + item.n_bytes > MOST_BYTES:
                last = slot = last + 1
                if not is_large:
                    open_slots[kind] = slot
            sizes[slot] = sizes.get(slot, 0) + item.n_bytes
            manifest.put_repository(item._replace(slot=slot))
            self._changes.slots.add(slot)
        manifest.put_meta({_LAST_SLOT: str(last)})

    def _sharing(self, contents: Iterable[bytes]) -> set[int]:
        """Return the shards of repositories that have some of these contents: one of them may now be their home."""
        listed, slots = list(contents), set[int]()
        for start in range(0, len(listed), _AT_ONCE):
            part = listed[start : start + _AT_ONCE]
            marks = ",".join("?" * len(part))
            rows = self._manifest.read(
                "SELECT DISTINCT r.slot FROM files f JOIN repositories r ON r.id = f.repository "
                f"WHERE f.content IN ({marks}) AND r.slot > 0",
                part,
            )
            slots |= {row[0] for row in rows}
        return slots

    def _find_damage(self, shards: Iterable[Shard], parts: Mapping[int, Collection[ShardPart]], *, full: bool) -> None:
        """Note the shards that are not as they were written; with `full` all of each is read."""
        folder = Folder(self._place.root).below(SHARDS)
        compare = wrong_content if full else wrong_size
        for shard in shards:
            if problem := compare(folder.below(shard.folder), parts.get(shard.slot, [])):
                self._changes.damaged[shard.slot] = Failure(shard.folder, problem)
                self._changes.slots.add(shard.slot)

    def _find_old(self, shards: Iterable[Shard]) -> None:
        """Note the shards that an older fathom has written, which cannot be read as they are."""
        old = {item.slot: version for item in shards if (version := older_format(item, self._place.root))}
        self._changes.slots |= old.keys()
        for version, count in sorted(Counter(old.values()).items()):
            shards_have, are = ("1 shard has", "it is") if count == 1 else (f"{count:,} shards have", "they are")
            self._changes.notes.append(
                f"{shards_have} format {version} of an older fathom: {are} written in format {FORMAT}, once"
            )

    def _order(self, slot: int, before: Shard | None, parts: Sequence[ShardPart]) -> ShardOrder | None:
        """Return what a shard has to hold now; None where the version in force holds the same."""
        files = self._manifest.homes(slot)
        listed = self._manifest.repositories_in(slot)
        trees = {item.name: tree_of(item.place, item.state) for item in listed}
        damaged = self._changes.damaged.get(slot)
        if damaged:
            order = ShardOrder(slot, files, trees, None, damaged=damaged.path)
        else:
            order = ShardOrder(slot, files, trees, before, self._manifest.names_of(slot), parts)
        if before is not None and before.folder == folder_name(order, self._place):
            return None  # what is in force is never opened for writing
        return order

    def _take_in(self, made: MadeShard) -> bool:
        """Put a new version of a shard in force; return False where there was none, and is none now."""
        manifest, slot = self._manifest, made.order.slot
        if made.built is None:
            was_there = any(shard.slot == slot for shard in manifest.shards())
            manifest.remove_shard(slot)
            return was_there
        manifest.put_shard(made.built.shard, made.built.names, made.built.paths)
        manifest.put_parts(slot, made.built.parts)
        return True

    def _publish(self, store: ShardStore, *, full: bool) -> None:
        """Put the shards into the store that it has not; with `full` all of each is compared, and put again."""
        manifest, root = self._manifest, Folder(self._place.root)
        there, parts = store.names(), manifest.parts()
        for shard in manifest.shards():
            own = parts.get(shard.slot, [])
            if full and shard.folder in there:
                try:
                    store.bring(shard.folder, own, root.below(_CHECKED))
                except DamagedError as error:
                    self._changes.notes.append(f"{error}: it is put into the store again")
                    store.remove(shard.folder)
                    there.discard(shard.folder)
                finally:
                    root.remove(_CHECKED)
            if shard.folder not in there:
                built = BuiltShard(shard, manifest.names_of(shard.slot), manifest.built_paths(shard.slot), own)
                store.put(built, root.below(SHARDS).below(shard.folder))

    def _join_words(self, generation: int) -> None:
        """Make the one view of the words of all shards, beside that of the fleet as it is until the switch.

        Where there are further branches, one of those shards that default branches have is made, too.
        """
        manifest = self._manifest
        shards, identity = manifest.shards(), manifest.meta("identity")
        self._join(shards, str(generation), identity, generation)
        if manifest.has_branches:
            of_default = {item.slot for item in manifest.repositories() if not item.is_branch}
            chosen = [shard for shard in shards if shard.slot in of_default]
            self._join(chosen, f"{generation}{OF_DEFAULT}", f"{identity}{OF_DEFAULT}", generation)

    def _join(self, shards: Sequence[Shard], name: str, identity: str, generation: int) -> None:
        if not shards:
            return
        root = Folder(self._place.root)
        words = root.below(WORDS)
        words.make()
        words.remove(name)
        places = [(root.below(SHARDS).below(item.folder).below("lexical"), item.identity) for item in shards]
        with closing(LexicalView(words.below(name), identity)) as view:
            try:
                view.join(places, generation)
            except OSError as error:
                raise IndexingError(
                    f"cannot write the words of the fleet: {error.strerror}", hint="see if the disk is full"
                ) from error

    def _remove_unused(self) -> None:
        """Remove versions that are in force no more, but for the last ones: a reader may have just begun with them."""
        root, manifest = Folder(self._place.root), self._manifest
        in_force = {item.folder for item in manifest.shards()} | set(manifest.meta(_BEFORE).split())
        kept = {str(manifest.generation), str(manifest.generation - 1)}
        with suppress(OSError, IndexingError):
            for name in root.below(WORDS).names():
                if name.partition("-")[0] not in kept:
                    root.below(WORDS).remove(name)
            for name in root.names():
                if name.startswith(KEPT + SIGHT):  # of generations before this one
                    root.remove(name)
        if self._store is not None:
            for name in self._store.names() - in_force:
                self._store.remove(name)
        unused: Sequence[str] = [name for name in root.below(SHARDS).names() if name not in in_force]
        for name in unused:
            with suppress(OSError, IndexingError):
                forget(self._place, name)
