"""Settings that change while the server runs."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.server.conftest import Serve, serving
from tests.server.test_projects import add, index
from tests.waiting import LONG_S

from codefathom.config.configuration import load_settings
from codefathom.errors import SettingsError
from codefathom.server.app import create_app
from codefathom.server.http.auth import hash_of
from codefathom.server.live import Live, stamp_of
from codefathom.server.server_config import ServerConfig, config_of


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 10
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text("", encoding="utf-8")
    return path


def write(path: Path, text: str) -> None:
    """Write a file so that its stamp differs, whatever the clock of the disk."""
    before = stamp_of(str(path))
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before[0] + 10**9, before[0] + 10**9))


def live_of(file: Path, data: Path) -> Live:
    variables = {"FATHOM_CONFIG": str(file), "FATHOM_SERVER__DATA_DIR": str(data)}

    def load() -> ServerConfig:
        settings = load_settings(str(data), environ={"FATHOM_SERVER__DATA_DIR": str(data)}, user_file=str(file))
        return config_of(settings.server, variables)

    return Live(load(), load, Clock())


def test_a_change_of_the_file_is_taken_over(file: Path, tmp_path: Path) -> None:
    live = live_of(file, tmp_path / "data")
    changes: list[int] = []
    live.on_change(lambda: changes.append(live.current.max_body_bytes))
    live.look()
    assert changes == []
    write(file, "[server]\nmax_body_bytes = 77\nport = 1\n")
    live.look()
    assert (live.current.max_body_bytes, live.current.port, changes) == (77, 8_900, [77])
    live.look()
    assert changes == [77]


@pytest.mark.parametrize(
    "text", ["[server]\nmax_body_bytes = 0\n", "not toml", "[server]\nnothing = 1\n", '[server]\nhost = "0.0.0.0"\n']
)
def test_a_bad_file_keeps_what_is_in_force_and_is_named(file: Path, tmp_path: Path, text: str) -> None:
    write(file, "[server]\nmax_body_bytes = 77\n")
    live = live_of(file, tmp_path / "data")
    write(file, text)
    live.look()
    assert live.current.max_body_bytes == 77
    assert "the settings file has changed but cannot be used" in live.problem
    write(file, "[server]\nmax_body_bytes = 78\n")
    live.look()
    assert (live.current.max_body_bytes, live.problem) == (78, "")


def test_without_a_way_to_load_nothing_changes(config: ServerConfig, file: Path) -> None:
    live = Live(replace(config, user_file=str(file)), None, Clock())
    write(file, "[server]\nmax_body_bytes = 1\n")
    live.look()
    assert live.current.max_body_bytes == config.max_body_bytes


def test_a_server_asks_for_a_token_once_the_file_has_one(
    config: ServerConfig, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(config, user_file=str(file))

    def load() -> ServerConfig:
        if "bad" in file.read_text(encoding="utf-8"):
            raise SettingsError("it is bad")
        return replace(config, tokens=config_of(load_settings("", user_file=str(file)).server, {}).tokens)

    monkeypatch.setattr("codefathom.server.live.LOOK_AGAIN_AFTER_S", -1.0)
    app = create_app(config, load)
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        assert client.get("/projects").status_code == 200
        write(file, f'[server]\ntokens = ["me:{hash_of("one")}"]\n')
        assert client.get("/projects").status_code == 401
        assert client.get("/projects", headers={"authorization": "Bearer one"}).status_code == 200
        write(file, "bad")
        assert client.get("/projects").status_code == 401
        told = client.get("/health").json()
        assert (told["status"], told["degraded"]) == (
            "degraded",
            ["the settings file has changed but cannot be used, so the earlier settings stay in force: it is bad"],
        )


def test_a_project_follows_its_own_file(serve: Serve, config: ServerConfig, shop: Path) -> None:
    with serve(config) as server:
        add(server, shop)
        index(shop)

        def n_hits() -> int:
            return len(server.post("/search", json={"query": "order price", "project_id": "shop"}).json()["hits"])

        assert n_hits() > 2
        write(shop / "fathom.toml", "[search]\nlimit = 2\n")
        assert n_hits() == 2
        write(shop / "fathom.toml", "[search]\nlimit = 'many'\n")
        assert n_hits() == 2
        project = server.get("/projects/shop").json()
        assert project["status"] == "failed"
        assert "search.limit cannot be 'many'" in project["problem"]
        write(shop / "fathom.toml", "[search]\nlimit = 1\n")
        assert n_hits() == 1


def test_a_file_that_breaks_stops_no_project_and_no_page(file: Path, config: ServerConfig, shop: Path) -> None:
    config = replace(config, user_file=str(file))
    write(file, "[search]\nlimit = 3\n")

    def load() -> ServerConfig:
        load_settings("", user_file=str(file))
        return config

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("codefathom.server.live.LOOK_AGAIN_AFTER_S", -1.0)
        with serving(create_app(config, load)) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
            add(client, shop)
            index(shop)
            for text in ("[search\n", "[search]\nlimit = 3\n", "[nothing]\nlimit = 3\n"):
                write(file, text)
                hits = client.post("/search", json={"query": "order price", "project_id": "shop"}).json()["hits"]
                assert len(hits) == 3
                assert client.get("/projects/shop").json()["status"] == "indexed"
                for route in ("/monitoring/services", "/config", "/config?project_id=shop", "/projects/shop/status"):
                    assert client.get(route).status_code == 200, route
            (settings,) = (
                check for check in client.get("/monitoring/services").json()["services"] if check["name"] == "settings"
            )
            assert not settings["ok"]
            assert "nothing" in settings["detail"]


def test_a_project_with_a_broken_file_does_not_keep_the_others_from_answering(server: httpx.Client, shop: Path) -> None:
    other = shop.parent / "other"
    shutil.copytree(shop, other)
    for folder in (shop, other):
        add(server, folder)
        index(folder)
    write(other / "fathom.toml", "[search\n")
    assert server.post("/search", json={"query": "order price"}).status_code == 200
    answer = server.post("/ask", json={"question": "where are orders priced?"})
    assert answer.status_code == 200, answer.text
    assert "price" in answer.json()["answer"]
    assert server.post("/ask", json={"question": "where?", "project_id": "other"}).status_code == 409
