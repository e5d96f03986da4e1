"""Definitions, imports and calls of the languages whose queries stand in csharp.scm … zig.scm."""

from __future__ import annotations

import pytest
from tests.unit.parse.outlines import lines, names, outline, parsed

from codefathom.parse.clauses import merge_clauses
from codefathom.types import Symbol

DEFINITIONS = {
    "csharp": (
        """
        using System;
        namespace Shop.Orders
        {
            /// <summary>An order.</summary>
            [Serializable]
            public partial class Order : Base<int>, IOrder
            {
                private const int Max = 1;
                public static readonly string Kind = "x";
                private int plain;
                public event EventHandler Changed;
                public int Count { get; set; }
                public string Full => Kind + 1;
                public Order(int a) : base(a) { }
                public static T First<T>(this IDb db) where T : class
                {
                    return db.Query<T>();
                }
                public static Order operator +(Order a, Order b) => a;
                private enum Color { Red, Green }
            }
            public struct Point { }
            public record Line(int A);
            public record struct Pair(int A);
            public interface IOrder { void Do(); }
            public delegate void Handler(object o);
        }
        """,
        """
        module Shop.Orders 2-27
        class Shop.Orders.Order 4-21
        constant Shop.Orders.Order.Max 8-8
        constant Shop.Orders.Order.Kind 9-9
        variable Shop.Orders.Order.Changed 11-11
        variable Shop.Orders.Order.Count 12-12
        variable Shop.Orders.Order.Full 13-13
        method Shop.Orders.Order.Order 14-14
        method Shop.Orders.Order.First 15-18
        method Shop.Orders.Order.+ 19-19
        enum Shop.Orders.Order.Color 20-20
        constant Shop.Orders.Order.Color.Red 20-20
        constant Shop.Orders.Order.Color.Green 20-20
        struct Shop.Orders.Point 22-22
        class Shop.Orders.Line 23-23
        struct Shop.Orders.Pair 24-24
        interface Shop.Orders.IOrder 25-25
        method Shop.Orders.IOrder.Do 25-25
        type Shop.Orders.Handler 26-26
        """,
    ),
    "ruby": (
        """
        # Orders.
        module Shop
          VERSION = "1"
          class Order < Base
            attr_accessor :name
            class << self
              def build(env) = new(env)
            end
            # Why.
            def self.load; end
            def initialize(a)
              @a = a
            end
            def name=(v); end
            def valid?; end
            private
              def secret; end
            Point = Struct.new(:x) do
              def far; end
            end
            Missing = Class.new(StandardError)
          end
          class Order::Line < Base
            def total; end
          end
          module A::B; end
        end
        def top; end
        task :migrate do
          run
        end
        """,
        """
        module Shop 1-27
        constant Shop.VERSION 3-3
        class Shop.Order 4-22
        variable Shop.Order.name 5-5
        method Shop.Order.build 7-7
        method Shop.Order.load 9-10
        method Shop.Order.initialize 11-13
        method Shop.Order.name= 14-14
        method Shop.Order.valid? 15-15
        method Shop.Order.secret 17-17
        class Shop.Order.Point 18-20
        method Shop.Order.Point.far 19-19
        class Shop.Order.Missing 21-21
        class Shop.Order.Line 23-25
        method Shop.Order.Line.total 24-24
        module Shop.A.B 26-26
        function top 28-28
        function migrate 29-31
        """,
    ),
    "php": (
        """
        <?php
        const TOP = 1;
        define('OLD', 2);
        /** An order. */
        #[Entity]
        abstract class Order extends Base implements A
        {
            use Macroable;
            public const MAX = 1;
            protected static $cache = [];
            private ?string $name;
            public function __construct(private int $x)
            {
            }
            abstract public static function of(Foo $a): Bar;
        }
        trait Named { public function name() {} }
        interface HasPrice
        {
            const Z = 1;
            public function price();
        }
        enum Suit: string { case Hearts = 'H'; public function label(): string {} }
        function helper(int $a): int { return $a; }
        """,
        """
        constant TOP 2-2
        constant OLD 3-3
        class Order 4-16
        constant Order.MAX 9-9
        variable Order.cache 10-10
        variable Order.name 11-11
        method Order.__construct 12-14
        method Order.of 15-15
        trait Named 17-17
        method Named.name 17-17
        interface HasPrice 18-22
        constant HasPrice.Z 20-20
        method HasPrice.price 21-21
        enum Suit 23-23
        constant Suit.Hearts 23-23
        method Suit.label 23-23
        function helper 24-24
        """,
    ),
    "kotlin": (
        """
        package shop

        /** An order. */
        @Entity
        data class Order(val name: String) : Base(name), Named {
            companion object {
                const val MAX = 1
                fun create(): Order = Order("x")
            }
            val full: String
                get() = name
            constructor(a: Int) : this("x")
            inner class Line {
                fun total() {}
            }
            override fun <T> run(a: List<T>): Int {
                val local = 1
                return a.size
            }
        }
        sealed interface Shape
        object Registry {
            fun register() {}
        }
        enum class Color {
            RED, GREEN;
            fun dark() = 1
        }
        @Target(A.B)
        annotation class Marker
        fun String.shout(): String = uppercase()
        fun <T> List<T>.second() = this[1]
        val Order.price: Int
            get() = 1
        const val LIMIT = 2
        val top = 1
        typealias Handler = (Int) -> Unit
        """,
        """
        class Order 3-20
        constant Order.MAX 7-7
        method Order.create 8-8
        variable Order.full 10-11
        method Order.constructor 12-12
        class Order.Line 13-15
        method Order.Line.total 14-14
        method Order.run 16-19
        interface Shape 21-21
        class Registry 22-24
        method Registry.register 23-23
        enum Color 25-28
        constant Color.RED 26-26
        constant Color.GREEN 26-26
        method Color.dark 27-27
        class Marker 29-30
        method String.shout 31-31
        method List.second 32-32
        variable Order.price 33-34
        constant LIMIT 35-35
        variable top 36-36
        type Handler 37-37
        """,
    ),
    "swift": (
        """
        import Foundation
        /// An order.
        @available(*, deprecated)
        public final class Order: Base {
            public let name: String
            var total: Int { 1 }
            public init(_ a: Int) {
                self.run()
            }
            deinit { }
            func run() { let local = 1 }
            static func == (l: Order, r: Order) -> Bool { true }
            enum Kind { case a, b }
        }
        extension Order: Named {
            func named() { }
        }
        struct Point { var x: Int }
        protocol Named: AnyObject {
            associatedtype Item
            var name: String { get }
            func named()
        }
        actor Store { }
        typealias Handler = (Int) -> Void
        func top() { }
        let limit = 1
        """,
        """
        class Order 2-14
        constant Order.name 5-5
        variable Order.total 6-6
        method Order.init 7-9
        method Order.deinit 10-10
        method Order.run 11-11
        method Order.== 12-12
        enum Order.Kind 13-13
        constant Order.Kind.a 13-13
        constant Order.Kind.b 13-13
        class Order 15-17
        method Order.named 16-16
        struct Point 18-18
        variable Point.x 18-18
        interface Named 19-23
        type Named.Item 20-20
        variable Named.name 21-21
        method Named.named 22-22
        class Store 24-24
        type Handler 25-25
        function top 26-26
        constant limit 27-27
        """,
    ),
    "scala": (
        """
        package shop

        /** An order. */
        @deprecated
        sealed abstract class Order[A](val head: A) extends Base {
          type Self = Int
          lazy val full = 3
          def map[B](f: A => B): Order[B] = {
            val local = 1
            f(head)
          }
          def size: Int
        }
        case class Line(x: Int)
        object Order extends Instances {
          implicit class Ops(a: Int) { def go = 1 }
        }
        trait Functor[F[_]] {
          def lift(a: Int): F[Int]
        }
        enum Color:
          case Red, Green
        given intOrd: Ord[Int] with
          def compare(x: Int, y: Int) = 1
        extension (s: String)
          def shout = s.toUpperCase
        type Alias = Int
        def top(x: Int) = x
        """,
        """
        class Order 3-13
        type Order.Self 6-6
        variable Order.full 7-7
        method Order.map 8-11
        method Order.size 12-12
        class Line 14-14
        class Order 15-17
        class Order.Ops 16-16
        method Order.Ops.go 16-16
        trait Functor 18-20
        method Functor.lift 19-19
        enum Color 21-22
        constant Color.Red 22-22
        constant Color.Green 22-22
        class intOrd 23-24
        method intOrd.compare 24-24
        method String.shout 26-26
        type Alias 27-27
        function top 28-28
        """,
    ),
    "lua": (
        """
        local util = require("shop.util")
        local M = {}
        M.limit = 3
        local function helper(a) return a end
        --- Adds.
        function M.add(a)
          local inner = 1
          return helper(a)
        end
        function M:run() end
        function M.sub.deep() end
        M.later = function() end
        local late = function() end
        local t = { go = function() end }
        return M
        """,
        """
        variable M 2-2
        variable M.limit 3-3
        function helper 4-4
        method M.add 5-9
        method M.run 10-10
        method M.sub.deep 11-11
        method M.later 12-12
        function late 13-13
        variable t 14-14
        function t.go 14-14
        """,
    ),
    "haskell": (
        """
        module Shop (total) where

        data Order a = Order { size :: Int } | None

        -- | Adds up.
        total :: Int -> Int
        total 0 = 0
        total n = go n
          where go x = x

        (<+>) :: Int -> Int -> Int
        a <+> b = a + b

        newtype Name = Name String
        type Alias = Int

        class Shape a where
          area :: a -> Double
          area _ = 1

        instance Show a => Shape (Order a) where
          area (Order _) = 2

        main = print 1
        """,
        """
        type Order 3-3
        function total 5-9
        function <+> 11-12
        type Name 14-14
        type Alias 15-15
        class Shape 17-19
        method Shape.area 18-19
        class Order.Shape 21-22
        method Order.Shape.area 22-22
        function main 24-24
        """,
    ),
    "elixir": (
        '''
        defmodule Shop.Order do
          @moduledoc """
          An order.
          """
          use Shop.Schema
          @limit 5
          @type t :: map
          @callback price(t) :: integer
          defstruct [:name]

          def add(a, b \\\\ 1) when is_integer(a) do
            helper(a) |> Repo.all()
          end

          def add(:x, _), do: 1

          defp helper(a), do: a

          defmacro unless_nil(x) do
            x
          end

          defguard is_small(x) when x < 1
          defdelegate put(a), to: Map
        end

        defprotocol Shop.Priced do
          def price(data)
        end

        defimpl Shop.Priced, for: Shop.Order do
          def price(x), do: x
        end
        ''',
        """
        module Shop.Order 1-25
        constant Shop.Order.limit 6-6
        type Shop.Order.t 7-7
        function Shop.Order.price 8-8
        struct Shop.Order.defstruct 9-9
        function Shop.Order.add 11-15
        function Shop.Order.helper 17-17
        macro Shop.Order.unless_nil 19-21
        macro Shop.Order.is_small 23-23
        function Shop.Order.put 24-24
        module Shop.Priced 27-29
        function Shop.Priced.price 28-28
        module Shop.Priced.Shop.Order 31-33
        function Shop.Priced.Shop.Order.price 32-32
        """,
    ),
    "bash": (
        """
        #!/bin/bash

        LIMIT=1
        export NAME=x
        readonly KIND=y
        declare -r MAX=3
        # Says hello.
        hello() {
          local inner=1
          printf '%s' "$inner"
        }
        function bye { hello; }
        @test "it works" {
          run hello
        }
        """,
        """
        variable LIMIT 3-3
        variable NAME 4-4
        constant KIND 5-5
        constant MAX 6-6
        function hello 7-11
        function bye 12-12
        function it works 13-13
        """,
    ),
    "zig": (
        """
        const std = @import("std");
        /// A point.
        pub const Point = struct {
            x: u8,
            pub const zero = 0;
            pub fn init(a: u8) Point {
                const local = 1;
                return .{ .x = a };
            }
        };
        const Color = enum { red, green };
        const Value = union(enum) { a: u8 };
        const Fault = error{ Bad, Worse };
        var counter: usize = 0;
        const limit = 3;
        pub fn List(comptime T: type) type {
            return struct {
                pub fn len(self: @This()) usize { return 0; }
            };
        }
        test "a point" { try std.testing.expect(true); }
        """,
        """
        struct Point 2-10
        constant Point.zero 5-5
        method Point.init 6-9
        enum Color 11-11
        struct Value 12-12
        enum Fault 13-13
        variable counter 14-14
        constant limit 15-15
        function List 16-20
        function List.len 18-18
        function a point 21-21
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
        ("csharp", "using System.Linq;\nusing static Aa.Bb;\nusing Json = Cc.Dd;\n", {"System.Linq", "Aa.Bb", "Cc.Dd"}),
        ("ruby", "require 'aa/bb'\nrequire_relative \"cc\"\nautoload :Dd, 'dd'\n", {"aa/bb", "cc", "dd"}),
        ("php", "<?php\nuse Aa\\Bb;\nuse function Cc\\dd;\nrequire 'ee.php';\n", {"Aa\\Bb", "Cc\\dd", "ee.php"}),
        ("kotlin", "import aa.bb.Cc\nimport dd.Ee as Ff\n", {"aa.bb.Cc", "dd.Ee"}),
        ("swift", "import Foundation\nimport struct Aa.Bb\n", {"Foundation", "Aa.Bb"}),
        ("scala", "import aa.bb._\nimport cc.{Dd, Ee => Ff}\n", {"import aa.bb._", "import cc.{Dd, Ee => Ff}"}),
        ("lua", 'local aa = require("aa.bb")\nlocal cc = require "dd".ee\n', {"aa.bb", "dd"}),
        ("haskell", "module Aa where\nimport qualified Data.Map as M\nimport Bb\n", {"Data.Map", "Bb"}),
        (
            "elixir",
            "use Aa.Bb\nalias Cc.{Dd, Ee}\nimport Ff, only: [gg: 1]\nrequire Hh\n",
            {"Aa.Bb", "Cc.{Dd, Ee}", "Ff", "Hh"},
        ),
        ("bash", "source lib/a.sh\n. ./b.sh\nload helper\n", {"lib/a.sh", "./b.sh", "helper"}),
        ("zig", 'const aa = @import("aa.zig");\nconst bb = @import("std").mem;\n', {"aa.zig", "std"}),
    ],
)
def test_imports(language: str, code: str, imports: set[str]) -> None:
    assert names(parsed(language, code), "import") == imports


@pytest.mark.parametrize(
    ("language", "code", "calls"),
    [
        ("csharp", "class A { void B() { one(); d.two<int>(); f?.three(); new Four(); } }\n", "one two three Four"),
        ("ruby", "def a\n  one(1)\n  c.two\n  E.new\n  private\nend\n", "one two new"),
        ("php", "<?php\none(1); $b->two(); D::three(); new Four(); $g?->five();\n", "one two three Four five"),
        ("kotlin", "fun a() {\n  one(1)\n  c.two { three() }\n  x four y\n}\n", "one two three four"),
        ("swift", "func a() { one(1); c.d.two(); F.init() }\n", "one two init"),
        ("scala", "object A { one(1); c.two(2); new Three(3); four[Int](4) }\n", "one two Three four"),
        ("lua", "one(1)\nb.two(2)\nd:three()\n", "one two three"),
        ("haskell", "module A where\nb = one 1 (Two 2) . three\nf = do\n  M.four 3\n", "one Two three four"),
        ("elixir", "def a do\n  one(1)\n  C.two(2) |> three\n  &four/1\nend\n", "one two three four"),
        ("bash", "a() { one 1; two | three; [ x ]; }\n", "one two three"),
        ("zig", "fn a() void { one(1); c.two(2); const e = Three{ .x = 1 }; }\n", "one two Three"),
    ],
)
def test_calls(language: str, code: str, calls: str) -> None:
    assert names(parsed(language, code), "call") == set(calls.split())


@pytest.mark.parametrize(
    ("language", "code", "types"),
    [
        ("csharp", "class A : Bb<Cc> { Dd e { get; } void F(Ee g) { typeof(Ff); } }\n", "Bb Cc Dd Ee Ff"),
        ("ruby", "class A < B::Cc\n  include Dd\n  Ee.find\nend\n", "Cc Dd Ee"),
        (
            "php",
            "<?php\nclass A extends Bb implements Cc { use Dd; function e(Ee $g): ?Ff { Gg::hh(); } }\n",
            "Bb Cc Dd Ee Ff Gg",
        ),
        ("kotlin", "class A(b: Bb) : Cc() {\n  val e: Dd<Ee>? = null\n}\n", "Bb Cc Dd Ee"),
        ("swift", "class A: Bb { func c(d: [Cc: Dd]) -> Ee<Ff>? { nil } }\n", "Bb Cc Dd Ee Ff"),
        ("scala", "class A(b: Bb) extends Cc[Dd] with Ee { def f: Ff = 1 }\n", "Bb Cc Dd Ee Ff"),
        ("haskell", "module A where\nb :: Cc -> Maybe Dd\nb = 1\n", "Cc Maybe Dd"),
        ("elixir", "def a, do: %Bb.Cc{x: Dd.e()}\n", "Bb.Cc Dd"),
        ("zig", "fn a(b: Cc, d: *Dd) Ee {}\n", "Cc Dd Ee"),
    ],
)
def test_types(language: str, code: str, types: str) -> None:
    assert names(parsed(language, code), "type") == set(types.split())


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        (
            "csharp",
            "using X;\nnamespace Shop.Orders;\n/// Why.\npublic class Order\n{\n    int Count { get; }\n}\n",
            """
            module Shop.Orders 2-7
            class Shop.Orders.Order 3-7
            variable Shop.Orders.Order.Count 6-6
            """,
        ),
        (
            "php",
            "<?php\nnamespace Shop\\Orders;\nclass Order\n{\n}\nnamespace Shop;\nfunction top()\n{\n}\n",
            """
            module Shop.Orders 2-5
            class Shop.Orders.Order 3-5
            module Shop 6-9
            function Shop.top 7-9
            """,
        ),
        (
            "php",
            "<?php\nnamespace Shop {\n    function top() {}\n}\n",
            """
            module Shop 2-4
            function Shop.top 3-3
            """,
        ),
    ],
)
def test_namespaces_without_a_body_hold_what_follows(language: str, code: str, expected: str) -> None:
    assert outline(parsed(language, code)) == lines(expected)


def test_what_the_kotlin_grammar_does_not_know_keeps_the_class() -> None:
    code = "open class Query(\n    var a: Int\n) : Base<Query>(a),\n    Named {\n\n    fun run() = 1 ?? 2\n}\n"
    assert "Query" in {symbol.name for symbol in parsed("kotlin", code).symbols}


@pytest.mark.parametrize(
    ("language", "code", "doc"),
    [
        ("csharp", "/// <summary>Adds up.</summary>\nclass A { }\n", "Adds up."),
        ("ruby", "# Adds up.\nclass A; end\n", "Adds up."),
        ("php", "<?php\n/** Adds up. */\nclass A {}\n", "Adds up."),
        ("kotlin", "/** Adds up. */\nclass A {\n}\n", "Adds up."),
        ("swift", "/// Adds up.\nclass A { }\n", "Adds up."),
        ("scala", "/** Adds up. */\nclass A { }\n", "Adds up."),
        ("lua", "--- Adds up.\nfunction a() end\n", "Adds up."),
        ("haskell", "-- | Adds up.\na :: Int\na = 1\n", "Adds up."),
        ("elixir", 'defmodule A do\n  @moduledoc "Adds up."\nend\n', "Adds up."),
        ("bash", "# Adds up.\na() { b; }\n", "Adds up."),
        ("zig", "/// Adds up.\nfn a() void {}\n", "Adds up."),
        ("haskell", "module A where\nimport B\n-- | Adds up.\na :: Int\na = 1\n", "Adds up."),
        ("haskell", "a = 1\n-- | Adds up.\ndata B = B\n", ""),
    ],
)
def test_docs(language: str, code: str, doc: str) -> None:
    assert doc in parsed(language, code).symbols[0].doc


def test_docs_of_elixir_stand_in_attributes() -> None:
    code = """
    defmodule Shop do
      @doc "First."
      def one, do: 1

      @doc \"\"\"
      Second.
      \"\"\"
      @impl true
      @spec two(a) :: b
      def two(a), do: a
      def two(_), do: 2

      @doc ~S"Third."
      defmacro three(a), do: a

      @doc false
      def four, do: 4
    end
    """
    docs = {item.name: item.doc for item in parsed("elixir", code).symbols}
    assert "First." in docs["one"]
    assert docs["two"] == "Second."
    assert "Third." in docs["three"]
    assert (docs["Shop"], docs["four"]) == ("", "")


@pytest.mark.parametrize(
    ("language", "code", "signature"),
    [
        ("csharp", "class A\n{\n    int B(int c,\n        int d) => c;\n}\n", "int B(int c, int d)"),
        ("ruby", "class A\n  def b(c)\n    d\n  end\nend\n", "def b(c)"),
        (
            "php",
            "<?php\nclass A {\n    public function b(int $c): D\n    {\n    }\n}\n",
            "public function b(int $c): D",
        ),
        ("kotlin", "class A {\n    fun b(\n        c: Int,\n    ): D {\n    }\n}\n", "fun b( c: Int, ): D"),
        ("swift", "class A {\n    func b(c: Int) -> D {\n    }\n}\n", "func b(c: Int) -> D"),
        ("scala", "class A {\n  def b(c: Int): D = {\n  }\n}\n", "def b(c: Int): D"),
        ("lua", "A = {}\nfunction A.b(c)\n  d()\nend\n", "function A.b(c)"),
        ("haskell", "data A = A\nb :: Int -> D\nb c = d\n", "b :: Int -> D"),
        ("elixir", "defmodule A do\n  def b(c) when c > 1 do\n    c\n  end\nend\n", "def b(c) when c > 1"),
        ("bash", "A=1\nb() {\n  c\n}\n", "b()"),
        ("zig", "const A = struct {\n    pub fn b(c: u8) D {\n    }\n};\n", "pub fn b(c: u8) D"),
    ],
)
def test_signatures(language: str, code: str, signature: str) -> None:
    assert parsed(language, code).symbols[1].signature == signature


def symbol(name: str, line: int, doc: str = "", kind: str = "function") -> Symbol:
    return Symbol(kind, name.rpartition(".")[2], name, line, line, line, doc=doc)


@pytest.mark.parametrize(
    ("language", "found", "expected"),
    [
        ("haskell", [symbol("a", 1, "why"), symbol("a", 2), symbol("a", 3)], [("a", 1, 3, "why")]),
        ("haskell", [symbol("a", 1), symbol("a", 2, "note")], [("a", 1, 2, "note")]),
        (
            "haskell",
            [symbol("a", 1), symbol("b", 2), symbol("a", 3)],
            [("a", 1, 1, ""), ("b", 2, 2, ""), ("a", 3, 3, "")],
        ),
        ("haskell", [symbol("A", 1, kind="type"), symbol("A", 2, kind="type")], [("A", 1, 1, ""), ("A", 2, 2, "")]),
        ("haskell", [symbol("A.b", 1), symbol("b", 2)], [("A.b", 1, 1, ""), ("b", 2, 2, "")]),
        ("elixir", [symbol("A.b", 1, "one"), symbol("A.b", 2)], [("A.b", 1, 2, "one")]),
        ("elixir", [symbol("A.b", 1, "one"), symbol("A.b", 2, "two")], [("A.b", 1, 1, "one"), ("A.b", 2, 2, "two")]),
        ("elixir", [], []),
    ],
)
def test_clauses(language: str, found: list[Symbol], expected: list[tuple[str, int, int, str]]) -> None:
    merged = merge_clauses(found, language)
    assert [(item.qualified_name, item.start_line, item.end_line, item.doc) for item in merged] == expected
