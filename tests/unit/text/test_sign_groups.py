"""The groups of signs that each match of an expression has: none is named that some match could do without."""

from __future__ import annotations

import re
import sys

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from codefathom.text.expressions import compiled
from codefathom.text.sign_groups import groups_of, pieces_of, required_groups


def written(expression: str) -> list[set[str]]:
    """Return the needs as short texts."""
    return [{" ".join(sorted(group.decode() for group in own)) for own in need} for need in required_groups(expression)]


@pytest.mark.parametrize(
    ("expression", "needs"),
    [
        (r"=>\s*\{", [{"=> =>{ >{"}]),
        (r"\)\s*->", [{")- )-> ->"}]),
        ("<<<<", [{"<< <<<"}]),
        ("[!?]{2,}", [{"!!", "!?", "?!", "??"}]),
        ("(?:=>|->) *x", [{"=> >a", "-> >a"}]),
        (r"\d-\d", [{"-0 0- 0-0", "-x 0- 0-x", "-0 x- x-0", "-x x- x-x"}]),
        (r"(?m)^\s*\}\s*\)\s*;$", [{"); }) });"}]),
        (r"(?=\+\+)\S", [{"++"}]),
        (r"a(?!\+\+)", []),
        (r"a(\+\+)?", []),
        (r"a(\+\+)*", []),
        (r"\+\+|\w", []),
        (r"\+.\+", []),
        (r"[^+]\+[^+]", []),
        (r"(?i)k->", [{"->"}]),
        (r"(?i:k)->", [{"->"}]),
        ("é->", [{"-> x-"}]),
        ("[\x80-\uffff]->", [{"->", "-> x-"}]),
        ("word", []),
        ("", []),
    ],
)
def test_of_expressions(expression: str, needs: list[set[str]]) -> None:
    assert written(expression) == needs


@pytest.mark.parametrize("length", [1, 40, 5_000])
def test_long_pieces_lose_no_group(length: int) -> None:
    numbers = "0.00,-12;{}é漢漢漢[]x1+2 " * length
    for two in ("0.", ".0", ",-", "-0", ";{", "{}", "}x", "x[", "[]", "]a", "0+", "+0"):
        assert two.encode() in groups_of(pieces_of(numbers)), two
    assert groups_of(pieces_of("x" * length + "=>" + "y" * length)) == {b"=>", b"a=", b">a"}


def test_all_white_space_of_expressions_is_dropped() -> None:
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1))))
    for char in regex.findall(r"\s", every):
        assert b"=>{" in groups_of(pieces_of(f"=>{char}{{"))


_SIGNS = st.sampled_from("=>-+{}()<!?:;.,_a1é٣\u3000\u00a0漢kK\u212a \t\n")
_ATOMS = st.one_of(
    st.text(_SIGNS, min_size=1, max_size=4).map(re.escape),
    st.sampled_from([*(r"\s", r"\s*", r"\w", r"\d", ".", r"\S", r"\W", "^", "$", r"\b", r"\B", r"\D", r"\s+")]),
    st.sampled_from([*("[-+]", "[^=]", "[!-~]", "[=-\u3001]", r"[\s=]", r"[\d.]", "[ -/]", "[k=]", "[<>]{2,}")]),
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"(?:{'|'.join(items)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,2}", "{2,3}", "+?", "??", "?+"])).map(
            "(?:{0[0]}){0[1]}".format
        ),
        st.tuples(st.sampled_from(["(?=", "(?!", "(?i:", "(?s:", "(?>"]), inner).map(lambda two: f"{two[0]}{two[1]})"),
        st.text(_SIGNS, min_size=1, max_size=3).map(lambda text: f"(?<={re.escape(text)})"),
    )


_EXPRESSIONS = st.tuples(st.sampled_from(["", "(?i)", "(?m)", "(?s)", "(?a)"]), st.recursive(_ATOMS, _larger))


@given(expression=_EXPRESSIONS.map("".join), text=st.text(_SIGNS, max_size=30), data=st.data())
def test_each_match_has_the_groups(expression: str, text: str, data: st.DataObject) -> None:
    try:
        matching = st.from_regex(re.compile(expression))
    except re.error:
        return
    for searched in (text, data.draw(st.one_of(matching, st.just(text)))):
        if compiled(expression).is_in(searched):
            groups = groups_of(pieces_of(searched))
            assert all(any(own <= groups for own in need) for need in required_groups(expression))
