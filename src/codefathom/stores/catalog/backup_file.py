"""A copy of the catalogue in one file, made while others read and write, and its way back.

The file is the SQLite file as of one moment, then a note about it as JSON, then the length of the note (8 bytes, big
endian), then a mark of 16 bytes. The note has the digest of what stands before it, so that a copy that was cut or
changed is refused; the views are not in it, because they are made from the catalogue.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from typing import Any, BinaryIO

from codefathom.errors import IndexingError, SourceError, UsageError
from codefathom.stores.catalog.foreign import mark
from codefathom.stores.catalog.schema import FORMAT, RESTORED, prepared
from codefathom.stores.catalog.writing import put_meta
from codefathom.stores.database import Database, set_aside
from codefathom.stores.folder import File, file_at
from codefathom.stores.sqlite import connect
from codefathom.stores.write_errors import writing_error
from codefathom.text.foreign_json import read_json
from codefathom.types import Backup

_MARK = b"fathom backup 1\n"
_LENGTH = struct.Struct(">Q")
_LONGEST_NOTE = 100_000  # bytes; a path has at most some thousand
_AT_ONCE = 1 << 20  # bytes
_NEW = ".fathom-new"
_WITHOUT_MARKS = "DELETE FROM meta WHERE key LIKE 'known:%' OR key = 'set_aside'"

Sign = Callable[[bytes], str]


def write_backup(source: sqlite3.Connection, path: str, root: str, made_at_ns: int, sign: Sign) -> Backup:
    """Copy the database of a connection, with all that is committed at this moment, to a new file, and say what it is.

    A backup of this name is replaced when the new one is whole. Raises UsageError when something else has the name,
    SourceError when the file cannot be written.
    """
    with new_file(path, "backup", _ends_with_mark) as new:
        new.make(private=True)
        n_documents, n_chunks = copy_database(source, new)
        with os.fdopen(new.descriptor(), "r+b") as file:
            digest = _digest(file)
            backup = Backup(root, made_at_ns, n_documents, n_chunks, file.tell())
            file.write(_note(backup, digest, sign))
            file.flush()
            os.fsync(file.fileno())
    return backup


def restore_backup(catalogue: File, path: str, word: str, sign: Sign) -> tuple[Backup, bool]:
    """Put a backup in the place of the catalogue; return its note, and True if it was made and signed by this user.

    One that was is marked with the word. The catalogue before stays until the backup is whole and sound. Needs the
    writer lock. Raises SourceError when the file cannot be read, IndexingError when it is no backup or is damaged.
    """
    restored, file = catalogue.folder.file("catalog.restored"), opened_file(path)
    try:
        with file:
            backup, digest, signature = _read_note(file, path)
            is_ours = bool(signature) and signature == sign(_signed(backup, digest))
            _take(restored, file, backup.n_bytes, digest, path)
        _make_new(restored, path, word if is_ours else "")
        put_in_place(restored, catalogue)
    except OSError as error:
        raise writing_error("cannot restore the index", catalogue.folder, error) from error
    finally:
        forget(restored)
    return backup, is_ours


@contextmanager
def new_file(path: str, kind: str, is_of_kind: Callable[[BinaryIO], bool]) -> Iterator[File]:
    """Give a file beside the one that a user has named, and put it in that place when the block has made it.

    Nothing else stays there, also not of a block that fails. Raises UsageError when something else than an older one
    of this kind has the name, SourceError when the file cannot be written.
    """
    try:
        place = _file_of_user(path)
        new = place.with_ending(_NEW)
        with suppress(OSError), place.open() as old:
            if old.seek(0, os.SEEK_END) and not is_of_kind(old):  # a wrong name must not cost somebody his file
                raise UsageError(f"{path!r} already exists and is not a {kind}", hint="give the name of a new file")
        try:
            new.remove()  # of a process that was killed
            yield new
            place.folder.rename(new.name, place.name)
        finally:
            forget(new)
    except (OSError, sqlite3.OperationalError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise SourceError(f"cannot write {path!r}: {reason}", hint="write to another file") from error


def opened_file(path: str) -> BinaryIO:
    """Open a file that a user has named. Raises SourceError."""
    try:
        return _file_of_user(path).open()
    except OSError as error:
        raise SourceError(f"cannot read {path!r}: {error.strerror or error}", hint="give another file") from error


def put_in_place(new: File, catalogue: File) -> None:
    """Give a new catalogue, which nobody has open, the name of the old one. Raises OSError, IndexingError."""
    set_aside(catalogue)
    catalogue.folder.rename(new.name, catalogue.name)
    with suppress(OSError):
        catalogue.folder.rename(new.name + ".seal", catalogue.name + ".seal")
        catalogue.forget_aside()


def forget(new: File) -> None:
    """Remove what is left of a catalogue that was not put in place."""
    for end in ("", "-wal", "-shm", ".seal", ".damaged"):
        with suppress(OSError):
            new.folder.remove(new.name + end)


def copy_database(source: sqlite3.Connection, new: File) -> tuple[int, int]:
    """Copy a database as it is at this moment, and return its numbers of documents and chunks."""
    with closing(connect(new, wait_s=0.0)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
        return n_rows(copy)


def n_rows(db: sqlite3.Connection) -> tuple[int, int]:
    """Return the numbers of documents and chunks."""
    counted = "SELECT count(*) FROM documents UNION ALL SELECT count(*) FROM chunks"
    (n_documents,), (n_chunks,) = db.execute(counted).fetchall()
    return n_documents, n_chunks


def _file_of_user(path: str) -> File:
    """Return the file of a path as a user wrote it. Raises OSError where no file can have this name."""
    try:
        return file_at(os.path.realpath(path))
    except ValueError as error:  # a null character
        raise OSError(errno.EINVAL, str(error), path) from error


def _ends_with_mark(file: BinaryIO) -> bool:
    n_bytes = file.seek(0, os.SEEK_END)
    file.seek(max(0, n_bytes - len(_MARK)))
    return file.read(len(_MARK)) == _MARK


def _digest(file: BinaryIO) -> str:
    """Return the digest of a file, and leave the position at its end."""
    digest = blake2b(digest_size=32)
    while part := file.read(_AT_ONCE):
        digest.update(part)
    return digest.hexdigest()


def _signed(backup: Backup, digest: str) -> bytes:
    return json.dumps([backup.root, backup.made_at_ns, backup.n_documents, backup.n_chunks, digest]).encode()


def _note(backup: Backup, digest: str, sign: Sign) -> bytes:
    note = {
        "root": backup.root,
        "made_at_ns": backup.made_at_ns,
        "n_documents": backup.n_documents,
        "n_chunks": backup.n_chunks,
        "digest": digest,
        "signature": sign(_signed(backup, digest)),
    }
    content = json.dumps(note).encode()
    return content + _LENGTH.pack(len(content)) + _MARK


def _read_note(file: BinaryIO, path: str) -> tuple[Backup, str, str]:
    """Return the note, the digest and the signature of a backup; the position is its beginning then."""
    end = file.seek(0, os.SEEK_END) - len(_MARK) - _LENGTH.size
    if end < 0 or not _ends_with_mark(file):
        raise IndexingError(
            f"{path!r} is not a backup, or it is incomplete", hint="give a file that `fathom backup` has written"
        )
    file.seek(end)
    (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
    try:
        if not 0 < length <= min(_LONGEST_NOTE, end):
            raise ValueError(f"a note of {length} bytes")
        file.seek(end - length)
        note = read_json(file.read(length))
        made_at_ns, n_documents, n_chunks = (_number(note, name) for name in ("made_at_ns", "n_documents", "n_chunks"))
        root, digest, signature = (str(note[name]) for name in ("root", "digest", "signature"))
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error
    file.seek(0)
    return Backup(root, made_at_ns, n_documents, n_chunks, end - length), digest, signature


def _number(note: Mapping[str, Any], name: str) -> int:
    value = note[name]
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(f"{name} is {value!r}")
    return value


def _damaged(path: str) -> IndexingError:
    return IndexingError(
        f"the backup {path!r} is damaged: it differs from what was written",
        hint="restore another backup; the index is as it was before",
    )


def _take(target: File, file: BinaryIO, n_bytes: int, digest: str, path: str) -> None:
    """Copy so many bytes of a backup beside the catalogue. Raises IndexingError when their digest is another one."""

    def parts() -> Iterator[bytes]:
        read, left = blake2b(digest_size=32), n_bytes
        while left and (part := file.read(min(_AT_ONCE, left))):
            read.update(part)
            left -= len(part)
            yield part
        if left or read.hexdigest() != digest:
            raise _damaged(path)

    target.replace(parts())


def _make_new(file: File, path: str, word: str) -> None:
    """Make a catalogue of its own of a copied file: no view that lies there is of it. Raises IndexingError."""
    database, problem = prepared(file)
    with closing(database):
        if problem:
            raise IndexingError(
                f"the backup {path!r} cannot be used: {problem}",
                hint=f"this fathom reads backups of format {FORMAT}; run `fathom index` to make a new index",
            )
        _rename(database, word)
        database.seal()


def _rename(database: Database, word: str) -> None:
    with database.transaction() as db:
        generation = db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
        db.execute(_WITHOUT_MARKS)
        oldest = str(generation[0] if generation else 0)
        notes = {"identity": os.urandom(8).hex(), "oldest_change": oldest, RESTORED: "1"}
        put_meta(db, {**notes, **(mark(word) if word else {})})
