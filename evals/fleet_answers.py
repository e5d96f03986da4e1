"""Compares the answers of a fleet with those of one index, over the repositories of the development benchmark.

    BENCH_DIR=... BENCH_CORPORA=... python -m evals.fleet_answers [--corpus NAME]... [--whole] [--keep FOLDER]
    ... python -m evals.fleet_answers --cluster [--most-questions N]
    ... python -m evals.fleet_answers --whole --equal-files

Each repository is a shard of its own. The one index holds the same text: files that are equal to one of a repository
before them are left out of it, as a fleet indexes them once. The first ten of each question are compared: places,
scores and reasons. With `--cluster` the fleet is asked once more, on three nodes of Ray that are processes of this
machine, with what a question costs there beside the looks into the shards, and how much memory is held. `--whole` takes
the whole trees, in place of the parts that the benchmark indexes. `--equal-files` says how many answers differ from
those of one index that has the equal files, too. `--keep` keeps copies and indexes for the next run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from codefathom import Engine
from codefathom.fleet import fleet_run
from codefathom.fleet.cluster.ray_cluster import RayCluster
from codefathom.fleet.cluster.shard_calls import ShardList
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.manifest import Manifest
from codefathom.project.location import locate
from codefathom.types import SearchResult
from evals.benchmark import CHINESE, Corpus, bench_folder, development, lay
from evals.fleet_nodes import three_nodes
from evals.memory import bytes_held
from evals.run import REPOSITORY

_N_HITS = 10
_MOST_SHOWN = 20
_LIMIT_S = 300.0  # of a question; it takes milliseconds
_FLEET, _ALL, _DISTINCT = "answers", "all", "distinct"


def main(words: Sequence[str] | None = None) -> int:
    """Compare, and print what came of it; 1 where an answer differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="append", default=[], help="only these repositories")
    parser.add_argument("--whole", action="store_true", help="whole trees")
    parser.add_argument("--cluster", action="store_true", help="ask three nodes of Ray, too")
    parser.add_argument("--equal-files", action="store_true", help="compare with an index of the equal files, too")
    parser.add_argument("--most-questions", type=int, default=sys.maxsize)
    parser.add_argument("--keep", type=Path, help="the folder for copies and indexes, which stays")
    options = parser.parse_args(words)
    corpora = development(
        bench_folder(), Path(os.environ.get("BENCH_CORPORA") or REPOSITORY / ".bench-corpora"), options.corpus
    )
    questions = [item.text for corpus in corpora for item in corpus.questions if item.category != CHINESE]
    step = max(1, len(questions) // options.most_questions)
    fleet_run.MOST_BYTES = 1  # a shard for each repository
    with nullcontext(options.keep) if options.keep else TemporaryDirectory(prefix="fathom-answers-") as name:
        folder = Path(name).resolve()
        os.environ["FATHOM_STATE_DIR"] = str(folder / "state")
        os.environ.setdefault("FATHOM_CACHE_DIR", str(folder / "cache"))
        root = _made(corpora, folder, is_whole=options.whole)
        n_different = 0
        trial = _Trial(root, folder, questions[::step])
        n_different = 0
        for said, value in trial.rows(is_clustered=options.cluster, has_equal=options.equal_files):
            n_different += value if isinstance(value, int) else 0
            print(f"| {said} | {value} |", flush=True)
    return 1 if n_different else 0


def _made(corpora: Sequence[Corpus], folder: Path, *, is_whole: bool) -> str:
    """Have the fleet, and the folder of its distinct text; return the root of the fleet."""
    for corpus in corpora:
        if not (folder / _ALL / corpus.name).exists():
            lay(replace(corpus, inner="") if is_whole else corpus, folder / _ALL)
    with Fleet.make(_FLEET) as fleet:
        fleet.add([str(folder / _ALL / corpus.name) for corpus in corpora])
        fleet.index()
        root = fleet.root
    if not (folder / _DISTINCT).exists():
        shutil.copytree(folder / _ALL, folder / _DISTINCT, symlinks=True)
        manifest = Manifest(root)
        for path in (folder / _DISTINCT).rglob("*"):
            own = path.relative_to(folder / _DISTINCT).as_posix()
            if path.is_file() and manifest.home_of(own) != own:
                path.unlink()
        manifest.close()
    return root


class _Trial(NamedTuple):
    """A fleet, the folder with the text for one index, and questions."""

    root: str
    folder: Path
    questions: Sequence[str]

    def rows(self, *, is_clustered: bool, has_equal: bool) -> Iterator[tuple[str, int | str]]:
        """Yield what was compared, with the number of differences, and what it costs on a cluster."""
        yield "questions", f"{len(self.questions)}"
        there: list[SearchResult] = []
        if is_clustered:  # first, as then the process holds nothing else
            yield from self._on_nodes(there)
        with Engine.open(self.root) as fleet, Engine.open(str(self.folder / _DISTINCT), is_root=True) as one:
            one.index()
            yield "shards, lines, chunks", _extent(fleet)
            yield "chunks of one index", f"{one.opened.catalog.n_chunks():,}"
            here, expected = self._answers(fleet), self._answers(one)
        yield "first ten that differ: one machine and one index", _n_different(self.questions, here, expected)
        if is_clustered:
            yield "first ten that differ: three nodes and one index", _n_different(self.questions, there, expected)
        if has_equal:
            with Engine.open(str(self.folder / _ALL), is_root=True) as several:
                several.index()
                yield "chunks of one index with equal files", f"{several.opened.catalog.n_chunks():,}"
                pairs = list(zip(here, self._answers(several), strict=True))
            n_scores = sum(_seen(fleet_result) != _seen(other) for fleet_result, other in pairs)
            n_places = sum(_places(fleet_result) != _places(other) for fleet_result, other in pairs)
            yield "first ten that differ from it: scores, places", f"{n_scores}, {n_places}"

    def _on_nodes(self, answers: list[SearchResult]) -> Iterator[tuple[str, str]]:
        """Ask three nodes, and yield what a question costs there."""
        settings = locate(self.root, is_root=True).settings
        with three_nodes() as nodes:
            search = settings.search._replace(fleet_cluster=nodes.address, fleet_timeout_s=_LIMIT_S)
            with Engine.open(self.root, settings=settings._replace(search=search)) as engine:
                before = bytes_held(os.getpid(), alone=True)
                answers += self._answers(engine)
                yield from _costs(engine, self.questions)
                yield "memory of the gateway before the first question", f"{before / 1e6:.0f} MB"

    def _answers(self, engine: Engine) -> list[SearchResult]:
        return [engine.search(question, limit=_N_HITS) for question in self.questions]


def _extent(engine: Engine) -> str:
    shards: Any = engine.opened.catalog
    return f"{len(shards.shards)}, {_n_lines(engine):,}, {shards.n_chunks():,}"


def _n_lines(engine: Engine) -> int:
    shards: Any = engine.opened.catalog
    return sum(shard.n_lines for shard in shards.shards.values())


def _n_different(questions: Sequence[str], results: Sequence[SearchResult], expected: Sequence[SearchResult]) -> int:
    """Count the questions whose first ten differ, and show some of them."""
    pairs = zip(questions, results, expected, strict=True)
    different = [(question, *map(_seen, pair)) for question, *pair in pairs if _seen(pair[0]) != _seen(pair[1])]
    for question, result, other in different[:_MOST_SHOWN]:
        print(f"{question!r}: {next(_differences(result, other), 'more hits')}", file=sys.stderr)
    return len(different)


def _differences(result: Sequence[Any], expected: Sequence[Any]) -> Iterator[str]:
    for place, (hit, other) in enumerate(zip(result, expected, strict=False), start=1):
        if hit != other:
            yield f"place {place} is {hit} and not {other}"


def _seen(result: SearchResult) -> list[tuple[Any, ...]]:
    """Return what is compared of an answer; notes about other places of a file are those of a fleet alone."""
    return [
        (hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line, hit.score, hit.reason, result.confidence)
        for hit in result.hits
    ]


def _places(result: SearchResult) -> list[tuple[str, int, int]]:
    return [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in result.hits]


class _Cost(NamedTuple):
    """What one question took on the cluster, in milliseconds."""

    whole: float
    processor: float  # of the thread that asks
    in_rounds: float  # from the first message of each round to its last answer
    slowest_shard: float  # in each round of messages, summed up
    slowest_node: float  # the same, of all shards that one node was asked for
    n_rounds: int


class _Rounds:
    """Stands before the cluster of an engine, and measures the rounds of messages of a question."""

    def __init__(self, cluster: RayCluster, shards: ShardList) -> None:
        self._cluster, self._shards = cluster, shards
        self._nodes = {shard.slot: cluster.machines.in_order(shard.folder)[0] for shard in shards.listed}
        self._before = self._seconds()
        self.clear()

    def clear(self) -> None:
        """Begin with a question."""
        self.slowest_shard = self.slowest_node = self.in_rounds = self.aside = self.aside_processor = 0.0
        self.n_rounds = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    def ask(self, shards: ShardList, calls: Sequence[Any], limit_s: float) -> Any:
        """Ask, and then see how long each shard was at work."""
        sent = time.perf_counter()
        replies = self._cluster.ask(shards, calls, limit_s)
        began, began_processor = time.perf_counter(), time.thread_time()
        self.in_rounds += began - sent
        seconds = self._seconds()
        of_nodes = dict.fromkeys(self._nodes.values(), 0.0)
        spent = {slot: seconds[slot] - self._before[slot] for slot in {call.slot for call in calls}}
        for slot, value in spent.items():
            of_nodes[self._nodes[slot]] += value
        self.slowest_shard += max(spent.values(), default=0.0)
        self.slowest_node += max(of_nodes.values(), default=0.0)
        self.n_rounds += 1
        self._before = seconds
        self.aside += time.perf_counter() - began
        self.aside_processor += time.thread_time() - began_processor
        return replies

    def _seconds(self) -> dict[int, float]:
        return {slot: state.seconds for slot, state in self._cluster.look(self._shards, _LIMIT_S).items()}


def _costs(engine: Engine, questions: Sequence[str]) -> Iterator[tuple[str, str]]:
    shards: Any = engine.opened.catalog
    cluster = RayCluster.connect(engine.settings.search.fleet_cluster)
    times = [_seconds_of(engine, question) for question in questions]
    shards._cluster = rounds = _Rounds(cluster, shards._list)
    costs = [_cost(engine, rounds, question) for question in questions]
    shards._cluster = cluster
    yield "a question on three nodes, p50", f"{median(times) * 1000:.1f} ms"
    yield "rounds of messages, p50", f"{median(cost.n_rounds for cost in costs):.0f}"
    yield "slowest shard of each round, p50", f"{median(cost.slowest_shard for cost in costs):.1f} ms"
    yield "slowest node of each round, p50", f"{median(cost.slowest_node for cost in costs):.1f} ms"
    for said, above in (
        ("gateway above the slowest shard", [cost.whole - cost.slowest_shard for cost in costs]),
        ("gateway above the slowest node", [cost.whole - cost.slowest_node for cost in costs]),
        ("messages above the slowest node", [cost.in_rounds - cost.slowest_node for cost in costs]),
        ("gateway without the rounds of messages", [cost.whole - cost.in_rounds for cost in costs]),
        ("processor time of the gateway", [cost.processor for cost in costs]),
    ):
        yield f"{said}, p50", f"{median(above):.1f} ms"
    yield from _memory(cluster, _n_lines(engine))


def _cost(engine: Engine, rounds: _Rounds, question: str) -> _Cost:
    rounds.clear()
    began = time.thread_time()
    seconds = _seconds_of(engine, question) - rounds.aside
    processor = time.thread_time() - began - rounds.aside_processor
    in_rounds, of_shard, of_node = (
        1000 * part for part in (rounds.in_rounds, rounds.slowest_shard, rounds.slowest_node)
    )
    return _Cost(1000 * seconds, 1000 * processor, in_rounds, of_shard, of_node, rounds.n_rounds)


def _seconds_of(engine: Engine, question: str) -> float:
    began = time.perf_counter()
    engine.search(question, limit=_N_HITS)
    return time.perf_counter() - began


def _memory(cluster: RayCluster, n_lines: int) -> Iterator[tuple[str, str]]:
    """Yield what the gateway and the actors hold; pages that they share count once."""
    import ray

    actors = [cluster.machines.actor(node) for node in cluster.machines.usable()]
    processes = ray.get([actor.__ray_call__.remote(lambda _: os.getpid()) for actor in actors], timeout=_LIMIT_S)
    of_actors = [bytes_held(process, alone=True) for process in processes]
    gateway = bytes_held(os.getpid(), alone=True)
    shown = ", ".join(f"{size / 1e6:.0f}" for size in of_actors)
    yield "memory of the gateway, of the actors", f"{gateway / 1e6:.0f}; {shown} MB"
    whole = gateway + sum(of_actors)
    yield "memory of all of them for a million lines", f"{whole / n_lines:.0f} MB ({whole / 1e6:.0f} MB in all)"


if __name__ == "__main__":
    raise SystemExit(main())
