"""Shards of a fleet: indexes of several repositories in the format of a project's, which are never changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from hashlib import blake2b
from typing import NamedTuple, Protocol

from codefathom.errors import IndexingError, NoFilesError
from codefathom.fleet.manifest import ListedFile, Shard
from codefathom.fleet.name_filter import NameFilter
from codefathom.fleet.shard_parts import ShardPart, VersionBefore, digest_of, parts_of
from codefathom.fleet.trees import FleetFiles, ShardTree
from codefathom.project.current_index import CurrentIndex
from codefathom.project.location import Location, index_place
from codefathom.source.scan import FileTree
from codefathom.stores.catalog.catalog import CATALOGUE, Catalog
from codefathom.stores.catalog.schema import FORMAT, format_to_bring_up
from codefathom.stores.database import clone_sealed
from codefathom.stores.folder import File, Folder
from codefathom.stores.lexical.lexical_view import LexicalView
from codefathom.stores.registry import Registry
from codefathom.stores.vectors.flat_vectors import FlatVectorStore
from codefathom.types import Progress
from codefathom.versions import CHUNKER_VERSION, PARSER_VERSION, SECRETS_VERSION

SHARDS = "shards"
KEYS_OF_SHARD = 32  # bits of a key behind the slot


class ShardOrder(NamedTuple):
    """The content of a shard that is to be made."""

    slot: int
    files: Sequence[ListedFile]
    trees: Mapping[str, FileTree]  # by repository
    before: Shard | None  # the version in force, from which this one begins
    names: bytes = b""  # of that version, see `NameFilter`
    parts: Sequence[ShardPart] = ()  # of that version
    damaged: str = ""  # the folder of a version that is damaged: this one is made from the files, in another folder


class BuiltShard(NamedTuple):
    """A version of a shard, and what the manifest keeps of it."""

    shard: Shard
    names: bytes  # see `NameFilter`
    paths: Sequence[str]
    parts: Sequence[ShardPart]


class MadeShard(NamedTuple):
    """An order, and the version that was made for it; None where there is no text in it."""

    order: ShardOrder
    built: BuiltShard | None


class ShardMaker(Protocol):
    """Whoever makes the shards of a run."""

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know of how they were made."""
        ...

    def make(self, orders: Iterable[ShardOrder]) -> Iterator[MadeShard]:
        """Yield the version for each order, in any order. Raises FathomError for the first one that fails."""
        ...


class LocalMaker:
    """Makes shards in this process, one after the other."""

    def __init__(self, place: Location, on_progress: Callable[[Progress], None]) -> None:
        self._place, self._on_progress = place, on_progress

    notes: Sequence[str] = ()

    def make(self, orders: Iterable[ShardOrder]) -> Iterator[MadeShard]:
        """See `ShardMaker`."""
        for order in orders:
            yield MadeShard(order, build(order, self._place, self._on_progress) if order.files else None)


def build(order: ShardOrder, place: Location, on_progress: Callable[[Progress], None]) -> BuiltShard | None:
    """Make the version of a shard, or complete one that a killed run has begun; None without any text in it.

    It begins with a copy of the version before, so that only files that differ are read. Raises FathomError.
    """
    folder = folder_name(order, place)
    shards = Folder(place.root).below(SHARDS)
    shards.make()
    own = _place_of(place, shards.below(folder), order)
    before = order.before if order.before is not None and order.before.folder != folder else None
    is_copy = before is not None and not shards.below(folder).file(CATALOGUE).kind()
    if before is not None and is_copy:
        _copy(before, own, place)
    index = CurrentIndex(own, on_progress, lambda _: None, wrap_model=lambda model: model, first_index_wait_s=None)
    with closing(index):
        index.opened.catalog.begin_keys_after(order.slot << KEYS_OF_SHARD)
        copied = index.opened.catalog if is_copy else None
        since = None if copied is None else copied.generation  # of the version before
        try:
            index.report_of(index.whole_run(full=False, retry=True, wait_s=None, keep_rules=False))
        except NoFilesError:
            return None
        catalog = index.opened.catalog
        documents = catalog.documents()
        lexical = index.opened.views.lexical
        if not lexical.n_chunks or not documents:
            return None
        names = _names(catalog, order.names, since)
        shard = Shard(
            order.slot,
            folder,
            catalog.identity,
            "",
            len(documents),
            sum(document.n_lines for document in documents),
            lexical.n_chunks,
            0,
        )
    moved = catalog.soundness.moved if catalog is copied else None  # of one that was made anew all has changed
    earlier = None if before is None else VersionBefore(shards.below(before.folder), order.parts, moved)
    parts = parts_of(shards.below(folder), earlier)
    shard = shard._replace(checksum=digest_of(parts), n_bytes=shards.below(folder).n_bytes())
    return BuiltShard(shard, names.content, [document.path for document in documents], parts)


def _names(catalog: Catalog, before: bytes, since: int | None) -> NameFilter:
    """Return the filter of the names of a version: that of the version before, with the names of what is new."""
    names = None if since is None else NameFilter(before).with_names(catalog.used_names(since))
    return NameFilter.of(catalog.used_names()) if names is None else names


def _place_of(place: Location, folder: Folder, order: ShardOrder) -> Location:
    tree = ShardTree(order.trees, [item.file for item in order.files])
    index = place.settings.index._replace(siblings=False, purposes=False)
    settings = place.settings._replace(index=index)
    return replace(
        place,
        index_dir=folder.path,
        settings=settings,
        revision=FleetFiles(f"shard {order.slot}", tree),
        is_kept=True,
    )


def _copy(before: Shard, own: Location, place: Location) -> None:
    """Begin a version with a copy of the one before. Its files of words and vectors get a second name."""
    source, target = Folder(place.root).below(SHARDS).below(before.folder), own.index_folder
    target.make()
    clone_sealed(source.file(CATALOGUE), target.file(CATALOGUE))
    registry = Registry(place.state_dir)
    # The copy carries the word by which the version before is known: it need not be opened to be marked with another.
    word = registry.word(index_place(replace(own, index_dir=source.path))) or _marked(target.file(CATALOGUE))
    if not registry.add(index_place(own), word):
        raise IndexingError(
            f"cannot write into {place.state_dir!r}", hint="set FATHOM_STATE_DIR to a folder that can be written"
        )
    LexicalView(target.below("lexical"), before.identity).take(source.below("lexical"))
    for name in source.names():
        if name.startswith("vectors-"):
            FlatVectorStore(target.below(name), 1).take(source.below(name))


def _marked(file: File) -> str:
    """Mark a catalogue, and return the word."""
    word = os.urandom(16).hex()
    with closing(Catalog.open(file)) as catalog:
        catalog.mark(word)
    return word


def older_format(shard: Shard, root: str) -> int:
    """Return the format that an older fathom has written a shard of a fleet in; 0 for that of now.

    A run makes such a shard anew, from a copy that is brought into the format of now.
    """
    return format_to_bring_up(Folder(root).below(SHARDS).below(shard.folder).file(CATALOGUE))


def folder_name(order: ShardOrder, place: Location) -> str:
    """Return the name of a shard by what it holds and what has made it: another content has another name."""
    made_by = (
        FORMAT,
        PARSER_VERSION,
        CHUNKER_VERSION,
        SECRETS_VERSION,
        place.settings.embed.model,
        place.settings.chunk,
    )
    digest = blake2b(repr(made_by).encode() + order.damaged.encode(), digest_size=10)
    for file, content in order.files:
        digest.update(f"\n{file.path}\0{file.size}\0".encode("utf-8", "surrogatepass") + content)
    return f"{order.slot:05}-{digest.hexdigest()}"


def forget(place: Location, folder: str) -> None:
    """Remove a version of a shard that no fleet names any more."""
    Registry(place.state_dir).forget(index_place(replace(place, index_dir=os.path.join(place.root, SHARDS, folder))))
    Folder(place.root).below(SHARDS).remove(folder)
