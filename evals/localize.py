"""Issue localisation: the files that fixed an issue, found by its text.

    python -m evals.localize --repositories CLONES

BENCH_DIR names the folder that holds `localization/queries.jsonl`; CLONES holds a bare clone of each repository as
`owner+name/repo`. The index of one revision is brought to the next by what changed, as a user's would be. Tests are not
candidates.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from codefathom import Engine
from codefathom.types import Filter, FilterGroup
from evals.benchmark import bench_folder
from evals.metrics import mean

N_FILES = 20
CODE = FilterGroup("AND", (Filter("language", "eq", "python"), Filter("is_test", "eq", False)))


class Issue(NamedTuple):
    """One issue, the state in which it was reported, and the files that its fix changed."""

    name: str
    repository: str
    revision: str
    text: str
    files: frozenset[str]
    changed: tuple[tuple[str, int], ...] = ()  # the first line of each change: (path, line)


def main() -> None:
    """Ask for every issue and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--results", type=Path, help="write the ranked files of each issue, one JSON object a line")
    options = parser.parse_args()
    issues = all_issues()
    ranked = dict(localize(issues, options.repositories))
    if options.results:
        rows = [json.dumps({"id": name, "ranked": files}) for name, files in ranked.items()]
        options.results.write_text("\n".join(rows) + "\n", "utf-8")
    print(" ".join(f"{name} {value:.1f}" for name, value in figures(issues, ranked).items()))


def localized(repositories: Path) -> dict[str, float]:
    """Return the figures of all issues of the benchmark."""
    issues = all_issues()
    return figures(issues, dict(localize(issues, repositories)))


def all_issues() -> list[Issue]:
    """Return the issues of the benchmark."""
    return read_issues(bench_folder() / "localization" / "queries.jsonl")


def read_issues(path: Path) -> list[Issue]:
    """Return the issues of a file, those of a repository in the order of time."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows.sort(key=lambda row: (row["repo"], row["created_at"]))
    return [
        Issue(
            row["id"],
            row["repo"],
            row["revision"],
            row["query"],
            frozenset(row["relevant"]),
            tuple((span["path"], span["start"]) for span in row.get("spans", ())),
        )
        for row in rows
    ]


def localize(issues: Sequence[Issue], repositories: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each issue with the files found, best first."""
    for issue, engine in as_reported(issues, repositories):
        result = engine.search(issue.text, limit=N_FILES, level="file", where=CODE)
        yield issue.name, [hit.chunk.path for hit in result.hits]


def as_reported(issues: Sequence[Issue], repositories: Path) -> Iterator[tuple[Issue, Engine]]:
    """Yield each issue with the index of its repository in the state in which it was reported."""
    by_repository: dict[str, list[Issue]] = defaultdict(list)
    for issue in issues:
        by_repository[issue.repository].append(issue)
    for name, own in by_repository.items():
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            os.environ["FATHOM_INDEX_DIR"] = str(Path(folder) / "index")
            clone = repositories / name.replace("/", "+") / "repo"
            subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", clone, tree], check=True)
            # Only these can be candidates, and a clone need not hold anything else.
            subprocess.run(["git", "-C", tree, "sparse-checkout", "set", "--no-cone", "*.py"], check=True)
            for issue in own:
                subprocess.run(["git", "-C", tree, "checkout", "-qf", "--detach", issue.revision], check=True)
                with Engine.open(str(tree)) as engine:
                    engine.index()
                    yield issue, engine


def figures(issues: Sequence[Issue], ranked: dict[str, list[str]]) -> dict[str, float]:
    """Return acc@k, the share of issues all of whose files are among the first k, and hit@k, at least one; percent."""
    result: dict[str, float] = {}
    for k in (1, 5, 10):
        first = [(issue.files, set(ranked[issue.name][:k])) for issue in issues]
        result[f"acc@{k}"] = 100 * mean(float(files <= found) for files, found in first)
        result[f"hit@{k}"] = 100 * mean(float(bool(files & found)) for files, found in first)
    return result


if __name__ == "__main__":
    main()
