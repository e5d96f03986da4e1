"""The results of one run so far, and the limit at which it stops early."""

from __future__ import annotations

from dataclasses import dataclass, field

from codefathom.stores.catalog.records import RejectedFile
from codefathom.types import Failure


@dataclass(frozen=True, slots=True)
class ErrorLimit:
    """The limit at which a run stops early: more than `error_share` of at least `error_minimum` items failed."""

    error_share: float = 0.30
    error_minimum: int = 50

    def is_exceeded(self, n_failed: int, n_done: int) -> bool:
        """Return True if so many items failed that the run is to stop."""
        return n_done >= self.error_minimum and n_failed > self.error_share * n_done


@dataclass(slots=True)
class Tally:
    """The results of one run so far."""

    started: float
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    rejected: list[RejectedFile] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    unfinished: list[Failure] = field(default_factory=list)  # indexed, but not by the model; no reason to pause
    model_sizes: list[int] = field(default_factory=list)  # sizes of the files that went to the model
    not_embedded: list[Failure] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    n_touched: int = 0
    n_assumed: int = 0  # files that are not UTF-8 and declare no encoding
    n_done: int = 0
    n_chunks: int = 0
    n_bytes: int = 0
    n_reported: int = 0  # of failures
    n_reported_unfinished: int = 0
    paused: str = ""
    repaired: list[str] = field(default_factory=list)  # parts of the index that were damaged
    n_lost_texts: str = ""  # as the catalogue notes it
    missing_grammars: dict[str, str] = field(default_factory=dict)  # the reason, by language

    def new_failures(self) -> tuple[Failure, ...]:
        """Return the failures since the last call, without files that were not embedded: the end tries these again."""
        new = (*self.failures[self.n_reported :], *self.unfinished[self.n_reported_unfinished :])
        self.n_reported, self.n_reported_unfinished = len(self.failures), len(self.unfinished)
        return new

    def reason_to_pause(self, error_limit: ErrorLimit) -> str:
        """Return the reason to stop early, "" when there is none."""
        failed = len({failure.path for failure in self.failures})
        if not error_limit.is_exceeded(failed, self.n_done):
            return ""
        reasons = sorted({failure.reason for failure in self.failures})
        return f"{failed} of {self.n_done} files failed ({'; '.join(reasons[:3])})"
