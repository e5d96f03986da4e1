"""Grammars and their queries (`queries/*.scm`), each loaded once in a process."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from semble_grammars import get_language
from tree_sitter import Language, Query

_QUERIES = resources.files("codefathom.parse") / "queries"
_DEFINITION = re.compile(rb"@definition\.(\w+)")

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
    return sorted(item.name.removesuffix(".scm") for item in _QUERIES.iterdir() if item.name.endswith(".scm"))


@lru_cache(maxsize=256)
def load_problem(name: str) -> str:
    """Return why the grammar or the queries of a language cannot be loaded; nothing when they can."""
    try:
        load(name)
    except Exception as error:  # whatever a grammar package raises, the file is still indexed as text
        return f"no grammar for {name}: {error}"
    return ""


@lru_cache(maxsize=64)
def load(name: str) -> Grammar:
    """Return the grammar of a language that has queries; raises what the grammar package raises."""
    language = get_language(name)
    source = (_QUERIES / f"{name}.scm").read_text(encoding="utf-8")
    definitions = Query(language, source)
    kinds = tuple(_kind(definitions, index, source.encode()) for index in range(definitions.pattern_count))
    names = Query(language, source + _margins(language))
    for index, kind in enumerate(kinds):
        (names if kind else definitions).disable_pattern(index)
    return Grammar(language, definitions, kinds, names)


def _kind(query: Query, index: int, source: bytes) -> str:
    found = _DEFINITION.search(source, query.start_byte_for_pattern(index), query.end_byte_for_pattern(index))
    return found[1].decode() if found else ""


def _margins(language: Language) -> str:
    """Return the patterns of comments and attributes; every grammar has its own names for them."""
    kinds = {
        language.node_kind_for_id(number) or ""
        for number in range(language.node_kind_count)
        if language.node_kind_is_named(number) and language.node_kind_is_visible(number)
    }
    comments = [f"({kind}) @margin.comment" for kind in sorted(kinds) if _COMMENT.search(kind)]
    attributes = [f"({kind}) @margin.attribute" for kind in sorted(kinds & _ATTRIBUTES)]
    return "\n" + "\n".join(comments + attributes)
