"""What stands before a used name, and which names an import gives to its file."""

from __future__ import annotations

import pytest

from codefathom.parse.treesitter import parse
from codefathom.types import Document, Reference


def references(language: str, text: str) -> tuple[Reference, ...]:
    parsed = parse(Document("a", language, text, "1:a", len(text)))
    assert parsed is not None
    return parsed.references


@pytest.mark.parametrize(
    ("language", "text", "name", "expected"),
    [
        ("python", "load()", "load", ""),
        ("python", "self.store.load()", "load", "self.store"),
        ("python", "os.path.join(a)", "join", "os.path"),
        ("python", "make().load()", "load", "?"),
        ("python", "rows[0].load()", "load", "?"),
        ("python", "make().part.load()", "load", "?"),
        ("python", "(rows\n  .load())", "load", "rows"),
        ("python", "def f(q: models.Query): pass", "Query", "models"),
        ("python", "def f(q) -> Query: pass", "Query", ""),
        ("rust", "fn f(q: Q) -> Query { q }", "Query", ""),
        ("java", "class A { void f() { g(row -> load(row)); } }", "load", ""),
        ("php", "<?php $a\n  ->load();", "load", "$a"),
        ("typescript", "run(...spread())", "spread", ""),
        ("typescript", "a?.b!.load()", "load", "a.b"),
        ("typescript", "new models.Pool()", "Pool", "models"),
        ("typescript", "this.load()", "load", "this"),
        ("rust", "fn f() { Coin::new(); }", "new", "Coin"),
        ("rust", "fn f() { for i in 0..limit() {} }", "limit", ""),
        ("php", "<?php $this->load();", "load", "$this"),
        ("php", "<?php Coin::make();", "make", "Coin"),
        ("ruby", "user&.fetch(1)", "fetch", "user"),
        ("cpp", "void f() { std::move(a); p->load(); }", "move", "std"),
        ("cpp", "void f() { std::move(a); p->load(); }", "load", "p"),
        ("go", "package a\nfunc f() { url.Parse() }", "Parse", "url"),
        ("java", "class A { void f() { this.load(); } }", "load", "this"),
        ("elixir", "defmodule A do\n  def f, do: Shop.Money.parse(1)\nend", "parse", "Shop.Money"),
        ("python", "for row in rows:\n    # All of the value.\n    load(row)", "load", ""),
        ("python", "rows\n# First.\n# Last.\nload()", "load", ""),
        ("typescript", "function f() {\n  // Read it.\n  load()\n}", "load", ""),
        ("typescript", "rows.\n  load()", "load", "rows"),
        ("go", "package a\nfunc f() {\n\t// Read a::\n\tload()\n}", "load", ""),
        ("ruby", "def f\n  # Read it.\n  fetch(1)\nend", "fetch", ""),
        ("rust", "fn f() {\n    // Read it.\n    load();\n}", "load", ""),
        ("java", "class A { void f() {\n// Read it.\nload(); } }", "load", ""),
    ],
)
def test_what_a_used_name_belongs_to(language: str, text: str, name: str, expected: str) -> None:
    uses = [item.qualifier for item in references(language, text) if item.kind != "import" and item.name == name]
    assert uses == [expected]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "import os", {"os": ""}),
        ("python", "import os.path", {"os.path": "os.path"}),
        ("python", "import os.path as p", {"os.path": "p"}),
        ("python", "from a import b, c as d", {"a.b": "", "a.c": "d"}),
        ("python", "from a import *", {"a": "*"}),
        ("typescript", "import D, { a as b, type c } from './x'", {"./x": "a as b, c, default as D"}),
        ("typescript", "import * as ns from './x'", {"./x": "* as ns"}),
        ("typescript", "import type { T } from './x'", {"./x": "T"}),
        ("typescript", "import type from './x'", {"./x": "default as type"}),
        ("typescript", "import './x'", {"./x": ""}),
        ("typescript", "export * from './x'", {"./x": "*"}),
        ("typescript", "export { d as e } from './x'", {"./x": "d as e"}),
        ("javascript", "const { f: g, h = 1 } = require('./x')", {"./x": "f as g, h"}),
        ("javascript", "const x = await import('./x')", {"./x": "* as x"}),
        ("go", 'package a\nimport m "x/y"', {"x/y": "m"}),
        ("php", "<?php use A\\B as C;", {"A\\B": "C"}),
        ("csharp", "using X = A.B;", {"A.B": "X"}),
    ],
)
def test_the_names_that_an_import_gives(language: str, text: str, expected: dict[str, str]) -> None:
    assert {item.name: item.qualifier for item in references(language, text) if item.kind == "import"} == expected


def test_uses_of_different_things_are_kept_apart() -> None:
    found = references("python", "def f():\n    aa.load()\n    bb.load()\n    aa.load()\n")
    assert [(item.qualifier, item.line, item.count) for item in found] == [("aa", 2, 2), ("bb", 3, 1)]


@pytest.mark.parametrize(
    "use",
    [
        *("a: dict[str, Limit]", "a: t.Callable[[int], Limit]", 'a: "Limit"', "rows[Limit]", "rows[1:Limit]"),
        *(
            "if Limit:\n    pass",
            "if a:\n    pass\nelif Limit:\n    pass",
            "while Limit:\n    pass",
            "a = 1 if Limit else 2",
        ),
        *("a = b or Limit", "a = not Limit", "a = -Limit", "a = (Limit)", "a += Limit", "f(a := Limit)"),
        *(
            "for a in Limit:\n    pass",
            "a = [b for b in Limit]",
            "a = [1 for b in c if Limit]",
            "a = [Limit for b in c]",
        ),
        *("f(*Limit)", "f(**Limit)", "a = {Limit}", 'a = f"{Limit}"', "with Limit:\n    pass", "raise Limit"),
        *("assert Limit", "a = lambda: Limit", "match Limit:\n    case 1:\n        pass"),
        *("async def f():\n    await Limit", "def f():\n    yield Limit"),
    ],
)
def test_a_name_of_python_is_used_wherever_it_stands(use: str) -> None:
    assert "Limit" in {
        item.name for item in references("python", f"from limits import Limit\n{use}\n") if item.line > 1
    }
