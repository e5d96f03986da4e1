"""The messages between the process of a job and the server: one value in each line, as JSON. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeAlias

from codefathom.clones.git_origin import GitOrigin
from codefathom.facts.reasons import Told, as_line, from_line
from codefathom.fleet.look_turns import Difference, FleetLook
from codefathom.types import Failure, IndexReport, PathReport, Progress, Status, StoreReport

MOST_ERRORS = 1_000  # files that are named; all are counted


@dataclass(frozen=True, slots=True)
class Order:
    """The project that a job indexes, and its settings."""

    root: str
    full: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)  # by key; they win over those of files
    origin: GitOrigin | None = None  # brought here first
    model_hosts: Sequence[str] = ()  # where these settings may lead; see `served_settings.py`
    retry: bool = True  # ask a model again about unchanged files on which it failed
    paths: Sequence[str] = ()  # only these files and folders, in one transaction
    revision: str = ""  # of the repository, read from its object store; "" for the files of the folder
    texts: Mapping[str, str | None] = field(default_factory=dict)  # in the same one; see `Engine.update`
    only: Sequence[str] = ()  # repositories of a fleet; none: all
    move_to: str = ""  # a store that the vectors are moved to; then nothing is indexed
    look: bool = False  # ask the sources of a fleet what they have; then nothing is indexed


def order_of(line: bytes) -> Order:
    """Return the order in a line that was made by `json.dumps(asdict(order))`."""
    values = json.loads(line)
    origin = values.pop("origin")
    return Order(**values, origin=GitOrigin(**{**origin, "schemes": tuple(origin["schemes"])}) if origin else None)


@dataclass(frozen=True, slots=True)
class Step:
    """The progress of a job."""

    phase: str = "queued"  # queued starting clone waiting scan index write purposes embed map move paused
    current_file: str = ""
    current: int = 0  # files that are done; in the phase embed, chunks; in move, vectors
    total: int = 0  # to do; 0 while it is not known
    n_chunks: int = 0
    rate: float = 0.0  # files a second
    remaining_s: float | None = None  # None while it cannot be told
    message: str = ""
    extent: Mapping[str, int] | None = None  # told once, before the work begins: the fields of `types.Extent`


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be indexed, or not wholly."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a job, and the contents of the index after it."""

    n_added: int
    n_changed: int
    n_removed: int
    n_unchanged: int
    n_failed: int
    skipped: Mapping[str, int]  # files by reason
    n_files: int  # in the index
    n_chunks: int
    n_symbols: int
    kinds: Mapping[str, int]  # chunks by kind
    n_bytes: int  # of added and changed files
    seconds: float
    generation: int
    index_dir: str
    paused: str = ""
    n_by_text: int = 0  # files that are not embedded, because of index.min_tokens or index.max_tokens
    lost: str = ""  # what only the index had, and is lost
    store_problem: str = ""  # why the store of vectors is not up to date
    missing_grammars: Sequence[str] = ()  # a line of `as_line` for each that could not be loaded

    def __post_init__(self) -> None:
        """Make a value that is equal to the one before it went through JSON, which knows lists only."""
        object.__setattr__(self, "missing_grammars", tuple(self.missing_grammars))


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why a job failed."""

    code: str  # name of the error, or "interrupted" or "crashed"
    message: str  # a line of `reasons.as_line`, as the hint
    hint: str = ""

    @classmethod
    def of(cls, code: str, told: Told, remedy: Told) -> Trouble:
        """Return the trouble that statements tell of."""
        return cls(code, as_line(told), as_line(remedy))

    @property
    def told(self) -> Told:
        """The reason."""
        return from_line(self.message)

    @property
    def remedy(self) -> Told:
        """What to do, "" where nothing is known."""
        return from_line(self.hint)


@dataclass(frozen=True, slots=True)
class PathOutcome:
    """The outcome for named files: the fields of `types.PathReport`."""

    added: Sequence[str]
    changed: Sequence[str]
    removed: Sequence[str]
    unchanged: Sequence[str]
    refused: Sequence[Sequence[str]]  # path, reason as `reasons.as_line` writes it


@dataclass(frozen=True, slots=True)
class SourcesLook:
    """The outcome of a look at the sources of a fleet: the fields of `FleetLook`."""

    n_repositories: int
    differences: Sequence[Sequence[str]]  # name, version
    failures: Sequence[Sequence[str]]  # path, reason
    is_blind: bool

    @classmethod
    def of(cls, look: FleetLook) -> SourcesLook:
        """Return a look as a message."""
        failures = [(failure.path, str(failure.reason)) for failure in look.failures]
        return cls(look.n_repositories, look.differences, failures, look.is_blind)

    @property
    def look(self) -> FleetLook:
        """The look that this tells of."""
        differences = tuple(Difference(*item) for item in self.differences)
        failures = tuple(Failure(path, reason) for path, reason in self.failures)
        return FleetLook(self.n_repositories, differences, failures, self.is_blind)


Message: TypeAlias = Step | FileError | Report | StoreReport | Trouble | PathOutcome | SourcesLook
_KINDS: Mapping[str, type[Message]] = {
    kind.__name__: kind for kind in (Step, FileError, Report, StoreReport, Trouble, PathOutcome, SourcesLook)
}


def line_of(message: Message) -> str:
    """Return a message as one line."""
    return json.dumps({"kind": type(message).__name__, **asdict(message)}) + "\n"


def message_of(line: str) -> Message | None:
    """Return the message in a line; None for another line, such as one that a library printed."""
    try:
        values = json.loads(line)
        kind = _KINDS[values.pop("kind")]
        return kind(**values)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


class JobPace:
    """Turns progress into steps that say how fast it goes. `now` are seconds of any clock that does not go back."""

    def __init__(self, now: float) -> None:
        self._phase = ""
        self._began = self._last = now

    def step(self, progress: Progress, now: float) -> Step:
        """Return a step; its phase began when the one before had told something last."""
        if progress.phase != self._phase:
            self._phase, self._began = progress.phase, self._last
        self._last = now
        seconds = now - self._began
        is_known = bool(progress.n_done and progress.n_total and seconds > 0)
        rate = progress.n_done / seconds if is_known else 0.0
        return Step(
            phase=progress.phase,
            current_file=progress.path,
            current=progress.n_done,
            total=progress.n_total,
            n_chunks=progress.n_chunks,
            rate=round(rate, 2),
            remaining_s=round((progress.n_total - progress.n_done) / rate, 1) if is_known else None,
            message=progress.message,
            extent=asdict(progress.extent) if progress.extent is not None else None,
        )


def path_outcome_of(report: PathReport) -> PathOutcome:
    """Return the outcome for named files as a message."""
    refused = [(item.path, as_line(item.why)) for item in report.refused]
    return PathOutcome(report.added, report.changed, report.removed, report.unchanged, refused)


def report_of(report: IndexReport, status: Status) -> Report:
    """Return the part of a report that the server stores."""
    return Report(
        n_added=len(report.added),
        n_changed=len(report.changed),
        n_removed=len(report.removed),
        n_unchanged=report.n_unchanged,
        n_failed=len(report.failures),
        skipped=dict(Counter(skipped.reason for skipped in status.skipped)),
        n_files=status.n_documents,
        n_chunks=status.n_chunks,
        n_symbols=status.n_symbols,
        kinds=dict(status.kinds),
        n_bytes=report.n_bytes,
        seconds=round(report.seconds, 3),
        generation=report.generation,
        index_dir=status.index_dir,
        paused=report.paused,
        n_by_text=report.n_by_text,
        lost=report.lost,
        store_problem=report.store_problem,
        missing_grammars=tuple(map(as_line, report.unloaded)),
    )
