"""How long a question to 100 and 1,000 shards would take, calculated from the times of real shards.

What is measured: the processor time of looks into each shard of a fleet of real repositories (its nearest vectors, and
the places of what was found), and the memory that a process has after it. What is assumed is in the constants below:
these are the limits of the calculation. It knows no network that is full, no queue before a busy machine, and no time
of the gateway; so it says how the time grows, and what the second question to the other machine changes.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from codefathom import Engine
from codefathom.fleet.cluster.ray_cluster import HEDGE_S
from codefathom.fleet.manifest import Shard
from codefathom.fleet.shard_vectors import ShardVectors
from codefathom.stores.vectors.flat_vectors import quantise_query
from codefathom.system.memory import resident_bytes

SHARD_LINES = 1_500_000  # of a shard of the usual size
_N_QUESTIONS = 2_000
_SHARDS_OF_MACHINE, _CORES = 10, 8
_ROUND_TRIPS = 10  # messages one after the other behind the look into all shards, each to a single machine
_MESSAGE_S = (0.0016, 0.0044)  # p50 and p95 of a message and its answer, measured on one machine (docs/scale.md)
_SLOW_SHARE, _SLOW_S = 0.002, 0.5  # messages that meet a machine which waits, such as for its disk; assumed
_NEAREST = 100


class ShardTimes(NamedTuple):
    """The measured looks."""

    seconds_of_line: Sequence[float]  # of a look into all of a shard, for one line of it
    n_lines: int
    bytes_of_lines: int  # of memory, more than before the first question


def measured(engine: Engine, questions: Sequence[str]) -> ShardTimes:
    """Ask each shard of a fleet, which is open on this machine, for what is nearest to each question."""
    before = resident_bytes()
    opened = engine.opened
    shards: dict[int, Shard] = opened.catalog.shards  # type: ignore[attr-defined]
    store = cast(ShardVectors, opened.views.vectors)
    samples: list[float] = []
    for is_first in (True, False):
        for question in questions:
            vector = quantise_query(opened.embedder.embed([question], "query"))
            for slot, shard in shards.items():
                began = time.thread_time()
                nearest = store._store(slot).nearest(vector, _NEAREST, None)
                opened.catalog.placed([key for key, _ in nearest])
                if not is_first:
                    samples.append((time.thread_time() - began) / shard.n_lines)
            engine.search(question)
    after = resident_bytes()
    n_bytes = after.own - before.own if before is not None and after is not None else 0
    return ShardTimes(samples, sum(shard.n_lines for shard in shards.values()), n_bytes)


def rows(times: ShardTimes, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield the calculated times of questions to so many shards, with and without a second question."""
    chance = random.Random(seed)
    for n_shards in (100, 1_000):
        lines = n_shards * SHARD_LINES
        for is_hedged in (False, True):
            answers = sorted(_question(times, n_shards, chance, is_hedged=is_hedged) for _ in range(_N_QUESTIONS))
            p50, p99 = (answers[int(_N_QUESTIONS * share)] * 1000 for share in (0.50, 0.99))
            how = f"asked again after {HEDGE_S * 1000:.0f} ms" if is_hedged else "asked once"
            machines = f"{n_shards // _SHARDS_OF_MACHINE} machines"
            yield (
                f"{n_shards:,} shards, {lines / 1e6:,.0f} million lines, {machines}, {how}",
                f"p50 {p50:.0f} ms, p99 {p99:.0f} ms",
            )


def _question(times: ShardTimes, n_shards: int, chance: random.Random, *, is_hedged: bool) -> float:
    machines = range(n_shards // _SHARDS_OF_MACHINE)
    widest = max(_answer(times, _SHARDS_OF_MACHINE, chance, is_hedged=is_hedged) for _ in machines)
    return widest + sum(_answer(times, 0, chance, is_hedged=is_hedged) for _ in range(_ROUND_TRIPS))


def _answer(times: ShardTimes, n_shards: int, chance: random.Random, *, is_hedged: bool) -> float:
    work = sum(chance.choice(times.seconds_of_line) for _ in range(n_shards)) * SHARD_LINES / min(_CORES, n_shards or 1)
    first = work + _message(chance)
    return min(first, HEDGE_S + work + _message(chance)) if is_hedged else first


def _message(chance: random.Random) -> float:
    median, high = _MESSAGE_S
    slow = chance.expovariate(1 / _SLOW_S) if chance.random() < _SLOW_SHARE else 0.0
    seconds: float = median * (high / median) ** (chance.gauss(0.0, 1.0) / 1.645) + slow
    return seconds


def simulate(engine: Engine, questions: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what was measured and what follows from it."""
    times = measured(engine, questions)
    samples = sorted(times.seconds_of_line)
    median = samples[len(samples) // 2] * SHARD_LINES
    yield "lines measured, looks", f"{times.n_lines:,}, {len(samples)}"
    yield "a look into a shard of 1.5 million lines, processor time, p50", f"{median * 1000:.0f} ms"
    yield "memory for a million lines", f"{times.bytes_of_lines / times.n_lines * 1e6 / 1e6:.0f} MB"
    yield from rows(times)


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that measures shards and calculates, in place of all else."""
    parser.add_argument("--simulate", action="store_true", help="calculate 100 and 1,000 shards from measured ones")
