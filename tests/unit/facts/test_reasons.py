"""Statements are kinds with values; their English is made in one place."""

from __future__ import annotations

import string

import pytest

from codefathom.facts import reasons as say
from codefathom.facts.reasons import ENGLISH, Note, notes_of, sentence, verbatim


@pytest.mark.parametrize(
    ("note", "english"),
    [
        (Note(say.CALLS_IT), "calls it"),
        (Note(say.MATCHES, {"count": 3, "line": 7}), "3 matches, the first in line 7"),
        (Note(say.MENTIONS, {"words": ("price", "order")}), "mentions price, order"),
        (Note(say.NOT_THAT_WAY, {"why": Note(say.WHAT_CALLS, {"name": "f"})}),
         "it asks what calls f, but nothing was found that way"),
        (verbatim("a {brace} of a model"), "a {brace} of a model"),
    ],
)  # fmt: skip
def test_a_note_is_put_into_english(note: Note, english: str) -> None:
    assert str(note) == english
    assert f"{note:>60}" == f"{english:>60}"
    assert f"{note}" == english


def test_notes_of_a_text_of_somebody_else() -> None:
    assert notes_of("") == ()
    assert notes_of("the model is away") == (Note("verbatim", {"text": "the model is away"}),)
    assert notes_of(Note(say.CALLS_IT)) == (Note(say.CALLS_IT),)
    assert sentence([Note(say.CALLS_IT), "and more", Note(say.CLOSE)]) == "calls it; and more; close in meaning"
    assert sentence([]) == ""


@pytest.mark.parametrize("kind", ENGLISH)
def test_the_words_of_each_kind_take_its_values(kind: str) -> None:
    names = [name for _, name, _, _ in string.Formatter().parse(ENGLISH[kind]) if name]
    written = str(Note(kind, dict.fromkeys(names, 7)))
    assert "{" not in written
    assert not names or "7" in written


def test_notes_are_values() -> None:
    assert hash(Note("file", {"name": "a"})) == hash(Note("file", {"name": "b"}))
    assert Note("file", {"name": "a"}) != Note("file", {"name": "b"})
