"""A path outside the allowed roots gets one answer, whether it exists or not."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from codefathom.server.server_config import ServerConfig

from .conftest import Serve
from .test_git import commit, git

NAME = "nowhere-to-be-seen"


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """What lies outside: files, folders, a project with a bad settings file, links, a repository."""
    folder = tmp_path / "outside"
    for name in ("folder", "project", "locked/inner", "repository"):
        (folder / name).mkdir(parents=True)
    (folder / "file").write_text("text")
    (folder / "project" / "fathom.toml").write_text("[search]\nlimit = 0\n")
    (folder / "link").symlink_to(folder / "folder")
    (folder / "loop").symlink_to(folder / "loop")
    os.mkfifo(folder / "pipe")
    git(folder / "repository", "init")
    commit(folder / "repository", "a.py", "x = 1\n")
    (folder / "locked").chmod(0)
    yield folder
    (folder / "locked").chmod(0o700)


@pytest.fixture
def inside(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "out").symlink_to(outside)
    (folder / "out-file").symlink_to(outside / "file")
    (folder / "out-nowhere").symlink_to(outside / NAME)
    return folder


@pytest.fixture
def client(serve: Serve, config: ServerConfig, inside: Path, shop: Path) -> Iterator[httpx.Client]:
    shop.rename(inside / "shop")
    roots = (str(inside.resolve()),)
    with serve(replace(config, allowed_roots=roots, git_schemes=("file", "https"))) as client:
        client.post("/index", json={"codebase_path": str(inside / "shop")}).raise_for_status()
        yield client


def forms(outside: Path, inside: Path, name: str) -> list[str]:
    """One place, as paths may be written."""
    return [
        f"{outside}/{name}",
        f"{outside}/{name}/",
        f"{outside}//{name}/.",
        f"{outside}/{name}/..",
        f"{outside}/{name}/below",
        f"{outside}/{name}/../{name}",
        f"{inside}/../outside/{name}",
        f"{inside}/out/{name}",
        os.path.relpath(f"{outside}/{name}"),
        f"~/{os.path.relpath(f'{outside}/{name}', os.path.expanduser('~'))}",
    ]


REAL = ["file", "folder", "project", "link", "loop", "pipe", "locked", "locked/inner", "repository"]
ROUTES = {
    "/projects": lambda path: {"path": path},
    "/validate-path": lambda path: {"path": path},
    "/projects/validate-path": lambda path: {"path": path},
    "/index": lambda path: {"codebase_path": path},
}


def answer(client: httpx.Client, route: str, body: Any, place: str) -> tuple[int, str]:
    """Return what is said, without the path that the client gave itself."""
    found = client.post(route, json=body)
    return found.status_code, found.text.replace(place, "PATH")


@pytest.mark.parametrize("route", ROUTES)
def test_a_place_outside_is_as_one_that_does_not_exist(
    client: httpx.Client, outside: Path, inside: Path, route: str
) -> None:
    expected = [answer(client, route, ROUTES[route](path), path) for path in forms(outside, inside, NAME)]
    for name in REAL:
        paths = forms(outside, inside, name)
        assert [answer(client, route, ROUTES[route](path), path) for path in paths] == expected
    assert all("outside the folders" in text for _, text in expected)


@pytest.mark.parametrize("route", ROUTES)
def test_a_link_that_leads_out_says_nothing_of_its_end(client: httpx.Client, inside: Path, route: str) -> None:
    places = [str(inside / name) for name in ("out", "out-file", "out-nowhere")]
    assert len({answer(client, route, ROUTES[route](place), place) for place in places}) == 1


def test_only_allowed_folders_are_offered(client: httpx.Client, outside: Path, inside: Path) -> None:
    def offered(typed: str) -> list[str]:
        folders: list[str] = client.post("/validate-path", json={"path": typed}).json()["folders"]
        return folders

    (inside / "offered").mkdir()
    assert offered(f"{inside}/off") == [f"{inside}/offered"]
    assert offered(str(inside)[:-2]) == offered("/") == [str(inside)]
    for typed in (f"{outside}/", f"{inside}/../outside/", f"{inside}/out/", f"{inside.parent}/o"):
        assert offered(typed) == []


@pytest.mark.parametrize("route", ROUTES)
def test_users_of_the_machine_are_not_felt_for(client: httpx.Client, route: str) -> None:
    real = pwd.getpwuid(os.getuid()).pw_name
    names = [f"~{name}{rest}" for name in (real, "root", "nobody-of-this-name") for rest in ("", "/x")]
    assert len({answer(client, route, ROUTES[route](name), name) for name in names}) == 1


def test_a_project_whose_root_lies_outside_does_not_say_where(client: httpx.Client, inside: Path) -> None:
    (inside / "plain").mkdir()
    (inside.parent / ".git").mkdir()
    told = client.post("/validate-path", json={"path": str(inside / "plain")}).json()
    assert not told["ok"]
    assert told["problem"].startswith(f"the project around {str(inside / 'plain')!r} is outside")


def test_a_repository_by_file_is_kept_to_the_roots_too(client: httpx.Client, outside: Path, inside: Path) -> None:
    git_dir = inside / "repository"
    git_dir.mkdir()
    git(git_dir, "init")
    commit(git_dir, "a.py", "x = 1\n")
    assert client.post("/projects", json={"url": git_dir.as_uri()}).status_code == 201
    expected = None
    for name in (NAME, *REAL):
        for url in (
            (outside / name).as_uri(),
            f"file://{inside}/../outside/{name}",
            f"file://{inside}/%2e%2e/outside/{name}",
            f"file://{inside}/out/{name}",
            f"FILE://{outside}/{name}",
            f"file://localhost{outside}/{name}",
            f"file:{outside}/{name}",
        ):
            found = client.post("/projects", json={"url": url})
            said = (found.status_code, found.json()["code"])
            assert said in {(403, "forbidden"), (400, "usage")}, (url, found.text)
        first = client.post("/projects", json={"url": (outside / name).as_uri()})
        text = first.text.replace((outside / name).as_uri(), "NAME")
        expected = expected or (first.status_code, text)
        assert (first.status_code, text) == expected
    assert len(client.get("/projects").json()["projects"]) == 2


PATHS = ["/etc/passwd", "/etc/nowhere", "../outside/file", f"../outside/{NAME}", "out/file", f"out/{NAME}", "../../etc"]


@pytest.mark.parametrize(
    ("method", "route", "key"),
    [
        ("GET", "/file", "path"),
        ("GET", "/file", "file_path"),
        ("GET", "/file-tree", "folder"),
        ("GET", "/file-tree", "root_path"),
        ("GET", "/files", "folder"),
        ("GET", "/symbols", "path"),
        ("GET", "/related", "target"),
        ("GET", "/map", "file"),
        ("GET", "/map", "folder"),
        ("POST", "/ask", "pinned"),
        ("POST", "/context", "pinned"),
        ("POST", "/context", "directory_filter"),
        ("POST", "/search", "directory_filter"),
        ("POST", "/search", "query"),
        ("POST", "/context", "query"),
    ],
)
def test_paths_of_a_project_do_not_lead_out_of_it(client: httpx.Client, method: str, route: str, key: str) -> None:
    answers = set()
    for path in PATHS:
        value: Any = f"@{path} price" if key == "query" else [path] if method == "POST" else path
        values = {"project_id": "shop", "query": "price", key: value}
        if method == "GET":
            values.pop("query") if key != "query" else None
            found = client.get(route, params=values)
        else:
            found = client.post(route, json=values)
        assert found.status_code < 500
        assert "root:" not in found.text and '"text"' not in found.text.replace(path, "")
        timeless = {name: item for name, item in found.json().items() if name not in {"answer_id", "took_ms"}}
        answers.add(str(timeless).replace(path, "PATH").replace(path.strip("/"), "PATH"))
    assert len(answers) == 1, answers
