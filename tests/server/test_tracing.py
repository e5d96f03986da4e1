"""Requests, stages of a search, calls of a model and jobs are spans of OpenTelemetry, where that is installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.waiting import LONG_S

from codefathom import telemetry
from codefathom.server.metrics import tracing
from codefathom.server.server_config import ServerConfig

from .agents import META, call, post
from .conftest import Serve
from .test_projects import add, index
from .test_routes_ask import CITED, QUESTION, asked_of, spoken

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "trace", SimpleNamespace(**vars(trace)))
    # The one of the process can be set once only.
    monkeypatch.setattr(tracing.trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(tracing.trace, "get_tracer", provider.get_tracer)
    yield exporter
    telemetry.collect_with(None)


def named(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [span for span in exporter.get_finished_spans() if span.name == name]
    return found


def is_inside(inner: ReadableSpan, outer: ReadableSpan) -> bool:
    assert inner.start_time is not None
    assert outer.end_time is not None
    return inner.parent is not None and inner.parent.span_id == outer.context.span_id


def test_a_search_is_a_request_with_stages(
    spans: InMemorySpanExporter, config: ServerConfig, serve: Serve, shop: Path
) -> None:
    with serve(config) as server:
        add(server, shop)
        index(shop)
        spans.clear()
        headers = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
        assert server.post("/search", json={"query": "where are orders priced"}, headers=headers).status_code == 200
    request, search, rank = (named(spans, name) for name in ("POST /search", "search", "rank"))
    assert f"{request.context.trace_id:032x}" == TRACE, "what the client measures goes on here"
    assert request.kind is trace.SpanKind.SERVER
    assert request.attributes == {
        "http.request.method": "POST",
        "url.path": "/search",
        "http.route": "/search",
        "http.response.status_code": 200,
    }
    assert is_inside(search, request)
    assert (search.attributes or {})["codefathom.project"] == "shop"
    assert is_inside(rank, search), "although another process has ranked"
    for name in ("understand", "hits"):
        assert is_inside(named(spans, name), search)
    for name in ("vectors", "candidates"):
        assert is_inside(named(spans, name), rank)
    assert search.start_time <= rank.start_time < rank.end_time <= search.end_time


@pytest.mark.parametrize("meta", [{}, {"traceparent": 5}, {"traceparent": "x"}, {"tracestate": ["a"]}])
def test_a_call_of_a_tool_goes_on_with_the_trace_in_its_meta(
    spans: InMemorySpanExporter, config: ServerConfig, serve: Serve, shop: Path, meta: dict[str, object]
) -> None:
    """The context of W3C stands in `_meta`, where the protocol has it; what is none there changes nothing."""
    message = call("search", query="where are orders priced")
    message["params"]["_meta"] = {**META, "traceparent": f"00-{TRACE}-b7ad6b7169203331-01", **meta}
    with serve(config) as server:
        add(server, shop)
        index(shop)
        spans.clear()
        assert post(server, message).json()["result"]["structuredContent"]["hits"]
    # The second one looks for further places in the files of the first hits.
    searches, ranks = (
        sorted(
            (span for span in spans.get_finished_spans() if span.name == name), key=lambda span: span.start_time or 0
        )
        for name in ("search", "rank")
    )
    assert len(searches) == len(ranks) == 2
    for search, rank in zip(searches, ranks, strict=True):
        assert (f"{search.context.trace_id:032x}" == TRACE) is ("traceparent" not in meta)
        assert is_inside(rank, search)


def test_an_error_is_marked(spans: InMemorySpanExporter, config: ServerConfig, serve: Serve, shop: Path) -> None:
    with serve(config) as server:
        add(server, shop)
        index(shop)
        assert server.post("/search", json={"query": "(", "mode": "regex"}).status_code == 400
    assert named(spans, "search").status.status_code is trace.StatusCode.ERROR
    assert "not a regular expression" in str(named(spans, "rank").status.description)
    assert named(spans, "POST /search").status.status_code is trace.StatusCode.UNSET, "the client's fault"


def test_answers_calls_of_models_and_jobs_are_spans(
    spans: InMemorySpanExporter, config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED)) as (client, model):
        client.post("/ask", json={"question": QUESTION}).raise_for_status()
        name = f"openai:scripted@{model.base_url}/v1"
    job, call, request = (named(spans, name) for name in ("job", f"chat {name}", "POST /ask"))
    assert (job.attributes or {})["codefathom.project"] == "shop"
    assert (job.attributes or {})["codefathom.n_failed"] == 0
    assert (call.attributes or {})["gen_ai.usage.input_tokens"] == 900
    assert (call.attributes or {})["gen_ai.usage.output_tokens"] == 40
    assert is_inside(call, request)
    assert is_inside(named(spans, "answer: search"), request)


def test_nothing_is_imported_by_a_search_nor_where_there_is_none(shop: Path) -> None:
    index(shop)
    program = (
        "import sys\n"
        "sys.modules['opentelemetry'] = None\n"  # as where it is not installed
        "from codefathom.server.metrics import tracing\n"
        "from codefathom import telemetry\n"
        "assert not tracing.connect() and not telemetry.is_collected()\n"
        "with tracing.following({'traceparent': 'x'}), telemetry.span('a', b=1) as span: span.note(c=1)\n"
        "del sys.modules['opentelemetry']\n"
        "from codefathom.cli import main\n"
        f"main(['search', 'orders', '--project', {str(shop)!r}])\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=shop, timeout=LONG_S
    )
    assert ran.stdout.splitlines()[-1] == "[]", ran.stdout


def test_without_a_collector_a_span_is_nothing(server: httpx.Client) -> None:
    telemetry.collect_with(None)
    first, second = telemetry.span("a"), telemetry.span("b", c=1)
    assert first is second
    telemetry.take_over((telemetry.Past("a", 1, 2, -1, {}),))
    assert server.get("/health").status_code == 200


def test_nothing_is_measured_before_somebody_says_where_it_goes() -> None:
    try:
        assert tracing.connect(), "its API is installed here"
        assert not telemetry.is_collected()
        assert telemetry.span("a") is telemetry.span("b")
    finally:
        telemetry.collect_with(None)


def test_a_recording_keeps_order_times_values_and_errors() -> None:
    with telemetry.recording() as spans:
        with telemetry.span("outer", a=1) as outer, telemetry.span("inner"):
            outer.note(b=2)
        with pytest.raises(ValueError, match="why"), telemetry.span("last"):
            raise ValueError("why")
    assert [(past.name, past.parent, past.values, past.problem) for past in spans] == [
        ("outer", -1, {"a": 1, "b": 2}, ""),
        ("inner", 0, {}, ""),
        ("last", -1, {}, "ValueError: why"),
    ]
    assert all(0 < past.began_ns <= past.ended_ns for past in spans)
    assert telemetry.span("after") is telemetry.span("it")
