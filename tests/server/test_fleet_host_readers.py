"""Two persons over HTTP ask a fleet whose code host says who may read what; neither learns of what is the other's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from tests.code_hosts import Host, Hosted, serving_host
from tests.git_over_http import Repositories
from tests.server.conftest import Serve
from tests.server.test_fleet_readers import (
    HIDDEN,
    PEOPLE,
    answer_of,
    check_general,
    check_named,
    of,
    repository,
)

from codefathom.fleet.fleet import Fleet
from codefathom.fleet.reader_lists import HOST_READERS
from codefathom.fleet.readers_file import READERS
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.client_address import network_of
from codefathom.server.http.user_roles import Role
from codefathom.server.server_config import ServerConfig

TOKEN = "planted-Token-0123456789"
RULES = """
[[host]]
name = "127.0.0.1"
logins = { octo-ada = "ada", octo-bob = "bob" }
[[rule]]
repositories = ["beta"]
readers = ["token:ci"]
"""
SEARCH = {"query": "refresh token", "project_ids": ["team"], "limit": 50}


class Hosting(NamedTuple):
    """The fleet `team` of three repositories at a host, beside `only`, which has those that bob may read."""

    fleet: Fleet
    host: Host


@pytest.fixture
def hosting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosting]:
    (tmp_path / "own.toml").write_text('[server]\ngit_schemes = ["https", "http"]\n')
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "own.toml"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GITHUB_TOKEN_127_0_0_1", TOKEN)
    host = Host("github", Repositories(tmp_path / "remote"), groups=("acme", "some"))
    host.require_token(TOKEN)
    readers = {HIDDEN: {"octo-ada": "own"}, "beta": {"octo-bob": "group", "ben": "own"}, "gamma": {}}
    for number, (name, people) in enumerate(readers.items(), start=1):
        folder = Path(repository(tmp_path / "clones", name))
        files = {file.stem: file.read_text() for file in folder.glob("*.py")}
        for group in ("acme", *(["some"] if name != HIDDEN else [])):
            host.git.commit(f"{group}/{name}", **files)
            level = "public" if name == "gamma" else "private"
            host.listed.append(Hosted(number + 10 * len(group), f"{group}/{name}", level, people=people))
    with serving_host(host) as address, Fleet.make("team") as team, Fleet.make("only") as only:
        only.add([f"github:{address}/some"])
        only.index()
        team.add([f"github:{address}/acme"])
        (Path(team.root) / READERS).write_text(RULES)
        assert team.index().failures == ()
        yield Hosting(team, host)


@pytest.fixture
def client(hosting: Hosting, config: ServerConfig, serve: Serve) -> Iterator[httpx.Client]:
    tokens = (Token("ci", hash_of("ci"), role=Role.READER),)
    people = replace(config, trusted_proxies=(network_of("127.0.0.1"),), sign_in=PEOPLE, tokens=tokens)
    with serve(people) as client:
        for root in (hosting.fleet.root, hosting.fleet.root.replace("team", "only")):
            client.post("/projects", json={"path": root}, headers=of("root")).raise_for_status()
        yield client


def seen_by(client: httpx.Client, name: str) -> set[str]:
    """Return whose files and hits a person is shown, which are the same."""
    files = answer_of(client, name, "GET", "/files?project_id=team").json()["files"]
    hits = answer_of(client, name, "POST", "/search", SEARCH).json()["hits"]
    by_list, by_search = ({item["path"].partition("/")[0] for item in items} for items in (files, hits))
    assert by_list == by_search
    return by_list


def test_a_reader_is_answered_as_by_a_fleet_of_his_repositories(client: httpx.Client, hosting: Hosting) -> None:
    assert seen_by(client, "ada") == {HIDDEN, "gamma"}
    assert seen_by(client, "bob") == {"beta", "gamma"}
    assert seen_by(client, "root") == {HIDDEN, "beta", "gamma"}
    for stranger in ("octo-ada", "ben", "eve"):  # a login is nobody's name here
        assert seen_by(client, stranger) == {"gamma"}
    check_general(client)
    check_named(client, str(Path(hosting.fleet.root).parent))
    token = client.get("/files?project_id=team", headers={"authorization": "Bearer ci"}).json()["files"]
    assert {file["path"].partition("/")[0] for file in token} == {"beta", "gamma"}


def test_an_administrator_sees_what_the_host_has_said(client: httpx.Client, hosting: Hosting) -> None:
    fleet, host = hosting
    status = "/projects/team/status"
    (told,) = answer_of(client, "root", "GET", status).json()["reader_hosts"]
    assert [told[key] for key in ("host", "n_lists", "n_logins", "n_unknown", "n_failing", "problem")] == [
        "127.0.0.1",
        *(3, 3, 1, 0),
        "",
    ]
    assert 0 < told["oldest_at"] <= told["newest_at"]
    next(item for item in host.listed if item.path == "acme/beta").people_status = 403
    fleet.index()
    (told,) = answer_of(client, "root", "GET", status).json()["reader_hosts"]
    assert (told["n_failing"], told["problem"].startswith("acme/beta: the host answers 403")) == (1, True)
    assert told == fleet.status().hosts[0]._asdict()
    assert TOKEN not in str(told)
    assert answer_of(client, "ada", "GET", status).json()["reader_hosts"] == []
    (Path(fleet.root) / HOST_READERS).write_text("{")
    answer = answer_of(client, "root", "GET", status).json()
    assert (answer["reader_hosts"], HOST_READERS in answer["readers_problem"]) == ([], True)


def test_a_change_at_the_host_holds_after_the_next_run(client: httpx.Client, hosting: Hosting) -> None:
    fleet, host = hosting
    quokka, beta, gamma = (item for item in host.listed if item.path.startswith("acme/"))
    quokka.people = {"octo-bob": "own"}
    beta.people_status = 403
    gamma.level, gamma.people = "private", {"octo-ada": "own"}
    report = fleet.index()
    assert (len(report.failures), report.n_shards_made) == (1, 0)
    assert seen_by(client, "ada") == {"gamma"}
    assert seen_by(client, "bob") == {HIDDEN, "beta"}
    refused = answer_of(client, "eve", "POST", "/search", SEARCH)
    assert (refused.status_code, "you may read none" in refused.text) == (503, True)
    (Path(fleet.root) / HOST_READERS).write_text("{")
    refused = answer_of(client, "bob", "POST", "/search", SEARCH)
    assert (refused.status_code, "may see what" in refused.text, HOST_READERS in refused.text) == (403, True, False)
    (Path(fleet.root) / HOST_READERS).unlink()
    assert answer_of(client, "bob", "POST", "/search", SEARCH).status_code == 503
    assert seen_by(client, "root") == {HIDDEN, "beta", "gamma"}
