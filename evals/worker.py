"""Runs one tool over the corpora of a job: `python -m evals.worker TOOL JOB.json RESULT.json SCRATCH`.

Started in the tool's own environment. Reads and writes JSON, because it may be another interpreter than the runner's.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

from evals.metrics import Found
from evals.tool import Tool, load_tool

LIMIT = 10
PROCESS_RUNS = 5
# A word that no corpus holds, made of letters so that every tool takes it as one.
MARKER = "zzfreshlyaddedmarkerzz"
WARM_UP = "how are files read"
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Task:
    """One corpus: where it lies, what is asked, and the file that is edited at the end."""

    name: str
    root: str
    questions: tuple[str, ...]
    edit: str  # path below root


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool returned to one question, and how long each repetition took."""

    question: str
    places: tuple[Found, ...]
    milliseconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured of one tool on one corpus. None: the tool has no such thing."""

    name: str
    answers: tuple[Answer, ...]
    index_s: float | None
    index_cpu_s: float | None  # of all processes: steadier than the clock on a busy machine
    n_chunks: int | None
    n_bytes: int | None
    fresh_ms: float | None  # from a saved edit to the first search that finds it; None when it is not found
    process_ms: float | None  # a whole process that answers one question


def measure(tool: Tool, task: Task, repeat: int) -> Outcome:
    """Index, ask, edit and ask again, then ask from a new process."""
    root = Path(task.root)
    cpu_before_s = cpu_s()
    index_s, has_index = _timed(lambda: tool.index(root))
    index_cpu_s = cpu_s() - cpu_before_s
    tool.search(WARM_UP, LIMIT)
    answers = tuple(_ask(tool, root, question, repeat) for question in task.questions)
    size = tool.size()
    fresh_ms = _edit_to_found(tool, root, task.edit)
    return Outcome(
        name=task.name,
        answers=answers,
        index_s=index_s if has_index else None,
        index_cpu_s=index_cpu_s if has_index else None,
        n_chunks=size.n_chunks,
        n_bytes=size.n_bytes,
        fresh_ms=fresh_ms,
        process_ms=process_ms(tool.command(task.questions[0]), root),
    )


def cpu_s() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def process_ms(command: Sequence[str] | None, root: Path) -> float | None:
    """Return the median time of a whole process, None where there is no command."""
    if command is None:
        return None
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parent.parent))

    def run() -> None:
        subprocess.run(command, cwd=root, env=environment, stdout=subprocess.DEVNULL, check=True)

    run()  # byte code and disk caches do not belong to the measurement
    return 1000 * median(_timed(run)[0] for _ in range(PROCESS_RUNS))


def _ask(tool: Tool, root: Path, question: str, repeat: int) -> Answer:
    times = []
    found: Sequence[Found] = ()
    for _ in range(repeat):
        seconds, found = _timed(lambda: tool.search(question, LIMIT))
        times.append(round(1000 * seconds, 4))
    places = (Found(str(root / place.path), place.start_line, place.end_line) for place in found)
    return Answer(question, tuple(places), tuple(times))


def _edit_to_found(tool: Tool, root: Path, edited: str) -> float | None:
    with (root / edited).open("a", encoding="utf-8") as file:
        file.write(f"\n{MARKER}\n")

    def look() -> bool:
        tool.update()
        return any(place.path.endswith(edited) for place in tool.search(MARKER, LIMIT))

    seconds, is_found = _timed(look)
    return 1000 * seconds if is_found else None


def _timed(call: Callable[[], _Value]) -> tuple[float, _Value]:
    started = time.perf_counter()
    value = call()
    return time.perf_counter() - started, value


def main(name: str, job: Path, result: Path, scratch: Path) -> None:
    """Measure each task of the job; written to a file, because a tool may print."""
    asked = json.loads(job.read_text(encoding="utf-8"))
    try:
        tool = load_tool(name, scratch)
    except (ImportError, OSError) as error:  # not installed; the runner says so
        result.write_text(json.dumps({"failed": str(error)}), encoding="utf-8")
        sys.exit(1)
    outcomes = []
    tasks = [Task(**{**task, "questions": tuple(task["questions"])}) for task in asked["tasks"]]
    tool.index(Path(tasks[0].root))  # imports, grammars and models are loaded once, before the clock starts
    tool.search(WARM_UP, LIMIT)
    for task in tasks:
        outcomes.append(asdict(measure(tool, task, asked["repeat"])))
        print(f"  {name}: {task.name}", file=sys.stderr, flush=True)
    said = {"tool": name, "version": tool.version(), "python": platform.python_version(), "outcomes": outcomes}
    result.write_text(json.dumps(said), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:5]))
