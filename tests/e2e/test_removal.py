"""Removing an index: nothing of it is left, and nothing of others is touched."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import LockedError
from codefathom.stores.lock import writer_lock


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "fathom.toml").touch()
    (folder / "zoo.py").write_text("def feed_kangaroo():\n    return 'grass'\n")
    return folder


def test_nothing_is_left(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name for path in project.iterdir()}
    assert main(["index", "-C", str(project)]) == 0
    assert list((tmp_path / "state" / "indexes").iterdir())
    assert main(["index", "--remove", "-C", str(project)]) == 0
    assert "removed the index" in capsys.readouterr().err
    assert {path.name for path in project.iterdir()} == before
    assert list((tmp_path / "state" / "indexes").iterdir()) == []
    assert main(["index", "--remove", "-C", str(project)]) == 1
    assert "there is no index" in capsys.readouterr().err
    assert {path.name for path in project.iterdir()} == before
    assert main(["search", "-C", str(project), "feed_kangaroo"]) == 0


def test_it_is_told_as_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "-q", "-C", str(project)]) == 0
    assert main(["index", "--remove", "--json", "-C", str(project)]) == 0
    removed = json.loads(capsys.readouterr().out)
    assert removed["n_bytes_removed"] > 0
    assert removed["index_dir"] == str(project / ".fathom")


def test_files_of_others_stay(project: Path, tmp_path: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
        (project / ".fathom" / "notes.txt").write_text("mine")
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "kept.txt").write_text("kept")
        os.symlink(outside, project / ".fathom" / "lexical-old")
        assert engine.remove_index() > 0
    assert [path.name for path in (project / ".fathom").iterdir()] == ["notes.txt"]
    assert (outside / "kept.txt").read_text() == "kept"


def test_an_index_that_is_being_written_is_not_removed(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
        with writer_lock(str(project / ".fathom")), pytest.raises(LockedError):
            engine.remove_index(wait_s=0)
        assert engine.search("feed_kangaroo").hits


def test_an_open_engine_makes_a_new_one(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
        engine.remove_index()
        assert engine.search("feed_kangaroo").hits
