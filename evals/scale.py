"""Growth with the number of files: `python -m evals.scale --files 1000,5000,20000`, or `make bench-scale`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from evals.benchmark import Corpus, Question, standard_library
from evals.growth import TREES, measured
from evals.metrics import Target, percentile
from evals.report import machine, number, table, write_section
from evals.run import REPOSITORY, run_tool
from evals.tool import TOOLS
from evals.trees import copy_tree, source_roots
from evals.worker import PROCESS_RUNS, Outcome

WARM_UP_FILES = 50
BUILD = "build"  # the name of the first table, for --only
HEAD = """\
# Growth with the number of files

Each tree is made of copies of files from Python's standard library, from installed packages and from the repositories
of the development benchmark. Machine: {machine}. Every build starts without
an index and without a cache. "Changed file → found" is the time from a change of one file until a search finds it.
"Command" is the time of a whole `search` command, the median of {n_runs} runs. "Peak memory" adds up all processes. If
there are not enough distinct files, the same files are copied again into other folders, with empty lines at their
beginning.
"""
COLUMNS = (
    "tool",
    "files",
    "distinct files",
    "chunks",
    "build (s)",
    "changed file → found (ms)",
    "query p50 (ms)",
    "query p95 (ms)",
    "command (ms)",
    "peak memory (MB)",
    "index (MB)",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One tool on one tree."""

    tool: str
    n_files: int
    n_distinct: int
    peak_bytes: int | None
    outcome: Outcome


def main(words: Sequence[str] | None = None) -> int:
    """Build the trees, measure and write the page."""
    parser = argparse.ArgumentParser(prog="python -m evals.scale", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--files", default="1000,6000,58000", help="sizes of the trees")
    parser.add_argument("--only", default="", help="measure the rows alone whose name matches this expression")
    parser.add_argument("--trees", default=TREES, help="folder of the trees, which stay there with their indexes")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command")
    parser.add_argument("--tool", action="append", choices=TOOLS, help="measure this tool; fathom by default")
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has semble and bm25s")
    parser.add_argument("--page", default="", help="page to write into, such as docs/benchmarks-operations.md")
    arguments = parser.parse_args(words)
    rows = []
    sizes = [int(size) for size in arguments.files.split(",")]
    for n_files in sizes:
        for tool in (arguments.tool or ["fathom"]) if re.search(arguments.only, BUILD) else []:
            rows.append(_measure(tool, n_files, sys.executable if tool == "fathom" else arguments.peer_python))
            print(table(COLUMNS, [_row(rows[-1])]).splitlines()[-1], flush=True)
    commands = measured(Path(arguments.trees), sizes, only=arguments.only, n_runs=arguments.runs)
    print(commands)
    if arguments.page:
        write_section(Path(arguments.page), "make bench-scale", f"{page(rows)}\n{commands}")
    return 0


def page(rows: Iterable[Measured]) -> str:
    """Return the page."""
    head = HEAD.format(machine=machine(), n_runs=PROCESS_RUNS)
    return f"{head}\n{table(COLUMNS, map(_row, rows))}\n"


def _measure(tool: str, n_files: int, python: str) -> Measured:
    roots = source_roots(Path(os.environ.get("BENCH_CORPORA") or REPOSITORY / ".bench-corpora"))
    with TemporaryDirectory(prefix="fathom-scale-") as folder:
        small, tree = _corpus("warm-up", Path(folder, "small")), _corpus("tree", Path(folder, "tree"))
        copy_tree(roots, small.source, WARM_UP_FILES)
        n_distinct = copy_tree(roots, tree.source, n_files)
        corpora = [_with_target(small), _with_target(tree)]
        run = run_tool(tool, corpora, python=python, repeat=3)
    return Measured(run.version, n_files, n_distinct, run.peak_bytes, run.outcomes[1])


def _corpus(name: str, source: Path) -> Corpus:
    return Corpus(name, "mixed", source, "", ())


def _with_target(corpus: Corpus) -> Corpus:
    """Give the questions of the standard library a file of this tree as target: the one that is edited."""
    edited = min(path for path in corpus.source.rglob("*.py"))
    target = Target(edited.relative_to(corpus.source).as_posix())
    questions = tuple(Question(asked.text, "speed", (target,)) for asked in standard_library().questions)
    return Corpus(corpus.name, corpus.language, corpus.source, "", questions)


def _row(measured: Measured) -> Sequence[str]:
    outcome = measured.outcome
    times = [time for answer in outcome.answers for time in answer.milliseconds]
    return (
        measured.tool,
        str(measured.n_files),
        str(measured.n_distinct),
        number(outcome.n_chunks, "d"),
        number(outcome.index_s),
        number(outcome.fresh_ms, ".0f"),
        number(percentile(times, 50)),
        number(percentile(times, 95)),
        number(outcome.process_ms, ".0f"),
        number(None if measured.peak_bytes is None else measured.peak_bytes / 1e6, ".0f"),
        number(None if outcome.n_bytes is None else outcome.n_bytes / 1e6, ".0f"),
    )


if __name__ == "__main__":
    sys.exit(main())
