"""Runs that write an index: their progress, and what they report."""

from __future__ import annotations

from dataclasses import dataclass

from codefathom.facts.reasons import Note
from codefathom.types.skipped_files import Failure, Skipped


@dataclass(frozen=True, slots=True)
class PathReport:
    """Outcome of an update of named files. Paths are those of the index; each list is sorted but the last."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    refused: tuple[Skipped, ...] = ()  # no files of the index, with the reason


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
class ScipReport:
    """What was taken of the SCIP indexes of compilers, and what was left out of them."""

    tools: tuple[str, ...]  # name and version of each
    n_files: int  # whose edges are those of a compiler now
    n_uses: int  # of definitions of the project in these
    n_unknown: int = 0  # documents that are not in the index
    n_refused: int = 0  # documents outside of the project
    n_other_version: int = 0  # files of which an index describes another version
    skipped: tuple[Skipped, ...] = ()  # the first of those that were left out
