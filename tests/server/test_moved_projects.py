"""A project whose folder, or one above it, becomes a link later: no route shows or writes what lies there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.traps import Elsewhere
from tests.waiting import comes

from codefathom.server.server_config import ServerConfig

from .agents import META, call, post
from .conftest import Serve

MARK = "zebra_of_somebody_else"
BODIES: dict[str, Any] = {
    "ProjectIn": {"path": "SHOP"},
    "PathIn": {"path": "SHOP"},
    "RunPlanIn": {"path": "SHOP"},
    "TokenIn": {"name": "no name", "role": "reader"},  # a token would end the access of everybody without one
    "ProjectChangeIn": {"settings": {"search.limit": 5}},
    "StoreActionIn": {},
    "SearchIn": {"query": MARK, "project_id": "shop"},
    "ContextIn": {"query": MARK, "project_id": "shop"},
    "ImpactIn": {"revisions": "HEAD"},
    "TrialIn": {"settings": {}},
    "CodebaseIn": {"codebase_path": "SHOP"},
    "PathsIn": {"paths": ["shop/pricing.py", "shop/outside.py"]},
    "AskIn": {"query": MARK, "project_id": "shop"},
    "QueryIn": {"query": MARK, "project_id": "shop"},
    "ConversationIn": {"project_id": "shop"},
    "ConversationChangesIn": {"title": "x"},
    "RatingIn": {"verdict": "good"},
    "CompletionIn": {"model": "shop", "messages": [{"role": "user", "content": MARK}]},
}
PARAMETERS = {
    "project_id": "shop",
    "path": "shop/pricing.py",
    "query": MARK,
    "target": "shop/pricing.py",
    "folder": "",
    "file": "shop/pricing.py",
    "job_id": "x",
    "answer_id": "x",
    "conversation_id": "x",
    "token_id": "x",
}
# Routes that ask the project itself: all of them answer with the same error.
ASKING = {
    "GET /projects/{project_id}/store",
    "POST /projects/{project_id}/impact",
    "GET /files",
    "GET /file",
    "GET /blame",
    "GET /commits",
    "GET /glance",
    "GET /tour",
    "GET /modules",
    "GET /file-tree",
    "GET /picture",
    "GET /symbols",
    "GET /related",
    "GET /map",
    "GET /projects/{project_id}/status",
    "POST /projects/{project_id}/files",
    "POST /search",
    "POST /context",
    "POST /ask",
    "POST /v1/chat/completions",
}
# Last, since they take away what the others ask.
LAST = ("DELETE /projects/{project_id}/index", "DELETE /projects/{project_id}")


def outside_of(place: Path, shop: Path) -> Elsewhere:
    """A folder of somebody else with the same names in it, a file more, and a settings file of his."""
    elsewhere = Elsewhere(place)
    shutil.copytree(shop, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".fathom"))
    for file in [*place.rglob("*.py"), place / "shop" / "outside.py"]:
        file.write_text(f"def {MARK}():\n    return '{MARK}'\n")
    (place / "fathom.toml").write_text(f"[search]\nlimit = '{MARK}'\n")
    elsewhere.look_again()
    return elsewhere


def root_itself(shop: Path, outside: Path) -> None:
    shop.rename(shop.with_name("true-shop"))
    shop.symlink_to(outside)


def folder_above(shop: Path, outside: Path) -> None:
    above = shop.parent
    above.rename(above.with_name("true-above"))
    outside.rename(outside.with_name(shop.name))
    above.symlink_to(outside.parent)


Moves = pytest.mark.parametrize("move", [root_itself, folder_above], ids=["root", "above"])
Move = Callable[[Path, Path], None]


@pytest.fixture
def shop_in_folder(tmp_path: Path, shop: Path) -> Path:
    inside = tmp_path / "inside" / "above"
    inside.mkdir(parents=True)
    return shop.rename(inside / "shop")


@pytest.fixture
def client(serve: Serve, config: ServerConfig, shop_in_folder: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    with serve(replace(config, allowed_roots=(str(tmp_path.resolve() / "inside"),))) as client:
        client.post("/projects", json={"path": str(shop_in_folder)}).raise_for_status()
        client.post("/projects/shop/index").raise_for_status()
        assert comes(lambda: client.get("/projects/shop").json()["status"] == "indexed")
        assert client.post("/search", json={"query": "price", "project_id": "shop"}).json()["hits"]
        yield client


def operations(client: httpx.Client, shop: Path) -> Iterator[tuple[str, Callable[[], httpx.Response]]]:
    """Yield a request to each route of the document, those that remove things last."""
    paths = client.get("/openapi.json").json()["paths"]
    routes = {f"{method.upper()} {path}": found for path, of in paths.items() for method, found in of.items()}
    for route in [*(route for route in routes if route not in LAST), *LAST]:
        yield route, lambda route=route: request(client, route, routes[route], shop)


def request(client: httpx.Client, route: str, found: Any, shop: Path) -> httpx.Response:
    method, path = route.split(" ")
    names = [item["name"] for item in found.get("parameters", []) if item["in"] == "query"]
    schema = found.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    body = BODIES[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else None
    return client.request(
        method,
        path.format(**PARAMETERS),
        params={name: PARAMETERS[name] for name in names if name in PARAMETERS},
        json=None if body is None else json.loads(json.dumps(body).replace("SHOP", str(shop))),
    )


@Moves
def test_no_route_shows_or_writes_what_a_link_leads_to(
    client: httpx.Client, shop_in_folder: Path, tmp_path: Path, move: Move
) -> None:
    assert client.post("/projects/shop/watch").status_code in {200, 202}
    (tmp_path / "outside").mkdir()
    elsewhere = outside_of(tmp_path / "outside" / "folder", shop_in_folder)
    move(shop_in_folder, elsewhere.path)
    elsewhere = Elsewhere.of(shop_in_folder.resolve())
    answers = {}
    for route, ask in operations(client, shop_in_folder):
        answers[route] = found = ask()
        assert MARK not in found.text.replace(f'"query":"{MARK}"', "").replace(f"'{MARK}'", ""), route
        assert str(elsewhere.path) not in found.text, route
        assert found.status_code < 500, (route, found.text)
    assert elsewhere.is_untouched()
    said = {route: problem(answers[route]) for route in ASKING}
    assert said == dict.fromkeys(ASKING, said["GET /file"])
    assert said["GET /file"][:2] == (409, "moved")


def problem(answer: httpx.Response) -> tuple[int, str, str]:
    """Return status, code and words of an error; a route of OpenAI has a form of its own."""
    body = answer.json()
    error = body.get("error") or body
    return answer.status_code, error["code"], error.get("message") or f"{body['detail']} ({body['hint']})"


@Moves
def test_the_project_is_said_to_have_moved(
    client: httpx.Client, shop_in_folder: Path, tmp_path: Path, move: Move
) -> None:
    (tmp_path / "outside").mkdir()
    elsewhere = outside_of(tmp_path / "outside" / "folder", shop_in_folder)
    move(shop_in_folder, elsewhere.path)
    (shown,) = client.get("/projects").json()["projects"]
    assert (shown["status"], shown["job_id"]) == ("moved", "")
    assert "has moved" in shown["problem"]
    tools = {
        "search": {"query": MARK},
        "read": {"path": "shop/pricing.py"},
        "related": {"target": "shop/pricing.py"},
        "map": {},
    }
    listed = post(client, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}).json()
    assert {tool["name"] for tool in listed["result"]["tools"]} == tools.keys()
    for tool, arguments in tools.items():
        said = post(client, call(tool, projects=["shop"], **arguments)).text
        assert "has moved" in said, (tool, said)
    job = client.post("/projects/shop/index")
    ended = comes(lambda: client.get("/jobs", params={"project_id": "shop"}).json()["jobs"][0]["state"] == "failed")
    assert job.status_code == 409 or ended


def test_a_project_that_came_back_is_asked_again(client: httpx.Client, shop_in_folder: Path, tmp_path: Path) -> None:
    elsewhere = outside_of(tmp_path / "outside", shop_in_folder)
    root_itself(shop_in_folder, elsewhere.path)
    assert client.get("/projects/shop").json()["status"] == "moved"
    shop_in_folder.unlink()
    shop_in_folder.with_name("true-shop").rename(shop_in_folder)
    assert client.get("/projects/shop").json()["status"] == "indexed"
    hits = client.post("/search", json={"query": "price", "project_id": "shop"}).json()["hits"]
    assert hits


def test_a_project_outside_the_folders_that_are_allowed_now_is_not_asked(
    serve: Serve, config: ServerConfig, shop_in_folder: Path, tmp_path: Path
) -> None:
    with serve(config) as client:
        client.post("/projects", json={"path": str(shop_in_folder)}).raise_for_status()
    (tmp_path / "other").mkdir()
    with serve(replace(config, allowed_roots=(str(tmp_path.resolve() / "other"),))) as client:
        found = client.get("/file", params={"project_id": "shop", "path": "shop/pricing.py"})
        assert (found.status_code, "allowed_roots" in found.json()["hint"]) == (403, True)
        assert client.get("/projects/shop").json()["status"] == "failed"
        assert client.delete("/projects/shop").status_code == 204
