"""No change is missed because a tree was remembered: what a look finds is what a whole comparison would find."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.protocols import tiny
from tests.removing import remove_folder
from tests.waiting import pass_tick

from codefathom import Engine
from codefathom.config.configuration import load_settings
from codefathom.index.plan_again import plan_again, remember
from codefathom.stores.catalog.records import Batch
from codefathom.system import mounts
from codefathom.system.mounts import keeps_folder_times
from codefathom.types import Progress

pytestmark = pytest.mark.skipif(not keeps_folder_times(os.getcwd()), reason="this disk keeps no times of folders")


@pytest.fixture
def root(tmp_path: Path, own_folders: None) -> Path:
    root = tmp_path / "work" / "project"
    (root / "one").mkdir(parents=True)
    (root / ".fathom").mkdir()
    (root.parent / ".git/info").mkdir(parents=True)
    (root / "a.py").write_text("def alpha():\n    return 1\n")
    (root / "one/b.py").write_text("def beta():\n    return 2\n")
    (root / "link.py").symlink_to("a.py")
    return root


def opened(root: Path, **wanted: object) -> Engine:
    names = {name.replace("__", "."): value for name, value in wanted.items()}
    return Engine.open(str(root), settings=load_settings(str(root), overrides=names))


def index(root: Path, **wanted: object) -> None:
    """Index until the tree is remembered with a stamp of each entry."""
    for _ in range(2):
        grow_older(root)
        with opened(root, **wanted) as engine:
            engine.index()


def grow_older(root: Path) -> None:
    """Wait until what is written now has another stamp than all that was written before."""
    pass_tick(root.parent.parent / "probe")


def shown(root: Path) -> set[str]:
    """Return the files that a search finds in a new process, after it has looked at the tree."""
    with opened(root) as engine:
        engine.current.refresh()
        return {document.path for document in engine.opened.catalog.documents()}


# ---- rules from outside of the tree


OUTER: dict[str, Callable[[Path], Path]] = {
    "exclude": lambda root: root.parent / ".git/info/exclude",
    "above": lambda root: root.parent / ".gitignore",
    "user": lambda root: root.parent / "user-excludes",
}


@pytest.mark.parametrize("place", OUTER)
def test_rules_that_come_while_a_run_works_are_seen_by_the_next_look(
    root: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = OUTER[place](root)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(root.parent / "gitconfig"))
    (root.parent / "gitconfig").write_text(f"[core]\n\texcludesFile = {OUTER['user'](root)}\n")
    grow_older(root)
    with opened(root) as engine, closing(engine.index_events()) as events:
        for event in events:
            if isinstance(event, Progress) and event.phase == "index":  # the tree is listed
                file.write_text("b.py\n")
    assert shown(root) == {"a.py"}


# ---- a catalogue that another process writes


def test_a_tree_is_not_remembered_for_what_another_process_has_written_meanwhile(root: Path) -> None:
    index(root)
    with opened(root) as engine, opened(root) as other:
        one, recipe = engine.opened, engine.opened.recipe
        todo = plan_again(one.catalog, recipe, one.tree)
        assert not todo.n_pending
        other.opened.catalog.write(Batch(removed=("a.py",)))
        remember(one.tree, one.catalog, recipe, todo)
        assert [job.file.path for job in plan_again(one.catalog, recipe, one.tree).jobs] == ["a.py"]


def test_a_run_with_other_rules_between_a_look_and_its_end_is_made_good(root: Path) -> None:
    index(root)
    with opened(root) as engine:
        one, recipe = engine.opened, engine.opened.recipe
        todo = plan_again(one.catalog, recipe, one.tree)
        with opened(root, source__ignore=["b.py"]) as other:
            assert other.index().removed == ("one/b.py",)
        remember(one.tree, one.catalog, recipe, todo)
    assert shown(root) == {"a.py", "one/b.py"}


def test_an_older_catalogue_with_as_many_writes_hides_no_change(root: Path, tmp_path: Path) -> None:
    index(root)
    folder = root / ".fathom"
    shutil.copytree(folder, tmp_path / "before")
    (root / "a.py").write_text("def other():\n    return 1\n")
    grow_older(root)
    with opened(root) as engine:
        engine.update(["a.py"])
    assert shown(root) == {"a.py", "one/b.py"}  # and the tree is remembered
    for file in folder.glob("catalog*"):
        file.unlink()
    for file in (tmp_path / "before").glob("catalog*"):
        shutil.copy2(file, folder)
    (root / "one/b.py").write_text("def third():\n    return 1\n")
    grow_older(root)
    with opened(root) as engine:
        engine.update(["one/b.py"])
    with opened(root) as engine:
        engine.current.refresh()
        assert "other" in (engine.opened.catalog.text("a.py") or "")


# ---- what a run reports


def test_a_remembered_tree_says_why_files_are_left_out_as_a_listed_one_does(root: Path) -> None:
    with opened(root) as engine:
        first = engine.index().skipped
    index(root)
    with opened(root) as engine:
        assert engine.index().skipped == first


def test_a_tree_with_a_folder_that_is_always_listed_is_written_once(root: Path) -> None:
    (root / "one/.git").write_text("gitdir: ../../.git/modules/one\n")
    index(root)
    shown(root)
    before = (root / ".fathom/tree.stamps").stat()
    shown(root)
    assert (root / ".fathom/tree.stamps").stat().st_ino == before.st_ino
    assert (root / ".fathom/tree.stamps").stat().st_mtime_ns == before.st_mtime_ns


# ---- vectors of another model


@pytest.fixture
def model(tmp_path: Path) -> str:
    return f"model2vec:{tiny.static(tmp_path / 'tiny')}"


def update(root: Path) -> None:
    with opened(root) as engine:
        engine.update(["new.py"])


def run_stopped(root: Path) -> None:
    with opened(root) as engine, closing(engine.index_events()) as events:
        for event in events:
            if isinstance(event, Progress) and event.path == "new.py":
                return


def run_paused(root: Path) -> None:
    (root / "late.ipynb").write_text("{")
    with opened(root, index__max_errors=0) as engine:
        engine.index()


@pytest.mark.parametrize("write", [update, run_stopped])
def test_what_was_written_with_another_model_gets_its_vector_of_this_one(
    root: Path, model: str, write: Callable[[Path], None]
) -> None:
    index(root, embed__model=model)
    (root / "new.py").write_text("def gamma():\n    return 3\n")
    write(root)
    with opened(root, embed__model=model) as engine:
        engine.index()
        assert engine.status().n_without_vector == 0
        assert len(engine.opened.views.vectors) == engine.status().n_chunks


# ---- another disk at the place of the root


def test_a_disk_without_times_of_folders_at_the_place_of_the_root_is_listed(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    index(root)
    grow_older(root)
    (tmp_path / "mountinfo").write_text(f"1 1 0:1 / {root} rw - vfat /dev/sdz rw\n")
    monkeypatch.setattr(mounts, "_MOUNTS", str(tmp_path / "mountinfo"))
    (root / "new.py").write_text("def gamma():\n    return 3\n")
    with opened(root) as engine:
        one = engine.opened
        assert plan_again(one.catalog, one.recipe, one.tree).tree is None


# ---- any change between two runs


def exchange_by_link(root: Path) -> None:
    (root / "a.py").rename(root.parent / "a.py")
    (root / "a.py").symlink_to("../a.py")
    assert shown(root) == {"one/b.py"}
    (root / "a.py").unlink()
    (root.parent / "a.py").rename(root / "a.py")


def exchange_folder_by_link(root: Path) -> None:
    (root / "one").rename(root.parent / "one")
    (root / "one").symlink_to("../one")
    assert shown(root) == {"a.py"}
    (root / "one").unlink()
    (root.parent / "one").rename(root / "one")


def write_by_hard_link(root: Path) -> None:
    os.link(root / "a.py", root.parent / "elsewhere.py")
    index(root)
    with (root.parent / "elsewhere.py").open("r+") as file:
        file.write("def other")


def set_future_time(root: Path) -> None:
    os.utime(root / "a.py", (2**33, 2**33))
    index(root)
    (root / "a.py").write_text("def other():\n    return 1\n")
    os.utime(root / "a.py", (2**33, 2**33))


def rename_by_case(root: Path) -> None:
    (root / "one").rename(root / "two")
    (root / "two").rename(root / "One")
    (root / "a.py").rename(root / "A.py")


def put_copy_in_place(root: Path) -> None:
    root.rename(root.parent / "before")
    shutil.copytree(root.parent / "before", root, symlinks=True)
    (root / "a.py").write_text("def other():\n    return 1\n")


def update_one_and_change_another(root: Path) -> None:
    (root / "a.py").write_text("def other():\n    return 1\n")
    (root / "one/b.py").write_text("def third():\n    return 1\n")
    with opened(root) as engine:
        engine.update(["a.py"])


def index_with_other_rules(root: Path) -> None:
    for wanted in (
        {"source__required_exts": [".md"]},
        {"source__ignore": ["one/"]},
        {"source__include_generated": True},
    ):
        (root / "c.md").write_text("text")
        with opened(root, **wanted) as engine:
            engine.index()
    (root / "c.md").unlink()


def remove_index_and_index_anew(root: Path) -> None:
    shutil.copy2(root / ".fathom/tree.stamps", root.parent / "tree")
    remove_folder(root / ".fathom")
    (root / ".fathom").mkdir()
    (root / "one/b.py").rename(root.parent / "b.py")
    index(root)
    shutil.copy2(root.parent / "tree", root / ".fathom/tree.stamps")
    (root.parent / "b.py").rename(root / "one/b.py")


def restore_backup(root: Path) -> None:
    with opened(root) as engine:
        engine.backup(str(root.parent / "backup"))
    (root / "a.py").write_text("def other():\n    return 1\n")
    shown(root)
    with opened(root) as engine:
        engine.restore(str(root.parent / "backup"))


def damage_catalogue(root: Path) -> None:
    (root / "a.py").write_text("def other():\n    return 1\n")
    with (root / ".fathom/catalog.db").open("r+b") as file:
        file.write(b"no catalogue")


def become_repository(root: Path) -> None:
    (root / "one/.git").mkdir()
    index(root)
    (root / "one/.gitignore").write_text("b.py\n")
    shown(root)
    (root / "one/.gitignore").unlink()


def take_rights_and_give_them_back(root: Path) -> None:
    (root / "one").chmod(0)
    (root / "a.py").chmod(0)
    shown(root)
    (root / "one").chmod(0o755)
    (root / "a.py").chmod(0o644)


CHANGES = [
    exchange_by_link,
    exchange_folder_by_link,
    write_by_hard_link,
    set_future_time,
    rename_by_case,
    put_copy_in_place,
    update_one_and_change_another,
    index_with_other_rules,
    remove_index_and_index_anew,
    restore_backup,
    damage_catalogue,
    become_repository,
    take_rights_and_give_them_back,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_the_next_look_shows_each_file_as_it_is(root: Path, change: Callable[[Path], None]) -> None:
    index(root)
    change(root)
    on_disk = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.py") if not path.is_symlink()}
    with opened(root) as engine:
        assert not engine.current.refresh()
        catalog = engine.opened.catalog
        assert {document.path: catalog.text(document.path) for document in catalog.documents()} == on_disk
        report = engine.plan()
        assert (report.added, report.changed, report.removed) == ((), (), ())


# ---- settings that decide by the content of a file


@pytest.mark.parametrize("is_first", [True, False])
def test_generated_files_come_and_go_with_their_setting(root: Path, is_first: bool) -> None:
    (root / "large.min.js").write_text("var a=1;" * 3_000)
    for is_taken in (is_first, not is_first, is_first):
        with opened(root, source__include_generated=is_taken) as engine:
            assert not engine.current.refresh()
            paths = {document.path for document in engine.opened.catalog.documents()}
        assert paths == {"a.py", "one/b.py"} | ({"large.min.js"} if is_taken else set())


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 20))])
def test_what_was_not_named_is_found_by_the_next_look(root: Path, seed: int) -> None:
    """Files are named after some changes, in part; whatever was left is pending, and a run takes it in."""
    chance = random.Random(seed)
    places = [f"{folder}{name}.py" for folder in ("", "one/", "two/deep/") for name in "abcd"]
    index(root)
    for step in range(6):
        for path in chance.sample(places, 3):
            change_somehow(root / path, f"value = {seed}{step}\n" if chance.random() < 0.7 else None)
        if chance.random() < 0.5:
            grow_older(root)
        with opened(root) as engine:
            engine.update(chance.sample(places, 2))
        with opened(root) as engine:
            assert engine.status().pending == n_other_than_indexed(root)
    index(root)
    assert n_other_than_indexed(root) == 0


def change_somehow(file: Path, text: str | None) -> None:
    if text is None:
        file.unlink(missing_ok=True)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def n_other_than_indexed(root: Path) -> int:
    """Return the number of files whose text is not the one in the index, without any stamp."""
    files = {
        path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.py") if not path.is_symlink()
    }
    with opened(root, search__refresh="never") as engine:
        catalog = engine.opened.catalog
        texts = {path: catalog.text(path) for path in catalog.paths()}
    return sum(files.get(path) != texts.get(path) for path in files.keys() | texts.keys())
