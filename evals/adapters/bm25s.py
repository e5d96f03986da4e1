"""BM25 as one would have it in an afternoon: chunks of 50 lines, split identifiers, the best chunk of each file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bm25s

from evals.metrics import Found
from evals.text import text_files, words
from evals.tool import Size

LINES = 50
# Chunks asked for each file wanted, so that enough files remain when chunks of one file are joined.
MORE = 8


class Bm25s:
    """Knows no update: a change means a new index."""

    def __init__(self) -> None:
        self.root = Path()
        self.places: list[Found] = []
        self.retriever: Any = None

    def version(self) -> str:
        """Name and version."""
        return f"bm25s {version('bm25s')}"

    def index(self, root: Path) -> bool:
        """Read, split and weigh everything, in memory."""
        self.root = root
        self.places = []
        texts = []
        for path, text in text_files(root):
            lines = text.splitlines()
            for start in range(0, len(lines), LINES):
                self.places.append(Found(path, start + 1, min(start + LINES, len(lines))))
                texts.append(words("\n".join(lines[start : start + LINES])))
        self.retriever = bm25s.BM25()
        self.retriever.index(texts, show_progress=False)
        return True

    def size(self) -> Size:
        """Only in memory."""
        return Size(len(self.places), None)

    def update(self) -> None:
        """Make the index again."""
        self.index(self.root)

    def search(self, question: str, limit: int) -> Sequence[Found]:
        """The best chunk of each file."""
        known = [word for word in words(question) if word in self.retriever.vocab_dict]
        if not known:
            return []
        wanted = min(limit * MORE, len(self.places))
        numbers, _ = self.retriever.retrieve([known], k=wanted, show_progress=False)
        best: dict[str, Found] = {}
        for number in numbers[0]:
            place = self.places[int(number)]
            best.setdefault(place.path, place)
        return list(best.values())[:limit]

    def command(self, question: str) -> None:
        """It is a library."""


def make(scratch: Path) -> Bm25s:
    """Return the tool; it writes nothing to `scratch`."""
    return Bm25s()
