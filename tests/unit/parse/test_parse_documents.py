"""Symbols and breaks of documents: sections of Word files and HTML pages, code in notebooks, pages of a PDF."""

from __future__ import annotations

import pytest
from tests.documents import code, notebook, prose

from codefathom.parse import parse
from codefathom.parse.html_headings import html_headings
from codefathom.source.extraction.extracted_text import extracted_text
from codefathom.types import Document, ParsedDocument


def parsed(language: str, text: str, path: str = "a") -> ParsedDocument:
    return parse(Document(path, language, text, "", len(text)))


def symbols(document: ParsedDocument) -> list[tuple[str, str, int, int]]:
    return [(one.kind, one.qualified_name, one.start_line, one.end_line) for one in document.symbols]


def test_word_headings_are_sections() -> None:
    text = "Preface\n\n# Design\n\nText\n\n## Limits\n\nForty\n\n# End\n"
    assert symbols(parsed("docx", text)) == [
        ("section", "Design", 3, 10),
        ("section", "Design > Limits", 7, 10),
        ("section", "End", 11, 11),
    ]


def test_pages_are_the_best_places_to_cut() -> None:
    text = "[page 1]\nOne\n\nTwo\n\n[page 2]\nThree\n"
    assert [(cut.line, cut.depth) for cut in parsed("pdf", text).breaks] == [(1, 0), (4, 1), (6, 0)]


def test_code_of_a_notebook_keeps_its_lines() -> None:
    data = notebook(
        prose("# Harvest\n\n## Load"),
        code("%matplotlib inline\n!ls\nimport os\n\ndef load(path):\n    return os.stat(path)\n"),
        code("def broken(:\n"),
        prose("## End"),
        code("%%bash\nnext() { ls; }\n"),
        code("load('a')\n"),
    )
    text = extracted_text("a.ipynb", data)
    assert isinstance(text, str)
    document = parsed("notebook", text, "a.ipynb")
    lines = text.split("\n")
    for symbol in document.symbols:
        assert symbol.name in lines[symbol.name_line - 1]
    names = {name for _, name, _, _ in symbols(document)}
    assert {"Harvest", "Harvest > Load", "Harvest > End", "load", "next"} <= names
    assert [one.name for one in document.references if one.kind == "import"] == ["os"]
    assert document.problems == ()
    starts = [number for number, line in enumerate(lines, 1) if line.startswith("[cell ")]
    assert [cut.line for cut in document.breaks if cut.depth == 0] == starts


def test_a_notebook_in_a_language_without_a_parser_is_a_text() -> None:
    text = extracted_text("a.ipynb", notebook(code("x <- 1\n"), language="APL"))
    assert isinstance(text, str)
    assert parsed("notebook", text).symbols == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<h1>One</h1>\n<H2 class='x'><b>bold</b> &amp; caf&eacute;</H2>", [(1, 1, "One"), (2, 2, "bold & café")]),
        ("<title>Page</title>\n<p>\n<h2>Two\nlines</h2>", [(1, 1, "Page"), (3, 2, "Two lines")]),
        ("<title>Page</title>\n<h1>Top</h1>", [(2, 1, "Top")]),
        ("<!-- <h1>No</h1> -->\n<script>'<h1>No</h1>'</script>\n<h1>Yes</h1>", [(3, 1, "Yes")]),
        ("<h1>open\n<h2>Two</h2>", [(2, 2, "Two")]),
        ("<h1>{{ page.title }}</h1>\n<h2>{% if x %}Two{% endif %}</h2>", [(2, 2, "Two")]),
        ("<h1>One</h1><h2>same line</h2>", [(1, 1, "One")]),
        ("<h1></h1><h1>", []),
        ("<header>No</header><hr>", []),
    ],
)  # fmt: skip
def test_headings_of_a_page(text: str, expected: list[tuple[int, int, str]]) -> None:
    assert [tuple(heading) for heading in html_headings(text)] == expected


@pytest.mark.parametrize("piece", ["<h1>", "<h1 ", "<!--", "<script>", "</h1>", "<title>x", "<h1>{{{{</h1>\n"])
def test_a_long_page_is_looked_through_once(piece: str) -> None:
    """With the square of its length this would take hours."""
    assert len(html_headings(piece * 300_000)) <= 300_000


def test_a_page_has_its_headings_as_sections_at_the_lines_of_the_file() -> None:
    text = "<html>\n<body>\n<h1>Install</h1>\n<p>Do it.</p>\n<h2>Remove</h2>\n<p>Undo it.</p>\n</body>\n"
    assert symbols(parsed("html", text)) == [
        ("section", "Install", 3, 7),
        ("section", "Install > Remove", 5, 7),
    ]
