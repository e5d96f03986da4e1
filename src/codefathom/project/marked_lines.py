"""The lines of a project for whoever passes them on to a model: each secret in them is a mark that says so.

A secret is recognised by its whole document: its first line may lie above the lines that are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from codefathom.project.opening import OpenedProject
from codefathom.project.originals import Lines
from codefathom.source.masks import MASK, agrees, marked, marked_alone
from codefathom.source.secrets import blank
from codefathom.types import Chunk, Hit

_MOST_CHARS = 4_000_000  # of a text that is looked through as a whole
_AROUND = 1_000  # lines before and behind those of a larger one


class MarkedLines:
    """The lines that one question shows. Where the index has masks, no text is looked through again."""

    def __init__(self, opened: OpenedProject) -> None:
        self._opened = opened
        self._lines = Lines(opened)
        self._blank = cache(blank)

    def hits(self, hits: Sequence[Hit]) -> tuple[tuple[Hit, ...], bool]:
        """Return hits with marks, and whether there are any."""
        texts = [self._chunk(hit.chunk) for hit in hits]
        if texts == [hit.chunk.text for hit in hits]:
            return tuple(hits), False
        pairs = zip(hits, texts, strict=True)
        return tuple(replace(hit, chunk=replace(hit.chunk, text=text)) for hit, text in pairs), True

    def _chunk(self, chunk: Chunk) -> str:
        return self.lines(chunk.path, chunk.start_line, chunk.text, chunk.column)

    def lines(self, path: str, start_line: int, text: str, column: int = 1) -> str:
        """Return lines with marks, or a part of a line from `column` on.

        `text` is what the index has there, with or without masks, or what the file has there now.
        """
        body = text.removesuffix("\n")
        return self._marked(path, start_line, body, column) + text[len(body) :]

    def _marked(self, path: str, start_line: int, text: str, column: int) -> str:
        part = slice(column - 1, column - 1 + len(text))
        kept = self._opened.catalog.lines(path, start_line, start_line + text.count("\n"))
        if self._opened.recipe.keeps_secrets or not agrees(kept[part], text):
            return marked(self._hidden(path, start_line, text, part), text)
        if MASK not in kept[part]:
            return text
        original = self._lines.shown_lines(path, start_line, kept)
        return marked(kept[part], original.text[part]) if original.is_whole else marked_alone(kept[part])

    def _hidden(self, path: str, start_line: int, text: str, part: slice) -> str:
        """Return a text with masks by the rules; the index does not help."""
        first, end = start_line - 1, start_line + text.count("\n")
        for whole in (self._opened.catalog.text(path), self._lines.now(path)):
            lines = whole.split("\n")
            if "\n".join(lines[first:end])[part] == text:
                above = max(first - _AROUND, 0) if len(whole) > _MOST_CHARS else 0
                below = end + _AROUND if len(whole) > _MOST_CHARS else len(lines)
                hidden = self._blank("\n".join(lines[above:below]), path).split("\n")
                return "\n".join(hidden[first - above : end - above])[part]
        return blank(text, path)
