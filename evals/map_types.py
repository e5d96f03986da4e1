"""Maps of projects: the share of a project's main types that stand in a small map.

    python -m evals.map_types --repositories CLONES

CLONES holds a bare clone of each repository of `evals/map_types.tsv` as `owner+name/repo`. The types there are those
that the README of the project names, or its examples use; of celery and flask those that a person named. *apart* are
projects by which no number was chosen.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from codefathom import Engine
from codefathom.search.graph.project_map import ProjectMap
from codefathom.search.ranking.places import place_of
from codefathom.types import TYPE_KINDS
from evals.metrics import mean

BUDGETS = (500, 800, 2_000)
_PROJECTS = Path(__file__).with_name("map_types.tsv")


class Project(NamedTuple):
    """A repository with the types that a reader of its README expects in a map."""

    repository: str
    revision: str
    part: str  # "open" or "apart"
    types: frozenset[str]


def main() -> None:
    """Print for each project, and for each part, the share of its main types in maps of each size, in percent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repositories", type=Path, required=True)
    options = parser.parse_args()
    rows: dict[str, list[Mapping[int, frozenset[str]]]] = {}
    projects = read_projects(_PROJECTS)
    print(f"| project | part | main types | {' | '.join(f'{budget:,} tokens' for budget in BUDGETS)} |")
    print(f"| --- | --- | --- |{' --: |' * len(BUDGETS)}")
    for project in projects:
        with indexed(project, options.repositories) as engine:
            shown = {budget: project.types & types_of(engine.map(max_tokens=budget)) for budget in BUDGETS}
        rows.setdefault(project.part, []).append(shown)
        names = " ".join(f"`{name}`" for name in sorted(project.types))
        counts = " | ".join(f"{len(shown[budget])} of {len(project.types)}" for budget in BUDGETS)
        print(f"| {project.repository} | {project.part} | {names} | {counts} |", flush=True)
    for part, found in rows.items():
        n_types = [len(project.types) for project in projects if project.part == part]
        shares = (mean(100 * len(row[budget]) / n for row, n in zip(found, n_types, strict=True)) for budget in BUDGETS)
        print(f"| *mean of {len(found)}* | {part} | {sum(n_types)} types | {' | '.join(f'{x:.1f}' for x in shares)} |")


def read_projects(path: Path) -> list[Project]:
    """Return the projects of a table."""
    _, *rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return [Project(repository, revision, part, frozenset(types.split())) for repository, revision, part, types in rows]


@contextmanager
def indexed(project: Project, clones: Path) -> Iterator[Engine]:
    """Give an index of the project at its revision; it is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        os.environ["FATHOM_INDEX_DIR"] = str(Path(folder) / "index")
        clone = clones / project.repository.replace("/", "+") / "repo"
        archive = subprocess.run(
            ["git", "--git-dir", clone, "archive", project.revision], check=True, stdout=subprocess.PIPE
        )
        subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
        with Engine.open(str(tree)) as engine:
            engine.index()
            yield engine


def types_of(project: ProjectMap) -> frozenset[str]:
    """Return the names of types in a map, without their outer names and without those of tests."""
    files = (file for file in project.files if not place_of(file.path).is_aside)
    return frozenset(
        symbol.name.rpartition(".")[2] for file in files for symbol in file.symbols if symbol.kind in TYPE_KINDS
    )


if __name__ == "__main__":
    main()
