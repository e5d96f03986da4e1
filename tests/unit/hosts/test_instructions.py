"""The paragraph in a file of instructions: the text around it stays to the byte, and what a person wrote is left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.hosts.instructions import ChangedError, created, has_paragraph, paragraph, with_paragraph
from codefathom.hosts.instructions import without_paragraph as without

TEXTS = [
    "",
    "\n",
    "\n\n",
    "# Rules",
    "# Rules\n",
    "# Rules\n\n",
    "a\r\nb",
    "a\r\nb\r\n",
    "a\r\nb\n",
    "a\r",
    " \n",
    "```\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_comes_back(text: str) -> None:
    added = with_paragraph(text)
    assert has_paragraph(added)
    assert added.startswith(text)
    assert with_paragraph(added) == added
    assert without(added) == text


@given(st.text(alphabet="ab #\r\n", max_size=12))
def test_every_text_comes_back(text: str) -> None:
    assert without(with_paragraph(text)) == text


def test_a_file_that_was_made_for_it_is_removed() -> None:
    assert without(created()) is None
    assert with_paragraph(created()) == created()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"mine\n{paragraph()}\n", "mine\n"),
        (f"{paragraph()}\nmine\n", "mine\n"),
        (f"# Rules\n\n{paragraph()}\nmine\n", "# Rules\nmine\n"),
        (f"# Rules\n\n{paragraph()}\n\nmine", "# Rules\n\nmine"),
        (f"one {paragraph()} two", "one  two"),
    ],
)
def test_what_a_person_wrote_around_it_stays(text: str, left: str) -> None:
    assert with_paragraph(text) == text
    assert without(text) == left


@pytest.mark.parametrize(
    "text",
    [
        created().replace("ripgrep", "grep"),
        created().replace("begin", "start"),
        created().replace("end -->", "END -->"),
        created() * 2,
        "<!-- fathom: begin -->\nmine\n<!-- fathom: end -->\n",
        '<!-- fathom: end --><!-- fathom: begin "00000000" -->',
    ],
)
def test_a_paragraph_that_a_person_has_changed_is_left(text: str) -> None:
    for edit in (with_paragraph, without):
        with pytest.raises(ChangedError):
            edit(text)


def test_the_paragraph_is_short_and_says_when_to_use_what() -> None:
    _, *lines, _ = paragraph().split("\n")
    words = " ".join(lines).split()
    assert len(words) <= 60
    assert all(f"`{tool}`" in words or f"`{tool}`," in words for tool in ("search", "read", "related", "map"))
    assert "ripgrep." in words
