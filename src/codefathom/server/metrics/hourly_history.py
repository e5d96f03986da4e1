"""The figures of a server by hour, kept for 30 days beside its other data: they survive a restart."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, log
from threading import Lock
from typing import Any, NamedTuple

from codefathom.server.metrics.counters import RequestRecord
from codefathom.server.server_database import ServerDatabase

HISTORY_FILE = "monitoring.db"  # in the data folder of the server
DAYS = 30
_HOUR_S = 3_600
_MOST_HOURS = DAYS * 24
_TABLES = "CREATE TABLE IF NOT EXISTS hours (at INTEGER PRIMARY KEY, figures TEXT NOT NULL);"
# Times are counted in steps of 10 percent, so that an hour needs little room, and hours of two processes add up.
_STEP = 1.1
_LOWEST, _HIGHEST = 1e-4, 3_600.0  # seconds
QUESTION_ROUTES = frozenset(
    {
        *("/search", "/federated/search", "/context"),
        *("/ask", "/ask/stream", "/ask/agent", "/query", "/v1/chat/completions"),
    }
)


class HourFigures(NamedTuple):
    """What a server did in one hour. Times of questions are until the answer began, exact to 5 percent."""

    at: int  # seconds since the epoch at which it began
    n_questions: int = 0  # searches, contexts, answers, calls of tools by agents
    n_failed: int = 0  # of them, for no fault of their own; they have no time
    p50_ms: float = 0.0
    p95_ms: float = 0.0
    n_answers: int = 0  # written by a model, or of excerpts
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None  # None: no price is known
    n_jobs: int = 0  # that ended
    n_failed_jobs: int = 0
    job_seconds: float = 0.0
    longest_job_s: float = 0.0
    memory_bytes: int = 0  # most of the server and its processes at once


class AnswerFigures(NamedTuple):
    """What an answer has used; `cost` is None where no price is known."""

    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass
class _Hour:
    """Sums and greatest values of an hour, which can be added to those of another process."""

    sums: Counter[str] = field(default_factory=Counter)
    amounts: dict[str, float] = field(default_factory=dict)  # sums of seconds, of money
    most: dict[str, float] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)  # steps of 10 percent, as text: keys of JSON

    def spend(self, name: str, amount: float) -> None:
        """Add to the amount of this name."""
        self.amounts[name] = self.amounts.get(name, 0.0) + amount

    def note(self, name: str, value: float) -> None:
        """Keep the greatest value of this name."""
        self.most[name] = max(value, self.most.get(name, 0.0))

    def as_json(self) -> dict[str, Any]:
        """Return all of it as `_hour_of` reads it."""
        return {"sums": self.sums, "amounts": self.amounts, "most": self.most, "times": self.times}

    def add(self, other: _Hour) -> None:
        """Take over what another has counted."""
        self.sums.update(other.sums)
        self.times.update(other.times)
        for name, amount in other.amounts.items():
            self.spend(name, amount)
        for name, value in other.most.items():
            self.note(name, value)


class HourlyHistory:
    """The hours of one server. Safe to use from several threads.

    What is counted is written by `save`, and whenever it is read: not by each request.
    """

    def __init__(self, data_dir: str, clock: Callable[[], float] = time.time) -> None:
        self._database = ServerDatabase(os.path.join(data_dir, HISTORY_FILE), _TABLES)
        self._clock = clock
        self._lock = Lock()
        self._new: dict[int, _Hour] = {}  # not written yet

    def add_request(self, request: RequestRecord) -> None:
        """Count a request over HTTP, if it is a question."""
        if request.method == "POST" and request.route in QUESTION_ROUTES:
            self.add_question(request.seconds, is_failed=request.is_failed)

    def add_question(self, seconds: float | None, *, is_failed: bool = False) -> None:
        """Count a question, and the time until its answer began; None: it never did."""
        with self._lock:
            hour = self._this_hour()
            hour.sums.update(n_questions=1, n_failed=int(is_failed))
            if seconds is not None and not is_failed:
                hour.times[str(_step_of(seconds))] += 1

    def add_answer(self, answer: AnswerFigures) -> None:
        """Count an answer that has ended."""
        used = {"prompt_tokens": answer.prompt_tokens, "completion_tokens": answer.completion_tokens}
        with self._lock:
            hour = self._this_hour()
            hour.sums.update(n_answers=1, **used)
            if answer.cost is not None:
                hour.spend("cost", answer.cost)

    def add_job(self, seconds: float, *, is_failed: bool) -> None:
        """Count a job that has ended."""
        with self._lock:
            hour = self._this_hour()
            hour.sums.update(n_jobs=1, n_failed_jobs=int(is_failed))
            hour.spend("job_seconds", seconds)
            hour.note("longest_job_s", seconds)

    def note_memory(self, n_bytes: int) -> None:
        """Note the memory that is used now."""
        with self._lock:
            self._this_hour().note("memory_bytes", n_bytes)

    def save(self) -> None:
        """Write what was counted since the last time, and forget hours that are older than 30 days."""
        with self._lock:
            new, self._new = self._new, {}
            try:
                self._write(new)
            except BaseException:
                self._new = new
                raise

    def hours(self, days: int = DAYS) -> tuple[HourFigures, ...]:
        """Return the hours of so many days in which something was done, the latest last."""
        self.save()
        oldest = self._clock() - days * 24 * _HOUR_S
        rows = self._database.read("SELECT at, figures FROM hours WHERE at > ? ORDER BY at", (oldest,))
        return tuple(_figures(at, _hour_of(text)) for at, text in rows)

    def close(self) -> None:
        """Write the rest and close the file."""
        try:
            self.save()
        finally:
            self._database.close()

    def _this_hour(self) -> _Hour:
        at = int(self._clock()) // _HOUR_S * _HOUR_S
        while len(self._new) >= _MOST_HOURS:  # nothing could be written for long
            del self._new[next(iter(self._new))]
        return self._new.setdefault(at, _Hour())

    def _write(self, new: dict[int, _Hour]) -> None:
        if not new:
            return
        with self._database.transaction():
            for at, hour in new.items():
                whole = _Hour()
                for (text,) in self._database.read("SELECT figures FROM hours WHERE at = ?", (at,)):
                    whole.add(_hour_of(text))
                whole.add(hour)
                figures = json.dumps(whole.as_json())
                self._database.write("INSERT OR REPLACE INTO hours (at, figures) VALUES (?, ?)", (at, figures))
            self._database.write("DELETE FROM hours WHERE at <= ?", (self._clock() - DAYS * 24 * _HOUR_S,))


def _hour_of(text: str) -> _Hour:
    kept: dict[str, Any] = json.loads(text)
    return _Hour(Counter(kept["sums"]), kept["amounts"], kept["most"], Counter(kept["times"]))


def _figures(at: int, hour: _Hour) -> HourFigures:
    sums, most = hour.sums, hour.most
    return HourFigures(
        at,
        n_questions=sums["n_questions"],
        n_failed=sums["n_failed"],
        p50_ms=_percentile_ms(hour.times, 50),
        p95_ms=_percentile_ms(hour.times, 95),
        n_answers=sums["n_answers"],
        prompt_tokens=sums["prompt_tokens"],
        completion_tokens=sums["completion_tokens"],
        cost=hour.amounts.get("cost"),
        n_jobs=sums["n_jobs"],
        n_failed_jobs=sums["n_failed_jobs"],
        job_seconds=round(hour.amounts.get("job_seconds", 0.0), 3),
        longest_job_s=round(most.get("longest_job_s", 0.0), 3),
        memory_bytes=int(most.get("memory_bytes", 0)),
    )


def _step_of(seconds: float) -> int:
    return ceil(log(min(max(seconds, _LOWEST), _HIGHEST)) / log(_STEP))


def _percentile_ms(times: Counter[str], share: int) -> float:
    """Return the time in milliseconds under which that share of the questions stayed; 0 without questions."""
    n_before = times.total() * share // 100
    for step, count in sorted((int(step), count) for step, count in times.items()):
        n_before -= count
        if n_before < 0:
            return float(f"{1_000 * _STEP ** (step - 0.5):.3g}")
    return 0.0
