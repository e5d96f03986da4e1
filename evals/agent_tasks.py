"""Tasks of a coding agent on public repositories, done by a script with our tools and with ripgrep.

    python -m evals.agent_tasks CLONES [--apart] [--page docs/benchmarks-agents.md]

CLONES has a folder with each repository of `evals/agent_tasks.json`, or `evals/agent_tasks_apart.json` with `--apart`,
by its last name and at the commit that is named there. A task is a question as an agent puts it, the names that
somebody knows who has read the code, and all places that answer. A place is found where a line of it is printed. Each
way is asked until all places of a task are found, at most three times: `fathom mcp` with the question and the next
pages of the answer (`related` for "who calls X"), ripgrep with the known names and then with the words of it,
ripgrep with these words alone. Tokens are those of cl100k_base; of one answer of ripgrep the first 30,000 characters
are read.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from codefathom.answer.tokens import counter
from codefathom.engine import Engine
from codefathom.mcp.session_projects import SessionProjects, SessionStart
from codefathom.mcp.tool_calls import ToolCalls
from evals.agents import own_folder
from evals.metrics import Found, Target, meets
from evals.printed import of_ripgrep, of_tool_text
from evals.report import machine, table, write_section
from evals.text import keywords

FILE = Path(__file__).with_suffix(".json")
APART = FILE.with_stem("agent_tasks_apart")
MOST_CALLS = 3
MOST_CHARS = 30_000  # of one answer that a host hands on
RIPGREP = ("rg", "--no-heading", "--sort", "path", "--null", "--line-number")
MEANING, LIST = "where is what does X", "who calls X"


class Task(NamedTuple):
    """A question, and what answers it."""

    repository: str
    question: str
    words: tuple[str, ...]
    callers_of: str  # "" for a question about what code does
    places: tuple[Target, ...]

    @property
    def kind(self) -> str:
        """The kind of question."""
        return LIST if self.callers_of else MEANING


class Printed(NamedTuple):
    """What one call gives: its text, the lines of files in it, and the lines that its hits say they are."""

    text: str
    places: Sequence[Found]
    named: Sequence[Found] = ()


class Done(NamedTuple):
    """What one way got for a task."""

    task: Task
    missing: tuple[Target, ...]
    unnamed: tuple[Target, ...]  # of these, those that no hit covers either
    n_calls: int
    n_tokens: int


def main(words: Sequence[str] | None = None) -> int:
    """Do all tasks, and print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args(words)
    commits, tasks = read_tasks((APART if options.apart else FILE).read_text())
    done: dict[str, list[Done]] = {}
    with own_folder(""):
        for repository, commit in commits.items():
            root = options.clones / repository.rpartition("/")[2]
            check_commit(root, commit)
            own = [task for task in tasks if task.repository == repository]
            for name, results in of_repository(root, own).items():
                done.setdefault(name, []).extend(results)
            print(repository, flush=True)
    text = section(done, len(commits), is_apart=options.apart)
    print(text)
    if options.page:
        write_section(options.page, f"python -m evals.agent_tasks{' --apart' * options.apart}", text)
    return 0


def read_tasks(text: str) -> tuple[Mapping[str, str], tuple[Task, ...]]:
    """Return the commits of the repositories, and the tasks."""
    shape = json.loads(text)
    return shape["commits"], tuple(map(_task, shape["tasks"]))


def _task(shape: Mapping[str, Any]) -> Task:
    places = tuple(_target(place) for place in shape["places"])
    return Task(shape["repository"], shape["question"], tuple(shape["words"]), shape.get("callers_of", ""), places)


def _target(place: str) -> Target:
    path, _, lines = place.rpartition(":")
    start, _, end = lines.partition("-")
    return Target(path, int(start), int(end))


def check_commit(root: Path, commit: str) -> None:
    """Raise SystemExit where a clone is missing or shows another commit, whose lines are others."""
    run = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], check=False, capture_output=True, text=True)
    if run.stdout.strip() != commit:
        raise SystemExit(f"{root} is not at {commit}")


def of_repository(root: Path, tasks: Sequence[Task]) -> Mapping[str, list[Done]]:
    """Return what each way gets for the tasks of one repository."""
    with Engine.open(str(root)) as engine:
        engine.index()
    projects = SessionProjects(SessionStart(lambda: Engine.open(str(root)), lambda named: Engine.open(named.root)))
    tools = ToolCalls(projects)
    count = counter(encoding="cl100k_base")
    try:
        return {
            OURS: [do(task, partial(_by_tools, tools, task), count) for task in tasks],
            KNOWN: [do(task, partial(_by_ripgrep, root, task.words, keywords(task.question)), count) for task in tasks],
            UNKNOWN: [do(task, partial(_by_ripgrep, root, keywords(task.question)), count) for task in tasks],
        }
    finally:
        projects.close()


def do(task: Task, calls: Callable[[], Iterable[Printed]], count: Callable[[str], int]) -> Done:
    """Make calls until all places are found, at most three; `count` returns the tokens of a text."""
    missing, n_calls, n_tokens = set(task.places), 0, 0
    unnamed = set(task.places)
    for printed in calls():
        n_calls += 1
        n_tokens += count(printed.text)
        missing = {place for place in missing if not any(meets(found, place) for found in printed.places)}
        unnamed = {place for place in unnamed & missing if not any(meets(found, place) for found in printed.named)}
        if not missing or n_calls == MOST_CALLS:
            break
    return Done(task, tuple(sorted(missing)), tuple(sorted(unnamed & missing)), n_calls, n_tokens)


def _by_tools(tools: ToolCalls, task: Task) -> Iterator[Printed]:
    if task.callers_of:
        arguments: dict[str, Any] = {"target": f"@@{task.callers_of}", "direction": "callers"}
        name, places_of = "related", of_related
    else:
        arguments, name, places_of = {"query": task.question}, "search", _of_search
    while True:
        result = tools.call(name, arguments)
        if "indexing" in result.get("structuredContent", {}):
            raise RuntimeError(f"the index was not ready for {task.question!r}")
        text = result["content"][0]["text"]
        yield Printed(text, list(places_of(text)), list(of_heads(text)))
        after = result.get("structuredContent", {}).get("next")
        if not after:
            return
        arguments = {**arguments, "cursor": after}


def _of_search(text: str) -> Iterator[Found]:
    return (shown.place for shown in of_tool_text(text))


def of_heads(text: str) -> Iterator[Found]:
    """Yield the lines that the hits of the tool `search` say they are; few of them are printed."""
    for path, start, end in re.findall(r"^\d+\. (\S.*?):(\d+)-(\d+) ", text, re.MULTILINE):
        yield Found(path, int(start), int(end))


def of_related(text: str) -> Iterator[Found]:
    """Yield the lines of the tool `related`; a file that has several is named once."""
    path = ""
    for line in text.splitlines():
        if edge := re.match(r"(\S.*)?:(\d+)(?: |$)", line.strip()):
            path = edge[1] or path
            yield Found(path, int(edge[2]), int(edge[2]))


def _by_ripgrep(root: Path, *rounds: Sequence[str]) -> Iterator[Printed]:
    for words in rounds:
        patterns = [part for word in words for part in ("-e", word)]
        flags = ["--fixed-strings", "--ignore-case", *patterns]
        run = subprocess.run([*RIPGREP, *flags], check=False, cwd=root, stdin=subprocess.DEVNULL, capture_output=True)
        text = run.stdout.decode("utf-8", "replace")[:MOST_CHARS]
        yield Printed(text.replace("\0", ":"), [shown.place for shown in of_ripgrep(text)])


# ---- the page


def section(done: Mapping[str, Sequence[Done]], n_repositories: int, *, is_apart: bool = False) -> str:
    """Return the tables, and what was missed."""
    heads = ("way", "places printed", "or in the lines of a hit", "tasks whole", "calls a task", "tokens a task")
    kinds = {
        kind: {name: [one for one in rows if one.task.kind == kind] for name, rows in done.items()}
        for kind in (MEANING, LIST)
    }
    tables = "\n\n".join(
        f"{kind} ({len(rows[OURS])} tasks):\n\n{table(heads, [_row(name, row) for name, row in rows.items()])}"
        for kind, rows in {"All": done, **kinds}.items()
        if rows[OURS]
    )
    return (PAGE_OF_APART if is_apart else PAGE).format(
        n_tasks=len(done[OURS]),
        n_repositories=n_repositories,
        machine=machine(),
        tables=tables,
        missed="\n".join(_missed(done[OURS])) or "Nothing was missed.",
    )


def _row(name: str, rows: Sequence[Done]) -> tuple[str, ...]:
    n_places = sum(len(row.task.places) for row in rows)
    n_found = n_places - sum(len(row.missing) for row in rows)
    n_named = n_places - sum(len(row.unnamed) for row in rows)
    return (
        name,
        f"{n_found} of {n_places}",
        str(n_named),
        str(sum(not row.missing for row in rows)),
        f"{sum(row.n_calls for row in rows) / len(rows):.2f}",
        f"{sum(row.n_tokens for row in rows) / len(rows):,.0f}",
    )


def _missed(rows: Sequence[Done]) -> Iterator[str]:
    for row in rows:
        for place in row.missing:
            lines = f"{place.start_line}-{place.end_line}"
            covered = "" if place in row.unnamed else " (in the lines of a hit, which shows others of them)"
            yield f"- {row.task.repository}, “{row.task.question}”: `{place.path}:{lines}`{covered}"


OURS = "`fathom mcp`"
KNOWN = "ripgrep, the names known"
UNKNOWN = "ripgrep, the words of the question"
PAGE = """\
# Tasks of an agent

    python -m evals.agent_tasks CLONES

{n_tasks} tasks that we wrote from the code of {n_repositories} public repositories, on {machine}.
Their questions, places and commits are in `evals/agent_tasks.json`. No weight of the ranking was chosen on them; the
form of a page and the number of its names were, with questions from comments of eight other repositories (below), so
further tasks are kept apart. Each way is asked until all places of a task have a printed line, at most three times:
`fathom mcp` with the question as it stands and the next pages (`related` for "who calls X"); ripgrep with the names of
the code that answers, which an agent does not know at first, then with the words of the question; or with these words
alone, which is what it can do with the same knowledge. The script knows when to stop, a model does not. Who finds a
line still has to read around it, and a list of tools is sent once a session: neither is counted. A hit of `fathom mcp`
names its lines and prints few of them: the second column also counts the places in them. Tokens are those of
cl100k_base. The goal, as many places as ripgrep with known names, 1.2 calls a task and 0.6 of its tokens, is met for
"who calls X" and missed for questions by meaning. Before a page named functions of four files, in fewer tokens,
`fathom mcp` printed 41 of 52 places of these with 1.48 calls and 884 tokens a task (apart: 16 of 20, 1.55 and 1,040).

{tables}

What `fathom mcp` did not print within three calls:

{missed}
"""
PAGE_OF_APART = """\
## Tasks kept apart

    python -m evals.agent_tasks CLONES --apart

{n_tasks} more tasks (`evals/agent_tasks_apart.json`) from {n_repositories} other repositories, on {machine}.
Nothing was chosen on them. All else is as above.

{tables}

What `fathom mcp` did not print within three calls:

{missed}
"""


if __name__ == "__main__":
    raise SystemExit(main())
