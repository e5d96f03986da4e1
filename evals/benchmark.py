"""Corpora and questions: the development benchmark, its Chinese wordings, and Python's standard library."""

from __future__ import annotations

import json
import os
import shutil
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.metrics import Target

HERE = Path(__file__).parent
STANDARD_LIBRARY = "python-stdlib"
CHINESE = "Chinese wording"
# Not part of what a program imports, or absent from some distributions.
NOT_LIBRARY = ("site-packages", "dist-packages", "__pycache__", "test", "tests", "idlelib", "lib2to3", "turtledemo")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the places that answer it."""

    text: str
    category: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A tree and the questions about it. `inner` is the part of the tree that is indexed, "" for all."""

    name: str
    language: str
    source: Path
    inner: str
    questions: tuple[Question, ...]


class MissingCorpusError(Exception):
    """A tree of the benchmark is not where it should be."""


def bench_folder() -> Path:
    """Return the folder of the annotated questions: BENCH_DIR, or where it usually lies beside this repository."""
    return Path(os.environ.get("BENCH_DIR") or HERE.parents[1] / "shared" / "bench")


def development(bench: Path, corpora: Path, names: Sequence[str] = ()) -> list[Corpus]:
    """Read the annotated corpora of a benchmark folder, all or those named. Raises MissingCorpusError."""
    chinese = _read(bench / "queries-zh.json") if (bench / "queries-zh.json").exists() else {}
    specs = sorted(_read(bench / "repos.json"), key=lambda spec: str(spec["name"]))
    return [_corpus(bench, corpora, spec, chinese) for spec in specs if not names or spec["name"] in names]


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of the development benchmark, at the commit whose tree is a corpus."""

    name: str
    language: str
    revision: str


def repositories(bench: Path) -> list[Repository]:
    """Return the repositories of a benchmark folder, in its order; no question is read."""
    return [Repository(spec["name"], spec["language"], spec["revision"]) for spec in _read(bench / "repos.json")]


def standard_library() -> Corpus:
    """Return the library of the Python that runs this, with questions whose answer is one known file."""
    questions = tuple(
        Question(text, "known item", (Target(path),)) for text, path in _read(HERE / "stdlib.json").items()
    )
    return Corpus(STANDARD_LIBRARY, "python", Path(sysconfig.get_path("stdlib")), "", questions)


def lay(corpus: Corpus, folder: Path) -> Path:
    """Copy the indexed part of a corpus below `folder` and return it: tools may write there and files are edited."""
    root = folder / corpus.name / corpus.inner
    ignore = shutil.ignore_patterns(*NOT_LIBRARY) if corpus.name == STANDARD_LIBRARY else None
    shutil.copytree(corpus.source / corpus.inner, root, symlinks=True, ignore=ignore)
    return root


def edited_file(corpus: Corpus, root: Path) -> str:
    """Return the path below root of the first annotated file that is there: the file that is edited."""
    for target in (target for question in corpus.questions for target in question.targets):
        path = target.path.removeprefix(f"{corpus.inner}/") if corpus.inner else target.path
        if (root / path).is_file():
            return path
    raise MissingCorpusError(f"{corpus.name}: none of the annotated files is in {root}")


def _corpus(bench: Path, corpora: Path, spec: dict[str, Any], chinese: dict[str, dict[str, str]]) -> Corpus:
    name, inner = spec["name"], spec.get("benchmark_root") or ""
    if not (corpora / name / inner).is_dir():
        raise MissingCorpusError(f"no tree of {name} in {corpora}; set BENCH_CORPORA, see the README of {bench}")
    questions = [_question(item) for item in _read(bench / "annotations" / f"{name}.json")]
    in_chinese = [
        Question(text, CHINESE, questions[int(number)].targets) for number, text in chinese.get(name, {}).items()
    ]
    return Corpus(name, spec["language"], corpora / name, inner, (*questions, *in_chinese))


def _question(item: dict[str, Any]) -> Question:
    targets = tuple(_target(target) for target in (*item.get("relevant", ()), *item.get("secondary", ())))
    return Question(item["query"], item["category"], targets)


def _target(target: str | dict[str, Any]) -> Target:
    if isinstance(target, str):
        return Target(target)
    return Target(target["path"], target.get("start_line"), target.get("end_line"))


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
