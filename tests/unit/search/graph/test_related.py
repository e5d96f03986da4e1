"""What files and symbols are connected with, over a real catalogue."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from codefathom.errors import UsageError
from codefathom.index.chunk import chunk
from codefathom.question.question import Question
from codefathom.search.graph.compiler_graph import CompilerGraph, lent_graph
from codefathom.search.graph.edge_list import EdgeChoice
from codefathom.search.graph.related import connections, related
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, DocumentRecord
from codefathom.types import Direction, Document, ParsedDocument, Reference, Related, RelatedResult, Symbol

TraceFunction = Callable[[FrameType, str, object], Any]


def symbol(qualified_name: str, start: int, end: int, kind: str = "function") -> Symbol:
    return Symbol(kind, qualified_name.rpartition(".")[2], qualified_name, start, end, start)


def imported(name: str, line: int = 1, container: str = "") -> Reference:
    return Reference("import", name, line, container)


def called(name: str, line: int, container: str = "", qualifier: str = "") -> Reference:
    return Reference("call", name, line, container, 1, qualifier)


Project = dict[str, tuple[str, list[Symbol], list[Reference]]]
PROJECT: Project = {
    "shop/__init__.py": ("python", [], []),
    "shop/money.py": (
        "python",
        [symbol("Money", 1, 9, "class"), symbol("Money.add", 2, 5, "method"), symbol("round_up", 11, 14)],
        [imported("decimal"), called("round_up", 4, "Money.add")],
    ),
    "shop/orders.py": (
        "python",
        [symbol("total", 3, 9), symbol("Order", 12, 30, "class"), symbol("Order.pay", 14, 20, "method")],
        [
            imported("shop.money.Money", 1),
            imported("shop.money.round_up", 1),
            imported("os", 2),
            called("Money", 4, "total"),
            called("round_up", 5, "total"),
            called("total", 15, "Order.pay"),
            Reference("type", "Money", 3, "total"),
        ],
    ),
    "shop/cli.py": (
        "python",
        [symbol("main", 3, 9)],
        [imported(".orders"), called("pay", 4, "main", "order"), called("main", 8, "main"), called("main", 11)],
    ),
    "tests/test_cli.py": (
        "python",
        [symbol("test_main", 3, 5)],
        [imported("shop.cli.main"), called("main", 4, "test_main")],
    ),
    "web/money.ts": ("typescript", [symbol("round_up", 1, 3)], [imported("./format"), imported("react")]),
    "web/format.js": (
        "javascript",
        [symbol("format", 1, 2)],
        [Reference("import", "./money", 1, qualifier="round_up"), called("round_up", 2, "format")],
    ),
    "java/com/acme/Basket.java": ("java", [symbol("Basket", 3, 9, "class")], [imported("com.acme.Helpers.Twin")]),
    "scala/acme/Use.scala": (
        "scala",
        [],
        [
            imported("import acme.util.{Pair, Twin => T}"),
            imported("import scala.Pair", 2),
            imported("org.else.Pair", 3),
        ],
    ),
    "scala/acme/util/All.scala": ("scala", [symbol("Pair", 1, 2, "class")], []),
    "java/com/acme/Odd.kt": ("kotlin", [symbol("Helpers.Twin", 3, 9, "class")], []),
    "a/one.go": ("go", [symbol("One", 3, 4)], [imported("example.org/me/shop/b"), imported("example.org/you/b")]),
    "go.mod": ("text", [], []),
    "b/two.go": ("go", [symbol("Two", 3, 4)], []),
    "docs/guide.md": ("markdown", [], [imported("../shop/orders.py")]),
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    yield from opened(tmp_path_factory.mktemp("index"), PROJECT)


def opened(folder: Path, project: Project) -> Iterator[Catalog]:
    catalog = Catalog.open(str(folder / "catalog.db"))
    catalog.write(Batch(records=tuple(record(path, *project[path]) for path in project)))
    yield catalog
    catalog.close()


def record(path: str, language: str, symbols: list[Symbol], references: list[Reference]) -> DocumentRecord:
    text = "module example.org/me/shop\n\ngo 1.22\n" if path == "go.mod" else ""
    document = Document(path, language, text, f"1:{path}", len(text))
    parsed = ParsedDocument(document, tuple(symbols), tuple(references), (), "test/1")
    chunks = chunk(parsed)
    hashes = tuple(f"{path} {piece.start_line}" for piece in chunks)
    return DocumentRecord(parsed, chunks, hashes, 0, "test/1", "test/1", {}, "none")


def edges(result: RelatedResult, kind: str) -> set[tuple[str, int, str]]:
    return {(edge.path, edge.line, edge.name) for edge in result.edges if edge.kind == kind}


def test_a_file_imports_is_imported_and_used(catalog: Catalog) -> None:
    result = related(catalog, "shop/orders.py")
    assert edges(result, "imports") == {
        ("shop/money.py", 1, "shop.money.Money"),
        ("shop/money.py", 1, "shop.money.round_up"),
    }
    assert edges(result, "imported by") == {("shop/cli.py", 1, ".orders"), ("docs/guide.md", 1, "../shop/orders.py")}
    assert edges(result, "references") == {("shop/cli.py", 4, "pay")}
    assert (result.target, result.n_unresolved) == ("shop/orders.py", 1)  # os
    assert result.completeness.endswith(".")


def test_an_edge_names_the_symbol_of_the_use(catalog: Catalog) -> None:
    result = related(catalog, "shop/orders.py")
    assert Related("shop/cli.py", "references", 4, "pay", "main", certainty="by-name") in result.edges


@pytest.mark.parametrize(
    ("target", "kind", "expected"),
    [
        ("web/money.ts", "imports", {("web/format.js", 1, "./format")}),
        ("web/money.ts", "references", {("web/format.js", 2, "round_up")}),
        ("web/format.js", "imported by", {("web/money.ts", 1, "./format")}),
        ("shop/money.py", "references", {("shop/orders.py", 3, "Money"), ("shop/orders.py", 4, "Money")}),
        ("java/com/acme/Basket.java", "imports", {("java/com/acme/Odd.kt", 1, "com.acme.Helpers.Twin")}),
        ("java/com/acme/Odd.kt", "imported by", {("java/com/acme/Basket.java", 1, "com.acme.Helpers.Twin")}),
        ("scala/acme/Use.scala", "imports", {("scala/acme/util/All.scala", 1, "import acme.util.{Pair, Twin => T}")}),
        ("a/one.go", "imports", {("b/two.go", 1, "example.org/me/shop/b")}),
        ("b/two.go", "imported by", {("a/one.go", 1, "example.org/me/shop/b")}),
        ("docs/guide.md", "imports", {("shop/orders.py", 1, "../shop/orders.py")}),
    ],
)
def test_files_of_several_languages(
    catalog: Catalog, target: str, kind: str, expected: set[tuple[str, int, str]]
) -> None:
    assert expected <= edges(related(catalog, target), kind)


def test_a_name_of_another_package_leads_outside(catalog: Catalog) -> None:
    users = edges(related(catalog, "scala/acme/util/All.scala"), "imported by")
    assert users == {("scala/acme/Use.scala", 1, "import acme.util.{Pair, Twin => T}")}


def test_a_foreign_go_package_leads_outside(catalog: Catalog) -> None:
    result = related(catalog, "a/one.go")
    assert (len(edges(result, "imports")), result.n_unresolved) == (1, 1)


def test_languages_do_not_use_each_others_names(catalog: Catalog) -> None:
    assert not any(edge.path.startswith("web/") for edge in related(catalog, "shop/money.py").edges)


def test_depth_follows_what_was_found(catalog: Catalog) -> None:
    near = related(catalog, "shop/money.py")
    assert "shop/cli.py" not in {edge.path for edge in near.edges if edge.kind == "imported by"}
    far = related(catalog, "shop/money.py", depth=3)
    steps = {edge.path: edge.depth for edge in far.edges if edge.kind == "imported by"}
    assert steps == {"shop/orders.py": 1, "shop/cli.py": 2, "docs/guide.md": 2, "tests/test_cli.py": 3}
    assert [edge.depth for edge in far.edges] == sorted(edge.depth for edge in far.edges)


def test_a_symbol_has_callers_uses_and_calls(catalog: Catalog) -> None:
    result = related(catalog, "@@total")
    assert edges(result, "called by") == {("shop/orders.py", 15, "total")}
    assert edges(result, "calls") == {("shop/money.py", 1, "Money"), ("shop/money.py", 11, "round_up")}
    assert edges(related(catalog, "@@Money"), "references") == {("shop/orders.py", 3, "Money")}
    assert edges(related(catalog, "@@Money"), "calls") == {("shop/money.py", 11, "round_up")}


def test_a_symbol_does_not_call_itself(catalog: Catalog) -> None:
    result = related(catalog, "@@main")
    assert edges(result, "called by") == {("shop/cli.py", 11, "main"), ("tests/test_cli.py", 4, "main")}
    assert ("shop/orders.py", 14, "pay") in edges(result, "calls")


def test_callers_of_callers(catalog: Catalog) -> None:
    result = related(catalog, "@@round_up", depth=4)
    steps = {edge.symbol: edge.depth for edge in result.edges if edge.kind == "called by" and edge.path[0] == "s"}
    assert steps["total"] == 1
    assert steps["Order.pay"] == 2
    assert steps["main"] == 3


@pytest.mark.parametrize(
    "target", ["@@Order.pay", "@@Order::pay", "@@Order#pay", "@@pay()", "Order.pay", "@@pay", "@@order.PAY"]
)
def test_a_symbol_may_be_written_in_many_ways(catalog: Catalog, target: str) -> None:
    assert edges(related(catalog, target), "called by") == {("shop/cli.py", 4, "pay")}


@pytest.mark.parametrize(
    "target",
    [
        "shop/orders.py",
        "@shop/orders.py",
        "./shop/orders.py",
        "orders.py",
        "shop.orders",
        "@shop/orders.py:40-44",
        "orders.py#L1",
    ],
)
def test_a_file_may_be_written_in_many_ways(catalog: Catalog, target: str) -> None:
    assert related(catalog, target).target == "shop/orders.py"


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("@shop/orders.py:3-4", "total"),
        ("orders.py#L3", "total"),
        ("shop/orders.py:16", "Order.pay"),
        ("shop/orders.py:13", "Order"),
        ("@shop/orders.py @@pay", "Order.pay"),
        ("shop/orders.py @@Order.pay", "Order.pay"),
    ],
)
def test_a_place_means_the_symbol_around_it(catalog: Catalog, target: str, name: str) -> None:
    assert related(catalog, target).edges == related(catalog, f"@@{name}").edges
    assert related(catalog, target).target == f"@@{name}"


def test_a_name_with_its_module_is_that_of_one_file(catalog: Catalog) -> None:
    of_one = related(catalog, "@@shop.money.round_up")
    assert {edge.path for edge in of_one.edges} == {"shop/money.py", "shop/orders.py"}
    assert "symbols have this name" not in of_one.completeness


def test_callers_come_before_tests_and_what_is_called(catalog: Catalog) -> None:
    kinds = list(dict.fromkeys(edge.kind for edge in related(catalog, "@@Order.pay").edges))
    assert kinds == ["called by", "calls"]


# ---- order and choice

USED: Project = {
    "a/core.py": (
        "python",
        [symbol("steam", 1, 9), symbol("heat", 20, 22)],
        [called("heat", 3, "steam"), imported("gauge")],
    ),
    "gauge.py": ("python", [symbol("read", 1, 2)], []),
    "z.py": ("python", [symbol("brew", 2, 9)], [imported("a.core.steam"), called("steam", 4, "brew")]),
    "c.py": ("python", [], [imported("a.core.steam")]),
    "b.py": ("python", [], [imported("a.core.steam"), Reference("type", "steam", 5, "")]),
    "tests/test_a.py": ("python", [symbol("test_a", 2, 9)], [imported("a.core.steam"), called("steam", 4, "test_a")]),
    "tests/test_b.py": ("python", [], [imported("a.core.steam"), Reference("type", "steam", 7, "")]),
}
CALLER, CALLER_TEST, TEST_USE = ("z.py", 4), ("tests/test_a.py", 4), ("tests/test_b.py", 7)
IMPORTER, USE, CALLEE = ("c.py", 1), ("b.py", 5), ("a/core.py", 20)


def nobody(_: str) -> None:
    """Nobody can tell which files have a word."""


@pytest.mark.parametrize(
    ("choice", "places"),
    [
        (EdgeChoice(), [CALLER, CALLER_TEST, TEST_USE, IMPORTER, USE, CALLEE]),
        (EdgeChoice("callers"), [CALLER, CALLER_TEST, TEST_USE, IMPORTER, USE]),
        (EdgeChoice("callees"), [CALLEE]),
        (EdgeChoice(kinds=("calls",)), [CALLER, CALLER_TEST, CALLEE]),
        (EdgeChoice("callers", ("calls",)), [CALLER, CALLER_TEST]),
        (EdgeChoice(kinds=("tests",)), [CALLER_TEST, TEST_USE]),
        (EdgeChoice(kinds=("references",)), [TEST_USE, USE]),
        (EdgeChoice(kinds=("calls", "tests")), [CALLER, CALLER_TEST, TEST_USE, CALLEE]),
        # Also of files that use it in other ways, too: nothing else of them is listed.
        (
            EdgeChoice(kinds=("imports",)),
            [("b.py", 1), ("c.py", 1), ("z.py", 1), ("tests/test_a.py", 1), ("tests/test_b.py", 1)],
        ),
    ],
)
def test_connections_have_an_order_and_can_be_chosen(
    tmp_path: Path, choice: EdgeChoice, places: list[tuple[str, int]]
) -> None:
    for catalog in opened(tmp_path, USED):
        whole = related(catalog, "@@steam", choice=choice)
        asked = Question("@@steam", "related", direction=choice.direction, edge_kinds=choice.kinds, limit=2)
        pages = [connections(catalog, replace(asked, offset=n), nobody) for n in range(0, len(places), 2)]
    assert [(edge.path, edge.line) for edge in whole.edges] == places
    assert [edge for page in pages for edge in page.edges] == list(whole.edges)
    assert [page.rest.n for page in pages] == [max(len(places) - n, 0) for n in range(2, len(places) + 2, 2)]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (EdgeChoice("up"), ["direction cannot be 'up'", "both, callers, callees"]),  # type: ignore[arg-type]
        (EdgeChoice(kinds=("call",)), ["kind cannot be 'call'", "calls, imports, references, tests"]),  # type: ignore[arg-type]
    ],
)
def test_a_choice_that_there_is_not_is_an_error(catalog: Catalog, choice: EdgeChoice, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        related(catalog, "@@round_up", choice=choice)
    assert all(word in f"{caught.value} {caught.value.hint}" for word in words)


NINE: Project = {f"p{n}/x.py": ("python", [symbol("spin", 10 + n, 12 + n)], [called("spin", 40 + n)]) for n in range(9)}


def test_nine_definitions_are_a_list_to_choose_from(tmp_path: Path) -> None:
    for catalog in opened(tmp_path, NINE):
        completeness = related(catalog, "@@spin").completeness
        assert "9 symbols have this name" in completeness
        places = re.findall(r"p\d/x\.py:\d+", completeness)
        assert places == [f"p{n}/x.py:{10 + n}" for n in range(9)]
        for n, place in enumerate(places):  # each as it stands there
            of_one = related(catalog, place)
            assert [(edge.path, edge.line) for edge in of_one.edges] == [(f"p{n}/x.py", 40 + n)]
            assert "symbols have this name" not in of_one.completeness


def test_several_symbols_of_one_name_are_said(catalog: Catalog) -> None:
    assert "2 symbols have this name" in related(catalog, "@@round_up").completeness


def test_what_is_left_out_is_said(catalog: Catalog) -> None:
    whole = related(catalog, "shop/money.py", depth=3)
    cut = related(catalog, "shop/money.py", depth=3, limit=2)
    assert cut.edges == whole.edges[:2]
    assert "left out" in cut.completeness
    assert "left out" not in whole.completeness


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("shop/nowhere.py", ["'shop/nowhere.py' is not in the index"]),
        ("shop/order.py", ["did you mean shop/orders.py"]),
        ("@@nobody", ["no symbol is called 'nobody'"]),
        ("@@", ["no symbol is called ''"]),
        ("mone", ["'mone' is not in the index", "did you mean"]),
    ],
)
def test_an_unknown_target_is_an_error(catalog: Catalog, target: str, parts: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        related(catalog, target)
    message = f"{caught.value} {caught.value.hint}"
    assert all(part in message for part in parts), message


@pytest.mark.parametrize("depth", [0, 6, -1])
def test_depth_has_limits(catalog: Catalog, depth: int) -> None:
    with pytest.raises(UsageError, match="depth"):
        related(catalog, "shop/orders.py", depth=depth)


def test_two_files_with_that_name_are_an_error(tmp_path: Path) -> None:
    opened = Catalog.open(str(tmp_path / "catalog.db"))
    documents = (Document(f"{folder}/x.py", "python", "", f"1:{folder}", 0) for folder in "ab")
    parsed = [ParsedDocument(item, (), (), (), "test/1") for item in documents]
    opened.write(Batch(records=tuple(DocumentRecord(item, (), (), 0, "t/1", "t/1", {}, "none") for item in parsed)))
    with pytest.raises(UsageError, match="the name of 2 files") as caught:
        related(opened, "x.py")
    assert "a/x.py, b/x.py" in caught.value.hint
    opened.close()


# ---- names that others share

SHARED: Project = {
    "query.py": ("python", [symbol("Query", 1, 9, "class"), symbol("Query.parse", 2, 5, "method")], []),
    "api.py": ("python", [symbol("route", 3, 9)], [imported("http.Query"), called("Query", 4, "route")]),
    "uses.py": (
        "python",
        [symbol("go", 3, 9)],
        [imported("query.Query"), called("Query", 4, "go"), called("parse", 5, "go", "query")],
    ),
    "aside.py": ("python", [symbol("load", 3, 9)], [imported("json"), called("parse", 4, "load", "value")]),
    "bare.py": ("python", [symbol("run", 3, 9)], [called("Query", 4, "run")]),
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    yield from opened(tmp_path_factory.mktemp("shared"), SHARED)


def test_a_name_from_outside_is_no_use_of_ours(shared: Catalog) -> None:
    assert [edge.path for edge in related(shared, "@@Query").edges] == ["uses.py"]
    assert "api.py" not in {edge.path for edge in related(shared, "query.py").edges}


def test_calls_that_can_be_of_the_class_come_first(shared: Catalog) -> None:
    edges = related(shared, "@@Query.parse").edges
    assert [(edge.path, edge.likely) for edge in edges] == [("uses.py", True), ("aside.py", False)]


def one_name_in_many_files(n: int) -> Project:
    """Each file has a class with a member `target`, and a function that uses one on a value of no type."""
    return {
        f"shop/part_{i}.py": (
            "python",
            [symbol(f"K{i}", 1, 3, "class"), symbol(f"K{i}.target", 2, 3, "method"), symbol(f"user_{i}", 6, 7)],
            [called("target", 7, f"user_{i}", "value"), called("target", 3, f"K{i}.target", "value")],
        )
        for i in range(n)
    }


def one_name_in_one_file(n: int, language: str = "python", qualifier: str = "value") -> Project:
    lines = [10 * i for i in range(n)]
    symbols = [
        item
        for i, line in enumerate(lines)
        for item in (
            symbol(f"K{i}", line + 1, line + 3, "class"),
            symbol(f"K{i}.target", line + 2, line + 3, "method"),
            symbol(f"user_{i}", line + 6, line + 7),
        )
    ]
    uses = [called("target", line + 7, f"user_{i}", qualifier) for i, line in enumerate(lines)]
    return {"big": (language, symbols, uses)}


def overloads(n: int) -> Project:
    """One name for all definitions of a file, each of which calls it, and for what stands around each use."""
    symbols = [
        item for i in range(0, 10 * n, 10) for item in (symbol("target", i + 1, i + 3), symbol("user", i + 5, i + 7))
    ]
    uses = [
        use
        for i in range(0, 10 * n, 10)
        for use in (called("target", i + 2, "target"), called("target", i + 6, "user", f"value_{i}"))
    ]
    return {"big": ("kotlin", symbols, uses)}


def one_package(n: int) -> Project:
    """Files of a package in Java, each with a class of its own and a use of a plain name that all define."""
    return {
        f"shop/K{i}.java": (
            "java",
            [symbol(f"K{i}", 1, 9, "class"), symbol(f"K{i}.target", 2, 3, "method"), symbol(f"U{i}", 10, 12, "class")],
            [called("target", 11, f"U{i}")],
        )
        for i in range(n)
    }


def imported_by_all(n: int) -> Project:
    """Each file imports the name from the next one, defines it, and uses both."""
    return {
        f"shop/m{i}.py": (
            "python",
            [symbol("target", 3, 4), symbol(f"user_{i}", 6, 9)],
            [
                Reference("import", f".m{(i + 1) % n}", 1, qualifier="target"),
                called("target", 7, f"user_{i}"),
                called("target", 8, f"user_{i}", f"m{(i + 1) % n}"),
            ],
        )
        for i in range(n)
    }


@pytest.mark.parametrize(
    "project",
    [
        one_name_in_many_files,
        one_name_in_one_file,
        partial(one_name_in_one_file, language="java", qualifier="this"),
        partial(one_name_in_one_file, language="rust", qualifier="K1"),
        overloads,
        one_package,
        imported_by_all,
    ],
)
def test_the_work_grows_with_the_definitions_and_uses_not_with_their_product(
    tmp_path: Path, project: Callable[[int], Project]
) -> None:
    few, many = (n_steps_of_related(tmp_path / str(n), project(n)) for n in (60, 240))
    assert many < 6 * few


def n_steps_of_related(folder: Path, project: Project) -> int:
    """Return the number of steps of the interpreter in our own code to find what is around `target`."""
    folder.mkdir()
    n_steps = 0

    def trace(frame: FrameType, event: str, _: object) -> TraceFunction:
        nonlocal n_steps
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        n_steps += event == "opcode"
        return trace

    for catalog in opened(folder, project):
        sys.settrace(trace)
        try:
            result = related(catalog, "@@target")
        finally:
            sys.settrace(None)
        assert result.edges
    return n_steps


@pytest.mark.parametrize("direction", ["callers", "callees", "both"])
@pytest.mark.parametrize("target", ["shop/money.py", "shop/orders.py"])
def test_imports_alone_are_those_among_all_edges_and_no_use_is_resolved_for_them(
    catalog: Catalog, target: str, direction: Direction, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = related(catalog, target, choice=EdgeChoice(direction))
    monkeypatch.setattr(CompilerGraph, "resolved_uses", lambda *_: pytest.fail("a use is resolved"))
    alone = related(catalog, target, choice=EdgeChoice(direction, ("imports",)))
    assert alone.edges == tuple(edge for edge in every.edges if edge.kind in ("imports", "imported by"))
    assert alone.edges or direction == "callees"


def test_each_question_at_a_time_has_a_graph_of_its_own(catalog: Catalog) -> None:
    with lent_graph(catalog) as first:
        with lent_graph(catalog) as second:
            assert first is not second
        assert first.resolver is second.resolver
    with lent_graph(catalog) as again:
        assert again in (first, second)
    with suppress(ZeroDivisionError), lent_graph(catalog) as broken:
        raise ZeroDivisionError
    with lent_graph(catalog) as after:
        assert after is not broken


def test_a_graph_that_holds_much_is_not_kept(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codefathom.search.graph.compiler_graph._MOST_ROWS", 1)
    with lent_graph(catalog) as first:
        assert len(first.references_of("shop/orders.py")) > 1
    with lent_graph(catalog) as second:
        assert first is not second


def test_what_uses_of_a_common_name_mean_is_kept_where_its_rows_are_not(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lent_graph(catalog) as graph:
        first = graph.resolved_uses("total")
        n_known = graph.without_rows().n_rows
        graph.references_of("shop/orders.py")
        assert first
        assert n_known < graph.n_rows
        monkeypatch.setattr("codefathom.search.graph.compiler_graph._MOST_ROWS", n_known)
    with lent_graph(catalog) as again:
        assert again is not graph
        assert again.resolved_uses("total") is first
        assert again.n_rows == n_known
