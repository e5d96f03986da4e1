"""Tests that a change touches: are the test files that a commit changed among those that `fathom impact` names?

    python -m evals.impact --repositories CLONES [--commits 40] [--only NAME]

CLONES holds bare clones with their history, OWNER+NAME/repo each. Of a repository the latest commits are taken that
change code and existing test files together. The parent is indexed, the changes of the code alone are given as a diff,
and the test files that the commit changed are looked for among the named ones. Beside it stands what names of files
give: tests ordered by how much they are called like the changed files, as many as reach the same recall.

With `--rows FILE`, what speaks for each test file is written there; `--fit FILE` learns the weights from the rows of
the development repositories and prints them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from codefathom import Engine
from codefathom.facts.languages import CODE, language_of
from codefathom.facts.paths import has_tests
from codefathom.project.impact.file_changes import of_diff
from codefathom.project.impact.impact_of_change import changed_text, symbols_of
from codefathom.search.graph.impact import USUAL_DEPTH, reach
from codefathom.search.graph.resolved_graph import ResolvedGraph
from codefathom.search.graph.touching_tests import evidence_of
from codefathom.search.ranking.places import place_of
from evals.metrics import mean

# The weights and limits were chosen on the first; the others were kept apart from every choice.
DEVELOPMENT = (
    "pallets+click",
    "sqlfluff+sqlfluff",
    "google+gson",
    "gin-gonic+gin",
    "trpc+trpc",
    "spf13+viper",
    "urllib3+urllib3",
    "jhy+jsoup",
    "honojs+hono",
    "ruby-grape+grape",
)
APART = (
    "pvlib+pvlib-python",
    "psf+requests",
    "Kludex+starlette",
    "elixir-ecto+ecto",
    "python-attrs+attrs",
    "urfave+cli",
    "sindresorhus+got",
    "marshmallow-code+marshmallow",
    "knex+knex",
    "thephpleague+commonmark",
    "laravel+framework",
)
_MOST_FILES = 20  # of a commit: one that touches more is no single change
_BRANCH = "refs/heads/parent-of-change"


class Commit(NamedTuple):
    """A commit that changes code and tests."""

    name: str
    code: tuple[str, ...]
    tests: tuple[str, ...]  # that existed before


class Outcome(NamedTuple):
    """What was named for a commit."""

    tests: frozenset[str]  # that the commit changed
    named: tuple[str, ...]  # best first
    by_file_name: tuple[tuple[float, str], ...]  # every test file with its likeness, best first


def main() -> None:
    """Ask about every commit and print a line for each repository, and for those apart and those of development."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repositories", type=Path)
    parser.add_argument("--commits", type=int, default=40)
    parser.add_argument("--only", default="")
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--fit", type=Path)
    options = parser.parse_args()
    if options.fit:
        fit(options.fit)
        return
    for group, names in (("kept apart", APART), ("development", DEVELOPMENT)):
        chosen = [name for name in names if options.only in name]
        outcomes = []
        for name in chosen:
            own = list(outcomes_of(options.repositories / name / "repo", options.commits, options.rows))
            print(line_of(name, own), flush=True)
            outcomes += own
        if chosen:
            print(line_of(f"all {group}", outcomes), flush=True)


def outcomes_of(repository: Path, n_commits: int, rows: Path | None) -> Iterator[Outcome]:
    """Yield the outcome of each commit of a repository, the oldest first."""
    commits = list(commits_of(repository, n_commits))
    with _clone(repository) as clone:
        for commit in reversed(commits):
            _git(clone, "update-ref", _BRANCH, f"{commit.name}^")
            diff = _git(clone, "diff", "--no-color", f"{commit.name}^", commit.name, "--", *commit.code)
            with Engine.open(str(clone), revision=_BRANCH.rpartition("/")[2], is_root=True) as engine:
                tests = tuple(item.path for item in engine.impact(diff=diff, limit=100_000).tests)
                files = [item.path for item in engine.files.listed()]
                if rows is not None:
                    _write_rows(rows, repository.parent.name, commit, engine, diff)
            yield Outcome(frozenset(commit.tests), tests, tuple(_by_file_name(commit, files)))


def commits_of(repository: Path, most: int) -> Iterator[Commit]:
    """Yield the latest commits that change code and existing tests together."""
    log = _git(
        repository, "log", "--no-merges", "--no-renames", "--format=%x00%H", "--name-status", "-n", "6000", "HEAD"
    )
    for entry in log.split("\0")[1:]:
        name, *changes = entry.strip().split("\n")
        pairs = [line.split("\t", 1) for line in changes if "\t" in line]
        tests = tuple(path for status, path in pairs if status == "M" and has_tests(path))
        code = tuple(path for _, path in pairs if language_of(path) in CODE and not _is_aside(path))
        if tests and code and len(pairs) <= _MOST_FILES and most:
            most -= 1
            yield Commit(name, code, tests)


def _is_aside(path: str) -> bool:
    return has_tests(path) or place_of(path).is_test


# ---- figures


def line_of(name: str, outcomes: Sequence[Outcome]) -> str:
    """Return recall and precision of what is named, and the precision of file names at the same recall."""
    recall, precision = _recall(outcomes), _precision(outcomes)
    names = by_names_at(outcomes, recall)
    n_named = mean([float(len(item.named)) for item in outcomes])
    return (
        f"{name:24} {len(outcomes):4} commits  recall {recall:.3f}  precision {precision:.3f}  named {n_named:5.1f}  "
        f"| file names: recall {names.recall:.3f}  precision {names.precision:.3f}  named {names.n_named:5.1f}"
    )


class NamesFigures(NamedTuple):
    """File names as a ranking, cut where their recall is that of another one."""

    recall: float
    precision: float
    n_named: float


def by_names_at(outcomes: Sequence[Outcome], recall: float) -> NamesFigures:
    """Return the figures of file names at the highest limit of likeness with at least this recall.

    Where many files are equally alike, all of them count. Without any likeness all tests are named.
    """
    limits = sorted({score for item in outcomes for score, _ in item.by_file_name}, reverse=True)
    figures = NamesFigures(0.0, 0.0, 0.0)
    for limit in limits:
        cut = [
            item._replace(named=tuple(path for score, path in item.by_file_name if score >= limit)) for item in outcomes
        ]
        n_named = mean([float(len(item.named)) for item in cut])
        figures = NamesFigures(_recall(cut), _precision(cut), n_named)
        if figures.recall >= recall:
            break
    return figures


def _recall(outcomes: Sequence[Outcome]) -> float:
    return mean([len(item.tests.intersection(item.named)) / len(item.tests) for item in outcomes])


def _precision(outcomes: Sequence[Outcome]) -> float:
    """Return the mean share of named files that the commit changed; 0 where nothing is named."""
    return mean([len(item.tests.intersection(item.named)) / max(len(item.named), 1) for item in outcomes])


def _by_file_name(commit: Commit, files: Sequence[str]) -> list[tuple[float, str]]:
    """Return all test files, those first that share most words of their name, then of their path, with a code file."""
    tests = [path for path in files if has_tests(path)]
    code = [(_words(path), _folders(path)) for path in commit.code]
    scored = []
    for path in tests:
        words, folders = _words(path), _folders(path)
        likeness = max(_jaccard(words, stem) + 0.01 * _jaccard(folders, around) for stem, around in code)
        scored.append((round(likeness, 4), path))
    return sorted(scored, key=lambda pair: (-pair[0], pair[1]))


def _words(path: str) -> frozenset[str]:
    return frozenset(word.lower() for word in place_of(path).stem) - {"test", "tests", "spec"}


def _folders(path: str) -> frozenset[str]:
    return frozenset(path.lower().split("/")[:-1])


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


# ---- learning


def _write_rows(file: Path, name: str, commit: Commit, engine: Engine, diff: str) -> None:
    opened = engine.opened
    changes = of_diff(opened, diff)
    graph = ResolvedGraph(opened.catalog)
    matches = reach(graph, [item for change in changes.changes for item in symbols_of(opened, change)], USUAL_DEPTH)
    evidence = evidence_of(matches.touches, changed_text(changes), graph.resolver.language_of, opened.catalog.texts)
    row = {"repository": name, "commit": commit.name, "tests": commit.tests, "evidence": evidence}
    with file.open("a") as rows:
        rows.write(json.dumps(row) + "\n")


def fit(file: Path) -> None:
    """Learn the weights by gradient descent on the logistic loss, each commit with the same weight; print them."""
    import numpy as np

    rows = [json.loads(line) for line in file.read_text().splitlines()]
    own = [row for row in rows if row["repository"] in DEVELOPMENT]
    values = np.array([item for row in own for item in row["evidence"].values()])
    truth = np.array([path in row["tests"] for row in own for path in row["evidence"]], dtype=float)
    sizes = [len(row["evidence"]) for row in own]
    weight = np.concatenate([_weights_of(row) for row in own]) if sizes else np.zeros(0)
    parameters = np.zeros(values.shape[1] + 1)
    for _ in range(4_000):
        expected = 1 / (1 + np.exp(-(values @ parameters[:-1] + parameters[-1])))
        error = weight * (expected - truth)
        gradient = np.append(values.T @ error, error.sum()) / weight.sum() + 1e-4 * parameters
        parameters -= 2.0 * gradient
        parameters[:-1] = np.maximum(parameters[:-1], 0.0)
    print("weights", [round(float(value), 2) for value in parameters[:-1]], "bias", round(float(parameters[-1]), 2))


def _weights_of(row: Mapping[str, Any]) -> Any:
    import numpy as np

    is_true = np.array([path in row["tests"] for path in row["evidence"]])
    n_true, n_false = max(int(is_true.sum()), 1), max(int((~is_true).sum()), 1)
    return np.where(is_true, 1 / n_true, 4 / n_false)


# ---- git


@contextmanager
def _clone(repository: Path) -> Iterator[Path]:
    """Give a bare clone in which a branch can be moved; it shares the objects."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / repository.parent.name
        subprocess.run(["git", "clone", "-q", "--bare", "--shared", str(repository), str(clone)], check=True)
        yield clone


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "core.quotepath=false", *words]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
