"""What a look at the sources of a fleet says, and what its follower does then: run now, and look again when. Pure.

A difference that a run did not take in, such as a repository that cannot be fetched, is tried again after one look,
then after two, four and so on. Looks are counted, and no clock is asked.
"""

from __future__ import annotations

from typing import NamedTuple

from codefathom.types import Failure

EVERYTHING = ""  # the name of what only a run over all repositories brings
_MOST_SKIPPED = 64  # looks between two tries of the same difference
_MOST_FACTOR = 8  # of the time between two looks, while nobody answers


class Difference(NamedTuple):
    """What a run would take in."""

    name: str  # of a repository, or EVERYTHING
    version: str  # what it has become


class FleetLook(NamedTuple):
    """The outcome of a look."""

    n_repositories: int  # that were looked at
    differences: tuple[Difference, ...]
    failures: tuple[Failure, ...]  # repositories and sources that could not be asked, with the remedy
    is_blind: bool = False  # a source could not be listed, or no repository could be asked

    @property
    def problem(self) -> str:
        """The failures in a sentence, "" without one."""
        if not self.failures:
            return ""
        first, others = self.failures[0], len(self.failures) - 1
        return f"{first.path}: {first.reason}" + (f" (and {others:,} more that could not be asked)" if others else "")


class DueRun(NamedTuple):
    """A run that is worth its work."""

    only: tuple[str, ...]  # repositories; (): all


class _Try(NamedTuple):
    version: str
    n_tries: int
    next_look: int  # number of the look from which it is tried again


class LookTurns:
    """The looks of one follower."""

    def __init__(self) -> None:
        self._n_looks = 0
        self._n_blind = 0  # in a row
        self._tries: dict[str, _Try] = {}

    def due(self, look: FleetLook) -> DueRun | None:
        """Return the run that a look asks for, None for none; whoever asks makes it."""
        self._n_looks += 1
        self._n_blind = self._n_blind + 1 if look.is_blind else 0
        before, self._tries = self._tries, {}
        names = []
        for name, version in look.differences:
            last = before.get(name)
            if last is None or last.version != version:
                last = _Try(version, 0, 0)
            if self._n_looks >= last.next_look:
                names.append(name)
                skipped = min(2**last.n_tries, _MOST_SKIPPED)
                last = _Try(version, last.n_tries + 1, self._n_looks + skipped + 1)
            self._tries[name] = last
        if not names:
            return None
        return DueRun(() if EVERYTHING in names else tuple(names))

    def pause_s(self, every_s: float) -> float:
        """Return the seconds until the next look: longer while nobody answers."""
        factor: int = min(2**self._n_blind, _MOST_FACTOR)
        return every_s * factor
