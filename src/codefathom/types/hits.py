"""What a search finds: chunks, hits, and the result that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from codefathom.facts.quick_pickle import QuickPickle
from codefathom.facts.reasons import Note, Told, sentence
from codefathom.types.choices import Branches, Level, Mode, Route


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


class ConsultedFile(NamedTuple):
    """A file that a search looks into, told while it does."""

    path: str
    act: str  # of a named file: added, changed, removed, unchanged, refused; of a file with hits: read
    reason: str = ""  # why it was refused, or why what was read may not be what is in the file now
