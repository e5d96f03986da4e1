"""Counters of the server: requests, the times until their answers began, and recent failures. In memory.

An answer that is written begins with its first word. What has failed counts as failed, and its time as no time of an
answer: else a model that refuses at once would make the server look fast.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_MOST_TIMES = 2_000  # of a route, the last
_MINUTES = 60
_MOST_TIMES_A_MINUTE = 5_000
# Whoever opens the page or watches the service is not what keeps it busy.
_WATCHING = ("/monitoring/", "/metrics", "/health", "/readyz", "/session", "/version", "/assets/")
_PAGE = "/"
_MOST_FAILURES = 50


# What each name of /metrics means.
HELP = {
    "requests_total": "Requests by method, route and status.",
    "request_seconds": "Seconds until the answer to a request began, of a written answer until its first word; without "
    "requests that failed.",
    "failures_total": "Requests that failed for no fault of their own, and answers that failed after they had begun.",
    "requests_in_flight": "Requests that are being answered now.",
    "projects": "Projects of the server.",
    "opened_projects": "Projects whose index is open now.",
    "cache_entries": "Results of searches in the cache.",
    "cache_hits_total": "Searches that were answered from the cache.",
    "cache_misses_total": "Searches that were not in the cache.",
    "start_time_seconds": "Time at which the server started, in seconds since the epoch.",
    "memory_server_bytes": "Resident memory of the server process.",
    "memory_processes_bytes": "Resident memory of the processes that search and index for the server.",
    "jobs_running": "Indexing jobs that run now.",
    "jobs_queued": "Indexing jobs that wait.",
    "indexing_files_per_second": "Speed of the last finished indexing job that read files.",
    "indexing_bytes_per_second": "Speed of the last finished indexing job that read files, in bytes of source.",
}


class RequestRecord(NamedTuple):
    """A request that was answered."""

    method: str
    route: str  # with the names of its parts, such as /projects/{project_id}
    status: int
    seconds: float | None  # until the answer began, of a written one with its first word; None: it never did
    detail: str = ""  # what went wrong
    has_failed: bool = False  # also with a good status: an answer may fail after it has begun

    @property
    def is_failed(self) -> bool:
        """True if the request failed for no fault of its own."""
        return self.has_failed or self.status >= 500


class FailedRequest(NamedTuple):
    """A request that failed for no fault of its own."""

    at: float  # seconds since the epoch
    method: str
    route: str
    status: int
    detail: str


class RouteTimes(NamedTuple):
    """The times until the answers of a route began, in milliseconds, over the last requests that did not fail."""

    method: str
    route: str
    n_requests: int
    n_failed: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


class Minute(NamedTuple):
    """The requests of one minute, without those that only watch the service, and the times until answers began.

    Those that failed are counted, and have no time.
    """

    at: int  # seconds since the epoch at which it began
    n_requests: int
    n_failed: int
    p50_ms: float
    p95_ms: float


@dataclass
class _Route:
    statuses: Counter[int] = field(default_factory=Counter)
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    total_s: float = 0.0
    n_failed: int = 0
    times: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST_TIMES))

    @property
    def n_requests(self) -> int:
        return self.statuses.total()


@dataclass
class _Minute:
    at: int
    n_requests: int = 0
    n_failed: int = 0
    times: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST_TIMES_A_MINUTE))

    def told(self) -> Minute:
        """Return the minute as a value."""
        times = sorted(self.times)
        return Minute(self.at, self.n_requests, self.n_failed, _percentile(times, 50), _percentile(times, 95))


class ServerCounters:
    """Counts since the start of the server. Safe to use from several threads."""

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        on_request: Callable[[RequestRecord], None] = lambda _: None,
    ) -> None:
        """`on_request` is called with each request that is counted."""
        self._clock = clock
        self._on_request = on_request
        self._lock = Lock()
        self._routes: dict[tuple[str, str], _Route] = {}
        self._minutes: deque[Minute] = deque(maxlen=_MINUTES)  # those that are over
        self._minute = _Minute(0)  # this one
        self._failed: deque[FailedRequest] = deque(maxlen=_MOST_FAILURES)
        self.started_at = clock()
        self.n_in_flight = 0

    def begin(self) -> None:
        """Count a request that has come."""
        with self._lock:
            self.n_in_flight += 1

    def end(self) -> None:
        """Count it as gone."""
        with self._lock:
            self.n_in_flight -= 1

    def add(self, request: RequestRecord) -> None:
        """Count a request whose answer has begun, of a written answer one that has ended."""
        now = self._clock()
        seconds = None if request.is_failed else request.seconds
        with self._lock:
            route = self._routes.setdefault((request.method, request.route), _Route())
            route.statuses[request.status] += 1
            route.n_failed += request.is_failed
            if seconds is not None:
                route.buckets[bisect_left(BUCKETS_S, seconds)] += 1
                route.total_s += seconds
                route.times.append(seconds)
            if request.route != _PAGE and not request.route.startswith(_WATCHING):
                self._add_to_minute(int(now) // 60 * 60, seconds, request.is_failed)
            if request.is_failed:
                self._failed.append(FailedRequest(now, request.method, request.route, request.status, request.detail))
        self._on_request(request)

    def _add_to_minute(self, at: int, seconds: float | None, is_failed: bool) -> None:
        if self._minute.at != at:
            if self._minute.n_requests:
                self._minutes.append(self._minute.told())
            self._minute = _Minute(at)
        self._minute.n_requests += 1
        self._minute.n_failed += is_failed
        if seconds is not None:
            self._minute.times.append(seconds)

    def routes(self) -> list[RouteTimes]:
        """Return the times of each route, the one asked most first."""
        with self._lock:
            measured = [
                (key, (route.n_requests, route.n_failed), sorted(route.times)) for key, route in self._routes.items()
            ]
        routes = [
            RouteTimes(*key, *counts, _percentile(times, 50), _percentile(times, 95), _percentile(times, 99))
            for key, counts, times in measured
        ]
        return sorted(routes, key=lambda item: (-item.n_requests, item.route, item.method))

    def minutes(self) -> list[Minute]:
        """Return the requests of the last hour by minute, without the minutes that had none."""
        oldest = self._clock() - _MINUTES * 60
        with self._lock:
            this = [self._minute.told()] if self._minute.n_requests else []
            return [minute for minute in (*self._minutes, *this) if minute.at > oldest]

    def failed(self) -> list[FailedRequest]:
        """Return the last requests that failed, the latest first."""
        with self._lock:
            return list(reversed(self._failed))

    def prometheus(self, more: Mapping[str, float]) -> str:
        """Return all counts in the text format of Prometheus, with more values of now."""
        with self._lock:
            counts = [
                f'codefathom_requests_total{{{_labels(*key)},status="{status}"}} {count}'
                for key, route in self._routes.items()
                for status, count in route.statuses.items()
            ]
            failures = [
                f"codefathom_failures_total{{{_labels(*key)}}} {route.n_failed}" for key, route in self._routes.items()
            ]
            times = [
                line
                for key, route in self._routes.items()
                for line in _histogram(_labels(*key), route.buckets, route.total_s)
            ]
        lines = [*_about("requests_total", "counter"), *counts, *_about("failures_total", "counter"), *failures]
        lines += [*_about("request_seconds", "histogram"), *times]
        for name, value in {**more, "requests_in_flight": self.n_in_flight}.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [*_about(name, kind), f"codefathom_{name} {float(value)!r}"]
        return "\n".join(lines) + "\n"


def _about(name: str, kind: str) -> tuple[str, str]:
    return f"# HELP codefathom_{name} {HELP[name]}", f"# TYPE codefathom_{name} {kind}"


def _percentile(ordered: Sequence[float], share: int) -> float:
    """Return the time in milliseconds under which that share of the requests stayed; 0 without requests."""
    if not ordered:
        return 0.0
    return round(ordered[min(len(ordered) * share // 100, len(ordered) - 1)] * 1000, 3)


def _labels(method: str, route: str) -> str:
    return f'method="{method}",route="{route}"'


def _histogram(labels: str, buckets: Sequence[int], total_s: float) -> Iterable[str]:
    below = 0
    for limit, count in zip((*map(str, BUCKETS_S), "+Inf"), buckets, strict=True):
        below += count
        yield f'codefathom_request_seconds_bucket{{{labels},le="{limit}"}} {below}'
    yield f"codefathom_request_seconds_sum{{{labels}}} {total_s:.6f}"
    yield f"codefathom_request_seconds_count{{{labels}}} {below}"
