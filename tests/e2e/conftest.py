"""A small project that a test may change, with a user of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from codefathom import Engine

SHOP = Path(__file__).parent.parent / "repos" / "shop"


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user of the test's own: nothing is found in another test's cache, and nothing is left for one."""
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def shop(tmp_path: Path, own_folders: None) -> Path:
    """The shop in a folder of its own, without an index."""
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / "fathom.toml").touch()
    return tmp_path / "shop"


@pytest.fixture
def make_engine(tmp_path: Path) -> Callable[[Mapping[str, str]], Engine]:
    """Return an opened and indexed project with some files: path → text."""

    def make(files: Mapping[str, str]) -> Engine:
        for path, text in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        engine = Engine.open(str(tmp_path), is_root=True)
        engine.index()
        return engine

    return make
