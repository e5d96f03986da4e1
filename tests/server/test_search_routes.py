"""Searching and looking around over HTTP gives what the engine gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.documents import pdf
from tests.server.conftest import SHOP, Serve
from tests.server.test_projects import add, index

from codefathom import Engine
from codefathom.answer.tokens import estimate
from codefathom.facts.remedies import over_http
from codefathom.search.ranking.weights import WEIGHTS
from codefathom.server.http.answer_json import as_json
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.schemas.search_schemas import SearchOut
from codefathom.server.server_config import ServerConfig
from codefathom.shapes import search_shape

QUESTION = "where are orders priced"


@pytest.fixture
def ready(server: httpx.Client, shop: Path) -> httpx.Client:
    """A server with one indexed project."""
    add(server, shop)
    index(shop)
    return server


@pytest.fixture
def engine(shop: Path) -> Iterator[Engine]:
    with Engine.open(str(shop)) as engine:
        yield engine


def found(server: httpx.Client, **body: object) -> dict:
    answer = server.post("/search", json={"query": QUESTION, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_search_gives_what_the_command_line_gives(ready: httpx.Client, engine: Engine) -> None:
    told = search_shape(engine.search(QUESTION))
    given = found(ready, explain=True)
    assert all(hit.pop("project_id") == "shop" for hit in given["hits"])
    (project,) = given.pop("projects")
    assert (given.pop("roots"), given.pop("left_out")) == ({}, [])  # of questions to paths
    assert given.pop("indexing") == []
    assert given.pop("facets") is None  # they were not asked for
    told["plan"]["why"] = over_http(told["plan"]["why"])
    assert given == told
    assert (project["project_id"], project["n_hits"]) == ("shop", len(told["hits"]))
    assert (project["confidence"], project["generation"]) == (told["confidence"], told["generation"])


def test_each_signal_of_a_hit_is_explained(reading: httpx.Client) -> None:
    explained = {signal["name"]: signal for signal in reading.get("/signals").json()["signals"]}
    for hit in found(reading, explain=True)["hits"]:
        assert set(hit["signals"]) <= set(explained)
    assert all("signals" not in hit for hit in found(reading)["hits"])
    assert all(signal["meaning"] for signal in explained.values())
    for kind, key in (("short", "weight"), ("long", "weight_for_long_text")):
        weights = {name: weight for name, weight in WEIGHTS[kind].items() if weight}
        assert {name: signal[key] for name, signal in explained.items() if signal[key]} == weights
    assert explained["test"]["weight"] < 0 < explained["vector"]["weight"]


@pytest.mark.parametrize(
    ("plain", "camel"),
    [
        ({"limit": 2}, {"maxResults": 2}),
        ({"max_results": 2}, {"topK": 2}),
        ({"min_score": 0.3}, {"minScore": 0.3}),
        ({"level": "file"}, {"index_type": "file"}),
        ({"level": "function"}, {"indexType": "function"}),
        ({"language_filter": ["python"]}, {"languageFilter": "py"}),
        ({"directory_filter": ["shop"]}, {"directoryFilter": "shop"}),
        ({"kind_filter": ["method"]}, {"kindFilter": ["method"]}),
        ({"project_id": "shop"}, {"projectId": "shop"}),
        ({"project_ids": ["shop"]}, {"projectIds": ["shop"]}),
    ],
)
def test_options_have_two_spellings(reading: httpx.Client, plain: dict, camel: dict) -> None:
    assert found(reading, **plain) == found(reading, **camel)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"explain": True},
        {"level": "file", "limit": 3, "whole": True},
        {"query": "price_of", "mode": "symbol", "explain": True},
        {"query": "pri.e", "mode": "regex", "explain": True},
        {"query": "what calls price_of", "explain": True},
        {"query": "nothing like this xyzzy", "max_tokens": 900},
        {"limit": 100, "max_tokens": 700, "explain": True},
        {"project_ids": ["shop", "unknown"]},
    ],
)
def test_an_answer_is_what_its_schema_writes(reading: httpx.Client, body: dict) -> None:
    content = reading.post("/search", json={"query": QUESTION, **body}).content
    shown = SearchOut.model_validate_json(content)
    hidden = None if body.get("explain") else {"hits": {"__all__": {"signals", "reason_parts", "place_parts"}}}
    assert shown.model_dump_json(exclude=hidden).encode() == content


def test_an_answer_can_hold_any_name_of_a_file() -> None:
    value = {"path": "caf\udce9.py", "list": ("\ud800",), "number": float("nan")}
    assert as_json(value) == '{"path":"caf?.py","list":["?"],"number":null}'


def test_filters_keep_the_hits(reading: httpx.Client) -> None:
    assert {hit["language"] for hit in found(reading, language_filter=["go", "rust"])["hits"]} <= {"go", "rust"}
    assert {hit["path"].split("/")[0] for hit in found(reading, directory_filter="shop")["hits"]} == {"shop"}
    assert {hit["kind"] for hit in found(reading, kind_filter="method", level="symbol")["hits"]} <= {"method"}
    assert {hit["language"] for hit in found(reading, filter="language = java")["hits"]} == {"java"}
    assert len(found(reading, limit=2)["hits"]) == 2
    assert {hit["kind"] for hit in found(reading, level="file")["hits"]} == {"file"}
    assert {hit["kind"] for hit in found(reading, level="function", limit=50)["hits"]} == {"function", "method"}


def test_a_file_comes_as_its_best_lines_unless_it_is_wanted_whole(server: httpx.Client, shop: Path) -> None:
    lines = [f"value_{number} = {number}" for number in range(1_000)]
    lines[700] = "def feed_kangaroo(): return 'grass'"
    (shop / "long.py").write_text("\n".join(lines) + "\n")
    add(server, shop)
    index(shop)
    (hit, *_) = found(server, query="feed_kangaroo", level="file")["hits"]
    content = hit["content"].split("\n")
    assert len(content) <= 24
    assert content[701 - hit["content_line"]] == lines[700]
    (hit, *_) = found(server, query="feed_kangaroo", level="file", whole=True)["hits"]
    assert hit["content"].count("\n") >= 1_000
    assert hit["content_line"] == 1


@pytest.mark.parametrize("route", ["/search", "/context", "/ask"])
def test_a_missing_folder_is_an_error_that_names_what_there_is(reading: httpx.Client, route: str) -> None:
    answer = reading.post(route, json={"query": "price", "project_id": "shop", "directory_filter": "shop/nowhere"})
    assert (answer.status_code, answer.json()["detail"]) == (400, "no folder in the index is called 'shop/nowhere'")
    assert "shop" in answer.json()["hint"]
    for folder in ("SHOP", "./shop/", "s*", "nowhere*", "."):
        body = {"query": "price", "project_id": "shop", "directory_filter": folder}
        assert reading.post(route, json=body).status_code == 200


def test_all_that_the_project_lists_is_found_by_its_name(reading: httpx.Client) -> None:
    status = reading.get("/projects/shop").json()
    listed_files = reading.post("/search", json={"query": "e", "mode": "regex", "level": "file", "limit": 100}).json()
    folders = {hit["path"].rpartition("/")[0] for hit in listed_files["hits"]} - {""}
    assert len(status["languages"]) > 3 and len(status["kinds"]) > 3 and len(folders) > 2
    listed = {"language_filter": status["languages"], "kind_filter": status["kinds"], "directory_filter": folders}
    for name, values in listed.items():
        for value in values:
            assert found(reading, query="e", mode="regex", **{name: value})["hits"], (name, value)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"query": ""}, 422, "invalid"),
        ({"query": "   "}, 400, "usage"),
        ({"query": "x", "limit": 0}, 422, "invalid"),
        ({"query": "x", "mode": "guess"}, 422, "invalid"),
        ({"query": "x", "unknown": 1}, 422, "invalid"),
        ({"query": "x", "filter": "language ="}, 400, "usage"),
        ({"query": "@nowhere.py x"}, 400, "usage"),
        ({"query": "x", "directory_filter": "nowhere"}, 400, "usage"),
        ({"query": "x", "directory_filter": ["shop", "nowhere"]}, 400, "usage"),
        ({"query": "x", "language_filter": "klingon"}, 400, "usage"),
        ({"query": "x", "kind_filter": "nonsense"}, 400, "usage"),
        ({"query": "x", "project_id": "nobody"}, 404, "not_found"),
    ],
)
def test_a_search_that_cannot_be_says_why(reading: httpx.Client, body: dict, status: int, code: str) -> None:
    answer = reading.post("/search", json=body)
    assert (answer.status_code, answer.json()["code"], answer.json()["status"]) == (status, code, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"].endswith(code)


def test_what_is_not_json_is_refused(reading: httpx.Client) -> None:
    for content in (b"", b"{", b"\xff", b"[]", b"null", b"123", b'{"query": "\\ud800"}'):
        answer = reading.post("/search", content=content, headers={"content-type": "application/json"})
        assert answer.status_code in {400, 422}, content
        assert answer.headers["content-type"] == "application/problem+json"


def test_without_a_project_there_is_nothing_to_search(server: httpx.Client) -> None:
    answer = server.post("/search", json={"query": "x"})
    assert (answer.status_code, answer.json()["hint"]) == (404, "POST /projects adds one")


def test_a_project_without_an_index_is_not_indexed_on_the_way(server: httpx.Client, shop: Path) -> None:
    add(server, shop)
    for answer in (
        server.post("/search", json={"query": "x"}),
        server.post("/context", json={"query": "x"}),
        server.get("/files", params={"project_id": "shop"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "not_indexed")


def test_a_change_is_found_although_results_are_kept(ready: httpx.Client, shop: Path) -> None:
    before = found(ready, query="zebra crossing", level="file")
    (shop / "zebra.py").write_text("def zebra_crossing():\n    return 'stripes'\n", encoding="utf-8")
    index(shop)
    after = found(ready, query="zebra crossing", level="file")
    assert after["generation"] > before["generation"]
    assert "zebra.py" not in [hit["path"] for hit in before["hits"]]
    assert after["hits"][0]["path"] == "zebra.py"


def test_several_projects_are_merged(ready: httpx.Client, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "fathom.toml").touch()
    (other / "price.py").write_text("def price_of_orders():\n    return 1\n", encoding="utf-8")
    add(ready, other)
    index(other)
    for route in ("/search", "/federated/search"):
        merged = ready.post(route, json={"query": "price of orders", "limit": 4}).json()
        assert {hit["project_id"] for hit in merged["hits"]} == {"shop", "other"}
        scores = [hit["score"] for hit in merged["hits"]]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) == 4
        assert merged["generation"] is None
        alone = found(ready, query="price of orders", project_id="shop")
        of_shop = [hit["path"] for hit in merged["hits"] if hit["project_id"] == "shop"]
        assert of_shop == [hit["path"] for hit in alone["hits"]][: len(of_shop)]


def test_contexts_symbols_and_connections_of_several(ready: httpx.Client, tmp_path: Path) -> None:
    for name in ("other", "empty"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fathom.toml").touch()
        add(ready, tmp_path / name)
    (tmp_path / "other" / "price.py").write_text(
        "import os\n\n\ndef total_cents():\n    return os.sep\n", encoding="utf-8"
    )
    index(tmp_path / "other")
    context = ready.post("/context", json={"query": "total_cents", "max_files": 3}).json()
    assert {"other/price.py", "shop/shop/pricing.py"} <= {file["path"] for file in context["files"]}
    assert context["project_id"] == ""
    assert context["degraded"] == ["empty: the project 'empty' has no index yet; POST /projects/empty/index makes it"]
    symbols = ready.get("/federated/symbols", params={"query": "total_cents"}).json()
    assert [(item["project_id"], item["path"]) for item in symbols["symbols"]] == [
        ("shop", "shop/pricing.py"),
        ("other", "price.py"),
    ]
    assert symbols["failed"]["empty"]["code"] == "not_indexed"
    named = ready.get("/federated/symbols", params={"query": "total_cents", "project_id": ["other"]}).json()
    assert ({item["project_id"] for item in named["symbols"]}, named["failed"]) == ({"other"}, {})
    related = ready.get(
        "/federated/related", params={"target": "@@total_cents", "project_id": ["shop", "other"]}
    ).json()
    by_project = {item["project_id"]: [edge["path"] for edge in item["edges"]] for item in related["projects"]}
    assert "shop/orders.py" in by_project["shop"]
    assert "shop/orders.py" not in by_project["other"]


def test_one_map_of_several(ready: httpx.Client, tmp_path: Path) -> None:
    for name in ("other", "empty"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fathom.toml").touch()
        add(ready, tmp_path / name)
    (tmp_path / "other" / "price.py").write_text("def price():\n    return 1\n", encoding="utf-8")
    index(tmp_path / "other")
    told = ready.get("/federated/map", params={"query": "price of an order", "max_tokens": 400})
    assert estimate(told.text) <= 400
    shown = told.json()
    assert {file["path"].partition("/")[0] for file in shown["files"]} == {"shop", "other"}
    assert shown["files"] == sorted(shown["files"], key=lambda file: file["path"])
    assert 0 < shown["n_tokens"] < 400
    assert shown["n_left_out"] == shown["n_files"] - len(shown["files"]) > 0
    assert {name: problem["code"] for name, problem in shown["failed"].items()} == {"empty": "not_indexed"}
    wish = {"project_id": ["shop", "other"], "file": "shop/shop/pricing.py", "folder": "shop"}
    shown = ready.get("/federated/map", params=wish).json()
    assert {"/".join(file["path"].split("/")[:2]) for file in shown["files"]} == {"shop/shop"}
    assert shown["failed"] == {}
    for params in ({"file": "/etc/passwd"}, {"file": "nowhere.py"}, {"query": "@nowhere/ x"}):
        answer = ready.get("/federated/map", params=params)
        assert (answer.status_code, answer.json()["code"]) == (400, "usage")
    answer = ready.get("/federated/map", params={"folder": "nowhere"})
    assert (answer.status_code, answer.json()["code"]) == (404, "source")
    assert ready.get("/federated/map", params={"project_id": "klingon"}).status_code == 404


def test_a_project_that_cannot_answer_is_named(ready: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    add(ready, tmp_path / "empty")
    merged = found(ready)
    assert {hit["project_id"] for hit in merged["hits"]} == {"shop"}
    assert [project["problem"] and project["problem"]["code"] for project in merged["projects"]] == [
        None,
        "not_indexed",
    ]
    assert merged["degraded"] == ["empty: the project 'empty' has no index yet"]


def test_context_gives_files_within_its_budget(ready: httpx.Client, engine: Engine) -> None:
    given = ready.post("/context", json={"query": QUESTION, "maxFiles": 2}).json()
    told = engine.context(QUESTION, max_files=2)
    assert [(file["path"], file["text"]) for file in given["files"]] == [(file.path, file.text) for file in told.files]
    assert (given["n_tokens"], given["project_id"]) == (told.n_tokens, "shop")


def test_files_and_folders_are_shown(ready: httpx.Client, shop: Path) -> None:
    listed = ready.get("/files", params={"project_id": "shop", "folder": "shop", "limit": 2}).json()
    assert [file["path"] for file in listed["files"]] == ["shop/__init__.py", "shop/accounts.py"]
    assert listed["n_files"] == 6
    tree = ready.get("/file-tree", params={"project_id": "shop", "folder": "shop/"}).json()["entries"]
    assert [(entry["name"], entry["is_folder"]) for entry in tree][:2] == [("store", True), ("__init__.py", False)]
    assert (tree[0]["path"], tree[0]["n_files"]) == ("shop/store", 2)
    text = (SHOP / "shop" / "pricing.py").read_text(encoding="utf-8")
    shown = ready.get("/file", params={"project_id": "shop", "path": "shop/pricing.py"}).json()
    assert (shown["content"], shown["start_line"], shown["language"]) == (text, 1, "python")
    part = ready.get("/file", params={"project_id": "shop", "path": "shop/pricing.py", "start_line": 3, "end_line": 4})
    assert part.json()["content"] == "".join(text.splitlines(keepends=True)[2:4])
    place = ready.get("/file", params={"project_id": "shop", "path": "shop/pricing.py:3-4"})
    assert place.json() == part.json()
    (shop / "shop" / "pricing.py").unlink()
    gone = ready.get("/file", params={"project_id": "shop", "path": "shop/pricing.py"})
    assert (gone.status_code, "is not there any more" in gone.json()["detail"]) == (404, True)


@pytest.mark.parametrize(
    ("route", "values"),
    [
        ("/search", {"query": QUESTION}),
        ("/search", {"query": QUESTION, "files": ["shop/shop/pricing.py"]}),
        ("/federated/search", {"query": QUESTION}),
        ("/context", {"query": QUESTION}),
        ("/ask", {"query": QUESTION}),
        ("/federated/symbols", {"query": "price"}),
        ("/federated/related", {"target": "@@total_cents"}),
        ("/federated/map", {}),
    ],
)
def test_an_unknown_project_among_several_is_named(reading: httpx.Client, route: str, values: dict) -> None:
    """And the others answer, as for any problem of one of them."""
    told = asked(reading, route, values, ["shop", "nowhere"]).raise_for_status().json()
    problems = told.get("failed") or {item["project_id"]: item["problem"] for item in told.get("projects", [])[1:]}
    if route in ("/context", "/ask"):
        (note,) = told["degraded"][:1]
        assert note.startswith("nowhere") and "no such project: 'nowhere'" in note
    else:
        nowhere = problems["nowhere"]
        assert nowhere["code"] == "not_found"
        assert (nowhere["detail"], nowhere["hint"]) == ("no such project: 'nowhere'", "GET /projects lists them")
    assert "shop" in str(told.get("hits") or told.get("files") or told.get("symbols") or told["projects"])


def asked(client: httpx.Client, route: str, values: dict, names: list[str]) -> httpx.Response:
    if route.startswith("/federated/") and route != "/federated/search":
        return client.get(route, params={**values, "project_id": names})
    return client.post(route, json={**values, "project_ids": names})


@pytest.mark.parametrize(
    ("route", "values"),
    [
        *(
            (route, {"query": QUESTION})
            for route in ("/search", "/federated/search", "/context", "/ask", "/ask/stream", "/ask/agent")
        ),
        ("/federated/symbols", {"query": "price"}),
        ("/federated/related", {"target": "@@total_cents"}),
        ("/federated/map", {}),
    ],
)
def test_where_no_name_means_anything_there_is_no_answer(reading: httpx.Client, route: str, values: dict) -> None:
    answer = asked(reading, route, values, ["nowhere", "elsewhere"])
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert answer.json()["detail"] == "no such project: 'nowhere'"


def test_a_conversation_is_begun_with_projects_that_are_there(reading: httpx.Client) -> None:
    answer = reading.post("/conversations", json={"project_ids": ["shop", "nowhere"]})
    assert (answer.status_code, answer.json()["detail"]) == (404, "no such project: 'nowhere'")


def test_a_project_of_another_token_is_as_unknown_as_one_that_is_not_there(
    config: ServerConfig, serve: Serve, shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "vault").mkdir()
    tokens = (Token("all", hash_of("all")), Token("few", hash_of("few"), frozenset({"shop"})))
    with serve(replace(config, tokens=tokens)) as client:
        client.headers["authorization"] = "Bearer all"
        add(client, shop)
        add(client, tmp_path / "vault")
        for folder in (shop, tmp_path / "vault"):
            index(folder)
        client.headers["authorization"] = "Bearer few"
        told = found(client, project_ids=["shop", "vault", "nowhere"])
        vault, nowhere = (item["problem"] for item in told["projects"][1:])
        assert {hit["project_id"] for hit in told["hits"]} == {"shop"}
        assert {**vault, "detail": vault["detail"].replace("vault", "nowhere")} == nowhere


LOOKING = [
    ("/files", {}),
    ("/file", {"file_path": "shop/pricing.py"}),
    ("/file-tree", {"root_path": "shop"}),
    ("/symbols", {"query": "price"}),
    ("/related", {"target": "shop/pricing.py"}),
    ("/map", {}),
]


@pytest.mark.parametrize(("route", "query"), LOOKING)
def test_the_only_project_needs_no_name(ready: httpx.Client, shop: Path, route: str, query: dict) -> None:
    named = ready.get(route, params={"project_id": "shop", **query}).json()
    assert ready.get(route, params=query).json() == named
    assert named["project_id"] == "shop"
    other = shop.parent / "other"
    (other / "src").mkdir(parents=True)
    (other / "fathom.toml").touch()
    add(ready, other)
    answer = ready.get(route, params=query)
    assert (answer.status_code, answer.json()["code"]) == (400, "usage")
    assert "shop" in answer.json()["hint"] and "other" in answer.json()["hint"]
    for name in ("shop", "other"):
        ready.delete(f"/projects/{name}")
    assert ready.get(route, params=query).status_code == 404


@pytest.mark.parametrize("top", ["", "{}/"])
def test_files_and_folders_by_the_names_of_other_systems(ready: httpx.Client, shop: Path, top: str) -> None:
    """`/file?file_path=` and `/file-tree?root_path=` of systems with one folder, whose paths may be whole ones."""
    own = {"project_id": "shop"}
    before = top.format(shop.resolve())
    file = ready.get("/file", params={**own, "path": "shop/pricing.py"}).json()
    tree = ready.get("/file-tree", params={**own, "folder": "shop"}).json()
    listed = ready.get("/files", params={**own, "folder": "shop"}).json()
    symbols = ready.get("/symbols", params={**own, "path": "shop/pricing.py"}).json()
    assert symbols["symbols"]
    for name in ("path", "file_path", "filePath"):
        assert ready.get("/file", params={**own, name: f"{before}shop/pricing.py"}).json() == file
        assert ready.get("/symbols", params={**own, name: f"{before}shop/pricing.py"}).json() == symbols
    for name in ("folder", "root_path", "rootPath"):
        assert ready.get("/file-tree", params={**own, name: f"{before}shop"}).json() == tree
        assert ready.get("/files", params={**own, name: f"{before}shop"}).json() == listed
    everything = ready.get("/file-tree", params={**own, "root_path": before.rstrip("/")}).json()
    assert everything == ready.get("/file-tree", params=own).json()
    twice = ready.get("/file", params={**own, "path": "shop/pricing.py", "file_path": "shop/orders.py"})
    assert (twice.status_code, twice.json()["code"]) == (400, "usage")


@pytest.mark.parametrize(
    ("route", "query", "status"),
    [
        ("/file", {}, 400),
        ("/file", {"file_path": ""}, 422),
        ("/file", {"file_path": "../secret"}, 404),
        ("/file-tree", {"root_path": "nowhere"}, 404),
        ("/file", {"path": "../secret"}, 404),
        ("/file", {"path": "/etc/passwd"}, 404),
        ("/file", {"path": "shop/pricing.py", "start_line": 9_999}, 400),
        ("/file", {"path": "shop/pricing.py", "start_line": 5, "end_line": 4}, 400),
        ("/file", {"path": ""}, 422),
        ("/file-tree", {"folder": "nowhere"}, 404),
        ("/symbols", {"path": "nowhere.py"}, 404),
        ("/related", {"target": "@@nobody"}, 400),
        ("/map", {"file": "nowhere.py"}, 404),
        ("/map", {"folder": "nowhere"}, 404),
        ("/map", {"max_tokens": 0}, 422),
        ("/files", {"limit": 0}, 422),
        ("/files", {"folder": "nowhere"}, 404),
        ("/files", {"folder": "shop/pricing.py"}, 404),
    ],
)
def test_what_is_not_indexed_cannot_be_seen(reading: httpx.Client, route: str, query: dict, status: int) -> None:
    answer = reading.get(route, params={"project_id": "shop", **query})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


def test_symbols_are_found_by_name_and_by_file(ready: httpx.Client, engine: Engine) -> None:
    by_name = ready.get("/symbols", params={"project_id": "shop", "query": "price", "kind": "method"}).json()
    assert [symbol["name"] for symbol in by_name["symbols"]] == [
        item.symbol.name for item in engine.symbols("price", kind="method")
    ]
    of_file = ready.get("/symbols", params={"project_id": "shop", "path": "shop/pricing.py"}).json()["symbols"]
    assert [symbol["start_line"] for symbol in of_file] == sorted(symbol["start_line"] for symbol in of_file)
    assert {symbol["path"] for symbol in of_file} == {"shop/pricing.py"}


@pytest.mark.parametrize("about", [{"kind": "method"}, {"path": "shop/pricing.py"}, {"kind": "import"}])
def test_a_cut_list_of_symbols_says_of_how_many(reading: httpx.Client, about: dict) -> None:
    every = reading.get("/symbols", params={"project_id": "shop", **about}).json()
    assert every["n_symbols"] == len(every["symbols"]) > 1
    cut = reading.get("/symbols", params={"project_id": "shop", "limit": 1, **about}).json()
    assert (len(cut["symbols"]), cut["n_symbols"]) == (1, every["n_symbols"])


def test_related_places_are_shown(ready: httpx.Client, engine: Engine) -> None:
    shown = ready.get("/related", params={"project_id": "shop", "target": "shop/pricing.py"}).json()
    told = engine.related("shop/pricing.py")
    assert [(edge["path"], edge["kind"], edge["line"]) for edge in shown["edges"]] == [
        (edge.path, edge.kind, edge.line) for edge in told.edges
    ]


@pytest.mark.parametrize("route", ["/related", "/federated/related"])
def test_a_limit_keeps_the_first_connections(ready: httpx.Client, engine: Engine, route: str) -> None:
    shown = ready.get(route, params={"project_id": "shop", "target": "shop/pricing.py", "limit": 1}).json()
    told = engine.related("shop/pricing.py")
    shown = shown["projects"][0] if "projects" in shown else shown
    assert [edge["path"] for edge in shown["edges"]] == [told.edges[0].path]
    assert f"{len(told.edges) - 1} more edges are left out" in shown["completeness"]


def test_a_map_is_that_of_the_engine(ready: httpx.Client, engine: Engine) -> None:
    wish = {"query": "price of an order", "file": ["shop/pricing.py"], "max_tokens": 300}
    answer = ready.get("/map", params={"project_id": "shop", **wish})
    assert estimate(answer.text) <= 300
    shown = answer.json()
    told = engine.map("price of an order", files=["shop/pricing.py"], max_tokens=shown["n_tokens"])
    assert [(file["path"], file["rank"]) for file in shown["files"]] == [(file.path, file.rank) for file in told.files]
    assert shown["n_tokens"] == told.n_tokens > 0
    assert shown["n_files"] == told.n_files > len(shown["files"])


def test_a_pdf_is_found_with_its_page_and_shown_as_its_text(server: httpx.Client, shop: Path) -> None:
    (shop / "paper.pdf").write_bytes(pdf(["Nothing here.", "A zebra lives in the savannah."]))
    add(server, shop)
    index(shop)
    first = found(server, query="zebra savannah")["hits"][0]
    assert (first["path"], first["place"]) == ("paper.pdf", "page 2")
    shown = server.get("/file", params={"project_id": "shop", "path": "paper.pdf"}).json()
    assert shown["content"] == "[page 1]\nNothing here.\n\n[page 2]\nA zebra lives in the savannah.\n"
    assert (shown["language"], shown["n_lines"]) == ("pdf", 5)
    answer = server.post("/ask", json={"query": "zebra savannah"}).json()
    assert [(one["path"], one["place"]) for one in answer["citations"]] == [("paper.pdf", "pages 1-2")]
    assert [one["place"] for one in answer["sources"]] == ["pages 1-2"]
