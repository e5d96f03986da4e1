"""The map of a large project after few changes: the files in their places of then, with what they define now."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fresh_copy import fresh_copy

from codefathom import Engine
from codefathom.facts.reasons import MAP_FOLLOWED
from codefathom.search.graph import usual_map
from codefathom.search.graph.project_map import ProjectMap
from codefathom.stores import kept_file
from codefathom.stores.catalog import writing

N_FILES = 13  # with the settings
ENOUGH = 10_000  # tokens for the whole map


@pytest.fixture
def root(tmp_path: Path, own_folders: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that counts as a large one, of which any share may change."""
    monkeypatch.setattr(kept_file, "_LEAST", 1)
    monkeypatch.setattr(usual_map, "FOLLOWS_FROM", 1)
    monkeypatch.setattr(usual_map, "_MOST_CHANGED", 1)
    folder = tmp_path / "project"
    for number in range(N_FILES - 1):
        write(folder, f"part{number}.py", f"import part0\n\n\ndef own{number}():\n    return part0.own0()\n")
    (folder / "fathom.toml").touch()
    map_of(folder)
    return folder


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def map_of(folder: Path) -> ProjectMap:
    """Return the map in a process that begins."""
    with Engine.open(folder) as engine:
        engine.index()
        return engine.map(max_tokens=ENOUGH)


def map_anew(folder: Path) -> ProjectMap:
    return map_of(fresh_copy(folder))


def n_followed(found: ProjectMap) -> list[object]:
    return [note.values["count"] for note in found.limitations if note.kind == MAP_FOLLOWED]


def shown(found: ProjectMap) -> object:
    files = [(file.path, file.language, file.symbols) for file in found.files]
    return files, found.n_files, found.n_left_out, found.n_symbols_left_out


def change(folder: Path) -> None:
    write(
        folder,
        "part0.py",
        "# A comment in front.\n\n\ndef other():\n    return 1\n\n\ndef own0():\n    return other()\n",
    )
    write(folder, "part1.py", "VALUE = 1\n")
    write(folder, "new/more.py", "def more():\n    return 1\n")
    (folder / "part2.py").unlink()


def test_it_shows_what_the_files_define_now(root: Path) -> None:
    change(root)
    followed, anew = map_of(root), map_anew(root)
    assert shown(followed) == shown(anew)
    assert (n_followed(followed), n_followed(anew)) == ([4], [])
    with Engine.open(root) as engine:
        assert engine.map(max_tokens=ENOUGH) == followed
        small = engine.map(max_tokens=30)
        left_out = sum(len(file.symbols) for file in followed.files) - sum(len(file.symbols) for file in small.files)
        assert (small.n_left_out, small.n_symbols_left_out) == (len(followed.files) - len(small.files), left_out)


def test_files_keep_their_places(root: Path) -> None:
    before = {file.path: file.rank for file in map_of(root).files}
    change(root)
    after = {file.path: file.rank for file in map_of(root).files}
    assert after.pop("new/more.py") == N_FILES + 1
    assert after == {path: rank for path, rank in before.items() if path != "part2.py"}


def test_an_engine_that_stays_open_follows_each_change(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_MOST_LATEST", 8)
    monkeypatch.setattr(usual_map, "_MOST_BEHIND", 5)
    with Engine.open(root) as engine:
        for number in range(20):
            write(root, "part3.py", f"def later{number}():\n    return 1\n")
            engine.index()
            found = engine.map(max_tokens=ENOUGH)
            assert [file.symbols[0].name for file in found.files if file.path == "part3.py"] == [f"later{number}"]
            assert n_followed(found) == [1]
    assert n_followed(map_of(root)) == [1]  # the file is one of the latest states still


def test_a_file_as_it_was_is_a_change_too(root: Path) -> None:
    before = map_of(root)
    text = (root / "part4.py").read_text()
    write(root, "part4.py", "")
    map_of(root)
    write(root, "part4.py", text)
    assert map_of(root).files == before.files


@pytest.mark.parametrize(("name", "value"), [("FOLLOWS_FROM", N_FILES + 1), ("_MOST_CHANGED", 100)])
def test_a_small_project_and_one_that_has_changed_much_are_ranked_anew(
    root: Path, name: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usual_map, name, value)
    change(root)
    assert map_of(root) == map_anew(root)
