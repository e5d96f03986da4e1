"""What each route answers to whom: a table of all routes, and of the roles that there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest
from tests.server.conftest import serving
from tests.server.test_git import commit, git
from tests.server.test_projects import index
from tests.waiting import LONG_S

from codefathom.config.configuration import load_settings
from codefathom.errors import FathomError, SettingsError
from codefathom.mcp.tool_list import tools
from codefathom.server.access.route_table import (
    ROUTE_RULES,
    TOOL_NEEDS,
    RouteRule,
    check_complete,
    match_route,
    routes_in,
)
from codefathom.server.app import create_app
from codefathom.server.http.auth import Caller, Token, hash_of, token_of
from codefathom.server.http.user_roles import Grant, Role, RoleRule, grants_of, rule_of
from codefathom.server.server_config import ServerConfig

# In the order of their rights; `other` has none in the project, `manager` is an administrator of the server.
CALLERS = ("nobody", "other", "reader", "kept", "maintainer", "owner", "manager")
SHOP = frozenset({"shop"})
TOKENS = (
    Token("other", hash_of("of-other"), frozenset({"elsewhere"}), Role.ADMIN),
    Token("reader", hash_of("of-reader"), SHOP, Role.READER),
    Token("kept", hash_of("of-kept"), SHOP),
    Token("maintainer", hash_of("of-maintainer"), SHOP, Role.MAINTAINER),
    Token("owner", hash_of("of-owner"), SHOP, Role.ADMIN),
    Token("manager", hash_of("of-manager")),
)
Statuses: TypeAlias = tuple[int, int, int, int, int, int, int]


@dataclass(frozen=True)
class Row:
    """The statuses of a route for each of the callers."""

    statuses: Statuses
    query: str = ""
    body: Any = None
    whole: bool = True  # False: a stream, of which only the status counts


OPEN = (200, 200, 200, 200, 200, 200, 200)
OWN = (401, 200, 200, 200, 200, 200, 200)  # each sees what is its own
PROJECT = (401, 404, 200, 200, 200, 200, 200)
INDEXED = (401, 404, 403, 200, 200, 200, 200)
MAINTAINED = (401, 404, 403, 403, 200, 200, 200)
MANAGER = (401, 403, 403, 403, 403, 403, 200)
NO_SUCH = (401, 404, 404, 404, 404, 404, 404)  # what belongs to nobody here
ASKED = {"query": "where are orders priced", "project_ids": ["shop"]}
OF_SHOP = "?project_id=shop"
STORE = {"target": "flat"}

# In this order: what removes something stands at the end.
ROUTES: dict[str, Row] = {
    "GET /": Row(OPEN),
    "GET /docs": Row(OPEN),
    "GET /assets/{name}": Row((404,) * 7),
    "GET /health": Row(OPEN),
    "GET /readyz": Row(OPEN),
    "GET /version": Row(OPEN),
    "GET /openapi.json": Row(OWN),
    "GET /session": Row(OWN),
    "GET /sign-in": Row((404,) * 7),  # this server has no provider
    "GET /sign-in/callback": Row((404,) * 7),
    "POST /hooks/{project_id}": Row((403,) * 7),  # not signed
    "POST /sign-out": Row((401, *(409,) * 6)),  # a token has no session of a browser
    "GET /signals": Row(OWN),
    "GET /projects": Row(OWN),
    "GET /projects/indexed": Row(OWN),
    "GET /jobs": Row(OWN),
    "GET /conversations": Row(OWN),
    "GET /v1/models": Row(OWN),
    # ---- asking and reading
    "GET /projects/{project_id}": Row(PROJECT),
    "GET /projects/{project_id}/status": Row(PROJECT),
    "GET /projects/{project_id}/watch": Row(PROJECT),
    "POST /search": Row(PROJECT, body=ASKED),
    "POST /federated/search": Row(PROJECT, body=ASKED),
    "POST /context": Row(PROJECT, body=ASKED),
    "POST /projects/{project_id}/impact": Row(PROJECT, body={"diff": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"}),
    "GET /files": Row(PROJECT, OF_SHOP),
    "GET /file": Row(PROJECT, OF_SHOP + "&path=shop/pricing.py"),
    "GET /file-tree": Row(PROJECT, OF_SHOP),
    "GET /picture": Row(PROJECT, OF_SHOP + "&path=shop/logo.svg"),
    "GET /symbols": Row(PROJECT, OF_SHOP),
    "GET /related": Row(PROJECT, OF_SHOP + "&target=shop/pricing.py"),
    "GET /history": Row(MAINTAINED, OF_SHOP + "&place=shop/pricing.py"),
    "GET /blame": Row(MAINTAINED, OF_SHOP + "&path=shop/pricing.py"),
    "GET /name-at": Row(PROJECT, OF_SHOP + "&path=shop/pricing.py&name=discount&line=1"),
    "GET /commits": Row(MAINTAINED, OF_SHOP),
    "GET /glance": Row(PROJECT, OF_SHOP),
    "GET /tour": Row(PROJECT, OF_SHOP),
    "GET /modules": Row(PROJECT, OF_SHOP),
    "GET /map": Row(PROJECT, OF_SHOP),
    "GET /federated/symbols": Row(PROJECT, OF_SHOP),
    "GET /federated/related": Row(PROJECT, OF_SHOP + "&target=shop/pricing.py"),
    "GET /federated/map": Row(PROJECT, OF_SHOP),
    "POST /ask": Row(PROJECT, body=ASKED),
    "POST /ask/stream": Row(PROJECT, body=ASKED, whole=False),
    "POST /ask/agent": Row(PROJECT, body=ASKED, whole=False),
    "POST /query": Row((401, 404, *(409,) * 5), body={"question": "where are orders priced", "project_id": "shop"}),
    "POST /conversations": Row((401, 404, 201, 201, 201, 201, 201), body={"project_ids": ["shop"]}),
    "POST /v1/chat/completions": Row(
        PROJECT, body={"model": "shop", "messages": [{"role": "user", "content": "where are orders priced"}]}
    ),
    "GET /conversations/{conversation_id}": Row(NO_SUCH),
    "PATCH /conversations/{conversation_id}": Row(NO_SUCH, body={"title": "x"}),
    "DELETE /conversations/{conversation_id}": Row(NO_SUCH),
    "GET /conversations/{conversation_id}/export": Row(NO_SUCH),
    "GET /conversations/{conversation_id}/cited": Row(NO_SUCH),
    "PUT /conversations/{conversation_id}/ratings/{answer_id}": Row(NO_SUCH, body={"verdict": "good"}),
    "DELETE /conversations/{conversation_id}/ratings/{answer_id}": Row(NO_SUCH),
    "GET /answers/{answer_id}/events": Row(NO_SUCH),
    "POST /answers/{answer_id}/stop": Row(NO_SUCH),
    "POST /mcp": Row((401, *(400,) * 6), body={}),
    "DELETE /mcp": Row((401, *(400,) * 6)),
    "GET /config": Row(PROJECT, OF_SHOP),
    "GET /monitoring/services": Row(PROJECT, OF_SHOP),
    # ---- indexing and following
    "POST /projects/{project_id}/index": Row((401, 404, 403, 202, 202, 202, 202), body={}),
    "GET /projects/{project_id}/index": Row((401, 404, 202, 202, 202, 202, 202)),
    "POST /projects/{project_id}/files": Row(INDEXED, body={"paths": ["shop/pricing.py"]}),
    "GET /jobs/{job_id}": Row(PROJECT),
    "GET /jobs/{job_id}/events": Row(PROJECT, whole=False),
    "POST /jobs/{job_id}/cancel": Row(INDEXED),
    # ---- the whole server, settings, and what removes something
    "GET /monitoring/stats": Row(MANAGER),
    "GET /monitoring/store": Row(MANAGER),
    "GET /monitoring/history": Row(MANAGER),
    "GET /metrics": Row(MANAGER),
    "GET /tokens": Row(MANAGER),
    "POST /tokens": Row((401, *(403,) * 5, 201), body={"name": "ci"}),
    "DELETE /tokens/{token_id}": Row((401, *(403,) * 5, 404)),
    "GET /audit": Row(MANAGER),
    "GET /ratings": Row(MANAGER),
    "POST /projects/plan": Row((401, *(403,) * 6), body={"path": "/nowhere"}),
    "POST /projects/validate-path": Row(MANAGER, body={"path": "/nowhere"}),
    "POST /validate-path": Row(MANAGER, body={"path": "/nowhere"}),
    "POST /projects": Row((401, *(403,) * 5, 400), body={}),
    "POST /index": Row((401, *(403,) * 6), body={"codebase_path": "/nowhere"}),
    "PATCH /projects/{project_id}": Row(MAINTAINED, body={"name": "shop"}),
    "POST /projects/{project_id}/test": Row(MAINTAINED, body={"settings": {}}),
    "GET /projects/{project_id}/store": Row(MANAGER),
    "POST /projects/{project_id}/store/init": Row(MANAGER, body=STORE),
    "POST /projects/{project_id}/store/verify": Row(MANAGER, body=STORE),
    "POST /projects/{project_id}/store/move": Row((401, *(403,) * 5, 400), body=STORE),
    "POST /projects/{project_id}/store/remove": Row((401, *(403,) * 5, 400), body=STORE),
    "POST /projects/{project_id}/watch": Row(MAINTAINED),
    "DELETE /projects/{project_id}/watch": Row((401, 404, 403, 403, 204, 404, 404)),  # once it is watched
    "DELETE /projects/{project_id}/index": Row((401, 404, 403, 403, 204, 404, 404)),  # once there is none
    "DELETE /projects/{project_id}": Row((401, 404, 403, 403, 403, 204, 404)),  # once there is none
}


def test_each_route_answers_each_token_as_the_table_says(config: ServerConfig, shop: Path, tmp_path: Path) -> None:
    app = create_app(replace(config, tokens=TOKENS))
    assert set(routes_in(app.routes)) == set(ROUTES) == set(ROUTE_RULES)
    git(shop, "init")
    commit(shop, "shop/new.py", "def new(): ...\n")
    commit(shop, "shop/logo.svg", "<svg xmlns='http://www.w3.org/2000/svg' />\n")
    index(shop)
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        manager = {"authorization": "Bearer of-manager"}
        assert client.post("/projects", json={"path": str(shop)}, headers=manager).status_code == 201
        told = {name: tuple(statuses(client, name, row)) for name, row in ROUTES.items()}
    assert told == {name: row.statuses for name, row in ROUTES.items()}


def statuses(client: httpx.Client, name: str, row: Row) -> Iterator[int]:
    method, _, path = name.partition(" ")
    job = client.get("/jobs", headers={"authorization": "Bearer of-manager"}).json()["jobs"]
    values = {"project_id": "shop", "job_id": job[0]["id"] if job else "", "name": "none.js"}
    values |= {"conversation_id": "none", "answer_id": "none", "token_id": "none"}
    for part, value in values.items():
        path = path.replace(f"{{{part}}}", value)
    for caller in CALLERS:
        headers = {"authorization": f"Bearer of-{caller}", "accept": "application/json"} if caller != "nobody" else {}
        with client.stream(method, path + row.query, json=row.body, headers=headers) as answer:
            if row.whole:
                answer.read()
            yield answer.status_code


def test_the_guard_finds_the_row_of_each_route() -> None:
    for name, need in ROUTE_RULES.items():
        method, _, path = name.partition(" ")
        match = match_route(method, path.replace("{", "of-").replace("}", ""))
        assert match is not None
        assert (match.name, match.rule) == (name, need)


def test_a_route_without_a_row_keeps_the_server_from_starting(config: ServerConfig) -> None:
    app = create_app(config)
    app.add_api_route("/forgotten", lambda: None)
    with pytest.raises(FathomError, match="without a row: GET /forgotten"):
        check_complete(app)


def test_each_tool_of_agents_has_a_row() -> None:
    assert set(TOOL_NEEDS) == {spec["name"] for spec in tools(has_model=True)}
    assert RouteRule("own") == ROUTE_RULES["POST /mcp"]


def test_settings_know_the_roles() -> None:
    for role in Role:
        text = f"me:{'0' * 64}:*:{role.word}"
        if not role:
            with pytest.raises(SettingsError):
                load_settings("/", overrides={"server.tokens": [text]})
            continue
        settings = load_settings("/", overrides={"server.tokens": [text], "server.roles": [f"@a group={role.word}"]})
        assert token_of(settings.server.tokens[0]).grant == Grant(role)
        assert rule_of(settings.server.roles[0]) == RoleRule("@a group", Grant(role))


@pytest.mark.parametrize(
    ("name", "groups", "expected"),
    [
        ("ada", [], {"shop": "reader", "pay": "reader"}),
        ("ben", ["shops"], {"shop": "maintainer", "shop-eu": "maintainer", "pay": "reader"}),
        ("cy", [], {"shop": "admin", "pay": "admin"}),
        ("@shops", [], {"shop": "reader"}),
        ("*", [], {"shop": "reader"}),
    ],
)
def test_what_a_person_may_do_is_the_sum_of_the_lines(name: str, groups: list[str], expected: dict[str, str]) -> None:
    rules = tuple(map(rule_of, ("*=reader", "@shops=maintainer:shop*", "cy=admin:*", "nobody=admin")))
    person = Caller(name, grants_of(rules, name, groups))
    assert {project: person.role_in(project).word for project in expected} == expected


def test_a_person_whom_no_line_fits_sees_nothing() -> None:
    stranger = Caller("eve", grants_of((rule_of("ada=admin"),), "eve", ["ada", "*"]))
    assert (stranger.may_use("shop"), stranger.may_manage) == (False, False)
