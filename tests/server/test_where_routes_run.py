"""Where the work of each route is done: in the server's own process only what is short.

A new route must be put into the table. What the table calls "search" is shown to run in a process of the searches, and
to end when its client leaves.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from inspect import iscoroutinefunction
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from tests.server.conftest import serving
from tests.server.test_git import git
from tests.server.test_projects import add, index
from tests.waiting import LONG_S, comes

from codefathom.server.answers.conversation_record import ConversationTurn
from codefathom.server.app import _THREADS, ROUTERS, create_app
from codefathom.server.http import page
from codefathom.server.searches.search_pool import SearchPool, _Process
from codefathom.server.server_config import ServerConfig
from codefathom.server.state import ServerState

# "own": short, in the server's own process; "search": in its turn in a process of the searches, which ends when the
# client leaves or the time is over; "job": in a process of a job, which goes on when the client leaves; "answer": in
# the thread of an answer, whose searches run in processes of the searches, and which ends when its last reader leaves;
# "wait": a coroutine that waits for one of them;
# "manager": in the server's own process, for managers only, at most 12 at a time.
TABLE = {
    "GET /": "own",
    "HEAD /": "own",
    "GET /docs": "own",
    "HEAD /docs": "own",
    "GET /openapi.json": "own",
    "GET /assets/{name}": "own",
    "HEAD /assets/{name}": "own",
    "GET /health": "own",
    "GET /readyz": "own",
    "GET /version": "own",
    "GET /session": "own",
    "GET /sign-in": "wait",
    "GET /sign-in/callback": "wait",
    "POST /sign-out": "own",
    "GET /signals": "own",
    "GET /metrics": "own",
    "GET /tokens": "own",
    "POST /tokens": "own",
    "DELETE /tokens/{token_id}": "own",
    "GET /audit": "own",
    "GET /config": "own",
    "GET /projects": "own",
    "POST /projects": "own",
    "GET /projects/indexed": "own",
    "POST /projects/plan": "search",
    "POST /projects/validate-path": "own",
    "POST /validate-path": "own",
    "GET /projects/{project_id}": "own",
    "PATCH /projects/{project_id}": "own",
    "DELETE /projects/{project_id}": "own",
    "POST /projects/{project_id}/test": "manager",
    "GET /projects/{project_id}/store": "manager",
    "POST /projects/{project_id}/store/init": "manager",
    "POST /projects/{project_id}/store/verify": "manager",
    "POST /projects/{project_id}/store/remove": "manager",
    "POST /projects/{project_id}/store/move": "job",
    "GET /projects/{project_id}/status": "search",
    "POST /projects/{project_id}/impact": "search",
    "POST /projects/{project_id}/files": "job",
    "POST /hooks/{project_id}": "job",
    "GET /projects/{project_id}/index": "wait",
    "POST /projects/{project_id}/index": "job",
    "DELETE /projects/{project_id}/index": "own",
    "GET /projects/{project_id}/watch": "own",
    "POST /projects/{project_id}/watch": "own",
    "DELETE /projects/{project_id}/watch": "own",
    "POST /search": "search",
    "POST /federated/search": "search",
    "POST /context": "search",
    "GET /files": "search",
    "GET /file": "search",
    "GET /file-tree": "search",
    "GET /picture": "search",
    "GET /symbols": "search",
    "GET /related": "search",
    "GET /history": "search",
    "GET /blame": "search",
    "GET /name-at": "search",
    "GET /commits": "search",
    "GET /glance": "search",
    "GET /tour": "search",
    "GET /modules": "search",
    "GET /map": "search",
    "GET /federated/symbols": "search",
    "GET /federated/related": "search",
    "GET /federated/map": "search",
    "GET /monitoring/services": "search",
    "GET /monitoring/stats": "search",
    "GET /monitoring/store": "search",
    "GET /monitoring/history": "own",
    "POST /index": "job",
    "GET /jobs": "own",
    "GET /jobs/{job_id}": "own",
    "GET /jobs/{job_id}/events": "wait",
    "POST /jobs/{job_id}/cancel": "own",
    "POST /ask": "answer",
    "POST /ask/stream": "answer",
    "POST /ask/agent": "answer",
    "POST /query": "answer",
    "GET /answers/{answer_id}/events": "wait",
    "POST /answers/{answer_id}/stop": "own",
    "GET /conversations": "own",
    "POST /conversations": "own",
    "GET /conversations/{conversation_id}": "own",
    "PATCH /conversations/{conversation_id}": "own",
    "DELETE /conversations/{conversation_id}": "own",
    "GET /conversations/{conversation_id}/export": "own",
    "GET /conversations/{conversation_id}/cited": "search",
    "PUT /conversations/{conversation_id}/ratings/{answer_id}": "own",
    "DELETE /conversations/{conversation_id}/ratings/{answer_id}": "own",
    "GET /ratings": "own",
    "GET /v1/models": "own",
    "POST /v1/chat/completions": "answer",
    "POST /mcp": "search",  # each call of a tool but `ask`; see test_mcp_calls.py
    "DELETE /mcp": "own",
}
HERE = "the folder of the shop"
# What is asked of each of these: the query of a GET, the body of a POST.
ASKED: dict[str, dict[str, object]] = {
    "GET /projects/{project_id}/status": {},
    "POST /projects/plan": {"path": HERE},
    "POST /projects/{project_id}/impact": {"diff": "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"},
    "POST /search": {"query": "where are orders priced"},
    "POST /federated/search": {"query": "how are orders shipped"},
    "POST /context": {"query": "where are orders priced"},
    "GET /files": {},
    "GET /file": {"path": "shop/pricing.py"},
    "GET /file-tree": {},
    "GET /picture": {"path": "shop/logo.svg"},
    "GET /symbols": {"query": "price"},
    "GET /related": {"target": "shop/pricing.py"},
    "GET /history": {"place": "shop/pricing.py"},
    "GET /blame": {"path": "shop/pricing.py"},
    "GET /name-at": {"path": "shop/pricing.py", "name": "discount", "line": 1},
    "GET /commits": {},
    "GET /glance": {},
    "GET /tour": {},
    "GET /modules": {},
    "GET /map": {},
    "GET /federated/symbols": {"query": "price"},
    "GET /federated/related": {"target": "shop/pricing.py"},
    "GET /federated/map": {},
    "GET /conversations/{conversation_id}/cited": {},
    "GET /monitoring/services": {"project_id": "shop"},
    "GET /monitoring/stats": {},
    "GET /monitoring/store": {},
}
# Answers that begin with a search; what an agent does is up to its model.
ANSWERED: dict[str, dict[str, object]] = {
    "POST /ask": {"query": "where are orders priced"},
    "POST /ask/stream": {"query": "how are orders shipped"},
    "POST /v1/chat/completions": {"model": "shop", "messages": [{"role": "user", "content": "how are orders priced"}]},
}
OF_AGENTS = {"POST /ask/agent", "POST /query"}


def routes_of(app: FastAPI) -> set[str]:
    described = app.openapi()["paths"]
    listed = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    # The page is not described.
    return listed | {f"{method} {route.path}" for route in page.router(str).routes for method in route.methods or ()}


def test_the_table_has_every_route(config: ServerConfig) -> None:
    assert routes_of(create_app(config)) == set(TABLE)


def test_every_route_that_searches_is_tried() -> None:
    assert set(ASKED) == {route for route, where in TABLE.items() if where == "search"} - {"POST /mcp"}
    assert {*ANSWERED, *OF_AGENTS} == {route for route, where in TABLE.items() if where == "answer"}


@contextmanager
def leaving(address: str, route: str, conversation_id: str = "", here: str = "") -> Iterator[None]:
    """Send a request, and close its connection after the block without an answer."""
    method, _, path = route.partition(" ")
    path = path.replace("{project_id}", "shop").replace("{conversation_id}", conversation_id)
    asked = {name: here if value == HERE else value for name, value in {**ASKED, **ANSWERED}[route].items()}
    with socket.create_connection((urlsplit(address).hostname, urlsplit(address).port)) as connection:
        if method == "GET":
            request = httpx.Request("GET", f"{address}{path}?{urlencode(asked)}")
        else:
            request = httpx.Request("POST", f"{address}{path}", json=asked)
        lines = [f"{method} {request.url.raw_path.decode()} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in request.headers.items()]
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + request.content)
        yield


def stopped(pool: SearchPool, n: int) -> list[_Process]:
    """Give the pool processes that never answer, which the next searches take."""
    processes = [_Process() for _ in range(n)]
    for process in processes:
        os.kill(process._process.pid, signal.SIGSTOP)
    pool._idle.extend(processes)
    pool._all.update(processes)
    return processes


def cited(state: ServerState) -> str:
    """Keep a conversation whose answer cites lines of the shop, and return its id."""
    lines = {"project_id": "shop", "path": "shop/pricing.py", "start_line": 1, "end_line": 2, "digest": "0"}
    details = {"answer_id": "one", "projects": ["shop"], "cited": [lines]}
    conversation_id = state.conversations.begin(["shop"]).id
    state.conversations.add(conversation_id, ConversationTurn("where?", "There.", "done", 0.0, details))
    return conversation_id


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signal that stops a process")
def test_the_work_of_a_client_that_leaves_ends_and_health_answers_meanwhile(config: ServerConfig, shop: Path) -> None:
    config = replace(config, search_processes=len(ASKED), search_timeout_s=LONG_S)
    app = create_app(config)
    pool: SearchPool = app.state.server.search_pool
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        git(shop, "init")  # `/history` refuses what is no repository before it takes a process
        add(client, shop)
        index(shop)
        conversation_id = cited(app.state.server)
        processes = stopped(pool, len(ASKED))
        with ExitStack() as clients:
            for route in ASKED:
                clients.enter_context(leaving(address, route, conversation_id, str(shop)))
            assert comes(lambda: not pool._idle), "each works in a process of its own"
            assert client.get("/health").json()["status"] == "ok"
        assert comes(lambda: not pool._all), "all have ended"
        assert all(not process.is_running for process in processes)
        assert client.get("/related", params=ASKED["GET /related"]).json()["edges"], "the server goes on"


def test_health_and_version_answer_while_every_thread_of_the_other_routes_waits(config: ServerConfig) -> None:
    app = create_app(config)
    state: ServerState = app.state.server
    with serving(app) as address, ThreadPoolExecutor(2 * _THREADS) as others:
        assert httpx.get(f"{address}/version", timeout=LONG_S).status_code == 200, "it has begun"
        with state.projects._database._lock:  # all that list projects wait for it
            listed = [others.submit(httpx.get, f"{address}/projects", timeout=LONG_S) for _ in range(2 * _THREADS)]
            assert comes(lambda: state.measures.n_in_flight == len(listed))
            for route in ("/health", "/version"):
                assert httpx.get(f"{address}{route}", timeout=LONG_S / 2).status_code == 200, route
        assert {answer.result().status_code for answer in listed} == {200}


def test_what_a_route_depends_on_needs_no_thread(config: ServerConfig) -> None:
    state: ServerState = create_app(config).state.server
    in_threads = {
        f"{depending.call.__module__}.{depending.call.__qualname__}"
        for router in ROUTERS
        for route in router(state).routes
        if isinstance(route, APIRoute)
        for depending in route.dependant.dependencies
        if not iscoroutinefunction(depending.call)
    }
    assert not in_threads


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signal that stops a process")
@pytest.mark.parametrize("asked", [{}, {"project_ids": ["shop", "second"]}], ids=["one", "several"])
def test_the_search_of_an_answer_ends_when_its_reader_leaves(
    config: ServerConfig, shop: Path, tmp_path: Path, asked: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for body in list(ANSWERED)[:2]:
        monkeypatch.setitem(ANSWERED, body, {**ANSWERED[body], **asked})
    config = replace(config, search_timeout_s=LONG_S)
    app = create_app(config)
    pool: SearchPool = app.state.server.search_pool
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        for root in (shop, _second(shop)):
            add(client, root)
            index(root)
        n_processes = 1 + 2 * 2  # `/v1` asks one project, the others both, named or not
        processes = stopped(pool, n_processes)
        with ExitStack() as clients:
            for route in ANSWERED:
                clients.enter_context(leaving(address, route))
            assert comes(lambda: not pool._idle), "each search works in a process of its own"
            assert client.get("/health").json()["status"] == "ok"
        assert comes(lambda: not pool._all), "all have ended"
        assert all(not process.is_running for process in processes)
        assert client.post("/ask", json=ANSWERED["POST /ask"]).json()["sources"], "the server goes on"


def _second(shop: Path) -> Path:
    second = shop.parent / "second"
    second.mkdir()
    (second / "shipping.py").write_text("def ship(order):\n    return order.shipped\n")
    return second


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signal that stops a process")
def test_an_answer_whose_search_takes_too_long_says_so(config: ServerConfig, shop: Path) -> None:
    app = create_app(replace(config, search_timeout_s=0.5))
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        add(client, shop)
        index(shop)
        stopped(app.state.server.search_pool, 1)
        answer = client.post("/ask", json=ANSWERED["POST /ask"])
        assert (answer.status_code, answer.json()["code"]) == (504, "too_slow")


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signal that stops a process")
def test_a_process_that_dies_is_told_logged_and_replaced(
    config: ServerConfig, shop: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(config)
    pool: SearchPool = app.state.server.search_pool
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        add(client, shop)
        index(shop)
        (process,) = stopped(pool, 1)
        with leaving(address, "GET /related"):
            assert comes(lambda: not pool._idle)
            os.kill(process._process.pid, signal.SIGKILL)
            assert comes(lambda: not pool._all)
        assert comes(lambda: "died: signal 9 (SIGKILL)" in caplog.text)
        assert "it worked on 'related' in" in caplog.text
        stopped(pool, 1)[0]._process.kill()
        answer = client.get("/related", params=ASKED["GET /related"])
        problem = answer.json()
        if answer.status_code != 200:  # it had been taken before it had ended
            assert (answer.status_code, problem["code"]) == (503, "worker_died")
            assert problem["detail"] == "the process of a search died: signal 9 (SIGKILL)"
        assert client.get("/related", params=ASKED["GET /related"]).json()["edges"]
