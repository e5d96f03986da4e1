"""All parsers give the same kinds of symbols: those of `SYMBOL_KINDS`."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from codefathom.parse.llm import SCHEMA
from codefathom.types import CALLABLE_KINDS, SYMBOL_KINDS, TYPE_KINDS, VALUE_KINDS

# Captures of the queries that are no kinds of symbols: a friend becomes a function, a prototype is left out.
QUERY_ONLY_KINDS = frozenset({"friend", "prototype"})
QUERIES = sorted(
    (file.name, file.read_text(encoding="utf-8"))
    for file in (resources.files("codefathom.parse") / "queries").iterdir()
    if file.name.endswith(".scm")
)


@pytest.mark.parametrize(("name", "text"), QUERIES, ids=[name for name, _ in QUERIES])
def test_a_query_file_captures_only_kinds_of_symbols(name: str, text: str) -> None:
    captures = set(re.findall(r"@definition\.([\w.]+)", text))
    assert captures <= {*SYMBOL_KINDS, *QUERY_ONLY_KINDS}


def test_the_query_files_are_found() -> None:
    assert len(QUERIES) > 20


def test_the_schema_for_models_allows_just_these_kinds() -> None:
    kind = SCHEMA["properties"]["symbols"]["items"]["properties"]["kind"]  # type: ignore[index]
    assert kind == {"type": "string", "enum": list(SYMBOL_KINDS)}


def test_the_groups_hold_kinds_and_do_not_overlap() -> None:
    groups = [TYPE_KINDS, VALUE_KINDS, CALLABLE_KINDS]
    assert set().union(*groups) <= set(SYMBOL_KINDS)
    assert sum(map(len, groups)) == len(set().union(*groups))
    assert not set(SYMBOL_KINDS) & QUERY_ONLY_KINDS
