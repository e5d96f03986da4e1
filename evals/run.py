"""Runs tools, each in its own process and environment, and scores what they returned."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evals.benchmark import Corpus, edited_file, lay
from evals.memory import run_watched
from evals.metrics import Found, Scores, score
from evals.worker import Answer, Outcome, Task

REPOSITORY = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Scored:
    """One question of one corpus, scored."""

    corpus: str
    language: str
    category: str
    question: str
    scores: Scores


@dataclass(frozen=True, slots=True)
class Run:
    """One tool over all corpora."""

    tool: str
    version: str
    python: str
    peak_bytes: int | None
    outcomes: tuple[Outcome, ...]
    scored: tuple[Scored, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """A tool that was asked for and not measured."""

    tool: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The tools that were measured, and those that were not."""

    runs: tuple[Run, ...]
    missing: tuple[Missing, ...] = ()


class ToolFailedError(Exception):
    """A tool cannot be started, or its process ended with an error."""


def run_tools(tools: Iterable[str], corpora: Sequence[Corpus], *, peer_python: str, repeat: int) -> Comparison:
    """Run tools one after another, each over fresh copies of all corpora."""
    runs: list[Run] = []
    missing: list[Missing] = []
    for tool in tools:
        print(f"{tool}:", file=sys.stderr, flush=True)
        try:
            runs.append(run_tool(tool, corpora, python=_python(tool, peer_python), repeat=repeat))
        except ToolFailedError as error:
            print(f"{tool}: not measured ({error})", file=sys.stderr)
            missing.append(Missing(tool, str(error)))
    return Comparison(tuple(runs), tuple(missing))


def run_tool(tool: str, corpora: Sequence[Corpus], *, python: str, repeat: int) -> Run:
    """Run one tool in its own process. Raises ToolFailedError."""
    with TemporaryDirectory(prefix="fathom-evals-") as folder:
        scratch, trees = Path(folder, "scratch"), Path(folder, "trees")
        scratch.mkdir()
        tasks = [asdict(_task(corpus, trees)) for corpus in corpora]
        job, result = Path(folder, "job.json"), Path(folder, "result.json")
        job.write_text(json.dumps({"tasks": tasks, "repeat": repeat}), encoding="utf-8")
        command = [_absolute(python), "-m", "evals.worker", tool, str(job), str(result), str(scratch)]
        # A peer's interpreter finds the adapters here; nothing of this environment reaches it otherwise.
        env = dict(os.environ, PYTHONPATH=str(REPOSITORY), HOME=str(scratch))
        code, peak = run_watched(command, env=env, cwd=Path(folder))
        said = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
        if code or not said:
            raise ToolFailedError(said.get("failed", f"{tool} ended with exit code {code}"))
        return read_run(said, corpora, peak)


def read_run(said: dict[str, Any], corpora: Sequence[Corpus], peak_bytes: int | None) -> Run:
    """Score what a worker wrote."""
    outcomes = tuple(_outcome(outcome) for outcome in said["outcomes"])
    by_name = {outcome.name: outcome for outcome in outcomes}
    scored = [one for corpus in corpora for one in score_corpus(corpus, by_name[corpus.name].answers)]
    return Run(said["tool"], said["version"], said["python"], peak_bytes, outcomes, tuple(scored))


def score_corpus(corpus: Corpus, answers: Sequence[Answer]) -> list[Scored]:
    """Score the answers to a corpus's questions, which come in the questions' order."""
    return [
        Scored(corpus.name, corpus.language, question.category, question.text, score(answer.places, question.targets))
        for question, answer in zip(corpus.questions, answers, strict=True)
    ]


def _python(tool: str, peer_python: str) -> str:
    return peer_python if tool in {"semble", "bm25s"} else sys.executable


def _absolute(python: str) -> str:
    """Return the interpreter's path for any working folder; links stay, because an environment is known by its own."""
    found = shutil.which(python)
    if found is None:
        raise ToolFailedError(f"no interpreter {python}")
    return str(Path(found).absolute())


def _task(corpus: Corpus, trees: Path) -> Task:
    root = lay(corpus, trees)
    questions = tuple(question.text for question in corpus.questions)
    return Task(corpus.name, str(root), questions, edited_file(corpus, root))


def _outcome(said: dict[str, Any]) -> Outcome:
    answers = tuple(
        Answer(answer["question"], tuple(Found(*place) for place in answer["places"]), tuple(answer["milliseconds"]))
        for answer in said["answers"]
    )
    return Outcome(**{**said, "answers": answers})
