"""The index as two FAISS files and one of JSON, which plain `faiss` and `json` open: for programs of users.

`file_index.faiss` has a row for each file, `function_index.faiss` one for each function or method; row n belongs to the
n-th chunk of that type in `metadata.json`. A row is the mean of the vectors of the chunks that it covers, of length 1.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import IO, Any, NamedTuple

from codefathom.errors import SettingsError, SourceError
from codefathom.project.opening import OpenedProject
from codefathom.stores.vectors.payload import mean_row
from codefathom.system.extras import install_line
from codefathom.text.kept_names import is_kept_text
from codefathom.text.printable import escape_json
from codefathom.types import FUNCTION_KINDS, Chunk

METADATA = "metadata.json"
INDEXES = {"file": "file_index.faiss", "function": "function_index.faiss"}


class _Entry(NamedTuple):
    """One row of an index."""

    type: str
    path: str
    name: str  # of a function
    start_line: int
    end_line: int
    content: str
    keys: Sequence[int]  # of the chunks that it covers


def write_faiss_files(opened: OpenedProject, folder: str) -> int:
    """Write the three files into a folder, and return the number of rows.

    Each file takes its name when it is complete, the metadata last. Raises SettingsError without FAISS, SourceError.
    """
    try:
        faiss: Any = import_module("faiss")
    except ModuleNotFoundError as error:
        raise SettingsError(
            "an export as FAISS files needs the library 'faiss', which is not installed", hint=install_line("faiss")
        ) from error
    dimensions = opened.embedder.dimensions
    indexes = {kind: faiss.IndexFlatL2(dimensions) for kind in INDEXES}
    try:
        os.makedirs(folder, exist_ok=True)
        # Names that nobody can have put there before, as a link to elsewhere.
        drafts = {
            name: os.path.join(folder, f".{name}.{os.urandom(8).hex()}") for name in (*INDEXES.values(), METADATA)
        }
        try:
            with open(drafts[METADATA], "x", encoding="utf-8") as file:
                _write_metadata(file, opened, indexes)
            for kind, name in INDEXES.items():
                with open(drafts[name], "xb") as file:
                    file.write(faiss.serialize_index(indexes[kind]).tobytes())
            for name, draft in drafts.items():
                os.replace(draft, os.path.join(folder, name))
        finally:
            for draft in drafts.values():
                if os.path.exists(draft):
                    os.remove(draft)
    except OSError as error:
        raise SourceError(
            f"cannot write into {folder!r}: {error.strerror or error}", hint="write to another folder"
        ) from error
    return sum(index.ntotal for index in indexes.values())


def _write_metadata(file: IO[str], opened: OpenedProject, indexes: dict[str, Any]) -> None:
    """Write the metadata entry by entry, and add the row of each to its index."""
    file.write('{"chunks": [\n')
    n_files = 0
    for document in opened.catalog.documents():
        if is_kept_text(document.path):
            continue
        n_files += 1
        for number, entry in enumerate(_entries(opened, document.path)):
            indexes[entry.type].add(_row(opened, entry))
            is_first = n_files == 1 and number == 0
            name = {"function_name": entry.name} if entry.type == "function" else {}
            lines = {"start_line": entry.start_line, "end_line": entry.end_line}
            item = {"type": entry.type, "file_path": entry.path, **name, "content": entry.content, **lines}
            file.write(("" if is_first else ",\n") + escape_json(json.dumps(item, ensure_ascii=False)))
    counts = {f"{kind}_chunks": index.ntotal for kind, index in indexes.items()}
    rest = {
        "codebase_path": opened.place.root,
        "total_files": n_files,
        "total_chunks": sum(counts.values()),
        **counts,
        "model": opened.embedder.name,
        "dimensions": opened.embedder.dimensions,
    }
    file.write("\n], " + escape_json(json.dumps(rest, ensure_ascii=False)).removeprefix("{") + "\n")


def _entries(opened: OpenedProject, path: str) -> Iterator[_Entry]:
    """Yield the file, then its functions in the order of their lines."""
    catalog = opened.catalog
    text, chunks = catalog.text(path), catalog.chunks_of(path)
    lines = text.splitlines(keepends=True)
    yield _Entry("file", path, "", 1, max(len(lines), 1), text, [key for key, _ in chunks])
    for symbol in catalog.symbols_of(path):
        if symbol.kind in FUNCTION_KINDS:
            start, end = symbol.start_line, symbol.end_line
            content = "".join(lines[start - 1 : end])
            yield _Entry("function", path, symbol.qualified_name, start, end, content, _inside(chunks, start, end))


def _inside(chunks: Sequence[tuple[int, Chunk]], start_line: int, end_line: int) -> list[int]:
    return [key for key, chunk in chunks if chunk.start_line <= end_line and start_line <= chunk.end_line]


def _row(opened: OpenedProject, entry: _Entry) -> Any:
    """Return a row of length 1, float32 (1, dimensions); zeros for what has no vector."""
    rows = opened.catalog.rows(opened.embedder.name, entry.keys)
    return mean_row(list(rows.values()), opened.embedder.dimensions)
