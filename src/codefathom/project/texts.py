"""The texts of an opened project as a language model may see them, with the names in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from codefathom.answer.answer_types import Answer, Citation, Source
from codefathom.answer.budget import Material, NameOf, lines_of
from codefathom.errors import SourceError
from codefathom.facts.languages import is_extracted
from codefathom.facts.reasons import Note
from codefathom.index.plan import with_found_encoding
from codefathom.project.opening import OpenedProject
from codefathom.project.originals import Lines
from codefathom.project.roles import masks_secrets
from codefathom.source.document_places import Places
from codefathom.source.documents import text_of
from codefathom.source.origin import tree_of
from codefathom.source.secrets import blank, mask
from codefathom.text.expressions import deadline
from codefathom.text.kept_names import is_kept_text
from codefathom.types import Chunk, FoundSymbol, SearchResult, Where


class Texts:
    """The texts of a project and of given documents as models may see them.

    Secrets are taken out of whole documents before anything is cut: half a key may not look like one. Where nothing
    leaves the machine, texts stay as they are.
    """

    def __init__(
        self,
        opened: OpenedProject,
        documents: Mapping[str, str] = MappingProxyType({}),
        *,
        for_agent: bool = False,
    ) -> None:
        """`for_agent`: what a model makes of them goes to the model of an agent, wherever the first one runs."""
        self.opened = opened
        self.name_of = naming(opened)
        self.documents = documents
        self._masks = masks_secrets(opened.place) or (for_agent and opened.place.settings.mcp.secrets == "mask")
        self._lines = Lines(opened)
        self._indexed: dict[str, str] = {}

    def indexed(self, path: str) -> str:
        """Return the text of a document, "" when there is none."""
        if path not in self._indexed:
            self._indexed[path] = self._masked(self.documents.get(path) or self._lines.text(path), path)
        return self._indexed[path]

    def recorded(self, text: str) -> str:
        """Return a text as a record of an answer may hold it, which may be kept longer than the answer."""
        return text if self.opened.recipe.keeps_secrets and not self._masks else mask(text).text

    def on_disk(self, path: str) -> str | None:
        """Return the text as it is now, None when it is gone; comparable with `indexed`."""
        if path in self.documents:
            return self._masked(self.documents[path], path)
        if is_kept_text(path):
            is_there = self.opened.catalog.document(path) is not None
            return self._masked(self._lines.text(path), path) if is_there else None
        if is_extracted(path) and self._lines.is_unchanged(path):  # the same bytes give the same text
            return self._masked(self._lines.text(path), path)
        text = _on_disk(path, self.opened)
        if text is not None and not self._lines.shown(path).is_whole:
            text = blank(text, path)
        return None if text is None else self._masked(text, path)

    def pinned(self, paths: Sequence[str]) -> tuple[Material, ...]:
        """Return the given documents and the pinned files. Raises SourceError for a path that is not indexed."""
        materials = [Material(name, self.indexed(name), reason="given") for name in self.documents]
        return (*materials, *(Material(path, self.indexed(path), reason="pinned") for path in self.files_of(paths)))

    def files_of(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return files as they are, and the indexed files of folders. Raises SourceError for what holds none."""
        files: dict[str, None] = {}
        for path in paths:
            folder = f"{path.rstrip('/')}/" if path not in ("", ".") else ""
            inside = [path] if self.opened.catalog.text(path) else self._below(folder)
            if not inside:
                raise SourceError(
                    f"{path!r} is not in the index",
                    hint="an ignore rule may leave it out; `fathom status --skipped` lists the other reasons",
                )
            files |= dict.fromkeys(inside)
        return tuple(files)

    def _below(self, folder: str) -> list[str]:
        return [document.path for document in self.opened.catalog.documents() if document.path.startswith(folder)]

    def paths(self, where: Where | None) -> list[str]:
        """Return the documents that were given, then the indexed ones with lines that fulfil a condition."""
        catalog = self.opened.catalog
        indexed = [document.path for document in catalog.documents()]
        if where is not None:
            with deadline(self.opened.place.settings.search.expression_timeout_s):
                chunks = catalog.chunks(catalog.matching(where))
            inside = {chunk.path for chunk in chunks.values()}
            indexed = [path for path in indexed if path in inside]
        return [*self.documents, *indexed]

    def of_hits(self, result: SearchResult) -> SearchResult:
        """Return hits with the lines of these texts."""
        if not self._masks:
            return result
        return replace(result, hits=tuple(replace(hit, chunk=self._of_chunk(hit.chunk)) for hit in result.hits))

    def of_symbol(self, item: FoundSymbol) -> FoundSymbol:
        """Return a symbol whose signature is a part of these texts."""
        return replace(item, symbol=replace(item.symbol, signature=self._masked(item.symbol.signature, "")))

    def _masked(self, text: str, path: str) -> str:
        return mask(text, path).text if self._masks else text

    def _of_chunk(self, chunk: Chunk) -> Chunk:
        end = "\n" if chunk.text.endswith("\n") else ""
        text = lines_of(self.indexed(chunk.path), chunk.start_line, chunk.end_line) + end
        if chunk.is_part:
            text = text[chunk.column - 1 : chunk.column - 1 + len(chunk.text)]
        return replace(chunk, text=text)


def naming(opened: OpenedProject) -> NameOf:
    """Return a function that names the definition that lines lie in, else the first that begins in them."""
    symbols_of = cache(opened.catalog.symbols_of)  # outer before inner

    def name_of(path: str, start_line: int, end_line: int) -> str:
        symbols = symbols_of(path)
        around = [item for item in symbols if item.start_line <= start_line and end_line <= item.end_line]
        inside = [item for item in symbols if start_line <= item.start_line <= end_line]
        return next((item.qualified_name for item in (*around[::-1], *inside)), "")

    return name_of


def with_symbols(answer: Answer, name_of: NameOf, on_disk: Callable[[str], str | None]) -> Answer:
    """Name the definition of each citation and of each source that is no whole file, and their places in documents.

    `on_disk` gives the present text of a document, which the lines of citations are of.
    """
    places = Places(lambda path: on_disk(path) or "")

    def named(item: Citation | Source) -> str:
        return name_of(item.path, item.start_line, item.end_line)

    def place(item: Citation | Source) -> Note | None:
        return places.of(item.path, item.start_line, item.end_line)

    return replace(
        answer,
        citations=tuple(replace(item, symbol=named(item), document_place=place(item)) for item in answer.citations),
        sources=tuple(
            item if item.is_whole else replace(item, symbol=item.symbol or named(item), document_place=place(item))
            for item in answer.sources
        ),
    )


def _on_disk(path: str, opened: OpenedProject) -> str | None:
    """Read a file as the index would; None when it is gone, or no longer a text."""
    recipe = with_found_encoding(opened.recipe, opened.catalog)
    data = tree_of(recipe.tree, recipe.rules).content(path)
    return None if data is None else text_of(path, data, recipe.assumed_encoding)
