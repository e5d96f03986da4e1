"""The peer semble without its embedding model, which cannot be had offline: BM25 and its own ranking (`alpha` 0)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from semble.cache import save_index_to_cache
from semble.index import index as semble_index

from evals.metrics import Found
from evals.tool import Size, folder_bytes

CACHE = "SEMBLE_CACHE_LOCATION"


class NoModel:
    """Stands in for the embedding model: every text is the same, in one dimension."""

    dim = 1

    def encode(self, texts: Sequence[str], **_: Any) -> Any:
        """Return a column of ones."""
        return np.ones((len(texts), 1), dtype=np.float32)


class Semble:
    """Uses semble's own cache for updates and processes, as its command does."""

    def __init__(self, scratch: Path) -> None:
        os.environ[CACHE] = str(scratch)
        self.root = Path()
        self.built: Any = None

    def version(self) -> str:
        """Name and version."""
        return f"semble {version('semble')}, BM25"

    def index(self, root: Path) -> bool:
        """Build in memory, from an empty cache."""
        shutil.rmtree(os.environ[CACHE], ignore_errors=True)
        self.root = root.resolve()
        self.built = make_index(self.root)
        return True

    def size(self) -> Size:
        """What its cache takes on disk."""
        save_index_to_cache(self.built, str(self.root))
        return Size(len(self.built.chunks), folder_bytes(Path(os.environ[CACHE])))

    def update(self) -> None:
        """Open again: semble reuses what it cached of files that did not change."""
        self.built = make_index(self.root)

    def search(self, question: str, limit: int) -> Sequence[Found]:
        """Words only, ranked by its rules for code."""
        return _search(self.built, question, limit)

    def command(self, question: str) -> list[str]:
        """Run this module: its command would load the model as well, so this is the least it takes."""
        return [sys.executable, "-P", "-m", __name__, str(self.root), question]


def make_index(root: Path | str) -> Any:
    """Return an index of a folder, in memory."""
    # Where semble loads its model from the network, the stand-in takes its place.
    semble_index.load_model = lambda *_: (NoModel(), "none")
    return semble_index.SembleIndex.from_path(str(root))


def _search(built: Any, question: str, limit: int) -> list[Found]:
    results = words_only(built, question, limit)
    return [Found(result.chunk.file_path, result.chunk.start_line, result.chunk.end_line) for result in results]


def words_only(built: Any, question: str, limit: int) -> Any:
    """Return semble's own results, ranked without its embedding model."""
    return built.search(question, top_k=limit, alpha=0.0)


def make(scratch: Path) -> Semble:
    """Return the tool."""
    return Semble(scratch)


if __name__ == "__main__":
    for place in _search(make_index(Path(sys.argv[1])), sys.argv[2], 10):
        print(f"{place.path}:{place.start_line}-{place.end_line}")
