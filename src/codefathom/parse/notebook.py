"""Notebooks: definitions of their code cells, sections of their Markdown cells, places to cut between cells.

Each language is parsed alone: of a copy of the text in which all lines but those of its cells are empty, so that lines
keep their numbers. A cell that cannot be parsed is a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codefathom.facts.parse_problems import missing_grammars
from codefathom.parse import text, treesitter
from codefathom.source.document_places import Mark, marks
from codefathom.types import Break, Document, ParsedDocument

PARSER = "notebook/1"
_MAGICS = ("%", "!", "?")  # lines of a cell that are for the notebook itself


def parse(document: Document) -> ParsedDocument:
    """Return the symbols, references and breaks of all cells; never raises."""
    lines = document.text.split("\n")
    cells = marks(document.language, document.text)
    parts = [
        part for kind in dict.fromkeys(cell.kind for cell in cells) if (part := _part(document, lines, kind, cells))
    ]
    depth_of = {item.line: item.depth + 1 for part in parts for item in part.breaks}
    depth_of |= {cell.line: 0 for cell in cells if cell.kind != "output"}
    symbols = [symbol for part in parts for symbol in part.symbols]
    return ParsedDocument(
        document,
        tuple(sorted(symbols, key=lambda symbol: (symbol.start_line, -symbol.end_line))),
        tuple(reference for part in parts for reference in part.references),
        tuple(Break(line, depth) for line, depth in sorted(depth_of.items())),
        PARSER,
        tuple(problem for part in parts for problem in part.problems if missing_grammars([problem])),
    )


def _part(document: Document, lines: list[str], kind: str, cells: list[Mark]) -> ParsedDocument | None:
    """Return all cells of one language, parsed; None for one without a parser."""
    if kind == "output":
        return None
    own = replace(document, language=kind, text="\n".join(_only(lines, kind, cells)))
    return text.parse(own) if kind == "markdown" else treesitter.parse(own)


def _only(lines: list[str], kind: str, cells: list[Mark]) -> Iterator[str]:
    """Yield all lines, empty where they are not of cells of this language."""
    ends = [cell.line for cell in cells[1:]] + [len(lines) + 1]
    end_of = {cell.line: end for cell, end in zip(cells, ends, strict=True) if cell.kind == kind}
    last = 0
    for number, line in enumerate(lines, 1):
        last = end_of.get(number, last)
        is_content = number < last and number not in end_of
        is_magic = kind != "markdown" and line.lstrip().startswith(_MAGICS)
        yield line if is_content and not is_magic else ""
