"""A small project that a test may change, with a user of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

SHOP = Path(__file__).parent.parent / "repos" / "shop"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shop in a folder of its own, without an index."""
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / "fathom.toml").touch()
    return tmp_path / "shop"
