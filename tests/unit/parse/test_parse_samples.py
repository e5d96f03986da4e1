"""Definitions and references of the languages of `samples/`: one file of a shop in each, as people write it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.unit.parse.outlines import lines, names, outline, parsed

from codefathom.facts.languages import language_of, refine
from codefathom.parse.grammars import load
from codefathom.parse.treesitter import parse
from codefathom.types import Document, ParsedDocument

FOLDER = Path(__file__).parent / "samples"


@dataclass(frozen=True)
class Sample:
    """What is in a file: symbols with kind, place and name after that of their owner; names that are used."""

    language: str
    symbols: str
    imports: str
    calls: str
    types: str
    problems: tuple[str, ...] = ()


SAMPLES = {
    "shop.sql": Sample(
        "sql",
        """
        module shop 1-2
        type shop.order_state 4-4
        struct shop.customers 6-11
        struct shop.orders 13-20
        variable orders_by_customer 22-22
        variable shop.invoice_numbers 24-24
        struct shop.debtors 26-36
        function round_price 38-43
        function stamp_order 45-50
        function order_stamped 52-54
        """,
        "",
        "now round round_price stamp_order sum",
        "customers orders unpaid",
        problems=("syntax error at line 47",),
    ),
    "shop.dart": Sample(
        "dart",
        """
        constant maxTotal 9-10
        variable registry 11-11
        variable _counter 12-12
        type Changed 14-14
        enum State 16-16
        constant State.open 16-16
        constant State.paid 16-16
        constant State.sent 16-16
        trait Payable 18-21
        method Payable.isPaid 20-20
        class Priced 23-25
        method Priced.total 24-24
        class Order 27-53
        constant Order.kind 30-30
        variable Order.lines 31-31
        variable Order.state 32-32
        method Order.Order 34-34
        method Order.empty 35-35
        method Order.fromJson 36-38
        method Order.total 40-44
        method Order.customer 46-46
        method Order.+ 48-48
        method Order.save 50-52
        class Line 55-58
        variable Line.price 56-56
        method Line.Line 57-57
        class Labels 60-62
        method Labels.label 61-61
        function readLines 64-68
        function nextNumber 70-70
        """,
        "../store/database.dart dart:async orders.g.dart package:shop/prices.dart src/labels.dart",
        "Line Order fold immutable insert map override readLines round toList total",
        "Comparable Database Future Line List Map Order Payable Priced State String bool double dynamic int",
    ),
    "shop.r": Sample(
        "r",
        """
        variable TAX_RATE 6-6
        variable currency 7-7
        function round_price 9-14
        function order_total 16-23
        function order_total.add 18-20
        function print.order 25-28
        function %+% 30-30
        function summarise_orders 32-36
        class Customer 38-38
        function label 40-40
        method Customer.label 42-44
        class Basket 46-57
        method Basket.initialize 49-51
        method Basket.add 52-55
        """,
        "R/discounts.R dplyr stats",
        """
        R6Class Reduce append cat group_by invisible list order_total paste0 representation round
        round_price setClass setGeneric setMethod standardGeneric sum summarise toupper
        """,
        "",
    ),
    "shop.pl": Sample(
        "perl",
        """
        module Shop.Order 5-48
        constant Shop.Order.MAX_LINES 9-9
        constant Shop.Order.OPEN 10-10
        constant Shop.Order.PAID 10-10
        variable Shop.Order.VERSION 13-13
        variable Shop.Order.EXPORT_OK 14-14
        function Shop.Order.new 23-29
        function Shop.Order.total 31-40
        function Shop.Order.save 42-48
        module Shop.Line 50-55
        function Shop.Line.price 51-54
        module main 57-61
        function main.usage 59-61
        """,
        "Shop::Labels Shop::Prices Shop::Record",
        "insert new price print round_price sort_lines total usage write",
        "Shop::Receipt",
    ),
    "shop.jl": Sample(
        "julia",
        """
        module Shop 1-65
        constant Shop.TAX_RATE 12-12
        constant Shop.Lines 13-13
        type Shop.Priced 15-15
        type Shop.Cents 16-16
        enum Shop.State 18-18
        struct Shop.Order 20-27
        method Shop.Order.Order 26-26
        struct Shop.Basket 29-31
        function Shop.total 33-37
        function Shop.round_price 39-40
        method Shop.Base.show 42-44
        function Shop.+ 46-46
        function Shop.add! 48-52
        macro Shop.logged 54-56
        module Shop.Reports 58-61
        function Shop.Reports.report 60-60
        variable Shop.counter 63-63
        """,
        "..Prices ..Shop Base Dates Statistics discounts.jl",
        "Order check enum esc label map mean print push! reduce round round_price total",
        "Basket Float64 IO Lines Order Priced String Vector",
    ),
    "shop.ml": Sample(
        "ocaml",
        """
        module Log 6-6
        type Unknown_order 8-9
        type state 11-14
        type line 16-16
        type order 18-18
        interface Store 20-23
        type Store.t 21-21
        method Store.insert 22-22
        constant tax_rate 25-25
        function round_price 27-30
        function total 32-35
        function total.add 34-34
        function count 37-39
        function is_even 41-41
        function is_odd 43-43
        function +! 45-45
        function now 47-47
        module Make 49-53
        function Make.save 50-52
        class basket 55-59
        variable basket.lines 56-56
        method basket.add 57-57
        method basket.label 58-58
        """,
        "Comparable Printf Shop.Log Shop.Prices",
        "basket count fold_left insert is_even is_odd label print_endline round round_price sprintf write",
        "Store float int line list order string unit",
    ),
    "shop.mli": Sample(
        "ocaml",
        """
        type order 5-5
        type Unknown_order 7-8
        type state 10-10
        function total 12-13
        function round_price 15-15
        module Reports 17-19
        function Reports.report 18-18
        interface Store 21-24
        type Store.t 22-22
        method Store.insert 23-23
        """,
        "Prices",
        "",
        "float int list order string unit",
    ),
    "shop.sol": Sample(
        "solidity",
        """
        type UnknownOrder 8-9
        constant MAX_LINES 11-11
        struct Line 13-16
        function roundPrice 18-20
        interface IStore 22-24
        method IStore.insert 23-23
        class Sums 26-30
        method Sums.add 27-29
        class Orders 32-72
        enum Orders.State 36-36
        constant Orders.State.Open 36-36
        constant Orders.State.Paid 36-36
        struct Orders.Order 38-41
        type Orders.Paid 43-43
        variable Orders.orders 45-45
        variable Orders.counter 46-46
        constant Orders.FEE 47-47
        method Orders.onlyOpen 49-52
        method Orders.constructor 54-56
        method Orders.total 58-64
        method Orders.insert 66-69
        method Orders.receive 71-71
        """,
        "../access/Ownable.sol ./Prices.sol labels/Labels.sol",
        "Ownable Paid UnknownOrder add onlyOpen require roundPrice",
        "IStore Line Order Ownable State Sums",
    ),
    "shop.tf": Sample(
        "hcl",
        """
        module aws 11-13
        variable region 15-20
        variable names 22-24
        constant prefix 27-27
        constant tags 28-30
        class data.aws_ami.base 33-36
        class aws_s3_bucket.orders 38-42
        class aws_instance.web 44-53
        module network 55-58
        variable address 60-63
        """,
        "./modules/network",
        "list merge upper",
        "base names orders prefix region tags web",
    ),
    "Shop.svelte": Sample(
        "svelte",
        """
        component Shop 1-51
        constant Shop.kind 4-4
        function Shop.preload 6-8
        variable Shop.lines 16-16
        variable Shop.total 17-17
        function Shop.sum 21-24
        function Shop.remove 26-28
        """,
        "../store/registry ./Row.svelte ./types svelte",
        "Empty Row filter onMount preload reduce register sum",
        "Line lines",
    ),
    "shop.m": Sample(
        "objc",
        """
        macro MAX_LINES 6-6
        macro ROUNDED 7-7
        type Changed 11-11
        enum State 13-16
        constant State.StateOpen 14-14
        constant State.StatePaid 15-15
        constant kTaxRate 18-18
        constant kKind 19-19
        struct Point 21-23
        interface Payable 25-28
        method Payable.total 27-27
        class Order 30-38
        variable Order.customer 34-34
        variable Order.lines 35-35
        method Order.initWithCustomer 36-36
        method Order.emptyOrder 37-37
        class Order 40-42
        method Order.label 41-41
        function roundPrice 44-47
        class Order 49-77
        method Order.emptyOrder 51-53
        method Order.initWithCustomer 55-61
        method Order.total 63-70
        method Order.saveTo 72-75
        """,
        "Foundation/Foundation.h Prices.h UIKit",
        """
        NSLog alloc copy dispatch_async dispatch_get_main_queue init initWithCustomer insert round
        roundPrice
        """,
        "Database Line NSArray NSObject NSString Order Payable instancetype",
    ),
    "shop.erl": Sample(
        "erlang",
        """
        module shop 1-57
        macro shop.MAX_LINES 10-10
        macro shop.ROUNDED 11-11
        type shop.state 13-13
        type shop.cents 14-14
        struct shop.order 17-18
        function shop.label 20-20
        function shop.start_link 22-25
        function shop.total 27-32
        function shop.add 34-37
        function shop.round_price 39-39
        function shop.check 41-45
        function shop.init 47-48
        function shop.handle_call 50-53
        function shop.total_test 56-57
        """,
        "gen_server kernel/include/logger.hrl lists shop.hrl",
        """
        LOG_INFO ROUNDED atom check clean error foldl integer is_list line map pid round_price start_link
        state string total
        """,
        "gen_server integer order",
    ),
    "shop.clj": Sample(
        "clojure",
        """
        module shop.orders 1-60
        variable shop.orders.tax-rate 10-10
        variable shop.orders.kinds 12-12
        variable shop.orders.registry 14-14
        interface shop.orders.Payable 18-21
        method shop.orders.Payable.total 20-20
        method shop.orders.Payable.pay 21-21
        class shop.orders.Order 23-28
        method shop.orders.Order.total 25-26
        method shop.orders.Order.pay 27-28
        class shop.orders.Cents 30-30
        function shop.orders.label 32-35
        function shop.orders.add-line 37-42
        macro shop.orders.with-order 44-46
        function shop.orders.describe 48-48
        function shop.orders.describe 50-52
        class shop.orders.String 54-56
        method shop.orders.String.total 56-56
        function shop.orders.save 58-60
        """,
        "clojure.string java.time.Instant java.time.LocalDate java.util.UUID shop.labels shop.prices",
        "Order add-line assoc atom join label map parse randomUUID reduce round-price save swap! total update",
        "Instant LocalDate Payable UUID",
    ),
    "shop.groovy": Sample(
        "groovy",
        """
        interface Payable 7-10
        method Payable.total 9-9
        trait Labelled 12-14
        method Labelled.label 13-13
        enum State 16-18
        class Order 20-53
        constant Order.TAX_RATE 25-25
        variable Order.customer 26-26
        variable Order.lines 27-27
        method Order.Order 29-31
        method Order.total 33-38
        method Order.add 40-44
        method Order.empty 46-48
        class Order.Receipt 50-52
        variable Order.Receipt.number 51-51
        class Line 55-57
        variable Line.price 56-56
        variable limit 59-59
        function report 61-65
        """,
        "groovy.transform.CompileStatic shop.Prices.roundPrice shop.store",
        "Order each empty info report roundPrice total",
        "Comparable CompileStatic Line List Order Override Payable Record String",
        problems=("syntax error at line 17",),
    ),
    "build.gradle": Sample(
        "groovy",
        """
        function countOrders 17-21
        function hello 23-25
        function versionName 27-29
        """,
        "gradle/publish.gradle",
        """
        apply dependencies dependsOn doLast ext getenv id implementation plugins println register
        testImplementation version
        """,
        "",
    ),
    "shop.ps1": Sample(
        "powershell",
        """
        variable TaxRate 12-12
        variable Registry 13-13
        enum State 15-18
        class Order 20-38
        variable Order.Customer 22-22
        variable Order.Lines 23-23
        method Order.Order 25-27
        method Order.Total 29-33
        method Order.Empty 35-37
        function Add-Line 40-53
        function Select-Paid 55-55
        function Save-Order 57-60
        """,
        "$PSScriptRoot/Labels.ps1 ./Prices.psm1 ActiveDirectory System.Collections.Generic",
        """
        Add-Line ConvertTo-Json Import-Csv New-Line Out-File Round Save-Order Select-Paid Validate
        Write-Verbose new
        """,
        "CmdletBinding Line Math Order Parameter Record State double string",
    ),
    "shop.f90": Sample(
        "fortran",
        """
        module shop_orders 1-56
        constant shop_orders.max_lines 11-11
        variable shop_orders.tax_rate 12-12
        struct shop_orders.payable 14-18
        method shop_orders.payable.amount 17-17
        struct shop_orders.order 20-26
        method shop_orders.order.amount 24-24
        interface shop_orders.operator(+) 36-38
        function shop_orders.total 42-47
        function shop_orders.clear 49-54
        module report 58-62
        function legacy 64-67
        """,
        "iso_fortran_env limits.inc shop_orders shop_prices",
        "log_message reset round_price sum total",
        "order payable",
    ),
    "legacy.f": Sample(
        "fortran",
        """
        module REPORT 1-11
        function LOAD 13-26
        function SUMOF 28-37
        function ROUNDED 39-42
        """,
        "limits.inc",
        "ANINT LOAD PRICES ROUNDED SUMOF",
        "",
    ),
}
LANGUAGES = sorted({sample.language for sample in SAMPLES.values()})


def document_of(name: str) -> ParsedDocument:
    text = (FOLDER / name).read_text(encoding="utf-8")
    document = parse(Document(f"src/{name}", SAMPLES[name].language, text, "f1", len(text.encode())))
    assert document is not None
    return document


@pytest.mark.parametrize("name", SAMPLES)
def test_the_language_of_a_sample(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert refine(name, language_of(name, text.split("\n")[0]), text) == SAMPLES[name].language


@pytest.mark.parametrize("name", SAMPLES)
def test_definitions(name: str) -> None:
    document = document_of(name)
    assert outline(document) == lines(SAMPLES[name].symbols)
    assert tuple(map(str, document.problems)) == SAMPLES[name].problems


@pytest.mark.parametrize("name", SAMPLES)
def test_names_that_are_used(name: str) -> None:
    document, sample = document_of(name), SAMPLES[name]
    assert names(document, "import") == set(sample.imports.split())
    assert names(document, "call") == set(sample.calls.split())
    assert names(document, "type") == set(sample.types.split())


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_may_be_cut_between_its_definitions(name: str) -> None:
    document = document_of(name)
    outer = {symbol.start_line for symbol in document.symbols if "." not in symbol.qualified_name} - {1, 2}
    breaks = {item.line for item in document.breaks}
    assert len(outer & breaks) >= len(outer) / 2, outer - breaks


def test_every_sample_is_used() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(SAMPLES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_broken_code_does_no_harm(language: str) -> None:
    for name, sample in SAMPLES.items():
        text = (FOLDER / name).read_text(encoding="utf-8")
        for broken in (text[: len(text) // 2], text[len(text) // 3 :], text.replace("\n", " "), text.replace(")", "(")):
            document = parse(Document(f"a/{name}", language, broken, "f1", len(broken.encode())))
            assert document is not None, sample.language


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_query_is_compiled_fast(language: str) -> None:
    load.cache_clear()
    load(language)  # takes the grammar out of its archive, the first time
    load.cache_clear()
    started = time.process_time()
    load(language)
    assert time.process_time() - started < 1.5  # 0.3 s at most on an idle machine; a bad pattern takes many times that


@pytest.mark.parametrize(
    ("language", "code", "doc"),
    [
        ("sql", "-- Adds up.\nCREATE TABLE a (b int);\n", "Adds up."),
        ("sql", "/* Adds up. */\nCREATE TABLE a (b int);\n", "Adds up."),
        ("dart", "/// Adds up.\nvoid a() {}\n", "Adds up."),
        ("r", "#' Adds up.\n#' @export\na <- function() 1\n", "Adds up.\n@export"),
        ("perl", "# Adds up.\nsub a { 1 }\n", "Adds up."),
        ("julia", '"Adds up."\na() = 1\n', "Adds up."),
        ("julia", '"""\n    a()\n\nAdds up.\n"""\nfunction a()\nend\n', "a()\n\nAdds up."),
        ("julia", "# Adds up.\nstruct A end\n", "Adds up."),
        ("ocaml", "(** Adds up.\n    Really. *)\nlet a b = b\n", "Adds up.\nReally."),
        ("solidity", "/// @notice Adds up.\ncontract A {}\n", "@notice Adds up."),
        ("hcl", '# Adds up.\nvariable "a" {}\n', "Adds up."),
        ("objc", "/// Adds up.\n@interface A : B\n@end\n", "Adds up."),
        ("erlang", "%% @doc Adds up.\n-spec a() -> ok.\na() -> ok.\n", "@doc Adds up."),
        ("clojure", '(defn a "Adds up." [b] b)\n', "Adds up."),
        ("clojure", ";; Adds up.\n(defn a [b] b)\n", "Adds up."),
        ("groovy", "/** Adds up. */\nclass A {}\n", "Adds up."),
        ("powershell", "<#\n.SYNOPSIS\nAdds up.\n#>\nfunction A { }\n", ".SYNOPSIS\nAdds up."),
        ("fortran", "!> Adds up.\nsubroutine a()\nend subroutine\n", "Adds up."),
    ],
)
def test_docs(language: str, code: str, doc: str) -> None:
    assert parsed(language, code).symbols[0].doc == doc


@pytest.mark.parametrize(
    ("language", "code", "signature"),
    [
        ("sql", "CREATE FUNCTION a(b int)\n  RETURNS int AS $$ SELECT 1 $$;\n", "CREATE FUNCTION a(b int) RETURNS int"),
        ("dart", "int a(int b,\n    int c) {\n  return b;\n}\n", "int a(int b, int c)"),
        ("r", "a <- function(b) {\n  b\n}\n", "a <- function(b)"),
        ("julia", "function a(b::C)::D\n    b\nend\n", "function a(b::C)::D"),
        ("ocaml", "let a b : c =\n  b\n", "let a b : c"),
        ("solidity", "function a(\n  uint b\n) pure {\n}\n", "function a( uint b ) pure"),
        ("hcl", 'resource "a" "b" {\n}\n', 'resource "a" "b"'),
        ("erlang", "a(B) when B > 1 ->\n  B.\n", "a(B) when B > 1"),
        ("groovy", "def a(int b) {\n  b\n}\n", "def a(int b)"),
        ("powershell", "function A-B($C) {\n}\n", "function A-B($C)"),
        ("fortran", "pure function a(b)\nend function\n", "pure function a(b)"),
    ],
)
def test_signatures(language: str, code: str, signature: str) -> None:
    assert parsed(language, code).symbols[0].signature == signature


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        (
            "dart",
            "class A {\n  int b() {\n    return 1;\n  }\n\n  int c() =>\n      2;\n}\n",
            "class A 1-8; method A.b 2-4; method A.c 6-7",
        ),
        (
            "erlang",
            "-spec a(b) -> c.\na(1) -> 1;\na(2) -> 2.\n-spec a(b, c) -> d.\na(B, C) -> B + C.\n",
            "function a 1-3; function a 4-5",
        ),
        (
            "perl",
            "package A::B;\nsub c { 1 }\npackage D { sub e { 2 } }\nsub f { 3 }\npackage G;\nour $h = 1;\n",
            "module A.B 1-4; function A.B.c 2-2; module D 3-3; function D.e 3-3; function A.B.f 4-4; module G 5-6; "
            "variable G.h 6-6",
        ),
        (
            "objc",
            "NS_ASSUME_NONNULL_BEGIN\n@interface A<T> : B\n- (void)c NS_SWIFT_NAME(d());\n@end\n"
            "typedef NS_OPTIONS(NSUInteger, E) {\n  F = 1,\n};\nNS_ASSUME_NONNULL_END\n",
            "class A 2-4; method A.c 3-3; enum E 5-7; constant E.F 6-6",
        ),
        (
            "objc",
            "@interface A : B\n@end\n@implementation A (C)\n- (void)d { }\n@end\n",
            "class A 1-2; class A 3-5; method A.d 4-4",
        ),
        ("sql", "create table `a` (b int);\nCREATE VIEW c.d AS SELECT 1;\n", "struct a 1-1; struct c.d 2-2"),
        ("sql", "CREATE FUNCTION a.b() RETURNS int AS $$ SELECT 1 $$;\n", "function a.b 1-1"),
        ("groovy", 'class A {\n  def "adds up"() {\n    add(1)\n  }\n}\n', "class A 1-5; method A.adds up 2-4"),
        ("powershell", "$script:a = 1\nfunction global:B { $c = 2 }\n", "variable a 1-1; function B 2-2"),
        ("hcl", 'job "a" {\n  group "b" {}\n}\nc = 1\n', "class a 1-3; variable c 4-4"),
        (
            "clojure",
            "(ns a.b)\n(defn c [] (d))\n(ns e)\n(def f 1)\n",
            "module a.b 1-2; function a.b.c 2-2; module e 3-4; variable e.f 4-4",
        ),
        ("ocaml", "let rec a b = c b\nand c d = a d\nlet e = 1\n", "function a 1-1; function c 2-2; constant e 3-3"),
        (
            "julia",
            "f(x) = 1\nx = 1\nconst Y = 2\nfunction A.g(x) end\n",
            "function f 1-1; variable x 2-2; constant Y 3-3; method A.g 4-4",
        ),
        (
            "r",
            "f = function(x) x\ng <<- function() 1\n'h' <- function() 1\n",
            "function f 1-1; function g 2-2; function h 3-3",
        ),
    ],
)
def test_what_is_special_in_a_language(language: str, code: str, expected: str) -> None:
    assert "; ".join(outline(parsed(language, code))) == expected


def test_a_constructor_of_clojure_is_a_use_of_its_record() -> None:
    assert names(parsed("clojure", "(defn a [] (Order. 1) (->Line 2) (map->Item {}))\n"), "call") == {
        "Order",
        "Line",
        "Item",
    }


def test_names_in_quotes_are_used_without_them() -> None:
    assert names(parsed("sql", 'SELECT 1 FROM `orders`, "lines";\n'), "type") == {"orders", "lines"}


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        ("a.f", "C     Why.\n      SUBROUTINE B\n      X = 1 +\n     1    2\n      END\n", "B Why."),
        ("a.f", "! Why.\nsubroutine b\n  call c(1, &\n    2)\nend subroutine\n", "b Why."),
        ("a.f90", "! Why.\nsubroutine b\nend subroutine\n", "b Why."),
    ],
)
def test_fortran_in_fixed_form(name: str, code: str, expected: str) -> None:
    document = parse(Document(name, "fortran", code, "f1", len(code)))
    assert document is not None
    assert document.problems == ()
    assert [f"{symbol.name} {symbol.doc}" for symbol in document.symbols] == [expected]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_samples_show_all_that_a_query_captures(language: str) -> None:
    documents = [document_of(name) for name, sample in SAMPLES.items() if sample.language == language]
    kinds = {symbol.kind for document in documents for symbol in document.symbols}
    uses = {reference.kind for document in documents for reference in document.references}
    grammar = load(language)
    captures = {grammar.names.capture_name(index) for index in range(grammar.names.capture_count)}
    assert set(grammar.kinds) - kinds == {"prototype"} & set(grammar.kinds)
    assert {kind for kind in ("import", "call", "type") if f"reference.{kind}" in captures} <= uses
