"""The whole texts of many documents: every row is compared with its checksum, but no value of a chunk is made.

So a text that is only searched costs half of what its chunks cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from codefathom.stores import packed_chunks
from codefathom.stores.catalog import checksums, digests
from codefathom.stores.catalog.records import CheckedText
from codefathom.stores.database import Database

_MOST_TOGETHER, _BYTES_TOGETHER = 64, 1 << 21  # documents that are read at once
_CHUNKS = (
    "SELECT document_id, key, id, kind, symbol, names, start_line, end_line, start_column, checksum, "
    "CAST(packed AS BLOB) FROM chunks WHERE document_id IN ({}) ORDER BY document_id, start_line, start_column"
)

_Rows: TypeAlias = "list[tuple[Any, ...]]"


class _Head(NamedTuple):
    """The row of a document."""

    path: str
    number: int
    language: str
    n_lines: int
    size: int


def read(database: Database, paths: Sequence[str], leave_out: Callable[[str], None]) -> Iterator[CheckedText]:
    """Yield the documents of sorted paths; one that is damaged, which `leave_out` is told, or gone has no text."""
    for start in range(0, len(paths), _MOST_TOGETHER):
        some = paths[start : start + _MOST_TOGETHER]
        heads = {head.path: head for head in _heads(database, some)}
        for part in _parts([heads.get(path) or _Head(path, 0, "", 0, 0) for path in some]):
            yield from _texts(database, part, leave_out)


def _heads(database: Database, paths: Sequence[str]) -> Iterator[_Head]:
    columns = "path, id, language, CAST(n_lines AS INTEGER), CAST(size AS INTEGER)"
    marks = ",".join("?" * len(paths))
    return map(_Head._make, database.read(f"SELECT {columns} FROM documents WHERE path IN ({marks})", paths))


def _parts(heads: Sequence[_Head]) -> Iterator[list[_Head]]:
    """Yield documents that are small together, or one large one alone."""
    part: list[_Head] = []
    n_bytes = 0
    for head in heads:
        n_bytes += head.size
        if part and n_bytes > _BYTES_TOGETHER:
            yield part
            part, n_bytes = [], head.size
        part.append(head)
    if part:
        yield part


def _texts(database: Database, part: Sequence[_Head], leave_out: Callable[[str], None]) -> Iterator[CheckedText]:
    paths = [head.path for head in part]
    with database.one_moment():
        heads = {head.number: head for head in _heads(database, paths)}  # another process may have written since
        rows = database.read(_CHUNKS.format(",".join("?" * len(heads))), list(heads))
    rows_of: dict[str, _Rows] = {head.path: [] for head in heads.values()}
    for row in rows:
        rows_of[heads[row[0]].path].append(row)
    texts = {head.path: _text(head, rows_of[head.path], leave_out) for head in heads.values()}
    for path in paths:
        yield texts.get(path) or CheckedText(path, "", [])


def _text(head: _Head, rows: _Rows, leave_out: Callable[[str], None]) -> CheckedText:
    """Return the text of a document if all its rows are sound and join up to it."""
    texts: list[bytes] = []
    begins: list[tuple[int, int]] = []
    line = column = 1  # where the next chunk begins at the latest
    end = 0
    for _, _, chunk_id, kind, symbol, names, start, end, first, checksum, packed in rows:
        text, signature, doc = packed_chunks.encoded(packed)
        values = (digests.shown(chunk_id), head.path, head.language, kind, symbol, names, start, end, first)
        if checksums.of_encoded_chunk(values, text, signature, doc) != checksum or (start, first) > (line, column):
            break
        is_ended = text.endswith(b"\n") or start < end
        line, column = (end + 1, 1) if is_ended else (end, first + len(text.decode("utf-8", "replace")))
        texts.append(text)
        begins.append((start, first))
    is_whole = line > head.n_lines or (column > 1 and line == head.n_lines)  # the last line may have no end
    if len(texts) == len(rows) and is_whole:
        try:
            whole = b"".join(texts).decode()
        except UnicodeDecodeError:
            pass
        else:
            return CheckedText(head.path, whole, [row[1] for row in rows], [*begins, (end + 1, 1)])
    leave_out(head.path)
    return CheckedText(head.path, "", [])
