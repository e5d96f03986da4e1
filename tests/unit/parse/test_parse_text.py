"""Prose and data files → sections, links and places to cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.parse.text import parse
from codefathom.types import Document, ParsedDocument

Section = tuple[str, int, int]


def parsed(language: str, text: str) -> ParsedDocument:
    return parse(Document(f"docs/a.{language}", language, text, "f1", len(text.encode())))


def sections(document: ParsedDocument) -> list[Section]:
    return [(symbol.qualified_name, symbol.start_line, symbol.end_line) for symbol in document.symbols]


def links(document: ParsedDocument) -> list[tuple[str, int, str, int]]:
    return [(item.name, item.line, item.container, item.count) for item in document.references]


def breaks(document: ParsedDocument) -> list[tuple[int, int]]:
    return [(item.line, item.depth) for item in document.breaks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# A\n\ntext\n", [("A", 1, 3)], id="atx"),
        pytest.param("text\n\n## B ##\n", [("B", 3, 3)], id="closed atx"),
        pytest.param("# A\r\n\r\n## B\r\nx\r\n", [("A", 1, 4), ("A > B", 3, 4)], id="carriage returns"),
        pytest.param(
            "# A\n## B\n### C\n## D\n# E\n",
            [("A", 1, 4), ("A > B", 2, 3), ("A > B > C", 3, 3), ("A > D", 4, 4), ("E", 5, 5)],
            id="nested",
        ),
        pytest.param("### C\n\n## B\n", [("C", 1, 2), ("B", 3, 3)], id="levels need not begin at one"),
        pytest.param("# A\n#### D\n## B\n", [("A", 1, 3), ("A > D", 2, 2), ("A > B", 3, 3)], id="skipped levels"),
        pytest.param("A\n===\n\nB\n---\nx\n", [("A", 1, 6), ("A > B", 4, 6)], id="setext"),
        pytest.param("one\ntwo\n===\n", [("one two", 1, 3)], id="setext over two lines"),
        pytest.param("# A\nB\n---\n", [("A", 1, 3), ("A > B", 2, 3)], id="setext below atx"),
        pytest.param("text\n\n---\n\ntext\n", [], id="rule"),
        pytest.param("- item\n---\n", [], id="rule below a list"),
        pytest.param("> quote\n---\n", [], id="rule below a quote"),
        pytest.param("| a | b |\n---\n", [], id="rule below a table"),
        pytest.param("a\nb\nc\nd\n---\n", [], id="rule below a paragraph"),
        pytest.param("#hash\n#\ttab\n    # code\n", [("tab", 2, 3)], id="what is no heading"),
        pytest.param("####### seven\n#5 is a number\n", [], id="seven signs"),
        pytest.param("# \n## B\n", [("B", 2, 2)], id="a heading without words gives a cut, no section"),
        pytest.param("```sh\n# no\n```\n# A\n", [("A", 4, 4)], id="fence"),
        pytest.param("~~~~\n# no\n~~~\n# no\n~~~~~\n# A\n", [("A", 6, 6)], id="a longer fence closes"),
        pytest.param("```\n# no\n~~~\n# no\n```\n# A\n", [("A", 6, 6)], id="another fence does not close"),
        pytest.param("- ```sh\n  # no\n  ```\n\n# A\n", [("A", 5, 5)], id="fence in a list"),
        pytest.param("> ```\n> # no\n> ```\n# A\n", [("A", 4, 4)], id="fence in a quote"),
        pytest.param("```\n# never closed\n", [], id="open fence"),
        pytest.param("```a``` is code\n# A\n", [("A", 2, 2)], id="inline code is no fence"),
        pytest.param("<!--\n# no\n-->\n# A\n", [("A", 4, 4)], id="comment"),
        pytest.param("<!-- one line -->\n# A\n", [("A", 2, 2)], id="short comment"),
        pytest.param('<h1 align="center">A <em>b</em></h1>\n\n## C\n', [("A b", 1, 3), ("A b > C", 3, 3)], id="html"),
        pytest.param("---\nname: x\n---\n# A\n", [("A", 4, 4)], id="front matter"),
        pytest.param('---\ntitle: "A: b"\n---\n\n## C\n', [("A: b", 1, 5), ("A: b > C", 5, 5)], id="title in front"),
        pytest.param('+++\ntitle = "A"\n+++\ntext\n', [("A", 1, 4)], id="title in toml"),
        pytest.param("---\ntitle: T\n---\n# A\n", [("A", 4, 4)], id="a heading beats the title in front"),
        pytest.param("---\nno end\n# A\n", [("A", 3, 3)], id="a rule on top is no front matter"),
    ],
)
def test_markdown_sections(text: str, expected: list[Section]) -> None:
    assert sections(parsed("markdown", text)) == expected


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("# `a_b` and **c** _d_", "a_b and c d"),
        ("# snake_case_name", "snake_case_name"),
        ("# [link](x.md) [ref][1]", "link ref"),
        ("# [![badge](b.svg)](https://x.example) Title", "badge Title"),
        ("# Title {#anchor .class}", "Title"),
        ("# `List<int>` <br/>", "List<int>"),
        (r"# 1\. One \* two", "1. One * two"),
        ("# C#", "C#"),
        ("# v2.0.1 (2024)", "v2.0.1 (2024)"),
        ("#   folded \t  space  ", "folded space"),
        ("# " + "x" * 500, "x" * 200),
    ],
)
def test_markdown_names(heading: str, name: str) -> None:
    (symbol,) = parsed("markdown", heading + "\n").symbols
    assert (symbol.kind, symbol.name, symbol.signature) == ("section", name, name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](b.md) and [c](../d/e.py#L3)\n", [("b.md", 1, "", 1), ("../d/e.py", 1, "", 1)]),
        ("# A\n[x](b.md)\n## B\n[y](b.md) [z](b.md?raw)\n", [("b.md", 2, "A", 1), ("b.md", 4, "A > B", 2)]),
        ("[a](https://x.example/b.md) [b](#c) [d](mailto:e@f) [g](//h/i)\n", []),
        ("![image](a.png) [![image](b.png)](c.md)\n", [("c.md", 1, "", 1)]),
        ("`[a](b.md)` [c](<d.md>)\n", [("d.md", 1, "", 1)]),
        ("```\n[a](b.md)\n```\n", []),
        ("[a]: docs/b.md 'Title'\n[^1]: not/a/link\n", [("docs/b.md", 1, "", 1)]),
        ('<a class="x" href="docs/c.html">c</a>\n', [("docs/c.html", 1, "", 1)]),
        ("[a](with%20space.md)\n", [("with space.md", 1, "", 1)]),
        ("[a]({{ site.url }}/x) [b](.) [c]()\n", []),
    ],
)
def test_markdown_links(text: str, expected: list[tuple[str, int, str, int]]) -> None:
    document = parsed("markdown", text)
    assert links(document) == expected
    assert {item.kind for item in document.references} <= {"import"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("A\n=\n\nB\n---\nx\n\nC\n~~~\n", [("A", 1, 9), ("A > B", 4, 9), ("A > B > C", 8, 9)], id="by use"),
        pytest.param(
            "A\n===\n\nB\n---\n\nC\n===\n", [("A", 1, 6), ("A > B", 4, 6), ("C", 7, 8)], id="back to level one"
        ),
        pytest.param("===\n A\n===\n\nB\n===\n", [("A", 1, 6), ("A > B", 5, 6)], id="an overline is another style"),
        pytest.param(".. _x:\n\nA\n~~~\n", [("A", 3, 4)], id="label"),
        pytest.param("text\n\n----\n\ntext\n", [], id="transition"),
        pytest.param("A longer title\n---\n", [], id="short underline"),
        pytest.param("A longer title\n-----\n", [("A longer title", 1, 2)], id="underline of four or more"),
        pytest.param("one\ntwo\n---\n", [], id="second line of a paragraph"),
        pytest.param("text::\n\n    A\n    ===\n", [], id="literal block"),
        pytest.param("=== ===\na   b\n=== ===\n", [], id="table"),
        pytest.param("A\n===\nB\n---\n", [("A", 1, 4), ("A > B", 3, 4)], id="no blank line between"),
        pytest.param("x\n..\n", [], id="comment mark"),
        pytest.param("A\r\n===\r\n", [("A", 1, 2)], id="carriage returns"),
    ],
)
def test_rst_sections(text: str, expected: list[Section]) -> None:
    assert sections(parsed("rst", text)) == expected


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("``code`` and *c* **d**", "code and c d"),
        (":class:`Foo` :ref:`bar <baz>`", "Foo bar"),
        ("`Link <https://x.example>`_", "Link"),
    ],
)
def test_rst_names(title: str, name: str) -> None:
    (symbol,) = parsed("rst", f"{title}\n{'=' * len(title)}\n").symbols
    assert symbol.name == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".. include:: ../a.rst\n", ["../a.rst"]),
        (".. literalinclude:: /code/b.py\n   :lines: 1-3\n", ["/code/b.py"]),
        (".. automodule:: pkg.mod\n   :members:\n", ["pkg.mod"]),
        (
            ".. toctree::\n   :maxdepth: 2\n\n   user/install\n   Title <api>\n\ntext\n   indented\n",
            ["user/install", "api"],
        ),
        ("See :doc:`usage` and :doc:`the API <api/index>`.\n", ["usage", "api/index"]),
        ("`a <b.txt>`_ and `c <https://x.example>`__\n\n.. _d: e/f.rst\n", ["b.txt", "e/f.rst"]),
        ("plain ``code <x>`` and :ref:`label`\n", []),
    ],
)
def test_rst_links(text: str, expected: list[str]) -> None:
    assert [item.name for item in parsed("rst", text).references] == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        pytest.param(
            "markdown",
            "# A\n\nfirst\n\nsecond\n\n    code\n\n- x\n- y\n## B\nz\n",
            [(1, 0), (5, 10), (7, 11), (9, 10), (10, 12), (11, 1)],
            id="paragraphs, items and headings; the first paragraph stays with its heading",
        ),
        pytest.param("markdown", "a\n\n```\nx\n\ny\n```\nb\n", [(3, 10), (8, 10)], id="a fence is one paragraph"),
        pytest.param("rst", "A\n==\n\na\n\nb\n\n   c\n", [(1, 0), (6, 10), (8, 11)], id="rst"),
        pytest.param("toml", "x = 1\n\n# why\n[a]\nb = 1\n[[c]]\n", [(3, 0), (6, 0)], id="tables and their comments"),
        pytest.param("ini", "; why\n[a]\nb=1\n\n[c]\n", [(1, 0), (5, 0)], id="ini"),
        pytest.param(
            "yaml", "a: 1\n# why\nb:\n  c: 2\n  - d\n'e':\n", [(1, 0), (2, 0), (4, 2), (5, 2), (6, 0)], id="yaml keys"
        ),
        pytest.param("yaml", "- a: 1\n  b: 2\n- c\n", [(1, 0), (2, 2), (3, 0)], id="yaml list"),
        pytest.param(
            "json", '{\n  "a": {\n    "b": 1\n  },\n  "c": []\n}\n', [(1, 0), (2, 0), (3, 2), (5, 0)], id="json keys"
        ),
        pytest.param("html", "<html>\n<p>\n  <b>\n</p>\n", [(1, 0), (2, 0), (3, 2)], id="tags"),
        pytest.param("text", "a\nb\n\nc\n\n  d\n", [(1, 0), (4, 0), (6, 2)], id="paragraphs by indentation"),
        pytest.param("perl", "sub a {\n\n\tx;\n}\n\nsub b {}\n", [(1, 0), (3, 4), (6, 0)], id="code without grammar"),
    ],
)
def test_breaks(language: str, text: str, expected: list[tuple[int, int]]) -> None:
    assert breaks(parsed(language, text)) == expected


@pytest.mark.parametrize("language", ["markdown", "rst", "toml", "yaml", "json", "text", "unknown"])
@pytest.mark.parametrize("text", ["", "\n", "\r\n", " ", "\ufeff# A", "\x00"])
def test_nothing_to_find_is_no_problem(language: str, text: str) -> None:
    document = parsed(language, text)
    assert (document.parser, document.problems) == ("text/3", ())


@pytest.mark.parametrize("text", ["`" * 50_000 + "a`", "# a" + " " * 50_000 + "b", "[a" * 20_000, "# " + "*a" * 50_000])
def test_a_long_line_ends_in_a_short_name(text: str) -> None:
    assert all(len(symbol.name) <= 200 for symbol in parsed("markdown", text).symbols)


def test_data_has_no_symbols() -> None:
    for language in ("toml", "yaml", "json", "ini", "text"):
        assert parsed(language, "# A\n===\n[a]\nb: c\n").symbols == ()


PIECES = ["# A", "## B", "C", "===", "---", "```", "~~~", "- x", "", "  y", "[a](b.md)", "<!--", "-->", "..", "|", "\r"]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["markdown", "rst", "yaml", "json", "text"]),
    st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("\n".join)),
)
def test_any_text_gives_lines_that_exist(language: str, text: str) -> None:
    document = parsed(language, text)
    n_lines = text.count("\n") + (not text.endswith("\n") and text != "")
    for symbol in document.symbols:
        assert 1 <= symbol.start_line <= symbol.name_line <= symbol.end_line <= n_lines
        assert symbol.name
        assert symbol.qualified_name.endswith(symbol.name)
    starts = [(symbol.start_line, -symbol.end_line) for symbol in document.symbols]
    assert starts == sorted(starts)
    assert all(1 <= item.line <= n_lines and item.depth >= 0 for item in document.breaks)
    assert all(1 <= item.line <= n_lines and item.count >= 1 for item in document.references)
    assert len({item.line for item in document.breaks}) == len(document.breaks)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 6), st.text("ab ", max_size=3)), max_size=12))
def test_a_section_ends_where_one_of_its_level_begins(headings: list[tuple[int, str]]) -> None:
    text = "".join(f"{'#' * level} t{tail}\n\n" for level, tail in headings)
    for index, symbol in enumerate(parsed("markdown", text).symbols):
        level = headings[index][0]
        later = [2 * place + 1 for place, (other, _) in enumerate(headings) if place > index and other <= level]
        assert symbol.end_line == (later[0] - 1 if later else 2 * len(headings))
