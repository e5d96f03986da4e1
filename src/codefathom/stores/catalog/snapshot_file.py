"""A snapshot: the catalogue as one compressed file for other checkouts, written by anybody.

A mark of 16 bytes, a head (JSON, filled up with spaces to a fixed length), the digest of both, a signature of both,
then the SQLite file, deflated. The head has the lengths and the digest of what follows, so that the signature covers
every byte. Without a signature its place holds zeros, and the digest finds damage only.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any, BinaryIO

from codefathom.errors import IndexingError, SourceError
from codefathom.stores.catalog.backup_file import copy_database, forget, n_rows, new_file, opened_file
from codefathom.stores.catalog.schema import FORMAT, KEPT_TEXT, READABLE_FORMATS
from codefathom.stores.catalog.writing import put_meta
from codefathom.stores.folder import File
from codefathom.stores.sqlite import connect
from codefathom.text.foreign_json import read_json
from codefathom.text.printable import is_text

_MARK = b"fathom snapshot\n"
_HEAD_BYTES, _DIGEST_BYTES, _SIGNATURE_BYTES = 8_192, 32, 64
_START = len(_MARK) + _HEAD_BYTES + _DIGEST_BYTES + _SIGNATURE_BYTES
_UNSIGNED = bytes(_SIGNATURE_BYTES)
_VERSION = 1
_MOST_TIMES = 100  # as large as it is packed: an index is 3 to 6 times as large
_SPARE = 1_000_000  # bytes that a small one may be larger
_AT_ONCE = 1 << 20  # bytes
_KEPT = ("format", "generation", "encoding", "masked")  # what the rows mean; no choice of a user, no mark

Sign = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class SnapshotHead:
    """All that a snapshot says of itself. Nothing of it is true before the signature was checked."""

    commit: str  # of git, "" where none is known
    program: str  # version of fathom
    made_at_ns: int
    parser: str
    chunker: str
    secrets: str
    models: tuple[str, ...]  # of the vectors
    key: str = ""  # public key of the signature, "" without one
    n_documents: int = 0
    n_chunks: int = 0
    n_bytes: int = 0  # of the SQLite file
    n_packed: int = 0  # bytes in the snapshot
    digest: str = ""  # of these
    format: int = FORMAT
    version: int = _VERSION


def write_snapshot(source: sqlite3.Connection, path: str, head: SnapshotHead, sign: Sign | None) -> SnapshotHead:
    """Write what is in the index at this moment to one file, and return its head.

    A snapshot of this name is replaced when the new one is whole. Raises UsageError when something else has the name,
    SourceError when the file cannot be written.
    """
    with new_file(path, "snapshot", _begins_with_mark) as new:
        raw = new.with_ending(".raw")
        try:
            raw.remove()  # of a process that was killed
            raw.make(private=True)
            copy_database(source, raw)
            n_documents, n_chunks = _cleaned(raw, head.models)
            new.make()
            with raw.open() as content, os.fdopen(new.descriptor(), "r+b") as packed:
                head = _packed(content, packed, replace(head, n_documents=n_documents, n_chunks=n_chunks), sign)
        finally:
            forget(raw)
    return head


def is_snapshot(path: str) -> bool:
    """Return True if a file begins as a snapshot does."""
    try:
        with opened_file(path) as file:
            return _begins_with_mark(file)
    except SourceError:
        return False


def _begins_with_mark(file: BinaryIO) -> bool:
    file.seek(0)
    return file.read(len(_MARK)) == _MARK


def read_head(file: BinaryIO, path: str, is_signed_by: Callable[[str, bytes, bytes], bool]) -> SnapshotHead:
    """Return the head of a snapshot; the position is the beginning of its content then.

    `is_signed_by` compares a key, a signature and what was signed. Raises IndexingError for what is damaged, or signed
    by nobody who has the key.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    signed = file.read(len(_MARK) + _HEAD_BYTES)
    digest, signature = file.read(_DIGEST_BYTES), file.read(_SIGNATURE_BYTES)
    if size <= _START or not signed.startswith(_MARK) or _digest(signed) != digest:
        raise damaged(path)
    try:
        head = _head(read_json(signed[len(_MARK) :]))
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(path) from error
    if head.version != _VERSION or head.format not in READABLE_FORMATS:
        raise IndexingError(
            f"the snapshot {path!r} has another format: it was made by fathom {head.program[:40]!r}",
            hint="use the version of fathom that has made it, or run `fathom index`",
        )
    if head.n_packed != size - _START or head.n_bytes > _MOST_TIMES * head.n_packed + _SPARE:
        raise damaged(path)
    if head.key and not is_signed_by(head.key, signature, signed):
        raise damaged(path, "its signature is wrong")
    if not head.key and signature != _UNSIGNED:
        raise damaged(path)
    return head


def unpack(file: BinaryIO, head: SnapshotHead, target: File, path: str) -> None:
    """Write the content of a snapshot to a file, no more than its head says. Raises OSError, IndexingError."""
    target.replace(_unpacked(file, head, path))


def damaged(path: str, reason: str = "it differs from what was written") -> IndexingError:
    """Return the error for a snapshot that cannot be believed."""
    return IndexingError(
        f"the snapshot {path!r} was refused: {reason}",
        hint="get it once more, or run `fathom index`; the index is as it was before",
    )


def _cleaned(raw: File, models: Collection[str]) -> tuple[int, int]:
    """Leave only what is in the index now and is the same on every machine, with no byte of what was deleted.

    Texts that are on no disk belong to their caller and go, too. Returns the numbers of documents and chunks.
    """
    with closing(connect(raw, wait_s=0.0)) as db:
        db.execute("BEGIN")
        db.execute(f"DELETE FROM meta WHERE key NOT IN ({', '.join('?' * len(_KEPT))})", _KEPT)
        put_meta(db, {"identity": os.urandom(8).hex()})
        # Nobody could compare the edges of compilers with files: each checkout takes them from its own SCIP index.
        for table in ("removed", "failures", "skipped", "rejected", "compilers", "compiler_uses"):
            db.execute(f"DELETE FROM {table}")
        db.execute(f"DELETE FROM documents WHERE {KEPT_TEXT}")
        for table in ("chunks", "symbols", "outlines", "refs", "used_names"):
            db.execute(f"DELETE FROM {table} WHERE document_id NOT IN (SELECT id FROM documents)")
        db.execute("UPDATE documents SET mtime_ns = -1, ctime_ns = 0, inode = 0")
        db.execute(f"DELETE FROM models WHERE name NOT IN ({', '.join('?' * len(models))})", tuple(models))
        db.execute("DELETE FROM embeddings WHERE model NOT IN (SELECT id FROM models)")
        db.execute("DELETE FROM embeddings WHERE text_hash NOT IN (SELECT text_hash FROM chunks)")
        db.execute("COMMIT")
        db.execute("VACUUM")
        return n_rows(db)


def _packed(content: BinaryIO, packed: BinaryIO, head: SnapshotHead, sign: Sign | None) -> SnapshotHead:
    digest = blake2b(digest_size=_DIGEST_BYTES)
    packed.seek(_START)
    for piece in _deflated(content):
        digest.update(piece)
        packed.write(piece)
    n_bytes, n_packed = content.tell(), packed.tell() - _START
    head = replace(head, n_bytes=n_bytes, n_packed=n_packed, digest=digest.hexdigest())
    text = json.dumps(asdict(head), ensure_ascii=True).encode()
    if len(text) > _HEAD_BYTES:
        raise IndexingError("the names of models and parsers are too long for a snapshot", hint="make them shorter")
    signed = _MARK + text.ljust(_HEAD_BYTES)
    packed.seek(0)
    packed.write(signed + _digest(signed) + (sign(signed) if sign else _UNSIGNED))
    packed.flush()
    os.fsync(packed.fileno())
    return head


def _deflated(content: BinaryIO) -> Iterator[bytes]:
    press = zlib.compressobj(6)
    while part := content.read(_AT_ONCE):
        yield press.compress(part)
    yield press.flush()


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _head(values: Any) -> SnapshotHead:
    """Return the head that JSON says. Raises KeyError, TypeError, ValueError for another form."""
    fields = SnapshotHead.__dataclass_fields__
    if not isinstance(values, dict) or values.keys() != fields.keys():
        raise ValueError("other fields")
    head = SnapshotHead(**{**values, "models": tuple(values["models"])})
    for name, field in fields.items():
        value = getattr(head, name)
        if field.type == "int" and (type(value) is not int or not 0 <= value < 1 << 63):
            raise ValueError(name)
        if field.type == "str" and not (type(value) is str and is_text(value)):
            raise ValueError(name)
    if not all(type(model) is str and is_text(model) for model in head.models):
        raise ValueError("models")
    return head


def _unpacked(file: BinaryIO, head: SnapshotHead, path: str) -> Iterator[bytes]:
    inflate, digest, n_bytes = zlib.decompressobj(), blake2b(digest_size=_DIGEST_BYTES), 0
    try:
        while part := file.read(_AT_ONCE):
            digest.update(part)
            while part:
                piece = inflate.decompress(part, _AT_ONCE)
                part = inflate.unconsumed_tail
                n_bytes += len(piece)
                if n_bytes > head.n_bytes or inflate.unused_data:
                    raise damaged(path)
                yield piece
        rest = inflate.flush()
    except zlib.error as error:
        raise damaged(path) from error
    yield rest
    if n_bytes + len(rest) != head.n_bytes or not inflate.eof or digest.hexdigest() != head.digest:
        raise damaged(path)
