"""Pages, headings, paragraphs and cells of lines."""

from __future__ import annotations

import pytest

from codefathom.source.document_places import Places, marks

PDF = "[page 1]\nOne\n\n[page 2]\n [page 8]\nTwo\n\n[page 3]\nThree\n"
WORD = "Preface\n\nMore\n\n# Design\n\nText\n\n## Limits\n\nForty\n"
NOTEBOOK = "[cell 1: markdown]\n# Title\n\n[cell 2: python]\nx\n\n[cell 2: output]\n1\n\n[cell 3: python]\ny\n"
TEXTS = {"a.pdf": PDF, "B.DOCX": WORD, "c.ipynb": NOTEBOOK, "d.py": PDF, "e.pdf": ""}


@pytest.mark.parametrize(
    ("path", "lines", "place"),
    [
        ("a.pdf", (2, 2), "page 1"),
        ("a.pdf", (5, 6), "page 2"),
        ("a.pdf", (2, 9), "pages 1-3"),
        ("a.pdf", (4, 4), "page 2"),
        ("B.DOCX", (1, 1), "paragraph 1"),
        ("B.DOCX", (3, 11), "paragraph 2"),
        ("B.DOCX", (5, 7), 'heading "Design"'),
        ("B.DOCX", (11, 11), 'heading "Limits"'),
        ("c.ipynb", (2, 2), "cell 1"),
        ("c.ipynb", (8, 8), "cell 2"),
        ("c.ipynb", (5, 11), "cells 2-3"),
        ("d.py", (2, 2), ""),
        ("e.pdf", (1, 1), ""),
    ],
)
def test_lines_have_a_place(path: str, lines: tuple[int, int], place: str) -> None:
    assert str(Places(TEXTS.__getitem__).of(path, *lines) or "") == place


def test_a_long_heading_is_cut() -> None:
    assert str(Places(lambda _: f"# {'x' * 500}\n").of("a.docx", 1)) == f'heading "{"x" * 80}…"'


def test_each_text_is_looked_through_once() -> None:
    asked = []
    places = Places(lambda path: asked.append(path) or PDF)
    assert [str(places.of("a.pdf", line)) for line in (2, 9)] == ["page 1", "page 3"]
    assert asked == ["a.pdf"]


def test_only_marks_of_the_kind_count() -> None:
    assert [mark.line for mark in marks("pdf", PDF + "# Design\n[cell 1: x]\n")] == [1, 4, 8]
    assert marks("python", PDF) == []
