"""Projects over HTTP: what can be added, seen, changed and removed, and what cannot."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.server.conftest import Serve

from codefathom import Engine
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.server_config import ServerConfig


def add(server: httpx.Client, folder: Path, **more: object) -> dict:
    answer = server.post("/projects", json={"path": str(folder), **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def index(folder: Path) -> None:
    with Engine.open(str(folder)) as engine:
        engine.index()


def test_a_project_is_added_listed_changed_and_removed(server: httpx.Client, shop: Path) -> None:
    assert server.get("/projects").json() == {"projects": []}
    added = add(server, shop, name="The Shop")
    assert (added["id"], added["name"], added["root"]) == ("the-shop", "The Shop", str(shop.resolve()))
    assert (added["status"], added["generation"], added["n_documents"]) == ("not_indexed", 0, 0)
    assert server.get("/projects").json() == {"projects": [added]}
    assert server.get("/projects/the-shop").json() == added
    changed = server.patch("/projects/the-shop", json={"name": "Shop", "settings": {"search.limit": 3}}).json()
    assert (changed["id"], changed["name"], changed["settings"]) == ("the-shop", "Shop", {"search.limit": 3})
    assert server.patch("/projects/the-shop", json={}).json() == changed
    assert server.delete("/projects/the-shop").status_code == 204
    assert server.get("/projects/the-shop").status_code == 404
    assert (shop / "shop" / "pricing.py").exists()


def test_a_project_tells_what_its_index_holds(server: httpx.Client, shop: Path) -> None:
    add(server, shop)
    assert server.get("/projects/indexed").json() == {"projects": []}
    index(shop)
    (project,) = server.get("/projects/indexed").json()["projects"]
    with Engine.open(str(shop)) as engine:
        status = engine.status()
    assert project["status"] == "indexed"
    assert (project["generation"], project["n_documents"]) == (status.generation, status.n_documents)
    assert (project["n_chunks"], project["n_symbols"]) == (status.n_chunks, status.n_symbols)
    assert (project["languages"], project["indexed_at"]) == (dict(status.languages), status.indexed_at)
    assert project["kinds"] == dict(status.kinds)


def test_a_damaged_index_is_a_state_with_its_cause(server: httpx.Client, shop: Path) -> None:
    added = add(server, shop)
    index(shop)
    file = shop / ".fathom" / "catalog.db"
    file.write_bytes(file.read_bytes()[:4_500])
    asked = {"project_id": added["id"], "query": "price"}
    for _ in range(2):  # when it is met, and when it was set aside
        answer = server.post("/search", json=asked)
        assert answer.status_code >= 400
        assert "damaged" in answer.json()["detail"]
        assert answer.json()["code"] == "damaged"
        project = server.get(f"/projects/{added['id']}").json()
        assert project["status"] == "damaged"
        assert "damaged" in project["problem"]
        assert [part["kind"] for part in (*project["problem_parts"], *answer.json()["detail_parts"])]
        assert "verbatim" not in {part["kind"] for part in project["problem_parts"]}
        assert server.get("/projects/indexed").json() == {"projects": []}
    status = server.get(f"/projects/{added['id']}/status").json()
    assert len(status["damage"]) == len(status["damage_parts"]) > 0
    assert server.post("/index", json={"codebase_path": str(shop)}).status_code == 200
    project = server.get(f"/projects/{added['id']}").json()
    assert (project["status"], project["problem"]) == ("indexed", "")
    assert server.post("/search", json=asked).json()["hits"]


def test_projects_of_one_name_get_names_of_their_own(server: httpx.Client, tmp_path: Path) -> None:
    ids = []
    for folder in ("a/x", "b/x", "c/Indexed", "d/日本"):
        (tmp_path / folder).mkdir(parents=True)
        ids.append(add(server, tmp_path / folder)["id"])
    assert ids == ["x", "x-2", "indexed-2", "project"]


@pytest.mark.parametrize("name", ["path", "source_dir", "sourceDir", "codebase_path"])
def test_the_path_has_the_names_of_the_documents(server: httpx.Client, shop: Path, name: str) -> None:
    assert server.post("/projects", json={name: str(shop / "web" / "src")}).json()["root"] == str(shop.resolve())


def test_a_project_is_added_once(server: httpx.Client, shop: Path) -> None:
    add(server, shop)
    answer = server.post("/projects", json={"path": str(shop)})
    assert (answer.status_code, answer.json()["code"], answer.json()["hint"]) == (409, "conflict", "use 'shop'")


def test_what_is_added_is_there_when_the_server_comes_back(serve: Serve, config: ServerConfig, shop: Path) -> None:
    with serve(config) as server:
        added = add(server, shop, settings={"search.limit": 2})
    with serve(config) as server:
        assert server.get("/projects").json() == {"projects": [added]}


def test_paths_are_kept_to_the_allowed_roots(serve: Serve, config: ServerConfig, shop: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    inside = tmp_path / "inside"
    inside.mkdir()
    os.symlink(outside, inside / "link")
    (tmp_path / "inside-not").mkdir()
    with serve(replace(config, allowed_roots=(str(inside.resolve()),))) as server:
        for path in (outside, inside / "link", inside / ".." / "outside", tmp_path / "inside-not", "/"):
            answer = server.post("/projects", json={"path": str(path)})
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), path
        assert server.post("/projects", json={"path": str(inside)}).status_code == 201


@pytest.mark.parametrize(
    ("path", "status"),
    [("{}/nowhere", 400), ("{}/shop/fathom.toml", 400), ("/no/such/folder", 403), ("\0", 403), ("~nobody-here", 403)],
)
def test_a_path_that_is_no_folder_is_refused(
    server: httpx.Client, shop: Path, tmp_path: Path, path: str, status: int
) -> None:
    path = path.format(tmp_path)
    assert server.post("/projects", json={"path": path}).status_code == status
    assert server.post("/validate-path", json={"path": path}).json()["ok"] is False


def test_a_path_is_told_about_before_it_is_added(server: httpx.Client, shop: Path) -> None:
    for route in ("/validate-path", "/projects/validate-path"):
        told = server.post(route, json={"path": str(shop / "web")}).json()
        assert (told["ok"], told["root"], told["name"]) == (True, str(shop.resolve()), "shop")
        assert (told["has_index"], told["project_id"]) == (False, "")
    index(shop)
    add(server, shop)
    told = server.post("/validate-path", json={"path": str(shop)}).json()
    assert (told["has_index"], told["project_id"]) == (True, "shop")


def test_folders_are_offered_as_a_path_goes_on(server: httpx.Client, shop: Path, tmp_path: Path) -> None:
    def offered(typed: str) -> list[str]:
        folders: list[str] = server.post("/validate-path", json={"path": typed}).json()["folders"]
        return folders

    top = tmp_path / "offered"
    for name in ("web", "web-api", "other", ".hidden", "two\nlines", *(f"many/{n:02}" for n in range(20))):
        (top / name).mkdir(parents=True)
    (top / "web.txt").write_text("a file")
    (top / "web-link").symlink_to(shop, target_is_directory=True)
    assert offered(f"{top}/we") == [f"{top}/web", f"{top}/web-api"]
    assert offered(f"{top}/web/") == []
    assert offered(f"{top}/") == [f"{top}/many", f"{top}/other", f"{top}/web", f"{top}/web-api"]
    assert offered(f"{top}/.h") == [f"{top}/.hidden"]
    assert offered(f"{top}/many/") == [f"{top}/many/{n:02}" for n in range(12)]
    assert offered(f"{top}/nowhere/x") == offered("we") == offered("~nobody/") == offered("\0/") == []


@pytest.mark.parametrize(
    "settings",
    [
        {"search.limit": "many"},
        {"search.nothing": 1},
        {"source.dir": ".."},
        {"index.dir": "/elsewhere"},
        {"server.tokens": []},
        {"context.tokenizer_path": "/etc/passwd"},
    ],
)
def test_settings_that_cannot_be_are_refused(server: httpx.Client, shop: Path, settings: dict) -> None:
    answer = server.post("/projects", json={"path": str(shop), "settings": settings})
    assert answer.status_code == 400
    assert next(iter(settings)) in answer.json()["detail"]
    assert server.get("/projects").json() == {"projects": []}


def test_a_project_whose_folder_is_gone_says_so(server: httpx.Client, shop: Path, tmp_path: Path) -> None:
    add(server, shop)
    shop.rename(tmp_path / "moved")
    project = server.get("/projects/shop").json()
    assert project["status"] == "failed"
    assert "no such folder" in project["problem"]
    assert server.post("/search", json={"query": "x", "project_id": "shop"}).status_code == 404


def test_a_token_for_some_projects_sees_no_others(
    serve: Serve, config: ServerConfig, shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    tokens = (Token("all", hash_of("one")), Token("some", hash_of("two"), frozenset({"shop"})))
    with serve(replace(config, tokens=tokens)) as server:
        server.headers["authorization"] = "Bearer one"
        add(server, shop)
        add(server, tmp_path / "other")
        server.headers["authorization"] = "Bearer two"
        assert [project["id"] for project in server.get("/projects").json()["projects"]] == ["shop"]
        assert server.get("/projects/other").status_code == 404
        assert server.post("/search", json={"query": "x", "project_id": "other"}).status_code == 404
        both = server.post("/search", json={"query": "x", "project_ids": ["shop", "other"]})
        assert (both.status_code, both.json()["code"]) == (409, "not_indexed")  # of the shop
        assert server.get("/files", params={"project_id": "other"}).status_code == 404
        for answer in (
            server.post("/projects", json={"path": str(shop)}),
            server.post("/validate-path", json={"path": str(shop)}),
            server.patch("/projects/shop", json={"name": "mine"}),
            server.delete("/projects/shop"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
