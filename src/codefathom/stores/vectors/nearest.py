"""The nearest of int8 rows in memory, by comparing all of them. No file, no state."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, count
from operator import add
from typing import NamedTuple, cast

import simsimd

from codefathom.errors import MismatchError
from codefathom.stores.base import Row

_SAMPLE = 64
_GATHERED = 64  # a filter that leaves less than one row in so many is applied before the search, not after


class Table(NamedTuple):
    """Rows and their keys."""

    keys: Sequence[int]  # ascending
    rows: memoryview  # int8, keys × dimensions, flat
    dimensions: int

    def part(self, start: int, end: int) -> memoryview:
        """Return the rows of some places."""
        return self.rows[start * self.dimensions : end * self.dimensions]


NO_ROWS = Table((), memoryview(b"").cast("b"), 1)


def table_of(rows: Iterable[Row], dimensions: int) -> Table:
    """Return rows, which come in the order of their keys, as a table; those of another length are left out."""
    keys, values = array("q"), bytearray()
    for key, vector in rows:
        if len(vector) == dimensions:
            keys.append(key)
            values += vector
    return Table(keys, memoryview(bytes(values)).cast("b"), dimensions)


def check_length(vector: bytes, dimensions: int) -> None:
    """Raise MismatchError for a vector of another model."""
    if len(vector) != dimensions:
        raise MismatchError(
            f"a vector has {len(vector)} dimensions, this store {dimensions}", hint="run `fathom index --full`"
        )


def nearest_rows(
    table: Table, vector: bytes, k: int, allowed: Collection[int] | None = None
) -> list[tuple[int, float]]:
    """Return the k nearest by cosine similarity as (key, similarity), best first, ties by key; exact."""
    return [(key, 1.0 - distance) for distance, key in _ranked(table, vector, k, allowed)]


def nearest_of_both(
    table: Table, changed: Table, hidden: Collection[int], *, vector: bytes, k: int, allowed: Collection[int] | None
) -> list[tuple[int, float]]:
    """Return the nearest, as `nearest_rows` does, of the rows of two tables but for the `hidden` keys of the first."""
    n = k + min(k, len(hidden))
    while True:
        ranked = _ranked(table, vector, n, allowed)
        shown = [item for item in ranked if item[1] not in hidden]
        if len(shown) >= k or len(ranked) < n:
            break
        n *= 4
    both = sorted([*shown[:k], *_ranked(changed, vector, k, allowed)])
    return [(key, 1.0 - distance) for distance, key in both[:k]]


def _ranked(table: Table, vector: bytes, k: int, allowed: Collection[int] | None) -> list[tuple[float, int]]:
    """Return the k nearest as (distance, key), ascending."""
    if k < 1 or not table.keys or not any(vector) or (allowed is not None and not allowed):
        return []
    keys: Sequence[int] = table.keys
    if allowed is not None and len(allowed) * _GATHERED < len(keys):
        table = _gathered(table, allowed)
        keys, distances = table.keys, _distances(vector, table)
        places = list(range(len(keys)))
    else:
        distances = _distances(vector, table)
        places = _near_inside(distances, keys, k, allowed)
    places.sort(key=distances.__getitem__)  # stable, and keys ascend: equal distances stay in the order of keys
    return [(distances[place], keys[place]) for place in places[:k]]


def _distances(vector: bytes, table: Table) -> memoryview[float]:
    rows = table.rows
    if not rows.nbytes:
        return memoryview(b"").cast("d")
    query = memoryview(vector).cast("b", (1, table.dimensions))
    matrix = rows.cast("B").cast("b", (rows.nbytes // table.dimensions, table.dimensions))
    return memoryview(cast(bytes, simsimd.cdist(query, matrix, "cos"))).cast("B").cast("d")


def _gathered(table: Table, allowed: Collection[int]) -> Table:
    keys: list[int] = []
    rows: list[memoryview] = []
    for key in sorted(allowed):
        place = bisect_left(table.keys, key)
        if place < len(table.keys) and table.keys[place] == key:
            keys.append(key)
            rows.append(table.part(place, place + 1))
    return Table(keys, memoryview(b"".join(rows)).cast("b"), table.dimensions)


def _near_inside(
    distances: memoryview[float], keys: Sequence[int], k: int, allowed: Collection[int] | None
) -> list[int]:
    """Return the places of the k smallest allowed distances, and some more: of the nearest first, then of all."""
    if allowed is None:
        return _near(distances, k)
    inside = allowed if isinstance(allowed, (set, frozenset)) else set(allowed)
    near = _near(distances, 4 * k * max(len(keys) // len(inside), 1))
    places = [place for place in near if keys[place] in inside]
    if len(places) >= k or len(near) == len(keys):
        return places
    return [place for place, key in enumerate(keys) if key in inside]


def _near(distances: memoryview[float], k: int) -> list[int]:
    """Return the places of the k smallest distances, and some more, ascending; a sample says how far to look."""
    sample = sorted(distances[::_SAMPLE])
    far = 2 * k // _SAMPLE + 8
    if far < len(sample):
        limit = sample[far]
        near = _within(distances, limit)
        if len(near) >= k:
            return near
    return list(range(len(distances)))


def _within(distances: memoryview[float], limit: float) -> list[int]:
    """Return the places of all numbers up to a limit, ascending."""
    if "numpy" in sys.modules:
        import numpy as np  # noqa: PLC0415 -- only where it is loaded: a fortieth of the time

        return np.flatnonzero(np.frombuffer(distances.cast("B")) <= limit).tolist()
    return [place for place in _perhaps_within(distances, limit) if distances[place] <= limit]


def _perhaps_within(distances: memoryview[float], limit: float) -> Iterable[int]:
    """Return the places of all numbers up to a limit, and of some above it, ascending.

    From 2**-15 to 2 the first byte of a number is the same, and the second one grows with it: one pass over bytes finds
    the places several times as fast as one over numbers, and needs no numpy, for which no search should wait.
    """
    first, second = _leading_bytes(distances)
    limit_first, limit_second = (byte[0] for byte in _leading_bytes(memoryview(array("d", (limit,)))))
    if limit_first != _USUAL_FIRST:
        return range(len(distances))
    near = marked_places(second.translate(bytes(byte <= limit_second for byte in range(256))))
    if first.count(_USUAL_FIRST) == len(first):
        return near
    return sorted({*near, *marked_places(first.translate(bytes(byte != _USUAL_FIRST for byte in range(256))))})


def _leading_bytes(numbers: memoryview[float]) -> tuple[bytes, bytes]:
    """Return the first bytes of all numbers, and the second ones."""
    pairs = numbers.cast("B").cast("H")[_LEADING_PAIR::4].tobytes()  # both in one pass, as it costs most
    return pairs[_FIRST_OF_PAIR::2], pairs[1 - _FIRST_OF_PAIR :: 2]


_LEADING_PAIR, _FIRST_OF_PAIR = (3, 1) if sys.byteorder == "little" else (0, 0)
_USUAL_FIRST = 0x3F


def marked_places(marks: bytes) -> list[int]:
    """Return the places of the bytes that are 1, ascending."""
    gaps = marks.split(b"\1")
    return list(map(add, accumulate(map(len, gaps[:-1])), count()))
