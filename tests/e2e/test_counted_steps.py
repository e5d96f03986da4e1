"""A run with one change costs what has changed, and one look at each file: steps are counted, no time is measured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.counted import Steps, TwoProjects, counting, grow_older, n_calls_of, two_projects

from codefathom import Engine
from codefathom.providers.local.bundled import Tokens
from codefathom.system.mounts import keeps_folder_times

pytestmark = pytest.mark.skipif(not keeps_folder_times(os.getcwd()), reason="this disk keeps no times of folders")

FEW, MANY = 60, 240  # files


def write(folder: Path, n_files: int) -> None:
    """Write some files, a third of which are left out because of their content, in folders of ten."""
    for number in range(n_files):
        path = folder / f"part{number // 10}" / f"file{number}.{'bin' if number % 3 == 0 else 'txt'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\0\1\2" if number % 3 == 0 else b"the text of number %d\n" % number)


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> TwoProjects:
    return two_projects(tmp_path_factory, (FEW, MANY), write, look)


def look(folder: Path) -> bool:
    with Engine.open(folder) as engine:
        return engine.current.refresh()


def test_nothing_changed_is_one_look_at_each_file_and_folder(
    projects: TwoProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (steps_of_look(folder, monkeypatch) for folder in projects)
    n_files = MANY - FEW
    n_folders = n_files // 10
    assert many.functions["stat"] - few.functions["stat"] == n_files + n_folders
    assert many.functions["scandir"] == few.functions["scandir"]
    assert many.n_steps == few.n_steps  # no row more is read
    assert many.n_calls - few.n_calls <= 3 * (n_files + n_folders)


def steps_of_look(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Steps:
    with counting(monkeypatch) as steps:
        assert not look(folder)
    return steps


def test_one_new_file_is_one_look_at_each_file_and_the_rows_of_one(
    projects: TwoProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in projects:  # the first run in a process loads modules
        add_file(folder, "first", monkeypatch)
    few, many = (add_file(folder, "second", monkeypatch) for folder in projects)
    n_files = MANY - FEW
    n_folders = n_files // 10
    assert many.functions["stat"] - few.functions["stat"] == n_files + n_folders
    assert many.functions["scandir"] == few.functions["scandir"]
    # No row more is read, also of the files that are left out because of their content.
    assert many.n_steps - few.n_steps <= n_files // 10
    # Two of them only where a file is younger than two seconds.
    # Of each folder of ten, three lists of stamps are cut out, in columns.
    assert many.n_calls - few.n_calls <= 15 * n_files


def add_file(folder: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> Steps:
    # A new file: where one of few is changed, the index of words is made again, which is best for its scores.
    path = f"part1/{word}.txt"
    (folder / path).write_text(f"the {word} text\n")
    grow_older(folder)
    with counting(monkeypatch) as steps, Engine.open(folder) as engine:
        assert engine.index().added == (path,)
    return steps


def test_a_search_that_finds_a_new_file_looks_once_at_each_file(
    projects: TwoProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in projects:
        find_file(folder, "fifth", monkeypatch)
    few, many = (find_file(folder, "sixth", monkeypatch) for folder in projects)
    n_files = MANY - FEW
    n_folders = n_files // 10
    assert many.functions["stat"] - few.functions["stat"] == n_files + n_folders
    assert many.functions["scandir"] == few.functions["scandir"]
    assert many.n_steps - few.n_steps <= n_files // 10
    # Of each folder of ten, three lists of stamps are cut out, in columns.
    assert many.n_calls - few.n_calls <= 15 * n_files
    # Files that save work and nothing else wait for no disk.
    assert many.functions["fsync"] <= 5


def find_file(folder: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> Steps:
    path = f"part1/{word}.txt"
    (folder / path).write_text(f"the {word} text\n")
    grow_older(folder)
    with counting(monkeypatch) as steps, Engine.open(folder) as engine:
        engine.current.refresh()
        assert engine.opened.catalog.entries_at([path])
    return steps


def test_one_named_file_is_one_look_at_each_file_and_lists_no_folder(
    projects: TwoProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in projects:
        name_file(folder, "third", monkeypatch)
    few, many = (name_file(folder, "fourth", monkeypatch) for folder in projects)
    n_files = MANY - FEW
    assert many.functions["stat"] - few.functions["stat"] == n_files + n_files // 10
    assert many.functions["scandir"] == few.functions["scandir"]
    assert many.n_steps - few.n_steps <= 6 * n_files


def name_file(folder: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> Steps:
    path = f"part1/{word}.txt"
    (folder / path).write_text(f"the {word} text\n")
    grow_older(folder)
    with counting(monkeypatch) as steps, Engine.open(folder) as engine:
        assert engine.update([path]).added == (path,)
    return steps


def test_of_a_changed_file_the_changed_chunk_alone_is_embedded(tmp_path: Path) -> None:
    lines = [
        f"def function{number}(value):\n    total = value + {number}\n    return total\n\n\n" for number in range(120)
    ]
    file = tmp_path / "many.py"
    file.write_text("".join(lines))
    with Engine.open(tmp_path) as engine:
        n_all = n_calls_of(Tokens.of, engine.index)
        file.write_text("".join(lines).replace("value + 60", "value + 61"))
        assert n_all >= 10
        assert n_calls_of(Tokens.of, engine.index) <= 3
        everything = n_calls_of(Tokens.of, lambda: engine.index(full=True))
    assert everything == n_all
