"""Uses of definitions that a compiler has written, as the catalogue keeps them: a row for each pair of files.

They hold for one version of the file that uses something. A file that has changed since has other rows than its own
fingerprint, and is read as if it had none.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from zlib import crc32

from codefathom.stores.catalog.records import CompilerRecord, CompilerUse, UseKind
from codefathom.stores.catalog.writing import count_generation

_KINDS: tuple[UseKind, ...] = ("call", "type", "import")
_NO_DOCUMENT = 0
_MOST_BYTES = 100_000_000  # of the uses between two files, unpacked

_CURRENT = "JOIN compilers k ON k.document_id = d.id AND k.fingerprint = d.fingerprint"
ROWS = (  # whatever kinds of values a damaged file holds
    "SELECT CAST(d.path AS TEXT), CAST(coalesce(t.path, '') AS TEXT), CAST(u.uses AS BLOB), u.checksum "
    f"FROM compiler_uses u JOIN documents d ON d.id = u.document_id {_CURRENT} "
    "LEFT JOIN documents t ON t.id = u.target_id"
)
IN_FILE = f"{ROWS} WHERE d.path = ? ORDER BY 2"
OF_FILE = f"{ROWS} WHERE t.path = ? ORDER BY 1"
# CROSS JOIN: most projects have no row of a compiler, and then no document is looked at.
CURRENT_PATHS = (
    "SELECT d.path FROM compilers k CROSS JOIN documents d ON d.id = k.document_id AND d.fingerprint = k.fingerprint"
)
COUNTS = (
    "SELECT k.tool, count(*), sum(k.fingerprint <> d.fingerprint) FROM compilers k CROSS JOIN documents d "
    "ON d.id = k.document_id GROUP BY 1 ORDER BY 2 DESC, 1"
)


def packed(uses: Iterable[CompilerUse]) -> bytes:
    """Return uses in few bytes; the same uses give the same bytes."""
    lines: dict[str, dict[str, list[int]]] = {}
    for use in sorted(uses):
        number = use.line * len(_KINDS) + _KINDS.index(use.kind)
        lines.setdefault(use.target, {}).setdefault(use.name, []).append(number)
    return zlib.compress(json.dumps(lines, separators=(",", ":")).encode(), 6)


def unpacked(data: bytes) -> tuple[CompilerUse, ...]:
    """Return the uses of a row that is sound."""
    text = zlib.decompressobj().decompress(data, _MOST_BYTES)
    return tuple(
        CompilerUse(number // len(_KINDS), name, target, _KINDS[number % len(_KINDS)])
        for target, names in json.loads(text).items()
        for name, numbers in names.items()
        for number in numbers
    )


def checksum(path: str, target_path: str, data: bytes) -> int:
    """Return the checksum of a row with the paths of its files."""
    return crc32(data, crc32(f"{path}\n{target_path}\n".encode("utf-8", "surrogatepass")))


def put_uses(db: sqlite3.Connection, records: Sequence[CompilerRecord]) -> None:
    """Replace the uses in some files inside a transaction; a file that has changed meanwhile keeps what it has."""
    id_of = {}
    for record in records:
        row = db.execute("SELECT id, fingerprint FROM documents WHERE path = ?", (record.path,)).fetchone()
        if row is None or row[1] != record.fingerprint:
            continue
        db.execute("DELETE FROM compiler_uses WHERE document_id = ?", row[:1])
        db.execute("INSERT OR REPLACE INTO compilers VALUES (?, ?, ?)", (row[0], record.fingerprint, record.tool))
        for target, uses in sorted(record.uses.items()):
            if target not in id_of:
                document = db.execute("SELECT id FROM documents WHERE path = ?", (target,)).fetchone()
                id_of[target] = document[0] if document else None if target else _NO_DOCUMENT
            if id_of[target] is not None:
                data = packed(uses)
                values = (row[0], id_of[target], data, checksum(record.path, target, data))
                db.execute("INSERT INTO compiler_uses VALUES (?, ?, ?, ?)", values)
    count_generation(db)


def forget_uses(db: sqlite3.Connection) -> int:
    """Remove all uses of compilers inside a transaction, and return the number of files that had some."""
    n_files = db.execute("DELETE FROM compilers").rowcount
    db.execute("DELETE FROM compiler_uses")
    if n_files:
        count_generation(db)
    return n_files
