"""`fathom serve` as a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.fathom import Fathom
from tests.waiting import LONG_S, Started

from codefathom.cli import main
from codefathom.server.http.auth import hash_of
from codefathom.server.run import listening


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    return kept | {"FATHOM_SERVER__DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path)}


@contextmanager
def serving(environment: dict[str, str], cwd: Path, *words: str) -> Iterator[tuple[Started, httpx.Client, str]]:
    """Run `fathom serve` in a folder; the last value is what it says up to its address."""
    streams = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE}
    with Fathom(["serve", "--port", "0", *words], cwd=cwd, env=environment, text=True, **streams) as server:
        try:
            assert server.stderr is not None
            said = ""
            while (address := re.search(r"http://127\.0\.0\.1:\d+", said)) is None:
                line = server.stderr.readline()
                assert line, said
                said += line
            with httpx.Client(base_url=address[0], timeout=LONG_S) as client:
                yield server, client, said
        finally:
            server.kill()


def roots_of(client: httpx.Client) -> list[str]:
    return [project["root"] for project in client.get("/projects").json()["projects"]]


@pytest.mark.parametrize("kind", ["json", "text"])
def test_the_log_names_who_asked(shop: Path, environment: dict[str, str], tmp_path: Path, kind: str) -> None:
    own = environment | {"FATHOM_SERVER__TOKENS": f"ada:{hash_of('of-ada')}", "FATHOM_SERVER__LOG": kind}
    with serving(own, tmp_path, str(shop)) as (server, client, _):
        assert client.get("/jobs").status_code == 401
        assert client.get("/projects", headers={"authorization": "Bearer of-ada"}).status_code == 200
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate()
    named, unnamed = (next(line for line in said.splitlines() if path in line) for path in ("/projects", "/jobs"))
    assert ('"sender": "ada"' if kind == "json" else " [ada]") in named
    assert "ada" not in unnamed
    assert "of-ada" not in said


def test_it_says_where_it_listens_answers_and_stops(shop: Path, environment: dict[str, str], tmp_path: Path) -> None:
    with serving(environment, tmp_path, str(shop), "--set", "server.log=json") as (server, client, _):
        assert roots_of(client) == [str(shop.resolve())]
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate()
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert any("GET /projects" in line["message"] and line["level"] == "info" for line in lines)


def test_without_a_folder_it_serves_the_project_of_the_current_one(
    shop: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    environment["HOME"] = str(tmp_path_factory.mktemp("home"))  # so that the project lies outside of what is allowed
    (shop / ".fathom").mkdir(exist_ok=True)
    below = next(path for path in sorted(shop.rglob("*")) if path.is_dir() and path.name != ".fathom")
    for folder in (shop, below):
        with serving(environment, folder) as (_, client, _):
            assert roots_of(client) == [str(shop.resolve())]
            project = client.get("/projects").json()["projects"][0]["id"]
            answer = client.post(f"/projects/{project}/index", headers={"accept": "application/json"})
            assert answer.status_code == 202, answer.text
            looks = [client.post("/validate-path", json={"path": str(path)}) for path in (shop, shop.parent)]
            assert [look.json()["ok"] for look in looks] == [True, False]


def test_a_folder_in_a_project_means_the_project(
    shop: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    environment["HOME"] = str(tmp_path_factory.mktemp("home"))
    (shop / ".fathom").mkdir(exist_ok=True)
    below = next(path for path in sorted(shop.rglob("*")) if path.is_dir() and path.name != ".fathom")
    with serving(environment, shop.parent, str(below)) as (_, client, _):
        assert roots_of(client) == [str(shop.resolve())]


def test_a_home_folder_is_not_served_unless_it_is_named(environment: dict[str, str], tmp_path: Path) -> None:
    with serving(environment, tmp_path) as (_, client, said):
        assert roots_of(client) == []
        assert "is a home folder or the root of the disk, so no project is added" in said
        assert "name the folder of a project" in said
    with serving(environment, tmp_path, str(tmp_path)) as (_, client, _):
        assert roots_of(client) == [str(tmp_path.resolve())]


def test_a_new_token_is_printed_with_what_the_settings_need(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--new-token", "team"]) == 0
    out, err = capsys.readouterr()
    assert f"team:{hash_of(out.strip())} " in err
    assert main(["serve", "--new-token", "a b"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "0.0.0.0"], "there is no token"),
        (["--port", "70000"], "--port cannot be"),
        (["/no/such/folder"], "no such folder on the server"),
        (["--host", "256.256.256.256", "--set", f"server.tokens=a:{'0' * 64}"], "cannot listen on"),
    ],
)
def test_what_cannot_be_served_says_why(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATHOM_SERVER__DATA_DIR", str(tmp_path / "data"))
    assert main(["serve", *words]) == 2
    assert said in capsys.readouterr().err


def test_no_part_of_an_answer_waits_in_the_system() -> None:
    """Asyncio switches Nagle's algorithm off for what is named as TCP only, and connections take that name over."""
    with (
        listening("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as connection,
    ):
        assert connection.proto == socket.IPPROTO_TCP
