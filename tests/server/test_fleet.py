"""A fleet over HTTP and MCP: each route and tool answers, and says what of the fleet could not be asked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.documents import png
from tests.fathom import Fathom
from tests.server.conftest import Serve
from tests.waiting import LONG_S

from codefathom.cli import main
from codefathom.fleet import fleet_run
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.shards import SHARDS
from codefathom.server.metrics import shard_watch
from codefathom.server.server_config import ServerConfig

NAMES = ("alpha", "beta", "gamma")
SAID = "1 of 3 shards were not searched to the end, with 1 repositories: shard "
CHANGE = "--- a/alpha/code.py\n+++ b/alpha/code.py\n@@ -1,1 +1,1 @@\n-def refresh_token_alpha(user):\n+def x(user):\n"


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """A fleet of three repositories, a shard for each."""
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(fleet_run, "MOST_BYTES", 1)
    sources = []
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.py").write_text(
            f"def refresh_token_{name}(user):\n    return user.token_{name}\n\n\n"
            f"def call_{name}(user):\n    return refresh_token_{name}(user)\n"
        )
        sources.append(str(tmp_path / name))
    (tmp_path / "beta" / "logo.png").write_bytes(png(4, 3))
    assert main(["-q", "fleet", "add", "team", *sources]) == 0
    with Fleet.open("team") as fleet:
        fleet.index()
        yield fleet


@pytest.fixture
def client(team: Fleet, config: ServerConfig, serve: Serve) -> Iterator[httpx.Client]:
    with serve(config) as client:
        client.post("/projects", json={"path": team.root}).raise_for_status()
        yield client


def damage(fleet: Fleet, name: str) -> str:
    """Remove the catalogue of the shard of a repository, and return the name of the shard."""
    slot = next(item.slot for item in fleet.status().repositories if item.name == name)
    shard = next(item for item in fleet.status().shards if item.slot == slot)
    (Path(fleet.root) / SHARDS / shard.folder / "catalog.db").unlink()
    return shard.folder


READING = {
    "/projects/team": '"n_documents":3',
    "/projects/team/status": '"model":"fathom-static',
    "/projects": '"status":"indexed"',
    "/files?project_id=team": "beta/code.py",
    "/file-tree?project_id=team": '"name":"beta"',
    "/file-tree?project_id=team&root_path=beta": '"name":"logo.png"',
    "/file?project_id=team&path=beta/code.py": "refresh_token_beta",
    "/picture?project_id=team&path=beta/logo.png": "PNG",
    "/symbols?project_id=team": "refresh_token_beta",
    "/symbols?project_id=team&path=beta/code.py": "refresh_token_beta",
    "/related?project_id=team&target=@@refresh_token_beta": "call_beta",
    "/map?project_id=team": "refresh_token_beta",
    "/modules?project_id=team": '"path":"beta"',
    "/name-at?project_id=team&path=beta/code.py&line=6&name=refresh_token_beta": '"n_definitions":1',
    "/federated/symbols": "refresh_token_beta",
    "/federated/related?target=@@refresh_token_beta": "call_beta",
    "/federated/map": "refresh_token_beta",
    "/config?project_id=team": "search.fleet_timeout_s",
    "/monitoring/services?project_id=team": "generation 1, 3 shards",
}
ASKING: dict[str, dict[str, Any]] = {
    "/search": {"query": "refresh token"},
    "/federated/search": {"query": "refresh token"},
    "/context": {"query": "refresh token"},
    "/ask": {"query": "how are tokens refreshed"},
    "/ask/stream": {"query": "how are tokens refreshed"},
    "/projects/team/impact": {"diff": CHANGE},
}
# What is about a file of the shard that is gone, or has no place for a sentence.
WHOLE = (
    "/file?",
    "/picture?",
    "/file-tree?project_id=team&root_path",
    "/symbols?project_id=team&path",
    "/name-at?",
    "/modules?",
)


def test_each_route_answers(client: httpx.Client) -> None:
    for path, part in READING.items():
        answer = client.get(path)
        assert (answer.status_code, part in answer.text) == (200, True), (path, answer.text)
        assert "not searched" not in answer.text, path
    for path, body in ASKING.items():
        answer = client.post(path, json=body)
        assert (answer.status_code, "alpha/code.py" in answer.text) == (200, True), (path, answer.text)
        assert "not searched" not in answer.text, path
    search = client.post("/search", json={"query": "refresh token repo:alpha repo:gamma fork:no"}).json()
    assert {hit["path"] for hit in search["hits"]} == {"alpha/code.py", "gamma/code.py"}


def test_a_repository_that_is_not_there_is_named(client: httpx.Client) -> None:
    for path, body in (
        ("/search", {"query": "refresh token repo:alfa"}),
        ("/search", {"query": "refresh token", "repository_filter": ["alfa"]}),
        ("/federated/search", {"query": "refresh token repo:alfa"}),
        ("/context", {"query": "refresh token repo:alfa"}),
        ("/ask", {"query": "how are tokens refreshed repo:alfa"}),
    ):
        answer = client.post(path, json=body)
        assert (answer.status_code, answer.json().get("detail")) == (400, "the fleet has no repository 'alfa'"), path
        assert answer.json()["hint"] == "did you mean alpha?"


def test_what_only_the_command_does_is_refused(client: httpx.Client, team: Fleet) -> None:
    for method, path, body in (
        ("POST", "/projects/team/files", {"paths": ["alpha/code.py"]}),
        ("DELETE", "/projects/team/index", None),
    ):
        answer = client.request(method, path, json=body)
        assert answer.status_code in (400, 409), answer.text
        assert "is a fleet" in answer.json()["detail"]
        assert "`fathom fleet " in answer.json()["hint"] or "POST /projects/ID/index" in answer.json()["hint"]
    assert team.verify() == ()
    assert client.post("/search", json={"query": "refresh token"}).json()["hits"]


def test_a_folder_without_commits_is_named(client: httpx.Client) -> None:
    for path in ("/history?project_id=team&place=beta/code.py:1", "/blame?project_id=team&path=beta/code.py"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["detail"]) == (
            404,
            "'beta' is a folder without commits in this fleet",
        )
    commits = client.get("/commits?project_id=team")
    assert (commits.status_code, "is a fleet" in commits.json()["detail"]) == (400, True)


def write(fleet: Fleet, name: str, text: str) -> None:
    place = next(item.place for item in fleet.status().repositories if item.name == name)
    (Path(place) / "code.py").write_text(text)


def job_of(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """Start a job of the fleet, and return it when it has ended."""
    started = client.post("/projects/team/index", json=body, headers={"accept": "application/json"})
    assert started.status_code == 202, started.text
    client.get(f"/jobs/{started.json()['id']}/events").raise_for_status()
    job: dict[str, Any] = client.get(f"/jobs/{started.json()['id']}").json()
    return job


def test_a_job_brings_a_fleet_up_to_date(client: httpx.Client, team: Fleet) -> None:
    write(team, "alpha", "def changed_alpha(): pass\n")
    write(team, "beta", "def changed_beta(): pass\n")
    job = job_of(client, {"repositories": ["alpha"]})
    assert (job["state"], job["report"]["n_changed"], job["report"]["n_unchanged"]) == ("done", 1, 0)
    assert client.post("/search", json={"query": "changed_alpha"}).json()["hits"][0]["path"] == "alpha/code.py"
    assert "changed_beta" not in client.post("/search", json={"query": "changed_beta"}).text.replace(
        '"changed_beta"', ""
    )
    job = job_of(client, {})
    assert (job["state"], job["report"]["n_changed"], job["report"]["n_unchanged"]) == ("done", 1, 2)
    assert client.post("/search", json={"query": "changed_beta"}).json()["hits"][0]["path"] == "beta/code.py"
    job = job_of(client, {"repositories": ["delta"]})
    assert (job["state"], "no repository 'delta'" in json.dumps(job)) == ("failed", True)


def test_a_repository_that_cannot_be_read_is_named_by_the_job(
    client: httpx.Client, team: Fleet, tmp_path: Path
) -> None:
    (tmp_path / "beta").rename(tmp_path / "gone")
    job = job_of(client, {"repositories": ["beta"]})
    assert job["report"]["n_failed"] == 1
    assert [error["path"] for error in job["file_errors"]] == ["beta"]
    assert client.post("/search", json={"query": "refresh_token_beta"}).json()["hits"][0]["path"] == "beta/code.py"


def test_a_conversation_about_a_fleet_is_kept_and_its_lines_are_compared(
    config: ServerConfig, serve: Serve, team: Fleet, tmp_path: Path
) -> None:
    with serve(replace(config, search_timeout_s=LONG_S)) as client:
        client.post("/projects", json={"path": team.root}).raise_for_status()
        asked = {"query": "where is refresh_token_beta", "project_ids": ["team"], "keep": True}
        place = f"/conversations/{client.post('/ask', json=asked).raise_for_status().json()['conversation_id']}"
        cited = [line["state"] for line in client.get(f"{place}/cited").json()["lines"]]
        file = tmp_path / "beta" / "code.py"
        file.write_text(f"# another first line\n{file.read_text()}")
        later = [line["state"] for line in client.get(f"{place}/cited").json()["lines"]]
        assert (cited, later) == (["same"], ["changed"])
        assert client.patch(place, json={"shared": True}).json()["projects"] == ["team"]
        assert "beta/code.py:1-6" in client.get(f"{place}/export").text


def test_only_a_fleet_has_repositories(client: httpx.Client, tmp_path: Path) -> None:
    client.post("/projects", json={"path": str(tmp_path / "alpha")}).raise_for_status()
    answer = client.post("/projects/alpha/index", json={"repositories": ["alpha"]})
    assert (answer.status_code, "'alpha' is no fleet" in answer.text) == (400, True)


def test_each_route_says_what_is_missing(client: httpx.Client, team: Fleet) -> None:
    shard = damage(team, "beta")
    for path, body in ASKING.items():
        answer = client.post(path, json=body)
        assert answer.status_code == (200 if "impact" not in path else answer.status_code), answer.text
        assert shard in answer.text, (path, answer.text)
    partial = client.post("/search", json={"query": "refresh token"}).json()["projects"][0]["partial"]
    assert (partial["n_shards"], partial["shards"][0]["repositories"]) == (3, ["beta"])
    for path in READING:
        if path.startswith(("/projects", "/config")):
            continue
        answer = client.get(path)
        assert answer.status_code < 500 or path.startswith(WHOLE), (path, answer.text)
        assert shard in answer.text, (path, answer.text)
    status = client.get("/projects/team/status").json()
    assert shard in json.dumps(status)
    assert client.get("/projects/team").json()["status"] == "indexed"


def tool_answers(root: str, *calls: tuple[str, dict[str, object]]) -> list[str]:
    """Return the texts of tools that a process of `fathom mcp` gives."""
    messages = [
        {"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        for key, (tool, arguments) in enumerate(calls, 1)
    ]
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in (begin, *messages))
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with Fathom(["mcp", "-p", "team"], cwd=root, **streams) as process:
        out, _ = process.communicate(lines)
    texts = {answer["id"]: answer["result"] for answer in map(json.loads, out.splitlines())}
    return [texts[key]["content"][0]["text"] for key in range(1, len(calls) + 1)]


TOOLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("search", {"query": "refresh token"}),
    ("related", {"target": "@@refresh_token_alpha"}),
    ("map", {}),
)


def test_each_tool_answers_and_says_what_is_missing(team: Fleet) -> None:
    for text in tool_answers(team.root, *TOOLS):
        assert "alpha/code.py" in text
        assert "not searched" not in text
    assert "token_beta" in tool_answers(team.root, ("read", {"path": "beta/code.py"}))[0]
    shard = damage(team, "beta")
    for text in tool_answers(team.root, *TOOLS):
        assert "alpha/code.py" in text
        assert f"{SAID}{shard} (beta)" in text
    lines, entries = tool_answers(team.root, ("read", {"path": "beta/code.py"}), ("read", {"path": "."}))
    assert shard in lines
    assert "alpha/" in entries
    assert f"{SAID}{shard} (beta)" in entries


def test_readyz_and_metrics_know_each_shard(client: httpx.Client, team: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_watch, "_KEPT_S", 0.0)
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["status"], ready.json()["n_shards"]) == (200, "ready", 3)
    metrics = client.get("/metrics").text
    assert "codefathom_shards 3\n" in metrics
    assert "codefathom_shards_unanswered 0\n" in metrics
    chunks = {shard.slot: shard.n_chunks for shard in team.status().shards}
    for slot in (1, 2, 3):
        assert f'codefathom_shard_holders{{project="team",shard="0000{slot}"}} 1\n' in metrics
        assert f'codefathom_shard_chunks{{project="team",shard="0000{slot}"}} {chunks[slot]}\n' in metrics
    folder = damage(team, "beta")
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
    assert (ready.json()["unanswered"], ready.json()["n_unanswered"]) == ([folder], 1)
    metrics = client.get("/metrics").text
    assert "codefathom_shards_unanswered 1\n" in metrics
    assert 'codefathom_shard_holders{project="team",shard="00002"} 0\n' in metrics


def test_many_shards_have_no_labels_of_their_own(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_watch, "_MOST_SHARDS", 2)
    metrics = client.get("/metrics").text
    assert "codefathom_shards 3\n" in metrics
    assert metrics.count("codefathom_shard_holders{") == 2
