"""The end of searches that nobody waits for any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Event, Lock, Thread
from time import monotonic

from codefathom.server.http.problem_json import LeftError
from codefathom.server.http.time_spent import slow_error
from codefathom.system.stopping import check_stopped, stop_test

_MOST_AT_ONCE = 2  # processes of one client
_LOOK_AGAIN_AFTER_S = 0.2  # whether work was stopped


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
        self.come()  # an end that another one brings comes in one step
        with self._lock:
            self._is_enforced = True
            for end in self._ends:
                end()

    @contextmanager
    def reaching(self, end: Callable[[], None]) -> Iterator[None]:
        """Have `end` called, from any thread, when work in the block must not go on; never after the block.

        It is called under a lock: it must not wait, nor touch this object.
        """
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


@contextmanager
def watched(end: SearchEnd, limit_s: float) -> Iterator[SearchEnd]:
    """Give the end of one search of work that can be stopped (see `system.stopping`), which has no turn with a limit.

    It comes with `end`, when the work is stopped, and after `limit_s` seconds. Raises StoppedError and SlowError.
    """
    is_stopped = stop_test()
    if is_stopped is None:  # whoever waits brings the end
        yield end
        return
    own, is_over, until = SearchEnd(), Event(), monotonic() + limit_s

    def watch() -> None:
        while not is_over.wait(_LOOK_AGAIN_AFTER_S):
            if is_stopped() or monotonic() > until:
                own.come()
                own.enforce()
                return

    watcher = Thread(target=watch, name="end of a search", daemon=True)
    watcher.start()
    try:
        with end.reaching(own.enforce):
            yield own
    except LeftError as error:
        check_stopped()
        raise (slow_error(limit_s) if monotonic() > until else error) from error
    finally:
        is_over.set()
        watcher.join()


@dataclass(frozen=True, slots=True)
class SearchLease:
    """The limits within which the work for a client may go on."""

    end: SearchEnd  # of whoever waits
    until: float  # by `monotonic`; inf: each question has the time of a search
    # Several projects are asked at once: each takes a process, and others want to search, too.
    share: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(_MOST_AT_ONCE), compare=False)
