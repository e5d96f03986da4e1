"""Every list of the server counts what is behind a page, and its pages join up to the whole list."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.many_places import (
    N_FILES,
    NEEDLE,
    SHARED,
    check_counts,
    check_pages_of_agent,
    lines_with,
    make_many_places,
    place_of,
    walked,
)
from tests.server.agents import agent
from tests.server.conftest import serving
from tests.server.test_projects import add, index
from tests.waiting import LONG_S

from codefathom.engine import Engine
from codefathom.server.app import create_app
from codefathom.server.server_config import ServerConfig

QUESTIONS: dict[str, tuple[dict[str, Any], bool]] = {
    "an expression": ({"query": NEEDLE, "mode": "regex"}, True),
    "names": ({"query": "handle_invoice", "mode": "symbol"}, True),
    "connections": ({"query": f"what calls {SHARED}"}, True),
    "words and meaning": ({"query": "where are invoices of a customer handled"}, False),
    "files": ({"query": "where are invoices of a customer handled", "level": "file"}, False),
}
LISTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "files": ("/files", {"project_id": "many", "limit": 7}, "files"),
    "symbols": ("/symbols", {"project_id": "many", "query": "handle", "limit": 31}, "symbols"),
    "symbols in few tokens": ("/symbols", {"project_id": "many", "max_tokens": 3_000}, "symbols"),
    "symbols of a file": ("/symbols", {"project_id": "many", "path": "pack/invoice_1.py", "limit": 2}, "symbols"),
    "connections": ("/related", {"project_id": "many", "target": f"@@{SHARED}", "limit": 31}, "edges"),
    "far connections": ("/related", {"project_id": "many", "target": f"@@{SHARED}", "limit": 31, "depth": 3}, "edges"),
    "symbols of several": ("/federated/symbols", {"query": "handle", "limit": 31}, "symbols"),
    "conversations": ("/conversations", {"limit": 2}, "conversations"),
    "jobs": ("/jobs", {"limit": 1}, "jobs"),
}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_many_places(tmp_path_factory.mktemp("served") / "many")
    index(root)
    return root


@pytest.fixture(scope="module")
def other(many: Path) -> Path:
    root = make_many_places(many.parent / "other", n_files=4)
    index(root)
    return root


@pytest.fixture(scope="module")
def address(many: Path, other: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            patch.setenv(name, str(many.parent / name))
        config = ServerConfig(data_dir=str(many.parent / "data"), allowed_roots=(str(many.parent.resolve()),))
        with serving(create_app(config)) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
            for root in (many, other):
                add(client, root)
            for number in range(5):
                client.post("/conversations", json={"project_ids": ["many"], "title": f"talk {number}"})
            yield address


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=LONG_S) as client:
        yield client


def told(response: httpx.Response) -> Mapping[str, Any]:
    assert response.status_code == 200, response.text
    content: Mapping[str, Any] = response.json()
    return content


def pages_of(client: httpx.Client, route: str, values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    def page(offset: int | None) -> Mapping[str, Any]:
        asked = {**values, "offset": offset or 0}
        is_body = route.endswith(("search", "impact"))
        return told(client.post(route, json=asked) if is_body else client.get(route, params=asked))

    return list(walked(page, "next_offset"))


@contextmanager
def engine_of(root: Path) -> Iterator[Engine]:
    with Engine.open(str(root)) as engine:
        yield engine


@pytest.mark.parametrize("name", QUESTIONS)
def test_pages_of_a_search_join_up(client: httpx.Client, many: Path, name: str) -> None:
    body, is_exact = QUESTIONS[name]
    pages = pages_of(client, "/search", {**body, "project_id": "many", "limit": 40})
    hits = [place_of(hit) for hit in check_counts(pages, "hits", exactly=is_exact)]
    with engine_of(many) as engine:
        whole = engine.search(body["query"], mode=body.get("mode"), level=body.get("level"), limit=10_000).hits
    assert hits == [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in whole]
    if name == "an expression":
        covered = {(path, line) for path, start, end in hits for line in range(start, end + 1)}
        assert lines_with(many, NEEDLE) <= covered


@pytest.mark.parametrize("values", [{"project_ids": ["many", "other"]}, {}])
def test_pages_of_several_projects_join_up(client: httpx.Client, values: dict[str, Any]) -> None:
    body = {**QUESTIONS["an expression"][0], **values}
    pages = pages_of(client, "/federated/search", {**body, "limit": 50})
    hits = check_counts(pages, "hits", exactly=False)
    whole = told(client.post("/federated/search", json={**body, "limit": 1_000}))
    assert not whole["n_left_out"]
    assert [(hit["project_id"], place_of(hit)) for hit in hits] == [
        (hit["project_id"], place_of(hit)) for hit in whole["hits"]
    ]


@pytest.mark.parametrize("name", LISTS)
def test_pages_of_a_list_join_up(client: httpx.Client, name: str) -> None:
    route, values, key = LISTS[name]
    pages = pages_of(client, route, values)
    exactly = name != "far connections"
    items = [json.dumps(item, sort_keys=True) for item in check_counts(pages, key, exactly=exactly)]
    assert len(set(items)) == len(items)
    assert len(pages) > 1 or name == "jobs"


def test_pages_of_connections_of_several_projects_join_up(client: httpx.Client, many: Path) -> None:
    pages = pages_of(client, "/federated/related", {"target": f"@@{SHARED}", "limit": 31})
    edges = [edge for page in pages for one in page["projects"] if one["project_id"] == "many" for edge in one["edges"]]
    with engine_of(many) as engine:
        whole = engine.related(f"@@{SHARED}", limit=10_000).edges
    assert [(edge["path"], edge["line"]) for edge in edges] == [(edge.path, edge.line) for edge in whole]


@pytest.mark.parametrize("route", ["/map", "/federated/map"])
def test_pages_of_a_map_join_up(client: httpx.Client, route: str) -> None:
    values = {"max_tokens": 3_000, **({"project_id": "many"} if route == "/map" else {})}
    pages = pages_of(client, route, values)
    paths = {file["path"] for page in pages for file in page["files"]}
    assert len(paths) == pages[0]["n_files"]
    assert (pages[-1]["n_left_out"], pages[-1]["n_symbols_left_out"]) == (0, 0)
    symbols = [(file["path"], one["name"]) for page in pages for file in page["files"] for one in file["symbols"]]
    assert len(set(symbols)) == len(symbols) > N_FILES


def test_pages_of_an_impact_join_up(client: httpx.Client) -> None:
    diff = "--- a/pack/shared.py\n+++ b/pack/shared.py\n@@ -3,1 +3,1 @@\n-    return 0\n+    return 1\n"
    pages = pages_of(client, "/projects/many/impact", {"diff": diff, "limit": 30})
    lists = ("changes", "reached", "tests", "unseen")
    n_shown = 0
    for page in pages:
        n_shown += sum(len(page[name]) for name in lists)
        assert page["n_left_out"] == sum(page[f"n_{name}"] for name in lists) - n_shown
    places = [(edge["path"], edge["line"], edge["kind"]) for page in pages for edge in page["reached"]]
    assert len(set(places)) == len(places) == pages[0]["n_reached"] > 200


@pytest.mark.parametrize("name", ["an expression", "names", "words and meaning"])
def test_cursors_of_an_agent_lead_to_the_end(address: str, client: httpx.Client, name: str) -> None:
    body, is_exact = QUESTIONS[name]

    async def pages() -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        async with agent(address) as session:
            cursor = None
            while not found or cursor:
                arguments = {**body, "projects": ["many"], "max_tokens": 6_000}
                result = await session.call_tool("search", {**arguments, **({"cursor": cursor} if cursor else {})})
                found.append(result.structured_content or {})
                cursor = found[-1].get("next")
        return found

    over_http = pages_of(client, "/search", {**body, "project_id": "many", "limit": 100})
    own = [("many/" + hit["path"], *place_of(hit)[1:]) for page in over_http for hit in page["hits"]]
    check_pages_of_agent(asyncio.run(pages()), own, exactly=is_exact)


@pytest.mark.parametrize("offset", [-1, 10_000_001, "x", 1.5])
def test_an_offset_that_cannot_be_is_refused(client: httpx.Client, offset: object) -> None:
    assert client.post("/search", json={"query": "invoice", "offset": offset}).status_code == 422
    for route, values, _ in LISTS.values():
        assert client.get(route, params={**values, "offset": offset}).status_code == 422


def test_a_file_is_shown_as_it_is_now(client: httpx.Client, other: Path) -> None:
    path = "pack/invoice_3.py"
    found = told(client.post("/search", json={"query": "handle_invoice_3_1", "project_id": "other"}))["hits"]
    assert found[0]["path"] == path
    shown = told(client.get("/file", params={"project_id": "other", "path": path}))
    assert (shown["content"], shown["stale"]) == ((other / path).read_text(), False)
    (other / path).write_text("paid = True\n")
    shown = told(client.get("/file", params={"project_id": "other", "path": path}))
    assert (shown["content"], shown["n_lines"], shown["stale"]) == ("paid = True\n", 1, True)
    (other / path).unlink()
    gone = client.get("/file", params={"project_id": "other", "path": path})
    assert gone.status_code == 404 or gone.json()["code"] == "source", gone.text
    assert "not there any more" in gone.json()["detail"]
