"""What a server keeps, in one file: conversations, jobs, projects, tokens, who did what, figures of its past.

The file is a ZIP archive without compression: a note, then each database as of one moment, copied by SQLite while the
server goes on. The note has the size and the digest of each, so that a file that was cut or changed is refused. What a
server does not need to start again is not in it: clones, indexes, settings.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from codefathom.errors import IndexingError, LockedError, UsageError
from codefathom.stores.catalog.backup_file import forget, new_file, opened_file
from codefathom.stores.folder import File, Folder
from codefathom.stores.lock import writer_lock
from codefathom.stores.sqlite import connect
from codefathom.stores.write_errors import writing_error
from codefathom.text.foreign_json import read_json

_KIND = "fathom server backup 1"
_NOTE = "note.json"
_LONGEST_NOTE = 100_000  # bytes
_AT_ONCE = 1 << 20  # bytes
_WAIT_S = 30.0  # for a server that writes
_RESTORED = ".restored"
# Each database with its tables: what else a file claims to be is not put in place.
DATABASES: Mapping[str, frozenset[str]] = {
    "access.db": frozenset({"tokens", "audit"}),
    "conversations.db": frozenset({"conversations", "ratings", "turns"}),
    "jobs.db": frozenset({"jobs"}),
    "monitoring.db": frozenset({"hours"}),
    "projects.db": frozenset({"projects", "clones"}),
    "watches.db": frozenset({"watches"}),
}
# Backups of earlier versions have no such table; the server makes it.
_LATER_TABLES = frozenset({"ratings"})


@dataclass(frozen=True, slots=True)
class ServerBackup:
    """What a backup of a server holds."""

    made_at: float  # seconds since the epoch
    databases: tuple[str, ...]
    n_bytes: int  # of the databases


def write_server_backup(data_dir: str, path: str) -> ServerBackup:
    """Copy what the server with this data folder keeps to a new file, which only its owner can read.

    A backup of this name is replaced when the new one is whole. The server may run meanwhile. Raises UsageError where
    nothing is kept yet, or something else has the name, SourceError when the file cannot be written.
    """
    folder = Folder(data_dir)
    names = [name for name in DATABASES if folder.file(name).kind() == "file"]
    if not names:
        raise UsageError(f"no server has used the folder {data_dir!r}", hint="set server.data_dir to its data folder")
    with new_file(path, "backup of a server", _is_backup) as new:
        copies = {name: new.with_ending(f".{name}") for name in names}
        try:
            for name, copy in copies.items():
                copy.make(private=True)
                _copy(folder.file(name), copy)
            return _write(new, copies)
        finally:
            for copy in copies.values():
                forget(copy)


def restore_server_backup(data_dir: str, path: str) -> ServerBackup:
    """Put the databases of a backup in the place of those in a data folder, which no server may use meanwhile.

    Nothing is replaced before all of them are whole and sound. Raises UsageError while a server runs, SourceError when
    the file cannot be read, IndexingError when it is not a backup of a server, or is damaged.
    """
    folder = Folder(data_dir)
    with opened_file(path) as file:
        note = _note_of(file, path)
        try:
            folder.make(private=True)
            with writer_lock(folder):
                return _restore(folder, file, note, path)
        except LockedError as error:
            raise UsageError(
                f"a server uses the data folder {data_dir!r}", hint="stop that server, then restore the backup"
            ) from error
        except OSError as error:
            raise writing_error("cannot restore the server", folder, error) from error


def _copy(source: File, copy: File) -> None:
    try:
        with closing(connect(source, wait_s=_WAIT_S)) as database, closing(connect(copy, wait_s=0.0)) as target:
            database.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
    except sqlite3.DatabaseError as error:
        raise IndexingError(
            f"{source.path!r} cannot be copied: {error}", hint="restore an earlier backup of the server"
        ) from error


def _write(new: File, copies: Mapping[str, File]) -> ServerBackup:
    sizes: dict[str, Any] = {}
    for name, copy in copies.items():
        with copy.open() as file:
            sizes[name] = {"digest": _digest(file), "n_bytes": file.tell()}
    note = {"kind": _KIND, "made_at": time.time(), "databases": sizes}
    new.make(private=True)
    with os.fdopen(new.descriptor(), "r+b") as file:
        with ZipFile(file, "w", ZIP_STORED) as archive:
            archive.writestr(_NOTE, json.dumps(note))
            for name, copy in copies.items():
                archive.write(copy.path, name)
        file.flush()
        os.fsync(file.fileno())
    return _backup_of(note)


def _backup_of(note: Mapping[str, Any]) -> ServerBackup:
    sizes = note["databases"]
    return ServerBackup(note["made_at"], tuple(sizes), sum(size["n_bytes"] for size in sizes.values()))


def _is_backup(file: BinaryIO) -> bool:
    try:
        _note_of(file, "")
    except IndexingError:
        return False
    return True


def _note_of(file: BinaryIO, path: str) -> dict[str, Any]:
    """Return the note of a backup whose list of files fits it. Raises IndexingError."""
    try:
        with ZipFile(file) as archive:
            members = {member.filename: member for member in archive.infolist()}
            if members[_NOTE].file_size > _LONGEST_NOTE:
                raise ValueError("too long a note")
            note = read_json(archive.read(_NOTE))
        sizes = {name: size["n_bytes"] for name, size in note["databases"].items()}
        stored = {name: member.file_size for name, member in members.items() if member.compress_type == ZIP_STORED}
        is_ours = note["kind"] == _KIND and 0.0 <= float(note["made_at"]) < 1e11 and set(sizes) <= set(DATABASES)
        if is_ours and sizes == {name: size for name, size in stored.items() if name != _NOTE} and len(stored) > 1:
            return dict(note)
    except (BadZipFile, KeyError, ValueError, TypeError, AttributeError, NotImplementedError, OSError):
        pass
    raise IndexingError(
        f"{path!r} is not a backup of a server, or it is incomplete",
        hint="give a file that `fathom serve --backup` has written",
    )


def _restore(folder: Folder, file: BinaryIO, note: Mapping[str, Any], path: str) -> ServerBackup:
    copies = {name: folder.file(name + _RESTORED) for name in note["databases"]}
    try:
        with ZipFile(file) as archive:
            for name, copy in copies.items():
                _take(copy, archive, (name, note["databases"][name]["digest"]), path)
                _check(copy, name, path)
        for name, copy in copies.items():
            _put_in_place(copy, folder.file(name))
    finally:
        for copy in copies.values():
            forget(copy)
    return _backup_of(note)


def _take(copy: File, archive: ZipFile, member: tuple[str, str], path: str) -> None:
    name, digest = member

    def parts() -> Iterator[bytes]:
        read = blake2b(digest_size=32)
        with archive.open(name) as file:
            while part := file.read(_AT_ONCE):
                read.update(part)
                yield part
        if read.hexdigest() != digest:
            raise _damaged(path)

    try:
        copy.replace(parts(), private=True)
    except BadZipFile as error:
        raise _damaged(path) from error


def _check(copy: File, name: str, path: str) -> None:
    """Raise IndexingError for a database that is damaged, or that is not what its name says."""
    try:
        with closing(connect(copy, wait_s=0.0)) as database:
            kinds = database.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
            is_sound = database.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    except sqlite3.Error as error:
        raise _damaged(path) from error
    # A trigger or a view would be carried out by the server.
    tables = {table for kind, table in kinds if kind == "table"}
    is_known = DATABASES[name] - _LATER_TABLES <= tables <= DATABASES[name]
    if not is_sound or not is_known or {kind for kind, _ in kinds} - {"table", "index"}:
        raise _damaged(path)


def _put_in_place(copy: File, database: File) -> None:
    """Give a copy the name of a database, whose log goes with it: it belongs to the older file."""
    database.set_aside()
    for end in ("-wal", "-shm", "-journal"):
        database.with_ending(end).remove()
    database.folder.rename(copy.name, database.name)
    database.forget_aside()


def _digest(file: BinaryIO) -> str:
    """Return the digest of a file, and leave the position at its end."""
    digest = blake2b(digest_size=32)
    while part := file.read(_AT_ONCE):
        digest.update(part)
    return digest.hexdigest()


def _damaged(path: str) -> IndexingError:
    return IndexingError(
        f"the backup {path!r} is damaged: it differs from what was written",
        hint="restore another backup; the server is as it was before",
    )
