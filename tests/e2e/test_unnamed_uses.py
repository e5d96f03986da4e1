"""Uses without the name of a method: constructors are called by their type, and operators by a sign."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from codefathom import Engine

# A constructor, and the places that call it: "path symbol around".
CONSTRUCTORS: Mapping[str, tuple[Mapping[str, str], str, set[str]]] = {
    "python": (
        {
            "shop/bill.py": (
                "class Bill:\n    def __init__(self, n):\n        self.n = n\n\n"
                "    @classmethod\n    def empty(cls):\n        return cls(0)\n"
            ),
            "late.py": "from shop.bill import Bill as Paper\n\n\ndef late():\n    return Paper(1)\n",
            "typed.py": "from shop.bill import Bill\n\n\ndef typed(bill: Bill):\n    return bill\n",
            "other.py": "class Bill:\n    pass\n\n\ndef other():\n    return Bill()\n",
        },
        "@@shop.bill.Bill.__init__",
        {"late.py late", "shop/bill.py Bill.empty"},
    ),
    "ruby": (
        {
            "bill.rb": "class Bill\n  def initialize(n)\n    @n = n\n  end\nend\n",
            "late.rb": "def late\n  Bill.new(1)\nend\n\ndef typed(x)\n  Bill.load(x)\nend\n",
        },
        "@@Bill.initialize",
        {"late.rb late"},
    ),
    "php": (
        {
            "Bill.php": (
                "<?php\nclass Bill {\n  public function __construct(private int $n) {}\n"
                "  public static function none() { return new self(0); }\n}\n"
            ),
            "late.php": "<?php\nfunction late() { return new Bill(1); }\nfunction typed(Bill $b) { return $b; }\n",
        },
        "@@Bill.__construct",
        {"late.php late", "Bill.php Bill.none"},
    ),
    "typescript": (
        {
            "bill.ts": "export class Bill {\n  constructor(private n: number) {}\n}\n",
            "late.ts": (
                "import { Bill } from './bill'\nexport function late() { return new Bill(1) }\n"
                "export function typed(b: Bill) { return b }\n"
            ),
        },
        "@@Bill.constructor",
        {"late.ts late"},
    ),
    "swift": (
        {
            "Bill.swift": "struct Bill {\n  let n: Int\n  init(of n: Int) { self.n = n }\n}\n",
            "Late.swift": "func late() -> Int { return Bill(of: 1).n }\nfunc typed(b: Bill) -> Int { return b.n }\n",
        },
        "@@Bill.init",
        {"Late.swift late"},
    ),
    "kotlin": (
        {
            "Bill.kt": "class Bill(val n: Int) {\n  constructor() : this(1)\n}\n",
            "Late.kt": "fun late() = Bill().n\n\nfun typed(b: Bill) = b.n\n",
        },
        "@@Bill.constructor",
        {"Late.kt late"},
    ),
}


@pytest.mark.parametrize("language", CONSTRUCTORS)
def test_a_constructor_is_called_by_its_type(make_engine: Callable[[Mapping[str, str]], Engine], language: str) -> None:
    files, target, callers = CONSTRUCTORS[language]
    with make_engine(files) as engine:
        answer = engine.related(target, direction="callers")
    assert {f"{edge.path} {edge.symbol}" for edge in answer.edges if edge.kind == "called by"} == callers


OPERATORS: Mapping[str, tuple[Mapping[str, str], str, str]] = {
    "python": (
        {
            "vec.py": "class Vec:\n    def __add__(self, other):\n        return self\n",
            "sums.py": "from vec import Vec\n\n\ndef sums(a: Vec, b: Vec):\n    return a + b\n",
            "less.py": "from vec import Vec\n\n\ndef less(a: Vec):\n    a += 1  # a + b\n",
        },
        "Vec.__add__",
        "uses of Vec.__add__ by `+`, without its name, are not listed; other files that may have one: 1 (sums.py)",
    ),
    "a word": (
        {
            "lock.py": "class Lock:\n    def __enter__(self):\n        return self\n",
            **{
                f"use{n}.py": f"from lock import Lock\n\n\ndef use{n}():\n    with Lock():\n        pass\n"
                for n in range(5)
            },
        },
        "Lock.__enter__",
        "uses of Lock.__enter__ by `with`, without its name, are not listed; "
        "other files that may have one: 5 (use0.py, use1.py, use2.py and 2 more)",
    ),
    "cpp": (
        {
            "m.h": "struct Money { int c; bool operator==(const Money& o) const { return c == o.c; } };\n",
            "m.cpp": '#include "m.h"\nbool same(Money a, Money b) { return a == b; }\n',
        },
        "Money.operator==",
        "uses of Money.operator== by `==`, without its name, are not listed; other files that may have one: 1 (m.cpp)",
    ),
    "rust": (
        {
            "src/lib.rs": (
                "mod far;\nuse std::ops::Add;\npub struct Len(pub u32);\nimpl Add for Len {\n  type Output = Len;\n"
                "  fn add(self, o: Len) -> Len { Len(self.0 + o.0) }\n}\n"
            ),
            "src/far.rs": "use crate::Len;\nfn far(a: Len, b: Len) -> Len { a + b }\n",
        },
        "Len.add",
        "uses of Len.add by `+`, without its name, are not listed; other files that may have one: 1 (src/far.rs)",
    ),
    "kotlin": (
        {
            "P.kt": "class Pan(val x: Int) {\n  operator fun get(i: Int): Int = x\n}\n",
            "Q.kt": "fun q(p: Pan): Int = p[1]\n",
        },
        "Pan.get",
        "uses of Pan.get by `[`, without its name, are not listed; other files that may have one: 1 (Q.kt)",
    ),
    "csharp": (
        {"C.cs": "public struct Cash { public int C; public static Cash operator -(Cash a, Cash b) => a; }\n"},
        "Cash.-",
        "uses of Cash.- by `-`, without its name, are not listed; no other file seems to have one",
    ),
    "ruby": (
        {
            "tone.rb": "class Tone\n  def [](i)\n    i\n  end\nend\n",
            "use.rb": "def use\n  Tone.new[2]\nend\n",
        },
        "Tone.[]",
        "uses of Tone.[] by `[`, without its name, are not listed; other files that may have one: 1 (use.rb)",
    ),
    "haskell": (
        {
            "H.hs": "module H where\n(<+>) :: Int -> Int -> Int\na <+> b = a\n",
            "Use.hs": "module Use where\nimport H\ntwice v = v <+> v\n",
        },
        "<+>",
        "uses of <+> by `<+>`, without its name, are not listed; other files that may have one: 1 (Use.hs)",
    ),
}


@pytest.mark.parametrize("case", OPERATORS)
def test_uses_of_an_operator_are_counted(make_engine: Callable[[Mapping[str, str]], Engine], case: str) -> None:
    files, target, sentence = OPERATORS[case]
    with make_engine(files) as engine:
        assert sentence in str(engine.related(f"@@{target}").completeness)
        assert "without its name" not in str(engine.related(f"@@{target}", direction="callees").completeness)


def test_a_change_of_a_constructor_reaches_whoever_makes_a_value(
    make_engine: Callable[[Mapping[str, str]], Engine],
) -> None:
    files, _, _ = CONSTRUCTORS["python"]
    diff = (
        "--- a/shop/bill.py\n+++ b/shop/bill.py\n@@ -1,3 +1,3 @@\n class Bill:\n     def __init__(self, n):\n"
        "-        self.n = n + 1\n+        self.n = n\n"
    )
    with make_engine(files) as engine:
        reached = engine.impact(diff=diff).reached
    assert ("late.py", "called by", True) in {(edge.path, edge.kind, edge.likely) for edge in reached}
