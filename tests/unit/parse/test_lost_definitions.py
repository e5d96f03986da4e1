"""A definition that a grammar loses is known by its head, and the number of such definitions is told."""

from __future__ import annotations

import gc
import re
from textwrap import dedent
from time import thread_time

import pytest

from codefathom.facts.languages import LANGUAGES
from codefathom.facts.parse_problems import n_without_syntax
from codefathom.facts.reasons import READ_BY_HEAD, REPEATS_ITSELF, TOO_BROKEN, Note
from codefathom.parse import parse
from codefathom.parse.lost_definitions import heads_of, with_heads, without_symbol
from codefathom.parse.text import parse as parse_text
from codefathom.types import SYMBOL_KINDS, Document, ParsedDocument


def parsed(language: str, text: str) -> ParsedDocument:
    text = dedent(text).lstrip("\n")
    return parse(Document(f"src/a.{language}", language, text, "f1", len(text.encode())))


def outline(document: ParsedDocument) -> list[str]:
    return [f"{item.kind} {item.qualified_name} {item.start_line}-{item.end_line}" for item in document.symbols]


# What the grammar of a language does not read, and what is to be known of it all the same.
LOST = [
    (
        "kotlin",
        """
        @Shown
        @Sized(width = 3)
        private fun small() {
            draw()
        }

        @Shown
        @Sized(width = 9)
        internal fun large() {
            draw()
        }
        """,
        ["function small 1-5", "function large 7-11"],
    ),
    (
        "kotlin",
        """
        fun grade(mark: Any): Int = when (mark) {
            is Int if mark > 4 -> 1
            else -> 0
        }
        fun behind() {}
        class Shelf {
            fun add(book: Book) {}
        }
        """,
        ["function grade 1-4", "function behind 5-5", "class Shelf 6-8", "method Shelf.add 7-7"],
    ),
    (
        "kotlin",
        """
        fun interface Reader { fun read(): Int }
        class Shelf { fun add() {} }
        """,
        ["interface Reader 1-1", "function read 1-1", "class Shelf 2-2", "method Shelf.add 2-2"],
    ),
    (
        "perl",
        """
        sub open {
            $self->{n} //= $max - int rand $max / 2;
        }
        sub shut { 1 }
        sub part {
            return $n / 3;
        }
        """,
        ["function open 1-7", "function shut 4-4", "function part 5-7"],
    ),
    (
        "sql",
        """
        CREATE PROCEDURE shop.close_day(IN day date)
        LANGUAGE SQL
        AS $$ UPDATE days SET closed = true WHERE id = day $$;
        CREATE TABLE days (id date);
        """,
        ["function shop.close_day 1-3", "struct days 4-4"],
    ),
]


@pytest.mark.parametrize(("language", "text", "expected"), LOST)
def test_what_the_grammar_loses_is_known_by_its_head(language: str, text: str, expected: list[str]) -> None:
    document = parsed(language, text)
    assert sorted(outline(document)) == sorted(expected)
    assert n_without_syntax(document.problems) >= 1


NO_DEFINITIONS = [
    ("python", "text = '''\ndef gone():\n    pass\n'''\n# def gone():\n"),
    ("kotlin", '/*\nfun gone() {}\n*/\nval text = """\nfun gone() {}\n"""\n'),
    (
        "csharp",
        "class A { private static readonly Dictionary<string, int> gone = new Dictionary<string, int>(); }\n",
    ),
    ("elixir", "defmodule A do\n  def left + right, do: add(left, right)\nend\n"),
    ("c", "static KEPT(gone)(int a) { return a; }\n"),
    ("ruby", "a = <<~END\n  def gone\n  end\nEND\n"),
    ("java", "class A {\n  /** void gone() { */\n  int n = gone();\n}\n"),
    ("perl", "sub a { 1 }\n1;\n__END__\n\n=head1 NAME\n\n  package gone;\n  sub gone { 1 }\n\n=cut\n"),
    ("cpp", "namespace std gone_VISIBILITY(default)\n{\nint a;\n}\n".replace("gone_", "_GONE_")),
    ("cpp", "namespace std gone(default)\n{\nint a;\n}\n"),
    ("javascript", "functiongone(1);\n; functiongone (2)\n"),
]


@pytest.mark.parametrize(("language", "text"), NO_DEFINITIONS)
def test_what_only_looks_like_a_head_becomes_no_symbol(language: str, text: str) -> None:
    document = parsed(language, text)
    assert n_without_syntax(document.problems) == 0
    assert "gone" not in {
        symbol.name.lower().strip("_").partition("_")[0]
        for symbol in document.symbols
        if symbol.kind not in ("variable", "constant")
    }


def test_a_definition_that_is_known_by_its_head_has_its_comment_and_its_first_line() -> None:
    document = parsed("kotlin", "// Small ones.\n" + dedent(LOST[0][1]).lstrip("\n"))
    small = next(symbol for symbol in document.symbols if symbol.name == "small")
    assert (small.signature, small.doc, small.name_line) == ("private fun small()", "Small ones.", 4)


def test_a_head_is_no_use_of_its_name() -> None:
    document = parsed("kotlin", LOST[0][1])
    assert {item.name for item in document.references if item.kind == "call"} & {"small", "large"} == set()
    assert [item.container for item in document.references if item.name == "draw"] == ["small", "large"]


REPEATED = {
    "python": "def test_case_{0}(shop):\n    assert shop.price(1) == 1\n    assert shop.price(2) == 2\n\n\n",
    "java": "    @Test\n    public void case{0}() {{\n        assertEquals(1, shop.price(1));\n    }}\n\n",
}


@pytest.mark.parametrize(("language", "before", "after"), [("python", "", ""), ("java", "class T {\n", "}\n")])
def test_tests_that_repeat_themselves_keep_their_names(language: str, before: str, after: str) -> None:
    n = 400
    document = parsed(language, before + "".join(REPEATED[language].format(number) for number in range(n)) + after)
    names = [symbol.name for symbol in document.symbols if "case" in symbol.name]
    assert (len(names), len(set(names)), document.problems) == (n, n, ())


def test_data_that_repeats_itself_stays_data() -> None:
    document = parsed("python", "VALUES = [\n" + "    (1, 2, 3),\n" * 2_000 + "]\n")
    assert (document.symbols, document.problems) == ((), (Note(REPEATS_ITSELF),))


def test_code_that_no_parser_reads_in_time_is_read_by_its_heads() -> None:
    document = parsed("javascript", "function first() {}\n" + "->" * 3_500 + "\nfunction last() {}\n")
    assert outline(document) == ["function first 1-2", "function last 3-3"]
    assert document.problems == (Note(TOO_BROKEN), Note(READ_BY_HEAD, {"count": 2}))


# One of each kind for languages that have no grammar here.
PLAIN = {
    "tcl": ("proc ::shop::price {order} {\n    return 1\n}\nnamespace eval shop {\n}\n", "shop.price shop"),
    "make": ("CC := gcc\nall: shop\n\nshop.o: shop.c\n\t$(CC) -c $<\n.PHONY: all\n", "all shop.o"),
    "dockerfile": ("FROM python:3 AS build\nRUN make\nFROM scratch\nCOPY --from=build a a\n", "build"),
    "cobol": (
        "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. SHOP.\n       PROCEDURE DIVISION.\n"
        "       COUNT-ALL.\n           ADD 1 TO N.\n           STOP RUN.\n",
        "SHOP COUNT-ALL",
    ),
    "nix": ("{ lib, ... }: {\n  options.shop.width = lib.mkOption {\n    default = 3;\n  };\n}\n", "shop.width"),
    "fish": ("function price -a order\n  echo 1\nend\n", "price"),
    "pascal": ("procedure TShop.Close;\nbegin\nend;\n", "TShop.Close"),
    "elm": ("price : Order -> Int\nprice order =\n    1\n\ntype alias Order =\n    {}\n", "price Order"),
    "emacs_lisp": ("(defun shop-price (order)\n  1)\n(defvar shop-open t)\n", "shop-price shop-open"),
    "proto": (
        "message Order {\n  int32 n = 1;\n}\nservice Shop {\n  rpc Price(Order) returns (Order);\n}\n",
        "Order Shop Shop.Price",
    ),
    "vim": ('function! s:Price(order)\n  return 1\nendfunction\n" function! gone()\n', "Price"),
    "cmake": ("function(add_shop name)\nendfunction()\n", "add_shop"),
    "verilog": ("module shop(input a);\nendmodule\n", "shop"),
    "graphql": ("type Order {\n  n: Int\n}\n", "Order"),
}


@pytest.mark.parametrize("language", PLAIN)
def test_code_without_a_grammar_has_the_symbols_of_its_heads(language: str) -> None:
    text, expected = PLAIN[language]
    document = parse(Document(f"src/a.{language}", language, text, "f1", len(text)))
    assert ([symbol.qualified_name for symbol in document.symbols], document.problems) == (expected.split(), ())


@pytest.mark.parametrize("language", [name for name, row in LANGUAGES.items() if row.heads])
def test_a_pattern_names_kinds_of_symbols(language: str) -> None:
    groups = re.compile(LANGUAGES[language].heads, re.MULTILINE).groupindex
    kinds = {name.rstrip("0123456789") for name in groups}
    assert kinds - {"owner"} <= set(SYMBOL_KINDS) and kinds


_TRIES = 5  # what is quadratic is so each time
# Hostile text of n pieces, for languages whose definitions are known by their heads alone.
HOSTILE = {
    "many on one line": ("tcl", "proc f {} {};"),
    "types on one line": ("proto", ";message A{"),
    "a long line above": ("tcl", "proc f {} {};"),
    "comments that stand deeper": ("nim", "        # c\n    proc f(a)\n"),
    "one name again and again": ("python", "def f():\n  pass\n"),
    "blank lines": ("nim", "\n"),
    "spaces behind a bracket": ("nim", " "),
    "spaces behind an end": ("fish", " \t"),
    "spaces before a name": ("javascript", " "),
    "spaces before a name with types": ("typescript", " "),
}
BEFORE_HOSTILE = {
    "a long line above": "# " + "a " * 100_000 + "\n",
    "blank lines": "".join(" " * depth + f"proc f{depth}(a)\n" for depth in range(100)),
    "spaces behind a bracket": "proc f(a)\n}",
    "spaces behind an end": "function f\nend",
    "spaces before a name": "function ",
    "spaces before a name with types": "function ",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_takes_no_more_steps_than_its_size(case: str) -> None:
    language, piece = HOSTILE[case]
    n = 16_000 // len(piece)
    texts = [BEFORE_HOSTILE.get(case, "") + piece * size + "." for size in (n, 8 * n)]

    def is_linear() -> bool:
        few, many = (_seconds(language, text) for text in texts)
        return many < 24 * few + 0.2  # of the processor: 64 times as long would be quadratic

    assert any(is_linear() for _ in range(_TRIES))


def _seconds(language: str, text: str) -> float:
    gc.disable()  # its work grows with all that the tests before have left in memory
    try:
        begin = thread_time()
        symbols = parse_text(Document(f"src/a.{language}", language, text, "f1", len(text))).symbols
        with_heads(symbols, without_symbol(heads_of(text, language), symbols), text)
        return thread_time() - begin
    finally:
        gc.enable()


def test_a_definition_ends_before_the_comment_of_the_next_one() -> None:
    document = parsed("nim", "proc first(a)\n  echo a\n    # Of the second.\nproc second(a)\n  echo a\n")
    assert outline(document) == ["function first 1-2", "function second 3-5"]


def test_types_on_one_line_lie_beside_each_other_within_limits() -> None:
    document = parsed("proto", "message A { message B { } }" + " message A { message B { }" * 200)
    assert max(len(symbol.qualified_name) for symbol in document.symbols) < 1_000


HEADS = ("", "function ", "class ", "public ", "a ", "static int f(", "create function ", "const a = ")
PIECES = (" ", "\t", "a ", "a", "a.", "(", "<", "; ", "public ", "a(", "@a ", "a::")


@pytest.mark.parametrize("language", [name for name, row in LANGUAGES.items() if row.heads])
def test_a_pattern_takes_no_more_steps_than_the_size_of_a_text(language: str) -> None:
    def total(size: int) -> float:
        return sum(
            _seconds_of_heads(head + piece * (size // len(piece)), language) for head in HEADS for piece in PIECES
        )

    # 16 times as long would be quadratic.
    assert any(total(16_000) < 9 * total(4_000) + 0.2 for _ in range(_TRIES))


def _seconds_of_heads(text: str, language: str) -> float:
    begin = thread_time()
    heads_of(text, language)
    return thread_time() - begin


# A definition that is known by its head, and its last line: a bracket or an `end` that stands as deep closes it.
ENDS = [
    ("proto", "message A {\n  int32 n = 1;\n}\n\n// Loose words.\noption a = 1;\n", ["struct A 1-3"]),
    ("fish", "function a\n  if b\n    c\n  end\nend\n\nset d 1\n", ["function a 1-5"]),
    ("vim", "function! A()\n  return 1\nendfunction\n\nlet b = 1\n", ["function A 1-3"]),
    ("verilog", "module a(input b);\n  wire c;\nendmodule // a\n\n`define D 1\n", ["module a 1-3"]),
    ("tcl", "proc a {} {\n    return 1\n}\n\na\n", ["function a 1-3"]),
    ("awk", "function a(b)\n{\n  return 1\n}\n{ print a(1) }\n", ["function a 1-4"]),
    ("tcl", "proc a {} {\n    if b {\n    } else {\n    }\n}\na\n", ["function a 1-5"]),
    ("visual_basic", "Sub A\nIf B Then\nC\nEnd If\nEnd Sub ' of A\nD\n", ["function A 1-5"]),
    ("glsl", "void a() {\n  b();\n#ifdef C\n  c();\n#endif\n}\n\nint d;\n", ["function a 1-6"]),
]


@pytest.mark.parametrize(("language", "text", "expected"), ENDS)
def test_a_definition_ends_where_it_is_closed(language: str, text: str, expected: list[str]) -> None:
    assert outline(parse_text(Document("a", language, text, "f1", len(text)))) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "tcl",
            "namespace eval shop {\n    proc open {n} {\n\tputs 1\n\tputs 2\n    }\n    proc shut {} {\n"
            "\tputs 3\n    }\n}\n",
            ["module shop 1-9", "function shop.open 2-5", "function shop.shut 6-8"],
        ),
    ],
)
def test_a_tab_reaches_to_the_next_column_of_eight(language: str, text: str, expected: list[str]) -> None:
    assert outline(parse(Document(f"a.{language}", language, text, "f1", len(text)))) == expected
