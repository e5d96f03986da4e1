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
