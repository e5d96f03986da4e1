"""Two callers who may see different projects learn nothing of each other's, by any route."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from tests.server.conftest import serving
from tests.server.test_git import git
from tests.server.test_projects import index
from tests.server.test_scopes import ROUTES
from tests.waiting import LONG_S, comes

from codefathom.server.access.route_table import ROUTE_RULES
from codefathom.server.app import create_app
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.user_roles import Role
from codefathom.server.server_config import ServerConfig

OF_ALL = {"GET /openapi.json", "GET /signals"}  # the same to everybody
JSON = {"content-type": "application/json"}
WORD = "zanzibar"  # stands in the other project only: its name, its file, its code


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
            (folder / name / "shop").mkdir()  # what the table asks for
            (folder / name / "shop" / "pricing.py").write_text(f"def discount():\n    return {word}_price()\n")
            git(folder / name, "init")
            git(folder / name, "add", "-A")
            git(folder / name, "commit", "-m", f"Price the {word}")
            index(folder / name)
        app = create_app(config)
        with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
            client.headers["authorization"] = "Bearer root"
            for name in ("mine", WORD):
                client.post("/projects", json={"path": str(folder / name)}).raise_for_status()
                client.post(f"/projects/{name}/index", headers={"accept": "application/json"}).raise_for_status()
            made = {"project_ids": [WORD], "title": WORD}
            client.post("/conversations", json=made, headers={"authorization": "Bearer ben"}).raise_for_status()
            yield client


# Those that the administrator's cell calls neither wrong nor forbidden.
ASKED = [rule for rule, row in ROUTES.items() if not rule.startswith("DELETE") and row.statuses[-1] not in {400, 403}]


def said_to(client: httpx.Client, name: str, rule: str, project: str, **ids: str) -> str:
    """Return what a route answers to a caller who asks of a project, "" for all: status, body and where it leads."""
    method, _, path = rule.partition(" ")
    parts = {"project_id": project, "name": "none.js"}
    parts |= dict.fromkeys(("job_id", "conversation_id", "answer_id", "token_id"), "none") | ids
    headers = {"authorization": f"Bearer {name}", "accept": "application/json"}
    row = ROUTES[rule]
    query = row.query.replace("project_id=shop", f"project_id={project}" if project else "")
    body = json.dumps(row.body).replace('["shop"]', json.dumps([project] if project else []))
    body = body.replace('"shop"', json.dumps(project or "mine"))
    answer = client.request(method, path.format(**parts) + query, content=body, headers=headers | JSON)
    return f"{answer.status_code} {answer.text} {answer.headers.get('location', '')}"


def said_at_rest(client: httpx.Client, rule: str, theirs: str, absent: str) -> tuple[str, str]:
    """Return what ann is told of two projects; asked again while her own answer changes, as by the end of a job."""
    answers: list[str] = []

    def is_at_rest() -> bool:
        answers[:] = [said_to(client, "ann", rule, name) for name in (absent, theirs, absent)]
        return answers[0] == answers[2]

    assert comes(is_at_rest), f"{rule} answers {answers[0]}, then {answers[2]}"
    return answers[1], answers[2]


@pytest.mark.parametrize("rule", ASKED)
def test_the_questions_of_the_table_are_answered_where_they_may_be(strangers: httpx.Client, rule: str) -> None:
    """Else the next test compares two complaints about a question that has a wrong form."""
    status = said_to(strangers, "root", rule, "mine")[:3]
    assert status not in {"400", "422"}


@pytest.mark.parametrize("rule", [rule for rule in ROUTE_RULES if not rule.startswith("DELETE")])
def test_a_project_of_another_is_like_one_that_is_not_there(strangers: httpx.Client, rule: str) -> None:
    """Asked by name: the same answer, to the letter, as for a name that nobody has."""
    absent = "nobodys"
    if rule not in OF_ALL and ROUTE_RULES[rule].scope != "open":  # those ask for no project: said below
        theirs, none = said_at_rest(strangers, rule, WORD, absent)
        assert theirs.replace(WORD, absent) == none
    if "{" not in rule:
        assert WORD not in said_to(strangers, "ann", rule, "")


@pytest.mark.parametrize("rule", [rule for rule in ROUTES if "{job_id}" in rule or "{conversation_id}" in rule])
def test_a_job_or_conversation_of_another_is_like_one_that_is_not_there(strangers: httpx.Client, rule: str) -> None:
    bens = {"authorization": "Bearer ben"}
    job = strangers.get("/jobs", headers=bens).json()["jobs"][0]["id"]
    conversation = strangers.get("/conversations", headers=bens).json()["conversations"][0]["id"]
    theirs = said_to(strangers, "ann", rule, "", job_id=job, conversation_id=conversation)
    assert theirs.replace(job, "none").replace(conversation, "none") == said_to(strangers, "ann", rule, "")
    assert theirs.startswith("404")


def test_the_owner_does_see_it(strangers: httpx.Client) -> None:
    for rule in ("GET /projects", "GET /session", "GET /jobs", "POST /search", "GET /v1/models", "GET /federated/map"):
        assert WORD in said_to(strangers, "ben", rule, "")
