"""A repository that tries to hurt its reader does not: the short form of `python -m evals.trials.repositories`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from evals.trials.hostile_trees import FORMS
from evals.trials.repositories import COMMANDS, SHORT, remove, trial
from tests.fathom import Child

# These take minutes, or gigabytes of addresses; the long form has them.
SLOW = ("a hundred thousand ignore patterns", "fifty thousand files", "settings of a hundred megabytes")
# These lie in wait for imports; the others are met by a process that was forked and has imported all.
AT_START = ("modules of python as packages", "modules of python as files", "start up files of python")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="plants links, pipes and rights as POSIX has them")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    remove(tmp_path)


@pytest.mark.parametrize("name", sorted(FORMS.keys() - set(SLOW)))
def test_every_promise_is_kept(name: str, folder: Path) -> None:
    start = subprocess.Popen if name in AT_START else Child
    assert trial(FORMS[name], folder, SHORT, start) == []


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(FORMS))
def test_every_promise_is_kept_by_every_command(name: str, folder: Path) -> None:
    assert trial(FORMS[name], folder, COMMANDS) == []


def test_the_trial_finds_what_it_looks_for(folder: Path) -> None:
    def plant(root: Path, victim: Path) -> None:
        (root / "fathom.toml").write_text("[source]\nno_such_setting = 1\n")
        victim.joinpath("changed-while-planting").write_text("")

    assert trial(plant, folder, (("search", "--json", "total"),)) == []  # an error is no broken promise

    def harm(root: Path, victim: Path) -> None:
        (root / "sub").mkdir()

    (folder / "again").mkdir()
    told = trial(harm, folder / "again", (("export", "--as", "jsonl", "-C", ".."), ("index", "-C", "..")))
    assert any("open" in item.what or "mkdir" in item.what or "changed" in item.what for item in told), told
