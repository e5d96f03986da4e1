"""The text of RTF documents: what it is, and what of the hostile ones is refused and why."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.facts.languages import is_document, language_of
from codefathom.facts.paths import is_named_as_file, is_prose, ranks_as_prose
from codefathom.parse import parse
from codefathom.source.document_places import Places
from codefathom.source.extraction import rtf_text
from codefathom.source.extraction.extracted_text import extracted_text
from codefathom.source.extraction.refusal import LIMITS, Refusal
from codefathom.types import Document

HEAD = (
    rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fcharset204 Arial Cyr;}"
    rb"{\f2\fcharset128 MS Gothic;}}"
    rb"{\colortbl;\red0\green0\blue0;}{\stylesheet{\s0 Normal;}{\s1\b heading 1;}{\s2 heading 2;}}"
    rb"{\info{\author Nobody}}{\*\generator Writer;}"
)


def said(answer: str | Refusal) -> str:
    """Return the text of a document, or the reason why it has none."""
    return answer if isinstance(answer, str) else answer.reason


def rtf(body: bytes) -> bytes:
    return HEAD + body + b"}"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"Parcels of 31 kg\par need a pallet.", "Parcels of 31 kg\n\nneed a pallet.\n"),
        (rb"One\line two\tab three\par\par Four", "One two three\n\nFour\n"),
        (rb"{\pard\s1 Limits\par}\pard Forty.\par {\pard\s2 More\par}", "# Limits\n\nForty.\n\n## More\n"),
        (rb"\pard\outlinelevel1 Rules\par\pard Text", "## Rules\n\nText\n"),
        (rb"# no heading\par", " # no heading\n"),
        (rb"\b bold\b0  and {\i italic} \{braces\} \\ back", "bold and italic {braces} \\ back\n"),
        (rb"caf\'e9 \ldblquote x\rdblquote  \endash  \bullet", "café “x” – •\n"),
        (rb"{\f1 \'ef\'f0\'e8\'e2\'e5\'f2} hi", "привет hi\n"),
        (rb"{\f2 \'83e\'83X\'83g}", "テスト\n"),
        (rb"\u1087?\u1088\'3f \uc2\u8364 EUx \uc0\u8722 5", "пр €x −5\n"),
        (rb"\u-10179?\u-8704?", "😀\n"),
        (rb"a\v hidden\v0 b{\deleted gone}{\plain c}", "abc\n"),
        (rb"{\field{\*\fldinst HYPERLINK x}{\fldrslt link}} {\pict\pngblip 89504e47}{\footnote note}end", "link end\n"),
        (rb"\trowd\intbl One\cell\pard\intbl Two\par three\cell\row\pard After", "One | Two three\n\nAfter\n"),
        (rb"a\~b\_c\-d", "a b-cd\n"),
        (b"new\\\nline and \r\njoined", "new\n\nline and joined\n"),
        (rb"x{\*\unknown y}{\pict\bin4 }{}}}z", "xz\n"),
        (rb"{\header head}{\footerf foot}{\annotation note}body", "body\n"),
    ],
)
def test_the_text_is_its_paragraphs(body: bytes, text: str) -> None:
    assert rtf_text.text_of(rtf(body), LIMITS) == text
    assert extracted_text("a.RTF", rtf(body)) == text  # in a process of its own, too


def test_an_rtf_document_is_a_document_everywhere() -> None:
    assert (language_of("x/offer.rtf"), is_document("OFFER.RTF")) == ("rtf", True)
    assert is_prose("offer.rtf")
    assert ranks_as_prose("offer.rtf")
    assert is_named_as_file("offer.rtf")


def test_headings_are_sections_and_places() -> None:
    text = rtf_text.text_of(rtf(rb"Preface\par\pard\s1 Limits\par\pard Forty.\par"), LIMITS)
    assert isinstance(text, str)
    parsed = parse(Document("a.rtf", "rtf", text, len(text), "0"))
    assert [(symbol.name, symbol.start_line, symbol.end_line) for symbol in parsed.symbols] == [("Limits", 3, 5)]
    places = Places(lambda path: text)
    assert (str(places.of("a.rtf", 1)), str(places.of("a.rtf", 5))) == ("paragraph 1", 'heading "Limits"')


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "broken RTF document"),
        (b"no braces", "broken RTF document"),
        (b"{\\rtf1" + b"{" * 5_000, "broken RTF document"),
        (rtf(b""), "an RTF document without text"),
        (rtf(rb"{\pict 00ff}"), "an RTF document without text"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS; `git lfs pull` brings the file"),
    ],
)
def test_what_is_refused_says_why(data: bytes, reason: str) -> None:
    assert said(extracted_text("a.rtf", data)) == reason


def test_what_was_cut_off_shows_what_there_is() -> None:
    assert rtf_text.text_of(HEAD + rb"One\par Two {\b thr", LIMITS) == "One\n\nTwo thr\n"


def test_a_text_beyond_the_limit_is_refused() -> None:
    data = rtf(rb"word\par " * 100)
    assert said(rtf_text.text_of(data, LIMITS._replace(chars=50))) == "its text has more than 50 characters"
    one = rtf(b"word " * 100)
    assert said(rtf_text.text_of(one, LIMITS._replace(chars=50))) == "its text has more than 50 characters"


PIECES = [
    *(
        b"{",
        b"}",
        b"\\",
        b"\\'",
        b"\\u",
        b"\\bin99999999999 ",
        b"\\uc9",
        b"\\*",
        b"\\f1",
        b"\\par",
        b"\\row",
        b"\\cell",
    ),
    *(b"\\u55357?", b"\\'8", b"\\fonttbl", b"\\stylesheet", b"\\s1", b"\0", b"\xff", b"x", b"9" * 30, b"\n"),
]


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(PIECES),
        max_size=60,
    )
)
def test_no_document_breaks_the_reader(pieces: list[bytes]) -> None:
    answer = rtf_text.text_of(rtf(b"".join(pieces)), LIMITS)
    assert isinstance(answer, str | Refusal)
    if isinstance(answer, str):
        answer.encode("utf-8")
        assert "\0" not in answer


@pytest.mark.parametrize("piece", [rb"{\b x}", rb"\'83", rb"\u1087?", rb"\cell ", rb"\v x\v0 ", b"\\", rb"\uc99\u1 "])
def test_the_work_grows_with_the_document_alone(piece: bytes) -> None:
    few, many = (n_calls(rtf(piece * n)) for n in (100, 1_000))
    assert many <= 11 * few


def n_calls(data: bytes) -> int:
    """Return the number of functions that are called to read a document."""
    count = 0

    def add(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(add)
    try:
        rtf_text.text_of(data, LIMITS)
    finally:
        sys.setprofile(None)
    return count
