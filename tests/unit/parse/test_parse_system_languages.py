"""Definitions, imports and calls of Go, Rust, Java, C and C++."""

from __future__ import annotations

import pytest
from tests.unit.parse.outlines import lines, names, outline, parsed

DEFINITIONS = {
    "go": (
        """
        package shop
        // Order is one.
        type Order[T any] struct { id int }
        type Alias = Order
        type Priced interface {
            Price() int
        }
        func (o *Order[T]) Add(a int) error {
            var local = 1
            return nil
        }
        func top() {}
        const limit = 1
        const (
            one = 1
            two = 2
        )
        var (
            first int
            last = 1
        )
        """,
        """
        struct Order 2-3
        type Alias 4-4
        interface Priced 5-7
        method Priced.Price 6-6
        method Order.Add 8-11
        function top 12-12
        constant limit 13-13
        constant one 15-15
        constant two 16-16
        variable first 19-19
        variable last 20-20
        """,
    ),
    "rust": (
        """
        /// An order.
        #[derive(Debug)]
        pub struct Order<T> { id: T }
        impl<T> fmt::Display for Order<T> {
            const MAX: u8 = 1;
            fn show(&self) -> u8 { 1 }
        }
        pub trait Priced {
            type Price;
            fn price(&self) -> u8;
        }
        enum Color { Red }
        union Bits { a: u8 }
        mod inner {
            fn deep() {}
        }
        static NAME: &str = "x";
        static mut COUNT: u8 = 0;
        type Alias = u8;
        macro_rules! twice { () => {} }
        """,
        """
        struct Order 1-3
        class Order 4-7
        constant Order.MAX 5-5
        method Order.show 6-6
        trait Priced 8-11
        type Priced.Price 9-9
        method Priced.price 10-10
        enum Color 12-12
        constant Color.Red 12-12
        struct Bits 13-13
        module inner 14-16
        function inner.deep 15-15
        constant NAME 17-17
        variable COUNT 18-18
        type Alias 19-19
        macro twice 20-20
        """,
    ),
    "java": (
        """
        package shop;
        /** An order. */
        @Entity
        public class Order extends Base {
            public static final int MAX = 1;
            private int plain;
            Order() { super(); }
            int add(int a) {
                return a;
            }
            enum Color { RED }
        }
        record Line(int a) { }
        interface Priced { int price(); }
        @interface Mark { String value(); }
        """,
        """
        class Order 2-12
        constant Order.MAX 5-5
        method Order.Order 7-7
        method Order.add 8-10
        enum Order.Color 11-11
        constant Order.Color.RED 11-11
        class Line 13-13
        interface Priced 14-14
        method Priced.price 14-14
        interface Mark 15-15
        method Mark.value 15-15
        """,
    ),
    "c": (
        """
        #define LIMIT 1
        #define TWICE(a) ((a) * 2)
        int add(int a);
        /* Finds. */
        static char *find(int a)
        {
            int local = 1;
            return 0;
        }
        struct order { int id; };
        union bits { int a; };
        enum color { RED };
        typedef struct { int a; } point;
        typedef int (*callback)(int);
        static const int most = 1;
        int count;
        """,
        """
        macro LIMIT 1-1
        macro TWICE 2-2
        function add 3-3
        function find 4-9
        struct order 10-10
        struct bits 11-11
        enum color 12-12
        constant color.RED 12-12
        struct point 13-13
        type callback 14-14
        constant most 15-15
        variable count 16-16
        """,
    ),
    "cpp": (
        """
        namespace shop {
        /// An order.
        template <class T>
        class Order : public Base {
          Order();
          ~Order();
          int size() const { return 1; }
          virtual int *find() = 0;
          Order &operator=(const Order &);
        };
        }
        int &shop::Order<int>::add(int a) {
          Guard guard(lock);
          return a;
        }
        Order::Order() : id(1) {}
        using Alias = int;
        template <typename T> concept Small = true;
        enum class Color { Red };
        constexpr int most = 1;
        template <class T> T same(T x) { return x; }
        """,
        """
        module shop 1-11
        class shop.Order 2-10
        method shop.Order.Order 5-5
        method shop.Order.~Order 6-6
        method shop.Order.size 7-7
        method shop.Order.find 8-8
        method shop.Order.operator= 9-9
        method shop.Order.add 12-15
        method Order.Order 16-16
        type Alias 17-17
        type Small 18-18
        enum Color 19-19
        constant Color.Red 19-19
        constant most 20-20
        function same 21-21
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
        ("go", 'package a\nimport "fmt"\nimport (\n\tx "a/b"\n)\n', {"fmt", "a/b"}),
        ("rust", "use aa::bb::Cc;\nextern crate dd;\nmod ee;\n", {"aa::bb::Cc", "dd", "ee"}),
        ("java", "import aa.Bb;\nimport static cc.Dd.ee;\n", {"aa.Bb", "cc.Dd.ee"}),
        ("c", '#include <aa.h>\n#include "b/b.h"\n', {"aa.h", "b/b.h"}),
        ("cpp", '#include <vector>\n#include "b.hpp"\n', {"vector", "b.hpp"}),
    ],
)
def test_imports(language: str, code: str, imports: set[str]) -> None:
    assert names(parsed(language, code), "import") == imports


@pytest.mark.parametrize(
    ("language", "code", "calls"),
    [
        ("go", "package a\nfunc b() { one(1); c.two() }\n", "one two"),
        ("rust", "fn a() { one(1); b.two(); C::three(); four::<u8>(); five!(); }\n", "one two three four five"),
        ("java", "class A { void b() { one(1); c.two(); new Three<D>(); } }\n", "one two Three"),
        ("c", "void a(void) { one(1); b->two(2); }\n", "one two"),
        ("cpp", "void a() { one(1); b->two(); C::three(); d::four<int>(); new Five(); }\n", "one two three four Five"),
    ],
)
def test_calls(language: str, code: str, calls: str) -> None:
    assert names(parsed(language, code), "call") == set(calls.split())
