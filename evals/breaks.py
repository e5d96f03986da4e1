"""What breaks if a symbol changes: the files that must be looked at, as one call of the tool `related` lists them.

    python -m evals.breaks --corpora CORPORA [--page docs/benchmarks-agents.md]

Each line of `evals/breaks.tsv` is a symbol, and the files of code beside the one that defines it whose text uses it, as
somebody has read them; files of prose, of expected output and of builds are left out. `related` is asked once as an
agent asks, with a limit of tokens for its answer; ripgrep lists the files with the name (`rg --files-with-matches
--word-regexp NAME`). CORPORA holds the repositories at these revisions; no text of them is here.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from codefathom import Engine
from codefathom.answer.tokens import counter
from codefathom.mcp.session_projects import SessionProjects, SessionStart
from codefathom.mcp.tool_calls import ToolCalls
from evals.benchmark import HERE
from evals.edges import indexed
from evals.metrics import mean
from evals.report import table, write_section

TABLE = HERE / "breaks.tsv"
_MEASURES = ("recall", "precision", "tokens")
HEAD = ("repository", "symbol", "files", *(f"{tool}: {what}" for tool in ("ours", "rg") for what in _MEASURES))
_MOST_TOKENS = 3_000
_COUNT = counter()  # an estimate, the one by which the tool keeps to its limit


class Task(NamedTuple):
    """A symbol that changes, and the files that use it."""

    repository: str
    revision: str
    target: str
    definition: str  # the file of the symbol, which counts for nobody
    files: frozenset[str]


class Answer(NamedTuple):
    """The files that a tool lists, and the tokens of its output."""

    files: frozenset[str]
    n_tokens: int

    def scores(self, task: Task) -> tuple[float, float]:
        """Return recall and precision."""
        files = self.files - {task.definition}
        right = len(files & task.files)
        return right / len(task.files), right / len(files) if files else 0.0


class Result(NamedTuple):
    """A task, and what both tools answer."""

    task: Task
    ours: Answer
    theirs: Answer


def main() -> int:
    """Put the tasks to both tools, and print a table or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--only", default="", help="names of repositories, with commas between them")
    parser.add_argument("--page", default="", help="page to write into")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    results = []
    tasks = [task for task in read_table(TABLE) if not only or task.repository in only]
    for repository in dict.fromkeys(task.repository for task in tasks):
        root = options.corpora / repository
        with indexed(root) as engine:
            for task in (task for task in tasks if task.repository == repository):
                ours, theirs = _of_tool(engine, root, task), _of_ripgrep(root, task)
                results.append(Result(task, ours, theirs))
                for title, files in (("missing", task.files - ours.files), ("too much", ours.files - task.files)):
                    for path in sorted(files - {task.definition}):
                        print(title, task.repository, task.target, path, file=sys.stderr)
    text = table(HEAD, [*map(_row, results), _mean(results)])
    print(text)
    if options.page:
        write_section(Path(options.page), "make bench-graph (what breaks)", text)
    return 0


def read_table(file: Path) -> list[Task]:
    """Read the tasks."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return [
        Task(row["repository"], row["revision"], row["target"], row["definition"], frozenset(row["files"].split()))
        for row in rows
    ]


def _of_tool(engine: Engine, root: Path, task: Task) -> Answer:
    """Return the files that one call of `related` shows to an agent."""
    start = SessionStart(lambda: Engine.open(str(root), is_root=True), lambda named: Engine.open(named.root))
    projects = SessionProjects(start)
    try:
        result = ToolCalls(projects).call(
            "related", {"target": task.target, "direction": "callers", "max_tokens": _MOST_TOKENS}
        )
    finally:
        projects.close()
    text = result["content"][0]["text"]
    paths = [path for path in engine.opened.catalog.paths() if path in text]
    files = (path for path in paths if re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w/-])", text))
    return Answer(frozenset(files), _COUNT(text))


def _of_ripgrep(root: Path, task: Task) -> Answer:
    name = re.split(r"\W", task.target)[-1]
    command = ["rg", "--files-with-matches", "--word-regexp", "--sort", "path", "--", name]
    text = subprocess.run(command, check=False, cwd=root, capture_output=True, text=True).stdout
    return Answer(frozenset(text.splitlines()), _COUNT(text))


def _row(result: Result) -> tuple[str, ...]:
    task = result.task
    return (task.repository, f"`{task.target}`", str(len(task.files)), *_cells([result]))


def _cells(results: Sequence[Result]) -> Iterator[str]:
    for answers in ([result.ours for result in results], [result.theirs for result in results]):
        scores = [answer.scores(result.task) for answer, result in zip(answers, results, strict=True)]
        yield from (f"{mean(score[which] for score in scores):.2f}" for which in (0, 1))
        yield f"{mean(answer.n_tokens for answer in answers):,.0f}"


def _mean(results: Sequence[Result]) -> tuple[str, ...]:
    n_files = sum(len(result.task.files) for result in results)
    return ("mean of all", "", f"{n_files} in all", *_cells(results))


if __name__ == "__main__":
    sys.exit(main())
