"""The end of searches that nobody waits for any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple


class SearchEnd:
    """A word to the searches of one request that their result is not wanted. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._has_come = False
        self._is_enforced = False
        self._ends: list[Callable[[], None]] = []

    def has_come(self) -> bool:
        """Return True once nobody waits: nothing new is begun then."""
        return self._has_come

    def come(self) -> None:
        """Let nothing new begin."""
        self._has_come = True

    def enforce(self) -> None:
        """End what is still under way, and whatever begins later."""
        with self._lock:
            self._is_enforced = True
            ends = list(self._ends)
        for end in ends:
            end()

    @contextmanager
    def reaching(self, end: Callable[[], None]) -> Iterator[None]:
        """Have `end` called, from any thread, when work in the block must not go on."""
        with self._lock:
            self._ends.append(end)
            is_late = self._is_enforced
        if is_late:
            end()
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)


class SearchLease(NamedTuple):
    """The limits within which the work for a client may go on."""

    end: SearchEnd  # of whoever waits
    until: float  # by `monotonic`
