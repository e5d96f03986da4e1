"""Two callers who may see different projects learn nothing of each other's, by any route."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.server.conftest import serving
from tests.server.test_projects import index
from tests.waiting import LONG_S

from codefathom.server.access.route_table import ROUTE_RULES
from codefathom.server.app import create_app
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.user_roles import Role
from codefathom.server.server_config import ServerConfig

OF_ALL = {"GET /openapi.json", "GET /signals"}  # the same to everybody
WORD = "zanzibar"  # stands in the other project only: its name, its file, its code


def body_of(rule: str, project: str) -> Any:
    """A question about a project, "" for all that the caller sees; its words are in both projects."""
    names = [project] if project else []
    question = {"query": "where is the price", "project_ids": names}
    messages = [{"role": "user", "content": "where is the price"}]
    return {
        "POST /conversations": {"project_ids": names},
        "POST /v1/chat/completions": {"model": project or "mine", "messages": messages},
        "POST /query": {"question": "where is the price", "project_id": project or "mine"},
        "POST /validate-path": {"path": "/nowhere"},
    }.get(rule, question)


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server with the projects of two people, asked by an administrator unless a header says otherwise."""
    folder = tmp_path_factory.mktemp("strangers")
    tokens = (
        Token("root", hash_of("root")),
        Token("ann", hash_of("ann"), frozenset({"mine"}), Role.ADMIN),
        Token("ben", hash_of("ben"), frozenset({WORD}), Role.ADMIN),
    )
    config = ServerConfig(data_dir=str(folder / "data"), allowed_roots=(str(folder.resolve()),), tokens=tokens)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        for name, word in (("mine", "own"), (WORD, WORD)):
            (folder / name).mkdir()
            (folder / name / "fathom.toml").touch()
            (folder / name / f"{word}.py").write_text(f"def {word}_price():\n    return 1\n")
            index(folder / name)
        app = create_app(config)
        with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
            client.headers["authorization"] = "Bearer root"
            for name in ("mine", WORD):
                client.post("/projects", json={"path": str(folder / name)}).raise_for_status()
                client.post(f"/projects/{name}/index", headers={"accept": "application/json"}).raise_for_status()
            client.post("/conversations", json={"project_ids": [WORD], "title": WORD}).raise_for_status()
            yield client


def said_to(client: httpx.Client, name: str, rule: str, project: str, query: str) -> str:
    """Return what a route answers to a caller: its status, its body and where it leads."""
    method, _, path = rule.partition(" ")
    parts = {"project_id": project, "name": "none.js"}
    parts |= dict.fromkeys(("job_id", "conversation_id", "answer_id", "token_id"), "none")
    headers = {"authorization": f"Bearer {name}", "accept": "application/json"}
    body = body_of(rule, project) if method == "POST" else None
    answer = client.request(method, path.format(**parts) + query, json=body, headers=headers)
    return f"{answer.status_code} {answer.text} {answer.headers.get('location', '')}"


@pytest.mark.parametrize("rule", [rule for rule in ROUTE_RULES if not rule.startswith("DELETE")])
def test_a_project_of_another_is_like_one_that_is_not_there(strangers: httpx.Client, rule: str) -> None:
    """Asked by name: the same answer, to the letter, as for a name that nobody has."""
    absent = "nobodys"
    theirs, none = (
        said_to(strangers, "ann", rule, name, f"?project_id={name}&path=a.py&target=a.py") for name in (WORD, absent)
    )
    own = rule in OF_ALL or ROUTE_RULES[rule].scope == "open"  # asks for no project: said below
    assert own or theirs.replace(WORD, absent) == none
    if "{" not in rule:
        assert WORD not in said_to(strangers, "ann", rule, "", "")


def test_the_owner_does_see_it(strangers: httpx.Client) -> None:
    for rule in ("GET /projects", "GET /session", "GET /jobs", "POST /search", "GET /files", "GET /v1/models"):
        assert WORD in said_to(strangers, "ben", rule, "", "")
