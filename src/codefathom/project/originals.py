"""The lines of a project as they are shown: those of the index, and where it has masks, those of the unchanged file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from codefathom.errors import SourceError
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


class PresentText(NamedTuple):
    """A file that is another one than when it was indexed."""

    text: str
    size: int  # bytes

    @property
    def n_lines(self) -> int:
        """Lines, also the last one where it has no line end."""
        return self.text.count("\n") + (self.text[-1:] not in ("", "\n"))

    def lines(self, start_line: int, end_line: int) -> str:
        """Return some lines, as `Catalog.lines` does."""
        return "".join(re.findall(r"[^\n]*\n|[^\n]+", self.text)[start_line - 1 : end_line])


class Lines:
    """The lines that one question shows; each file is looked at once."""

    def __init__(self, opened: OpenedProject) -> None:
        self._catalog = opened.catalog
        recipe = with_found_encoding(opened.recipe, opened.catalog)
        indexed_at_ns = int(opened.catalog.get_meta("indexed_at_ns", "0"))
        origin = origin_of(recipe.tree, recipe.rules, opened.catalog)
        self._originals = Originals(origin, indexed_at_ns, recipe.assumed_encoding)

    def text(self, path: str) -> str:
        """Return the indexed text of a document, "" when there is none."""
        return self.shown(path).text

    def text_now(self, path: str) -> str | None:
        """Return the text of a file as it is now; None where it is gone, or no text any more."""
        document = self._catalog.document(path)
        if document is None:
            return None
        original = self._originals.of(document)
        return self.text(path) if original.state == "same" else original.text

    def changed(self, path: str) -> PresentText | None:
        """Return a file as it is in this moment; None where it still is the indexed version.

        Its bytes are compared, whatever its size and time are. Raises SourceError for a file that is gone, and for one
        that is no text any more.
        """
        document = self._catalog.document(path)
        if document is None or is_kept_text(path):
            return None
        original = self._originals.afresh(document)
        if original.state_by_bytes == "same":
            return None
        if original.state_by_bytes == "gone":
            raise SourceError(
                f"{path!r} was indexed, and is not there any more", hint="the next `fathom index` takes it out"
            )
        if original.data is None or original.text is None:
            raise SourceError(
                f"{path!r} has changed since it was indexed; now it is not text, or too large",
                hint="`fathom index` tells why it is left out",
            )
        return PresentText(original.text, len(original.data))

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
