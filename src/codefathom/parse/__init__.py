"""Stage 2: document → symbols, references and places to cut, by the first parser of a chain that knows the language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from codefathom.parse import grammars, text, treesitter
from codefathom.source.languages import CODE
from codefathom.types import Document, ParsedDocument

Parser = Callable[[Document], ParsedDocument | None]  # None: not my language; a parser never raises

PARSERS: Mapping[str, Parser] = {"treesitter": treesitter.parse, "text": text.parse}


def parse(
    document: Document, chain: Sequence[str] = ("treesitter", "text"), parsers: Mapping[str, Parser] = PARSERS
) -> ParsedDocument:
    """Return what the first parser of the chain finds; without any answer the document is plain text.

    A parser that gives up (`ParsedDocument.problems` and nothing found) passes its problems on with the next answer.
    Names without a parser are passed over: a model, "llm:…", is asked elsewhere, see `is_for_model`.
    """
    problems: tuple[str, ...] = ()
    for name in chain:
        parsed = parsers[name](document) if name in parsers else None
        if parsed is None:
            continue
        if not (parsed.problems and not parsed.symbols and not parsed.breaks):
            return replace(parsed, problems=problems + parsed.problems) if problems else parsed
        problems += parsed.problems
    plain = text.parse(document)
    return replace(plain, problems=problems + plain.problems)


def is_for_model(language: str, answered: str, chain: Sequence[str]) -> bool:
    """Whether the chain has a model that is to be asked although the parser `answered` already did.

    Plain text always comes after the model, a grammar only where the chain says so.
    """
    place = next((index for index, name in enumerate(chain) if name.partition(":")[0] == "llm"), -1)
    if place < 0 or language not in CODE or answered.startswith("llm/"):
        return False
    return not (answered.startswith("treesitter") and "treesitter" in chain[:place])


def available_languages() -> tuple[list[str], list[str]]:
    """Return the languages whose definitions are found, and those of them whose grammar cannot be loaded."""
    known = grammars.languages()
    return known, [name for name in known if grammars.load_problem(name)]
