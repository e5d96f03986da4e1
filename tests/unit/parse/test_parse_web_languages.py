"""Definitions, imports and calls of Python, JavaScript, TypeScript, and the pages made of them."""

from __future__ import annotations

import pytest
from tests.unit.parse.outlines import lines, names, outline, parsed

DEFINITIONS = {
    "python": (
        '''
        """Shop."""
        import os, json as j
        import a.b
        from . import near
        from .far import one, two as second
        from pkg.deep import *
        LIMIT = 1
        a, b = 1, 2
        count: int = 0
        if LIMIT:
            late = 1
        @decorated
        class Order(Base):
            """An order."""
            MAX = 3
            size: int = 0
            def total(self) -> int:
                """Sum."""
                local = 1
                def inner(): pass
                return helper(self.size)
            @property
            def name(self): return "x"
        # Why.
        async def load(path: Path):
            os.open(path)
        ''',
        """
        constant LIMIT 7-7
        variable a 8-8
        variable b 8-8
        variable count 9-9
        variable late 11-11
        class Order 12-23
        constant Order.MAX 15-15
        variable Order.size 16-16
        method Order.total 17-21
        function Order.total.inner 20-20
        method Order.name 22-23
        function load 24-26
        """,
    ),
    "javascript": (
        """
        import fs from "fs";
        import { x } from "./x.js";
        const path = require("path");
        export * from "./all.js";
        const LIMIT = 1;
        let state = 0;
        var old = 2;
        export const SHARED = 3;
        /** Adds. */
        export function add(a, b) {
          const local = 1;
          return a + b;
        }
        function* gen() { yield 1; }
        const arrow = (a) => a;
        const expr = function () { return add(1, 2); };
        export default class Order extends Base {
          static count = 0;
          constructor() { super(); }
          #secret() {}
          get total() { return this.sum(); }
          handle = () => 1;
        }
        module.exports.ship = function () {};
        exports.send = () => new Order();
        Order.prototype.pay = function () {
          return arrow();
        };
        module.exports = { run() {}, go: () => 1 };
        """,
        """
        constant LIMIT 5-5
        variable state 6-6
        variable old 7-7
        constant SHARED 8-8
        function add 9-13
        function gen 14-14
        function arrow 15-15
        function expr 16-16
        class Order 17-23
        variable Order.count 18-18
        method Order.constructor 19-19
        method Order.#secret 20-20
        method Order.total 21-21
        method Order.handle 22-22
        function ship 24-24
        function send 25-25
        method Order.pay 26-28
        method run 29-29
        method go 29-29
        """,
    ),
    "typescript": (
        """
        import type { A } from "./a";
        import b = require("b");
        export interface Shape { area(): number; side: number }
        export type Id = string | number;
        type Point = { x: number };
        export enum Color { Red, Green }
        export abstract class Base<T> {
          private size: number = 0;
          abstract area(): number;
          run = () => 1;
          async load(id: Id): Promise<Shape> { return fetchIt<Shape>(id); }
        }
        namespace Geo {
          export function far(): void {}
        }
        declare module "ext" {
          export const inside: string;
        }
        declare function outer(a: string): void;
        export function over(a: string): void;
        export function over(a: any) { }
        export const make = async <T,>(a: T): Promise<T> => a;
        const limit: number = 1;
        """,
        """
        interface Shape 3-3
        method Shape.area 3-3
        type Id 4-4
        type Point 5-5
        enum Color 6-6
        constant Color.Red 6-6
        constant Color.Green 6-6
        class Base 7-12
        variable Base.size 8-8
        method Base.area 9-9
        method Base.run 10-10
        method Base.load 11-11
        module Geo 13-15
        function Geo.far 14-14
        module ext 16-18
        constant ext.inside 17-17
        function outer 19-19
        function over 20-20
        function over 21-21
        function make 22-22
        constant limit 23-23
        """,
    ),
    "tsx": (
        """
        import React from "react";
        export function Card({ a }: Props) {
          const local = 1;
          return <Box>{a}</Box>;
        }
        const Row = () => <li />;
        export const Cell = memo(() => {
          return (<td><Row /></td>);
        });
        function Helper() { return 1; }
        export default function App() {
          if (wait) { return null; }
          return <UI.Page />;
        }
        interface Props { a: string }
        export const useThing = () => useState(0);
        """,
        """
        component Card 2-5
        component Row 6-6
        component Cell 7-9
        function Helper 10-10
        component App 11-14
        interface Props 15-15
        function useThing 16-16
        """,
    ),
    "vue": (
        """
        <template><my-card /><Row /></template>
        <script setup lang="ts">
        import Row from "./Row.vue";
        const count = ref(0);
        function add(): void { bump(); }
        </script>
        """,
        """
        component a 1-6
        constant a.count 4-4
        function a.add 5-5
        """,
    ),
}


@pytest.mark.parametrize("language", DEFINITIONS)
def test_definitions(language: str) -> None:
    code, expected = DEFINITIONS[language]
    document = parsed(language, code)
    assert outline(document) == lines(expected)
    assert document.problems == ()


@pytest.mark.parametrize(
    ("language", "code", "imports"),
    [
        (
            "python",
            "import os, json as j\nimport aa.bb\nfrom . import cc\nfrom .dd import ee as ff\nfrom gg.hh import *\n",
            {"os", "json", "aa.bb", ".cc", ".dd.ee", "gg.hh"},
        ),
        (
            "javascript",
            'import a from "aa";\nimport "./bb.js";\nexport * from "cc";\nconst d = require("dd");\nimport("ee");\n',
            {"aa", "./bb.js", "cc", "dd", "ee"},
        ),
        ("typescript", 'import type { A } from "./aa";\nimport b = require("bb");\n', {"./aa", "bb"}),
        ("tsx", 'import React from "react";\nexport { Aa } from "../aa";\n', {"react", "../aa"}),
        ("vue", '<script>\nimport Aa from "./Aa.vue";\n</script>\n', {"./Aa.vue"}),
    ],
)
def test_imports(language: str, code: str, imports: set[str]) -> None:
    assert names(parsed(language, code), "import") == imports


@pytest.mark.parametrize(
    ("language", "code", "calls"),
    [
        ("python", "@one\ndef a():\n    two(b.three())\n    return [Four() for c in d]\n", "one two three Four"),
        ("javascript", "one(1); b.two(); new Three(); new c.Four(); d?.five();\n", "one two Three Four five"),
        ("typescript", "@One() class A { b = two<number>(1); c() { this.three(); } }\n", "One two three"),
        ("tsx", "const a = () => <One b={two()}><c.Three /><div /></One>;\n", "One two Three"),
        ("vue", "<template><my-one /><Two /><div /></template>\n<script>\nthree();\n</script>\n", "my-one Two three"),
    ],
)
def test_calls(language: str, code: str, calls: str) -> None:
    assert names(parsed(language, code), "call") == set(calls.split())


def test_docstrings_and_comments_are_documentation() -> None:
    python = parsed("python", DEFINITIONS["python"][0])
    assert {item.qualified_name: item.doc for item in python.symbols if item.doc} == {
        "Order": "An order.",
        "Order.total": "Sum.",
        "load": "Why.",
    }
    javascript = parsed("javascript", DEFINITIONS["javascript"][0])
    assert {item.qualified_name: item.doc for item in javascript.symbols if item.doc} == {"add": "Adds."}
