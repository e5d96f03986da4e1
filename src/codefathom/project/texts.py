"""The texts of an opened project as a language model may see them, with the names in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from codefathom.answer.answer_types import Answer, Citation, Source
from codefathom.answer.budget import Material, NameOf, lines_of
from codefathom.errors import SourceError
from codefathom.facts.reasons import Note, Told
from codefathom.question.asker import Asker, Readable, result_of
from codefathom.question.question import AsOf, Question
from codefathom.source.document_places import Places
from codefathom.source.secrets import mask
from codefathom.types import Chunk, FoundSymbol, SearchResult, SomeFiles, Symbol, Where


class Texts:
    """The texts of a project and of given documents as models may see them.

    Secrets are taken out of whole documents before anything is cut: half a key may not look like one. Where nothing
    leaves the machine, texts stay as they are.
    """

    def __init__(
        self,
        asker: Readable,
        documents: Mapping[str, str] = MappingProxyType({}),
        *,
        for_agent: bool = False,
        hides_secrets: bool = False,
    ) -> None:
        """`for_agent`: what a model makes of them goes to the model of an agent, wherever the first one runs.

        `hides_secrets`: the models of another project, which are on other machines, see them, too.
        """
        self.asker = asker
        self.name_of = naming(asker)
        self.documents = documents
        self.problems: tuple[Told, ...] = ()  # what of the index was damaged
        agents_see_none = for_agent and asker.settings.mcp.secrets == "mask"
        self._masks = hides_secrets or agents_see_none or asker.hides_secrets
        self._indexed: dict[str, str] = {}

    def indexed(self, path: str) -> str:
        """Return the text of a document, "" when there is none."""
        if path not in self._indexed:
            self._indexed[path] = self._masked(self.documents.get(path) or self._read(path, "index") or "", path)
        return self._indexed[path]

    def recorded(self, text: str) -> str:
        """Return a text as a record of an answer may hold it, which may be kept longer than the answer."""
        return text if self.asker.settings.source.secrets == "keep" and not self._masks else mask(text).text

    def on_disk(self, path: str) -> str | None:
        """Return the text as it is now, None when it is gone; comparable with `indexed`."""
        text = self.documents[path] if path in self.documents else self._read(path, "now")
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
            inside = [path] if self._read(path, "index") else self._inside(Question(folder, "files"))
            if not inside:
                raise SourceError(
                    f"{path!r} is not in the index",
                    hint="an ignore rule may leave it out; `fathom status --skipped` lists the other reasons",
                )
            files |= dict.fromkeys(inside)
        return tuple(files)

    def paths(self, where: Where | None) -> list[str]:
        """Return the documents that were given, then the indexed ones with lines that fulfil a condition."""
        return [*self.documents, *self._inside(Question("", "files", where=where))]

    def of_hits(self, result: SearchResult) -> SearchResult:
        """Return hits with the lines of these texts."""
        if not self._masks:
            return result
        return replace(result, hits=tuple(replace(hit, chunk=self._of_chunk(hit.chunk)) for hit in result.hits))

    def of_symbol(self, item: FoundSymbol) -> FoundSymbol:
        """Return a symbol whose signature is a part of these texts."""
        return replace(item, symbol=replace(item.symbol, signature=self._masked(item.symbol.signature, "")))

    def _inside(self, question: Question) -> list[str]:
        listed: SomeFiles = result_of(self.asker, question)
        self.problems = tuple(dict.fromkeys((*self.problems, *listed.limitations)))
        return [file.path for file in listed.files]

    def _read(self, path: str, as_of: AsOf) -> str | None:
        """Return the text of a document, None when it is not there."""
        texts, problems = result_of(self.asker, Question(kind="texts", files=(path,), as_of=as_of))
        self.problems = tuple(dict.fromkeys((*self.problems, *problems)))
        return texts[0].text if texts else None

    def _masked(self, text: str, path: str) -> str:
        return mask(text, path).text if self._masks else text

    def _of_chunk(self, chunk: Chunk) -> Chunk:
        end = "\n" if chunk.text.endswith("\n") else ""
        text = lines_of(self.indexed(chunk.path), chunk.start_line, chunk.end_line) + end
        if chunk.is_part:
            text = text[chunk.column - 1 : chunk.column - 1 + len(chunk.text)]
        return replace(chunk, text=text)


def naming(asker: Asker) -> NameOf:
    """Return a function that names the definition that lines lie in, else the first that begins in them."""

    @cache
    def symbols_of(path: str) -> tuple[Symbol, ...]:  # outer before inner
        (outline,) = result_of(asker, Question(kind="outlines", files=(path,)))
        symbols: tuple[Symbol, ...] = outline.symbols
        return symbols

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
