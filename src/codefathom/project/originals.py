"""The lines of a project as they are shown: those of the index, and where it has masks, those of the unchanged file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from codefathom.index.plan import with_found_encoding
from codefathom.project.opening import OpenedProject
from codefathom.source.masks import MASK, agrees
from codefathom.source.origin import Originals, origin_of
from codefathom.text.kept_names import is_kept_text
from codefathom.types import Chunk, Hit


class Shown(NamedTuple):
    """A text, and whether all of it is what stands in the file."""

    text: str
    is_whole: bool


class Lines:
    """The lines that one question shows; each file is looked at once."""

    def __init__(self, opened: OpenedProject) -> None:
        self._catalog = opened.catalog
        recipe = with_found_encoding(opened.recipe, opened.catalog)
        indexed_at_ns = int(opened.catalog.get_meta("indexed_at_ns", "0"))
        origin = origin_of(recipe.tree, recipe.rules, opened.catalog)
        self._originals = Originals(origin, indexed_at_ns, recipe.assumed_encoding)

    def text(self, path: str) -> str:
        """Return the text of a document, "" when there is none."""
        return self.shown(path).text

    def shown(self, path: str) -> Shown:
        """Return the text of a document, with masks where the file has changed or is gone."""
        return self.shown_lines(path, 1, self._catalog.text(path))

    def is_unchanged(self, path: str) -> bool:
        """Return True if the bytes of a file are those of the indexed version."""
        document = self._catalog.document(path)
        return document is not None and self._originals.of(document).state_by_bytes == "same"

    def now(self, path: str) -> str:
        """Return the text of a document as it is in its file now, "" where nothing can be read."""
        document = self._catalog.document(path)
        return (None if document is None else self._originals.of(document).text) or ""

    def lines(self, path: str, start_line: int, end_line: int) -> str:
        """Return some lines of a document, as `Catalog.lines` does."""
        return self.shown_lines(path, start_line, self._catalog.lines(path, start_line, end_line)).text

    def hits(self, hits: Iterable[Hit]) -> tuple[Hit, ...]:
        """Return hits with the lines of their files."""
        return tuple(replace(hit, chunk=self._chunk(hit.chunk)) if MASK in hit.chunk.text else hit for hit in hits)

    def _chunk(self, chunk: Chunk) -> Chunk:
        return replace(chunk, text=self.shown_lines(chunk.path, chunk.start_line, chunk.text).text)

    def shown_lines(self, path: str, start_line: int, kept: str) -> Shown:
        """Return lines as they stand in the file, if they differ from the indexed ones by masks only."""
        if MASK not in kept:
            return Shown(kept, True)
        if is_kept_text(path):  # nobody has it without masks
            return Shown(kept, False)
        document = self._catalog.document(path)
        original = None if document is None else self._originals.of(document)
        if original is None or original.state != "same":
            return Shown(kept, False)
        n_lines = kept.count("\n") + (not kept.endswith("\n"))
        text = original.lines(start_line, start_line + n_lines - 1)
        return Shown(text, True) if text is not None and agrees(kept, text) else Shown(kept, False)
