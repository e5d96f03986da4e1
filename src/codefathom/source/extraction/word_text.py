"""Word document → its text, by python-docx. Needs the extra `documents`; runs in `extraction_child.py` only.

Each paragraph is one line, and each row of a table, with an empty line after it: the n-th stands on line 2n - 1. A
heading begins with as many `#` as its level. Pictures, headers, footers, notes and deleted text are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from io import BytesIO
from typing import Any

from codefathom.facts import reasons as say
from codefathom.source.document_places import heading_line, unmarked
from codefathom.source.extraction.refusal import ExtractionLimits, Refusal, plain_lines, refusal, too_long
from codefathom.source.extraction.word_package import refusal_of_package

_docx: Any = import_module("docx")
_etree: Any = import_module("lxml.etree")
_NAME = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PARAGRAPH, _TABLE, _ROW, _CELL = (f"{_NAME}{name}" for name in ("p", "tbl", "tr", "tc"))
_TEXT, _STYLE, _VALUE = f"{_NAME}t", f"{_NAME}pPr/{_NAME}pStyle", f"{_NAME}val"
_SPACES = {f"{_NAME}{name}" for name in ("tab", "br", "cr")}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # says again what stands before it
_HEADING = re.compile(r"heading ([1-9])|(title)", re.IGNORECASE)
_MAX_BASES = 10  # styles that a style goes back to, one to the other
_MAX_DEPTH = 100  # of tables in tables, and of what else holds paragraphs


def text_of(data: bytes, limits: ExtractionLimits) -> str | Refusal:
    """Return the text of a Word document, or the reason why it has none."""
    of_package = refusal_of_package(data, limits)
    if of_package is not None:
        return of_package
    document = _docx.Document(BytesIO(data))
    level_of = _levels(document.styles)
    lines: list[str] = []
    n_chars = 0
    for text, style in _blocks(document.element.body, 0):
        level = level_of(style)
        lines += [heading_line(level, text) if level else unmarked("docx", text), ""]
        n_chars += len(text) + 2
        if n_chars > limits.chars:
            return too_long(limits)
    return "\n".join(lines) if lines else refusal(say.WORD_WITHOUT_TEXT)


def _blocks(element: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Yield text and style of the paragraphs and rows of an element, in order, without empty ones."""
    for child in element.iterchildren():
        if child.tag == _PARAGRAPH:
            style = child.find(_STYLE)
            block = _one_line(child), "" if style is None else style.get(_VALUE, "")
        elif child.tag == _ROW:
            block = " | ".join(filter(None, map(_one_line, child.iterchildren(_CELL)))), ""
        else:
            if depth < _MAX_DEPTH and isinstance(child.tag, str) and child.tag != _FALLBACK:
                yield from _blocks(child, depth + 1)
            continue
        if block[0]:
            yield block


def _one_line(element: Any) -> str:
    return " ".join(" ".join(plain_lines("".join(_pieces(element)))).split())


def _pieces(element: Any) -> Iterator[str]:
    """Yield the pieces of text of an element, also of inserted text, links and fields."""
    walk = _etree.iterwalk(element, events=("start", "end"))
    for event, item in walk:
        if event == "end":
            yield " " if item.tag == _PARAGRAPH else ""
        elif item.tag == _FALLBACK:
            walk.skip_subtree()
        elif item.tag == _TEXT:
            yield item.text or ""
        elif item.tag in _SPACES:
            yield " "


def _levels(styles: Any) -> Callable[[str], int]:
    """Return a function from the id of a style to the level of its headings, 0 for other text."""
    by_id = {style.style_id: style for style in styles}

    @cache
    def level_of(style_id: str) -> int:
        style = by_id.get(style_id)
        for _ in range(_MAX_BASES):
            if style is None:
                return 0
            match = _HEADING.fullmatch(style.name or "")
            if match:
                return int(match[1] or 1)
            style = getattr(style, "base_style", None)
        return 0

    return level_of
