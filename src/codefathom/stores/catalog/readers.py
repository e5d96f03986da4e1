"""The catalogue as its readers see it: documents, chunks, symbols and references, each a narrow protocol.

`Catalog` is the class behind them, which only `project` knows. Another catalogue would offer the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from codefathom.stores.base import Row
    from codefathom.stores.catalog.foreign import Comparison
    from codefathom.stores.catalog.import_forms import ImportForm
    from codefathom.stores.catalog.import_table import ImportTable
    from codefathom.stores.catalog.outward import OutwardChange
    from codefathom.stores.catalog.records import (
        Batch,
        CatalogChanges,
        CatalogSource,
        CheckedText,
        CompilerRecord,
        CompilerUses,
        DefinitionPlace,
        DocumentRecord,
        Entry,
        LineRange,
        RejectedFile,
        StoredDocument,
        Written,
    )
    from codefathom.stores.catalog.soundness import Soundness
    from codefathom.stores.catalog.writing import DocumentWriting
    from codefathom.stores.kept_file import KeptFile
    from codefathom.text.file_stems import PathsByStem
    from codefathom.types import Chunk, Failure, FoundSymbol, Level, Reference, Symbol, Where

_Made = TypeVar("_Made")


class Documents(Protocol):
    """The indexed files and their texts."""

    @property
    def generation(self) -> int:
        """Number of writes that changed something; 0 before the first."""
        ...

    def documents(self) -> list[StoredDocument]:
        """Return all documents, ordered by path."""
        ...

    def paths(self) -> list[str]:
        """Return the paths of all documents, in order; they are read once a generation."""
        ...

    def documents_at(self, paths: Collection[str]) -> list[StoredDocument]:
        """Return the documents of these few paths that are there, in no order; each is read once a generation."""
        ...

    def paths_by_stem(self) -> PathsByStem:
        """Return the paths of all documents by their flat stems; they are read once a generation."""
        ...

    def languages(self) -> Mapping[str, str]:
        """Return the language of each document by its path, ordered by path; they are read once a generation."""
        ...

    def paths_since(self, generation: int) -> list[str]:
        """Return the paths of the documents that were written after a generation."""
        ...

    def document(self, path: str) -> StoredDocument | None:
        """Return one document, or None when it is not in the catalogue."""
        ...

    def text(self, path: str) -> str:
        """Return the text of a document; empty when there is none."""
        ...

    def lines(self, path: str, start_line: int, end_line: int) -> str:
        """Return the text of some lines of a document; only "\n" ends a line."""
        ...


class Chunks(Protocol):
    """The units that are searched."""

    def chunks(self, keys: Collection[int]) -> dict[int, Chunk]:
        """Return the chunks of these keys; keys that no longer exist are left out."""
        ...

    def placed(self, keys: Collection[int]) -> dict[int, tuple[Chunk, int]]:
        """Return the chunks of these keys, each with the number of lines of its document."""
        ...

    def chunks_of(self, path: str) -> list[tuple[int, Chunk]]:
        """Return the chunks of a document in line order; they join up to its text."""
        ...

    def texts(self, paths: Sequence[str]) -> Iterator[CheckedText]:
        """Yield the documents of sorted paths; one that is damaged, or gone, has no text."""
        ...

    def keys_of(self, paths: Collection[str]) -> dict[int, str]:
        """Return the keys of the chunks of these few documents, each with the path of its document, in line order."""
        ...

    def chunks_defining(self, name: str, *, partial: bool, limit: int) -> list[int]:
        """Return the keys of chunks that define a name, in any case; with `partial`, also names that contain it."""
        ...

    def n_chunks(self) -> int:
        """Return the number of chunks."""
        ...

    def chunks_at(self, name: str, line: int) -> list[tuple[int, str]]:
        """Return (key, path) of the chunks that hold this line of a file of this name, in the order of paths."""
        ...

    def passes(self, where: Where, place: Chunk) -> bool:
        """Return True if lines of a document, as they are shown, fulfil a condition."""
        ...

    def matching(self, where: Where, level: Level = "chunk") -> set[int]:
        """Return the keys of the chunks for which a condition holds, or for a place of a level in which they lie.

        A condition on the text of a symbol or file is left to the reader. Raises UsageError, SlowExpressionError.
        """
        ...


class Symbols(Protocol):
    """The named definitions."""

    def symbols(
        self, query: str = "", *, path: str = "", kind: str = "", limit: int = 50, offset: int = 0
    ) -> list[FoundSymbol]:
        """Return symbols whose name is, begins with or contains `query`, in that order; then by path and line."""
        ...

    def symbols_named(self, name: str, languages: Collection[str] | None = None) -> list[FoundSymbol]:
        """Return the symbols of exactly this name, in any case; a dotted name is the end of the qualified one.

        With languages, only those of documents in these.
        """
        ...

    def types_named(self, names: Collection[str]) -> list[FoundSymbol]:
        """Return the types of exactly these names, in no order; they are read together."""
        ...

    def definitions(self, name: str, *, limit: int) -> list[DefinitionPlace]:
        """Return places where a name is defined, in any case: as written first, types and modules before members and
        values, then by path and line."""
        ...

    def symbols_of(self, path: str) -> list[Symbol]:
        """Return the symbols of a document, outer before inner."""
        ...

    def kinds_in(self, places: Sequence[LineRange]) -> dict[LineRange, list[tuple[str, str]]]:
        """Return by place the qualified names of the symbols that begin there, each with its kind, in order."""
        ...

    def similar_names(self, word: str, *, limit: int) -> list[str]:
        """Return names of symbols that contain a word, shortest first."""
        ...


class References(Protocol):
    """The imports and uses of names."""

    def references(self, name: str) -> list[tuple[str, Reference]]:
        """Return the calls and type uses of a name, each with the path of its document."""
        ...

    def references_to(
        self, names: Collection[str], languages: Collection[str] | None = None
    ) -> list[tuple[str, Reference]]:
        """Return the calls and type uses of some names, in the order of paths and lines; each document is read once.

        With languages, only documents in these are read.
        """
        ...

    def references_of(self, path: str) -> list[Reference]:
        """Return the references in a document, in line order."""
        ...

    def mentions_of(self, path: str) -> frozenset[tuple[str | None, str]]:
        """Return the names that uses in a document have, each with the symbol around it, and those of imports."""
        ...

    def imports_of(self, path: str) -> list[Reference]:
        """Return the imports in a document, in line order."""
        ...

    def imports(self, forms: Collection[ImportForm] | None = None) -> Iterator[tuple[str, Reference]]:
        """Yield the imports that say one of these, or all, with the path of their document, in order."""
        ...

    def import_forms(self) -> ImportTable:
        """Return all that imports say, each once; they are read once, then those of documents that changed."""
        ...

    def languages_with_uses(self, languages: Iterable[str]) -> set[str]:
        """Return those of some languages in whose documents calls or type uses were seen."""
        ...


class CompilerReferences(Protocol):
    """The uses that compilers have written."""

    def compiler_paths(self) -> frozenset[str]:
        """Return the documents whose uses a compiler has written of this very version of the file."""
        ...

    def compiler_uses_in(self, path: str) -> list[CompilerUses]:
        """Return the uses in a document, by the documents that define what is used."""
        ...

    def compiler_uses_of(self, path: str) -> list[CompilerUses]:
        """Return the uses of what a document defines, by the documents that use it."""
        ...


class SearchCatalog(Documents, Chunks, Symbols, References, CompilerReferences, Protocol):
    """All that a search and the graph around a place read."""

    @property
    def may_leave_out(self) -> bool:
        """True if a question may get a part of what it reads, as in a fleet whose shards are asked in time."""
        ...

    @property
    def has_left_out(self) -> bool:
        """True if the question of now got a part of what it has read so far: what is made of that is not kept."""
        ...

    def kept(self, make: Callable[[SearchCatalog, _Made | None], _Made]) -> _Made:
        """Return what a function makes of the catalogue and of what it made before; it is called once a generation."""
        ...

    def source(self) -> CatalogSource | None:
        """Return what another process needs to read the same; None where only this one can."""
        ...

    def beside(self, name: str, version: int, *, is_outward: bool = False) -> KeptFile:
        """Return the file beside the catalogue for what is made of its present state; ask before anything is read.

        With `is_outward`, also what was made of an earlier state, while `shown_since` tells what is shown otherwise.
        """
        ...

    def shown_since(self, generation: int) -> OutwardChange | None:
        """Return what documents show others otherwise than in a generation; None where that is not known."""
        ...


class ViewSource(Protocol):
    """The catalogue as the views read it, when they are made and brought up to date."""

    @property
    def generation(self) -> int:
        """Number of writes that changed something; 0 before the first."""
        ...

    def changes(self, since: int) -> CatalogChanges:
        """Return the chunks that were added, and the keys that were removed, after a generation."""
        ...

    def vectors(self, model: str, since: int = 0) -> Iterator[Row]:
        """Yield the vectors of chunks, ordered by key; with `since`, of those where chunk or vector came after it."""
        ...

    def prune(self, oldest_view: int) -> None:
        """Drop embeddings that no chunk needs, and removals that a view of generation `oldest_view` has seen."""
        ...

    def flush(self) -> None:
        """Make all writes survive a power cut. A view that is ahead of its catalogue would be wrong."""
        ...


class RowCatalog(Protocol):
    """The catalogue behind a store of other makers: its rows decide, and stand in while the store is away."""

    @property
    def generation(self) -> int:
        """Number of writes that changed something; 0 before the first."""
        ...

    def rows(self, model: str, keys: Collection[int]) -> dict[int, bytes]:
        """Return the vectors of these chunks; those that are gone, or have none, are left out."""
        ...

    def vectors(self, model: str, since: int = 0) -> Iterator[Row]:
        """Yield the vectors of chunks, ordered by key; with `since`, of those where chunk or vector came after it."""
        ...

    def chunks(self, keys: Collection[int]) -> dict[int, Chunk]:
        """Return the chunks of these keys; keys that no longer exist are left out."""
        ...

    def changes(self, since: int) -> CatalogChanges:
        """Return the chunks that were added, and the keys that were removed, after a generation."""
        ...

    def modified_s(self, paths: Collection[str]) -> dict[str, float]:
        """Return the time stamps of documents, in seconds since 1970."""
        ...

    def n_rows(self, model: str) -> int:
        """Count the chunks that have a vector of this model."""
        ...

    def rewritten(self, since: int) -> list[int]:
        """Return the keys of the chunks of documents that were written after a generation: their lines may differ."""
        ...


class VectorCatalog(ViewSource, Protocol):
    """The embeddings of one model, while they are made beside those of another."""

    @property
    def soundness(self) -> Soundness:
        """The part that compares rows with their checksums."""
        ...

    def some_vectors(self, model: str, n: int) -> list[tuple[int, str, Chunk, bytes]]:
        """Return n vectors of a model that nobody could foresee: key, text hash, chunk, vector."""
        ...

    def drop_vectors(self, model: str) -> None:
        """Drop the embeddings of a model."""
        ...

    def add_vectors(self, model: str, vectors: Mapping[str, bytes]) -> int:
        """Store embeddings that were made after their chunks, and return the new generation."""
        ...

    def without_vector(self, model: str) -> list[tuple[int, str, Chunk]]:
        """Return the chunks that have no vector of this model, with their text hashes."""
        ...

    def n_without_vector(self, model: str) -> int:
        """Count the chunks that have no vector of this model."""
        ...

    def paths_without_vector(self, model: str) -> list[str]:
        """Return the paths of documents with a chunk that has no vector of this model, in order."""
        ...

    def get_meta(self, key: str, default: str = "") -> str:
        """Return a stored value."""
        ...

    def write(self, batch: Batch) -> Written:
        """Apply a batch in one transaction."""
        ...


class IndexState(Protocol):
    """The state of the index, which is compared with the tree."""

    @property
    def generation(self) -> int:
        """Number of writes that changed something; 0 before the first."""
        ...

    def get_meta(self, key: str, default: str = "") -> str:
        """Return a stored value."""
        ...

    @property
    def identity(self) -> str:
        """Random name of this catalogue."""
        ...

    def entries(self) -> dict[str, Entry]:
        """Return the stored facts about every document, by path."""
        ...

    def entries_at(self, paths: Sequence[str]) -> dict[str, Entry]:
        """Return the stored facts about the documents of these paths that are there, by path."""
        ...

    def paths_parsed_by(self, part: str) -> list[str]:
        """Return the paths of the documents whose version of the parse stage has this part."""
        ...

    def kept_texts(self) -> list[str]:
        """Return the paths of the texts that are on no disk."""
        ...

    def rejected(self) -> list[RejectedFile]:
        """Return the files that were opened and left out because of their content."""
        ...

    def rejected_at(self, paths: Sequence[str]) -> list[RejectedFile]:
        """Return those of these files that were opened and left out because of their content."""
        ...


class IndexCatalog(IndexState, Protocol):
    """All that an index run reads and writes."""

    def text(self, path: str) -> str:
        """Return the text of a document; empty when there is none."""
        ...

    @property
    def soundness(self) -> Soundness:
        """The part that compares rows with their checksums."""
        ...

    def begin_load(self) -> None:
        """Prepare for the first documents, or for more where a run that wrote them was killed."""
        ...

    def end_load(self) -> None:
        """Make what `begin_load` has left for the end. To be called before views are committed."""
        ...

    def write(self, batch: Batch) -> Written:
        """Apply a batch in one transaction. A chunk that is unchanged but for its lines keeps its key."""
        ...

    def writing(self, record: DocumentRecord) -> AbstractContextManager[DocumentWriting]:
        """Write a document piece by piece in one transaction, which ends with the block."""
        ...

    def vectors_of(self, model: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors of a model that are stored, by text hash."""
        ...

    def add_vectors(self, model: str, vectors: Mapping[str, bytes]) -> int:
        """Store embeddings that were made after their chunks, and return the new generation."""
        ...

    def makes_vectors(self, model: str) -> bool:
        """Return True if vectors of this model are never stored."""
        ...

    def drop_made(self) -> bool:
        """Drop stored vectors that are made now; return True if there were some."""
        ...

    def without_vector(self, model: str, since: int = -1) -> list[tuple[int, str, Chunk]]:
        """Return the chunks, written after a generation, that have no vector of this model, with their text hashes."""
        ...

    def n_by_text(self) -> int:
        """Count the documents that are too short or too long to be embedded."""
        ...

    def prune(self, oldest_view: int) -> None:
        """Drop embeddings that no chunk needs, and removals that a view of generation `oldest_view` has seen."""
        ...

    def forget_beside(self) -> None:
        """Remove the files beside the catalogue with what was made of it."""
        ...

    def scrub(self) -> bool:
        """Leave no deleted content in the file; return False when another reader was in the way."""
        ...

    def failures(self) -> list[Failure]:
        """Return the files that could not be indexed in the last run."""
        ...

    def n_chunks(self) -> int:
        """Return the number of chunks."""
        ...


class CompilerCatalog(IndexState, Protocol):
    """The documents and symbols that the index of a compiler is compared with, and the place for its uses."""

    def text(self, path: str) -> str:
        """Return the text of a document; empty when there is none."""
        ...

    def symbols_of(self, path: str) -> list[Symbol]:
        """Return the symbols of a document, outer before inner."""
        ...

    def imports_of(self, path: str) -> list[Reference]:
        """Return the imports in a document, in line order."""
        ...

    def symbol_names(self) -> frozenset[str]:
        """Return all names of symbols, as they are written."""
        ...

    def document(self, path: str) -> StoredDocument | None:
        """Return one document, or None when it is not in the catalogue."""
        ...

    def compiler_uses_in(self, path: str) -> list[CompilerUses]:
        """Return the uses in a document, by the documents that define what is used."""
        ...

    def put_compiler_uses(self, records: Sequence[CompilerRecord]) -> None:
        """Replace the uses in some documents in one transaction; what has changed meanwhile stays as it is."""
        ...


class ForeignCatalog(IndexState, Protocol):
    """An index that was made elsewhere, as it is compared with the files."""

    def comparison(self) -> Comparison:
        """Return the comparison of documents with the rows of this catalogue."""
        ...

    def cleanse(self, models: Collection[str]) -> None:
        """Remove all rows that cannot be compared with files."""
        ...

    def write(self, batch: Batch) -> Written:
        """Apply a batch in one transaction. A chunk that is unchanged but for its lines keeps its key."""
        ...

    def vectors_of(self, model: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors of a model that are stored, by text hash."""
        ...

    def some_vectors(self, model: str, n: int) -> list[tuple[int, str, Chunk, bytes]]:
        """Return n vectors of a model that nobody could foresee: key, text hash, chunk, vector."""
        ...

    def add_vectors(self, model: str, vectors: Mapping[str, bytes]) -> int:
        """Store embeddings that were made after their chunks, and return the new generation."""
        ...

    def drop_vectors(self, model: str) -> None:
        """Drop the embeddings of a model."""
        ...
