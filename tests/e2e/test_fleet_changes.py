"""A run after a change: it costs what has changed, and leaves what a fleet has that is made from nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import FunctionType
from typing import cast

import pytest
from tests.counted import n_calls_of

from codefathom import Engine
from codefathom.cli import main
from codefathom.fleet import shard_parts
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.manifest import Manifest
from codefathom.fleet.name_filter import NameFilter
from codefathom.fleet.shards import SHARDS
from codefathom.fleet.sources import version_of
from codefathom.source.revisions.git_program import output_of_git
from codefathom.stores.catalog import packed_references
from codefathom.stores.catalog.catalog import CATALOGUE, Catalog
from codefathom.text.file_stems import by_stem, flat_stem

N_FILES = 60
QUESTIONS = ("freshly_written", "helper_7", "who calls helper_12", "what was removed", "taken_out", "value lang:python")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "shop"
    folder.mkdir()
    for number in range(N_FILES):
        (folder / f"part_{number}.py").write_text(
            f"def helper_{number}(value):\n    return helper_{number + 1}(other_{number}(value))\n"
        )
    (folder / "gone.py").write_text("def taken_out():\n    return what_was_removed()\n")
    return folder


@pytest.fixture
def team(shop: Path) -> Iterator[Fleet]:
    with Fleet.make("team") as fleet:
        fleet.add([str(shop)])
        fleet.index()
        yield fleet


def change(shop: Path) -> None:
    (shop / "part_3.py").write_text("def freshly_written(value):\n    return newly_called(value)\n")
    (shop / "added.py").write_text("class AddedLater:\n    pass\n")
    (shop / "gone.py").unlink()


def names_in_filter(fleet: Fleet) -> NameFilter:
    with closing(Manifest(fleet.root)) as manifest:
        return NameFilter(manifest.names_of(1))


def catalogue_in_force(fleet: Fleet) -> Path:
    return Path(fleet.root, SHARDS, fleet.status().shards[0].folder, CATALOGUE)


def test_a_change_reads_what_has_changed(team: Fleet, shop: Path) -> None:
    change(shop)
    # The names of two documents that are written anew, and the imports that one of them and one that goes had: nothing
    # that is as it was is compared row by row.
    n_rows = n_calls_of(cast(FunctionType, packed_references.inflated), team.index)
    assert 0 < n_rows <= 6, f"{n_rows} of {N_FILES + 1} documents were read"
    names = names_in_filter(team)
    for name in ("freshly_written", "newly_called", "AddedLater", "helper_7", "other_20"):
        assert names.may_have(name)


def parts_with_inodes(fleet: Fleet) -> dict[str, int]:
    """Return the files of the shard as they were listed, with the numbers that the disk has for them."""
    with closing(Manifest(fleet.root)) as manifest:
        (shard,), parts = manifest.shards(), manifest.parts()[1]
    folder = Path(fleet.root, SHARDS, shard.folder)
    return {part.name: (folder / part.name).stat().st_ino for part in parts}


def test_a_new_version_reads_the_files_that_it_has_written(team: Fleet, shop: Path) -> None:
    """What only gets a second name is not read for its digest, which stays that of the time when it was written.

    Of the catalogue the blocks are read that were written.
    """
    before = parts_with_inodes(team)
    (shop / "added.py").write_text("class AddedLater:\n    pass\n")
    n_read = n_calls_of(cast(FunctionType, shard_parts._digest), team.index)
    now = parts_with_inodes(team)
    taken = [name for name, number in now.items() if before.get(name) == number]
    assert len(taken) >= 6, "the disk has given files of words a second name"
    assert n_read == len(now) - len(taken) - 1
    assert team.verify() == ()


def test_damage_in_a_file_with_a_second_name_is_found_after_a_change(team: Fleet, shop: Path) -> None:
    (path,) = Path(team.root, SHARDS, team.status().shards[0].folder, "lexical").glob("*/*.idx")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    (shop / "added.py").write_text("class AddedLater:\n    pass\n")
    team.index()
    # The checksum of the words differs, so that they are made anew.
    assert team.verify() == ()
    with Engine.open(team.root) as engine:
        assert engine.search("helper_7").hits


def test_a_version_is_known_by_the_word_of_the_one_before(team: Fleet, shop: Path) -> None:
    """The catalogue is opened once, and gets no further mark for each version."""
    assert n_calls_of(cast(FunctionType, Catalog.mark), lambda: (change(shop), team.index())) == 0
    (shop / "later.py").write_text("LATER = 1\n")
    assert n_calls_of(cast(FunctionType, Catalog.mark), team.index) == 0
    assert team.verify() == ()


def test_a_run_of_one_repository_looks_at_no_other(team: Fleet, tmp_path: Path) -> None:
    others = [tmp_path / "others" / f"other_{number}" for number in range(5)]
    for folder in others:
        folder.mkdir(parents=True)
        (folder / "code.py").write_text(f"def of_{folder.name}(): pass\n")
    team.add([str(folder) for folder in others])
    team.index()
    (others[3] / "code.py").write_text("def changed_here(): pass\n")
    (others[4] / "code.py").write_text("def changed_there(): pass\n")
    assert n_calls_of(cast(FunctionType, Manifest.repositories), lambda: team.index(only=["other_3"])) == 1
    with Engine.open(team.root) as engine:
        assert engine.search("changed_here").hits[0].chunk.path == "other_3/code.py"
        assert not [hit for hit in engine.search("changed_there").hits if "changed_there" in hit.chunk.text]
    assert n_calls_of(cast(FunctionType, version_of), lambda: team.index(only=["other_4"])) == 1


def test_names_of_files_are_written_for_those_that_came_or_went(team: Fleet, shop: Path) -> None:
    (shop / "late").mkdir()
    (shop / "late" / "__init__.py").write_text("LATE = 1\n")  # it is called like its folder, too
    change(shop)
    assert n_calls_of(cast(FunctionType, flat_stem), team.index) < 5, "names of files that are as before"
    with closing(Manifest(team.root)) as manifest:
        listed = manifest.read("SELECT stem, path FROM stems ORDER BY stem, path")
        paths = manifest.built_paths(1)
    assert listed == sorted((stem, path) for stem, same in by_stem(paths).items() for path in same)
    assert "shop/late/__init__.py" in paths
    assert "shop/gone.py" not in paths


def test_the_end_of_a_run_is_told_without_a_look_at_all_files(team: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    assert n_calls_of(cast(FunctionType, Manifest.n_contents), lambda: main(["fleet", "index", "team"])) == 0
    assert capsys.readouterr().out == (
        f"team: 0 repositories changed, 0 shards made; 1 repository, 1 shard, {2 * N_FILES + 2} lines\n"
    )


MODULES = """
import gc, sys
from codefathom.cli import main
looks = []
gc.callbacks.append(lambda phase, info: looks.append(phase))
assert main() == 0
print(len(looks), *sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("command", ("fleet index team shop", "search -p team helper_7"))
def test_a_fleet_on_this_machine_loads_nothing_that_speaks_to_others(team: Fleet, command: str) -> None:
    assert main(["-q", "fleet", "add", "team", team.status().sources[0]]) == 0  # also a name for questions
    words = [sys.executable, "-c", MODULES, *command.split()]
    ran = subprocess.run(words, check=True, capture_output=True, text=True, timeout=120)
    n_looks, *modules = ran.stderr.splitlines()[-1].split()
    loaded = set(modules)
    assert int(n_looks) <= 4, "looks of Python for circles of objects: a process that ends soon finds none"
    assert "codefathom.fleet.manifest" in loaded
    assert {"httpx", "codefathom.fleet.cluster.ray_cluster", "codefathom.fleet.code_hosts"}.isdisjoint(loaded)


def test_a_clone_that_is_as_before_costs_one_process_of_git(team: Fleet, tmp_path: Path) -> None:
    for number in range(3):
        folder = tmp_path / "clones" / f"clone_{number}"
        folder.mkdir(parents=True)
        (folder / "code.py").write_text(f"def of_clone_{number}(): pass\n")
        git = ("git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org")
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "first")):
            subprocess.run([*git, *words], check=True, capture_output=True, timeout=60)
    team.add([str(tmp_path / "clones")])
    team.index()
    assert n_calls_of(cast(FunctionType, output_of_git), team.index) == 3
    assert [item.branch for item in team.status().repositories] == ["main", "main", "main", ""]


def test_the_copy_that_a_version_begins_with_is_compared(team: Fleet, shop: Path) -> None:
    """One wrong byte in the version before is in no new version."""
    path = catalogue_in_force(team)
    content = bytearray(path.read_bytes())
    place = content.index(b"helper_20")
    content[place : place + 9] = b"helper_99"
    path.write_bytes(content)
    change(shop)
    team.index()
    assert team.verify() == ()
    with closing(Catalog.open(str(catalogue_in_force(team)), read_only=True)) as catalog:
        assert "helper_20" in catalog.symbol_names()
        assert "helper_99" not in catalog.symbol_names()


def test_a_filter_that_has_become_too_full_is_made_anew(team: Fleet, shop: Path) -> None:
    small = len(names_in_filter(team).content)
    for number in range(N_FILES):
        names = " + ".join(f"late_{number}_{item}()" for item in range(20))
        (shop / f"late_{number}.py").write_text(f"def total_{number}():\n    return {names}\n")
    team.index()
    names = names_in_filter(team)
    assert len(names.content) > 2 * small
    assert names.may_have("late_7_7")
    assert sum(names.may_have(f"never_{number}") for number in range(1_000)) < 60


def test_a_changed_fleet_answers_like_a_new_one(team: Fleet, shop: Path) -> None:
    change(shop)
    team.index()
    with Fleet.make("new") as new:
        new.add([str(shop)])
        new.index()
        with Engine.open(team.root) as changed, Engine.open(new.root) as made:
            for question in QUESTIONS:
                first, second = changed.search(question, limit=20), made.search(question, limit=20)
                assert [hit.chunk.path for hit in first.hits] == [hit.chunk.path for hit in second.hits], question
            for name in ("freshly_written", "helper_", "taken_out", "AddedLater"):
                assert changed.symbols(name) == made.symbols(name)


def test_a_copy_that_a_killed_run_has_begun_is_completed(team: Fleet, shop: Path, tmp_path: Path) -> None:
    """Whatever of it is there, the filter has all names."""
    before = catalogue_in_force(team)
    change(shop)
    shutil.copytree(team.root, tmp_path / "kept")
    team.index()
    begun = catalogue_in_force(team).parent.name
    team.close()
    shutil.rmtree(team.root)
    shutil.copytree(tmp_path / "kept", team.root)
    (Path(team.root) / SHARDS / begun).mkdir()
    shutil.copy(before, Path(team.root) / SHARDS / begun / CATALOGUE)
    with Fleet.open("team") as again:
        again.index()
        names = names_in_filter(again)
        assert all(map(names.may_have, ("freshly_written", "newly_called", "helper_7")))
