"""A fleet that the server watches: it looks at the sources, and a job takes in what has changed there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.git_over_http import Repositories, allow_http
from tests.server.conftest import Serve
from tests.waiting import comes

from codefathom.cli import main
from codefathom.fleet.fleet import Fleet
from codefathom.server.server_config import ServerConfig


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: Repositories, address: str) -> Iterator[Fleet]:
    """A fleet of two repositories elsewhere."""
    allow_http(tmp_path, monkeypatch)
    for name in ("auth", "shop"):
        remote.commit(f"team/{name}", code=f"def first_{name}(): pass\n")
    assert main(["-q", "fleet", "add", "company", f"{address}/team/auth.git", f"{address}/team/shop.git"]) == 0
    with Fleet.open("company") as fleet:
        yield fleet


@pytest.fixture
def often(config: ServerConfig) -> ServerConfig:
    """A server that looks at sources each second."""
    return replace(config, variables={**config.variables, "FATHOM_INDEX__FLEET_WATCH_S": "1"})


@pytest.fixture
def client(team: Fleet, often: ServerConfig, serve: Serve) -> Iterator[httpx.Client]:
    with serve(often) as client:
        client.post("/projects", json={"path": team.root}).raise_for_status()
        yield client


def watch(client: httpx.Client) -> dict[str, Any]:
    return dict(client.get("/projects/company/watch").raise_for_status().json())


def jobs(client: httpx.Client) -> list[dict[str, Any]]:
    return list(client.get("/jobs").json()["jobs"])


def is_found(client: httpx.Client, name: str) -> bool:
    return name in client.get("/symbols?project_id=company").text


def asks_again(remote: Repositories) -> bool:
    """Wait until two more looks have asked for both repositories."""
    n_before = len(remote.sent)
    return comes(lambda: len(remote.sent) >= n_before + 8)


def test_what_changes_at_the_sources_is_fetched_and_indexed_by_a_job(
    client: httpx.Client, remote: Repositories, address: str
) -> None:
    client.post("/projects/company/watch").raise_for_status()
    assert comes(lambda: is_found(client, "first_auth") and is_found(client, "first_shop"))
    assert comes(lambda: [job["state"] for job in jobs(client)] == ["done"])
    assert comes(lambda: watch(client)["by"] == "polling")
    assert (watch(client)["interval_s"], watch(client)["error"]) == (1.0, "")
    assert asks_again(remote)
    assert len(jobs(client)) == 1  # looks at what has not changed start none

    remote.commit("team/shop", code="def second_shop(): pass\n")
    assert comes(lambda: is_found(client, "second_shop"))
    assert comes(lambda: [job["state"] for job in jobs(client)] == ["done", "done"])
    report = jobs(client)[0]["report"]
    assert (report["n_changed"], report["n_unchanged"]) == (1, 0)  # of the one that has changed

    shutil.rmtree(remote.folder / "team" / "auth.git")  # one that fails ends nothing for the others
    assert comes(lambda: watch(client)["error"].startswith("auth: git cannot clone"))
    assert is_found(client, "first_auth")
    remote.commit("team/shop", code="def third_shop(): pass\n")
    assert comes(lambda: is_found(client, "third_shop"))
    assert comes(lambda: not any(job["state"] in ("queued", "running") for job in jobs(client)))
    client.delete("/projects/company/watch").raise_for_status()
    assert not watch(client)["on"]


def test_a_server_that_was_stopped_goes_on_with_what_came_meanwhile(
    team: Fleet, often: ServerConfig, serve: Serve, remote: Repositories
) -> None:
    team.index()
    with serve(often) as client:
        client.post("/projects", json={"path": team.root}).raise_for_status()
        client.post("/projects/company/watch").raise_for_status()
        assert comes(lambda: watch(client)["by"] == "polling")
        assert jobs(client) == []  # it was up to date
    remote.commit("team/auth", code="def second_auth(): pass\n")
    with serve(often) as client:
        assert watch(client)["on"]
        assert comes(lambda: is_found(client, "second_auth"))


def test_a_job_that_was_cancelled_is_not_begun_again_at_once(
    client: httpx.Client, team: Fleet, remote: Repositories
) -> None:
    team.index()
    remote.held = b"command=fetch"  # a look asks for names alone
    remote.commit("team/auth", code="def second_auth(): pass\n")
    client.post("/projects/company/watch").raise_for_status()
    assert comes(lambda: jobs(client) and jobs(client)[0]["state"] == "running")
    assert client.post(f"/jobs/{jobs(client)[0]['id']}/cancel").is_success
    assert comes(lambda: jobs(client)[0]["state"] == "cancelled")
    remote.released.set()
    assert comes(lambda: is_found(client, "second_auth"))  # two looks later
    assert [job["state"] for job in jobs(client)][-1] == "cancelled"


def test_the_end_of_a_watch_does_not_wait_for_a_silent_host(
    client: httpx.Client, team: Fleet, remote: Repositories
) -> None:
    team.index()
    remote.held = b"command=ls-refs"
    n_before = len(remote.sent)
    client.post("/projects/company/watch").raise_for_status()
    assert comes(lambda: len(remote.sent) > n_before)
    client.delete("/projects/company/watch").raise_for_status()  # while git waits for an answer
    assert not remote.released.is_set()
    assert not watch(client)["on"]
    assert jobs(client) == []
    remote.released.set()
