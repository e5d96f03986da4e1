"""Searches wait for their turn: a few threads carry them out, clients in turn, and not too many wait.

More threads than processors make no search faster, and each keeps connections and memory of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from math import ceil
from threading import Condition, Thread
from typing import Any, TypeVar

from codefathom.server.http.problem_json import IN_THE_QUEUE, BusyError, SlowError, TooManyError, TryLaterError
from codefathom.server.http.time_spent import TimeSpent, measured
from codefathom.telemetry import bound

_SHARE_OF_LAST = 0.1  # of the time that a piece of work usually takes
_LONGEST_WAIT_S = 60
_T = TypeVar("_T")


@dataclass(slots=True)
class _Turn:
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    is_given_up: bool = False


class SearchQueue:
    """Threads that carry out what waits, one piece of each client after the other."""

    def __init__(
        self, n_threads: int, most_waiting: Callable[[], int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Start no thread before there is something to do."""
        self._clock = clock
        self._usual_s = 0.0  # that a piece of work has taken lately
        self._n_threads = n_threads
        self._most_waiting = most_waiting
        self._changed = Condition()
        self._waiting: OrderedDict[str, deque[_Turn]] = OrderedDict()  # by client, the one whose turn is next first
        self._n_waiting = 0
        self._n_idle = 0
        self._threads: list[Thread] = []
        self._is_closed = False

    async def run(self, client: str, work: Callable[[], _T], limit_s: float) -> _T:
        """Run `work` when it is the client's turn, and return its value.

        What has not begun when this is cancelled, or when the time is over, is left undone. When too many wait, raises
        TooManyError for the client of whom most wait, and BusyError where no client has more than others; raises
        SlowError after `limit_s` seconds.
        """
        loop = asyncio.get_running_loop()
        spent, waiting = TimeSpent(limit_s), ExitStack()

        def begun() -> _T:
            waiting.close()
            return work()

        with measured(spent):
            turn = _Turn(bound(begun), loop, loop.create_future())
        waiting.enter_context(spent.on(IN_THE_QUEUE))
        self._add(client, turn)
        try:
            result: _T = await asyncio.wait_for(turn.future, limit_s)
        except TimeoutError as error:
            if turn.future.done() and not turn.future.cancelled():  # the work itself has run into something
                raise
            raise SlowError(limit_s, spent.longest()) from error
        finally:
            turn.is_given_up = True
        return result

    def close(self) -> None:
        """End the threads after what they do now; nothing else is begun."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            threads = list(self._threads)
        for thread in threads:
            thread.join()

    # ---- inside

    def _add(self, client: str, turn: _Turn) -> None:
        with self._changed:
            if self._is_closed:
                raise self._full(BusyError)
            if self._n_waiting >= self._most_waiting():
                self._make_room(client)
            self._waiting.setdefault(client, deque()).append(turn)
            self._n_waiting += 1
            if self._n_waiting > self._n_idle and len(self._threads) < self._n_threads:
                self._threads.append(Thread(target=self._work, name="search", daemon=True))
                self._threads[-1].start()
            self._changed.notify()

    def _make_room(self, client: str) -> None:
        """Refuse the last search of the client of whom most wait; raise the error where that is not another client."""
        n_own = len(self._waiting.get(client, ()))
        crowd = max(self._waiting, key=lambda one: len(self._waiting[one]), default=client)
        if len(self._waiting.get(crowd, ())) <= n_own + 1:
            raise self._full(TooManyError if n_own else BusyError)
        last = self._waiting[crowd].pop()  # at least one is left: it had two more than a client that has none
        self._n_waiting -= 1
        last.is_given_up = True
        last.loop.call_soon_threadsafe(_conclude, last.future, None, self._full(TooManyError))

    def _full(self, kind: type[TryLaterError]) -> TryLaterError:
        """Return the error for one search more, which says when those that wait now will have been answered."""
        wait_s = min(max(ceil(self._n_waiting * self._usual_s / self._n_threads), 1), _LONGEST_WAIT_S)
        return kind(f"{self._n_waiting} searches are waiting already", wait_s=wait_s)

    def _work(self) -> None:
        """Run in each of the threads."""
        while (turn := self._next()) is not None:
            if turn.is_given_up:
                continue
            began = self._clock()
            try:
                result, error = turn.work(), None
            except BaseException as problem:  # raised again where it is waited for
                result, error = None, problem
            self._usual_s += _SHARE_OF_LAST * (self._clock() - began - self._usual_s)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                turn.loop.call_soon_threadsafe(_conclude, turn.future, result, error)
            del turn, result, error  # nothing is held while this waits

    def _next(self) -> _Turn | None:
        with self._changed:
            self._n_idle += 1
            self._changed.wait_for(lambda: self._n_waiting or self._is_closed)
            self._n_idle -= 1
            if self._is_closed:
                return None
            client, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            self._n_waiting -= 1
            if turns:
                self._waiting.move_to_end(client)
            else:
                del self._waiting[client]
            return turn


def _conclude(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():  # given up
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
