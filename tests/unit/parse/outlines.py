"""What a parser found, written so that a test can say what it expects."""

from __future__ import annotations

from textwrap import dedent

from codefathom.parse.treesitter import parse
from codefathom.types import Document, ParsedDocument


def parsed(language: str, code: str) -> ParsedDocument:
    text = dedent(code).lstrip("\n")
    document = parse(Document(f"src/a.{language}", language, text, "f1", len(text.encode())))
    assert document is not None
    return document


def outline(document: ParsedDocument) -> list[str]:
    return [f"{item.kind} {item.qualified_name} {item.start_line}-{item.end_line}" for item in document.symbols]


def names(document: ParsedDocument, kind: str) -> set[str]:
    return {item.name for item in document.references if item.kind == kind}


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]
