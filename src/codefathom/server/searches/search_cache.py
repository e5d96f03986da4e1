"""Results that are asked for again: made once for all who ask at that time, and kept for as long as the index stays."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from sys import getsizeof
from threading import Event, Lock
from typing import Any, NamedTuple

from codefathom.types import SearchResult

MOST_BYTES = 32_000_000  # of the values together: a thousand usual results have 20 MB, and one may hold whole files
_OF_A_HIT = 2_000  # bytes beside its text


def size_of_result(result: SearchResult) -> int:
    """Return about how many bytes of memory a result has."""
    return _OF_A_HIT + sum(_OF_A_HIT + getsizeof(hit.chunk.text) for hit in result.hits)


class CacheCounts(NamedTuple):
    """The numbers of hits and misses of the cache."""

    n_entries: int
    n_hits: int
    n_misses: int


class _Kept(NamedTuple):
    made_at: float
    n_bytes: int
    value: Any


class _Making:
    """A value that one thread makes while others wait for it."""

    def __init__(self) -> None:
        self.is_over = Event()
        self.value: Any = None
        self.is_shared = False  # it was made, and may be shared


class ResultCache:
    """Values by a key that says all they depend on. Safe to use from several threads."""

    def __init__(
        self,
        most: Callable[[], int],
        ttl_s: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        *,
        size_of: Callable[[Any], int] = lambda _: 0,
        most_bytes: int = MOST_BYTES,
        version_of: Callable[[Any], tuple[Hashable, int]] = lambda _: (None, 0),
    ) -> None:
        """Keep at most `most()` values, the last used, each for `ttl_s()` seconds; `size_of` says their bytes.

        `version_of` says of what a key tells, and at which number of its changes: nobody asks for an earlier one again.
        """
        self._most = most
        self._ttl_s = ttl_s
        self._clock = clock
        self._size_of = size_of
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._values: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._version_of = version_of
        self._versions: dict[Hashable, int] = {}  # the latest ones
        self._n_bytes = 0
        self._making: dict[Hashable, _Making] = {}
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

        While one thread makes a value, others that ask for it wait. Each makes its own where that one failed, or is
        not to be stored. `again` makes of a value that was stored, or made for another, what it is now.
        """
        kept, making, is_ours = self._begin(key)
        if kept is not None:
            return again(kept.value)
        if not is_ours:
            making.is_over.wait()
            self._count(is_hit=making.is_shared)
            return again(making.value) if making.is_shared else make()
        try:
            made = make()
            if keep(made):
                making.value, making.is_shared = made, self._ttl_s() > 0
                self._put(key, made)
        finally:
            with self._lock:
                del self._making[key]
            making.is_over.set()
        return made

    def counts(self) -> CacheCounts:
        """Return the numbers of hits and misses."""
        with self._lock:
            return CacheCounts(len(self._values), self._n_hits, self._n_misses)

    @property
    def n_bytes(self) -> int:
        """The size of all values."""
        return self._n_bytes

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._values.clear()
            self._versions.clear()
            self._n_bytes = 0

    def _begin(self, key: Hashable) -> tuple[_Kept | None, _Making, bool]:
        """Return the stored value, else who makes it, and whether that is this thread."""
        with self._lock:
            kept = self._get(key)
            making = self._making.get(key)
            is_ours = kept is None and making is None
            self._n_hits += kept is not None
            self._n_misses += is_ours
            if making is None:
                making = _Making()
            if is_ours:
                self._making[key] = making
            return kept, making, is_ours

    def _count(self, *, is_hit: bool) -> None:
        with self._lock:
            self._n_hits += is_hit
            self._n_misses += not is_hit

    def _get(self, key: Hashable) -> _Kept | None:
        kept = self._values.get(key)
        if kept is None:
            return None
        if self._clock() - kept.made_at >= self._ttl_s():
            self._forget(key)
            return None
        self._values.move_to_end(key)
        return kept

    def _put(self, key: Hashable, value: Any) -> None:
        n_bytes = self._size_of(value)
        with self._lock:
            self._forget(key)
            self._forget_earlier(*self._version_of(key))
            self._values[key] = _Kept(self._clock(), n_bytes, value)
            self._n_bytes += n_bytes
            while len(self._values) > self._most() or self._n_bytes > self._most_bytes:
                self._forget(next(iter(self._values)))

    def _forget(self, key: Hashable) -> None:
        kept = self._values.pop(key, None)
        self._n_bytes -= 0 if kept is None else kept.n_bytes

    def _forget_earlier(self, subject: Hashable, version: int) -> None:
        if version <= self._versions.get(subject, version - 1):
            return
        versions = {key: self._version_of(key) for key in self._values}
        for key, (other, earlier) in versions.items():
            if other == subject and earlier < version:
                self._forget(key)
        held = {other for other, _ in versions.values()}  # of all others nothing is kept any more
        self._versions = {other: latest for other, latest in self._versions.items() if other in held}
        self._versions[subject] = version
