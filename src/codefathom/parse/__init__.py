"""Stage 2: document → symbols, references and places to cut, by the first parser of a chain that knows the language."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from codefathom.facts.languages import marks_of, may_be_code
from codefathom.facts.reasons import READ_BY_HEAD, Note
from codefathom.parse import text
from codefathom.types import Document, ParsedDocument

Parser = Callable[[Document], ParsedDocument | None]  # None: an unknown language; a parser never raises


def _by_grammar(document: Document) -> ParsedDocument | None:
    from codefathom.parse import treesitter

    return treesitter.parse(document)


# Grammars take longer to import than to take in one commit, and texts need none.
PARSERS: Mapping[str, Parser] = {"treesitter": _by_grammar, "text": text.parse}


def parse(
    document: Document, chain: Sequence[str] = ("treesitter", "text"), parsers: Mapping[str, Parser] = PARSERS
) -> ParsedDocument:
    """Parse with the first parser of the chain that knows the language; if none does, as plain text.

    The problems of a parser that gives up (`ParsedDocument.problems`, but neither symbols nor breaks) are added to
    those of the next parser. Names without a parser are skipped: a model, "llm:…", is called elsewhere, see
    `is_for_model`.
    """
    if marks_of(document.language) == "cells":
        from codefathom.parse import notebook

        return notebook.parse(document)
    problems: tuple[Note, ...] = ()
    for name in chain:
        parsed = parsers[name](document) if name in parsers else None
        if parsed is None:
            continue
        if not (parsed.problems and not parsed.symbols and not parsed.breaks):
            return _with_problems(parsed, problems)
        problems += parsed.problems
    return _with_problems(text.parse(document), problems)


def _with_problems(parsed: ParsedDocument, problems: tuple[Note, ...]) -> ParsedDocument:
    """Return what a parser made after others gave up; without a grammar, definitions are known by their heads alone."""
    if not problems:
        return parsed
    n_heads = len(parsed.symbols) if parsed.parser == text.PARSER else 0
    notes = [Note(READ_BY_HEAD, {"count": n_heads})] if n_heads else []  # without lines: all of them
    return replace(parsed, problems=(*problems, *parsed.problems, *notes))


def is_for_model(path: str, language: str, answered: str, chain: Sequence[str]) -> bool:
    """Return True if the chain has a model that shall parse a document again that the parser `answered` has parsed.

    It is given code, and files with an ending that no language here has: they may be in a language that it knows.

    A model always takes the place of the plain-text parser, and that of a grammar only if it comes first in the chain.
    """
    place = next((index for index, name in enumerate(chain) if name.partition(":")[0] == "llm"), -1)
    if place < 0 or answered.startswith("llm/") or not may_be_code(path, language):
        return False
    return not (answered.startswith("treesitter") and "treesitter" in chain[:place])


def available_languages(used: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the languages with queries for definitions, and those of them whose grammar cannot be loaded.

    The queries are compiled for the languages that are used: a quarter of a second each, six for all.
    """
    from codefathom.parse import grammars

    names = grammars.languages()
    return names, [
        name for name in names if not grammars.has_code(name) or (name in used and grammars.load_problem(name))
    ]
