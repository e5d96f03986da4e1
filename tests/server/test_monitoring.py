"""How the service is doing: what is counted, what is shown, and to whom."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protocols.server import Turn
from tests.protocols.server import serving as model_server
from tests.server.conftest import Serve
from tests.server.test_projects import add, index
from tests.server.test_routes_ask import QUESTION, asked_of, spoken
from tests.waiting import LONG_S, comes

from codefathom import Engine, __version__
from codefathom.config.settings import declared_settings
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.metrics.counters import BUCKETS_S, RequestRecord, ServerCounters
from codefathom.server.metrics.model_health import ModelHealth
from codefathom.server.searches.search_pool import SearchPool
from codefathom.server.server_config import ServerConfig
from codefathom.types import Check


@pytest.fixture
def ready(server: httpx.Client, shop: Path) -> httpx.Client:
    add(server, shop)
    index(shop)
    return server


# ---- measures


def test_times_are_told_by_route() -> None:
    measures = ServerCounters()
    for number in range(1, 101):
        measures.add(RequestRecord("POST", "/search", 200, number / 1000))
    measures.add(RequestRecord("GET", "/files", 404, 0.5))
    search, files = measures.routes()
    assert (search.method, search.route, search.n_requests) == ("POST", "/search", 100)
    assert (search.p50_ms, search.p95_ms, search.p99_ms) == (51.0, 96.0, 100.0)
    assert (files.n_requests, files.p50_ms) == (1, 500.0)


def test_an_hour_is_kept_minute_by_minute_with_what_failed() -> None:
    now = [600.0]
    measures = ServerCounters(lambda: now[0])
    measures.add(RequestRecord("GET", "/a", 200, 0.1))
    now[0] = 659.0
    measures.add(RequestRecord("GET", "/a", 502, 0.1, "the model failed"))
    now[0] = 900.0
    measures.add(RequestRecord("GET", "/a", 404, 0.1, "no such file"))
    measures.add(RequestRecord("GET", "/monitoring/stats", 200, 9.0))  # by whoever watches
    assert [tuple(minute) for minute in measures.minutes()] == [
        (600, 2, 1, 100.0, 100.0),
        (900, 1, 0, 100.0, 100.0),
    ]
    assert [(item.at, item.status, item.detail) for item in measures.failed()] == [(659.0, 502, "the model failed")]
    now[0] = 600.0 + 3_700
    assert [minute.at for minute in measures.minutes()] == [900]


def test_what_fails_is_no_time_of_an_answer() -> None:
    """A model that refuses at once must not make the server look fast."""
    now = [600.0]
    measures = ServerCounters(lambda: now[0])
    measures.add(RequestRecord("POST", "/ask", 200, 4.0))
    for _ in range(9):
        measures.add(RequestRecord("POST", "/ask", 502, 0.001, "the model failed"))
        measures.add(RequestRecord("POST", "/ask", 200, 0.002, "the model broke off", has_failed=True))
    measures.add(RequestRecord("POST", "/ask", 200, None))  # stopped before its first word
    (route,) = measures.routes()
    assert (route.n_requests, route.n_failed, route.p50_ms, route.p99_ms) == (20, 18, 4_000.0, 4_000.0)
    assert [tuple(minute) for minute in measures.minutes()] == [(600, 20, 18, 4_000.0, 4_000.0)]
    assert {(item.status, item.detail) for item in measures.failed()} == {
        (502, "the model failed"),
        (200, "the model broke off"),
    }


def test_a_minute_tells_how_long_its_answers_took() -> None:
    now = [600.0]
    measures = ServerCounters(lambda: now[0])
    for number in range(100):
        measures.add(RequestRecord("GET", "/a", 200, (number + 1) / 1_000))
    now[0] = 660.0
    measures.add(RequestRecord("GET", "/a", 200, 2.0))
    assert [(minute.p50_ms, minute.p95_ms) for minute in measures.minutes()] == [(51.0, 96.0), (2_000.0, 2_000.0)]


SAMPLE = re.compile(r'codefathom_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? -?\d+(\.\d+)?(e[+-]\d+)?')


@settings(max_examples=50)
@given(
    st.lists(
        st.builds(
            RequestRecord,
            st.sampled_from(["GET", "POST"]),
            st.sampled_from(["/search", "/projects/{project_id}"]),
            st.sampled_from([200, 404, 500]),
            st.floats(0, 20),
        ),
        max_size=30,
    )
)
def test_the_text_for_prometheus_adds_up(requests: list[RequestRecord]) -> None:
    measures = ServerCounters()
    for request in requests:
        measures.add(request)
    lines = measures.prometheus({"projects": 2, "cache_hits_total": 3}).splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    assert all(SAMPLE.fullmatch(line) for line in samples)
    total = sum(int(line.rsplit(" ", 1)[1]) for line in samples if line.startswith("codefathom_requests_total"))
    last = sum(int(line.rsplit(" ", 1)[1]) for line in samples if 'le="+Inf"' in line)
    n_failed = sum(int(line.rsplit(" ", 1)[1]) for line in samples if line.startswith("codefathom_failures_total"))
    assert n_failed == sum(request.is_failed for request in requests)
    assert total == last + n_failed == len(requests)
    under_a_tenth = sum(int(line.rsplit(" ", 1)[1]) for line in samples if 'le="0.1"' in line)
    assert under_a_tenth == sum(request.seconds <= 0.1 for request in requests if not request.is_failed)
    assert "# TYPE codefathom_cache_hits_total counter" in lines
    assert tuple(sorted(BUCKETS_S)) == BUCKETS_S


# ---- routes


def test_what_is_asked_is_counted(ready: httpx.Client) -> None:
    for _ in range(3):
        ready.post("/api/search", json={"query": "price"})
    ready.get("/projects/nobody")
    ready.get("/no/such/route")
    stats = ready.get("/monitoring/stats").json()
    counted = {(item["method"], item["route"]): item["n_requests"] for item in stats["routes"]}
    assert counted[("POST", "/search")] == 3
    assert counted[("GET", "/projects/{project_id}")] == 1
    assert counted[("GET", "none")] == 1
    assert stats["cache"] == {"n_entries": 1, "n_hits": 2, "n_misses": 1}
    assert (stats["n_in_flight"], stats["n_opened"], stats["failed"]) == (1, 1, [])
    assert sum(minute["n_requests"] for minute in stats["minutes"]) == sum(counted.values())
    text = ready.get("/metrics").text
    assert 'codefathom_requests_total{method="POST",route="/search",status="200"} 3' in text
    assert "codefathom_projects 1.0" in text


def test_what_breaks_is_told_without_its_inside(
    serve: Serve, config: ServerConfig, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret detail")

    with serve(config) as server:
        add(server, shop)
        index(shop)
        monkeypatch.setattr(SearchPool, "answer", broken)
        answer = server.get("/related", params={"project_id": "shop", "target": "x"})
        assert (answer.status_code, answer.json()["code"]) == (500, "internal")
        assert "secret" not in answer.text
        monkeypatch.undo()
        (failed,) = server.get("/monitoring/stats").json()["failed"]
        assert (failed["method"], failed["route"], failed["status"]) == ("GET", "/related", 500)
        assert "log of the server" in failed["detail"]


def test_stats_tell_what_is_indexed(ready: httpx.Client, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    add(ready, tmp_path / "empty")
    (project,) = ready.get("/monitoring/stats").json()["projects"]
    with Engine.open(str(shop)) as engine:
        status = engine.status()
    assert (project["project_id"], project["n_chunks"]) == ("shop", status.n_chunks)
    assert (project["languages"], project["kinds"]) == (dict(status.languages), dict(status.kinds))
    assert sum(project["modules"].values()) == status.n_documents
    assert project["modules"]["shop"] == 6


def test_the_store_tells_where_and_how_indexes_are_kept(ready: httpx.Client, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    add(ready, tmp_path / "empty")
    told = ready.get("/monitoring/store").json()
    assert told["data_dir"] == str(tmp_path.resolve() / "data")
    assert told["free_bytes"] > 0
    kept, empty = told["stores"]
    assert (kept["project_id"], kept["index_dir"]) == ("shop", str(shop.resolve() / ".fathom"))
    assert (kept["views_current"], kept["n_without_vector"], kept["pending"], kept["problem"]) == (True, 0, 0, "")
    assert kept["n_bytes"] > 0
    assert "has no index" in empty["problem"]


def test_the_status_of_a_project_names_what_is_left_out(ready: httpx.Client, shop: Path) -> None:
    (shop / "logo.bin").write_bytes(b"\0\1\2" * 100)
    (shop / "link.py").symlink_to(shop / "logo.bin")
    status = ready.get("/projects/shop/status").json()
    with Engine.open(str(shop)) as engine:
        told = engine.status()
    assert [(item["path"], item["reason"]) for item in status["skipped"]] == [
        (item.path, item.reason) for item in told.skipped
    ]
    parts = {item["path"]: item["reason_parts"] for item in status["skipped"]}
    assert parts["link.py"] == [{"kind": "symlink", "values": {}}]
    assert (status["n_skipped"], status["pending"], status["root"]) == (len(told.skipped), 1, str(shop.resolve()))


def test_services_say_what_is_missing(ready: httpx.Client) -> None:
    told = ready.get("/monitoring/services").json()
    by_name = {item["name"]: item for item in told["services"]}
    assert (told["ok"], told["version"]) == (False, __version__)
    assert by_name["data folder"]["ok"]
    assert not by_name["language model"]["ok"]
    assert "llm.model" in by_name["language model"]["hint"]
    of_project = ready.get("/monitoring/services", params={"project_id": "shop"}).json()
    assert {"catalogue", "views", "embedding model"} <= {item["name"] for item in of_project["services"]}
    assert of_project["ok"]


def test_settings_are_shown_with_their_origin_and_without_secrets(
    serve: Serve, config: ServerConfig, shop: Path
) -> None:
    variables = {
        "FATHOM_LLM__BASE_URL": "http://me:password@models.example.org/v1",
        "FATHOM_SERVER__TOKENS": f"team:{hash_of('one')}",
        "OPENAI_API_KEY": "sk-secret",
    }
    with serve(replace(config, variables=variables)) as server:
        add(server, shop, settings={"search.limit": 3})
        for query in ({}, {"project_id": "shop"}):
            answer = server.get("/config", params=query)
            shown = {item["key"]: item for item in answer.json()["settings"]}
            assert list(shown) == [known.key for known in declared_settings()]
            assert shown["server.tokens"]["value"] == ["team"]
            assert shown["llm.base_url"]["origin"] == "environment FATHOM_LLM__BASE_URL"
            assert not re.search("password|sk-secret|" + hash_of("one"), answer.text)
        assert (shown["search.limit"]["value"], shown["search.limit"]["origin"]) == (3, "argument")


def test_a_token_for_some_projects_sees_only_those(serve: Serve, config: ServerConfig, shop: Path) -> None:
    tokens = (Token("all", hash_of("one")), Token("some", hash_of("two"), frozenset({"shop"})))
    with serve(replace(config, tokens=tokens)) as server:
        server.headers["authorization"] = "Bearer one"
        add(server, shop)
        index(shop)
        server.headers["authorization"] = "Bearer two"
        for path in ("/monitoring/stats", "/monitoring/store", "/monitoring/services", "/metrics", "/config"):
            assert server.get(path).status_code == 403, path
        for path in ("/monitoring/services", "/config"):
            assert server.get(path, params={"project_id": "shop"}).status_code == 200, path
        shown = server.get("/config", params={"project_id": "shop"}).json()["settings"]
        assert not [item["key"] for item in shown if item["key"].startswith("server.")]
        assert server.get("/projects/shop/status").status_code == 200


# ---- models


def models(told: dict) -> dict[str, bool]:
    return {item["name"]: item["ok"] for item in told["services"] if "model" in item["name"]}


def test_models_are_asked_and_the_dead_one_is_named(serve: Serve, config: ServerConfig, shop: Path) -> None:
    with model_server(spoken("OK")) as model:
        name = f"openai:alive@{model.base_url}/v1"
        with serve(replace(config, variables={"FATHOM_LLM__MODEL": name})) as server:
            dead = {"llm.judge": "ollama:dead@http://127.0.0.1:1", "embed.model": "ollama:gone@http://127.0.0.1:1"}
            add(server, shop, settings=dead)
            before = time.time()
            told = server.get("/monitoring/services", params={"ask_models": True}).json()
            assert before <= told["models_asked_at"] <= time.time()
            assert models(told) == {
                "embedding model": True,
                "model for answer, select, judge, excerpt, agent": True,
                "shop: embedding model": False,
                "shop: model for answer, select, excerpt, agent": True,
                "shop: model for judge": False,
            }
            bad = next(item for item in told["services"] if item["name"] == "shop: model for judge")
            assert "ollama:dead@http://127.0.0.1:1" in bad["detail"]
            assert bad["hint"]
            n_calls = len(model.asked)
            server.patch("/projects/shop", json={"settings": {}})
            again = server.get("/monitoring/services").json()
            assert again["models_asked_at"] == 0
            assert comes(lambda: server.get("/monitoring/services").json()["models_asked_at"])
            assert models(server.get("/monitoring/services").json()) == {
                "embedding model": True,
                "model for answer, select, judge, excerpt, agent": True,
            }
            assert len(model.asked) > n_calls


def test_who_looks_often_does_not_ask_the_models_as_often() -> None:
    now, n_asked = [1_000.0], 0

    def ask() -> tuple[Check, ...]:
        nonlocal n_asked
        n_asked += 1
        return (Check("m", n_asked > 1, ""),)

    health = ModelHealth(ask, lambda: now[0])
    assert health.report(wait=True).asked_at == 1_000.0
    now[0] += 29
    assert (health.report().asked_at, n_asked) == (1_000.0, 1)
    now[0] += 2  # one that failed is asked again soon
    health.report()
    assert comes(lambda: health.report().asked_at == 1_031.0)
    now[0] += 299
    assert (health.report().asked_at, n_asked) == (1_031.0, 2)
    now[0] += 2
    health.report()
    assert comes(lambda: health.report().asked_at == 1_332.0)


def test_a_look_at_the_models_that_breaks_is_not_the_last() -> None:
    n_asked = 0

    def ask() -> tuple[Check, ...]:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 1:
            raise OSError("a broken disk")
        return (Check("m", True, ""),)

    health = ModelHealth(ask)
    (check,) = health.report(wait=True).checks
    assert not check.ok
    assert "a broken disk" in check.detail
    assert [check.ok for check in health.report(wait=True).checks] == [True]


# ---- /metrics


def test_metrics_tell_memory_and_speed_of_indexing_each_with_help(server: httpx.Client, shop: Path) -> None:
    before = server.get("/metrics").text
    assert "indexing_files_per_second" not in before
    server.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
    lines = server.get("/metrics").text.splitlines()
    values = {line.split(" ")[0]: float(line.split(" ")[1]) for line in lines if line.startswith("codefathom_")}
    assert values["codefathom_memory_server_bytes"] > 10e6
    assert values["codefathom_memory_processes_bytes"] >= 0
    assert values["codefathom_indexing_files_per_second"] > 0
    assert values["codefathom_indexing_bytes_per_second"] > values["codefathom_indexing_files_per_second"]
    families = {re.sub(r"_(bucket|sum|count)$", "", name.partition("{")[0]) for name in values}
    for word in ("HELP", "TYPE"):
        assert {line.split(" ")[2] for line in lines if line.startswith(f"# {word} ")} == families
    assert all(len(line.split(" ", 3)[3]) > 10 for line in lines if line.startswith("# HELP "))


# ---- written answers


def counted(client: httpx.Client, route: str) -> tuple[int, int, float]:
    """The requests of a route, those that failed, and the time of the slowest."""
    listed = client.get("/monitoring/stats").json()["routes"]
    (found,) = [item for item in listed if item["route"] == route] or [{}]
    return found.get("n_requests", 0), found.get("n_failed", 0), found.get("p99_ms", 0.0)


BROKEN = Turn([spoken("The cart adds").pieces[0]], reset="middle")
REFUSED = Turn([b'{"error": {"message": "no more money"}}'], 402)


@pytest.mark.parametrize("turn", [REFUSED, BROKEN], ids=["refused", "broken off"])
@pytest.mark.parametrize("route", ["/ask", "/ask/stream", "/v1/chat/completions"])
def test_an_answer_that_fails_is_counted_as_failed(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch, route: str, turn: Turn
) -> None:
    with asked_of(config, serve, shop, monkeypatch, turn) as (client, _):
        body = {"query": QUESTION}
        if route.startswith("/v1"):
            body = {"model": "shop", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
        client.post(route, json=body).raise_for_status()
        assert counted(client, route) == (1, 1, 0.0)
        (failed,) = client.get("/monitoring/stats").json()["failed"]
        assert (failed["route"], failed["status"]) == (route, 200)
        assert failed["detail"]


def test_an_answer_begins_with_its_first_word(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with the first byte: the sources stand before it, while the model still thinks."""
    may_speak, waited_ms = threading.Event(), []

    def thinking(_: dict[str, Any]) -> bytes:
        assert may_speak.wait(LONG_S)
        return b"".join(spoken("All is well.\n\n").pieces)

    with asked_of(config, serve, shop, monkeypatch, Turn(reply=thinking)) as (client, _):
        with client.stream("POST", "/ask/stream", json={"query": QUESTION}) as answer:
            lines = answer.iter_lines()
            next(line for line in lines if "sources" in line)
            first_byte_at = time.perf_counter()
            assert counted(client, "/ask/stream") == (0, 0, 0.0)
            waited_ms.append((time.perf_counter() - first_byte_at) * 1000)
            may_speak.set()
            for _ in lines:
                pass
        n_requests, n_failed, slowest_ms = counted(client, "/ask/stream")
        assert (n_requests, n_failed) == (1, 0)
        assert slowest_ms >= waited_ms[0]  # what passed between the first byte and the first word is in it
