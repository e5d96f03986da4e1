"""Queries: marks are taken out, and what only looks like one stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.search.question.query import Query, UnwrappedQuery, parse_query, unwrap
from codefathom.stores.conditions import matches
from codefathom.types import Filter, FilterGroup, Where


@pytest.mark.parametrize(
    ("text", "paths", "remaining"),
    [
        ("@src/app.py how does it start", ("src/app.py",), "how does it start"),
        ("how does @src/app.py start", ("src/app.py",), "how does start"),
        ("@app.py", ("app.py",), ""),
        ("@src/ @lib/x routes", ("src/", "lib/x"), "routes"),
        ("@src/app.py @src/app.py", ("src/app.py",), ""),
        ("what is in @src/app.py?", ("src/app.py",), "what is in ?"),
        ("compare @a/b.py, and (c)", ("a/b.py",), "compare and (c)"),
        ("@src/app.py:12 why", ("src/app.py",), "why"),
        ("@./src/app.py @../x/y.py @/src/z.py", ("./src/app.py", "../x/y.py", "/src/z.py"), ""),
        ("@Makefile @README.md targets", ("Makefile", "README.md"), "targets"),
        ("@lib/my-file_2.test.ts", ("lib/my-file_2.test.ts",), ""),
        ("@docs/说明.md 安装", ("docs/说明.md",), "安装"),
        ("first line\n  second @a/b.py line\nthird", ("a/b.py",), "first line\n  second line\nthird"),
    ],
)
def test_paths(text: str, paths: tuple[str, ...], remaining: str) -> None:
    query = parse_query(text)
    assert (query.paths, query.text) == (paths, remaining)


def test_a_path_with_wildcards_is_a_filter() -> None:
    query = parse_query("@src/**/*.py retry")
    assert (query.paths, query.text) == ((), "retry")
    assert query.where is not None
    assert matches(query.where, {"path": "src/a/b.py"})
    assert not matches(query.where, {"path": "src/a/b.go"})


@pytest.mark.parametrize(
    ("text", "symbols", "members_of", "remaining"),
    [
        ("@@Engine", ("Engine",), None, ""),
        ("@@Engine.close", ("Engine.close",), None, ""),
        ("@@Engine::close()", ("Engine::close",), None, ""),
        ("@@Engine#close", ("Engine#close",), None, ""),
        (r"@@App\Models\User->save", (r"App\Models\User->save",), None, ""),
        ("@@Engine how are files read", ("Engine",), "Engine", "how are files read"),
        ("who calls @@close, and when", ("close",), "close", "who calls and when"),
        ("who calls @@close?", ("close",), "close", "who calls ?"),
        ("where is @@valid? called", ("valid?",), "valid?", "where is called"),
        ("@@save!", ("save!",), None, ""),
        ("@@A @@B shared words", ("A", "B"), None, "shared words"),
        ("in:Engine close files", (), "Engine", "close files"),
        ("in:a.B @@c words", ("c",), "a.B", "words"),
        ("@@Größe", ("Größe",), None, ""),
    ],
)
def test_symbols(text: str, symbols: tuple[str, ...], members_of: str | None, remaining: str) -> None:
    query = parse_query(text)
    assert (query.symbols, query.members_of, query.text) == (symbols, members_of, remaining)


@pytest.mark.parametrize(
    "text",
    [
        "write to someone@example.org about it",
        "how does @app.route register a handler",
        "@property and @Override and @media",
        "std::vector and ::global",
        "C++ and C# and F#",
        "http://host/path?lang:go and https://x.y/@user",
        "foo:bar baz:qux",
        r"C:\dir\file.txt and C:\x",
        "@@ -1,3 +1,4 @@ def f",
        "@ alone @@ too",
        'the exact "@src/app.py" and "lang:go" and "@@Engine"',
        "path::Path and file:///etc/hosts",
        "lines:many and test:perhaps and size:",
        "kind: function",
        "a,b;c  two  spaces\n\nand lines",
        "dict[str:int] x[1:2] a ? b : c",
        'quote" alone',
        "in: the loop",
        "in:2024 x",
        "UPPER and lower Stay",
        "x-lang:go",
        "error in lang:klingon",
        "kind:regards to all",
    ],
)
def test_what_only_looks_like_a_mark_stays(text: str) -> None:
    query = parse_query(text)
    assert query.text == text
    assert (query.paths, query.symbols, query.members_of, query.where) == ((), (), None, None)


RECORD = {
    "path": "internal/net/client_test.go",
    "dir": "internal/net",
    "name": "client_test.go",
    "ext": ".go",
    "language": "go",
    "module": "internal",
    "sub_module": "net",
    "kind": "method",
    "symbol": "Client.Send",
    "names": ("Client.Send",),
    "start_line": 1,
    "end_line": 20,
    "size": 400,
}


@pytest.mark.parametrize(
    ("mark", "holds"),
    [
        ("lang:go", True),
        ("language:golang", True),
        ("LANG:Go", True),
        ("lang:py,go", True),
        ("-lang:go", False),
        ("-lang:py,rs", True),
        ("path:internal/", True),
        ("path:/net/", False),
        ('path:"internal/net"', True),
        ("kind:function", False),
        ("kind:function,method", True),
        ("file:*.go", True),
        ("file:*.py", False),
        ("file:client", True),
        ("file:net/*.go", True),
        ("name:client_test.go", True),
        ("ext:.go", True),
        ("ext:py", False),
        ("dir:internal", True),
        ("dir:net", False),
        ("symbol:Client", True),
        ("symbol:Other", False),
        ("module:internal", True),
        ("sub_module:x", False),
        ("lines:20", True),
        ("lines:>20", False),
        ("lines:>=20,3", True),
        ("lines:10..30", True),
        ("-lines:10..30", False),
        ("size:<100", False),
        ("test:yes", True),
        ("-test:yes", False),
    ],
)
def test_inline_filters(mark: str, holds: bool) -> None:
    query = parse_query(f"send {mark} bytes")
    assert query.text == "send bytes"
    assert query.where is not None
    assert matches(query.where, RECORD) == holds


def test_several_filters_hold_together() -> None:
    where = parse_query("lang:go -kind:class").where
    assert where == FilterGroup(
        "AND", (Filter("language", "eq", "go"), FilterGroup("NOT", (Filter("kind", "eq", "class"),)))
    )


@pytest.mark.parametrize(
    ("marks", "holds"),
    [
        ("lang:go lang:py", True),
        ("lang:rs language:py", False),
        ("repo:internal repo:other", True),
        ("repo:other module:internal", True),
        ("repo:a repo:b", False),
        ("path:internal/ path:nowhere", True),
        ("kind:function kind:method", True),
        ("@*.go @*.py", True),
        ("ext:py ext:go lines:20 lines:30", True),
        ("ext:py ext:go lines:30", False),
        ("-lang:py -lang:go", False),
        ("-lang:py -lang:rs", True),
        ("lang:go lang:py -path:net", False),
        ("lines:10..12 lines:15..30", True),
    ],
)
def test_two_of_one_word_mean_either(marks: str, holds: bool) -> None:
    where = parse_query(f"send {marks}").where
    assert where is not None
    assert matches(where, RECORD) == holds


def test_a_pattern_beside_a_path_means_either() -> None:
    query = parse_query("@src/app.py @lib/*.go retry")
    assert (query.paths, query.where) == (("src/app.py", "lib/*.go"), None)


@pytest.mark.parametrize(
    ("mark", "where"),
    [
        ("fork:no", Filter("fork", "eq", 0)),
        ("fork:yes", Filter("fork", "eq", 1)),
        ("fork:only", Filter("fork", "eq", 1)),
        ("-fork:true", FilterGroup("NOT", (Filter("fork", "eq", 1),))),
        ("fork:perhaps", None),
    ],
)
def test_forks(mark: str, where: Where | None) -> None:
    query = parse_query(f"send {mark}")
    assert (query.where, query.text) == (where, "send" if where else f"send {mark}")


def test_phrases_stay_in_the_text() -> None:
    query = parse_query('where is "not found" raised and "" and "a b" lang:go')
    assert query.text == 'where is "not found" raised and "" and "a b"'


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("parse_query", "symbol"),
        ("Engine", "symbol"),
        ("std::vector", "symbol"),
        ("Engine.open()", "symbol"),
        ("Array#map!", "symbol"),
        (r"Illuminate\Support\Str", "symbol"),
        ("ValueError", "symbol"),
        ("@@Engine", "symbol"),
        ("@src/app.py", "path"),
        ("src/app.py", "path"),
        ("query.py", "path"),
        ("src/app.py:12", "path"),
        (r"src\win\app.py", "path"),
        ("internal/net", "path"),
        ("ValueError: invalid literal for int()", "error"),
        ('Traceback (most recent call last):\n  File "a.py", line 3, in f', "error"),
        ("panic: runtime error: index out of range", "error"),
        ("error[E0308]: mismatched types", "error"),
        ("at com.foo.Bar.run(Bar.java:12)", "error"),
        ("Segmentation fault (core dumped)", "error"),
        ("how are ignore rules applied", "question"),
        ("Where is it", "question"),
        ("retry twice?", "question"),
        ("如何解析配置", "question"),
        ("哪里处理错误", "question"),
        ("错误处理和转换成响应的代码", "question"),
        ("parallel download of large files", "question"),
        ("retry policy", "keywords"),
        ("C++", "keywords"),
        ("foo_bar baz_qux a.b c::d", "keywords"),
        ("http://host/path", "keywords"),
        ("解析", "keywords"),
        ("", "keywords"),
        ("lang:go", "keywords"),
    ],
)
def test_intent(text: str, intent: str) -> None:
    assert parse_query(text).intent == intent


@pytest.mark.parametrize("text", ["", "  ", "\n\t"])
def test_nothing_asked_is_empty(text: str) -> None:
    assert parse_query(text).is_empty


@pytest.mark.parametrize("text", ["x", "@a/b.py", "@@x", "in:X", "lang:go", '""'])
def test_a_mark_alone_is_not_empty(text: str) -> None:
    assert not parse_query(text).is_empty


@pytest.mark.parametrize(
    ("text", "unwrapped"),
    [
        ('{"query": "a b", "only_contexts": true}', UnwrappedQuery("a b", True)),
        (' {"query": "a b", "onlyContexts": true} ', UnwrappedQuery("a b", True)),
        ('{"query": "a b"}', UnwrappedQuery("a b")),
        ('{"query": "a", "only_contexts": "yes"}', UnwrappedQuery("a")),
        *(
            (text, UnwrappedQuery(text))
            for text in ("123", "[1, 2]", '"x"', "null", "{", "{}", '{"query": 3}', "{x: y}", "")
        ),
        ("{" * 10_000, UnwrappedQuery("{" * 10_000)),
        ('{"a":' * 9_000 + "1" + "}" * 9_000, UnwrappedQuery('{"a":' * 9_000 + "1" + "}" * 9_000)),
    ],
)
def test_unwrap(text: str, unwrapped: UnwrappedQuery) -> None:
    assert unwrap(text) == unwrapped


@given(st.text(alphabet='a@:/."-# \nlang>*[', max_size=30))
def test_any_text_can_be_read(text: str) -> None:
    query = parse_query(text)
    assert isinstance(query, Query)
    # Nothing is invented: the letters of the text come from the query, in order.
    letters = iter(text)
    assert all(char in letters for char in query.text)
    if query.where is not None:
        assert matches(query.where, RECORD) in (True, False)


@given(st.lists(st.sampled_from(["a", "Parse", "x_y", "C++", "(b)", "é", "漢字"]), max_size=6))
def test_plain_words_stay_as_they_are(words: list[str]) -> None:
    text = " ".join(words)
    assert parse_query(text).text == text


def test_a_pasted_text_has_no_marks() -> None:
    issue = "It fails\n\n@property\ndef price(self):\n    ...\n\nlang:python lines:3\n"
    query = parse_query(issue)
    assert (query.text, query.paths, query.symbols, query.where) == (issue, (), (), None)
