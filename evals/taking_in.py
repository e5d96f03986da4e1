"""Costs of taking in changes, by the number of files: `python -m evals.taking_in`, or `make bench-changes`.

Trees and their indexes stay in a folder, so that a second run begins with what the first has made. Another version of
Codefathom, given by the folder of its source code, is measured on the same trees before this one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from shutil import which
from statistics import median
from typing import NamedTuple

from codefathom import Engine
from evals.report import machine, table, write_section
from evals.run import REPOSITORY
from evals.trees import copy_tree, source_roots

_QUESTION = "parse the query string of a request"
_HEAD = """\
# Noticing and taking in changes

Each tree is made of copies of files from the repositories of the development benchmark. Where there are not enough
distinct files, they are copied again into other folders, with empty lines at their beginning. Machine: {machine}.
{shared}Each figure is the median of {n} runs, in milliseconds: by the clock, and after the slash of processor time
(all processes). "Process" is a whole command `fathom search`, from its start to its end. "Open" is a search in a
program that has the project open. In "one changed" one file was changed just before, and the search finds the change;
in "folder renamed" a folder of {n_renamed} files at most got another name. The expressions are `{with_word}` and
`{without_word}`; ripgrep, where it is installed, counts their matches in the same files. "First" of a question about
connections is the first question in a program that has just opened the project, "again" the same one once more; each is
asked once. "Exponent" is that of n in a fit of the clock's time to the number n of files: 1 means that twice the files
take twice the time.
"""
# By what is measured: here, and beside it.
_EXPRESSIONS = {
    ("open, expression with a word", "ripgrep, the same"): r"def _parse_\w+query",
    ("open, expression without a word", "ripgrep, the same without a word"): r"[A-Z]{6}\d\b",
}
_CONNECTIONS: dict[str, Callable[[Engine, str, str], object]] = {
    "who calls": lambda engine, name, path: engine.search(f"who calls {name}"),
    "what imports": lambda engine, name, path: engine.search(f"what imports {path}"),
    "@@name": lambda engine, name, path: engine.search(f"@@{name}"),
    "related of a symbol": lambda engine, name, path: engine.related(f"@@{name}"),
    "related of a line": lambda engine, name, path: engine.related(f"{path}:{_line(engine, name, path)}"),
    "impact": lambda engine, name, path: engine.impact(diff=_DIFF.format(path=path)),
    "card of a name": lambda engine, name, path: engine.name_at(path, _line(engine, name, path), name),
    "map": lambda engine, name, path: engine.map(),
}
_DIFF = "--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,1 @@\n+first = 1\n"
_MEASURES = (
    "process, nothing changed",
    "process, one changed",
    "process, folder renamed",
    "open, first search",
    "open, look with nothing changed",
    "open, one changed",
    *(name for names in _EXPRESSIONS for name in names),
    *(f"open, {kind}, {when}" for kind in _CONNECTIONS for when in ("first", "again")),
)
_N_RENAMED = 20  # files in the folder that is renamed


class Cost(NamedTuple):
    """One measurement."""

    clock_ms: float
    processor_ms: float


Costs = dict[str, list[Cost]]


def main(words: Sequence[str] | None = None) -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m evals.taking_in", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--files", default="1000,6000,58000", help="sizes of the trees")
    parser.add_argument("--runs", type=int, default=5, help="runs of each measurement")
    parser.add_argument("--trees", default=str(REPOSITORY / ".bench-trees"), help="folder for trees and indexes")
    parser.add_argument("--before", default="", help="folder of the source code of another version")
    parser.add_argument("--page", default="", help="page to write into, such as docs/benchmarks-operations.md")
    parser.add_argument(
        "--connections", default="", help="print questions about connections in this indexed folder alone"
    )
    parser.add_argument(
        "--about", default="", help="with --connections: the name and the path of a function, NAME@PATH"
    )
    parser.add_argument("--open", default="", help=argparse.SUPPRESS)  # the process that keeps a tree open
    arguments = parser.parse_args(words)
    if arguments.open:
        print(json.dumps(_open_costs(Path(arguments.open), arguments.runs)))
        return 0
    if arguments.connections:
        costs = _connection_costs(Path(arguments.connections), arguments.about)
        print(table(["", "clock / processor (ms)"], [[name, _shown(own)] for name, own in costs.items()]))
        return 0
    sizes = [int(size) for size in arguments.files.split(",")]
    roots = {size: tree(Path(arguments.trees), size) for size in sizes}
    versions = {"before": Path(arguments.before)} if arguments.before else {}
    versions["now"] = REPOSITORY / "src"
    results: dict[str, dict[int, Costs]] = {
        name: {size: _costs(root, source, arguments.runs) for size, root in roots.items()}
        for name, source in versions.items()
    }
    text = page(results, arguments.runs)
    print(text)
    if arguments.page:
        write_section(Path(arguments.page), "make bench-changes", text)
    return 0


def page(results: dict[str, dict[int, Costs]], n_runs: int) -> str:
    """Return the page."""
    sizes = sorted(results["now"])
    rows = [
        [measure, name, *map(_shown, own.values()), exponent(own)]
        for measure in _MEASURES
        for name, costs in results.items()
        if all((own := {size: costs[size].get(measure, []) for size in sizes}).values())  # ripgrep may be missing
    ]
    load = os.getloadavg()[0]
    shared = (
        f"Other programs used it at the same time (load {load:.0f}): compare processor times.\n" if load > 2 else ""
    )
    with_word, without_word = _EXPRESSIONS.values()
    head = _HEAD.format(
        machine=machine(),
        n=n_runs,
        n_renamed=_N_RENAMED,
        shared=shared if load > 2 else "",
        with_word=with_word,
        without_word=without_word,
    )
    return f"{head}\n{table(['', 'version', *(f'{size} files' for size in sizes), 'exponent'], rows)}\n"


def _shown(costs: Iterable[Cost]) -> str:
    clock, processor = (median(times) for times in zip(*costs, strict=True))
    return f"{clock:.0f} / {processor:.0f}"


def exponent(costs: Mapping[int, Sequence[Cost]], *, by_processor: bool = False) -> str:
    """Return the slope of a line through the logarithms of size and time."""
    times = {size: median(cost[by_processor] for cost in own) for size, own in costs.items()}
    points = [(math.log(size), math.log(max(time_ms, 0.1))) for size, time_ms in times.items()]
    if len(points) < 2:
        return "–"
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return f"{slope:.2f}"


def tree(folder: Path, n_files: int) -> Path:
    """Return a tree of that many files, which is made where there is none."""
    root = folder / str(n_files)
    if not root.exists():
        corpora = Path(os.environ.get("BENCH_CORPORA") or REPOSITORY / ".bench-corpora")
        copy_tree(source_roots(corpora), root, n_files)
        (root / "fathom.toml").touch()
    return root


def _costs(root: Path, source: Path, n_runs: int) -> Costs:
    """Measure one version on one tree; the index is made where there is none."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(source), str(REPOSITORY)))}

    def process() -> None:
        command = [sys.executable, "-m", "codefathom", "search", _QUESTION]
        subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)

    subprocess.run([sys.executable, "-m", "codefathom", "index"], cwd=root, env=environment, check=True)
    time.sleep(1)
    process()
    costs: Costs = {
        "process, nothing changed": [timed(process) for _ in range(n_runs)],
        "process, one changed": [timed(process, change=lambda: change(root)) for _ in range(n_runs)],
        "process, folder renamed": [timed(process, change=lambda: rename(root)) for _ in range(n_runs)],
    }
    process()
    command = [sys.executable, "-m", "evals.taking_in", "--open", str(root), "--runs", str(n_runs)]
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    parts = json.loads(answer.stdout)
    return {**costs, **{name: [Cost(*cost) for cost in own] for name, own in parts.items()}}


def _open_costs(root: Path, n_runs: int) -> Costs:
    """Measure in this process, which has the project open."""
    costs: Costs = {"open, first search": [], "open, look with nothing changed": [], "open, one changed": []}
    for _ in range(n_runs):
        with Engine.open(str(root)) as engine:
            costs["open, first search"].append(timed(lambda: engine.search(_QUESTION)))
    costs |= _connection_costs(root)
    with Engine.open(str(root)) as engine:
        for _ in range(n_runs):
            costs["open, look with nothing changed"].append(timed(engine.current.refresh, rest=engine))
        for _ in range(n_runs):
            word = change(root)
            costs["open, one changed"].append(timed(partial(_find, engine, word), rest=engine))
        for (measure, beside), expression in _EXPRESSIONS.items():
            search = partial(engine.search, expression, mode="regex")
            search()  # the first one loads the library and the list of terms
            costs[measure] = [timed(search) for _ in range(n_runs)]
            costs[beside] = [timed(partial(_ripgrep, expression, root)) for _ in range(n_runs) if which("rg")]
    return costs


def _ripgrep(expression: str, root: Path) -> None:
    """Count the matches; it ends with 1 where there are none."""
    subprocess.run(["rg", "--count-matches", expression, "."], cwd=root, check=False, stdout=subprocess.DEVNULL)


def _connection_costs(root: Path, about: str = "") -> Costs:
    """Measure questions about a function, else the first that is called in several files, and its file; each once."""
    costs: Costs = {}
    with Engine.open(str(root)) as engine:
        name, path = about.split("@", 1) if about else used_function(engine)
    for kind, ask in _CONNECTIONS.items():
        with Engine.open(str(root)) as engine:
            for when in ("first", "again"):
                costs[f"open, {kind}, {when}"] = [timed(partial(ask, engine, name, path))]
    return costs


def _line(engine: Engine, name: str, path: str) -> int:
    return next(symbol.name_line for symbol in engine.opened.catalog.symbols_of(path) if symbol.name == name)


def used_function(engine: Engine) -> tuple[str, str]:
    """Return the name and the path of a function with callers in other files."""
    catalog = engine.opened.catalog
    for path in sorted(path for path, language in catalog.languages().items() if language == "python"):
        for symbol in catalog.symbols_of(path):
            users = {user for user, _ in catalog.references(symbol.name)}
            if symbol.kind == "function" and 3 <= len(users) <= 30:
                return symbol.name, path
    raise SystemExit("no function of this tree has callers in other files")


def _find(engine: Engine, word: str) -> None:
    hits = engine.search(word).hits
    assert hits and word in hits[0].chunk.text, f"{word} is not found"


def timed(
    work: Callable[[], object], *, change: Callable[[], object] | None = None, rest: Engine | None = None
) -> Cost:
    """Measure work after a change. An open project that has just been looked at is left alone for its pause."""
    if change is not None:
        change()
    if rest is not None:
        rest.current._looked_at = float("-inf")
    before, began = _processor_s(), time.perf_counter()
    work()
    return Cost(1_000 * (time.perf_counter() - began), 1_000 * (_processor_s() - before))


def _processor_s() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def change(root: Path) -> str:
    """Change one file, and return the word that is new in it."""
    file = min(root.rglob("*.py"))
    word = f"zebra{time.time_ns()}"
    file.write_text(f"{file.read_text(encoding='utf-8', errors='replace').rstrip()}\n# {word}\n")
    return word


def rename(root: Path, besides: str = "") -> None:
    """Rename the first folder that holds a few files and no folder, and not a file that is needed later."""
    for parent, folders, files in os.walk(root):
        folders.sort()
        is_needed = Path(parent) == Path(root, besides).parent
        if not folders and 5 <= len(files) <= _N_RENAMED and ".fathom" not in parent and not is_needed:
            os.rename(parent, f"{parent.removesuffix('-renamed')}{'' if parent.endswith('-renamed') else '-renamed'}")
            return


if __name__ == "__main__":
    sys.exit(main())
