"""Definitions of ctags beside our symbols."""

from __future__ import annotations

import pytest
from evals.definitions import (
    DEFINITION,
    LANGUAGES,
    Compared,
    Missing,
    Repository,
    Tag,
    is_known,
    judged,
    manifest,
    plain,
    report,
)

from codefathom.types import Symbol

OPEN = Symbol("function", "open", "Shop.open", 4, 9, 5)


@pytest.mark.parametrize(
    ("name", "line", "by_span", "known"),
    [
        ("open", 5, False, True),
        ("a::open", 4, False, True),
        ("open", 8, False, False),
        ("open", 8, True, True),
        ("shut", 5, False, False),
        ("open", 2, True, False),
    ],
)
def test_a_definition_is_known_by_name_and_place(name: str, line: int, by_span: bool, known: bool) -> None:
    assert is_known(Tag("a", line, "function", name), [OPEN], by_span) is known


@pytest.mark.parametrize(
    ("written", "name"),
    [("Trie{K,V}", "Trie"), ("open:with:", "open"), ("hash<Shop>", "hash"), ("M.open", "open"), ("a::b", "b")],
)
def test_names_are_compared_without_owners_and_types(written: str, name: str) -> None:
    assert plain(written) == name


def test_the_estimate_takes_the_sample_for_all_that_is_missing() -> None:
    repository = Repository("c", "o/a", "-", False)
    missing = tuple(Missing("c", "o/a", False, Tag("a.c", line, "function", "f")) for line in range(10))
    verdicts = {item.key: DEFINITION if item.tag.line < 5 else "call" for item in missing}
    row = report([Compared(repository, 100, missing)], verdicts).splitlines()[-1]
    assert row == "| c | open | 1 | 100 | 90.00 | 10 | 10 | 5 | 94.74 | call 5 |"


def test_each_language_has_three_repositories_one_of_them_apart() -> None:
    listed = manifest()
    languages = {item.language for item in listed}
    assert languages <= LANGUAGES.keys()
    assert len(languages) >= 18
    for language in languages:
        parts = [item.is_apart for item in listed if item.language == language]
        assert (len(parts) >= 3, any(parts), all(parts)) == (True, True, False)


def test_each_verdict_is_of_a_listed_repository() -> None:
    assert {key[0] for key in judged()} <= {item.name for item in manifest()}
