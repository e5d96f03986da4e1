"""What each route answers to whom: a table of all routes, and of the tokens that there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from tests.server.conftest import serving
from tests.server.test_projects import index
from tests.waiting import LONG_S

from codefathom.server.app import create_app
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.server_config import ServerConfig

CALLERS = {"nobody": "", "other": "of-other", "kept": "of-kept", "manager": "of-manager"}
TOKENS = (
    Token("other", hash_of("of-other"), frozenset({"elsewhere"})),
    Token("kept", hash_of("of-kept"), frozenset({"shop"})),
    Token("manager", hash_of("of-manager")),
)


@dataclass(frozen=True)
class Row:
    """The statuses of a route for nobody, a token of another project, one kept to the project, one without limits."""

    statuses: tuple[int, int, int, int]
    query: str = ""
    body: Any = None
    whole: bool = True  # False: a stream, of which only the status counts


OPEN = (200, 200, 200, 200)
OWN = (401, 200, 200, 200)  # each sees what is its own
PROJECT = (401, 404, 200, 200)
MANAGER = (401, 403, 403, 200)
SHOP_CHANGED = (401, 404, 403, 200)
ASKED = {"query": "where are orders priced", "project_ids": ["shop"]}
OF_SHOP = "?project_id=shop"
NO_SUCH = (401, 404, 404, 404)  # what belongs to nobody here
STORE = {"target": "flat"}

# In this order: what removes something stands at the end.
ROUTES: dict[str, Row] = {
    "GET /": Row(OPEN),
    "GET /docs": Row(OPEN),
    "GET /assets/{name}": Row((404, 404, 404, 404)),
    "GET /health": Row(OPEN),
    "GET /version": Row(OPEN),
    "GET /openapi.json": Row(OWN),
    "GET /session": Row(OWN),
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
    "GET /symbols": Row(PROJECT, OF_SHOP),
    "GET /related": Row(PROJECT, OF_SHOP + "&target=shop/pricing.py"),
    "GET /map": Row(PROJECT, OF_SHOP),
    "GET /federated/symbols": Row(PROJECT, OF_SHOP),
    "GET /federated/related": Row(PROJECT, OF_SHOP + "&target=shop/pricing.py"),
    "GET /federated/map": Row(PROJECT, OF_SHOP),
    "POST /ask": Row(PROJECT, body=ASKED),
    "POST /ask/stream": Row(PROJECT, body=ASKED, whole=False),
    "POST /ask/agent": Row(PROJECT, body=ASKED, whole=False),
    "POST /query": Row((401, 404, 409, 409), body={"question": "where are orders priced", "project_id": "shop"}),
    "POST /conversations": Row((401, 404, 201, 201), body={"project_ids": ["shop"]}),
    "POST /v1/chat/completions": Row(
        PROJECT, body={"model": "shop", "messages": [{"role": "user", "content": "where are orders priced"}]}
    ),
    "GET /conversations/{conversation_id}": Row(NO_SUCH),
    "PATCH /conversations/{conversation_id}": Row(NO_SUCH, body={"title": "x"}),
    "DELETE /conversations/{conversation_id}": Row(NO_SUCH),
    "GET /conversations/{conversation_id}/export": Row(NO_SUCH),
    "GET /answers/{answer_id}/events": Row(NO_SUCH),
    "POST /answers/{answer_id}/stop": Row(NO_SUCH),
    "POST /mcp": Row((401, 400, 400, 400), body={}),
    "DELETE /mcp": Row((401, 400, 400, 400)),
    "GET /config": Row(PROJECT, OF_SHOP),
    "GET /monitoring/services": Row(PROJECT, OF_SHOP),
    # ---- indexing and following
    "POST /projects/{project_id}/index": Row((401, 404, 202, 202), body={}),
    "GET /projects/{project_id}/index": Row((401, 404, 202, 202)),
    "POST /projects/{project_id}/files": Row(PROJECT, body={"paths": ["shop/pricing.py"]}),
    "GET /jobs/{job_id}": Row(PROJECT),
    "GET /jobs/{job_id}/events": Row(PROJECT, whole=False),
    "POST /jobs/{job_id}/cancel": Row(PROJECT),
    # ---- the whole server, settings, and what removes something
    "GET /monitoring/stats": Row(MANAGER),
    "GET /monitoring/store": Row(MANAGER),
    "GET /metrics": Row(MANAGER),
    "POST /projects/validate-path": Row(MANAGER, body={"path": "/nowhere"}),
    "POST /validate-path": Row(MANAGER, body={"path": "/nowhere"}),
    "POST /projects": Row((401, 403, 403, 400), body={}),
    "POST /index": Row((401, 403, 403, 403), body={"codebase_path": "/nowhere"}),
    "PATCH /projects/{project_id}": Row(MANAGER, body={"name": "shop"}),
    "POST /projects/{project_id}/test": Row(MANAGER, body={"settings": {}}),
    "GET /projects/{project_id}/store": Row(MANAGER),
    "POST /projects/{project_id}/store/init": Row(MANAGER, body=STORE),
    "POST /projects/{project_id}/store/verify": Row(MANAGER, body=STORE),
    "POST /projects/{project_id}/store/move": Row((401, 403, 403, 400), body=STORE),
    "POST /projects/{project_id}/store/remove": Row((401, 403, 403, 400), body=STORE),
    "POST /projects/{project_id}/watch": Row(SHOP_CHANGED),
    "DELETE /projects/{project_id}/watch": Row((401, 404, 403, 204)),
    "DELETE /projects/{project_id}/index": Row((401, 404, 403, 204)),
    "DELETE /projects/{project_id}": Row((401, 403, 403, 204)),
}


def routes(app: FastAPI) -> Iterator[str]:
    """All routes of the application, those that the documents leave out, too."""
    for route in app.routes:
        for one in getattr(getattr(route, "original_router", None), "routes", [route]):
            for method in one.methods or ():
                if method != "HEAD":
                    yield f"{method} {one.path}"


def test_each_route_answers_each_token_as_the_table_says(config: ServerConfig, shop: Path, tmp_path: Path) -> None:
    app = create_app(replace(config, tokens=TOKENS))
    assert set(routes(app)) == set(ROUTES)
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
    values |= {"conversation_id": "none", "answer_id": "none"}
    for part, value in values.items():
        path = path.replace(f"{{{part}}}", value)
    for secret in CALLERS.values():
        headers = {"authorization": f"Bearer {secret}", "accept": "application/json"} if secret else {}
        with client.stream(method, path + row.query, json=row.body, headers=headers) as answer:
            if row.whole:
                answer.read()
            yield answer.status_code
