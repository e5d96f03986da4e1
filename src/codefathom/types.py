"""The frozen values that flow through Codefathom; every module speaks in these.

Lines are 1-based and inclusive. Paths are relative to the project root, POSIX, without a leading "./".
Vectors are C-contiguous two-dimensional buffers of float32 with unit rows (shape (n, dimensions)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias, get_args

from codefathom.facts.quick_pickle import QuickPickle
from codefathom.facts.reasons import Note, Told, sentence

Level: TypeAlias = Literal["file", "symbol", "chunk"]
Branches: TypeAlias = Literal["default", "all"] | None  # of repositories of a fleet; None: it has one of each
# How a caller names a level: "function" is the level "symbol", kept to FUNCTION_KINDS.
LevelName: TypeAlias = Literal["file", "symbol", "function", "chunk"]
# Whether the hits of a page are by rank, or gathered by repository and file.
Grouping: TypeAlias = Literal["none", "repository"]
# How a search ranks; "auto" leaves the choice to the planner.
Mode: TypeAlias = Literal["auto", "hybrid", "vector", "lexical", "symbol", "regex", "graph"]
# How the definition of a use is known: by scope and imports, or by its name alone.
# A compiler has written the edge; it is known by scope and imports; it is known by the name alone.
Certainty: TypeAlias = Literal["by-compiler", "exact", "by-name"]
Route: TypeAlias = Literal["regex", "symbol", "semantic", "graph", "answer"]
LEVELS: tuple[LevelName, ...] = ("file", "symbol", "function", "chunk")
GROUPINGS: tuple[Grouping, ...] = ("none", "repository")
MODES: tuple[Mode, ...] = ("auto", "hybrid", "vector", "lexical", "symbol", "regex", "graph")
# Which connections of a file or symbol are listed.
Direction: TypeAlias = Literal["both", "callers", "callees"]
EdgeKind: TypeAlias = Literal["calls", "imports", "references", "tests"]
DIRECTIONS: tuple[Direction, ...] = ("both", "callers", "callees")
EDGE_KINDS: tuple[EdgeKind, ...] = ("calls", "imports", "references", "tests")

# A C-contiguous buffer of float32, shape (n, dimensions), unit rows: a memoryview, so that a search needs no numpy.
Matrix: TypeAlias = memoryview


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition on a field of a chunk or its document; search/filter/filters.py names fields and operators."""

    field: str
    operator: str
    value: str | int | float | tuple[str | int | float, ...]


@dataclass(frozen=True, slots=True)
class FilterGroup:
    """Conditions joined by AND, OR or NOT. NOT is true when not all of them hold; an empty AND group is true."""

    operator: Literal["AND", "OR", "NOT"]
    filters: tuple[Filter | FilterGroup, ...]


Where: TypeAlias = "Filter | FilterGroup"


SymbolKind: TypeAlias = Literal[
    "function",  # code that is called by its name, outside a class
    "method",  # the same inside a class, or with an owner such as a receiver in Go
    "class",  # also a record or an object that a language calls a class
    "interface",  # also a protocol
    "struct",  # also a union
    "enum",
    "trait",
    "type",  # another name for a type, or a type that is none of the kinds above
    "module",  # a module, namespace or package inside a file
    "constant",  # a value of the top level or of a class that does not change
    "variable",  # any other value of the top level or of a class; also a field
    "macro",
    "component",  # a component of a user interface, such as one of React or Vue
    "section",  # a heading of a text with all below it
]
SYMBOL_KINDS: tuple[SymbolKind, ...] = get_args(SymbolKind)
KIND_ALIASES: dict[str, SymbolKind] = {  # words that users and models write for them
    "func": "function",
    "fn": "function",
    "def": "function",
    "procedure": "function",
    "subroutine": "function",
    "constructor": "method",
    "cls": "class",
    "record": "struct",
    "iface": "interface",
    "protocol": "interface",
    "const": "constant",
    "var": "variable",
    "field": "variable",
    "property": "variable",
    "mod": "module",
    "namespace": "module",
    "package": "module",
}
TYPE_KINDS: frozenset[SymbolKind] = frozenset({"class", "interface", "struct", "enum", "trait", "type"})
VALUE_KINDS: frozenset[SymbolKind] = frozenset({"constant", "variable"})
FUNCTION_KINDS: tuple[SymbolKind, ...] = ("function", "method")
CALLABLE_KINDS: frozenset[SymbolKind] = frozenset({*FUNCTION_KINDS, "macro"})


SECTION_SEPARATOR = " > "  # between the names of nested sections: a heading may contain dots
USUAL_ENCODING = "windows-1252"  # of files that are not UTF-8, where nothing speaks for another one


@dataclass(frozen=True, slots=True)
class Document:
    """One version of one file."""

    path: str
    language: str  # a name of facts/languages.py; "text" when nothing better is known
    text: str  # decoded, with its own line ends
    fingerprint: str  # versioned hash of the bytes on disk
    size: int  # bytes on disk
    # What the project's old files are taken for, "gb18030", and behind it what this one looks like, "gb18030/cp932";
    # empty when the file itself tells its encoding.
    encoding: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named definition. The span includes decorators, attributes and the doc comment."""

    kind: str  # one of SYMBOL_KINDS
    name: str
    qualified_name: str  # "Outer.inner": names of the enclosing symbols joined with "."
    start_line: int
    end_line: int
    name_line: int  # the line on which the name stands
    signature: str = ""  # one line, white space folded, without the body
    doc: str = ""  # doc comment or docstring, comment marks removed


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name: an import of a module, or a call, instantiation or type use."""

    kind: Literal["import", "call", "type"]
    name: str  # import: the module or path as written ("os.path", "./util"); otherwise the last name ("parse")
    line: int  # the first line in `container` on which it stands
    container: str = ""  # qualified name of the enclosing symbol; "" at module level
    count: int = 1  # how often it stands in `container`
    # call, type: what stands before the name ("self", "os.path"; "?": an expression; "?.row": a local value). import:
    # the names that it gives to its file ("a, b as c", "*"), where they are not the last part of its own name
    qualifier: str = ""


@dataclass(frozen=True, slots=True)
class Break:
    """A line at which the syntax allows a cut: a child of a large node begins there."""

    line: int
    depth: int  # 0 = top level of the document; smaller is the better place to cut


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The result of a parser. `problems` is not empty when the parse was partial; symbols may be empty either way."""

    document: Document
    symbols: tuple[Symbol, ...]  # ordered by start_line, outer before inner
    references: tuple[Reference, ...]
    breaks: tuple[Break, ...]
    parser: str  # name and version, such as "treesitter/1"
    problems: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk(QuickPickle):
    """Consecutive lines of a document, or a part of one long line. The chunks of a document join up to the document."""

    id: str  # hash of path, text and n-th occurrence: unchanged when lines move
    path: str
    language: str
    # Of the definitions that fill most of it, else of the symbol it lies in; "block" outside, "section" in prose.
    kind: str
    symbol: str  # qualified name of the innermost symbol that contains it whole; "" outside
    names: tuple[str, ...]  # qualified names of the symbols whose definition starts in it
    start_line: int
    end_line: int
    text: str
    signature: str = ""  # signatures of `names`, or of `symbol` when none starts here
    doc: str = ""  # doc comments of `names`, shortened
    column: int = 1  # of its first character in `start_line`, from 1; more only in a line that was split

    @property
    def is_part(self) -> bool:
        """True for a part of a line; the last line of a file may look so, too, where it has no line end."""
        return self.start_line == self.end_line and (self.column > 1 or not self.text.endswith("\n"))


class CommitMark(NamedTuple):
    """The head of a commit, as the first lines of its document tell it."""

    commit: str  # its whole hash
    date: str  # such as 2026-11-27
    author: str
    subject: str
    pull_request: str = ""  # its number, "" where the message names none

    @property
    def origin(self) -> str:
        """The day, the author and the pull request in one line."""
        number = f"pull request #{self.pull_request}" if self.pull_request else ""
        return ", ".join(filter(None, (self.date, self.author, number)))


@dataclass(frozen=True, slots=True)
class Hit(QuickPickle):
    """A returned place. `chunk` is the chunk, or the whole symbol or file for those levels."""

    chunk: Chunk
    score: float  # 0 to 1 within one result list
    signals: Mapping[str, float]  # what each ranking signal gave; shown by --explain
    reasons: tuple[Note, ...] = ()  # why it ranks here
    line: int = 0  # the line to look at first, inside the chunk
    name: str = ""  # the symbol that it shows: the one it lies in, or one it holds that the question names
    stale: bool = False  # its file is gone, or has other bytes than when it was indexed: these lines are those of then
    column: int = 0  # in `line`, in characters from 1: of the match, of the name, else of the first one not blank
    document_place: Note | None = None  # of `line` in a document; None in a file that is a text
    kind: str = ""  # of the symbol `name`; without a name that of the lines: "block", "file"; or "commit"
    commit: CommitMark | None = None  # the commit that it is, or a part of it; None for a place in a file

    @property
    def reason(self) -> str:
        """The reasons as one short English sentence."""
        return sentence(self.reasons)

    @property
    def place(self) -> str:
        """Page, heading or cell of `line`, such as "page 3"; "" in a file that is a text."""
        return str(self.document_place or "")


@dataclass(frozen=True, slots=True)
class SearchPlan(QuickPickle):
    """The kind of search that was chosen for a query, and the reason."""

    route: Route = "semantic"
    reason: Note | None = None  # None when its mode was given
    kept_to: str = ""  # the type outside of which nothing was looked for, because the question names it in plain words

    @property
    def why(self) -> str:
        """The reason in English, "" when its mode was given."""
        return str(self.reason or "")


@dataclass(frozen=True, slots=True)
class Rest(QuickPickle):
    """The part of a list behind its last item that is shown."""

    n: int = 0  # items
    is_exact: bool = True  # False: there are at least so many, and there may be more

    def __bool__(self) -> bool:
        """True if the list may go on."""
        return self.n > 0 or not self.is_exact

    def plus(self, n: int) -> Rest:
        """Return the rest with `n` more items, which were cut off before it."""
        return Rest(self.n + n, self.is_exact)

    def next_offset(self, offset: int, n_shown: int) -> int | None:
        """Return the place at which the next page begins; None where the list has ended."""
        return offset + n_shown if self and n_shown else None

    def __str__(self) -> str:
        """Return the number in words."""
        return f"{self.n:,}" if self.is_exact else f"at least {self.n:,}" if self.n else "maybe some"


NO_REST = Rest()


FACETS = ("project", "language", "kind", "dir", "is_test")


@dataclass(frozen=True, slots=True)
class Facets(QuickPickle):
    """What the places of a list have in common, counted: by language, kind, dir, is_test, and project where it is asked
    as one of several. Names and values are those of a filter; `is_test` is "true" or "false"."""

    counts: Mapping[str, Mapping[str, int]]  # by name and value: the places of the list when it is kept to this value
    is_whole: bool = False  # all places of the list were counted; False: there may be more

    @property
    def n_places(self) -> int:
        """The number of places that were counted."""
        return sum(self.counts.get("is_test", {}).values())


NO_FACETS = Facets({})


class UnaskedShard(NamedTuple):
    """A shard of a fleet that a question did not reach, or not to its end."""

    shard: str
    repositories: tuple[str, ...]  # whose files it has
    reason: Note


class Partial(NamedTuple):
    """The part of a fleet that a question did not reach."""

    n_shards: int  # of the fleet
    unasked: tuple[UnaskedShard, ...]

    @property
    def n_repositories(self) -> int:
        """The number of repositories in these shards."""
        return sum(len(shard.repositories) for shard in self.unasked)


@dataclass(frozen=True, slots=True)
class SearchResult(QuickPickle):
    """The hits, best first, and how far they can be trusted."""

    query: str
    hits: tuple[Hit, ...]
    level: Level
    mode: Mode  # the ranking that was used, never "auto"
    confidence: float  # 0 to 1
    generation: int  # of the catalogue that was searched
    problems: tuple[Told, ...] = ()  # what was missing
    stale: bool = False  # files changed since the index was made
    advice: Note | None = None  # what to try, when there are no hits
    milliseconds: float = 0.0
    weak: bool = False  # so little confidence that most likely nothing here answers
    unanswerable: bool = False  # it is weak, and no word of the question is here or the confidence is next to nothing
    plan: SearchPlan = SearchPlan()
    scale: str = ""  # scores of results with the same text here can be compared
    offset: int = 0  # of the first hit in the whole list
    rest: Rest = NO_REST  # of the list, behind these hits
    has_marks: bool = False  # marks stand in the place of secrets
    partial: Partial | None = None  # the part of a fleet that was not searched; None: all of it was
    branches: Branches = None  # of the repositories of a fleet, which ones were searched; None: it has one of each
    facets: Facets = NO_FACETS  # of the whole list, as far as it was read

    @property
    def suggestion(self) -> str:
        """The advice in English, "" where there are hits."""
        return str(self.advice or "")

    @property
    def degraded(self) -> tuple[str, ...]:
        """The problems in English, one sentence each."""
        return tuple(map(str, self.problems))


@dataclass(frozen=True, slots=True)
class PathReport:
    """Outcome of an update of named files. Paths are those of the index; each list is sorted but the last."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    refused: tuple[Skipped, ...] = ()  # no files of the index, with the reason


class ConsultedFile(NamedTuple):
    """A file that a search looks into, told while it does."""

    path: str
    act: str  # of a named file: added, changed, removed, unchanged, refused; of a file with hits: read
    reason: str = ""  # why it was refused, or why what was read may not be what is in the file now


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a long run; only faces print it."""

    phase: str  # clone wait scan index write purposes embed move paused
    n_done: int  # files; in the phases embed and move, chunks
    n_total: int
    path: str = ""
    n_chunks: int = 0
    message: str = ""
    failures: tuple[Failure, ...] = ()  # files that failed since the step before; the report has all
    extent: Extent | None = None  # told once, before the work begins


@dataclass(frozen=True, slots=True)
class Extent:
    """The files of an index run, before its work begins."""

    n_files: int  # of the project
    n_to_index: int  # new, changed or not finished
    n_to_remove: int  # gone from the project, still in the index


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run that writes an index, in files of the project that are as the run leaves them."""

    n_done: int = 0
    n_files: int = 0  # 0: not known yet

    @property
    def share(self) -> str:
        """The share in words, such as ", 63 %"; "" while it is not known."""
        return f", {self.n_done * 100 // self.n_files} %" if self.n_files else ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was seen and not indexed, and why."""

    path: str
    why: Told

    @property
    def reason(self) -> str:
        """The reason in English."""
        return str(self.why)


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be indexed this time; it is tried again in the next run."""

    path: str
    why: Told

    @property
    def reason(self) -> str:
        """The reason in English."""
        return str(self.why)


@dataclass(frozen=True, slots=True)
class ForModel:
    """The numbers of an index run for a language model: what it sent, or with dry_run would send at most."""

    n_files: int = 0  # to be parsed
    n_tokens: int = 0  # in all, an estimate
    n_purposes: int = 0  # files of which only the head is sent, for one line on what they are for


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected time, size and cost of an index run, all estimates."""

    seconds: float  # until all can be searched; a slow embedding model goes on after that
    index_bytes: int  # by which the index grows
    embedding_model: str = ""  # one that is asked for the vectors after that
    embedding_tokens: int = 0
    cost: float | None = None  # of all that remote models are sent; None if a price is not known


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The report of an index run; with dry_run, of its plan."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    n_unchanged: int
    n_touched: int  # new time stamp, same bytes
    failures: tuple[Failure, ...]
    skipped: tuple[Skipped, ...]
    n_chunks: int  # in the whole index afterwards; in a dry run an estimate of new chunks
    n_bytes: int  # bytes of added and changed files
    seconds: float
    generation: int
    dry_run: bool = False
    paused: str = ""  # why the run stopped early; empty when it ended
    for_model: ForModel = ForModel()
    repaired: tuple[str, ...] = ()  # parts of the index that were damaged and were made again
    forecast: Forecast | None = None  # of a dry run
    mended: tuple[str, ...] = ()  # files of which an index that was made elsewhere held something else
    n_by_text: int = 0  # documents outside index.min_tokens and index.max_tokens; in a dry run of those to index
    lost: str = ""  # what only the index had, and is lost; empty: nothing
    store_problem: str = ""  # why the store of vectors could not be brought up to date; the next run does it
    unloaded: tuple[Note, ...] = ()  # grammars; the next run tries to load them again
    store_change: str = ""  # what another value of store.exact has changed

    @property
    def missing_grammars(self) -> tuple[str, ...]:
        """A sentence for each grammar that could not be loaded."""
        return tuple(map(str, self.unloaded))

    @property
    def is_eventful(self) -> bool:
        """True if the run changed the index, or could not do all of its work."""
        is_changed = any((self.added, self.changed, self.removed, self.repaired, self.mended, self.lost))
        return is_changed or not self.is_complete

    @property
    def is_complete(self) -> bool:
        """True if the run did all of its work; files that failed by themselves do not count."""
        return not (self.paused or self.unloaded)


@dataclass(frozen=True, slots=True)
class Related:
    """Files or symbols that are connected with a place."""

    path: str
    kind: Literal["imports", "imported by", "calls", "called by", "references"]
    line: int
    name: str  # what is imported or called
    symbol: str = ""  # the symbol in which it stands
    depth: int = 1
    likely: bool = True  # False: nothing beside this use names the class that the symbol belongs to
    certainty: Certainty = "exact"
    n_definitions: int = 1  # that the name can mean here
    unfollowed: str = ""  # the import by which the file has the name, where nobody knows what it means
    unfollowed_at: str = ""  # the path and line of that import; other files may have the name from there

    def below(self, project: str) -> Related:
        """Return the same with paths that begin with the project."""
        place = f"{project}/{self.unfollowed_at}" if self.unfollowed_at else ""
        return replace(self, path=f"{project}/{self.path}", unfollowed_at=place)


@dataclass(frozen=True, slots=True)
class RelatedResult:
    """Edges around a document or symbol, and how complete they are."""

    target: str
    edges: tuple[Related, ...]
    limitations: tuple[Note, ...]  # how the edges are known, and what kinds of use cannot be seen
    n_unresolved: int = 0  # imports that point to no document of the project
    offset: int = 0  # of the first edge in the whole list
    rest: Rest = NO_REST  # of the list, behind these edges
    notes: tuple[Note, ...] = ()  # what could not be seen, in numbers; `completeness` tells it in words, too

    @property
    def completeness(self) -> str:
        """The same in English."""
        return " ".join(map(str, self.limitations))


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """What a commit made of some lines: before it with "-", after it with "+", the same on both sides with a blank."""

    commit: CommitMark
    path: str  # of the file then
    start_line: int  # after the change
    end_line: int
    lines: tuple[str, ...]
    has_marks: bool = False  # marks stand in the place of secrets

    @property
    def before(self) -> str:
        """The lines before the commit, "" where it added them."""
        return "\n".join(line[1:] for line in self.lines if line[0] != "+")

    @property
    def after(self) -> str:
        """The lines after the commit, "" where it removed them."""
        return "\n".join(line[1:] for line in self.lines if line[0] != "-")


@dataclass(frozen=True, slots=True)
class FileOwner:
    """Somebody who has changed a file, with the number of commits."""

    name: str
    n_commits: int


@dataclass(frozen=True, slots=True)
class LineHistory:
    """The commits that made some lines, the latest first, and the owners of their file."""

    path: str
    start_line: int
    end_line: int
    steps: tuple[HistoryStep, ...]
    code_owners: tuple[str, ...] = ()  # that the file CODEOWNERS names
    changed_by: tuple[FileOwner, ...] = ()  # who changed the file most often, first
    offset: int = 0
    rest: Rest = NO_REST
    note: str = ""  # why there are no steps


class Picture(NamedTuple):
    """A picture as a browser takes it."""

    media_type: str
    data: bytes


class BlamedLines(NamedTuple):
    """Lines that follow each other, and the commit that all of them come from."""

    start_line: int
    end_line: int
    commit: CommitMark | None  # None: they are in no commit yet


@dataclass(frozen=True, slots=True)
class Context:
    """Whole files for a prompt, most relevant first, under a budget."""

    query: str
    files: tuple[ContextFile, ...]
    n_tokens: int
    truncated: tuple[str, ...] = ()  # paths of files of which only a part fitted
    absent: tuple[str, ...] = ()  # paths of files of which nothing fitted
    problems: tuple[Told, ...] = ()  # what the search had to do without
    weak: bool = False  # most likely none of the files answers
    n_left_out: int = 0  # further files with hits, above the largest number of files
    n_left_out_is_exact: bool = True  # False: at least so many, and maybe more

    @property
    def degraded(self) -> tuple[str, ...]:
        """The problems in English, one sentence each."""
        return tuple(map(str, self.problems))


@dataclass(frozen=True, slots=True)
class ContextFile:
    """One file, or its excerpts, in a context."""

    path: str
    text: str
    score: float
    reason: str
    spans: tuple[tuple[int, int], ...] = ()  # (start_line, end_line); empty when the file is whole
    symbols: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class FoundSymbol:
    """A symbol and the document it stands in."""

    path: str
    language: str
    symbol: Symbol
    by_head: bool = False  # known by its first line alone, where a grammar lost it: where it ends is a guess


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """What a name means at the place where it stands."""

    name: str
    definitions: tuple[FoundSymbol, ...]  # the nearest first; none: nothing of this project
    certainty: Certainty
    n_definitions: int  # all, also those that are not listed
    is_definition: bool = False  # the place itself is where the name is defined
    uses: tuple[Related, ...] = ()  # the first uses of the first definition
    n_uses: int = 0  # that are known by calls and types
    n_uses_is_exact: bool = True  # False: there may be more, as not all uses of this name were looked at


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


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """The place of a secret in an indexed file, without its value."""

    path: str
    line: int
    kind: str  # "secret" where the file has changed, and nothing more is known of it


@dataclass(frozen=True, slots=True)
class Status:
    """The contents of the index, and its distance from the files."""

    root: str
    index_dir: str
    generation: int
    n_documents: int
    n_chunks: int
    n_symbols: int
    n_bytes: int  # of the index on disk
    languages: Mapping[str, int]  # documents by language
    kinds: Mapping[str, int]  # chunks by kind
    model: str
    n_without_vector: int
    indexed_at: float  # seconds since the epoch; 0.0 before the first run
    pending: int  # files that are new, changed or gone since then
    views_current: bool
    skipped: tuple[Skipped, ...]
    failures: tuple[Failure, ...]
    broken: tuple[Failure, ...] = ()  # indexed files of which something may be missing; what is sound of them is there
    paused: str = ""  # why the last run stopped early
    damages: tuple[Note, ...] = ()  # what is known to be damaged
    required_exts: tuple[str, ...] = ()  # only files that end like this are indexed; empty: all
    ignore: tuple[str, ...] = ()  # patterns of the settings or of an index run
    kept: tuple[str, ...] = ()  # the settings of these that an index run was given, and that hold since then
    first_run: Note | None = None  # how far it has come, when it was not completed
    doubt: str = ""  # why the index that lies there is not believed; then nothing of it is told
    revision: str = ""  # the revision whose files these are; empty: those of the folder
    n_by_text: int = 0  # documents outside index.min_tokens and index.max_tokens: not embedded
    store_problem: str = ""  # why the store of vectors cannot be used; meanwhile those of the catalogue answer
    n_by_head: int = 0  # definitions that the grammar of their language has lost: known by the line they begin with
    n_files_by_head: int = 0  # files with such definitions
    encodings: Mapping[str, int] = field(
        default_factory=dict
    )  # files that are not UTF-8 and declare nothing, by encoding
    compilers: tuple[CompilerFiles, ...] = ()  # whose edges the index has
    commits: KnownCommits | None = None  # None before the first question about commits

    @property
    def damage(self) -> tuple[str, ...]:
        """What is known to be damaged in English, one sentence each."""
        return tuple(map(str, self.damages))

    @property
    def incomplete(self) -> str:
        """How far the first run has come in English, "" when it was completed."""
        return str(self.first_run or "")


@dataclass(frozen=True, slots=True)
class KnownCommits:
    """The commits that are indexed, and those that are not, because they are older or new."""

    n_known: int
    n_left_out: int
    n_bytes: int  # of their index on disk, a part of the whole


@dataclass(frozen=True, slots=True)
class CompilerFiles:
    """The files whose edges a compiler has written."""

    tool: str  # name and version
    n_files: int
    n_changed: int  # of these: changed since, so that their edges are those that the parser sees


@dataclass(frozen=True, slots=True)
class ScipReport:
    """What was taken of the SCIP indexes of compilers, and what was left out of them."""

    tools: tuple[str, ...]  # name and version of each
    n_files: int  # whose edges are those of a compiler now
    n_uses: int  # of definitions of the project in these
    n_unknown: int = 0  # documents that are not in the index
    n_refused: int = 0  # documents outside of the project
    n_other_version: int = 0  # files of which an index describes another version
    skipped: tuple[Skipped, ...] = ()  # the first of those that were left out


@dataclass(frozen=True, slots=True)
class StoreReport:
    """The comparison of a store of vectors with the index."""

    store: str
    n_rows: int  # vectors of the index
    same: float  # share of the nearest vectors of a sample that the store finds
    problem: str = ""  # why the two do not agree


@dataclass(frozen=True, slots=True)
class StoreState:
    """The state of a store of vectors, as it says it itself."""

    store: str
    project: str  # the key of this project among others in one place
    state: Mapping[str, str | int | bool]  # address or file, version, kind of index, its settings
    projects: Mapping[str, int]  # vectors of each project whose rows lie in the same place


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of an index in one file."""

    root: str  # of the project when it was made
    made_at_ns: int  # nanoseconds since 1970
    n_documents: int
    n_chunks: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An index of a team in one file, and what of it was taken."""

    commit: str  # of git, as its maker says; "" where none is known
    program: str  # version of fathom that has made it
    made_at_ns: int  # nanoseconds since 1970
    models: tuple[str, ...]
    n_documents: int
    n_chunks: int
    n_bytes: int  # of the file
    key: str  # public key of the signature, "" without one
    n_taken: int = 0  # documents whose files are the same here
    n_checked: int = 0  # documents that were made again
    n_vectors: int = 0  # that were made again


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of `doctor`."""

    part: Told  # the part that was looked at
    ok: bool
    told: Told  # its state
    remedy: Told = ""

    @property
    def name(self) -> str:
        """The part in English."""
        return str(self.part)

    @property
    def detail(self) -> str:
        """The state in English."""
        return str(self.told)

    @property
    def hint(self) -> str:
        """The remedy in English, "" without one."""
        return str(self.remedy)


class Prices(NamedTuple):
    """Prices of a million tokens, in any currency; 0.0 if a price is not known."""

    prompt: float = 0.0
    completion: float = 0.0
    is_free: bool = False  # both prices are known, and they are 0

    def cost(self, usage: tuple[int, int]) -> float | None:
        """Return the cost of tokens sent and received; None if no price is known or no token was counted."""
        if not (self.is_free or self.prompt or self.completion) or not any(usage):
            return None
        n_sent, n_received = usage
        return round((n_sent * self.prompt + n_received * self.completion) / 1e6, 9)


NO_PRICES = Prices()
