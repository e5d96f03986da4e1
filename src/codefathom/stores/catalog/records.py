"""Values that are written to the catalogue and read from it, beside those of types.py."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from codefathom.facts.reasons import Note, Told
from codefathom.types.hits import Chunk
from codefathom.types.skipped_files import Failure, Skipped

if TYPE_CHECKING:
    from codefathom.stores.folder import File
    from codefathom.types.parsed_documents import ParsedDocument

# At the end of the chunker of a document that is not embedded because of its size. Its chunks have no text hash.
SHORT, LONG = ", short", ", long"


class Entry(NamedTuple):
    """The facts about one document that tell if its file has changed."""

    document_id: int
    path: str
    size: int
    mtime_ns: int
    fingerprint: str
    parser: str
    chunker: str
    ctime_ns: int = 0  # 0: not recorded
    inode: int = 0


class RejectedFile(NamedTuple):
    """A file that was opened and left out because of its content; not opened again until its stamp changes."""

    path: str
    why: Told
    size: int
    mtime_ns: int
    ctime_ns: int = 0
    inode: int = 0


class RejectedChanges(NamedTuple):
    """In what the list of such files differs from the stored one."""

    settled: Collection[str]  # paths that are not in it any more, unless they are among the new ones
    new: Sequence[RejectedFile]


class DocumentRecord(NamedTuple):
    """One document as it is written: its symbols, references, chunks and vectors."""

    parsed: ParsedDocument
    chunks: tuple[Chunk, ...]
    text_hashes: tuple[str, ...]  # parallel to chunks; "" for one that is not to be embedded
    mtime_ns: int
    parser: str
    chunker: str
    vectors: Mapping[str, bytes]  # by text hash
    model: str
    ctime_ns: int = 0
    inode: int = 0


class TouchedFile(NamedTuple):
    """A file with a new time stamp and the bytes the catalogue knows."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0
    inode: int = 0


class Batch(NamedTuple):
    """The changes of one transaction; a list that is None stays as it is, any other list replaces the stored one."""

    records: tuple[DocumentRecord, ...] = ()
    removed: tuple[str, ...] = ()
    touched: tuple[TouchedFile, ...] = ()
    failures: tuple[Failure, ...] | None = None
    skipped: tuple[Skipped, ...] | None = None
    rejected: tuple[RejectedFile, ...] | RejectedChanges | None = None
    meta: Mapping[str, str] = MappingProxyType({})


class Written(NamedTuple):
    """The changes of one batch, as the views need them."""

    generation: int
    added: list[tuple[int, Chunk, str]]  # key, chunk, text hash
    removed: list[int]


class DefinitionPlace(NamedTuple):
    """A place where a name is defined."""

    path: str
    kind: str  # one of SYMBOL_KINDS
    name: str  # as written there
    line: int  # on which the name stands
    is_outer: bool = True  # it stands in no other definition


class LineRange(NamedTuple):
    """Lines of a document."""

    path: str
    start_line: int
    end_line: int


class StoredDocument(NamedTuple):
    """One document as the catalogue has it, without its text."""

    document_id: int
    path: str
    language: str
    fingerprint: str
    size: int
    mtime_ns: int
    n_lines: int
    problems: tuple[Note, ...]
    is_short: bool = False  # too short to be embedded: a hit shows all of it
    ctime_ns: int = 0
    inode: int = 0


class CheckedText(NamedTuple):
    """The text of a document whose rows were compared with their checksums."""

    path: str
    text: str
    keys: list[int]  # of its chunks, in line order
    begins: Sequence[tuple[int, int]] = ()  # line and column of each chunk, and of what would come behind the last one


class Counts(NamedTuple):
    """The numbers of documents, chunks and symbols in the catalogue."""

    documents: int
    chunks: int
    symbols: int
    languages: dict[str, int]  # documents by language, most first
    kinds: dict[str, int]  # chunks by kind, most first


class MadeVectors(NamedTuple):
    """A model whose vectors are made of the text of chunks whenever a view lacks them."""

    model: str
    of: Callable[[Sequence[Chunk]], Sequence[bytes]]
    are_stored: bool  # as well, for stores of other makers: these ask for few of them with each question


class CatalogSource(NamedTuple):
    """A catalogue as another process can open it, and how much it has."""

    file: File
    n_documents: int
    n_bytes: int  # of the documents on their disk


class CatalogChanges(NamedTuple):
    """The changes that a view of an older generation lacks."""

    added: Iterator[tuple[int, Chunk, str]]  # key, chunk, text hash
    removed: list[int]
    complete: bool  # False when removals of that time were pruned: the view must be built again


UseKind: TypeAlias = Literal["call", "type", "import"]


class CompilerUse(NamedTuple):
    """A use of a definition."""

    line: int
    name: str  # as it is written there
    target: str  # qualified name of the definition in its file; "" for the file as a whole
    kind: UseKind


class CompilerUses(NamedTuple):
    """The uses in a file of what another file, or the same one, defines."""

    path: str
    target_path: str  # "": what is used is no symbol of the project
    uses: tuple[CompilerUse, ...]


class CompilerRecord(NamedTuple):
    """All uses in one version of a file."""

    path: str
    fingerprint: str
    tool: str  # name and version of the program that wrote them
    uses: Mapping[str, frozenset[CompilerUse]]  # by the path of the definitions
