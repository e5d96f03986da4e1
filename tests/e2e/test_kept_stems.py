"""The table of paths by stems, which is kept beside the catalogue, is that of the paths of the moment."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.counted import n_python_calls

from codefathom import Engine
from codefathom.stores import kept_file
from codefathom.text.file_stems import by_stem

FEW, MANY = 30, 240  # files
QUESTION = "what does pack/shared.py read"


@pytest.fixture(autouse=True)
def keep_small_things(monkeypatch: pytest.MonkeyPatch, own_folders: None) -> None:
    monkeypatch.setattr(kept_file, "_LEAST", 1)


def project(root: Path, n_files: int) -> Path:
    (root / "pack").mkdir(parents=True)
    (root / "fathom.toml").touch()
    for n in range(n_files):
        (root / "pack" / f"part_{n}.py").write_text(f"def part_{n}():\n    return {n}\n")
    (root / "pack" / "shared.py").write_text("def shared():\n    return 0\n")
    return root


def stems(engine: Engine) -> dict[str, list[str]]:
    return {stem: list(paths) for stem, paths in engine.current.opened.catalog.paths_by_stem().items()}


def change(root: Path, chance: random.Random, n: int) -> None:
    files = sorted((root / "pack").rglob("*.py"))
    one = chance.choice(files)
    act = chance.choice(["write", "add", "remove", "rename", "both"])
    if act in {"remove", "both"} and len(files) > 3:
        one.unlink()
    if act in {"add", "both"}:
        (root / "pack" / f"new-{n}").mkdir()
        (root / "pack" / f"new-{n}" / chance.choice(["__init__.py", "shared.py", "x.py"])).write_text(f"NEW = {n}\n")
    if act == "rename":
        one.rename(one.with_name(f"other_{n}.py"))
    if act == "write":
        one.write_text(f"WRITTEN = {n}\n")


@pytest.mark.parametrize("seed", range(3))
def test_after_any_changes_it_is_the_table_of_all_paths(tmp_path: Path, seed: int) -> None:
    """In a process that lives on, in one that comes later, and where a table was made some changes ago."""
    root, chance = project(tmp_path / "project", 12), random.Random(seed)
    with Engine.open(str(root)) as living:
        living.search(QUESTION)
        for n in range(12):
            change(root, chance, n)
            living.index()
            paths = living.current.opened.catalog.paths()
            assert stems(living) == by_stem(paths)
            if chance.random() < 0.5:
                with Engine.open(str(root)) as later:
                    assert stems(later) == by_stem(paths)


def test_another_process_makes_no_value_of_a_path_that_is_not_asked_for(tmp_path: Path) -> None:
    n_calls = []
    for n_files in (FEW, MANY):
        root = project(tmp_path / str(n_files), n_files)
        with Engine.open(str(root)) as engine:
            first = engine.search(QUESTION)
        written = (root / ".fathom" / "graph.stems").stat()
        with Engine.open(str(root)) as engine:
            catalog = engine.current.opened.catalog
            n_calls.append(n_python_calls(lambda: catalog.paths_by_stem().get("shared")))  # noqa: B023
            assert catalog.paths_by_stem().get("shared") == ["pack/shared.py"]
        with Engine.open(str(root)) as engine:
            assert engine.search(QUESTION).hits == first.hits
        assert (root / ".fathom" / "graph.stems").stat().st_mtime_ns == written.st_mtime_ns
    few, many = n_calls
    assert many < few + 30


@pytest.mark.parametrize("harm", [lambda data: data[:-9], lambda data: data[:60] + b"\x07" + data[61:], lambda _: b""])
def test_a_damaged_table_is_made_again(tmp_path: Path, harm: Callable[[bytes], bytes]) -> None:
    root = project(tmp_path / "project", 5)
    with Engine.open(str(root)) as engine:
        engine.search(QUESTION)
        expected = stems(engine)
    file = root / ".fathom" / "graph.stems"
    whole = file.read_bytes()
    file.unlink()
    file.write_bytes(harm(whole))
    with Engine.open(str(root)) as engine:
        assert stems(engine) == expected
    assert file.read_bytes() == whole


def test_a_check_that_finds_no_difference_leaves_a_table_to_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(tmp_path / "project", 5)
    with Engine.open(str(root)) as engine:
        engine.search(QUESTION)
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "another user"))  # who does not know this index
    with Engine.open(str(root)) as engine:
        engine.search(QUESTION)
        expected = stems(engine)
    assert (root / ".fathom" / "graph.stems").exists()
    with Engine.open(str(root)) as engine:
        assert stems(engine) == expected
