"""One new commit costs one look at those that are known: steps are counted, no time is measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.counted import Steps, TwoProjects, counting
from tests.waiting import LONG_S

from codefathom import Engine

FEW, MANY = 20, 220  # commits
_WHO = "committer Ann Bee <ann@example.org>"
QUESTION = "why was the limit changed"


def write(folder: Path, numbers: range) -> None:
    """Add commits, each a second later than the one before."""
    first = "from refs/heads/main^0\n" if numbers.start else ""
    text = ""
    for number in numbers:
        message = f"Change limit {number}"
        text += (
            f"commit refs/heads/main\n{_WHO} {1_600_000_000 + number} +0000\ndata {len(message)}\n{message}\n{first}"
        )
        first = ""
    subprocess.run(
        ["git", "-C", str(folder), "fast-import", "--quiet"], input=text.encode(), check=True, timeout=LONG_S
    )


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> TwoProjects:
    few, many = (tmp_path_factory.mktemp(str(size)) / "project" for size in (FEW, MANY))
    for folder, size in ((few, FEW), (many, MANY)):
        subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True, timeout=LONG_S)
        write(folder, range(size))
        search(folder)
    return TwoProjects(few, many)


def search(folder: Path) -> list[str]:
    with Engine.open(str(folder)) as engine:
        return [hit.commit.subject for hit in engine.search(QUESTION, commits=True).hits if hit.commit]


def test_one_new_commit_is_one_look_at_each_known_one(projects: TwoProjects, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[list[Steps]] = []
    for folder, size in zip(projects, (FEW, MANY), strict=True):
        write(folder, range(size, size + 1))
        search(folder)  # the first run in a process loads modules
        steps.append([])
        for is_new in (False, True):
            if is_new:
                write(folder, range(size + 1, size + 2))
            with counting(monkeypatch) as counted:
                search(folder)
            steps[-1].append(counted)
    without, with_one = ([of[number].n_steps for of in steps] for number in (0, 1))
    extra = (with_one[1] - without[1]) - (with_one[0] - without[0])
    assert extra <= 4 * (MANY - FEW), f"{extra} steps for {MANY - FEW} commits more"
