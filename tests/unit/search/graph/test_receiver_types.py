"""The types that a file declares for its values, and which members can be meant with them."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.counted import n_calls_of
from tests.unit.search.graph.test_resolved_graph import edges, users

from codefathom.search.graph import receiver_types
from codefathom.search.graph.receiver_types import declared_types

MADE, TYPED = True, False


@pytest.mark.parametrize(
    ("language", "line", "name", "expected"),
    [
        ("python", "def run(coin: Coin, n: int):", "coin", ("Coin", TYPED)),
        ("python", "    self.coin: 'money.Coin' = make()", "coin", ("Coin", TYPED)),
        ("python", "def run(coin: Optional[Coin] = None):", "coin", ("Coin", TYPED)),
        ("python", "    self.coin = money.Coin(1)", "coin", ("Coin", MADE)),
        ("python", "    coin = await Coin(1)", "coin", ("Coin", MADE)),
        ("python", "    with Client(app) as client:", "client", ("Client", TYPED)),
        ("python", "    coin = make(Coin)", "coin", None),
        ("python", "    coin: Any = make()", "coin", None),
        ("typescript", "constructor(private coin?: Coin) {}", "coin", ("Coin", TYPED)),
        ("tsx", "const coin = new Coin()", "coin", ("Coin", MADE)),
        ("javascript", "this.coin = new money.Coin()", "coin", ("Coin", MADE)),
        ("go", "func (c *Coin) Add(o Other) {", "c", ("Coin", TYPED)),
        ("go", "func (c *Coin) Add(o Other) {", "o", ("Other", TYPED)),
        ("go", "\tc := &money.Coin{Value: 1}", "c", ("Coin", MADE)),
        ("go", "\tif c == coin {", "c", None),
        ("java", "  private final Coin<? extends X> coin;", "coin", ("Coin", TYPED)),
        ("java", "  for (Coin coin : coins) {", "coin", ("Coin", TYPED)),
        ("java", "  var coin = new Coin() {", "coin", ("Coin", TYPED)),
        ("java", "  T value = make();", "value", None),
        ("csharp", "    public Coin? Value { get; }", "Value", ("Coin", TYPED)),
        ("csharp", "    var coin = new Coin();", "coin", ("Coin", MADE)),
        ("kotlin", "class Purse(private val coin: Coin)", "coin", ("Coin", TYPED)),
        ("kotlin", "    val coin = Coin(1)", "coin", ("Coin", MADE)),
        ("swift", "    let coin: any Coin", "coin", ("Coin", TYPED)),
        ("rust", "fn add(coin: &'a mut Coin) {", "coin", ("Coin", TYPED)),
        ("rust", "    coin: Box<dyn Coin>,", "coin", ("Coin", TYPED)),
        ("rust", "    let mut coin = money::Coin::new();", "coin", ("Coin", MADE)),
        ("rust", "    let coin = Coin::of(1);", "coin", None),
        ("haskell", "add :: Coin -> Coin", "add", None),
    ],
)
def test_a_declaration_gives_a_type(language: str, line: str, name: str, expected: tuple[str, bool] | None) -> None:
    types = declared_types(f"\n{line}\n", language).get(name, ())
    assert [(item.line, item.name, item.is_made) for item in types[:1]] == ([(2, *expected)] if expected else [])


@given(st.text(max_size=400), st.sampled_from(["python", "typescript", "go", "java", "kotlin", "rust", "csharp"]))
def test_any_text_can_be_read(text: str, language: str) -> None:
    lines = text.count("\n") + 1
    assert all(1 <= item.line <= lines for types in declared_types(text, language).values() for item in types)


_LINES = st.sampled_from(
    ["c: Coin = a", "a: Purse", "c = Coin()", "cc: Cash = c", "", "with Coin() as c:", "a, c: b.Coin"]
)


@given(st.lists(_LINES, max_size=8), st.sampled_from(["a", "c", "cc", "z"]))
def test_lines_with_a_name_tell_all_of_it(lines: list[str], name: str) -> None:
    text = "\n".join(lines)
    assert declared_types(text, "python", name).get(name, []) == declared_types(text, "python").get(name, [])


def test_a_file_that_a_program_made_is_left_out() -> None:
    assert not declared_types("c = Coin()\n" + "#" * 500_000, "python")
    assert not declared_types("c = Coin()\n" + "#" * 500_000, "python", "c")
    assert set(declared_types("c = Coin()\nd = Coin()" + " " * 300, "python")) == {"c"}


PYTHON = {
    "shop/base.py": "class Base:\n    def add(self): pass\n    def other(self): pass\n",
    "shop/coin.py": "from shop.base import Base\nclass Coin(Base):\n    def add(self): super().add()\n",
    "shop/purse.py": "class Purse:\n    def add(self): pass\n    def other(self): pass\n",
    "shop/made.py": "from shop.coin import Coin\ndef run():\n    coin = Coin()\n    coin.add()\n",
    "shop/typed.py": "from shop.base import Base\ndef run(item: Base): item.add()\n",
    "shop/field.py": (
        "from shop.purse import Purse\nclass Shop:\n    def __init__(self):\n        self.purse = Purse()\n"
        "    def run(self): self.purse.add()\n"
    ),
    "shop/two.py": "def one(x: Base): pass\ndef two(x: Purse): x.add()\n",
    "shop/either.py": "def run(x):\n    x = Coin() if x else Purse()\n    x = Purse()\n    x.add()\n",
    "shop/foreign.py": "from decimal import Decimal\ndef run(n: Decimal): n.add()\n",
    "shop/alias.py": "from shop.coin import Coin as Money\ndef run(n: Money): n.add()\n",
    "shop/parameter.py": "def run(n: ItemT): n.add()\n",
    "shop/unknown.py": "def run(n): n.add()\n",
    "shop/own.py": "from shop.base import Base\nclass Token(Base):\n    def run(self): self.other()\n",
    "shop/mixin.py": "class Mixin:\n    def run(self): super().add()\n",  # of the class beside it
    "shop/outside.py": "class Error(Exception):\n    def run(self): super().add()\n",
}
ANY = ("alias.py", "mixin.py", "parameter.py", "unknown.py")  # nothing is known of the value there
JAVA = {
    "a/Adapter.java": "package a;\nabstract class Adapter<T> { abstract T read(); }\n",
    "a/CoinAdapter.java": "package a;\nclass CoinAdapter extends Middle<Coin> { Coin read() { return null; } }\n",
    "a/Middle.java": "package a;\nabstract class Middle<T> extends Adapter<T> { }\n",
    "a/Reader.java": "package a;\nclass Reader { int read() { return 1; } }\n",
    "a/Use.java": "package a;\nclass Use {\n  Adapter<Coin> adapter;\n  void go() { adapter.read(); }\n}\n",
}
GO = {
    "go.mod": "module example.org/shop\n",
    "render/a.go": (
        "package render\ntype TOML struct{}\nfunc (r TOML) Write() {}\nfunc (r TOML) Render() { r.Write() }\n"
        "type Render interface {\n\tWrite()\n}\nfunc all(r Render) { r.Write() }\n"
    ),
    "render/b.go": "package render\ntype JSON struct{}\nfunc (r JSON) Write() {}\n",
}
SWIFT = {
    "a.swift": "class Base { func add() {} }\nclass Coin: Base { override func add() { super.add() } }\n",
    "b.swift": "class Purse { func add() {} }\n",
}
RUST = {
    "src/money.rs": "pub mod coin;\npub struct Purse;\nimpl Purse { pub fn parse() {} }\npub fn parse() {}\n",
    "src/money/coin.rs": "fn go() { super::parse(); }\n",
    "src/lib.rs": (
        "trait Make { type Error; }\nstruct A;\nimpl Make for A { type Error = u8; }\n"
        "fn run<S: Make>(s: S) -> Result<S, S::Error> { todo!() }\n"
    ),
}


@pytest.mark.parametrize(
    ("files", "target", "expected"),
    [
        (PYTHON, "@@Coin.add", {"made.py", "typed.py", "either.py", *ANY}),
        (PYTHON, "@@Base.add", {"coin.py", "typed.py", *ANY}),
        (PYTHON, "@@Purse.add", {"field.py", "two.py", "either.py", *ANY}),
        (PYTHON, "@@Base.other", {"own.py"}),
        (PYTHON, "@@Purse.other", set()),
        (JAVA, "@@CoinAdapter.read", {"Use.java"}),
        (JAVA, "@@Adapter.read", {"Use.java"}),
        (JAVA, "@@Reader.read", set()),
        (GO, "@@TOML.Write", {"a.go"}),
        (GO, "@@JSON.Write", {"a.go"}),  # by the interface
        (RUST, "@@A.Error", set()),
        (RUST, "@@parse", {"coin.rs"}),  # `super` is the module above
        (SWIFT, "@@Base.add", {"a.swift"}),
        (SWIFT, "@@Purse.add", set()),
    ],
)
def test_a_use_means_members_of_the_type_above_it_and_below_it(
    tmp_path: Path, files: dict[str, str], target: str, expected: set[str]
) -> None:
    assert set(users(edges(tmp_path, files, target))) == expected


def test_of_a_method_two_definitions_fit_an_interface_and_one_a_receiver(tmp_path: Path) -> None:
    lines = {item.line: item.n_definitions for item in edges(tmp_path, GO, "@@TOML.Write").edges if item.path}
    assert lines == {4: 1, 8: 3}


@pytest.mark.parametrize("name", ["f", "file", "$f", "f1", "é"])
@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", "def run({0}: File, x{0}: Other, {0}x: Third): pass"),
        ("python", "{0} = File()"),
        ("typescript", "let {0}: File = a.{0}, my{0} = new Other(), {0} = new Third()"),
        ("go", "func run({0} *File, b{0} Other) {{ {0} := Third{{}} }}"),
        ("java", "File {0} = new Other(); Third {0}s;"),
        ("rust", "let mut {0}: &'a File = {0}{0}(); let {0} = Other::new()"),
    ],
)
def test_the_lines_of_a_name_alone_tell_what_all_lines_tell_of_it(name: str, language: str, line: str) -> None:
    others = ["prefix = Fill()", "offset: Off", "of_f: Off", "xf.f: Off", "", "fx := new(Off)"]
    text = "\n".join([*others, line.format(name), *others, f"  {line.format(name)}"])
    assert declared_types(text, language, name).get(name) == declared_types(text, language).get(name)


def test_only_lines_on_which_a_name_stands_alone_are_looked_at() -> None:
    text = "prefix = Off()\n" * 200 + "f = File()\n"
    looked = n_calls_of(cast(FunctionType, receiver_types._in_line), lambda: declared_types(text, "python", "f"))
    assert looked <= 3
