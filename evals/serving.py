"""A server under load: `python -m evals.serving`, or `make bench-serving`; `--short` for a look at it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from evals.health import watched_health
from evals.load import Clients, Reply, ask_all
from evals.metrics import percentile
from evals.mixed import MixedLoad, about_mixed_load, mixed_load
from evals.report import machine, table, write_section
from evals.server import Cpu, Server, queries, serving, trees

GOAL_RATIO = 10.0
GOAL_CROWD = 12.0  # the p50 of CROWD clients, times that of one
GOAL_READERS = 3.0  # the p95 of readers with one question, times that of one client
GOAL_HEALTH_MS = 100.0
CROWD = 50
WARMED_UP = 2_000  # requests, after which caches of the server are full
FLAT_BYTES = 1_000  # most growth of memory with one request after that
QUIET = 0.5  # load average of a machine that does nothing else
EVERY = 100  # requests between two samples of memory
MANY = 200
NOW_AND_THEN_S = 10.0  # within which MANY readers ask one question
READERS = "one question, each client once in ten seconds"
HEAD = """\
# Serving

One `fathom serve` with its default settings on loopback. The clients run on the same machine:
{machine}.
{busy}Projects: {projects}.

No search is asked twice, so no result comes from a cache: each search asks for the first sentence of the documentation
of another definition. "While indexing" means: at the same time, the server indexes a third project again and again,
each time from the beginning. That project is a second copy of the standard library. The last two columns are the
processor time of one search: in the server (HTTP, JSON, the check for changed files) and in the processes that search.
"""
BUSY = """\
Other programs used the machine when the measurement began (load {load:.1f}). So all times, and the ratios of times, are
larger than on a free machine.
"""


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much is asked."""

    n_idle: int = 500
    n_loaded: int = 2_000
    n_long: int = 10_000
    every_s: float = 10.0
    minutes: float = 10.0  # of mixed load
    rounds: int = 3  # of those who ask now and then


SHORT = Amounts(n_idle=100, n_loaded=400, n_long=1_000, every_s=5.0, minutes=1.0, rounds=1)


@dataclass(frozen=True, slots=True)
class Wave:
    """Searches of some clients, and what they took."""

    name: str
    clients: Clients
    replies: Sequence[Reply]
    seconds: float
    cpu: Cpu
    health_s: Sequence[float]  # of /health meanwhile

    @property
    def n_errors(self) -> int:
        """How many got no result."""
        return sum(reply.status != 200 for reply in self.replies)

    def ms(self, percent: float) -> float:
        """Return within how many milliseconds that share of the answers came."""
        return percentile([reply.seconds for reply in self.replies], percent) * 1000


@dataclass(frozen=True, slots=True)
class Held:
    """Memory of the server and its processes after so many requests."""

    n_requests: int
    n_bytes: int


@dataclass
class Measured:
    """All that was measured."""

    load_average: float
    n_files: dict[str, int] = field(default_factory=dict)
    waves: list[Wave] = field(default_factory=list)
    n_jobs: int = 0
    held: list[Held] = field(default_factory=list)
    mixed: MixedLoad | None = None


def main(words: Sequence[str] | None = None) -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(prog="python -m evals.serving", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--short", action="store_true", help="fewer requests: a look, no measurement")
    parser.add_argument("--only", choices=("load", "memory", "readers", "mixed"), help="one part of it")
    parser.add_argument("--minutes", type=float, help="of mixed load, in place of the usual time")
    parser.add_argument("--page", default="", help="page to write into, such as docs/benchmarks-operations.md")
    arguments = parser.parse_args(words)
    amounts = SHORT if arguments.short else Amounts()
    measured = Measured(os.getloadavg()[0])
    with TemporaryDirectory(prefix="fathom-serving-") as name:
        if arguments.only != "mixed":
            _searches(Path(name), arguments.only, amounts, measured)
        if arguments.only in (None, "mixed"):
            measured.mixed = mixed_load(Path(name) / "mixed", arguments.minutes or amounts.minutes)
    text = page(measured)
    print(text)
    if arguments.page:
        write_section(Path(arguments.page), "make bench-serving", text)
    return 0


def _searches(folder: Path, only: str | None, amounts: Amounts, measured: Measured) -> None:
    laid = trees(folder)
    asked = queries(laid)
    with serving(folder) as server:
        measured.n_files = server.add(laid)
        if only != "memory":
            ask_all(server.address, "/search", islice(asked, 50), Clients(2))
            measured.waves.append(_wave("one at a time", server, islice(asked, amounts.n_idle), Clients(1)))
        if only in (None, "readers"):
            _readers(server, asked, amounts, measured)
        if only in (None, "load"):
            _load(server, asked, amounts, measured)
        if only in (None, "memory"):
            _memory(server, asked, amounts, measured)


def _readers(server: Server, asked: Iterator[object], amounts: Amounts, measured: Measured) -> None:
    waves = measured.waves
    waves.append(_wave("each client without a pause", server, islice(asked, amounts.n_loaded), Clients(CROWD)))
    one_question = [next(asked)] * MANY
    waves.append(_wave(READERS, server, one_question, Clients(MANY, NOW_AND_THEN_S)))


def _load(server: Server, asked: Iterator[object], amounts: Amounts, measured: Measured) -> None:
    now_and_then = Clients(MANY, amounts.every_s)
    waves = measured.waves
    with server.indexing() as jobs:
        waves.append(_wave("one at a time, while indexing", server, islice(asked, amounts.n_idle), Clients(1)))
        waves.append(
            _wave(
                f"each client every {amounts.every_s:g} s, while indexing",
                server,
                islice(asked, amounts.rounds * MANY),
                now_and_then,
            )
        )
        waves.append(
            _wave("each client without a pause, while indexing", server, islice(asked, amounts.n_loaded), Clients(MANY))
        )
    measured.n_jobs = jobs.n_done
    waves.append(_wave("each client without a pause", server, islice(asked, amounts.n_loaded), Clients(MANY)))


def _wave(name: str, server: Server, asked: Iterable[object], clients: Clients) -> Wave:
    before, started = server.cpu(), time.perf_counter()
    with watched_health(server.address) as health_s:
        replies = ask_all(server.address, "/search", asked, clients)
    wave = Wave(name, clients, replies, time.perf_counter() - started, server.cpu() - before, health_s)
    print(f"{name}, {clients.number}: p95 {wave.ms(95):.1f} ms, {wave.n_errors} errors", flush=True)
    for reply in [reply for reply in replies if reply.status != 200][:3]:
        print(reply.status, reply.body[:300], flush=True)
    return wave


def _memory(server: Server, asked: Iterator[object], amounts: Amounts, measured: Measured) -> None:
    measured.held.append(Held(0, server.held()))
    n_asked = 0

    def sample() -> None:
        nonlocal n_asked
        n_asked += 1
        if n_asked % EVERY == 0:
            measured.held.append(Held(n_asked, server.held()))

    before, started, clients = server.cpu(), time.perf_counter(), Clients(32)
    with watched_health(server.address) as health_s:
        replies = ask_all(server.address, "/search", islice(asked, amounts.n_long), clients, sample)
    took_s = time.perf_counter() - started
    name = "the searches of the memory test"
    measured.waves.append(Wave(name, clients, replies, took_s, server.cpu() - before, health_s))


def growth(held: Sequence[Held]) -> float:
    """Return by how many bytes memory grew with each request: the slope of the line through the samples."""
    if len(held) < 2:
        return 0.0
    mean_x = sum(one.n_requests for one in held) / len(held)
    mean_y = sum(one.n_bytes for one in held) / len(held)
    spread = sum((one.n_requests - mean_x) ** 2 for one in held)
    return sum((one.n_requests - mean_x) * (one.n_bytes - mean_y) for one in held) / spread


def page(measured: Measured) -> str:
    """Return the page."""
    cores = os.cpu_count() or 1
    head = HEAD.format(
        machine=machine(),
        busy=BUSY.format(load=measured.load_average) if measured.load_average > QUIET else "",
        projects=", ".join(f"{name} ({count} files)" for name, count in measured.n_files.items()),
    )
    parts = [] if measured.mixed and not measured.waves and not measured.held else [head.strip()]
    if measured.waves:
        parts += ["## Searches", _table(measured.waves)]
        parts += _judged(measured.waves, cores)
    if measured.held:
        parts += ["## Memory", *_about_memory(measured.held)]
    if measured.mixed is not None:
        parts += ["## Mixed load", *about_mixed_load(measured.mixed)]
    return "\n\n".join(parts) + "\n"


def _table(waves: Sequence[Wave]) -> str:
    idle_ms = waves[0].ms(95)
    processor = ("processor, server (ms)", "processor, searching (ms)")
    columns = ("", "clients", "searches", "errors", "per second", "p50 (ms)", "p95 (ms)", "p95, times the first row's")
    return table(
        (*columns, "p50, times the first row's", "slowest /health (ms)", *processor),
        [
            (
                wave.name,
                str(wave.clients.number),
                str(len(wave.replies)),
                str(wave.n_errors),
                f"{len(wave.replies) / wave.seconds:.0f}",
                f"{wave.ms(50):.1f}",
                f"{wave.ms(95):.1f}",
                f"{wave.ms(95) / idle_ms:.1f}",
                f"{wave.ms(50) / waves[0].ms(50):.1f}",
                f"{max(wave.health_s) * 1000:.0f}",
                f"{wave.cpu.server_s / len(wave.replies) * 1000:.1f}",
                f"{wave.cpu.searching_s / len(wave.replies) * 1000:.1f}",
            )
            for wave in waves
        ],
    )


def _judged(waves: Sequence[Wave], cores: int) -> Iterator[str]:
    """Say how far the goal was reached, and what the processors allow."""
    idle_ms = waves[0].ms(95)
    n_errors = sum(wave.n_errors for wave in waves)
    yield f"Errors: {n_errors} (goal: 0)."
    slowest_ms = max(max(wave.health_s) for wave in waves) * 1000
    yield f"The slowest /health took {slowest_ms:.0f} ms ({_goal(slowest_ms, GOAL_HEALTH_MS)} ms)."
    for wave in waves:
        if wave.name == READERS:
            ratio = wave.ms(95) / idle_ms
            yield (
                f"{MANY} readers at one question in {NOW_AND_THEN_S:g} s: the p95 is {ratio:.1f} times "
                f"that of one client ({_goal(ratio, GOAL_READERS)})."
            )
        elif wave.clients.number == CROWD:
            ratio = wave.ms(50) / waves[0].ms(50)
            bound = CROWD * _processor_s(wave) / cores / _processor_s(waves[0])
            yield (
                f"{CROWD} clients without a pause: the p50 is {ratio:.1f} times that of one client "
                f"({_goal(ratio, GOAL_CROWD)}).\n"
                f"At the processor time of these searches, {cores} free processors allow {bound:.1f} times."
            )
    for wave in waves:
        if wave.clients.number == MANY and "indexing" in wave.name:
            ratio = wave.ms(95) / idle_ms
            goal = _goal(ratio, GOAL_RATIO)
            yield f"{MANY} clients, {wave.name}: the p95 is {ratio:.1f} times that of one client ({goal})."
    each_s = _processor_s(waves[0])
    if each_s:
        bound_s = 0.95 * MANY * each_s / cores
        yield (
            f"One search takes {each_s * 1000:.1f} ms of a processor. If {MANY} searches arrive at the same time, "
            f"{cores} processors that do nothing else\nneed {bound_s:.2f} s for 95 % of them: "
            f"{bound_s * 1000 / idle_ms:.0f} times the p95 of one client. Another order of the queue does not change\n"
            "this. Only less work for each search or more processors change it."
        )


def _goal(value: float, most: float) -> str:
    return f"{'reached' if value <= most else 'missed'}; goal: at most {most:g}"


def _processor_s(wave: Wave) -> float:
    return (wave.cpu.server_s + wave.cpu.searching_s) / len(wave.replies)


def _about_memory(held: Sequence[Held]) -> Iterator[str]:
    late = [one for one in held if one.n_requests >= WARMED_UP]
    slope = growth(late)
    if len(late) > 1:
        verdict = "flat" if slope < FLAT_BYTES else "growing"
        yield (
            "The table shows the memory of the server and its processes together, "
            f"during {held[-1].n_requests} searches by 32 clients.\n"
            f"A sample is taken every {EVERY} searches. After the first {WARMED_UP} searches, the line "
            f"through the samples rises by {slope:.0f} bytes with each search:\nmemory is {verdict} "
            f"(it is called flat if it rises by less than {FLAT_BYTES} bytes)."
        )
    shown = [one for one in held if one.n_requests % max(held[-1].n_requests // 10, 1) == 0]
    yield table(("searches", "memory (MB)"), [(str(one.n_requests), f"{one.n_bytes / 1e6:.1f}") for one in shown])


if __name__ == "__main__":
    sys.exit(main())
