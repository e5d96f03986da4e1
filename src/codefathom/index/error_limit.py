"""The limit at which a run stops early. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorLimit:
    """The limit at which a run stops early: more than `error_share` of at least `error_minimum` items failed."""

    error_share: float = 0.30
    error_minimum: int = 50

    def is_exceeded(self, n_failed: int, n_done: int) -> bool:
        """Return True if so many items failed that the run is to stop."""
        return n_done >= self.error_minimum and n_failed > self.error_share * n_done
