"""All places of a use in a text, from the first one."""

from __future__ import annotations

import pytest

from codefathom.lsp.use_spots import UseSpots
from codefathom.types import Symbol

TEXT = """\
import { price } from "./price";
const early = price(1);
function first(a, b) {
  // price(2) in a comment
  return a.price() + b.price() + a.price() + make().price() + "price";
}
function second(price2) {
  function inner() { return 0 }
  use({ price: 1 }, price, x ? price : y);
  let other = pricey + price;
}
"""
SYMBOLS = [
    Symbol("function", "first", "first", 3, 6, 3),
    Symbol("function", "second", "second", 7, 11, 7),
    Symbol("function", "inner", "second.inner", 8, 8, 8),
]
LINES = TEXT.split("\n")


def spots(line: int, container: str, **options: bool) -> list[str]:
    found = UseSpots(TEXT, "typescript", SYMBOLS).of_use("price", line, container, **options)
    assert all(LINES[spot.line - 1].startswith("price", spot.column) for spot in found)
    return [f"{spot.line}:{spot.column + 1}" for spot in found]


@pytest.mark.parametrize(
    ("line", "container", "expected"),
    [
        (2, "", ["1:10", "2:15"]),
        (5, "first", ["5:12", "5:24", "5:36", "5:53"]),
        (9, "second", ["9:21", "9:32", "10:24"]),
        (3, "first", []),
        (99, "none", []),
    ],
)
def test_uses_like_the_first_one(line: int, container: str, expected: list[str]) -> None:
    assert spots(line, container) == expected


def test_imports_of_a_sure_name_are_uses() -> None:
    assert spots(9, "second", also_top=True) == ["9:21", "9:32", "10:24", "1:10", "2:15"]
    assert spots(5, "first", also_top=True) == spots(5, "first")


def test_a_symbol_holds_what_lies_in_it() -> None:
    found = UseSpots(TEXT, "typescript", SYMBOLS).inside("price", "second")
    assert [spot.line for spot in found] == [9, 9, 10]


def test_members_of_other_values_are_other_uses() -> None:
    text = "def f(a, b):\n    a.run()\n    b.run()\n    a.\\\n        run()\n    run = 3\n"
    found = UseSpots(text, "python", [Symbol("function", "f", "f", 1, 6, 1)])
    assert [spot.line for spot in found.of_use("run", 2, "f")] == [2]
    assert [spot.line for spot in found.of_use("run", 3, "f")] == [3]


def test_the_type_of_a_value_that_is_set_is_a_use() -> None:
    text = "function f() {\n  const a: Price = make();\n  const b: Price | null = a;\n  Price = 3;\n}\n"
    found = UseSpots(text, "typescript", [Symbol("function", "f", "f", 1, 5, 1)])
    assert [spot.line for spot in found.of_use("Price", 2, "f")] == [2, 3]


def test_an_import_over_several_lines_has_each_of_its_names() -> None:
    text = "from a import (\n    one,\n    two,\n)\n\n\ndef f():\n    two = 1\n    return two\n"
    found = UseSpots(text, "python", [Symbol("function", "f", "f", 7, 9, 7)])
    assert [(spot.line, spot.column) for spot in found.in_imports("two", 1, "")] == [(3, 4)]


def test_the_new_name_of_an_import_is_no_use() -> None:
    found = UseSpots("from a import two as two\nfrom b import (\n    one as two,\n)\n", "python", [])
    assert [(spot.line, spot.column) for spot in found.in_imports("two", 1, "")] == [(1, 14)]


def test_what_another_import_gives_a_new_name_is_no_use() -> None:
    text = "from b import Fault as _Fault\nfrom a import (\n    Fault,\n)\ntry:\n    f()\nexcept Fault as error: f()\n"
    found = UseSpots(text, "python", []).in_imports("Fault", 2, "")
    assert [(spot.line, spot.column) for spot in found] == [(3, 4), (7, 7)]
    text = "from b import Fault as _Fault\nfrom a import Fault\n\ndef f():\n    raise Fault\n"
    found = UseSpots(text, "python", [Symbol("function", "f", "f", 4, 5, 4)])
    assert [spot.line for spot in found.of_use("Fault", 5, "f", also_top=True)] == [5, 2]
    text = "import { fail as b } from './b'\nimport { fail } from './a'\nfail()\n"
    found = UseSpots(text, "typescript", []).in_imports("fail", 2, "")
    assert [(spot.line, spot.column) for spot in found] == [(2, 9), (3, 0)]


def test_the_type_that_a_function_returns_is_used_without_a_word_before_it() -> None:
    text = "def f(a) -> Limit:\n    b: dict[str, Limit] = {}\n    return Limit(b)\n"
    found = UseSpots(text, "python", [Symbol("function", "f", "f", 1, 3, 1)]).of_use("Limit", 1, "f")
    assert [(spot.line, spot.column) for spot in found] == [(1, 12), (2, 17), (3, 11)]
    text = "int f(T *a) {\n  a->next->run();\n  run();\n  a->next->run();\n}\n"
    found = UseSpots(text, "c", [Symbol("function", "f", "f", 1, 5, 1)]).of_use("run", 2, "f")
    assert [spot.line for spot in found] == [2, 4]


def test_an_import_that_gives_a_name_another_one() -> None:
    text = "if x:\n    from a import (\n        Limit as ALimit,\n        Limited as ALimit,\n    )\n    Limit as B\n"
    found = UseSpots(text, "python", []).renamed("Limit", "ALimit")
    assert [(spot.line, spot.column) for spot in found] == [(3, 8)]


FACTORIAL = """\
def factorial(n):
    # factorial(n) in a comment
    return n * factorial(n - 1) + n.factorial()
class Node:
    other: list[Node]
    def last(self):
        return self.next.last() or self.last() or last()
def price(price):
    return price
"""


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        (Symbol("function", "factorial", "factorial", 1, 3, 1, "def factorial(n)"), ["3:15"]),
        (Symbol("class", "Node", "Node", 4, 7, 4, "class Node"), ["5:16"]),
        (Symbol("method", "last", "Node.last", 6, 7, 6, "def last(self)"), ["7:40"]),
        (Symbol("function", "price", "price", 8, 9, 8, "def price(price)"), []),
    ],
)
def test_what_uses_itself(symbol: Symbol, expected: list[str]) -> None:
    symbols = [
        Symbol("function", "factorial", "factorial", 1, 3, 1),
        Symbol("class", "Node", "Node", 4, 7, 4),
        Symbol("method", "last", "Node.last", 6, 7, 6),
        Symbol("function", "price", "price", 8, 9, 8),
    ]
    found = UseSpots(FACTORIAL, "python", symbols).in_itself(symbol)
    assert [f"{spot.line}:{spot.column}" for spot in found] == expected


def test_code_in_a_text_is_a_use_and_so_is_the_import_above_it() -> None:
    text = (
        "import { kind } from './kind'\nfunction f(a) {\n  log(`no: '${kind(\n    a)}', kind`)\n"
        "  log(`${kind(a)} ${a.kind}`)\n}\n"
    )
    found = UseSpots(text, "typescript", [Symbol("function", "f", "f", 2, 6, 2)]).of_use("kind", 3, "f", also_top=True)
    assert [(spot.line, spot.column) for spot in found] == [(3, 14), (5, 9), (1, 9)]


def test_an_imported_name_is_used_in_all_symbols_without_such_a_parameter() -> None:
    text = (
        "import { ADD } from './a'\nfunction f(a) {\n  switch (a) { case ADD: return a.ADD }\n}\n"
        "function g(ADD) { return ADD }\ninterface M<A extends ADD = ADD> {}\n"
    )
    symbols = [
        Symbol("function", "f", "f", 2, 4, 2, "function f(a)"),
        Symbol("function", "g", "g", 5, 5, 5, "function g(ADD)"),
    ]
    found = UseSpots(text, "typescript", symbols).in_imports("ADD", 1, "")
    assert [(spot.line, spot.column) for spot in found] == [(1, 9), (3, 20), (6, 22), (6, 28)]
