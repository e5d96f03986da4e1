"""Which grammars can be loaded, and what that is asked for costs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codefathom.parse import available_languages, grammars


@pytest.fixture(autouse=True)
def nothing_loaded() -> Iterator[None]:
    """No test before has loaded a grammar, and none after gets one of these."""
    for kept in (grammars.load, grammars.load_problem):
        kept.cache_clear()
    yield
    for kept in (grammars.load, grammars.load_problem):
        kept.cache_clear()


def test_queries_are_compiled_for_the_languages_in_use_only() -> None:
    names, missing = available_languages({"go", "lua", "markdown"})
    assert (len(names), missing) == (36, [])
    assert grammars.load.cache_info().currsize == 2


def test_queries_that_do_not_fit_are_told_where_they_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammars, "_source", lambda _: "(no_such_node) @definition.function")
    assert available_languages(())[1] == []
    assert available_languages({"go", "markdown"})[1] == ["go"]


def test_a_grammar_without_code_is_told_though_nobody_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    grammars._language.cache_clear()
    load = grammars.load_language

    def all_but_lua(name: str) -> object:
        if name == "lua":
            raise OSError("no such file")
        return load(name)

    monkeypatch.setattr(grammars, "load_language", all_but_lua)
    assert available_languages(())[1] == ["lua"]
