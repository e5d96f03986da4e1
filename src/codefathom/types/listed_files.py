"""Files, lines, texts and symbols as they are listed."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from codefathom.facts.reasons import Note, Told
from codefathom.types.symbols import FoundSymbol, Symbol


class Picture(NamedTuple):
    """A picture as a browser takes it."""

    media_type: str
    data: bytes


class SomeSymbols(NamedTuple):
    """A page of symbols, and the number of all of them."""

    symbols: tuple[FoundSymbol, ...]
    n_symbols: int
    limitations: tuple[Note, ...] = ()  # what was not listed

    @property
    def completeness(self) -> str:
        """The limitations in English."""
        return " ".join(map(str, self.limitations))


# entry: programs start there by its name; imported: a file of an earlier step imports it; central: none of them does.
StepReason: TypeAlias = Literal["entry", "imported", "central"]


class TourStep(NamedTuple):
    """A place to read in a project, and how one comes there."""

    path: str
    start_line: int
    end_line: int
    symbol: str  # qualified name of the definition in these lines; "" for the beginning of the file
    reason: StepReason
    source: str  # path of an earlier step that imports it, else ""

    @property
    def why(self) -> str:
        """How one comes there, in English."""
        if self.reason == "imported":
            return f"imported by {self.source}"
        return "a program starts here, by its name" if self.reason == "entry" else "no earlier step leads here"

    def below(self, project: str) -> TourStep:
        """Return the same with paths that begin with the project."""
        return self._replace(path=f"{project}/{self.path}", source=self.source and f"{project}/{self.source}")


class IndexedFile(NamedTuple):
    """One file of the index."""

    path: str
    language: str
    size: int  # bytes
    n_lines: int


class SomeFiles(NamedTuple):
    """Files of an index, ordered by path."""

    files: tuple[IndexedFile, ...]
    limitations: tuple[Note, ...] = ()  # what was not listed

    @property
    def completeness(self) -> str:
        """The limitations in English."""
        return " ".join(map(str, self.limitations))


class FileLines(NamedTuple):
    """Lines of a file, as they are now."""

    file: IndexedFile
    start_line: int
    end_line: int
    text: str
    stale: bool = False  # the file has changed since it was indexed: what the index says of it is of then
    has_marks: bool = False  # marks stand in the place of secrets


class DocumentText(NamedTuple):
    """The whole text of a document. Where the index has masks and the file has changed, it has them, too."""

    path: str
    text: str


class SomeTexts(NamedTuple):
    """The texts of those documents that are there, and what of the index is damaged."""

    texts: tuple[DocumentText, ...]
    problems: tuple[Told, ...] = ()


class FileOutline(NamedTuple):
    """The symbols of a document, outer before inner, and its purpose if a model has given one."""

    path: str
    symbols: tuple[Symbol, ...] = ()
    purpose: str = ""
