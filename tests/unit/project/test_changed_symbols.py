"""Which symbols differ between two versions of a file."""

from __future__ import annotations

import pytest

from codefathom.facts.languages import language_of
from codefathom.parse import parse
from codefathom.project.impact.changed_symbols import changed_lines, changed_symbols
from codefathom.types import Document, ParsedDocument

BEFORE = '''\
import os

LIMIT = 3


class Cart:
    """A usual cart."""

    def total(self):
        return sum(self.items)

    def empty(self):
        return not self.items


def pay(cart):
    return cart.total()
'''


def version(text: str | None, path: str = "cart.py") -> ParsedDocument | None:
    return None if text is None else parse(Document(path, language_of(path), text, "", len(text)))


def differences(before: str | None, after: str | None) -> list[tuple[str, str, int]]:
    changes = changed_symbols(version(before), version(after))
    assert {change.path for change in changes} <= {"cart.py"}
    return [(change.change, change.symbol, change.line) for change in changes]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("sum(self.items)", "sum(self.items) * 2", [("changed", "Cart.total", 9)]),
        ("A usual", "A full", [("changed", "Cart", 6)]),  # a line that is in none of its methods
        ("LIMIT = 3", "LIMIT = 4", [("changed", "LIMIT", 3)]),
        ("cart.total()", "cart.total() + 1", [("changed", "pay", 16)]),
        ("def pay(cart):\n    return cart.total()\n", "", [("removed", "pay", 16)]),
        ("def pay(", "def settle(", [("removed", "pay", 16), ("added", "settle", 16)]),
        ("def empty(self):\n        return not self.items\n", "", [("removed", "Cart.empty", 12)]),
        # what changes nothing by itself: imports, blank lines, space at the end of a line, lines that move
        ("import os\n", "import os\nfrom sys import path\n", []),
        ("import os\n", "\n\n\nimport os\n\n", []),
        ("return cart.total()", "return cart.total()  ", []),
        ("\n\nclass", "\n\n)\nclass", []),  # what is left of an import in brackets
        # a line outside of all symbols is one of the file
        ("import os\n", "import os\nprint('loaded')\n", [("changed", "", 1)]),
    ],
)
def test_a_change_is_one_of_the_innermost_symbol(old: str, new: str, expected: list[tuple[str, str, int]]) -> None:
    assert differences(BEFORE, BEFORE.replace(old, new, 1) if old else BEFORE) == expected


def test_a_new_file_and_one_that_is_gone() -> None:
    names = ["LIMIT", "Cart", "Cart.total", "Cart.empty", "pay"]
    assert [item[:2] for item in differences(None, BEFORE)] == [("added", name) for name in names]
    assert [item[:2] for item in differences(BEFORE, None)] == [("removed", name) for name in names]
    assert differences(None, "print(1)\n") == [("added", "", 1)]
    assert differences("print(1)\n", None) == [("removed", "", 1)]
    assert differences(None, "import os\n") == []
    assert differences(None, None) == []


def test_a_file_that_has_moved_has_its_new_path_and_the_kinds_of_its_symbols() -> None:
    changes = changed_symbols(version(BEFORE, "old.py"), version(BEFORE.replace("sum", "max"), "new.py"))
    assert [(change.path, change.symbol, change.kind) for change in changes] == [("new.py", "Cart.total", "method")]
    gone = changed_symbols(version(BEFORE, "old.py"), None)
    assert {change.path for change in gone} == {"old.py"}
    assert {change.symbol: change.kind for change in gone} == {
        "LIMIT": "constant",
        "Cart": "class",
        "Cart.total": "method",
        "Cart.empty": "method",
        "pay": "function",
    }
    assert changed_symbols(None, version("print(1)\n"))[0].kind == "file"


def test_symbols_of_one_name_are_compared_together() -> None:
    twice = "def f(x):\n    return 1\n\n\ndef f(x, y):\n    return 2\n"
    assert differences(twice, twice.replace("return 2", "return 3")) == [("changed", "f", 1)]
    assert differences(twice, twice) == []


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb", "a\nb", []),
        ("a\nb", "b\na", []),
        ("a\nb", "a\nc", ["b", "c"]),
        ("a\na", "a", ["a"]),
        ("a", "a\na\na", ["a", "a"]),
        ("", "a", ["", "a"]),
    ],
)
def test_the_lines_of_one_side_only(before: str, after: str, lines: list[str]) -> None:
    assert sorted(changed_lines(before, after)) == sorted(lines)
