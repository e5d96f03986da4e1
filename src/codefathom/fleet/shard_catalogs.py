"""The catalogues of all shards as one, for readers: a key or path leads to one shard, a name to those that may have it.

Keys begin at another number in each shard, so none has to be changed. Lists are in the order in which one catalogue
would give them.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache
from heapq import merge
from itertools import chain, groupby, islice
from operator import attrgetter
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from codefathom.errors import DamagedError, IndexingError
from codefathom.facts.reasons import (
    PART_DAMAGED,
    SHARD_FILE_DIFFERS,
    SHARD_OLD_FORMAT,
    SHARD_REPAIR,
    Note,
    Told,
    verbatim,
)
from codefathom.fleet.manifest import Manifest, Shard
from codefathom.fleet.name_filter import NameFilter
from codefathom.fleet.reach import current_reach
from codefathom.fleet.repository_filter import REPOSITORY, HeldFiles, for_fleet, held_files, with_names
from codefathom.fleet.shard_parts import wrong_ends, wrong_size
from codefathom.fleet.shards import KEYS_OF_SHARD, SHARDS, older_format
from codefathom.stores.catalog.catalog import CATALOGUE, Catalog
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.stores.catalog.import_table import ImportTable
from codefathom.stores.catalog.records import (
    CheckedText,
    CompilerUses,
    Counts,
    DefinitionPlace,
    LineRange,
    RejectedFile,
    StoredDocument,
)
from codefathom.stores.catalog.schema import FORMAT
from codefathom.stores.conditions import matches, mentions, normalise, record_of
from codefathom.stores.database import is_marked
from codefathom.stores.folder import Folder
from codefathom.stores.kept_file import KeptFile
from codefathom.text.file_stems import PathsByStem
from codefathom.types import CALLABLE_KINDS, VALUE_KINDS, Chunk, Failure, FoundSymbol, Level, Reference, Symbol, Where

_T = TypeVar("_T")
_Made = TypeVar("_Made")
_Item = TypeVar("_Item")
_Arguments = ParamSpec("_Arguments")
_MOST_STEMS = 20_000  # in memory
KEPT, SIGHT = "graph.", "sight-"  # begin the names of files beside the manifest, and of those for some readers
_MOST_CONDITIONS = 16  # that stay planned


class ShardCatalogs:
    """The catalogue of a fleet of one generation. Safe to use from several threads."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self.generation = manifest.generation
        self.identity = manifest.identity
        self.shards = {shard.slot: shard for shard in manifest.shards()}
        self._slots = {item.name: item.slot for item in manifest.repositories()}
        # Repositories that a reader may see, in shards with others that he may not see.
        self.mixed = tuple(map(tuple, manifest.mixed())) if manifest.sight else ()
        self._open: dict[int, Catalog] = {}
        self._filters: dict[int, NameFilter] = {}
        self._lock = RLock()
        self._parts = manifest.parts()
        # The shards that cannot be asked, with the reason. Whatever else is wrong is seen when a file is first read.
        self.broken: dict[int, Note] = {
            slot: problem
            for slot in self.shards
            if (problem := wrong_size(self.folder_of(slot), self._parts.get(slot, ()))) is not None
        }
        # A condition is read several times for a question, and may ask the manifest for each repository.
        self._called = lru_cache(maxsize=_MOST_CONDITIONS)(lambda where: with_names(normalise(where), self._slots))
        self._planned = lru_cache(maxsize=_MOST_CONDITIONS)(lambda where: for_fleet(where, self._slots, manifest))
        self._held = lru_cache(maxsize=_MOST_CONDITIONS)(lambda where: held_files(where, self._slots, manifest))
        self._kept: dict[Callable[..., object], object] = {}
        self.soundness = ShardSoundness(self)

    # ---- shards

    def catalog(self, slot: int) -> Catalog:
        """Return the catalogue of a shard. Raises IndexingError, DamagedError."""
        return self.local_catalog(slot)

    def local_catalog(self, slot: int) -> Catalog:
        """Return the catalogue of a shard, which this process opens once. Raises IndexingError, DamagedError."""
        with self._lock:
            if slot in self.broken:
                raise self._broken(slot)
            if slot not in self._open:
                self._open[slot] = self._opened(self.shards[slot])
            return self._open[slot]

    def _opened(self, shard: Shard) -> Catalog:
        self.check_part(shard.slot, CATALOGUE)
        try:
            catalog = Catalog.open(self.folder_of(shard.slot).file(CATALOGUE), read_only=True)
        except IndexingError as error:
            version = older_format(shard, self._manifest.root)
            old = Note(SHARD_OLD_FORMAT, {"before": version, "now": FORMAT})
            raise self.set_aside(shard.slot, old if version else verbatim(str(error))) from error
        if catalog.identity != shard.identity:
            catalog.close()
            raise self.set_aside(shard.slot, Note(SHARD_FILE_DIFFERS, {"path": CATALOGUE}))
        return catalog

    def check_part(self, slot: int, name: str) -> None:
        """Compare the ends of a file with what was written, before it is read. Raises DamagedError."""
        part = next((part for part in self._parts.get(slot, ()) if part.name == name), None)
        if part is not None and (problem := wrong_ends(self.folder_of(slot), part)):
            raise self.set_aside(slot, problem)

    def set_aside(self, slot: int, problem: Note) -> DamagedError:
        """Ask a shard no more, and return the error that says so."""
        self.broken[slot] = problem
        return self._broken(slot)

    def _broken(self, slot: int) -> DamagedError:
        shard = verbatim(f"shard {self.shards[slot].folder}")
        return DamagedError(Note(PART_DAMAGED, {"part": shard, "error": self.broken[slot]}), hint=Note(SHARD_REPAIR))

    def folder_of(self, slot: int) -> Folder:
        """Return the folder of a shard."""
        return Folder(self._manifest.root).below(SHARDS).below(self.shards[slot].folder)

    def find_broken(self) -> bool:
        """Look again for shards that are damaged, after one was found to be; return True for one that was not known.

        Who finds damage in a catalogue marks it.
        """
        with self._lock:
            marked = [
                slot
                for slot in self._open
                if slot not in self.broken and is_marked(self.folder_of(slot).file(CATALOGUE))
            ]
            self.broken |= {slot: Note(SHARD_FILE_DIFFERS, {"path": CATALOGUE}) for slot in marked}
            return bool(marked)

    def reached(self, slot: int, *, is_named: bool = False, open_part: Callable[[int], object] | None = None) -> bool:
        """Return True if the question of now may read a shard, and note it where it may not.

        `open_part` opens what will be read, by default the catalogue. A shard that a key or a path names is read to the
        end once it was asked. Where the question has no place to say that a damaged shard was left out, that is an
        error. Raises IndexingError.
        """
        reach = current_reach(self._manifest.root)
        if reach is None and slot in self.broken:
            raise self._broken(slot)
        try:
            if slot not in self.broken:
                (open_part or self.catalog)(slot)
        except DamagedError:
            if slot not in self.broken or reach is None:
                raise
        if reach is None:
            return True
        if slot in self.broken:
            reach.unasked[slot] = self.broken[slot]
            return False
        return reach.may_read(slot) if is_named else reach.may_ask(slot)

    def repositories_of(self, slot: int) -> tuple[str, ...]:
        """Return the names of the repositories of a shard."""
        return tuple(name for name, own in self._slots.items() if own == slot)

    @property
    def n_open(self) -> int:
        """The number of shards that questions have needed so far."""
        return len(self._open)

    def opened(self) -> list[Catalog]:
        """Return the catalogues that are open."""
        with self._lock:
            return list(self._open.values())

    def _each(
        self,
        slots: Iterable[int],
        read: Callable[Concatenate[Catalog, _Arguments], _T],
        *values: _Arguments.args,
        **named: _Arguments.kwargs,
    ) -> Iterator[_T]:
        """Yield what a method of the catalogue gives in each of these shards that may be asked."""
        return (read(self.catalog(slot), *values, **named) for slot in slots if self.reached(slot))

    def _all(
        self, read: Callable[Concatenate[Catalog, _Arguments], _T], *values: _Arguments.args, **named: _Arguments.kwargs
    ) -> Iterator[_T]:
        return self._each(self.shards, read, *values, **named)

    def _own(self, own_values: Mapping[int, list[_Item]], read: Callable[[Catalog, list[_Item]], _T]) -> Iterator[_T]:
        """Yield what a method of the catalogue gives of what belongs to each shard, which was asked before."""
        return (read(self.catalog(slot), own) for slot, own in own_values.items() if self._named(slot))

    def _with(self, name: str) -> Iterable[int]:
        """Yield the shards in which a name may be defined or used."""
        return (slot for slot in self.shards if self._may_have(slot, name))

    def _may_have(self, slot: int, name: str) -> bool:
        if slot not in self._filters:
            self._filters[slot] = NameFilter(self._manifest.names_of(slot))
        return self._filters[slot].may_have(name)

    def _of(self, path: str) -> tuple[Catalog, str] | None:
        """Return the shard that has the content of a file, and the path of the file there; None for none."""
        for own in self._indexed_as(path):
            slot = self._slots.get(own.partition("/")[0], 0)
            if slot in self.shards and (own != path or self._is_home(slot, own)):
                return self.catalog(slot), own
        return None

    def _indexed_as(self, path: str) -> Iterator[str]:
        """Yield the paths under which the content of a file may be indexed; mostly, the first one is."""
        yield path
        yield self._manifest.home_of(path)

    def _is_home(self, slot: int, path: str) -> bool:
        return bool(self.catalog(slot).documents_at({path}))

    def _named(self, slot: int) -> bool:
        return slot in self.shards and self.reached(slot, is_named=True)

    def _by_slot(self, paths: Iterable[str]) -> Mapping[int, list[str]]:
        slots = defaultdict[int, list[str]](list)
        for path in paths:
            slots[self._slots.get(path.partition("/")[0], 0)].append(path)
        return slots

    def _by_key(self, keys: Iterable[int]) -> Mapping[int, list[int]]:
        slots = defaultdict[int, list[int]](list)
        for key in keys:
            slots[key >> KEYS_OF_SHARD].append(key)
        return slots

    # ---- small values

    def get_meta(self, key: str, default: str = "") -> str:
        """Return a value that the shards have stored: that of the first one that can be read."""
        for slot in self.shards:
            with suppress(DamagedError):  # the next one says the same, whatever the time
                return self.catalog(slot).get_meta(key, default)
        return default

    def one_moment(self) -> AbstractContextManager[None]:
        """Give a block in which all small values are of one moment; the shards of a generation never change."""
        return nullcontext()

    def metas(self, key: str) -> list[str]:
        """Return what each shard has stored under a key, "" for nothing."""
        return list(self._all(Catalog.get_meta, key))

    @property
    def stamps(self) -> str:
        """A word that another fleet in the same place has not: the generation counts all changes of this one."""
        return self.identity

    @property
    def is_replaced(self) -> bool:
        """False: a shard is never written."""
        return False

    def is_marked_with(self, word: str) -> bool:
        """True: fleets are known by their name."""
        return True

    def check_open(self) -> None:
        """Raise IndexClosedError if another thread has closed the shards."""
        for catalog in self.opened():
            catalog.check_open()

    def close(self) -> None:
        """Close all shards."""
        for catalog in self.opened():
            catalog.close()

    # ---- documents

    def documents(self) -> list[StoredDocument]:
        """See `Documents`."""
        return sorted(chain.from_iterable(self._all(Catalog.documents)), key=lambda item: item.path)

    def paths(self) -> list[str]:
        """See `Documents`."""
        return self.kept(_paths)

    def documents_at(self, paths: Collection[str]) -> list[StoredDocument]:
        """See `Documents`."""
        return [item for items in self._own(self._by_slot(paths), Catalog.documents_at) for item in items]

    def paths_by_stem(self) -> PathsByStem:
        """See `Documents`; a stem is looked up when it is asked for."""
        return self.kept(_stems)

    def languages(self) -> dict[str, str]:
        """See `Documents`."""
        return dict(sorted(pair for languages in self._all(Catalog.languages) for pair in languages.items()))

    def paths_since(self, generation: int) -> list[str]:
        """Return nothing: a generation is never written."""
        return []

    def written_after(self, paths: Collection[str], generation: int) -> set[str]:
        """Return nothing: a generation is never written."""
        return set()

    def document(self, path: str) -> StoredDocument | None:
        """See `Documents`; also of a file whose content another repository has, too."""
        place = self._of(path)
        return None if place is None else place[0].document(place[1])

    def text(self, path: str) -> str:
        """See `Documents`."""
        place = self._of(path)
        return "" if place is None else place[0].text(place[1])

    def lines(self, path: str, start_line: int, end_line: int) -> str:
        """See `Documents`."""
        place = self._of(path)
        return "" if place is None else place[0].lines(place[1], start_line, end_line)

    # ---- chunks

    def chunks(self, keys: Collection[int]) -> dict[int, Chunk]:
        """See `Chunks`."""
        return {key: chunk for key, (chunk, _) in self.placed(keys).items()}

    def placed(self, keys: Collection[int]) -> dict[int, tuple[Chunk, int]]:
        """See `Chunks`."""
        placed: dict[int, tuple[Chunk, int]] = {}
        for part in self._own(self._by_key(keys), Catalog.placed):
            placed |= part
        return {key: placed[key] for key in keys if key in placed}

    def chunks_of(self, path: str) -> list[tuple[int, Chunk]]:
        """See `Chunks`."""
        place = self._of(path)
        return [] if place is None else place[0].chunks_of(place[1])

    def texts(self, paths: Sequence[str]) -> Iterator[CheckedText]:
        """See `Chunks`."""
        for slot, own in groupby(paths, lambda path: self._slots.get(path.partition("/")[0], 0)):
            listed = list(own)
            if slot not in self.shards:
                yield from (CheckedText(path, "", []) for path in listed)
            elif self.reached(slot):
                yield from self.catalog(slot).texts(listed)

    def keys_of(self, paths: Collection[str]) -> dict[int, str]:
        """See `Chunks`."""
        parts = self._own(self._by_slot(paths), Catalog.keys_of)
        pairs = (pair for part in parts for pair in part.items())
        return dict(sorted(pairs, key=lambda pair: pair[1]))

    def chunks_defining(self, name: str, *, partial: bool, limit: int) -> list[int]:
        """See `Chunks`."""
        slots = self.shards if partial else self._with(name)
        parts = self._each(slots, Catalog.chunks_defining, name, partial=partial, limit=limit)
        keys = list(chain.from_iterable(parts))
        chunks = self.chunks(keys)
        placed = [key for key in keys if key in chunks]
        placed.sort(key=lambda key: (chunks[key].path, chunks[key].start_line, chunks[key].column))
        return placed[:limit]

    def n_chunks(self) -> int:
        """See `Chunks`."""
        return sum(shard.n_chunks for shard in self.shards.values())

    def chunks_at(self, name: str, line: int) -> list[tuple[int, str]]:
        """See `Chunks`."""
        return sorted(chain.from_iterable(self._all(Catalog.chunks_at, name, line)), key=lambda row: row[1])

    def passes(self, where: Where, place: Chunk) -> bool:
        """See `Chunks`. A file is one of each repository that has its content."""
        names = self._manifest.holders(place.path) if mentions(where, REPOSITORY) else [place.path.partition("/")[0]]
        records = [record_of(place, document) for document in self.documents_at([place.path])]
        called = self._called(where)
        return any(matches(called, record | {REPOSITORY: name}) for record in records for name in names)

    def files_of(self, where: Where) -> HeldFiles:
        """Return the files of the repositories that fulfil a condition about nothing else."""
        return self._held(self._called(where))

    def forks(self) -> tuple[str, ...]:
        """Return the repositories that are forks, see `Manifest.forks`."""
        return self.kept(_forks)

    def branches(self) -> dict[str, list[str]]:
        """Return the repositories that have a branch, see `Manifest.branches`."""
        return self.kept(_branches)

    def matching(self, where: Where, level: Level = "chunk") -> set[int]:
        """See `Chunks`. A repository has also the files whose content is indexed with another one."""
        planned = self._planned(self._called(where))
        slots = [slot for slot in self.shards if planned.slots is None or slot in planned.slots]
        return set().union(*self._each(slots, Catalog.matching, planned.where, level))

    # ---- symbols and references

    def symbols(
        self, query: str = "", *, path: str = "", kind: str = "", limit: int = 50, offset: int = 0
    ) -> list[FoundSymbol]:
        """See `Symbols`."""
        last = query.rpartition(".")[2].lower()

        def place(item: FoundSymbol) -> tuple[Any, ...]:
            name, symbol = item.symbol.name.lower(), item.symbol
            return name != last, not name.startswith(last), item.path, symbol.start_line, -symbol.end_line

        lists = self._each(self._below(path), Catalog.symbols, query, path=path, kind=kind, limit=offset + limit)
        return list(islice(merge(*lists, key=place), offset, offset + limit))

    def n_symbols(self, query: str = "", *, path: str = "", kind: str = "") -> int:
        """Count the symbols that `symbols` returns without a limit."""
        return sum(self._each(self._below(path), Catalog.n_symbols, query, path=path, kind=kind))

    def _below(self, path: str) -> Iterable[int]:
        slot = self._slots.get(path.partition("/")[0])
        return self.shards if not path else [slot] if slot in self.shards else []

    def symbols_named(self, name: str, languages: Collection[str] | None = None) -> list[FoundSymbol]:
        """See `Symbols`."""
        slots = self._with(name.rpartition(".")[2])
        items = self._each(slots, Catalog.symbols_named, name, languages)
        return sorted(
            chain.from_iterable(items), key=lambda item: (item.path, item.symbol.start_line, -item.symbol.end_line)
        )

    def types_named(self, names: Collection[str]) -> list[FoundSymbol]:
        """See `Symbols`; each shard is asked for the names that it may have."""
        own = ((slot, [name for name in names if self._may_have(slot, name)]) for slot in self.shards)
        parts = (self._each([slot], Catalog.types_named, some) for slot, some in own if some)
        return [item for part in parts for items in part for item in items]

    def definitions(self, name: str, *, limit: int) -> list[DefinitionPlace]:
        """See `Symbols`."""
        places = list(chain.from_iterable(self._each(self._with(name), Catalog.definitions, name, limit=limit)))
        minor = CALLABLE_KINDS | VALUE_KINDS
        places.sort(key=lambda item: (item.name != name, item.kind in minor, item.path, item.line))
        return places[:limit]

    def symbols_of(self, path: str) -> list[Symbol]:
        """See `Symbols`."""
        place = self._of(path)
        return [] if place is None else place[0].symbols_of(place[1])

    def kinds_in(self, places: Sequence[LineRange]) -> dict[LineRange, list[tuple[str, str]]]:
        """See `Symbols`; the places are those of hits, each in the shard that gave it."""
        by_path = defaultdict[str, list[LineRange]](list)
        for place in places:
            by_path[place.path].append(place)
        own = {
            slot: [place for path in paths for place in by_path[path]] for slot, paths in self._by_slot(by_path).items()
        }
        return {place: kinds for part in self._own(own, Catalog.kinds_in) for place, kinds in part.items()}

    def similar_names(self, word: str, *, limit: int) -> list[str]:
        """See `Symbols`."""
        names = set(chain.from_iterable(self._all(Catalog.similar_names, word, limit=limit)))
        return sorted(names, key=lambda name: (len(name), name))[:limit]

    def references(self, name: str) -> list[tuple[str, Reference]]:
        """See `References`."""
        return self.references_to([name])

    def references_to(
        self, names: Collection[str], languages: Collection[str] | None = None
    ) -> list[tuple[str, Reference]]:
        """See `References`."""
        slots = [slot for slot in self.shards if any(self._may_have(slot, name) for name in names)]
        rows = self._each(slots, Catalog.references_to, names, languages)
        return sorted(chain.from_iterable(rows), key=lambda row: (row[0], row[1].line))

    def references_of(self, path: str) -> list[Reference]:
        """See `References`."""
        place = self._of(path)
        return [] if place is None else place[0].references_of(place[1])

    def mentions_of(self, path: str) -> frozenset[tuple[str | None, str]]:
        """See `References`."""
        place = self._of(path)
        return frozenset() if place is None else place[0].mentions_of(place[1])

    def imports_of(self, path: str) -> list[Reference]:
        """See `References`."""
        place = self._of(path)
        return [] if place is None else place[0].imports_of(place[1])

    def imports(self, forms: Collection[ImportForm] | None = None) -> Iterator[tuple[str, Reference]]:
        """See `References`."""
        return merge(*self._all(Catalog.imports, forms), key=lambda row: (row[0], row[1].line))

    def import_forms(self) -> ImportTable:
        """See `References`."""
        return self.kept(_import_forms)

    def languages_with_uses(self, languages: Iterable[str]) -> set[str]:
        """See `References`."""
        return set(chain.from_iterable(self._all(Catalog.languages_with_uses, list(languages))))

    # ---- uses that compilers have written: fleets have none

    def compiler_paths(self) -> frozenset[str]:
        """See `CompilerReferences`."""
        return frozenset()

    def compiler_uses_in(self, path: str) -> list[CompilerUses]:
        """See `CompilerReferences`."""
        return []

    def compiler_uses_of(self, path: str) -> list[CompilerUses]:
        """See `CompilerReferences`."""
        return []

    # ---- what is made of all of it

    may_leave_out = True

    @property
    def has_left_out(self) -> bool:
        """See `SearchCatalog`."""
        return not self._is_whole()

    def kept(self, make: Callable[[Any, _Made | None], _Made]) -> _Made:
        """See `SearchCatalog`."""
        if make in self._kept:
            return cast(_Made, self._kept[make])
        made = make(self, None)
        if self._is_whole():
            self._kept[make] = made
        return made

    def _is_whole(self) -> bool:
        """Return True if the question of now has reached all shards so far: what is made of a part is not kept."""
        reach = current_reach(self._manifest.root)
        return not self.broken and (reach is None or not reach.unasked)

    def source(self) -> None:
        """See `SearchCatalog`: a fleet has many files, and some of them on other machines."""

    def beside(self, name: str, version: int, *, is_outward: bool = False) -> KeptFile:
        """See `SearchCatalog`."""
        view = self._manifest.view
        kept_name = f"{SIGHT}{view}.{name}" if view else name
        file = Folder(self._manifest.root).file(f"{KEPT}{kept_name}")
        return KeptFile(file, f"{name} {version}", self.identity, [str(self.generation)], self._is_whole)

    def shown_since(self, generation: int) -> None:
        """See `SearchCatalog`: it is not known of a fleet."""

    def counts(self) -> Counts:
        """Count the documents, chunks and symbols."""
        languages, kinds, n_symbols = Counter[str](), Counter[str](), 0
        for counts in self._all(Catalog.counts):
            languages.update(counts.languages)
            kinds.update(counts.kinds)
            n_symbols += counts.symbols
        return Counts(languages.total(), kinds.total(), n_symbols, dict(languages), dict(kinds))

    def failures(self) -> list[Failure]:
        """Return the files that could not be indexed."""
        return list(chain.from_iterable(self._all(Catalog.failures)))

    def rejected(self) -> list[RejectedFile]:
        """See `Catalog`."""
        return sorted(chain.from_iterable(self._all(Catalog.rejected)), key=attrgetter("path"))

    def is_rejected(self, path: str) -> bool:
        """See `Catalog`; also of a file whose content another repository has, too."""
        places = ((self._slots.get(own.partition("/")[0], 0), own) for own in self._indexed_as(path))
        return any(slot in self.shards and self.catalog(slot).is_rejected(own) for slot, own in places)


class ShardSoundness:
    """The checks of the catalogues of all shards."""

    def __init__(self, catalogs: ShardCatalogs) -> None:
        self._catalogs = catalogs

    @property
    def damaged_paths(self) -> set[str]:
        """The paths of documents with damaged rows that were met so far."""
        return {path for catalog in self._catalogs.opened() for path in catalog.soundness.damaged_paths}

    def damage(self) -> str:
        """Return the first difference between a shard and its seal, or nothing; reads all of them."""
        for slot, shard in self._catalogs.shards.items():
            if problem := self._catalogs.local_catalog(slot).soundness.damage():
                return f"{shard.folder}: {problem}"
        return ""

    def damaged(self, how: Told) -> DamagedError:
        """Return the error that says that a shard is damaged."""
        return DamagedError(f"a shard of the fleet is damaged: {how}", hint="run `fathom fleet index NAME --full`")


class _Stems(Mapping[str, Sequence[str]]):
    """Paths by flat stems. A fleet has too many for memory: each is looked up in the manifest."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._paths = lru_cache(maxsize=_MOST_STEMS)(manifest.paths_named)

    def __getitem__(self, stem: str) -> Sequence[str]:
        paths = self._paths(stem)
        if not paths:
            raise KeyError(stem)
        return paths

    def __iter__(self) -> Iterator[str]:
        return iter([row[0] for row in self._manifest.read("SELECT DISTINCT stem FROM stems ORDER BY stem")])

    def __len__(self) -> int:
        return int(self._manifest.read("SELECT count(DISTINCT stem) FROM stems")[0][0])


def _paths(catalogs: ShardCatalogs, _: list[str] | None) -> list[str]:
    return sorted(chain.from_iterable(catalogs._all(Catalog.paths)))


def _stems(catalogs: ShardCatalogs, _: PathsByStem | None) -> PathsByStem:
    return _Stems(catalogs._manifest)


def _forks(catalogs: ShardCatalogs, _: tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(catalogs._manifest.forks())


def _branches(catalogs: ShardCatalogs, _: dict[str, list[str]] | None) -> dict[str, list[str]]:
    return catalogs._manifest.branches()


def _import_forms(catalogs: ShardCatalogs, _: ImportTable | None) -> ImportTable:
    """Return what imports say; the documents that say it are asked for in each shard."""
    forms = chain.from_iterable(catalogs._all(Catalog.import_forms))
    return ImportTable.of(0, {form: array("q") for form in forms})
