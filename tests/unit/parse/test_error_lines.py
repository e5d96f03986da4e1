"""A syntax error is said at its line, whatever stands before it in the file."""

from __future__ import annotations

import pytest

from codefathom.facts.parse_problems import is_complete
from codefathom.parse import parse
from codefathom.types import Document, ParsedDocument

CASES = [
    (
        "python",
        6,
        "def f():\n    return 1\n\n\nclass A:\n    def g(self)\n        return 2\n\ndef h():\n    return 3\n",
    ),
    ("python", 3, "a = 1\nb = 2\nfor x in y\n    pass\n"),
    ("python", 4, "import os\n\n\nx = [1, 2\n\n\ndef f():\n    return 1\n"),
    ("python", 4, "# first\n'''Doc.'''\n\nx = [1, 2\n\n\ndef f():\n    return 1\n"),
    ("python", 3, "x = 1\n\ny = = 2\n"),
    ("python", 1, "x = = 1\n"),
    ("javascript", 5, "function a() { return 1 }\n\nclass B {\n  m() { return 1 }\n  n( { return 2 }\n}\nf();\n"),
    ("typescript", 7, "const a = 1;\n\nfunction f() {\n  return 1;\n\n\nfunction g() { return 2; }\n"),
    ("java", 5, "package x;\n\nclass A {\n  int f() { return 1; }\n  int g() { return 1 + ; }\n  int h() { }\n}\n"),
    ("c", 9, "int a;\n\nint f(void) {\n  if (x) {\n    y();\n  \n}\n\nint g(void) { return 1; }\n"),
    ("go", 4, "package a\n\nfunc f() int {\n\tx := [}\n\treturn 1\n}\n"),
    ("rust", 5, "fn a() {}\n\nstruct B { x: i32 }\n\nfn c( { }\n\nfn d() {}\n"),
    ("ruby", 4, "def a\n  1\nend\ndef b(\n  2\nend\n"),
    ("php", 5, "<?php\nfunction a() { return 1; }\n\n\nfunction b( { return 2; }\n"),
    ("vue", 6, "<template><p/></template>\n\n<script>\nfunction a() { return 1 }\n\nlet b = ;\n</script>\n"),
]


def errors(parsed: ParsedDocument) -> list[str]:
    return [str(problem) for problem in parsed.problems if not is_complete([problem])]


@pytest.mark.parametrize(("language", "line", "text"), CASES)
def test_an_error_is_said_at_its_line(language: str, line: int, text: str) -> None:
    parsed = parse(Document("src/a", language, text, "1:0", len(text)))
    assert errors(parsed) == [f"syntax error at line {line}"]


@pytest.mark.parametrize("n_before", [0, 1, 40])
def test_sound_code_before_an_error_moves_its_line(n_before: int) -> None:
    before = "".join(f"def f{number}():\n    return {number}\n\n" for number in range(n_before))
    text = f"{before}class A:\n    def g(self)\n        return 2\n"
    parsed = parse(Document("src/a.py", "python", text, "1:0", len(text)))
    assert errors(parsed) == [f"syntax error at line {3 * n_before + 2}"]
