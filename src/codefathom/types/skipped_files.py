"""Files that are not indexed, and why."""

from __future__ import annotations

from dataclasses import dataclass

from codefathom.facts.reasons import Told


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
