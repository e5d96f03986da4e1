"""Forms of definitions that are seldom written, and were lost: each is a symbol."""

from __future__ import annotations

import pytest
from tests.unit.parse.outlines import outline

from codefathom.parse import parse
from codefathom.types import Document


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("c", "typedef void (opened)(int n);\n", "type opened"),
        ("c", "typedef void (*opened)(int n);\n", "type opened"),
        ("c", "typedef intptr_t ssize_t;\n", "type ssize_t"),
        ("c", "extern int ZEXPORT open_shop(int n,\n    int m) {\n  return n;\n}\n", "function open_shop"),
        ("cpp", "typedef intptr_t ssize_t;\n", "type ssize_t"),
        ("cpp", "template <>\ninline void put<char>(int n) {\n}\n", "function put"),
        ("cpp", "template <>\nvoid Shop::put<char>(int n) {\n}\n", "method Shop.put"),
        ("cpp", "template <typename T>\nstruct kept\n    : std::is<bool, is_a<T>{}> {};\n", "struct kept"),
        ("cpp", "void a::b::Shop::open(int n) {\n}\n", "method a.b.Shop.open"),
        ("cpp", "Info* a::b::Shop::open(int n) {\n}\n", "method a.b.Shop.open"),
        ("lua", "local a = { ['open'] = function(n) end }\n", "variable a, function a.open"),
        ("lua", "open = open or function(n) end\n", "function open"),
        ("lua", "a.open = a.open or function(n) end\n", "method a.open"),
        ("julia", "Base.write(io::IO)::Int = put(io)\n", "method Base.write"),
        ("cpp", "SHOP_INLINE Shop<T>::Shop(int n) {\n}\n", "method Shop.Shop"),
        ("cpp", "SHOP_INLINE std::tm now() SHOP_NOEXCEPT {\n}\n", "function now"),
        ("lua", "local open\nif x then\n  open = function(n)\n    return n\n  end\nend\n", "function open"),
        ("lua", "local function a()\n  open = function(n)\n  end\nend\n", "function a, function a.open"),
        ("javascript", "function make() {\n  return function named() {};\n}\n", "function make, function make.named"),
        ("typescript", "store.subscribe(function named() {});\n", "function named"),
        ("javascript", "const a = function b() {};\n", "function a"),
        ("javascript", "module.exports = class Shop extends Base {\n  open() {}\n};\n", "class Shop, method Shop.open"),
        ("javascript", "it('x', () => {\n  client.wrap = function (n) {};\n});\n", "method client.wrap"),
        ("javascript", "Shop.prototype.shut = Shop.prototype.close;\n", "method Shop.shut"),
        ("javascript", "it('x', () => {\n  a.config.wrap = function (n) {};\n});\n", "method config.wrap"),
        ("tcl", "proc canvas:save {w} {\n}\n", "function canvas:save"),
        ("julia", "Base.empty(s::Shop{T}) where {T} = Shop{T}()\n", "method Base.empty"),
        ("julia", "Base.in(k, s::Shop) =\n    haskey(s, k)\n", "method Base.in"),
        ("julia", "struct Shop{K} end\nShop{K}() where K = new{K}()\n", "struct Shop, function Shop"),
        ("julia", "function Shop{K,V}() where {K,V}\nend\n", "function Shop"),
        ("julia", "function Base.:(==)(a::Shop, b::Shop)\nend\n", "method Base.=="),
        ("ocaml", "let ( / ) = Path.( / )\n", "function /"),
        ("ocaml", "let ( >>= ) a f = bind a f\n", "function >>="),
        ("objc", "@implementation Shop\n- (int)open:(int)n with:(int)m {\n}\n@end\n", "class Shop, method Shop.open"),
    ],
)  # fmt: skip
def test_a_form_of_definition_is_a_symbol(language: str, code: str, expected: str) -> None:
    document = parse(Document(f"src/a.{language}", language, code, "f1", len(code)))
    assert ", ".join(line.rpartition(" ")[0] for line in outline(document)) == expected
