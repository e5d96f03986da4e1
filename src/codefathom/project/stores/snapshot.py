"""The index of a team: written by one, taken over by many, each of whom compares it with the own files.

A snapshot that a key of the user's settings has signed is believed as to what fathom made of each file. Every other one
is checked, and refused as a whole when something in it is not true. Of both, only documents of files that are here
with the same bytes stay: their fingerprints are compared. The next run takes in the difference.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from codefathom.errors import DamagedError, IndexingError, UsageError
from codefathom.index.kept_texts import kept_records
from codefathom.index.snapshot_check import CheckedModel, SnapshotComparison, SnapshotSample, compare_snapshot
from codefathom.project.kept_rules import KEPT_RULES
from codefathom.project.location import Location, index_place
from codefathom.project.opening import OpenedProject, is_slow, make_index_folder, n_workers
from codefathom.project.store_choice import KEPT_STORE
from codefathom.project.stores.signing import Signer, is_of_team, is_signed, signer
from codefathom.providers.base import Embedder
from codefathom.providers.batching import BatchLimits
from codefathom.providers.local.bundled import BundledEmbedder
from codefathom.source.charset import known_encoding
from codefathom.source.scan import scan
from codefathom.source.work_tree import commit_of
from codefathom.stores.cache import Cache
from codefathom.stores.catalog.backup_file import forget, opened_file, put_in_place
from codefathom.stores.catalog.catalog import CATALOGUE, Catalog
from codefathom.stores.catalog.foreign import cleanse
from codefathom.stores.catalog.records import Batch
from codefathom.stores.catalog.schema import prepared
from codefathom.stores.catalog.sibling_copy import FilesHere, disown
from codefathom.stores.catalog.snapshot_file import (
    SnapshotHead,
    damaged,
    read_head,
    unpack,
    write_snapshot,
)
from codefathom.stores.catalog.writing import apply_batch, forget_shown, put_meta
from codefathom.stores.database import Database
from codefathom.stores.folder import File
from codefathom.stores.registry import Registry
from codefathom.stores.write_errors import writing_error
from codefathom.types import Snapshot

Extent = Literal["sample", "all"]

# Of a snapshot without a signature so much is made again; SECURITY.md says what that finds.
_DOCUMENTS, _VECTORS, _SLOW_VECTORS = 200, 1_000, 64
_BATCH_HERE = 32  # texts for a model on this machine


def extent_named(name: str) -> Extent:
    """Return the extent of a check that has this name. Raises UsageError."""
    if name == "sample":
        return "sample"
    if name == "all":
        return "all"
    raise UsageError(f"no check is called {name!r}", hint="choose sample or all")


def export_snapshot(opened: OpenedProject, path: str, key_file: str, program: str) -> Snapshot:
    """Write the index to one file for others, signed where a key is named.

    Raises IndexingError without an index, SourceError, UsageError, SettingsError.
    """
    if not opened.catalog.generation:
        raise IndexingError("there is no index yet", hint="run `fathom index`, then write the snapshot")
    if opened.recipe.keeps_secrets:
        raise UsageError(
            "the index holds values of secrets, which a snapshot must not carry away",
            hint="set source.secrets to mask and run `fathom index`, then write the snapshot",
        )
    key: Signer | None = signer(key_file) if key_file else None
    recipe = opened.recipe
    head = SnapshotHead(
        commit=commit_of(recipe.root),
        program=program,
        made_at_ns=time.time_ns(),
        parser=recipe.parser,
        chunker=recipe.chunker,
        secrets=recipe.secrets,
        models=tuple(_models(opened)),
        key=key.public_key if key else "",
    )
    with closing(opened.catalog.separate()) as connection:
        head = write_snapshot(connection, path, head, key.sign if key else None)
    return _snapshot(head, os.path.getsize(path))


@dataclass(frozen=True, slots=True)
class CheckedSnapshot:
    """A snapshot that was checked, beside the index that it is to replace."""

    snapshot: Snapshot
    word: str
    new: File

    def put_in_place(self, place: Location) -> bool:
        """Give it the place of the index, which nobody has open; return whether that will be remembered."""
        put_in_place(self.new, place.index_folder.file(CATALOGUE))
        return Registry(place.state_dir).add(index_place(place), self.word)


@contextmanager
def checked_snapshot(opened: OpenedProject, path: str, extent: Extent) -> Iterator[CheckedSnapshot]:
    """Unpack a snapshot beside the index, and check it; what is not put in place is removed. Needs the writer lock.

    Raises IndexingError for one that is damaged, not true, of a strange key or of another version, SourceError,
    SettingsError, ProviderError; the index is as it was then.
    """
    folder = opened.place.index_folder
    make_index_folder(folder)
    new = folder.file("catalog.restored")
    forget(new)
    try:
        with opened_file(path) as file:
            n_bytes = os.fstat(file.fileno()).st_size
            head = read_head(file, path, is_signed)
            _check_head(opened, head, path, extent)
            try:
                unpack(file, head, new, path)
            except OSError as error:
                raise writing_error("cannot take over the snapshot", folder, error) from error
        word = os.urandom(16).hex()
        try:
            comparison = _taken(opened, head, new, extent, word)
        except (IndexingError, sqlite3.Error) as error:
            if not isinstance(error, DamagedError | sqlite3.Error) and not _is_of_content(error):
                raise
            raise damaged(path, f"its content is damaged ({error})") from error
        if comparison.problem:
            raise damaged(path, comparison.problem)
        if not comparison.paths:
            raise damaged(path, "no file of this project is in it as it is here")
        yield CheckedSnapshot(_snapshot(head, n_bytes, comparison), word, new)
    finally:
        forget(new)


def _is_of_content(error: IndexingError) -> bool:
    """Return True if rows break the rules of their own tables, such as two with one path."""
    return isinstance(error.__cause__, sqlite3.IntegrityError)


def _check_head(opened: OpenedProject, head: SnapshotHead, path: str, extent: Extent) -> None:
    """Raise IndexingError for a snapshot that is not to be believed, or cannot be used with these settings."""
    keys = opened.place.settings.team.keys
    if head.key and not is_of_team(head.key, keys):
        raise IndexingError(
            f"the snapshot {path!r} was refused: it is signed by a key that you do not know: {head.key}",
            hint="ask your team for its key, and add it to team.keys in your own settings; or run `fathom index`",
        )
    if keys and not head.key and extent != "all":
        raise IndexingError(
            f"the snapshot {path!r} was refused: it has no signature, and team.keys is set",
            hint="get a signed one, or compare all of it with --check all",
        )
    recipe, models = opened.recipe, _models(opened)
    ours = (recipe.parser, recipe.chunker, recipe.secrets)
    if (head.parser, head.chunker, head.secrets) != ours or next(iter(models)) not in head.models:
        raise IndexingError(
            f"the snapshot {path!r} cannot be used: fathom {head.program[:40]!r} made it with the model "
            f"{', '.join(head.models)[:200]!r}, and its parsers, models or settings are others than yours",
            hint=f"use the same version and settings as its maker (your model is {next(iter(models))}), "
            "or run `fathom index`",
        )
    if not head.key and "llm" in opened.place.settings.parse.chain:
        raise UsageError(
            "a language model has parsed the files of this snapshot, which nobody can compare",
            hint="have it signed by a key of team.keys",
        )


def _taken(opened: OpenedProject, head: SnapshotHead, new: File, extent: Extent, word: str) -> SnapshotComparison:
    """Make a catalogue of this project of an unpacked one: what is left in it is true as far as it was checked."""
    recipe = opened.recipe
    files = scan(recipe.tree, recipe.rules).files
    here = FilesHere(recipe.tree, {file.path: file.size for file in files})
    database, problem = prepared(new)
    with closing(database):
        if problem:
            return SnapshotComparison(problem=problem)
        catalog = Catalog(database)
        if problem := catalog.integrity_problem():
            return SnapshotComparison(problem=f"its content is damaged ({problem})")
        _make_own(database, opened, word, here)
        if problem := _wrong_lengths(database, _models(opened)):
            return SnapshotComparison(problem=problem)
        if head.key:
            comparison = SnapshotComparison(tuple(catalog.entries()))
        else:
            with closing(Cache.open(opened.place.cache_dir)) as cache:
                comparison = compare_snapshot(catalog, opened.recipe, cache, _sample(opened, extent))
            others = tuple(catalog.entries().keys() - set(comparison.paths))
            catalog.write(Batch(removed=others))
        with database.transaction() as db:
            if opened.is_known:
                apply_batch(db, Batch(records=tuple(kept_records(opened.catalog))))
            _forget_changes(db)
        database.seal()
        return comparison


def _make_own(database: Database, opened: OpenedProject, word: str, here: FilesHere) -> None:
    encoding = known_encoding(Catalog(database).get_meta("encoding"))
    # What is removed here is no part of this checkout.
    database.connection().execute("PRAGMA secure_delete = ON")
    with database.transaction() as db:
        cleanse(db, _models(opened).keys())
        disown(db, word, here)
        put_meta(db, {"identity": os.urandom(8).hex(), "masked": opened.recipe.secrets, **_choices(opened)})
        if encoding:
            put_meta(db, {"encoding": encoding})


def _choices(opened: OpenedProject) -> dict[str, str]:
    """Return the choices of the user for the index before: its rules and its store stay."""
    choices = {name: opened.catalog.get_meta(name) if opened.is_known else "" for name in (KEPT_RULES, KEPT_STORE)}
    return {name: value for name, value in choices.items() if value}


def _wrong_lengths(database: Database, models: Mapping[str, Embedder]) -> str:
    """Return a problem where vectors of a model differ in length: no view could be made of them."""
    lengths = "min(length(vector)), max(length(vector))"
    rows = database.read(f"SELECT name, {lengths} FROM embeddings JOIN models m ON m.id = model GROUP BY model")
    first = next(iter(models.values()))
    for name, least, most in rows:
        if least != most or (name == first.name and most != first.dimensions):
            return f"vectors of {name} have the wrong length"
    return ""


def _forget_changes(db: sqlite3.Connection) -> None:
    """Let every view be made from all chunks: none of this index is there yet."""
    row = db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    db.execute("DELETE FROM removed")
    forget_shown(db)
    db.execute("DELETE FROM embeddings WHERE text_hash NOT IN (SELECT text_hash FROM chunks)")
    put_meta(db, {"oldest_change": row[0] if row else "0"})


def _models(opened: OpenedProject) -> dict[str, Embedder]:
    """Return the models of the vectors of an index by name, first the one that answers while the other is made."""
    first = BundledEmbedder() if is_slow(opened.place.settings) else opened.embedder
    return {model.name: model for model in (first, opened.embedder)}


def _sample(opened: OpenedProject, extent: Extent) -> SnapshotSample:
    embed = opened.place.settings.embed
    is_whole = extent == "all"
    models = []
    for number, model in enumerate(_models(opened).values()):
        is_exact = number == 0
        n_texts = embed.batch if is_exact else min(embed.batch, _BATCH_HERE)
        n_vectors = None if is_whole else _VECTORS if is_exact else _SLOW_VECTORS
        limits = BatchLimits(n_texts, embed.batch_tokens, embed.max_tokens)
        models.append(CheckedModel(model, limits, is_exact, n_vectors))
    workers = n_workers(opened.place.settings.index.workers)
    return SnapshotSample(None if is_whole else _DOCUMENTS, tuple(models), workers)


def _snapshot(head: SnapshotHead, n_bytes: int, comparison: SnapshotComparison | None = None) -> Snapshot:
    snapshot = Snapshot(
        head.commit, head.program, head.made_at_ns, head.models, head.n_documents, head.n_chunks, n_bytes, head.key
    )
    if comparison is None:
        return snapshot
    return replace(
        snapshot,
        n_taken=len(comparison.paths),
        n_checked=comparison.n_documents,
        n_vectors=comparison.n_vectors,
    )
