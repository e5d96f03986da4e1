"""A copy of the catalogue of a project with nearly the same files, as the beginning of a new one.

Worktrees, clones and copies of a repository differ in a few files. What the copy says of a file is believed once its
bytes have been read and are the same: no time stamp in it counts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple

from codefathom.errors import IndexingError
from codefathom.stores.catalog.backup_file import copy_database, forget, put_in_place
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.foreign import mark
from codefathom.stores.catalog.records import Batch
from codefathom.stores.catalog.schema import prepared
from codefathom.stores.catalog.writing import apply_batch, put_meta
from codefathom.stores.folder import File

# Of the other project come what its rows mean, and the generation of its views. Its choices stay there.
_KEPT = ("format", "identity", "generation", "oldest_change", "encoding", "masked")
_NEVER = -1  # a time stamp that no file has


class SiblingSource(NamedTuple):
    """The catalogue of another project, and its file."""

    catalog: Catalog
    file: File
    is_still: bool  # nobody writes it, so that its file can be cloned


def copy_sibling(source: SiblingSource, catalogue: File, word: str, sizes: Mapping[str, int]) -> None:
    """Put a copy of another catalogue in the place of this one, marked with the word. Needs the writer lock.

    `sizes` are the bytes of the files of this project by path: of other files nothing is left in the copy. Raises
    OSError, IndexingError, sqlite3.Error; the catalogue before is still there then.
    """
    new = catalogue.folder.file("catalog.restored")
    try:
        forget(new)
        _copy(source, new)
        database, problem = prepared(new)
        with closing(database):
            if problem:
                raise IndexingError(f"the catalogue {source.file.path!r} cannot be copied: {problem}")
            # What is removed here may belong to a project that the reader of this one must not see.
            database.connection().execute("PRAGMA secure_delete = ON")
            with database.transaction() as db:
                disown(db, word, sizes)
            database.seal()
        put_in_place(new, catalogue)
    finally:
        forget(new)


def _copy(source: SiblingSource, new: File) -> None:
    log = source.file.with_ending("-wal").status()
    if source.is_still and (log is None or not log.st_size):
        new.clone(source.file)
        return
    new.make()
    with closing(source.catalog.separate()) as connection:
        copy_database(connection, new)


def share_of(sibling: Catalog, sizes: Mapping[str, int]) -> float:
    """Return the share of these files, by their paths and sizes in bytes, that another catalogue has."""
    documents = sibling.documents_at(sizes)
    return sum(item.size == sizes[item.path] for item in documents) / max(len(sizes), 1)


def disown(db: sqlite3.Connection, word: str, sizes: Mapping[str, int]) -> None:
    """Leave, inside a transaction, only documents of these paths and sizes, which the next run compares with files."""
    db.execute(f"DELETE FROM meta WHERE key NOT IN ({', '.join('?' * len(_KEPT))})", _KEPT)
    put_meta(db, mark(word))
    others = [path for path, size in db.execute("SELECT path, size FROM documents") if sizes.get(path) != size]
    apply_batch(db, Batch(removed=tuple(others), failures=(), skipped=(), rejected=()))
    db.execute("DELETE FROM embeddings WHERE text_hash NOT IN (SELECT text_hash FROM chunks)")
    db.execute("UPDATE documents SET mtime_ns = ?", (_NEVER,))
