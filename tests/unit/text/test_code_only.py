"""Texts without comments and strings keep their length, their lines and what a string puts in."""

from __future__ import annotations

from time import thread_time

import pytest

from codefathom.facts.languages import CODE
from codefathom.text.code_only import code_only


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "a = 'b' # c", "a =        "),
        ("python", 'f"{a.b} c" + "{d}"', "  {a.b}    +      "),
        ("python", '"""a\nb""" + c', "    \n     + c"),
        ("typescript", "a(`b ${c.d}`) // e", "a(   ${c.d} )     "),
        ("typescript", "a /* b\n */ c", "a     \n    c"),
        ("rust", "fn a<'b>(c: &'b str) // d", "fn a<'b>(c: &'b str)     "),
        ("go", "a `b` // c", "a         "),
        ("ruby", 'a "b #{c}" # d', "a    #{c}     "),
        ("kotlin", 'a("b $c ${d}")', "a(   $c ${d} )"),
        ("c", "a = 'b'; /* c */ d", "a =    ;         d"),
        ("lua", "a --[[ b\n]] c", "a       \n   c"),
        ("sql", "a -- b", "a     "),
        ("php", "#[A] b # c", "#[A] b    "),
        ("swift", 'a("\\(b.c) d")', "a( \\(b.c)   )"),
    ],
)
def test_what_stays(language: str, text: str, expected: str) -> None:
    assert code_only(text, language) == expected


SIZES = (2_000, 16_000)


@pytest.mark.parametrize("language", sorted(CODE))
def test_a_text_takes_no_more_steps_than_its_size(language: str) -> None:
    pieces = ('"', '\\"', "'", "`", "\\`", "/*", "#", "{-", "(*", "{", "--[[", "--[=[", "<!--", '"""', "${", "%", "a.")

    def is_linear() -> bool:
        few, many = (
            sum(_seconds(piece * (size // len(piece)), language) for piece in pieces) for size in (2_000, 16_000)
        )
        return many < 16 * few + 0.1  # of the processor: 64 times as long would be quadratic

    assert any(is_linear() for _ in range(5))  # what is quadratic is so each time


def _seconds(text: str, language: str) -> float:
    start = thread_time()
    plain = code_only('"' + text, language)
    assert len(plain) == len(text) + 1
    return thread_time() - start
