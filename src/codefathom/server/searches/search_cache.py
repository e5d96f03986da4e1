"""Results that are asked for again: kept for a while, and only for as long as the index stays as it was."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, NamedTuple


class CacheCounts(NamedTuple):
    """The numbers of hits and misses of the cache."""

    n_entries: int
    n_hits: int
    n_misses: int


class ResultCache:
    """Values by project, generation and request. Safe to use from several threads."""

    def __init__(
        self,
        most: Callable[[], int],
        ttl_s: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep at most `most()` values, the last used, each for `ttl_s()` seconds."""
        self._most = most
        self._ttl_s = ttl_s
        self._clock = clock
        self._lock = Lock()
        self._values: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()
        self._n_hits = 0
        self._n_misses = 0

    def get_or_make(
        self,
        key: Hashable,
        make: Callable[[], Any],
        *,
        keep: Callable[[Any], bool] = lambda _: True,
        again: Callable[[Any], Any] = lambda value: value,
    ) -> Any:
        """Return the value of a key; if there is none, `make` makes it, and `keep` decides if it is stored.

        `again` makes of a stored value what it is now.
        """
        is_present, value = self._get(key)
        if is_present:
            return again(value)
        value = make()
        if keep(value):
            self._put(key, value)
        return value

    def counts(self) -> CacheCounts:
        """Return the numbers of hits and misses."""
        with self._lock:
            return CacheCounts(len(self._values), self._n_hits, self._n_misses)

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._values.clear()

    def _get(self, key: Hashable) -> tuple[bool, Any]:
        with self._lock:
            made_at, value = self._values.get(key, (float("-inf"), None))
            is_present = self._clock() - made_at < self._ttl_s()
            if is_present:
                self._values.move_to_end(key)
                self._n_hits += 1
            else:
                self._values.pop(key, None)
                self._n_misses += 1
            return is_present, value

    def _put(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._values[key] = (self._clock(), value)
            self._values.move_to_end(key)
            while len(self._values) > self._most():
                self._values.popitem(last=False)
