"""The index as text, to be read elsewhere and taken over again, in the shapes of the documents we come from.

`index-json`: one object, path → {module_name, symbols, last_modified, md5}. `jsonl`: one object a line with file_path,
relative_path, content (a list of {module_name, source_code, tag, tokens, metadata}), modify_time and md5. `faiss`: the
texts of the files in a `metadata.json` (`stores/faiss_files.py`); its vectors are never opened. All paths are relative
to the project. What is imported is only text: documents are parsed and embedded here, by this version, and
only where a file of the project has just this text: an export may come from anywhere, and is not trusted further.
`index-json` carries no text, so its files are taken from the project, as far as they are the same by MD5.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from codefathom.errors import UsageError
from codefathom.source.documents import text_of
from codefathom.source.origin import is_inside, tree_of
from codefathom.source.scan import FileTree, ScanRules
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.catalog.records import StoredDocument
from codefathom.text.foreign_json import read_json
from codefathom.text.kept_names import is_kept_text
from codefathom.text.printable import escape_json, is_text

KINDS = ("index-json", "jsonl")  # those that are lines
_ALL_FILES = ScanRules()


def export(
    catalog: SearchCatalog, tree: str | FileTree, kind: str, count: Callable[[str], int], purposes: Mapping[str, str]
) -> Iterator[str]:
    """Yield the index line by line, the tokens of each chunk counted by `count`. Raises UsageError for another kind."""
    if kind == "index-json":
        return _index_json(catalog, tree, purposes)
    if kind == "jsonl":
        return _json_lines(catalog, tree, count)
    raise UsageError(f"no export is called {kind!r}", hint=f"choose one of {', '.join(KINDS)}")


def read_export(lines: Iterator[str], tree: str | FileTree, kind: str) -> dict[str, str]:
    """Return the text of each document of an export, by path. Raises UsageError for what is no export."""
    if kind == "index-json":
        return _same_files("".join(lines), tree)
    if kind == "faiss":
        return _file_chunks("".join(lines))
    if kind != "jsonl":
        raise UsageError(f"no import is called {kind!r}", hint=f"choose one of {', '.join(KINDS)}, faiss")
    texts: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            path, text = _document(line, number)
            texts[path] = text
    return texts


def _same_files(text: str, tree: str | FileTree) -> dict[str, str]:
    try:
        digests = {str(path): str(item["md5"]) for path, item in read_json(text).items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"this is not an export in the form index-json: {error}", hint="give a file of `fathom export`"
        ) from error
    texts: dict[str, str] = {}
    files = tree_of(tree, _ALL_FILES)
    for path, digest in digests.items():
        data = files.content(_inside(path, "index-json"))
        if data is not None and _md5(data) == digest:
            texts[path] = text_of(path, data) or ""
    return texts


def _file_chunks(text: str) -> dict[str, str]:
    try:
        chunks = [chunk for chunk in read_json(text)["chunks"] if chunk["type"] == "file"]
        texts = {str(chunk["file_path"]): str(chunk["content"]) for chunk in chunks}
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"this is not the metadata of an export as FAISS files: {error}", hint="give a folder of `fathom export`"
        ) from error
    if not is_text("".join(texts.values()).replace("\0", "")):
        raise UsageError("a file in it has an unpaired surrogate character", hint="give a folder of `fathom export`")
    return {_inside(path, "metadata.json"): content for path, content in texts.items()}


_RELATIVE = "paths are relative to the project"
_MOST_SAID = 200  # characters of a path


def _inside(path: str, where: str) -> str:
    if not is_inside(path) or not is_text(path):
        raise UsageError(f"{where}: {path[:_MOST_SAID]!r} is outside the project", hint=_RELATIVE)
    return path


def _document(line: str, number: int) -> tuple[str, str]:
    try:
        item = read_json(line)
        path = str(item["relative_path"])
        text = "".join(str(part["source_code"]) for part in item["content"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"line {number} is not a document: {error}", hint="give a file of `fathom export`") from error
    if not is_text(text.replace("\0", "")):
        raise UsageError(f"line {number} has an unpaired surrogate character", hint="give a file of `fathom export`")
    return _inside(path, f"line {number}"), text


def _index_json(catalog: SearchCatalog, tree: str | FileTree, purposes: Mapping[str, str]) -> Iterator[str]:
    yield "{"
    documents = _files(catalog)
    for index, document in enumerate(documents):
        symbols = [
            {"kind": s.kind, "name": s.qualified_name, "start_line": s.start_line, "end_line": s.end_line}
            for s in catalog.symbols_of(document.path)
        ]
        item = {"module_name": document.path, "symbols": symbols, **_stamp(document, tree)}
        if document.path in purposes:
            item["purpose"] = purposes[document.path]
        comma = "," if index + 1 < len(documents) else ""
        path = json.dumps(document.path, ensure_ascii=False)
        yield escape_json(f"{path}: {json.dumps(item, ensure_ascii=False)}{comma}")
    yield "}"


def _json_lines(catalog: SearchCatalog, tree: str | FileTree, count: Callable[[str], int]) -> Iterator[str]:
    for document in _files(catalog):
        content = [
            {
                "module_name": document.path,
                "source_code": piece.text,
                "tag": "",
                "tokens": count(piece.text),
                "metadata": {
                    "start_line": piece.start_line,
                    "end_line": piece.end_line,
                    "column": piece.column,
                    "kind": piece.kind,
                },
            }
            for _, piece in catalog.chunks_of(document.path)
        ]
        stamp = _stamp(document, tree)
        item: dict[str, Any] = {
            "file_path": document.path,
            "relative_path": document.path,
            "content": content,
            "modify_time": stamp["last_modified"],
            "md5": stamp["md5"],
        }
        yield escape_json(json.dumps(item, ensure_ascii=False))


def _files(catalog: SearchCatalog) -> list[StoredDocument]:
    """Return the documents that are files: the texts of a caller are on no disk and belong to no export."""
    return [document for document in catalog.documents() if not is_kept_text(document.path)]


def _stamp(document: StoredDocument, tree: str | FileTree) -> dict[str, Any]:
    """MD5 of the bytes on disk, which is what these formats carry; empty when the file is gone by now."""
    data = tree_of(tree, _ALL_FILES).content(document.path)
    return {"last_modified": document.mtime_ns / 1e9, "md5": "" if data is None else _md5(data)}


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
