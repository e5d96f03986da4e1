"""What a use of a name means, in small projects of several languages that are parsed as they stand here."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom.facts.languages import CODE, language_of
from codefathom.index.chunk import chunk
from codefathom.parse.treesitter import parse
from codefathom.search.graph.related import related
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, DocumentRecord
from codefathom.types import Document, ParsedDocument, RelatedResult

PYTHON = {
    "requirements.txt": "fastapi>=0.100\n",
    "shop/__init__.py": "from .money import Money as Coin\nfrom .money import parse\n",
    "shop/money.py": "class Money:\n    def add(self): self.check()\n    def check(self): pass\n\ndef parse(): pass\n",
    "shop/web.py": "from fastapi import Query\ndef route(q: Query): Query(1); parse(); x.parse()\n",
    "shop/query.py": "class Query:\n    def where(self): pass\n\ndef where(): pass\n",
    "shop/plan.py": "from shop.query import Query, where\ndef plan(q: Query): where(); q.where()\n",
    "shop/local.py": "def run(where): where()\n",
    "shop/alias.py": "import shop.money as m\nfrom shop import Coin\ndef go(): m.parse(); Coin(); json.parse()\n",
    "shop/through.py": "from shop import parse\nimport json\ndef go(): parse(); json.parse()\n",
    "shop/star.py": "from shop.money import *\ndef go(): Money()\n",
    "shop/deep.py": "import shop.money\ndef go(): shop.money.parse(); make().add()\n",
    "shop/other.py": "def parse(): pass\n",
    "shop/module.py": "from shop import query\ndef go(): query.where()\n",
}
SCRIPTS = {
    "package.json": '{"dependencies": {"zod": "^3.0.0"}}',
    "src/util.ts": "export function parse() {}\nexport class Pool { take() {} }\nexport default function main() {}\n",
    "src/index.ts": "export * from './util'\nexport { parse as read } from './util'\n",
    "src/a.ts": "import { parse as split, Pool } from './util'\nfunction a() { split(); new Pool(); Pool.take() }\n",
    "src/b.ts": "import { parse } from 'zod'\nfunction b() { parse() }\n",
    "src/c.ts": "import { read, Pool } from '.'\nfunction c() { read(); new Pool() }\n",
    "src/d.ts": "import * as util from './util'\nfunction d() { util.parse(); JSON.parse() }\n",
    "src/e.js": "const { parse } = require('./util'); const u = require('./util')\nfunction e() { u.parse() }\n",
    "src/f.ts": "function f() { parse() }\n",
}
GO = {
    "go.mod": "module example.org/shop\n",
    "money/money.go": "package money\nfunc Parse() {}\ntype Coin struct{}\nfunc (c Coin) Add() {}\n",
    "money/more.go": "package money\nfunc again() { Parse() }\n",
    "cmd/main.go": (
        'package main\nimport (\n\t"example.org/shop/money"\n\t"net/url"\n)\n'
        "func run() { money.Parse(); url.Parse() }\n"
    ),
    "cmd/named.go": 'package main\nimport m "example.org/shop/money"\nfunc named() { m.Parse(); c.Add() }\n',
}
JAVA = {
    "src/main/java/a/Coin.java": (
        "package a;\npublic class Coin {\n  public void add() {}\n  static Coin of() { return new Coin(); }\n}\n"
    ),
    "src/test/java/a/CoinTest.java": ("package a;\nclass CoinTest { void run() { Coin.of().add(); new Coin(); } }\n"),
    "src/main/java/b/Far.java": "package b;\nimport org.other.Coin;\nclass Far { void go() { new Coin(); } }\n",
    "src/main/java/b/Near.java": "package b;\nimport a.Coin;\nclass Near { void go() { Coin.of(); List.of(); } }\n",
}
RUST = {
    "src/lib.rs": "mod coin;\nuse coin::Coin;\nfn go() { Coin::new(); String::new(); coin::parse(); }\n",
    "src/coin.rs": "pub struct Coin;\nimpl Coin { pub fn new() -> Self { Coin } }\npub fn parse() {}\n",
}
PHP = {
    "src/Coin.php": (
        "<?php\nnamespace Shop;\nclass Coin {\n  public static function make() {}\n"
        "  function add() { $this->check(); }\n  function check() {}\n}\n"
    ),
    "src/Use.php": (
        "<?php\nnamespace Other;\nuse Shop\\Coin as Money;\n"
        "function go() { Money::make(); DateTime::make(); new Money(); }\n"
    ),
}
# Beside uses of what is imported or defined here, local values of the same name.
HIDING = {
    "shop/query.py": "class Query: pass\n\ndef where(): pass\n\ndef make() -> Query: pass\n",
    "shop/imports.py": "from shop.query import Query, where\nfrom shop import query\n",
    "shop/param.py": "from shop.query import where\ndef run(where): where()\n",
    "shop/later.py": "from shop import query\ndef run():\n    query = go()\n    query.where()\n",
    "shop/real.py": "from shop import query\ndef run():\n    query.where()\n",
    "src/map.rs": "pub fn insert() {}\n",
    "src/lib.rs": "mod map;\nfn local(map: Tree) { map.insert(); }\n",
    "src/other.rs": "fn real() { map::insert(); }\n",
    "web/util.ts": "export function parse() {}\n",
    "web/local.ts": "import { parse } from './util'\nconst each = rows.map(parse => parse())\n",
    "web/real.ts": "import { parse } from './util'\nconst each = rows.map(row => parse(row))\n",
    "cmd/a.go": "package cmd\nfunc debug() {}\nfunc local(debug func()) { debug() }\n",
    "cmd/b.go": "package cmd\nfunc real() { debug() }\n",
}
# What cannot be meant: a function inside of a test as a member, a method by its plain name, a method of a number.
STRANGE = {
    "tests/test_web.py": "def test_web():\n    def app(scope): pass\n    run(app)\n",
    "shop/web.py": "class Layer:\n    def call(self): self.app(1)\n\nclass Inner:\n    def app(self): pass\n",
    "src/client.rs": "pub struct Client;\nimpl Client { pub fn get(&self) {} }\npub trait Make { fn arbitrary(); }\n",
    "src/lib.rs": "use crate::client::*;\nfn go(a: Client) { get(1); u8::arbitrary(); a.get(); }\n",
}


def edges(folder: Path, files: dict[str, str], target: str) -> RelatedResult:
    catalog = Catalog.open(str(folder / "catalog.db"))
    catalog.write(Batch(records=tuple(_record(path, text) for path, text in files.items())))
    try:
        return related(catalog, target)
    finally:
        catalog.close()


def _record(path: str, text: str) -> DocumentRecord:
    document = Document(path, language_of(path), text, f"1:{path}", len(text))
    parsed = parse(document)
    assert parsed is not None or document.language not in CODE
    parsed = parsed or ParsedDocument(document, (), (), (), "test/1")
    chunks = chunk(parsed)
    return DocumentRecord(parsed, chunks, tuple(map(str, range(len(chunks)))), 0, "t/1", "t/1", {}, "none")


def users(result: RelatedResult) -> dict[str, tuple[str, int]]:
    """Return the files that use a symbol, with the best certainty of each."""
    kinds = ("called by", "references")
    found = [(item.path.rpartition("/")[2], item) for item in result.edges if item.kind in kinds]
    found.sort(key=lambda pair: pair[1].certainty != "exact", reverse=True)
    return {name: (item.certainty, item.n_definitions) for name, item in found}


EXACT, ALONE = ("exact", 1), ("by-name", 1)


@pytest.mark.parametrize(
    ("files", "target", "expected"),
    [
        (PYTHON, "@@Query", {"plan.py": EXACT}),  # not that of a framework
        (PYTHON, "shop/query.py", {"plan.py": EXACT, "module.py": EXACT}),  # not a parameter called `where`
        (PYTHON, "@@Query.where", {"plan.py": ALONE}),
        (PYTHON, "@@Money", {"alias.py": EXACT, "star.py": EXACT}),  # under another name, and by `*`
        (PYTHON, "@@Money.check", {"money.py": EXACT}),  # self.check()
        (PYTHON, "@@Money.add", {"deep.py": ALONE}),  # make().add()
        (PYTHON, "shop/money.py", {"alias.py": EXACT, "star.py": EXACT, "through.py": EXACT, "deep.py": EXACT}),
        (PYTHON, "shop/other.py", {}),
        (SCRIPTS, "@@parse", {"a.ts": EXACT, "c.ts": EXACT, "d.ts": EXACT, "e.js": EXACT}),
        (SCRIPTS, "@@Pool", {"a.ts": EXACT, "c.ts": EXACT}),
        (SCRIPTS, "@@Pool.take", {"a.ts": EXACT}),
        (GO, "@@Parse", {"more.go": EXACT, "main.go": EXACT, "named.go": EXACT}),
        (GO, "@@Coin.Add", {"named.go": ALONE}),
        (JAVA, "@@Coin", {"Coin.java": EXACT, "CoinTest.java": EXACT, "Near.java": EXACT}),
        (JAVA, "@@Coin.of", {"CoinTest.java": EXACT, "Near.java": EXACT}),
        (JAVA, "@@Coin.add", {"CoinTest.java": ALONE}),
        (RUST, "@@Coin.new", {"lib.rs": EXACT}),
        (RUST, "@@parse", {"lib.rs": EXACT}),
        (PHP, "@@Coin.make", {"Use.php": EXACT}),
        (PHP, "@@Coin.check", {"Coin.php": EXACT}),
        (HIDING, "@@where", {"real.py": EXACT}),
        (HIDING, "@@Query", {"query.py": EXACT}),  # the type of a result
        (HIDING, "@@insert", {"other.rs": EXACT}),
        (HIDING, "@@parse", {"real.ts": EXACT}),
        (HIDING, "@@debug", {"b.go": EXACT}),
        (STRANGE, "@@test_web.app", {"test_web.py": EXACT}),  # as a value
        (STRANGE, "@@Inner.app", {"web.py": ALONE}),
        (STRANGE, "@@Client.get", {"lib.rs": ALONE}),
        (STRANGE, "@@Make.arbitrary", {}),
    ],
)
def test_who_uses_what(
    tmp_path: Path, files: dict[str, str], target: str, expected: dict[str, tuple[str, int]]
) -> None:
    assert users(edges(tmp_path, files, target)) == expected


def test_each_use_of_an_imported_name_counts_once(tmp_path: Path) -> None:
    files = {"a.ts": SCRIPTS["src/util.ts"], "b.ts": "import { parse } from './a'\nparse(); parse();\n"}
    result = edges(tmp_path, files, "@@parse")
    assert [(item.path, item.line) for item in result.edges] == [("b.ts", 2)]


@pytest.mark.parametrize(
    ("target", "parts", "absent"),
    [
        ("@@Query", ["1 of 1 edges are exact", "lower bound", "nor any in kotlin"], "by the name alone"),
        ("@@Query.where", ["1 by the name alone (one definition here has that name", "lower bound"], "exact"),
        ("shop/odd.kt", ["nothing was found", "lower bound", "strings or reflection"], " 0 "),
    ],
)
def test_an_answer_says_how_complete_it_is(tmp_path: Path, target: str, parts: list[str], absent: str) -> None:
    said = edges(tmp_path, PYTHON | {"shop/odd.kt": "// nothing\n"}, target).completeness
    assert all(part in said for part in parts), said
    assert absent not in said


# One of several imports of a name that leads out of the project tells what the others are, as they stand for it.
INSTEAD = {
    "shop/faults.py": "class DecodeError: pass\n\ndef loads(): pass\n",
    "shop/compat.py": (
        "try:\n    import fastjson as json\n    from fastjson import DecodeError\n"
        "except ImportError:\n    import json\n    from json import DecodeError\n"
    ),
    "shop/direct.py": "from shop.compat import DecodeError, json\ndef go(): raise DecodeError(json.loads())\n",
    "shop/own.py": "from shop.faults import DecodeError\ndef go(): raise DecodeError()\n",
    "shop/lost.py": "from fastjson import DecodeError\ndef go(): raise DecodeError()\n",
}


def test_a_name_that_one_import_has_from_outside_is_not_ours(tmp_path: Path) -> None:
    assert users(edges(tmp_path, INSTEAD, "@@DecodeError")) == {"own.py": EXACT, "lost.py": ALONE}
    assert users(edges(tmp_path, INSTEAD, "@@loads")) == {}


# ---- another name behind a module that passes the definition on under it

PASSED_ON = {
    "size.ts": "export function sizeOf() {}\n",
    "index.ts": "export { sizeOf as measure } from './size'\n",
    "whole.ts": "import * as all from './index'\nconst n = all.measure(3)\n",
    "late.ts": "async function late() { const m = await import('./index'); return m.measure(1) }\n",
    "deep.ts": "export * as sizes from './index'\n",
    "other.ts": "export function measure() {}\n",
    "own.ts": "import * as all from './other'\nconst n = all.measure(3)\n",
    "nest/__init__.py": "from .core import Egg as Shell\n",
    "nest/core.py": "class Egg: pass\n",
    "nest/other.py": "class Shell: pass\n",
    "use.py": "import nest\ndef use(): return nest.Shell()\n",
    "own.py": "import nest.other\ndef own(): return nest.other.Shell()\n",
}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("@@sizeOf", {"whole.ts": EXACT, "late.ts": EXACT}),
        ("other.ts", {"own.ts": EXACT}),
        ("@@Egg", {"use.py": EXACT}),
        ("nest/other.py", {"own.py": EXACT}),
    ],
)
def test_another_name_behind_a_module(tmp_path: Path, target: str, expected: dict[str, tuple[str, int]]) -> None:
    assert users(edges(tmp_path, PASSED_ON, target)) == expected


# ---- importers of a name behind others

BARRELS = {
    "f.ts": "export function plume() {}\nexport function quill() {}\n",
    "one.ts": "export { plume } from './f'\n",
    "two.ts": "export { plume as feather } from './one'\n",
    "all.ts": "export * from './f'\n",
    "all2.ts": "export * from './all'\n",
    "star2.ts": "export { quill } from './all2'\n",
    "only.ts": "import { feather } from './two'\n",
    "other.ts": "export function plum() {}\n",
    "noth.ts": "export * from './other'\nexport * from 'left-pad'\n",
}
WHOLE = {
    "nest/__init__.py": "from .core import *\n",
    "nest/core.py": "class Egg:\n    SIZE = 3\n    def hatch(self): pass\ndef _warm(): pass\n",
    "nest/all.py": "from nest import *\n",
    "u.py": "from nest import *\nEgg()\n",
    "v.py": "from nest.all import *\nfrom os import *\n",
    "w.py": "import nest\n",
}


@pytest.mark.parametrize(
    ("files", "target", "importers"),
    [
        (BARRELS, "@@plume", ["all.ts", "all2.ts", "one.ts", "only.ts", "two.ts"]),
        (BARRELS, "@@quill", ["all.ts", "all2.ts", "star2.ts"]),
        (BARRELS, "@@plum", ["noth.ts"]),
        (WHOLE, "@@Egg", ["nest/__init__.py", "nest/all.py", "v.py"]),
        (WHOLE, "@@_warm", []),
        (WHOLE, "@@Egg.hatch", []),
        (WHOLE, "@@SIZE", []),
    ],
)
def test_files_that_pass_a_name_on_are_importers(
    tmp_path: Path, files: dict[str, str], target: str, importers: list[str]
) -> None:
    result = edges(tmp_path, files, target)
    imported = [item for item in result.edges if item.kind == "imported by"]
    assert [item.path for item in imported] == importers
    assert {item.certainty for item in imported} <= {"exact"}
    assert result.notes == ()
