"""The words that each match of an expression has: none is named that some match could do without."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from codefathom.stores.lexical.terms import MAX_TERM, terms
from codefathom.text.expressions import compiled
from codefathom.text.required_words import WordPart, is_of_any_lines, is_of_one_line, required_words
from codefathom.text.word_runs import word_runs


def written(expression: str) -> list[set[str]]:
    """Return the needs as short texts: `^` and `$` stand for known ends of a word."""
    return [
        {" ".join("^" * part.begins + _in_any_text(part) + "$" * part.ends for part in parts) for parts in alternatives}
        for alternatives in required_words(expression)
    ]


def _in_any_text(part: WordPart) -> str:
    return replace(part, any_case=False).in_text.pattern


@pytest.mark.parametrize(
    ("expression", "needs"),
    [
        ("parse", [{"parse"}]),
        (r"\bparse\b", [{"^parse$"}]),
        (r"(?m)^parse$", [{"^parse$"}]),
        (r"def parse_\w+query", [{"^parse query def$"}]),
        (r"self\.path = x", [{"^path$ self$"}]),
        (r"class\s+\w*Error\b", [{"class$ error$"}]),
        (r"class\s*\w*Error\b", [{"error$ class"}]),
        ("(foo|bar)(baz|qux)", [{"foobaz", "fooqux", "barbaz", "barqux"}]),
        ("https?:", [{"http$", "https$"}]),
        ("gr[ae]y", [{"gray", "grey"}]),
        ("gr[a-e]y", [{"gr[0-9a-f]y"}]),
        (r"[A-Z]{6}\d\b", [{r"[a-z][a-z][a-z][a-z][a-z][a-z]\d$"}]),
        (r"\d{4}-\d\d-\d\d", [{r"\d\d\d\d$ ^\d\d$"}]),
        (r"[0-9a-f]{8,40}", [{"[0-9a-f]" * 8}]),
        (r"(?i)[a-z]{8}", []),
        (r"(?i)[0-9]{8}", [{"[0-9]" * 8}]),
        (r"[a-z_]{8}", []),
        (r"[^a-z]{8}\w{9}", []),
        (r"\w+\s*=\s*\d{5}", []),
        ("(?:left out)?", []),
        ("(left out)*right", [{"right"}]),
        ("(name)+d", [{"named name"}]),
        ("(?<=def )run", [{"def$"}, {"run"}]),
        ("run(?= fast)", [{"^fast"}, {"run"}]),
        ("run(?! fast)", [{"run"}]),
        ("(?<!def )run", [{"run"}]),
        ("(?i)Parse", [{"parse"}]),
        ("(?i:Parse)Query", [{"parsequery"}]),
        ("(?P<name>alpha) (?P=name)", [{"alpha$"}]),
        ("alpha|", []),
        ("alpha|be", []),
        (r"\bif\b|\bdo\b", [{"^if$", "^do$"}]),
        ("naïve", []),
        ("naïveté_query", [{"query vet"}]),
        ("x{3}yz", [{"xxxyz"}]),
        ("(abc){3}", [{"abcabcabc"}]),
        ("(abc){2,3}", [{"abcabc"}]),
        ("(?a)word", [{"word"}]),
        ("(?x) wo rd  # a comment", [{"word"}]),
        ("(?>alpha)beta", [{"alphabeta"}]),
        ("(((((((alpha)+)+)+)+)+)+)+", [{"alpha"}]),
        (r"\\begin\{doc", [{"^begin$ ^doc"}]),
        ("__init__", [{"init"}]),
        ("___", []),
    ],
)
def test_of_expressions(expression: str, needs: list[set[str]]) -> None:
    assert written(expression) == needs


@pytest.mark.parametrize(
    ("expression", "is_of_line"),
    [
        *((r"def \w+", True), (".*", True), (r"^a[^\n]b$", True), (r"\ba\b", True), (r"[^\s]", True), ("(a)\\1", True)),
        *((r"(?s).", False), ("(?s:.)", False), (r"a\sb", False), (r"[^a]", False), (r"\W", False), (r"\D", False)),
        *((r"a\n", False), ("[\t-\r]", False), ("(?<!a)b", False), ("a(?=b)", False), (r"(x|(y\s)+)", False)),
        *((r"[^\S]", False), (r"[^\S\n]", True), (r"[a\n]", False)),
    ],
)
def test_matches_of_one_line(expression: str, is_of_line: bool) -> None:
    assert is_of_one_line(expression) == is_of_line


def test_what_grows_too_large_is_cut_and_stays_right() -> None:
    many = "(aaa|bbb|ccc|ddd|eee)" * 5
    needs = written(many)
    assert needs
    assert all(len(need) <= 64 for need in needs)
    assert all(any(text in "aaabbbcccdddeee" for text in need) for need in needs)
    assert required_words("(abc(" * 5 + "x" + ")+)+" * 5)


_LETTERS = st.sampled_from("abisk_ABISK01ſKİıσΣé漢²٣")
_ATOMS = st.one_of(
    st.text(_LETTERS, min_size=1, max_size=4).map(re.escape),
    st.sampled_from(
        [
            *(r"\w", r"\s", r"\b", r"\B", ".", "[ab]", "[^a]", "[i_]", r"\.", " ", "^", "$", r"\W", "[ -/]", "_"),
            *(
                r"\d",
                "[A-Z]",
                "[a-z]",
                "[0-9]",
                "[0-9a-f]",
                "[A-Za-z0-9]",
                "[a-z_]",
                r"[A-Z\d]",
                "[a-z]{5}",
                r"\d{3,4}",
            ),
        ]
    ),
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parts = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        parts.map("".join),
        parts.map(lambda items: f"(?:{'|'.join(items)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,2}", "+?", "??"])).map("(?:{0[0]}){0[1]}".format),
        st.tuples(st.sampled_from(["(?=", "(?!", "(?i:", "(?:"]), inner).map(lambda pair: f"{pair[0]}{pair[1]})"),
        st.text(_LETTERS, min_size=1, max_size=3).map(lambda text: f"(?<={re.escape(text)})"),
    )


_EXPRESSIONS = st.tuples(st.sampled_from(["", "(?i)", "(?m)", "(?im)", "(?a)"]), st.recursive(_ATOMS, _larger)).map(
    "".join
)
_TEXTS = st.text(st.one_of(_LETTERS, st.sampled_from(" .\n-")), max_size=30)


@given(expression=_EXPRESSIONS, text=_TEXTS, data=st.data())
def test_each_match_has_the_words(expression: str, text: str, data: st.DataObject) -> None:
    try:
        matching = st.from_regex(re.compile(expression))
    except re.error:
        return
    for searched in (text, data.draw(st.one_of(matching, st.just(text)))):
        if compiled(expression).is_in(searched):
            assert all(any(all(map(_is_in(searched), parts)) for parts in item) for item in required_words(expression))


def _is_in(text: str):  # type: ignore[no-untyped-def]  # a function of a part
    def stands(part: WordPart) -> bool:
        if any(len(run) > MAX_TERM for run in word_runs(text)):
            return part.in_text.search(text.lower()) is not None
        has_seed = any(part.seed in term for term in terms(text))
        return has_seed and any(part.in_term.search(term) for term in terms(text))

    return stands


def test_letters_that_case_makes_equal_are_found_in_terms() -> None:
    """Each character of Unicode that an expression takes for a letter of ASCII, when case does not count."""
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1))))
    n_others = 0
    for letter in "abcdefghijklmnopqrstuvwxyz0123456789_":
        part = WordPart(f"xx{letter}xx", any_case=True)
        for char in regex.findall(f"(?i){letter}", every):
            term = terms(f"xx{char}xx")[0]
            assert part.in_term.search(term), (letter, char)
            assert part.seed in term
            n_others += not char.isascii()
    assert n_others >= 3


@pytest.mark.parametrize(
    ("expression", "is_of_any"),
    [
        *((r"(?m)^a\b$", True), (r"(?m)(?:^|x)a", True), (r"^a", False), (r"(?m)\Aa", False)),
        *((r"(?m)(?:b|a\Z)", False), (r"(?m)(?-m:a$)", False), (r"(?m)(?i-m:a)+", False), (r"(?m)(?i:a$)", True)),
    ],
)
def test_ends_of_a_text_are_as_ends_of_lines(expression: str, is_of_any: bool) -> None:
    assert is_of_any_lines(expression) is is_of_any


@given(
    text=st.text("ab_1é\n", max_size=30),
    part=st.builds(WordPart, st.sampled_from(["a", "ab", "b_a", "1a"]), *[st.booleans()] * 4),
)
def test_a_plain_part_is_in_the_same_lines_with_its_text_first(text: str, part: WordPart) -> None:
    expected = [line for line in text.split("\n") if part.in_term.search(line)]
    assert [line for line in text.split("\n") if part.in_lines.search(line)] == expected
