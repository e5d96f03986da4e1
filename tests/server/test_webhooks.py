"""Push events of code hosts, in the forms that these document, bring up the repository of a fleet that they name."""

from __future__ import annotations

import hashlib
import hmac
import json
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
from codefathom.server.requests.push_events import place_of_address
from codefathom.server.server_config import ServerConfig

SECRET = "a-secret-of-24-characters"
KINDS = ("github", "gitlab", "gitea", "forgejo")


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: Repositories, address: str) -> Iterator[Fleet]:
    """A fleet of two repositories elsewhere."""
    allow_http(tmp_path, monkeypatch)
    for name in ("auth", "shop"):
        remote.commit(f"team/{name}", code=f"def first_{name}(): pass\n")
    assert main(["-q", "fleet", "add", "company", f"{address}/team/auth.git", f"{address}/team/shop.git"]) == 0
    with Fleet.open("company") as fleet:
        fleet.index()
        yield fleet


@pytest.fixture
def client(team: Fleet, config: ServerConfig, serve: Serve) -> Iterator[httpx.Client]:
    with serve(replace(config, variables={**config.variables, "FLEET_WEBHOOK_SECRET_COMPANY": SECRET})) as client:
        client.post("/projects", json={"path": team.root}).raise_for_status()
        yield client


def event_of(kind: str, address: str, path: str = "team/shop", branch: str = "main") -> dict[str, Any]:
    """Return the documented fields of a push event, shortened."""
    ssh = f"git@127.0.0.1:{path}.git"
    if kind == "gitlab":
        fields = {"id": 15, "name": "Shop", "web_url": f"{address}/{path}", "git_ssh_url": ssh}
        more = {"git_http_url": f"{address}/{path}.git", "path_with_namespace": path, "default_branch": "main"}
        repository = {
            "name": "Shop",
            "url": ssh,
            "homepage": f"{address}/{path}",
            "git_http_url": f"{address}/{path}.git",
        }
        return {
            "object_kind": "push",
            "event_name": "push",
            "before": "95790bf891e76fee5e1747ab589903a6a1f80f22",
            "after": "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
            "ref": f"refs/heads/{branch}",
            "project": fields | more,
            "repository": repository,
            "total_commits_count": 1,
        }
    return {
        "ref": f"refs/heads/{branch}",
        "before": "28e1879d029cb852e4844d9c718537df08844e03",
        "after": "bffeb74224043ba2feb48d137756c8a9331c449a",
        "repository": {
            "id": 140,
            "full_name": path,
            "html_url": f"{address}/{path}",
            "ssh_url": ssh,
            "clone_url": f"{address}/{path}.git",
            "default_branch": "main",
        },
        "pusher": {"name": "a"},
        "commits": [],
    }


def headers_of(kind: str, body: bytes, secret: str = SECRET, event: str = "push") -> dict[str, str]:
    """Return the documented headers."""
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if kind == "gitlab":
        return {"X-Gitlab-Event": {"push": "Push Hook"}.get(event, event), "X-Gitlab-Token": secret}
    if kind == "github":
        return {"X-GitHub-Event": event, "X-Hub-Signature-256": f"sha256={signature}"}
    own = {"X-Gitea-Event": event, "X-Gitea-Signature": signature, "X-GitHub-Event": event}
    other = {"X-Hub-Signature-256": f"sha256={signature}"}
    return own | other | ({"X-Forgejo-Event": event, "X-Forgejo-Signature": signature} if kind == "forgejo" else {})


def sent(
    client: httpx.Client, kind: str, event: object, *, secret: str = SECRET, name: str = "push", to: str = "company"
) -> httpx.Response:
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    headers = headers_of(kind, body, secret, name) | {"content-type": "application/json"}
    return client.post(f"/hooks/{to}", content=body, headers=headers)


def is_found(client: httpx.Client, name: str) -> bool:
    return name in client.get("/symbols?project_id=company").text


def jobs(client: httpx.Client) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = client.get("/jobs").json()["jobs"]
    return listed


@pytest.mark.parametrize("kind", KINDS)
def test_a_push_brings_its_repository_up_to_date(
    client: httpx.Client, remote: Repositories, address: str, kind: str
) -> None:
    remote.commit("team/auth", code="def second_auth(): pass\n")
    remote.commit("team/shop", code="def second_shop(): pass\n")
    answer = sent(client, kind, event_of(kind, address))
    assert (answer.status_code, answer.json()) == (202, {"status": "accepted"})
    assert comes(lambda: is_found(client, "second_shop"))
    assert not is_found(client, "second_auth")  # nobody has told of it
    assert comes(lambda: [job["state"] for job in jobs(client)] == ["done"])
    # A replay finds nothing new.
    assert sent(client, kind, event_of(kind, address)).status_code == 202
    assert comes(lambda: [job["state"] for job in jobs(client)] == ["done", "done"])
    assert jobs(client)[0]["report"]["n_changed"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_who_does_not_know_the_secret_learns_nothing(
    client: httpx.Client, address: str, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "code.py").write_text("x = 1\n")
    client.post("/projects", json={"path": str(tmp_path / "plain")}).raise_for_status()
    answers = [
        sent(client, kind, event_of(kind, address), secret="another-secret-of-some-length"),
        sent(client, kind, event_of(kind, address, "team/nowhere"), secret="another-secret-of-some-length"),
        sent(client, kind, b"not json", secret="another-secret-of-some-length"),
        sent(client, kind, event_of(kind, address), to="nowhere"),
        sent(client, kind, event_of(kind, address), to="plain"),
        sent(client, kind, event_of(kind, address), secret="-"),
        client.post("/hooks/company", json=event_of(kind, address)),
        client.post("/hooks/company", content=b"", headers={"X-Gitlab-Token": "\xe4\xf6".encode("latin-1")}),
    ]
    assert {answer.status_code for answer in answers} == {403}
    assert len({answer.json()["detail"] for answer in answers}) == 1
    assert not any(SECRET in answer.text for answer in answers)
    assert jobs(client) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_push_to_a_branch_that_is_read(client: httpx.Client, team: Fleet, address: str, kind: str) -> None:
    (Path(team.root) / "fathom.toml").write_text('[source]\nfleet_branches = ["release-*"]\n')
    assert sent(client, kind, event_of(kind, address, branch="work")).json() == {"status": "ignored"}
    assert sent(client, kind, event_of(kind, address, branch="release-2")).json() == {"status": "accepted"}


@pytest.mark.parametrize("kind", KINDS)
def test_other_events_start_nothing(client: httpx.Client, address: str, kind: str) -> None:
    assert sent(client, kind, event_of(kind, address), name="ping").json() == {"status": "ignored"}
    assert sent(client, kind, event_of(kind, address, branch="work")).json() == {"status": "ignored"}
    tag = {**event_of(kind, address), "ref": "refs/tags/v1"}
    assert sent(client, kind, tag).json() == {"status": "ignored"}
    unknown = sent(client, kind, event_of(kind, address, "team/nowhere"))
    assert (unknown.status_code, "team/nowhere" in unknown.text) == (404, False)
    for broken in (b"not json", b"[1]", b"{}", b"[" * 100_000, b'{"repository": 5, "project": [1]}', b"\xff"):
        assert sent(client, kind, broken).status_code == 400, broken[:40]
    large = b'{"x": "' + b"x" * 3_000_000 + b'"}'
    assert sent(client, kind, large).status_code == 413
    assert jobs(client) == []


def test_many_events_wait_in_one_job(client: httpx.Client, remote: Repositories, address: str) -> None:
    for number in range(20):
        assert sent(client, "github", event_of("github", address, f"team/{('auth', 'shop')[number % 2]}")).is_success
    assert len(jobs(client)) < 20
    assert comes(lambda: all(job["state"] == "done" for job in jobs(client)))


def test_a_fleet_without_a_secret_takes_no_events(
    team: Fleet, config: ServerConfig, serve: Serve, address: str
) -> None:
    for variables in ({}, {"FLEET_WEBHOOK_SECRET": "short"}):
        with serve(replace(config, variables={**config.variables, **variables})) as client:
            if team.root not in client.get("/projects").text:
                client.post("/projects", json={"path": team.root}).raise_for_status()
            for secret in ("", "-", "short"):
                assert sent(client, "github", event_of("github", address), secret=secret).status_code == 403


@pytest.mark.parametrize(
    ("address", "place"),
    (
        ("https://git.example.org/Team/shop.git", "git.example.org/team/shop"),
        ("https://ann@git.example.org/team/shop/", "git.example.org/team/shop"),
        ("git@git.example.org:team/shop.git", "git.example.org/team/shop"),
        ("ssh://git@git.example.org/team/shop.git", "git.example.org/team/shop"),
        ("http://127.0.0.1:80/a/b", "127.0.0.1:80/a/b"),
    ),
)
def test_an_address_over_http_and_ssh_is_one_place(address: str, place: str) -> None:
    assert place_of_address(address) == place
