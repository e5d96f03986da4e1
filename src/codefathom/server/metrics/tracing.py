"""Spans for OpenTelemetry, where its API is installed. Where they go is up to whoever sets it up, as with
`opentelemetry-instrument fathom serve`; without that they go nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from codefathom.telemetry import Past, Span, Value, collect_with

try:
    from opentelemetry import context, propagate, trace
except ModuleNotFoundError:  # the extra `telemetry`
    HAS_API = False
else:
    HAS_API = True

_PREFIX = "codefathom."
REQUEST = "request"


def connect() -> bool:
    """Have the spans of this process go to OpenTelemetry, where there is one; return whether."""
    if HAS_API:
        collect_with(_OpenTelemetry())
    return HAS_API


@contextmanager
def following(headers: Mapping[str, str]) -> Iterator[None]:
    """Make what is measured in the block a part of what the caller of a request measures, as its headers say."""
    if not HAS_API or "traceparent" not in headers:
        yield
        return
    token = context.attach(propagate.extract(headers))
    try:
        yield
    finally:
        context.detach(token)


class _OpenTelemetry:
    def __init__(self) -> None:
        self._tracer = trace.get_tracer("codefathom")

    @property
    def is_on(self) -> bool:
        # Until somebody says where spans go, making them is work for nothing.
        return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider | trace.NoOpTracerProvider)

    @contextmanager
    def span(self, name: str, values: Mapping[str, Value], *, is_current: bool) -> Iterator[Span]:
        kind = trace.SpanKind.SERVER if name == REQUEST else trace.SpanKind.INTERNAL
        if is_current:
            with self._tracer.start_as_current_span(name, kind=kind, attributes=_named(values)) as span:
                yield _Noted(span)
            return
        span = self._tracer.start_span(name, kind=kind, attributes=_named(values))
        try:
            yield _Noted(span)
        except Exception as error:
            span.record_exception(error)
            span.set_status(trace.StatusCode.ERROR, f"{type(error).__name__}: {error}")
            raise
        finally:
            span.end()

    def past(self, spans: tuple[Past, ...]) -> None:
        made: list[trace.Span] = []
        for past in spans:
            parent = trace.set_span_in_context(made[past.parent]) if past.parent >= 0 else None
            span = self._tracer.start_span(
                past.name, context=parent, start_time=past.began_ns, attributes=_named(past.values)
            )
            if past.problem:
                span.set_status(trace.StatusCode.ERROR, past.problem)
            made.append(span)
        for span, past in zip(made, spans, strict=True):
            span.end(past.ended_ns)


class _Noted:
    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def note(self, **values: Value) -> None:
        name = values.pop("name", None)
        if name is not None:
            self._span.update_name(str(name))
        if isinstance(status := values.get("http_response_status_code"), int) and status >= 500:
            self._span.set_status(trace.StatusCode.ERROR)
        self._span.set_attributes(_named(values))


def _named(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return attributes by the names that OpenTelemetry has for them."""
    return {_STANDARD_NAMES.get(key, _PREFIX + key): value for key, value in values.items()}


_STANDARD_NAMES = {
    "http_request_method": "http.request.method",
    "http_response_status_code": "http.response.status_code",
    "http_route": "http.route",
    "url_path": "url.path",
    "model": "gen_ai.request.model",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
}
