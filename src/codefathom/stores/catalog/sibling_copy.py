"""A copy of the catalogue of a project with nearly the same files, as the beginning of a new one.

Worktrees, clones and copies of a repository differ in a few files. Paths, sizes and time stamps can be imitated, so a
document is taken over only when its file is here with the same bytes, and nobody can read the copy before that was
compared. The next run reads each file once more, since its rules may leave out what the other project takes in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple

from codefathom.errors import IndexingError
from codefathom.source.documents import fingerprint_at
from codefathom.source.scan import FileTree
from codefathom.stores.catalog.backup_file import copy_database, forget, put_in_place
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.foreign import mark
from codefathom.stores.catalog.records import Batch
from codefathom.stores.catalog.schema import prepared
from codefathom.stores.catalog.writing import apply_batch, forget_shown, put_meta
from codefathom.stores.folder import File

# Of the other project come what its rows mean, and the generation of its views. Its choices stay there.
_KEPT = ("format", "identity", "generation", "oldest_change", "encoding", "masked")
_NEVER = -1  # a time stamp that no file has


class FilesHere(NamedTuple):
    """The files of this project, to be compared with documents of another catalogue."""

    tree: str | FileTree
    sizes: Mapping[str, int]  # bytes, by path

    def has(self, path: str, size: int, fingerprint: str) -> bool:
        """Return True if a file is here with these bytes. It is read when its size is the same."""
        return self.sizes.get(path) == size and fingerprint_at(self.tree, path) == fingerprint


class SiblingSource(NamedTuple):
    """The catalogue of another project, and its file."""

    catalog: Catalog
    file: File
    is_still: bool  # nobody writes it, so that its file can be cloned


def copy_sibling(source: SiblingSource, catalogue: File, word: str, files: FilesHere) -> None:
    """Put a copy of another catalogue in the place of this one, marked with the word. Needs the writer lock.

    Of other files than those of this project nothing is left in the copy. Raises OSError, IndexingError, sqlite3.Error,
    SourceError; the catalogue before is still there then.
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
                disown(db, word, files)
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


def disown(db: sqlite3.Connection, word: str, files: FilesHere) -> None:
    """Leave, inside a transaction, only documents of files that are here with the same bytes. Raises SourceError."""
    db.execute(f"DELETE FROM meta WHERE key NOT IN ({', '.join('?' * len(_KEPT))})", _KEPT)
    put_meta(db, mark(word))
    rows = db.execute("SELECT path, size, fingerprint FROM documents")
    others = [path for path, size, fingerprint in rows if not files.has(path, size, fingerprint)]
    apply_batch(db, Batch(removed=tuple(others), failures=(), skipped=(), rejected=()))
    forget_shown(db)
    db.execute("DELETE FROM embeddings WHERE text_hash NOT IN (SELECT text_hash FROM chunks)")
    db.execute("DELETE FROM models WHERE id NOT IN (SELECT model FROM embeddings)")
    db.execute("UPDATE documents SET mtime_ns = ?, ctime_ns = 0, inode = 0", (_NEVER,))
