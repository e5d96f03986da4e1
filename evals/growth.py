"""Times of every command by the number of files: a part of `python -m evals.scale`.

Each command is a process of its own, as a user starts it. Trees and their indexes stay in a folder, so that a second
run begins with what the first has made.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from codefathom import Engine
from evals.report import table
from evals.run import REPOSITORY
from evals.taking_in import Cost, change, exponent, rename, timed, tree, used_function

_QUESTION = "parse the query string of a request"
_LIMIT_S = 600.0
HEAD = """\
## Every command

The trees lie in a folder and keep their indexes. Each row is a whole process, the median of {n_runs} runs (once where
a row says so), in milliseconds: by the clock, and after the slash of processor time with all of its child processes.
{load}"First" is the question of a process where no earlier one has asked about connections since the last change.
"Exponent" is that of n in a fit of processor time to the number n of files: 1 means that twice the files cost twice as
much.
"""


class Target(NamedTuple):
    """What the questions about one tree are about."""

    root: Path
    name: str  # of a function with callers in other files
    path: str  # of its file


Work = Callable[[Target], object]


def _run(*words: str, ends: Sequence[int] = (0, 1)) -> Work:
    """Return what runs a command; `{name}` and `{path}` in its words are those of the target."""

    def work(target: Target) -> None:
        command = [word.replace("{name}", target.name).replace("{path}", target.path) for word in words]
        process = subprocess.run(
            [sys.executable, "-m", "codefathom", *command], cwd=target.root, capture_output=True, check=False
        )
        if process.returncode not in ends:
            raise SystemExit(f"{' '.join(command)}: {process.stderr.decode()}")

    return work


def _search(*words: str) -> Work:
    return _run("search", *words)


def _change(target: Target) -> None:
    _NEW_WORDS.append(change(target.root))


def _find_change(target: Target) -> None:
    _search(_NEW_WORDS[-1])(target)


_NEW_WORDS: list[str] = []  # that the latest changes have written


def _rename(target: Target) -> None:
    rename(target.root, target.path)


def _forget(target: Target) -> None:
    """Remove what is kept of connections, as it is after an index was made."""
    for file in (target.root / ".fathom").glob("graph.*"):
        file.unlink()


def _impact(target: Target) -> None:
    """Ask for the impact of a line that is taken out of the file."""
    lines = (target.root / target.path).read_text(encoding="utf-8", errors="replace").splitlines()
    diff = f"--- a/{target.path}\n+++ b/{target.path}\n@@ -1,2 +1,1 @@\n-{lines[0]}\n {lines[1]}\n"
    subprocess.run(
        [sys.executable, "-m", "codefathom", "impact", "-"],
        cwd=target.root,
        input=diff.encode(),
        capture_output=True,
        check=False,
    )


def _first_answer(target: Target) -> None:
    """Start a server of tools, and read its first answer."""
    command = [sys.executable, "-m", "codefathom", "mcp"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    call = {"name": "search", "arguments": {"query": _QUESTION}}
    with subprocess.Popen(
        command, cwd=target.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        messages: list[dict[str, object]] = [
            {"id": 1, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": call},
        ]
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        for line in process.stdout:
            if json.loads(line).get("id") == 2:
                break
        process.stdin.close()
        process.wait()


def _watched(target: Target) -> None:
    """Wait until a process that watches has taken in a change."""
    with _watching(target.root), Engine.open(str(target.root)) as engine:
        catalog = engine.opened.catalog
        _wait_for_rest(lambda: catalog.generation)
        before, began = catalog.generation, time.perf_counter()
        change(target.root)
        while catalog.generation == before and time.perf_counter() - began < _LIMIT_S:
            time.sleep(0.01)
        _WATCHED.append(1_000 * (time.perf_counter() - began))


_WATCHED: list[float] = []  # milliseconds; the processor time of a process that goes on is not that of one change


def _wait_for_rest(generation: Callable[[], int], rest_s: float = 5.0) -> None:
    """Wait until nothing was written for some seconds."""
    before, since = generation(), time.perf_counter()
    while time.perf_counter() - since < rest_s:
        time.sleep(0.1)
        if (now := generation()) != before:
            before, since = now, time.perf_counter()


@contextmanager
def _watching(root: Path) -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-m", "codefathom", "index", "--watch", "-q"], cwd=root) as process:
        try:
            yield
        finally:
            process.terminate()


def _backup_file(target: Target) -> str:
    return str(target.root.parent / f"{target.root.name}.backup")


def _back_up(target: Target) -> None:
    Path(_backup_file(target)).unlink(missing_ok=True)
    _run("backup", _backup_file(target))(target)


def _restore(target: Target) -> None:
    _run("restore", _backup_file(target))(target)


class Row(NamedTuple):
    """A line of the table; what runs before is not measured."""

    work: Work
    before: Work = lambda target: None
    once: bool = False


ROWS: Mapping[str, Row] = {
    "index: first (once)": Row(
        _run("index", "-q"), lambda target: shutil.rmtree(target.root / ".fathom", ignore_errors=True), once=True
    ),
    "index: nothing changed": Row(_run("index", "-q")),
    "search: one file changed": Row(_find_change, _change),
    "search: one folder renamed": Row(_search(_QUESTION), _rename),
    "index --only, one file changed": Row(
        _run("index", "-q", "--only", "{path}"), lambda target: _touch(target.root / target.path)
    ),
    "search": Row(_search(_QUESTION), _search(_QUESTION)),
    **{f"search --mode {mode}": Row(_search(_QUESTION, "--mode", mode)) for mode in ("hybrid", "vector", "lexical")},
    "search --mode symbol": Row(_search("{name}", "--mode", "symbol")),
    "expression with a word": Row(_search(r"def _parse_\w+query", "--mode", "regex")),
    "expression without a word": Row(_search(r"[A-Z]{6}\d\b", "--mode", "regex")),
    "search with a filter": Row(_search(_QUESTION, "--filter", 'language = "python"')),
    "search @path": Row(_search("@{path} " + _QUESTION)),
    "search @@symbol": Row(_search("@@{name}")),
    "who calls, first (once)": Row(_search("who calls {name}"), _forget, once=True),
    "who calls": Row(_search("who calls {name}")),
    "what imports": Row(_search("what imports {path}")),
    "related, of a file": Row(_run("related", "{path}")),
    "related, of a symbol": Row(_run("related", "@@{name}")),
    "impact": Row(_impact),
    "map, first (once)": Row(_run("map"), _forget, once=True),
    "map": Row(_run("map")),
    "context": Row(_run("context", _QUESTION)),
    "symbols": Row(_run("symbols", "parse")),
    "files": Row(_run("files")),
    "status": Row(_run("status")),
    "doctor (once)": Row(_run("doctor", ends=(0, 1, 2)), once=True),
    "mcp: first answer": Row(_first_answer),
    "watch: a change is taken in (once; no processor time)": Row(_watched, once=True),
    "backup (once)": Row(_back_up, once=True),
    "restore (once)": Row(_restore, once=True),
    "index --remove, then index (once)": Row(_run("index", "-q"), _run("index", "--remove"), once=True),
}


def _touch(file: Path) -> None:
    text = file.read_text(encoding="utf-8", errors="replace")
    file.write_text(f"{text.rstrip()}\n# {time.time_ns()}\n")


def measured(folder: Path, sizes: Sequence[int], *, only: str, n_runs: int) -> str:
    """Measure the rows whose name matches an expression, and return them as a table."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process compiles the program anew
    costs: dict[str, dict[int, list[Cost]]] = {}
    for size in sizes:
        target = _target(tree(folder, size))
        for name, row in ROWS.items():
            if re.search(only, name):
                costs.setdefault(name, {})[size] = _costs(name, row, target, 1 if row.once else n_runs)
                print(size, name, _shown(costs[name][size]), flush=True)
    rows = [
        [name, *(_shown(own[size]) if size in own else "–" for size in sizes), exponent(own, by_processor=True)]
        for name, own in costs.items()
    ]
    load = os.getloadavg()[0]
    busy = f"Other programs used the machine (load {load:.0f}): compare processor times.\n" if load > 2 else ""
    head = HEAD.format(n_runs=n_runs, load=busy)
    return f"{head}\n{table(['', *(f'{size} files' for size in sizes), 'exponent'], rows)}\n"


def _costs(name: str, row: Row, target: Target, n_runs: int) -> list[Cost]:
    costs = []
    for _ in range(n_runs):
        row.before(target)
        costs.append(timed(partial(row.work, target)))
    return [Cost(_WATCHED[-1], _WATCHED[-1])] if name.startswith("watch") else costs


def _target(root: Path) -> Target:
    with Engine.open(str(root)) as engine:
        engine.index()
        return Target(root, *used_function(engine))


def _shown(costs: Sequence[Cost]) -> str:
    clock, processor = (median(times) for times in zip(*costs, strict=True))
    return f"{clock:.0f} / {processor:.0f}"


TREES = str(REPOSITORY / ".bench-trees")
