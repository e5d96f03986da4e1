"""An opened index as whoever makes an answer in words asks it: as it is, without a look at what has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from codefathom.config.settings import Settings
from codefathom.facts.languages import is_extracted
from codefathom.index.plan import with_found_encoding
from codefathom.project.browsing import Files
from codefathom.project.by_head import marked
from codefathom.project.opening import OpenedProject
from codefathom.project.originals import Lines
from codefathom.project.roles import masks_secrets
from codefathom.providers.base import ChatModel
from codefathom.question.extents import limit_of
from codefathom.question.question import Kind, Question
from codefathom.search.graph.related import connections
from codefathom.source.documents import text_of
from codefathom.source.origin import tree_of
from codefathom.source.secrets import blank
from codefathom.text.expressions import deadline
from codefathom.text.kept_names import is_kept_text
from codefathom.types import (
    DocumentText,
    FileOutline,
    RelatedResult,
    SomeFiles,
    SomeSymbols,
    SomeTexts,
)


class OpenedAsker:
    """Answers about files, texts, outlines, symbols and connections; what is wrong in the index stops none of them."""

    def __init__(self, opened: OpenedProject) -> None:
        self._opened = opened
        self._lines = Lines(opened)

    @property
    def settings(self) -> Settings:
        """See `Readable`."""
        return self._opened.place.settings

    @property
    def generation(self) -> int:
        """See `Readable`."""
        return self._opened.catalog.generation

    @property
    def hides_secrets(self) -> bool:
        """See `Readable`."""
        return masks_secrets(self._opened.place)

    def chat_model(self, name: str) -> ChatModel:
        """See `Readable`."""
        return self._opened.chat_model(name)

    def answer(self, question: Question) -> Iterator[Any]:
        """Yield the answer to a question of one of these kinds; see `Asker`."""
        yield _ANSWERS[question.kind](self, question)

    def texts(self, question: Question) -> SomeTexts:
        """Return the texts of files; those that are not there are left out."""
        read = {"index": self._indexed, "question": self._lines.text_now, "now": self._on_disk}[question.as_of]
        texts = ((path, read(path)) for path in question.files)
        return SomeTexts(tuple(DocumentText(path, text) for path, text in texts if text is not None))

    def outlines(self, question: Question) -> tuple[FileOutline, ...]:
        """Return the symbols and the purpose of each of these files."""
        catalog, paths = self._opened.catalog, question.files
        purposes = self._opened.purposes(paths) if question.with_purposes else {}
        return tuple(FileOutline(path, tuple(catalog.symbols_of(path)), purposes.get(path, "")) for path in paths)

    def files(self, question: Question) -> SomeFiles:
        """Return the files at or below a folder; with a condition, those with lines that fulfil it."""
        listed = Files(self._opened.catalog, self._lines).listed(question.text)
        if question.where is None:
            return SomeFiles(listed)
        catalog = self._opened.catalog
        with deadline(self.settings.search.expression_timeout_s):
            chunks = catalog.chunks(catalog.matching(question.where))
        inside = {chunk.path for chunk in chunks.values()}
        return SomeFiles(tuple(file for file in listed if file.path in inside))

    def _symbols(self, question: Question) -> SomeSymbols:
        catalog = self._opened.catalog
        symbols = marked(catalog, catalog.symbols(question.text, limit=limit_of(question)))
        return SomeSymbols(symbols, len(symbols))

    def _related(self, question: Question) -> RelatedResult:
        return connections(self._opened.catalog, question, self._opened.files_with)

    def _indexed(self, path: str) -> str | None:
        return self._lines.text(path) or None

    def _on_disk(self, path: str) -> str | None:
        """Return a text as it is now, comparable with the indexed one; None when it is gone, or no text any more."""
        if is_kept_text(path):
            is_there = self._opened.catalog.document(path) is not None
            return self._lines.text(path) if is_there else None
        if is_extracted(path) and self._lines.is_unchanged(path):  # the same bytes give the same text
            return self._lines.text(path)
        recipe = with_found_encoding(self._opened.recipe, self._opened.catalog)
        data = tree_of(recipe.tree, recipe.rules).content(path)
        text = None if data is None else text_of(path, data, recipe.assumed_encoding)
        return blank(text, path) if text is not None and not self._lines.shown(path).is_whole else text


_ANSWERS: Mapping[Kind, Callable[[OpenedAsker, Question], Any]] = {
    "texts": OpenedAsker.texts,
    "outlines": OpenedAsker.outlines,
    "files": OpenedAsker.files,
    "symbols": OpenedAsker._symbols,
    "related": OpenedAsker._related,
}
