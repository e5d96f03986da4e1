"""Processor time of one question, versions in turns: `python -m evals.asking FOLDER ... --before SOURCE`.

The folders are indexed, and nothing in them has changed. Another version of Codefathom is given by the folder of its
source code, and must be able to use the same indexes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from codefathom import Engine
from evals.metrics import percentile
from evals.report import table
from evals.run import REPOSITORY

_QUESTIONS = (
    *("parse the query string", "how are retries limited", "where is the cache invalidated", "render template"),
    *("open a database connection", "serialize json with custom types", "routing of http requests", "test the router"),
    *("middleware error handling", "validate user input", "logging configuration", "timeout for a request"),
)
_MEASURES = ("process", "open, first question", "open, p50", "open, p95", "context, mean")
_N_CONTEXTS = 6

Times = dict[str, float]  # milliseconds by measure


def main(words: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m evals.asking", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--before", type=Path, help="folder of the source code of another version")
    parser.add_argument("--runs", type=int, default=5, help="processes of each kind, in turns")
    parser.add_argument("--open", action="store_true", help=argparse.SUPPRESS)  # the process that keeps a folder open
    arguments = parser.parse_args(words)
    if arguments.open:
        print(json.dumps(_open_times(arguments.folders[0])))
        return 0
    versions = {"before": arguments.before} if arguments.before else {}
    versions["now"] = REPOSITORY / "src"
    rows = []
    for folder in arguments.folders:
        runs: dict[str, list[Times]] = {name: [] for name in versions}
        for _ in range(arguments.runs + 1):
            for name, source in versions.items():
                runs[name].append(_times(folder, source))
        for name, own in runs.items():  # the first one compiles the program
            rows.append([folder.name, name, *(f"{median(one[what] for one in own[1:]):.1f}" for what in _MEASURES)])
    print(table(["", "version", *_MEASURES], rows))
    return 0


def _times(folder: Path, source: Path) -> Times:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(source), str(REPOSITORY)))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "codefathom", "search", _QUESTIONS[0]]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "evals.asking", "--open", str(folder)]
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    process_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"process": 1_000 * process_s, **json.loads(answer.stdout)}


def _open_times(folder: Path) -> Times:
    """Measure in this process; of each question the best of three, when it has been asked once."""
    with Engine.open(str(folder)) as engine:
        first = _timed(engine, _QUESTIONS[0])
        for question in _QUESTIONS:
            engine.search(question)
        warm = [min(_timed(engine, question) for _ in range(3)) for question in _QUESTIONS]
        began = time.process_time()
        for question in _QUESTIONS[:_N_CONTEXTS]:
            engine.context(question)
        contexts = 1_000 * (time.process_time() - began) / _N_CONTEXTS
    p50, p95 = (percentile(warm, share) for share in (50, 95))
    return dict(zip(_MEASURES[1:], (first, p50, p95, contexts), strict=True))


def _timed(engine: Engine, question: str) -> float:
    began = time.process_time()
    engine.search(question)
    return 1_000 * (time.process_time() - began)


if __name__ == "__main__":
    sys.exit(main())
