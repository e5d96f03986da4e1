"""`fathom export` and `fathom import`: the index as lines or files for others."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import IO

from codefathom.cli.display.output import Style
from codefathom.cli.face import Face
from codefathom.cli.options import ExportOptions, ImportOptions
from codefathom.cli.token_budget import ItemList, write_items
from codefathom.errors import SourceError, UsageError
from codefathom.text.printable import show_name

_SUCCESS = 0


def export(options: ExportOptions, face: Face) -> int:
    """Write the index as lines, as files of FAISS, or as a snapshot."""
    if options.max_tokens and (options.output != "-" or options.snapshot):
        raise UsageError("--max-tokens limits what is printed, not the size of a file", hint="remove --max-tokens")
    if options.snapshot or options.sign:
        from codefathom.cli.commands.saved_index_command import write_snapshot

        return write_snapshot(options, face)
    if not options.format:
        raise UsageError("fathom export needs --as or --snapshot", hint="see fathom export --help")
    if options.format == "faiss" and options.output == "-":
        raise UsageError("an export as faiss is a folder of files", hint="name a folder with --output")
    with face.open() as engine:
        if options.format == "faiss":
            n_rows = engine.export_faiss(options.output)
            face.note(f"wrote {n_rows:,} vectors into {show_name(options.output)}")
            return _SUCCESS
        lines = engine.export(options.format)
        if options.max_tokens:
            write_items(_first_lines(list(lines), options.format), options.max_tokens, face)
        elif options.output == "-":
            for line in lines:
                face.write(_ended(line))
        else:
            _save(options.output, lines)
            face.note(f"wrote {show_name(options.output)}")
    return _SUCCESS


def _first_lines(lines: list[str], kind: str) -> ItemList:
    """Return the lines of an export as a list; the first of them are an export, too."""
    if kind != "index-json":
        return ItemList(len(lines), lambda n, _: "".join(map(_ended, lines[:n])), "chunks")
    first, *files, last = lines  # one object, a file in each line

    def text(n: int, _: Style) -> str:
        entries = [*files[: max(n - 1, 0)], *(file.rstrip(",") for file in files[max(n - 1, 0) : n])]
        return "".join(map(_ended, (first, *entries, last)))

    return ItemList(len(files), text, "files")


def _save(path: str, lines: Iterable[str]) -> None:
    try:
        with _opened(path, "w") as file:
            file.writelines(map(_ended, lines))
    except OSError as error:
        raise SourceError(f"cannot write {path!r}: {error.strerror or error}", hint="write to another file") from error


def import_(options: ImportOptions, face: Face) -> int:
    """Read lines that `fathom export` has written, or a snapshot."""
    if not options.format:
        from codefathom.cli.commands.saved_index_command import read_snapshot

        return read_snapshot(options, face)
    with face.open() as engine:
        if options.file == "-":
            n_documents = engine.import_index(_lines(sys.stdin), options.format)
        else:
            path = os.path.join(options.file, "metadata.json") if options.format == "faiss" else options.file
            with _opened(path, "r") as file:
                n_documents = engine.import_index(_lines(file), options.format)
    face.note(f"imported {n_documents} documents")
    return _SUCCESS


def _lines(file: Iterable[str]) -> Iterator[str]:
    try:
        yield from file
    except UnicodeDecodeError as error:
        raise SourceError(
            "the file to import is not valid UTF-8", hint="give a file that `fathom export` has written"
        ) from error
    except OSError as error:
        raise SourceError(
            f"cannot read the file to import: {error.strerror or error}",
            hint="give a file that `fathom export` has written",
        ) from error


def _ended(line: str) -> str:
    return line if line.endswith("\n") else line + "\n"


def _opened(path: str, mode: str) -> IO[str]:
    try:
        return open(path, mode, encoding="utf-8", newline="")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise SourceError(f"cannot open {path!r}: {reason}", hint="check the path and its permissions") from error
