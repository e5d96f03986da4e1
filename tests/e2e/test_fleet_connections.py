"""Questions about the connections of a fleet share what they read, and leave it to the next process and question."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.fleet import fleet_run, opened_fleet
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.reach import FleetReach
from codefathom.search.graph import type_words
from codefathom.stores import kept_file
from codefathom.stores.catalog.catalog import Catalog

NAMES = ("alpha", "beta", "gamma")
TARGETS = ("@@run", "@@Alpha", "@@shared", "beta/core.py", "gamma/core.py @@run")


@pytest.fixture
def team(tmp_path: Path, own_folders: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """A fleet of three repositories, a shard for each, which use one another; what is kept is always written."""
    monkeypatch.setattr(fleet_run, "MOST_BYTES", 1)
    monkeypatch.setattr(kept_file, "_LEAST", 1)
    monkeypatch.setattr(type_words, "_ENOUGH", 1)
    for name, before in zip(NAMES, ("", *NAMES), strict=False):
        write(tmp_path, name, before)
    with Fleet.make("team") as fleet:
        fleet.add([str(tmp_path / name) for name in NAMES])
        fleet.index()
        yield fleet


def write(folder: Path, name: str, before: str) -> None:
    """Write a repository with a type, which stands below that of another one, and a function that others use."""
    above, imports = "", ""
    if before:
        above = before.capitalize()
        imports = f"from {before}.core import {above}\nfrom {before}.core import *\n"
    (folder / name / name).mkdir(parents=True, exist_ok=True)
    (folder / name / name / "__init__.py").write_text("")
    (folder / name / name / "core.py").write_text(
        f"{imports}\n\nclass {name.capitalize()}({above}):\n    def run(self):\n        return super().run()\n\n\n"
        f"def shared(value: {name.capitalize()}):\n    return value.run()\n"
    )


def targets(name: str) -> list[str]:
    return [target.replace("/core", f"/{target.partition('/')[0]}/core") for target in (*TARGETS, name)]


def answers(engine: Engine) -> list[object]:
    asked = [engine.related(target) for target in targets("alpha/core.py")]
    return [*asked, engine.search("who calls shared").hits]


def answers_anew(fleet: Fleet) -> list[object]:
    with Engine.open(fleet.root) as engine:
        return answers(engine)


def test_a_question_that_is_asked_again_reads_nothing_again(team: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(team.root) as engine:
        first = [engine.related(target) for target in targets("alpha/core.py")]
        assert all(result.edges for result in first)
        for method in ("references", "references_of", "types_named", "imports_of"):
            monkeypatch.setattr(Catalog, method, lambda *_, method=method: pytest.fail(f"{method} is read once more"))
        assert [engine.related(target) for target in targets("alpha/core.py")] == first


def test_the_next_process_reads_no_type(team: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answers_anew(team)
    monkeypatch.setattr(Catalog, "types_named", lambda *_: pytest.fail("types are read once more"))
    assert answers_anew(team) == first


@pytest.mark.parametrize("n_asked", [4, 9, 16, 25])
def test_what_a_question_has_left_out_others_see(team: Fleet, monkeypatch: pytest.MonkeyPatch, n_asked: int) -> None:
    """The time of a question is over after so many looks at shards; nothing of it is kept, also not for others."""
    whole = answers_anew(team)
    remove_kept(team)
    with Engine.open(team.root) as engine:
        with monkeypatch.context() as patch:
            looks = count()
            clock = partial(FleetReach, clock=lambda: 0.0 if next(looks) < n_asked else math.inf)
            patch.setattr(opened_fleet, "FleetReach", clock)
            part = engine.related("@@run")
            assert "not searched to the end" in part.completeness
            assert remove_kept(team) == 0
        assert answers(engine) == whole


def remove_kept(fleet: Fleet) -> int:
    """Remove what is kept beside the manifest, and return how many files these were."""
    files = list(Path(fleet.root).glob("graph.*"))
    for file in files:
        file.unlink()
    return len(files)


def test_a_changed_fleet_answers_like_a_new_one(team: Fleet, tmp_path: Path) -> None:
    with Engine.open(team.root) as engine:
        answers(engine)
        write(tmp_path, "alpha", "gamma")
        (tmp_path / "beta" / "beta" / "late.py").write_text(
            "from gamma.core import shared\n\n\ndef late():\n    shared(1)\n"
        )
        team.index()
        now = answers(engine)
        assert answers_anew(team) == now
        assert any("late" in repr(answer) for answer in now)
        remove_kept(team)
        assert answers_anew(team) == now
