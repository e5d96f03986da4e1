"""Names of local values hide the names outside: such a use is none of an import or a symbol of the project."""

from __future__ import annotations

import sys

import pytest

from codefathom.parse.treesitter import parse
from codefathom.types import Document


def uses(language: str, text: str) -> list[str]:
    """Return the uses of `fetch` with what stands before it, line by line; "-" for a line without one."""
    parsed = parse(Document("a", language, text, "1:a", len(text)))
    assert parsed is not None
    assert not parsed.problems, parsed.problems
    found = {
        item.line: f"{item.qualifier}.{item.name}".lstrip(".")
        for item in sorted(parsed.references, key=lambda item: item.qualifier != "")
        if item.kind != "import" and item.name in ("fetch", "Fetch")
    }
    return [found.get(line, "-") for line in range(1, text.count("\n") + 2)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(fetch): fetch()", "-"),
        ("def f(fetch=None): fetch()", "-"),
        ("def f(fetch: Any = None): fetch()", "-"),
        ("def f(*fetch): fetch()", "-"),
        ("def f(**fetch): fetch()", "-"),
        ("def f(x=fetch()): pass", "fetch"),
        ("def f(fetch: fetch): pass", "fetch"),
        ("def f():\n    fetch()\n    fetch = 1", "- - -"),
        ("def f():\n    one, (two, fetch) = 1\n    fetch()", "- - -"),
        ("def f():\n    with x as fetch: fetch()", "- -"),
        ("def f():\n    for fetch in x: fetch()", "- -"),
        ("def f():\n    if (fetch := x): fetch()", "- -"),
        ("def f():\n    try: pass\n    except E as fetch: fetch()", "- - -"),
        ("def f():\n    match x:\n        case fetch: fetch()", "- - -"),
        ("x = [fetch() for fetch in xs]\nfetch()", "- fetch"),
        ("x = lambda fetch: fetch()\nfetch()", "- fetch"),
        ("def f(fetch):\n    def g(): fetch()", "- -"),
        ("def f(fetch): pass\ndef g(): fetch()", "- fetch"),
        ("fetch = 1\ndef f(): fetch()", "- fetch"),  # of the module: a symbol
        ("def f():\n    global fetch\n    fetch = 1\n    fetch()", "- - - fetch"),
        ("def f(fetch):\n    def g():\n        nonlocal fetch\n        fetch = fetch()", "- - - -"),
        ("def f():\n    from a import fetch\n    fetch = deco(fetch)\n    fetch()", "- - fetch fetch"),
        ("def f():\n    import a as fetch\n    fetch.fetch()", "- - fetch.fetch"),
        ("def f():\n    def fetch(): pass\n    fetch()", "- - fetch"),
        ("class A:\n    fetch = 1\n    def f(self): fetch()", "- - fetch"),
        ("def f(row): row.fetch()", "?.row.fetch"),
        ("def f(row): row.part.fetch()", "?.row.part.fetch"),
        ("def f(self): self.fetch()", "self.fetch"),
        ("def f(x):\n    try: pass\n    except fetch: pass", "- - fetch"),
        ("def f(fetch):\n    try: pass\n    except fetch: pass", "- - -"),
    ],
)
def test_local_names_of_python(text: str, expected: str) -> None:
    assert uses("python", text) == expected.split()


_OTHERS = [
    ("typescript", "function f(fetch: () => void) { fetch() }", "-"),
    ("typescript", "const f = (fetch?: X) => fetch()", "-"),
    ("typescript", "const f = fetch => fetch()\nfetch()", "- fetch"),
    ("typescript", "const f = ({ a: fetch, b = 1 }) => fetch()", "-"),
    ("typescript", "const f = ([fetch, ...b]) => fetch()", "-"),
    ("typescript", "function f() {\n  { let fetch = 1; fetch() }\n  fetch()\n}", "- - fetch -"),
    ("typescript", "function f() {\n  for (const fetch of x) { fetch() }\n  fetch()\n}", "- - fetch -"),
    ("typescript", "function f() { try {} catch (fetch) { fetch() } }", "-"),
    ("typescript", "function f() { const fetch = () => 1; fetch() }", "fetch"),  # a symbol of its own
    ("typescript", "function f() { const { fetch } = require('./a'); fetch() }", "fetch"),
    ("typescript", "async function f() { const { fetch } = await import('./a'); fetch() }", "fetch"),
    ("typescript", "class A { fetch() {} f(fetch: X) { fetch() } }", "-"),
    ("typescript", "function f(row: X) { row?.fetch() }", "?.row.fetch"),
    ("typescript", "function f<Fetch>(a: Fetch) {}\nlet x: Fetch", "- Fetch"),
    ("typescript", "type A<Fetch> = Fetch[]\ntype B = Fetch", "- Fetch"),
    ("typescript", "function f(Fetch: X, a: Fetch) {}", "Fetch"),  # a type is no value
    ("javascript", "function f(fetch, a = 1) { fetch() }", "-"),
    ("javascript", "function f(fetch = 1) { fetch() }", "-"),
    ("vue", "<script>\nfunction f(fetch) { fetch() }\n</script>", "- - -"),
    ("go", "package a\nfunc f(fetch func()) { fetch() }", "- -"),
    ("go", "package a\nfunc f() {\n\tfetch := fetch()\n\tfetch()\n}", "- - fetch - -"),
    ("go", "package a\nfunc f() {\n\tif fetch := 1; fetch() {\n\t}\n\tfetch()\n}", "- - - - fetch -"),
    ("go", "package a\nfunc f() {\n\tfor _, fetch := range x {\n\t\tfetch()\n\t}\n}", "- - - - - -"),
    ("go", "package a\nfunc f() {\n\tg := func(fetch int) { fetch() }\n}", "- - - -"),
    ("go", "package a\nfunc f(url string) { url.fetch() }", "- ?.url.fetch"),
    ("go", "package a\nfunc f(g func(fetch int)) { fetch() }", "- fetch"),
    ("rust", "fn f(fetch: F) { fetch(); }", "-"),
    ("rust", "fn f() {\n  let fetch = fetch();\n  fetch();\n}", "- fetch - -"),
    ("rust", "fn f() { x(|fetch| fetch()); }", "-"),
    ("rust", "fn f() {\n  if let Some(fetch) = fetch() { fetch(); }\n}", "- fetch -"),
    ("rust", "fn f() { match x { Some(fetch) => fetch(), _ => 1 } }", "-"),
    ("rust", "fn f(coin: X) { coin.fetch(); }", "?.coin.fetch"),
    ("rust", "fn f(fetch: X) { fetch!(); coin::fetch(); }", "coin.fetch"),
    ("java", "class A { void f(X fetch) { fetch(); } }", "fetch"),  # a method is no variable
    ("java", "class A { void f(X row) { row.fetch(); } }", "?.row.fetch"),
    ("java", "class A { void f() { g(row -> row.fetch()); } }", "?.row.fetch"),
    ("java", "class A<Fetch> { Fetch x; }", "-"),
    ("kotlin", "fun f(fetch: () -> Unit) { fetch() }", "-"),
    ("kotlin", "fun f() {\n  val fetch = fetch()\n  fetch()\n}", "- fetch - -"),
    ("kotlin", "fun f() { g { fetch -> fetch() } }", "-"),
    ("swift", "func f(fetch: () -> Void) { fetch() }", "-"),
    ("swift", "func f() { g { fetch in fetch() } }", "-"),
    ("csharp", "class A { void F(Action fetch) { fetch(); } }", "-"),
    ("csharp", "class A { void F() { var fetch = x(); fetch(); } }", "-"),
    ("ruby", "def f(row)\n  row.fetch(1)\nend", "- ?.row.fetch -"),
    ("ruby", "def f\n  x.each { |row| row.fetch }\nend", "- ?.row.fetch -"),
    ("c", "void f(void (*fetch)(int)) { fetch(1); }", "-"),
    ("cpp", "void f() { auto fetch = [](int a) { return a; }; fetch(1); }", "-"),
    ("cpp", "void f(const T& row) { row.fetch(); }", "?.row.fetch"),
    ("lua", "function f(fetch) fetch() end", "-"),
    ("lua", "function f()\n  local fetch = fetch()\n  fetch()\nend", "- fetch - -"),
]


@pytest.mark.parametrize(("language", "text", "expected"), _OTHERS)
def test_local_names_of_other_languages(language: str, text: str, expected: str) -> None:
    assert uses(language, text) == expected.split()


@pytest.mark.parametrize(
    "text", ["    x{0} = lambda fetch: [fetch() for fetch in y{0}]\n", "    fetch = x{0}.fetch()\n"]
)
def test_the_work_grows_with_the_bindings(text: str) -> None:
    """Counted in calls, as a number of bindings times a number of uses would be millions."""
    body = "def f():\n" + "".join(text.format(hex(number * 7919)) for number in range(3_000))
    calls = 0

    def count(_frame: object, event: str, _value: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        assert "fetch" not in uses("python", body)
    finally:
        sys.setprofile(None)
    assert calls < 1_000_000
