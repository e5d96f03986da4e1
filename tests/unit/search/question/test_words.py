from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.search.question.words import Cover, Forms, WordStrengths, root_of, same_word, stem_of, usual_forms

WORDS = st.text(alphabet="abcdeingsty", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("route", "routing", True), ("retry", "retries", True), ("a", "ab", False), ("index", "indexer", True),
     ("token", "tower", False), ("parse", "parser", True), ("log", "logging", True), ("logger", "logging", True),
     ("save", "saving", True), ("saver", "saving", True), ("serialize", "serialization", True), ("mapped", "map", True),
     ("string", "ring", False), ("sing", "singer", True), ("car", "cut", False)],
)  # fmt: skip
def test_forms_of_a_word(one: str, other: str, same: bool) -> None:
    assert same_word(one, other) is same
    assert same_word(other, one) is same


@pytest.mark.parametrize(
    ("word", "stem"),
    [("parsing", "pars"), ("parse", "pars"), ("parser", "pars"), ("route", "rout"), ("io", "io"), ("used", "used"),
     ("validation", "valid"), ("using", "usin")],
)  # fmt: skip
def test_the_stem_is_what_forms_share(word: str, stem: str) -> None:
    assert stem_of(word) == stem


@pytest.mark.parametrize(
    ("term", "text", "inside"),
    [
        ("logging", "a log of it", True),
        ("logs", "the log", True),
        ("saving", "save it", True),
        ("save", "while saving", True),
        ("saves", "saved", True),
        ("timing", "a time", True),
        ("saving", "a savage", False),
    ],
)
def test_a_text_holds_a_term_in_any_form(term: str, text: str, inside: bool) -> None:
    assert bool(Forms((term,)).inside(text)) is inside


@given(WORDS)
def test_forms_have_the_root_of_their_word(word: str) -> None:
    forms = usual_forms(word)
    assert word not in forms
    assert len(set(forms)) == len(forms) <= 12
    assert all(form.startswith(root_of(word)) for form in forms)


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("parsing", "parser"),
        ("parse", "parsing"),
        ("saved", "save"),
        ("logger", "logging"),
        ("log", "logged"),
        ("url", "urls"),
    ],
)
def test_the_forms_of_a_word(word: str, form: str) -> None:
    assert form in usual_forms(word)


@pytest.mark.parametrize("word", ["io", "utf8", "日志", "on_exit"])
def test_what_is_no_long_word_has_no_forms(word: str) -> None:
    assert usual_forms(word) == ()


@given(WORDS)
def test_a_stem_is_a_beginning_of_its_word(word: str) -> None:
    assert word.startswith(stem_of(word))
    assert len(stem_of(word)) >= min(len(word), 4)


def test_terms_among_words_and_inside_a_text_are_bits() -> None:
    forms = Forms(("route", "parse", "id"))
    assert forms.among(["router", "nothing"]) == 0b001
    assert forms.among(["parsed", "id"]) == 0b110
    assert forms.inside("def parsing(id): ...") == 0b110
    assert forms.inside("") == 0


@settings(max_examples=50)
@given(st.lists(WORDS, max_size=5, unique=True), st.lists(WORDS, max_size=8))
def test_a_term_is_among_words_when_one_is_a_form_of_it(terms: list[str], words: list[str]) -> None:
    expected = sum(1 << bit for bit, term in enumerate(terms) if any(same_word(term, word) for word in words))
    assert Forms(terms).among(words) == expected


def test_the_share_of_words_that_are_terms() -> None:
    telling = WordStrengths(Forms(("flat", "hash")), Cover({"flat": 1.0, "hash": 0.6}))
    assert telling.share_of(("flat", "hash", "map")) == pytest.approx(2 / 3)
    assert telling.share_of(()) == 0.0
    assert telling.best_share([("map",), ("flat", "map"), ("hash",)]) == 1.0


def test_words_that_are_learned_at_once_count_as_they_do_one_by_one() -> None:
    forms, cover, words = Forms(("flat", "saves")), Cover({"flat": 1.0, "saves": 0.2}), {"flat", "saving", "map", "sa"}
    telling = WordStrengths(forms, cover)
    assert telling.learn(words) == {"flat", "saving"}
    assert dict(telling) == {word: WordStrengths(forms, cover)[word] for word in words}


def test_a_word_that_says_little_counts_little() -> None:
    cover = Cover({"curl": 0.1, "redirects": 4.0})
    telling = WordStrengths(Forms(("curl", "redirects")), cover)
    assert telling.share_of(("curl",)) == pytest.approx(0.05)
    assert telling.share_of(("follow", "redirect")) == 0.5
    assert cover.strength(0b11) == 1.0
    assert Cover({}).strength(0) == 0.0


def test_a_cover_is_the_share_of_the_weight() -> None:
    cover = Cover({"rare": 3.0, "common": 1.0})
    assert [cover[bits] for bits in (0b00, 0b01, 0b10, 0b11)] == [0.0, 0.75, 0.25, 1.0]
    assert Cover({})[0] == 0.0
