"""Where a definition begins and ends, what it lies in, and what stands above it."""

from __future__ import annotations

import pytest
from tests.unit.parse.outlines import lines, outline, parsed

from codefathom.types import ParsedDocument, Symbol


def symbol(document: ParsedDocument, name: str) -> Symbol:
    (found,) = (item for item in document.symbols if item.name == name)
    return found


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("ruby", "class A\n  attr_accessor :a, :b\nend\n", "class A, variable A.a, variable A.b"),
        ("ruby", "class A; def b; end; def c; end; end; class D; end\n", "class A, method A.b, method A.c, class D"),
        ("ruby", "A = B = 1\n", "constant A, constant B"),
        ("php", "<?php class A { public $x; } class B {}\n", "class A, variable A.x, class B"),
        ("php", "<?php class A { const B = 1, C = 2; }\n", "class A, constant A.B, constant A.C"),
        ("python", "class A: x = 1; y = 2\nz = 1\n", "class A, variable A.x, variable A.y, variable z"),
        (
            "java",
            "class A { void b() {} void c() {} } class D {}\n",
            "class A, method A.b, method A.c, class D",
        ),
    ],
)
def test_siblings_on_one_line_do_not_lie_in_each_other(language: str, code: str, expected: str) -> None:
    found = parsed(language, code).symbols
    assert ", ".join(f"{item.kind} {item.qualified_name}" for item in found) == expected


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("c", "struct point { int a; } origin;\n", "variable origin, struct point"),
        ("cpp", "auto a = [] { struct B { void c(); }; int d = 1; };\n", "variable a, struct B, method B.c"),
        ("go", "package a\nvar b = func() { type C struct { d int } }\n", "variable b, struct C"),
        ("rust", "static A: fn() = { fn b() {} b };\n", "constant A, function b"),
        ("scala", "class A { val b = new C { def d = 1 } }\n", "class A, variable A.b, method A.d"),
        ("java", "class A { static final B C = new B() { void d() {} }; }\n", "class A, constant A.C, method A.d"),
        ("swift", "class A { var b: Int { let c = 1; return c } }\n", "class A, variable A.b"),
        ("zig", "const a = b(struct { fn c() void {} });\n", "constant a, function c"),
    ],
)
def test_nothing_lies_in_a_variable(language: str, code: str, expected: str) -> None:
    found = parsed(language, code).symbols
    assert ", ".join(f"{item.kind} {item.qualified_name}" for item in found) == expected


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("javascript", "const a = () => { function b() {} };\n", "function a, function a.b"),
        ("javascript", "const a = { b() {}, c: () => 1 };\n", "constant a, method a.b, method a.c"),
        ("typescript", "export const a = { b() {} }, c = 1;\n", "constant a, method a.b, constant c"),
        ("lua", "local a = { b = function() end }\n", "variable a, function a.b"),
    ],
)
def test_functions_that_a_name_holds_are_called_by_it(language: str, code: str, expected: str) -> None:
    found = parsed(language, code).symbols
    assert ", ".join(f"{item.kind} {item.qualified_name}" for item in found) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            """
            class A:
              def b: Int =
                val c = 1
                c + 1

              def d =
                e


            // About F.
            object F:
              def g = 1
            """,
            """
            class A 1-7
            method A.b 2-4
            method A.d 6-7
            class F 10-12
            method F.g 12-12
            """,
        ),
        (
            """
            def a() =
              b
              // still a

            end a

            class C:
              def d = e:
                f
              // still C

              val g =
                1

            extension (s: String)
              def h =
                2

            """,
            """
            function a 1-3
            class C 7-13
            method C.d 8-9
            variable C.g 12-13
            method String.h 16-17
            """,
        ),
        (
            """
            class A:
              def b =
                1
            // the end""",
            """
            class A 1-3
            method A.b 2-3
            """,
        ),
        (
            """
            class A { def b =
              1
            }
            """,
            """
            class A 1-3
            method A.b 1-2
            """,
        ),
    ],
)
def test_indented_bodies_of_scala_end_with_their_last_line(code: str, expected: str) -> None:
    assert outline(parsed("scala", code)) == lines(expected)


ELIXIR = '''
defmodule Shop do
  @moduledoc "Sells."

  # Not the doc.
  @doc """
  First.
  """
  @doc since: "1.2"
  @deprecated "Use two."
  @spec one(a) :: b
  @spec one(c) :: d
  # A note.
  @impl true
  def one(a), do: helper(a)
  def one(_), do: 2

  @limit 5
  @spec two(Money.t()) :: b
  def two(a), do: a

  @doc ~S"Third."
  defmacro three(a), do: a

  @typedoc "A price."
  @type price :: integer

  @doc "Called #{later}."
  @callback four(a) :: b

  @doc false

  def five, do: 4
end
'''


def test_attributes_of_elixir_belong_to_what_they_stand_above() -> None:
    expected = """
    module Shop 1-33
    function Shop.one 4-15
    constant Shop.limit 17-17
    function Shop.two 18-19
    macro Shop.three 21-22
    type Shop.price 24-25
    function Shop.four 27-28
    function Shop.five 30-32
    """
    document = parsed("elixir", ELIXIR)
    assert outline(document) == lines(expected)
    assert {(item.name, item.container) for item in document.references if item.name == "Money"} == {
        ("Money", "Shop.two")
    }


def test_the_doc_of_an_attribute_is_all_its_text_and_no_more() -> None:
    code = 'defmodule A do\n  @moduledoc "A \\"b\\" #{c}."\n  @doc "D \\"e\\" f."\n  @since "1"\n  def g, do: 1\nend\n'
    assert [item.doc for item in parsed("elixir", code).symbols] == ['A \\"b\\" #{c}.', 'D \\"e\\" f.']


def test_attributes_between_a_comment_and_what_it_is_on_are_no_doc() -> None:
    code = "class A {\n  /** Why. */\n  @One\n  @Two\n  void b() {}\n}\n"
    assert symbol(parsed("java", code), "b").doc == "Why."
    rust = parsed("rust", "// Why.\n#[one]\n#[two]\n\nfn a() {}\n")
    assert (rust.symbols[0].start_line, rust.symbols[0].doc) == (1, "Why.")


def test_docs_of_elixir_are_what_the_attributes_say() -> None:
    docs = {item.name: item.doc for item in parsed("elixir", ELIXIR).symbols}
    assert docs == {
        "Shop": "Sells.",
        "one": "First.",
        "limit": "",
        "two": "",
        "three": "Third.",
        "price": "A price.",
        "four": "Called #{later}.",
        "five": "",
    }


@pytest.mark.parametrize(
    ("language", "code", "first", "doc"),
    [
        ("bash", "#!/bin/bash\na() {\n  b\n}\n", 2, ""),
        ("python", "#!/usr/bin/env python\ndef a(): pass\n", 2, ""),
        ("ruby", "#!/usr/bin/env ruby\nclass A; end\n", 2, ""),
        ("elixir", "#!/usr/bin/env elixir\ndef a, do: 1\n", 2, ""),
        ("scala", "#!/usr/bin/env scala\ndef a() = 1\n", 2, ""),
        ("javascript", "#!/usr/bin/env node\nfunction a() {}\n", 2, ""),
        ("python", "#!/usr/bin/env python\n# Why.\ndef a(): pass\n", 2, "Why."),
        ("bash", "# Why.\n#!/bin/bash\na() {\n  b\n}\n", 1, "Why.\n/bin/bash"),
    ],
)
def test_the_line_that_names_an_interpreter_is_no_doc(language: str, code: str, first: int, doc: str) -> None:
    found = parsed(language, code).symbols[0]
    assert (found.start_line, found.doc) == (first, doc)


@pytest.mark.parametrize(
    ("code", "imports"),
    [
        ("use A\\{B, C};", ["A\\B", "A\\C"]),
        ("use function A\\{d, e as f};", ["A\\d", "A\\e"]),
        ("use A\\B\\{C\\D, function g};", ["A\\B\\C\\D", "A\\B\\g"]),
        ("use A\\{\n  B,\n  C,\n};", ["A\\B", "A\\C"]),
        ("use A, B\\C;\nuse D\\{E};\nuse F as G;", ["A", "B\\C", "D\\E", "F"]),
    ],
)
def test_a_group_of_php_imports_is_its_names(code: str, imports: list[str]) -> None:
    assert [item.name for item in parsed("php", f"<?php\n{code}\n").references if item.kind == "import"] == imports


@pytest.mark.parametrize("head", ["", "module A where\n", "module A where\nimport B\n", "module A (a) where\n\n"])
@pytest.mark.parametrize("comment", ["-- | Adds.\n-- Up.\n", "-- Adds.\n-- Up.\n", "{- | Adds.\n   Up. -}\n"])
@pytest.mark.parametrize(
    "declaration",
    [
        "a :: Int\na = 1\n",
        "a = 1\n",
        "a b = b\n",
        "data A = A\n",
        "newtype A = A Int\n",
        "type A = B\n",
        "class A b where\n  c :: b\n",
        "instance A B where\n  c = 1\n",
        "a, b :: Int\n",
    ],
)
def test_the_first_comment_of_haskell_is_a_doc(head: str, comment: str, declaration: str) -> None:
    assert parsed("haskell", head + comment + declaration).symbols[0].doc == "Adds.\nUp."


def test_the_doc_of_a_haskell_module_is_not_that_of_its_first_declaration() -> None:
    assert parsed("haskell", "-- | Of the module.\nmodule A where\n\na :: Int\na = 1\n").symbols[0].doc == ""


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("class A { operator bool() const { return true; } };", "A.operator bool"),
        ("class A { explicit operator std::string() const; };", "A.operator std::string"),
        ("class A { operator  int *(); };", "A.operator int *"),
        ("class A { operator const char*() const { return 0; } };", "A.operator const char*"),
        ("class A { operator std::vector<int>&() { return v; } };", "A.operator std::vector<int>&"),
        ("class A { operator std::function<void(int)>() { return v; } };", "A.operator std::function<void(int)>"),
        ("class A { template <class T> operator T() const; };", "A.operator T"),
        ("A::operator bool() const { return true; }", "A.operator bool"),
        ("A::operator int*() { return 0; }", "A.operator int*"),
        ("ns::A::operator bool() const { return true; }", "ns.A.operator bool"),
        ("template <class T> A<T>::operator T() const { return 1; }", "A.operator T"),
    ],
)
def test_conversion_operators_have_names(code: str, name: str) -> None:
    found = parsed("cpp", code + "\n").symbols[-1]
    assert (found.kind, found.qualified_name) == ("method", name)


def test_friends_are_not_of_the_class_that_names_them() -> None:
    code = """
    namespace shop {
    class A {
      friend class B;
      friend bool operator==(const A&, const A&);
      friend int *find(int);
      friend std::ostream& operator<<(std::ostream& os, const A& a);
      template <typename T> friend T make(T);
      // Trades.
      friend void swap(A& a, A& b) { a.trade(b); }
      template <class H>
      friend H Hash(H h, const A& a) { return h; }
      friend A& add(A& a) { return a; }
      void trade(A& b);
    };
    }
    """
    document = parsed("cpp", code)
    expected = """
    module shop 1-15
    class shop.A 2-14
    function shop.swap 8-9
    function shop.Hash 10-11
    function shop.add 12-12
    method shop.A.trade 13-13
    """
    assert outline(document) == lines(expected)
    assert symbol(document, "swap").doc == "Trades."
    assert symbol(document, "swap").signature == "friend void swap(A& a, A& b)"
    assert [item.container for item in document.references if item.name == "trade"] == ["shop.swap"]
