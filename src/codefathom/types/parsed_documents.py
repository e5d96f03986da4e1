"""Files as they are read and parsed."""

from __future__ import annotations

from dataclasses import dataclass

from codefathom.facts.reasons import Note
from codefathom.types.symbols import Reference, Symbol


@dataclass(frozen=True, slots=True)
class Document:
    """One version of one file."""

    path: str
    language: str  # a name of facts/languages.py; "text" when nothing better is known
    text: str  # decoded, with its own line ends
    fingerprint: str  # versioned hash of the bytes on disk
    size: int  # bytes on disk
    # What the project's old files are taken for, "gb18030", and behind it what this one looks like, "gb18030/cp932";
    # empty when the file itself tells its encoding.
    encoding: str = ""


@dataclass(frozen=True, slots=True)
class Break:
    """A line at which the syntax allows a cut: a child of a large node begins there."""

    line: int
    depth: int  # 0 = top level of the document; smaller is the better place to cut


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The result of a parser. `problems` is not empty when the parse was partial; symbols may be empty either way."""

    document: Document
    symbols: tuple[Symbol, ...]  # ordered by start_line, outer before inner
    references: tuple[Reference, ...]
    breaks: tuple[Break, ...]
    parser: str  # name and version, such as "treesitter/1"
    problems: tuple[Note, ...] = ()
