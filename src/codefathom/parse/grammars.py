"""Grammars and their queries (`queries/*.scm`), each loaded once in a process."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from tree_sitter import Language, Query

from codefathom.facts.reasons import LACKS_GRAMMAR, Note
from codefathom.parse.machine_code import load_language

_QUERIES = resources.files("codefathom.parse") / "queries"
_DEFINITION = re.compile(r"@definition\.(\w+)")
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|;[^\n]*|[()\[\]]')
_INHERITS = re.compile(r"; inherits: (.*)")

# What may stand above a definition and belongs to it, under its names in all grammars.
_COMMENT = re.compile(r"comment$|^haddock$")
_ATTRIBUTES = frozenset({"annotation", "attribute_item", "attribute_list", "decorator"})


class Grammar(NamedTuple):
    """A grammar with its queries: definitions are asked match by match, names and comments all at once."""

    language: Language
    definitions: Query
    kinds: tuple[str, ...]  # for each pattern of `definitions` the kind it defines; "" for other patterns
    names: Query


@lru_cache(maxsize=1)
def languages() -> list[str]:
    """Return the names of the languages that have queries."""
    names = (item.name for item in _QUERIES.iterdir())
    return sorted(name.removesuffix(".scm") for name in names if name.endswith(".scm") and not name.startswith("_"))


@lru_cache(maxsize=256)
def load_problem(name: str) -> Note | None:
    """Return the reason why the grammar or the queries of a language cannot be loaded, None if they can."""
    try:
        load(name)
    except Exception as error:  # whatever a grammar package raises, the file is still indexed as text
        return Note(LACKS_GRAMMAR, {"language": name, "error": str(error)})
    return None


def load_problem_now(name: str) -> Note | None:
    """Try again what failed before, and return the result as `load_problem` does."""
    load_problem.cache_clear()
    return load_problem(name)


def has_code(name: str) -> bool:
    """Say whether the machine code of a grammar can be loaded; to compile the queries of all takes seconds."""
    try:
        _language(name)
    except Exception:  # as in `load_problem`
        return False
    return True


@lru_cache(maxsize=64)
def _language(name: str) -> Language:
    return load_language(name)


@lru_cache(maxsize=64)
def load(name: str) -> Grammar:
    """Return the grammar of a language that has queries; raises what the grammar package raises."""
    language = _language(name)
    patterns = list(_patterns(_source(name)))
    defining = [pattern for pattern in patterns if _DEFINITION.search(pattern)]
    naming = [pattern for pattern in patterns if not _DEFINITION.search(pattern)]
    kinds = tuple(kind for pattern in defining for kind in _DEFINITION.findall(pattern)[:1])
    definitions = Query(language, "\n".join(defining))
    return Grammar(language, definitions, kinds, Query(language, "\n".join([*naming, *_leading_patterns(language)])))


def _source(name: str) -> str:
    """Return the patterns of a file, then of those that its first line names as `; inherits: _other _another`."""
    text = (_QUERIES / f"{name}.scm").read_text(encoding="utf-8")
    inherited = _INHERITS.match(text)
    return "\n".join([text, *map(_source, inherited[1].split())]) if inherited else text


def _patterns(source: str) -> Iterator[str]:
    """Yield each pattern with its capture. Parted before they are compiled, which takes up to 0.3 s."""
    depth = start = 0
    for mark in _MARK.finditer(source):
        if mark[0] in ("(", "["):
            if depth == 0 and source[start : mark.start()].strip():
                yield source[start : mark.start()]
                start = mark.start()
            depth += 1
        elif mark[0] in (")", "]"):
            depth -= 1
    if source[start:].strip():
        yield source[start:]


def _leading_patterns(language: Language) -> list[str]:
    """Return the patterns of comments and attributes; every grammar has its own names for them."""
    kinds = {
        language.node_kind_for_id(number) or ""
        for number in range(language.node_kind_count)
        if language.node_kind_is_named(number) and language.node_kind_is_visible(number)
    }
    comments = [f"({kind}) @margin.comment" for kind in sorted(kinds) if _COMMENT.search(kind)]
    attributes = [f"({kind}) @margin.attribute" for kind in sorted(kinds & _ATTRIBUTES)]
    return comments + attributes
