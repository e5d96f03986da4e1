"""Of equally good places in a fleet, those in the repository that was last active come first."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.manifest import Manifest

# When the repositories were last written; "" for folders without git.
TIMES = {"aa": "2020-01-01", "bb": "2025-01-01", "cc": "", "dd": "2023-01-01", "ee": "", "ff": "2099-01-01"}
SHARED = "def shared_helper(value):\n    return value\n"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))


def commit(folder: Path, date: str) -> None:
    day = f"{date}T12:00:00+00:00"
    environment = {**os.environ, "GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day}
    git = ("git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "text")):
        subprocess.run([*git, *words], check=True, capture_output=True, timeout=60, env=environment)


@pytest.fixture
def repositories(tmp_path: Path) -> list[str]:
    for name, date in TIMES.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "own.py").write_text(f"def refresh_{name}(user):\n    return token(user)\n")
        (folder / "shared.py").write_text(SHARED)
        if date:
            commit(folder, date)
    (tmp_path / "aa" / "best.py").write_text("token(user)\ntoken(user)\n")
    commit(tmp_path / "aa", TIMES["aa"])
    return [str(tmp_path / name) for name in TIMES]


def order(fleet: Fleet, mode: str = "regex") -> list[str]:
    with Engine.open(fleet.root) as engine:
        return [hit.chunk.path.partition("/")[0] for hit in engine.search(r"token\(user", mode=mode, limit=20).hits]  # type: ignore[arg-type]


def test_equal_places_go_by_the_newest_commit(repositories: list[str], tmp_path: Path) -> None:
    with Fleet.make("team") as fleet:
        fleet.add(repositories)
        fleet.index()
        # The best one is the best one; a time in the future is as good as now.
        assert order(fleet) == ["aa", "ff", "bb", "dd", "aa", "cc", "ee"]
        with Engine.open(fleet.root) as engine:
            (hit,) = engine.search("shared_helper", mode="regex").hits
            assert hit.chunk.path == "aa/shared.py"
            assert "also in 5 other places, such as ff/shared.py, bb/shared.py, dd/shared.py" in hit.reason
            whole = [found.chunk.path for found in engine.search("lang:python", limit=50).hits]
            assert whole == sorted(whole)  # lines of a scope are no ranking
        (tmp_path / "dd" / "own.py").write_text("def refresh_dd(user):\n    return token(user, 1)\n")
        commit(tmp_path / "dd", "2026-01-01")
        fleet.index(only=["dd"])
        assert order(fleet) == ["aa", "ff", "dd", "bb", "aa", "cc", "ee"]


def test_a_manifest_without_times_is_read_and_learns_them(repositories: list[str], tmp_path: Path) -> None:
    """All processes that ask one generation give one order: times count from the next switch on."""
    with Fleet.make("team") as fleet:
        fleet.add(repositories)
        fleet.index()
        with closing(Manifest(fleet.root)) as manifest, manifest.transaction():
            manifest.write("DROP TABLE activity", [()])
        by_path = ["aa", "aa", "bb", "cc", "dd", "ee", "ff"]
        assert order(fleet) == by_path
        before = fleet.index()
        assert (before.changed, order(fleet)) == ((), by_path)
        (tmp_path / "ee" / "new.py").write_text("x = 1\n")
        assert fleet.index().generation == before.generation + 1
        assert order(fleet) == ["aa", "ff", "bb", "dd", "aa", "cc", "ee"]
        fleet.remove_source(repositories[1])
        fleet.index()
        assert order(fleet) == ["aa", "ff", "dd", "aa", "cc", "ee"]
        with closing(Manifest(fleet.root)) as manifest:
            assert set(manifest.activity()) == {"aa", "dd", "ff"}
            assert manifest.activity()["ff"] <= time.time()
