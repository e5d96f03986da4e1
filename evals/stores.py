"""Stores of vectors beside each other: `python -m evals.stores --rows 100000`, or `make bench-stores`.

Each store is measured in a process of its own, `flat` first, in the same run. The rows are made: thousands of centres
with noise around them, which is easier for an approximate index than the rows of real code are. `--ranking` asks the
development benchmark with each store and compares the lists of hits with those of `flat`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from codefathom.stores.base import Row
from codefathom.stores.catalog.records import CatalogChanges
from codefathom.stores.folder import folder_at
from codefathom.stores.rescored import RescoredStore, RowsOf
from codefathom.stores.vectors.candidates import StoreOptions, StoreSetup
from codefathom.stores.vectors.flat_vectors import FlatVectorStore
from codefathom.stores.vectors.nearest import nearest_rows, table_of
from codefathom.system.adapters import VECTOR_STORES, load
from codefathom.types import Chunk, Filter
from evals.benchmark import bench_folder, development
from evals.memory import bytes_held, run_watched
from evals.metrics import Found, percentile
from evals.report import headline, machine, number, table, write_section
from evals.run import REPOSITORY, run_tools

DIMENSIONS = 256
N_CENTRES, N_QUERIES, N_NEAREST, N_UPDATED = 4_000, 60, 100, 1_000
LANGUAGES = tuple(f"language{number}" for number in range(50))  # a filter lets a fiftieth pass
# Name on the page: the store, its options, and whether it is for one hundred thousand rows only.
KINDS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "flat": ("flat", {}),
    "faiss": ("faiss", {}),
    "faiss-cells": ("faiss", {"exact": False}),
    "duckdb": ("duckdb", {}),
    "postgres": ("postgres", {}),
    "postgres-hnsw": ("postgres", {"exact": False}),
    "chroma": ("chroma", {}),
    "qdrant": ("qdrant", {}),
}
# With more rows their graphs take too long to build, and there is no server of Qdrant; `--store` measures them all the
# same.
MOST_ROWS = {"postgres-hnsw": 100_000, "chroma": 100_000, "qdrant": 0}
HEAD = """\
# Stores of vectors

Machine: {machine}. Rows of {dimensions} dimensions, made of {n_centres:,} centres and noise. Each store runs in a
process of its own. Times of queries are those of {n_queries} questions for the {n_nearest} nearest, with the second
look at the catalogue's rows that each candidate gets; "÷ flat" is the median divided by that of `flat` in the same run.
"Filtered" lets a fiftieth of the rows pass. "Update" is one commit of {n_updated:,} changed rows. "Memory" is the most
that the process and the server of the store hold together, with the rows of the catalogue, which a real search leaves
on the disk: they are the same for all. "Same" is the share of the nearest rows that the store names.
HNSW and Chroma are left out with a million rows: their graphs take too long to build. PostgreSQL has 1 GB of
`maintenance_work_mem`. Times of Qdrant are not measured: its server cannot be installed from a registry, and the
ranking below comes from the small server of the tests.
"""
COLUMNS = (
    "store",
    "rows",
    "build (s)",
    "query p50 (ms)",
    "p95 (ms)",
    "÷ flat",
    "filtered p50 (ms)",
    "update (s)",
    "disk (MB)",
    "memory (MB)",
    "same",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One store with some number of rows."""

    build_s: float
    query_ms: Sequence[float]
    filtered_ms: Sequence[float]
    update_s: float
    disk_bytes: int
    same: float  # share of the nearest rows that were found


class Place(NamedTuple):
    """Where a store is."""

    url: str = ""
    key: str = ""
    pid: int = 0  # of its server
    folder: str = ""  # of its server's data


class MadeRows:
    """A catalogue of made rows, in memory."""

    generation = 1

    def __init__(self, n_rows: int) -> None:
        random = np.random.default_rng(7)
        centres = random.normal(size=(N_CENTRES, DIMENSIONS))
        self.matrix = np.empty((n_rows, DIMENSIONS), np.int8)
        for start in range(0, n_rows, 50_000):
            n = min(50_000, n_rows - start)
            rows = centres[random.integers(N_CENTRES, size=n)] + 0.7 * random.normal(size=(n, DIMENSIONS))
            largest = np.abs(rows).max(axis=1, keepdims=True)
            self.matrix[start : start + n] = np.rint(rows / largest * 127)
        self.written: list[int] = []  # by the last update

    def queries(self) -> list[bytes]:
        """Return rows with more noise."""
        random = np.random.default_rng(8)
        rows = self.matrix[random.integers(len(self.matrix), size=N_QUERIES)].astype(np.float64)
        rows += random.normal(scale=20, size=rows.shape)
        return [row.tobytes() for row in np.clip(np.rint(rows), -127, 127).astype(np.int8)]

    def change(self, keys: Sequence[int]) -> None:
        """Give rows new vectors."""
        self.matrix[list(keys)] = np.roll(self.matrix[list(keys)], 1, axis=1)
        self.written, self.generation = list(keys), self.generation + 1

    def rows(self, model: str, keys: Collection[int]) -> dict[int, bytes]:
        """Return the vectors of keys."""
        return {key: self.matrix[key].tobytes() for key in keys}

    def vectors(self, model: str, since: int = 0) -> Iterator[Row]:
        """Yield the rows that came after a generation."""
        keys: Sequence[int] = range(len(self.matrix)) if since == 0 else self.written
        return (Row(key, self.matrix[key].tobytes()) for key in keys)

    def chunks(self, keys: Collection[int]) -> dict[int, Chunk]:
        """Return a chunk of usual size for each key."""
        return {key: _chunk(key) for key in keys}

    def changes(self, since: int) -> CatalogChanges:
        """Return no removed keys."""
        return CatalogChanges(iter(()), [], True)

    def modified_s(self, paths: Collection[str]) -> dict[str, float]:
        """Return nothing."""
        return {}

    def n_rows(self, model: str) -> int:
        """Count the rows."""
        return len(self.matrix)

    def rewritten(self, since: int) -> list[int]:
        """Return nothing."""
        return []


def _chunk(key: int) -> Chunk:
    text = f"def function_{key}(order):\n" + "    total = order.price * order.amount\n" * 18
    language = LANGUAGES[key % len(LANGUAGES)]
    return Chunk(f"id-{key}", f"src/part{key % 997}/file{key // 9}.x", language, "function", "", (), 1, 19, text)


def main(words: Sequence[str] | None = None) -> int:
    """Measure the stores that can be had here, print a line for each and write the page."""
    arguments = _arguments().parse_args(words)
    if arguments.one:
        kind, options = KINDS[arguments.one]
        place = Place(arguments.url, os.environ.get("FATHOM_BENCH_KEY", ""), folder=arguments.data)
        print(json.dumps(asdict(measure(kind, options, int(arguments.rows), place, Path(arguments.folder)))))
        return 0
    lines = []
    for n_rows in map(int, arguments.rows.split(",")) if arguments.rows else ():
        flat_ms = 0.0
        for name in arguments.store or [name for name in KINDS if n_rows <= MOST_ROWS.get(name, n_rows)]:
            measured, n_bytes = _in_process(name, n_rows)
            flat_ms = flat_ms or percentile(measured.query_ms, 50)
            lines.append(_line(name, n_rows, measured, n_bytes, flat_ms))
            print(table(COLUMNS, [lines[-1]]).splitlines()[-1], flush=True)
    ranking = _rankings(arguments.ranking, arguments.corpus) if arguments.ranking else ""
    print(ranking)
    if arguments.page:
        write_section(Path(arguments.page), "make bench-stores", _page(lines, ranking))
    return 0


def measure(kind: str, options: Mapping[str, Any], n_rows: int, place: Place, folder: Path) -> Measured:
    """Build, ask, filter, change and ask again."""
    rows = MadeRows(n_rows)
    chosen = StoreOptions(url=place.url, project="bench", timeout_s=3_600.0)._replace(**options)
    setup = StoreSetup(folder_at(str(folder / "store")), DIMENSIONS, chosen, place.key)
    if kind == "flat":
        store: Any = FlatVectorStore(setup.folder, DIMENSIONS, "bench")
        store.upsert(rows.vectors("model"))
    else:
        source = RowsOf(rows, "model", "owner", "bench", DIMENSIONS)
        store = RescoredStore(load("store.vectors", kind, VECTOR_STORES)(setup), source)
    build_s, _ = _timed(lambda: store.commit(1))
    queries = rows.queries()
    true = table_of(rows.vectors("model"), DIMENSIONS)
    allowed = set(range(3, n_rows, len(LANGUAGES)))
    where = Filter("language", "eq", LANGUAGES[3])
    store.nearest(queries[0], N_NEAREST)
    times, filtered, n_same = [], [], 0
    for query in queries:
        took_s, nearest = _timed(partial(store.nearest, query, N_NEAREST))
        times.append(1_000 * took_s)
        n_same += len(dict(nearest).keys() & dict(nearest_rows(true, query, N_NEAREST)).keys())
        filtered.append(1_000 * _timed(partial(store.nearest, query, N_NEAREST, allowed, where))[0])
    changed = list(range(0, n_rows, max(n_rows // N_UPDATED, 1)))[:N_UPDATED]
    rows.change(changed)
    store.upsert(Row(key, rows.matrix[key].tobytes()) for key in changed)
    update_s, _ = _timed(lambda: store.commit(2))
    disk = sum(path.stat().st_size for path in _files(folder, place.folder))
    store.close()
    return Measured(build_s, times, filtered, update_s, disk, n_same / (N_QUERIES * N_NEAREST))


def _timed(do: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call took, and its result."""
    start = time.perf_counter()
    result = do()
    return time.perf_counter() - start, result


def _files(*folders: Path | str) -> Iterator[Path]:
    for folder in folders:
        if folder:
            yield from (path for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink())


def _in_process(name: str, n_rows: int) -> tuple[Measured, int | None]:
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="fathom-stores-"))
        place = stack.enter_context(_place(KINDS[name][0], Path(folder)))
        command = [sys.executable, "-m", "evals.stores", "--one", name, "--rows", str(n_rows), "--folder", folder]
        command += ["--url", place.url, "--data", place.folder]
        env = dict(os.environ, FATHOM_BENCH_KEY=place.key, PYTHONPATH=str(REPOSITORY))

        def held(pid: int) -> int:
            return bytes_held(pid) + (bytes_held(place.pid) if place.pid else 0)

        shell = ["sh", "-c", '"$@" > "$0"', f"{folder}/measured.json", *command]
        code, peak = run_watched(shell, env=env, cwd=REPOSITORY, held=held)
        if code:
            raise SystemExit(f"{name} failed with {n_rows:,} rows")
        values: dict[str, Any] = json.loads(Path(f"{folder}/measured.json").read_text(encoding="utf-8"))
    return Measured(**values), peak


def _place(kind: str, folder: Path) -> AbstractContextManager[Place]:
    """Start the server of a store, as the tests do."""
    if kind == "postgres":
        return _postgres()
    if kind == "qdrant":
        return _qdrant()
    return _chroma(folder) if kind == "chroma" else nullcontext(Place())


class _Served:
    """A server of the tests, as a place."""

    def __init__(self, served: AbstractContextManager[Any], key: str) -> None:
        self._served, self._key = served, key

    def __enter__(self) -> Place:
        server = self._served.__enter__()
        return Place(server.url, self._key, server.pid, str(server.data))

    def __exit__(self, *error: Any) -> None:
        self._served.__exit__(*error)


def _postgres() -> AbstractContextManager[Place]:
    from tests.contracts.postgres_server import PASSWORD, served

    return _Served(served(), PASSWORD)


@contextmanager
def _qdrant() -> Iterator[Place]:
    from tests.contracts.qdrant_server import served

    with served() as server:
        yield Place(server.url)


def _chroma(folder: Path) -> AbstractContextManager[Place]:
    from tests.contracts.chroma_server import served

    (folder / "chroma").mkdir()
    return _Served(served(folder / "chroma"), "")


def _line(name: str, n_rows: int, measured: Measured, n_bytes: int | None, flat_ms: float) -> list[str]:
    middle = percentile(measured.query_ms, 50)
    return [
        name,
        f"{n_rows:,}",
        number(measured.build_s),
        number(middle),
        number(percentile(measured.query_ms, 95)),
        number(middle / flat_ms, ".2f"),
        number(percentile(measured.filtered_ms, 50)),
        number(measured.update_s, ".2f"),
        number(measured.disk_bytes / 1e6, ".0f"),
        number(n_bytes / 1e6 if n_bytes else None, ".0f"),
        number(measured.same, ".3f"),
    ]


def _rankings(stores: str, names: Sequence[str]) -> str:
    """Ask the development benchmark with each store; return a table."""
    trees = Path(os.environ.get("BENCH_CORPORA") or REPOSITORY / ".bench-corpora")
    corpora = development(bench_folder(), trees, names)
    lines, of_flat = [], None
    for name in ("flat", *stores.split(",")):
        kind, options = KINDS[name]
        with TemporaryDirectory(prefix="fathom-stores-") as folder, _place(kind, Path(folder)) as place:
            chosen = {"VECTORS": kind, "URL": place.url, **{key.upper(): str(value) for key, value in options.items()}}
            os.environ |= {f"FATHOM_STORE__{key}": value for key, value in chosen.items()} | {"PGPASSWORD": place.key}
            (run,) = run_tools(["fathom"], corpora, peer_python=sys.executable, repeat=1).runs
            for key in chosen:
                del os.environ[f"FATHOM_STORE__{key}"]
        lists = [[_inside(answer.places) for answer in outcome.answers] for outcome in run.outcomes]
        of_flat = of_flat or lists
        n_same = sum(
            one == other
            for mine, theirs in zip(lists, of_flat, strict=True)
            for one, other in zip(mine, theirs, strict=True)
        )
        n_all = sum(map(len, lists))
        lines.append([name, f"{headline(run):.4f}", f"{n_same} of {n_all}"])
    return table(("store", "NDCG@10", "lists that are those of flat"), lines)


def _inside(places: Sequence[Found]) -> list[Found]:
    """Return places with paths below the tree, which each run copies into a folder of its own."""
    return [place._replace(path=re.sub("^.*?/trees/[^/]+/", "", place.path)) for place in places]


def _page(lines: Sequence[Sequence[str]], ranking: str) -> str:
    head = HEAD.format(
        machine=machine(),
        dimensions=DIMENSIONS,
        n_centres=N_CENTRES,
        n_queries=N_QUERIES,
        n_nearest=N_NEAREST,
        n_updated=N_UPDATED,
    )
    parts = [head, table(COLUMNS, lines)]
    if ranking:
        parts += ["\n## The development benchmark", ranking]
    return "\n".join([*parts, ""])


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.stores", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--rows", default="100000", help="numbers of rows, such as 100000,1000000")
    parser.add_argument("--store", action="append", choices=KINDS, help="measure this store; all by default")
    parser.add_argument("--ranking", default="", help="stores whose ranking is compared, such as faiss,duckdb")
    parser.add_argument("--page", default="", help="page to write into, such as docs/benchmarks-operations.md")
    parser.add_argument("--corpus", action="append", default=[], help="rank in this corpus; in all by default")
    for name in ("--one", "--folder", "--url", "--data"):
        parser.add_argument(name, default="", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
