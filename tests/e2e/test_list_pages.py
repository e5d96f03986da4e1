"""No list claims to be whole when it is not: every page counts what is behind it, and says where that begins."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.many_places import (
    N_FILES,
    N_FUNCTIONS,
    NEEDLE,
    SHARED,
    check_counts,
    check_pages_of_agent,
    lines_with,
    make_many_places,
    place_of,
    walked,
)
from tests.mcp_session import McpSession
from tests.waiting import Started

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.search.graph.edge_list import title
from codefathom.types import Hit, LevelName, Mode

N_USES = N_FILES * N_FUNCTIONS
QUESTIONS: dict[str, tuple[str, Mode]] = {
    "words and meaning": ("where are invoices of a customer handled", "hybrid"),
    "meaning": ("where are invoices of a customer handled", "vector"),
    "words": ("tax and discount", "lexical"),
    "names": ("handle_invoice", "symbol"),
    "an expression": (NEEDLE, "regex"),
    "connections": (f"what calls {SHARED}", "graph"),
    "a folder": ("@pack/", "hybrid"),
}
EXACT = ("names", "an expression", "connections", "a folder")
CHANGE = f"""\
--- a/pack/shared.py
+++ b/pack/shared.py
@@ -1,3 +1,3 @@
 def {SHARED}(values):
     \"\"\"Add the values of an invoice.\"\"\"
-    return 0
+    return 1
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_many_places(tmp_path_factory.mktemp("many") / "project")
    with Engine.open(str(root)) as engine:
        engine.index()
    return root


@pytest.fixture(scope="module")
def session(project: Path) -> Iterator[McpSession]:
    with McpSession(project) as session:
        yield session


@pytest.fixture
def engine(project: Path) -> Iterator[Engine]:
    with Engine.open(str(project)) as engine:
        yield engine


def fathom(project: Path, *words: str) -> Mapping[str, Any]:
    out = StringIO()
    with chdir(project), redirect_stdout(out), redirect_stderr(StringIO()):
        main([words[0], "--json", *words[1:]])
    content: Mapping[str, Any] = json.loads(out.getvalue())
    return content


def key(hit: Hit) -> tuple[str, int, int, int]:
    return hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line, hit.chunk.column


@pytest.mark.parametrize("level", ["chunk", "symbol", "file"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_pages_of_a_search_join_up_to_the_list(engine: Engine, name: str, level: LevelName) -> None:
    query, mode = QUESTIONS[name]
    whole = engine.search(query, mode=mode, level=level, limit=10_000)
    assert not whole.rest
    hits: list[Hit] = []
    offset: int | None = 0
    while offset is not None:
        page = engine.search(query, mode=mode, level=level, limit=23, offset=offset)
        assert page.offset == offset
        assert page.confidence == whole.confidence or not page.hits
        hits += page.hits
        n_behind = len(whole.hits) - len(hits)
        assert page.rest.n == n_behind if page.rest.is_exact else page.rest.n <= n_behind
        assert page.rest.is_exact or name not in EXACT or level != "chunk"
        offset = page.rest.next_offset(offset, len(page.hits))
    assert list(map(key, hits)) == list(map(key, whole.hits))
    assert len(set(map(key, hits))) == len(hits)


def test_an_expression_finds_what_python_and_ripgrep_find(project: Path, engine: Engine) -> None:
    lines = lines_with(project, NEEDLE)
    if rg := shutil.which("rg"):
        words = [rg, "-n", "--no-heading", NEEDLE, "pack"]
        with Started(words, cwd=project, stdout=subprocess.PIPE, text=True) as process:
            out, _ = process.communicate()
        found = [line.split(":") for line in out.splitlines()]
        assert {(path, int(number)) for path, number, *_ in found} == lines
    pages = list(
        walked(lambda at: fathom(project, "search", "--mode", "regex", "-n", "20", *_at(at), NEEDLE), "next_offset")
    )
    hits = check_counts(pages, "hits")
    covered = {(hit["path"], n) for hit in hits for n in range(hit["start_line"], hit["end_line"] + 1)}
    assert lines <= covered
    assert all(any((hit["path"], n) in lines for n in range(hit["start_line"], hit["end_line"] + 1)) for hit in hits)
    assert [place_of(hit) for hit in hits] == [
        key(hit)[:3] for hit in engine.search(NEEDLE, mode="regex", limit=1_000).hits
    ]


def _at(offset: int | None) -> tuple[str, ...]:
    return () if offset is None else ("--offset", str(offset))


@pytest.mark.parametrize(
    ("words", "name", "n_items"),
    [
        (("symbols", "-n", "40", "handle_invoice"), "symbols", N_USES),
        (("symbols", "-p", ".", "-n", "40", "handle_invoice"), "symbols", N_USES),
        (("symbols", "--kind", "import", "-n", "7"), "symbols", N_FILES),
        (("related", "-n", "33", f"@@{SHARED}"), "edges", N_USES),
        (("search", "-p", ".", "--mode", "regex", "-n", "31", NEEDLE), "hits", 0),
        (("search", "--in", "pack", "--mode", "regex", "-n", "31", NEEDLE), "hits", 0),
        (("symbols", "-n", "40", "--max-tokens", "900"), "symbols", 0),
    ],
)
def test_pages_of_a_command_join_up(project: Path, words: tuple[str, ...], name: str, n_items: int) -> None:
    pages = list(walked(lambda at: fathom(project, *words, *_at(at)), "next_offset"))
    assert len(pages) > 2
    items = [json.dumps(item, sort_keys=True) for item in check_counts(pages, name)]
    assert len(set(items)) == len(items)
    assert len(items) >= n_items


def test_text_says_on_stderr_how_a_list_goes_on(project: Path) -> None:
    told = StringIO()
    with redirect_stdout(StringIO()), redirect_stderr(told):
        main(["search", "-C", str(project), "--mode", "regex", "-n", "20", NEEDLE])
    with Engine.open(str(project)) as engine:
        n_hits = len(engine.search(NEEDLE, mode="regex", limit=1_000).hits)
    assert f"{n_hits - 20} more hits; --offset 20 shows the next ones" in told.getvalue()


def mcp_pages(session: McpSession, tool: str, arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(walked(lambda at: session.content(tool, **arguments, **({} if at is None else {"cursor": at})), "next"))


@pytest.mark.parametrize("name", QUESTIONS)
def test_cursors_of_a_search_lead_to_the_end(session: McpSession, project: Path, name: str) -> None:
    query, mode = QUESTIONS[name]
    asked = {"vector": "semantic", "graph": "auto", "lexical": "hybrid"}.get(mode, mode)
    pages = mcp_pages(session, "search", {"query": query, "mode": asked, "max_tokens": 4_000})
    of_command = fathom(project, "search", "--mode", {"semantic": "vector"}.get(asked, asked), "-n", "1000", query)
    check_pages_of_agent(pages, [place_of(hit) for hit in of_command["hits"]], exactly=name in EXACT)
    assert not pages[-1]["left_out"]


@pytest.mark.parametrize("limit", [1, 5, 21, 100])
def test_no_limit_hides_that_there_is_more(session: McpSession, engine: Engine, limit: int) -> None:
    n_hits = len(engine.search(NEEDLE, mode="regex", limit=1_000).hits)
    content = session.content("search", query=NEEDLE, mode="regex", limit=limit, max_tokens=20_000)
    assert len(content["hits"]) + content["left_out"] == n_hits
    assert len(content["hits"]) <= limit
    assert content["next"]


def places_of(groups: list[dict]) -> list[tuple[str, str, int]]:
    """Return kind, path and line of each edge in the lists of an agent."""
    return [(group["kind"], group["path"], int(at.split()[0])) for group in groups for at in group["at"]]


@pytest.mark.parametrize("arguments", [{"target": f"@@{SHARED}"}, {"target": "pack/shared.py"}])
def test_cursors_of_connections_lead_to_the_end(session: McpSession, engine: Engine, arguments: dict) -> None:
    pages = mcp_pages(session, "related", {**arguments, "max_tokens": 2_000})
    edges = check_counts([{**page, "edges": places_of(page["edges"])} for page in pages], "edges")
    told = engine.related(arguments["target"], limit=10_000).edges
    assert edges == [(title(edge), edge.path, edge.line) for edge in told]


@pytest.mark.parametrize("most", [400, 2_000])
def test_cursors_of_an_impact_lead_to_the_end(session: McpSession, engine: Engine, most: int) -> None:
    pages = mcp_pages(session, "related", {"diff": CHANGE, "max_tokens": most})
    told = engine.impact(diff=CHANGE, limit=10_000)
    lists = {"changes": told.changes, "reached": told.reached, "tests": told.tests, "unseen": told.unseen}
    n_shown = 0
    for page in pages:
        page["reached"] = places_of(page["reached"])
        n_shown += sum(len(page[name]) for name in lists)
        assert page["left_out"] == sum(map(len, lists.values())) - n_shown
    reached = [place for page in pages for place in page["reached"]]
    assert reached == [(title(edge), edge.path, edge.line) for edge in told.reached]


def test_cursors_of_a_map_lead_to_the_end(session: McpSession, engine: Engine) -> None:
    pages = mcp_pages(session, "map", {"max_tokens": 2_000})
    shown = [line for page in pages for line in page["outline"].splitlines()]
    assert {line for line in shown if not line.startswith(" ")} == {file.path for file in engine.files.listed()}
    symbols = [line.split(":")[1] for line in shown if line.startswith(" ")]
    whole = engine.map(max_tokens=1_000_000)
    assert len(symbols) == sum(len(file.symbols) for file in whole.files)
    assert pages[-1]["left_out"] == 0


def test_a_cursor_of_another_index_says_so(project: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    shutil.copytree(project, root, ignore=shutil.ignore_patterns(".fathom"))
    with McpSession(root) as session:
        first = session.content("search", query=NEEDLE, mode="regex")
        while "indexing" in first:
            first = session.content("search", query=NEEDLE, mode="regex")
        (root / "pack" / "new.py").write_text("# NEEDLE-0-1\n")
        with Engine.open(str(root)) as engine:
            engine.index()
        second = session.content("search", query=NEEDLE, mode="regex", cursor=first["next"])
        assert "The index has changed since this cursor was given" in second["note"]
        assert second["hits"]
        assert "note" not in session.content("search", query=NEEDLE, mode="regex", cursor=second["next"])


@pytest.mark.parametrize("cursor", ["-1", "1.2.3", "x", "9" * 20, "1.x", 1.5, ["1"], {"a": 1}, True, "1.\ud800", "١"])
def test_a_cursor_that_nobody_gave_is_explained(session: McpSession, cursor: object) -> None:
    for tool, arguments in (("search", {"query": "price"}), ("related", {"target": f"@@{SHARED}"}), ("map", {})):
        assert "cursor cannot be" in session.refusal(tool, **arguments, cursor=cursor)


def test_a_page_behind_the_end_says_where_the_end_is(session: McpSession, engine: Engine) -> None:
    n_hits = len(engine.search(NEEDLE, mode="regex", limit=1_000).hits)
    content = session.content("search", query=NEEDLE, mode="regex", cursor="9999999")
    assert (content["hits"], content["left_out"], "next" in content) == ([], 0, False)
    result = engine.search(NEEDLE, mode="regex", offset=5_000)
    assert result.suggestion == f"the list ends before the offset 5000: it has {n_hits} places"
    with pytest.raises(UsageError, match="offset cannot be -1"):
        engine.search(NEEDLE, offset=-1)


def test_a_context_counts_the_files_that_it_leaves_out(engine: Engine) -> None:
    context = engine.context("where are invoices of a customer handled", max_files=2, anyway=True)
    assert len(context.files) == 2
    assert context.n_left_out > 0
