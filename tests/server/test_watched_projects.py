"""Projects whose index follows their files while the server runs, and after it was started again."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.waiting import LONG_S, comes

from codefathom.server.http.auth import Token, hash_of
from codefathom.server.jobs.job_messages import Order, Report
from codefathom.server.jobs.job_process import ReadyProcesses
from codefathom.server.jobs.job_queue import Jobs
from codefathom.server.server_config import ServerConfig

from .conftest import Serve

NO_REFRESH = {"search.refresh": "never"}  # only the watching brings changes


def add(client: httpx.Client, root: Path, **settings: object) -> str:
    answer = client.post("/projects", json={"path": str(root), "settings": {**NO_REFRESH, **settings}})
    return str(answer.raise_for_status().json()["id"])


def watch(client: httpx.Client, project: str) -> dict[str, Any]:
    return dict(client.post(f"/projects/{project}/watch").raise_for_status().json())


def state(client: httpx.Client, project: str) -> dict[str, Any]:
    return dict(client.get(f"/projects/{project}/watch").raise_for_status().json())


def is_found(client: httpx.Client, project: str, name: str) -> bool:
    answer = client.post("/search", json={"query": name, "project_id": project, "limit": 1})
    return answer.status_code == 200 and any(name in hit["content"] for hit in answer.json()["hits"])


def finds(client: httpx.Client, project: str, name: str) -> bool:
    return comes(lambda: is_found(client, project, name))


def write(root: Path, name: str) -> None:
    (root / f"{name}.py").write_text(f"def {name}(herd):\n    return herd.stripes\n")


def jobs_of(client: httpx.Client, project: str) -> list[dict[str, Any]]:
    return list(client.get("/jobs", params={"project_id": project}).json()["jobs"])


def test_a_change_is_found_without_a_word_from_anyone(server: httpx.Client, shop: Path) -> None:
    project = add(server, shop)
    assert state(server, project) == {
        "project_id": project,
        "on": False,
        "by": "",
        "reason": "",
        "interval_s": 0.0,
        "changed_at": 0.0,
        "error": "",
    }
    assert watch(server, project)["on"]
    assert finds(server, project, "cart")  # the first index, too
    for name in ("count_zebra", "feed_zebra"):
        write(shop, name)
        assert finds(server, project, name)
    assert comes(lambda: all(job["state"] == "done" for job in jobs_of(server, project)))
    now = state(server, project)
    assert (now["on"], now["by"], now["reason"], now["error"]) == (True, "events", "", "")
    assert now["changed_at"] > 0
    spans = sorted((job["started_at"], job["ended_at"]) for job in jobs_of(server, project))
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert watch(server, project)["on"]  # once more changes nothing


def test_after_the_end_nothing_follows(server: httpx.Client, shop: Path) -> None:
    project = add(server, shop)
    watch(server, project)
    assert finds(server, project, "cart")
    assert server.delete(f"/projects/{project}/watch").status_code == 204
    assert not state(server, project)["on"]
    assert server.delete(f"/projects/{project}/watch").status_code == 404
    assert comes(lambda: all(job["state"] == "done" for job in jobs_of(server, project)))
    n_jobs = len(jobs_of(server, project))
    write(shop, "count_zebra")
    assert len(jobs_of(server, project)) == n_jobs


def test_a_restart_goes_on_and_takes_in_what_came_meanwhile(config: ServerConfig, serve: Serve, shop: Path) -> None:
    with serve(config) as client:
        project = add(client, shop)
        watch(client, project)
        assert finds(client, project, "cart")
    write(shop, "count_zebra")
    with serve(config) as client:
        assert state(client, project)["on"]
        assert finds(client, project, "count_zebra")
        write(shop, "feed_zebra")
        assert finds(client, project, "feed_zebra")
        client.delete(f"/projects/{project}/watch").raise_for_status()
    with serve(config) as client:
        assert not state(client, project)["on"]


def test_there_is_a_limit_and_its_error_says_what_to_do(
    config: ServerConfig, serve: Serve, shop: Path, tmp_path: Path
) -> None:
    shutil.copytree(shop, tmp_path / "second")
    with serve(replace(config, watched_projects=1)) as client:
        first, second = add(client, shop), add(client, tmp_path / "second")
        watch(client, first)
        answer = client.post(f"/projects/{second}/watch")
        assert answer.status_code == 409
        assert answer.json()["detail"] == "the server watches 1 projects, and no more are allowed"
        assert "server.watched_projects" in answer.json()["hint"]
        assert not state(client, second)["on"]
        client.delete(f"/projects/{first}").raise_for_status()
        assert watch(client, second)["on"]
    with serve(replace(config, watched_projects=0)) as client:  # a stricter limit later
        now = state(client, second)
        assert (now["on"], now["by"]) == (True, "")
        assert "no more are allowed" in now["error"]


def test_a_project_that_is_removed_is_not_watched_any_more(server: httpx.Client, shop: Path) -> None:
    project = add(server, shop)
    watch(server, project)
    assert finds(server, project, "cart")
    server.delete(f"/projects/{project}").raise_for_status()
    assert server.get(f"/projects/{project}/watch").status_code == 404
    assert add(server, shop) == project
    assert not state(server, project)["on"]


def test_a_project_may_be_polled_and_that_is_said(server: httpx.Client, shop: Path) -> None:
    project = add(server, shop, **{"index.watch": "polling"})
    watch(server, project)
    assert finds(server, project, "cart")
    write(shop, "count_zebra")
    assert finds(server, project, "count_zebra")
    assert {key: state(server, project)[key] for key in ("by", "reason")} == {
        "by": "polling",
        "reason": "the settings say so",
    }
    server.patch(f"/projects/{project}", json={"settings": NO_REFRESH}).raise_for_status()
    assert comes(lambda: state(server, project)["by"] == "events")


def test_new_rules_of_the_project_are_followed(server: httpx.Client, shop: Path) -> None:
    (shop / "fathom.toml").write_text('[source]\nignore = ["later/"]\n')
    (shop / "later").mkdir()
    project = add(server, shop)
    watch(server, project)
    assert finds(server, project, "cart")
    (shop / "fathom.toml").write_text("")
    write(shop / "later", "count_zebra")
    assert finds(server, project, "count_zebra")
    write(shop / "later", "feed_zebra")
    assert finds(server, project, "feed_zebra")


def test_a_folder_that_is_away_is_waited_for(server: httpx.Client, shop: Path) -> None:
    project = add(server, shop)
    watch(server, project)
    assert finds(server, project, "cart")
    shop.rename(shop.parent / "away")
    assert comes(lambda: state(server, project)["error"])
    assert server.get("/health").status_code == 200
    assert state(server, project)["on"]
    (shop.parent / "away").rename(shop)
    write(shop, "count_zebra")
    assert finds(server, project, "count_zebra")
    assert comes(lambda: not state(server, project)["error"])


def test_a_copy_of_a_repository_is_not_watched(config: ServerConfig, serve: Serve, tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    subprocess.run(["git", "init", "-q", str(origin)], check=True, timeout=LONG_S)
    with serve(replace(config, git_schemes=("file",))) as client:
        project = client.post("/projects", json={"url": f"file://{origin.resolve()}"}).raise_for_status().json()["id"]
        answer = client.post(f"/projects/{project}/watch")
    assert answer.status_code == 409
    assert f"POST /projects/{project}/index" in answer.json()["hint"]


def test_a_token_for_other_projects_may_not(config: ServerConfig, serve: Serve, shop: Path) -> None:
    tokens = (Token("ann", hash_of("of-ann")), Token("eve", hash_of("of-eve"), frozenset({"other"})))
    with serve(replace(config, tokens=tokens)) as client:
        client.headers["authorization"] = "Bearer of-ann"
        project = add(client, shop)
        for method in ("GET", "POST", "DELETE"):
            eve = {"authorization": "Bearer of-eve"}
            assert client.request(method, f"/projects/{project}/watch", headers=eve).status_code == 404
        assert not state(client, project)["on"]
        assert watch(client, project)["on"]


@pytest.fixture
def ready() -> ReadyProcesses:
    return ReadyProcesses()


def test_a_ready_process_is_used_once_and_one_that_died_not_at_all(ready: ReadyProcesses, shop: Path) -> None:
    with closing(ready):
        ready.prepare()
        ready.prepare()  # one is enough
        first = ready(Order(str(shop), retry=False))
        assert isinstance(list(first.messages())[-1], Report)
        ready.prepare()
        second = ready(Order(str(shop)))
        assert second.pid != first.pid
        second.end()
        list(second.messages())
        third = ready(Order(str(shop)))  # none is ready
        assert isinstance(list(third.messages())[-1], Report)
        ready.prepare()


def test_a_job_for_less_asks_again_where_somebody_wants_it(tmp_path: Path, shop: Path) -> None:
    orders: list[Order] = []

    def start(order: Order) -> Any:
        orders.append(order)
        raise OSError("no memory")

    with closing(Jobs(str(tmp_path / "jobs.db"), start=start)) as jobs:
        for retry in (False, True):
            job = jobs.submit("p", str(shop), retry=retry)
            jobs.wait(job.id, LONG_S)
    assert [order.retry for order in orders] == [False, True]
