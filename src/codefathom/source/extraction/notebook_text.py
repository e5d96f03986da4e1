"""Jupyter notebook → its text, cell by cell. Pure.

A line such as `[cell 3: python]` stands before each cell, and `[cell 3: output]` before the text that it printed.
Pictures and other outputs are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from codefathom.facts import reasons as say
from codefathom.facts.languages import language_named
from codefathom.source.document_places import cell_line, unmarked
from codefathom.source.extraction.refusal import ExtractionLimits, Refusal, plain_lines, refusal, too_long
from codefathom.text.foreign_json import read_json

_MAX_OUTPUT_CHARS = 2_000  # of a cell
_MAX_OUTPUT_LINES = 40
_BROKEN = refusal(say.BROKEN_NOTEBOOK)
_MAGIC = re.compile(r"%%(\w+)")  # the language of one cell
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # colours of a terminal


def text_of(data: bytes, limits: ExtractionLimits) -> str | Refusal:
    """Return the text of a notebook, or the reason why it has none."""
    try:
        notebook = read_json(data.removeprefix(b"\xef\xbb\xbf"))
        cells = _cells(notebook)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return _BROKEN
    language = _language(notebook)
    lines = [line for number, cell in enumerate(cells, 1) for line in _cell_lines(number, cell, language)]
    text = "\n".join(lines)
    return too_long(limits) if len(text) > limits.chars else text


def _cells(notebook: Any) -> list[Mapping[str, Any]]:
    cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]  # until format 3
    return [cell for cell in list(cells) if isinstance(cell, Mapping)]


def _language(notebook: Mapping[str, Any]) -> str:
    """Return the language of the code cells."""
    metadata = _part(notebook, "metadata")
    names = (_part(metadata, "kernelspec").get("language"), _part(metadata, "language_info").get("name"))
    return next(filter(None, (language_named(name) for name in names if isinstance(name, str))), "python")


def _part(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = value.get(key)
    return part if isinstance(part, Mapping) else {}


def _cell_lines(number: int, cell: Mapping[str, Any], language: str) -> Iterator[str]:
    kind = cell.get("cell_type")
    source = _joined(cell.get("source", cell.get("input")))
    if kind == "code":
        magic = _MAGIC.match(source)
        kind = (language_named(magic[1]) if magic else "") or language
    elif kind not in ("markdown", "raw"):
        kind = "text"
    yield cell_line(number, kind)
    yield from (unmarked("notebook", line) for line in plain_lines(source))
    yield ""
    output = _output(cell.get("outputs"))
    if output:
        yield cell_line(number, "output")
        yield from output
        yield ""


def _output(outputs: Any) -> list[str]:
    """Return the first lines that a cell has printed."""
    listed = [item for item in outputs if isinstance(item, Mapping)] if isinstance(outputs, list) else []
    text = "\n".join(filter(None, map(_printed, listed)))[: 2 * _MAX_OUTPUT_CHARS]
    text = _ESCAPES.sub("", text)[:_MAX_OUTPUT_CHARS].strip("\n")
    return [unmarked("notebook", line) for line in plain_lines(text)[:_MAX_OUTPUT_LINES]] if text.strip() else []


def _printed(output: Mapping[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename')}: {output.get('evalue')}"
    data = _part(output, "data")
    return _joined(output.get("text", data.get("text/plain"))).rstrip("\n")


def _joined(source: Any) -> str:
    """Return a text that a notebook may keep as a list of lines."""
    if isinstance(source, str):
        return source
    return "".join(line for line in source if isinstance(line, str)) if isinstance(source, list) else ""
