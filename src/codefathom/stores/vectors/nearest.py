"""The nearest of int8 rows in memory, by comparing all of them. No file, no state."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, cast

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
    """Return the places of the k smallest distances, and some more, ascending.

    A search alone does not pay for loading numpy. Where indexing or the server has, it looks three times as fast.
    """
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or len(distances) <= k:
        return _near_by_sample([*distances], k)
    values = numpy.asarray(distances)
    limit = numpy.partition(values, k - 1)[k - 1]
    return cast(list[int], numpy.flatnonzero(values <= limit).tolist())


def _near_by_sample(distances: list[float], k: int) -> list[int]:
    """Do the same without numpy; a sample says how far to look.

    Numbers, not pairs: the garbage collector counts each tuple, and would run in the middle of every search.
    """
    sample = sorted(distances[::_SAMPLE])
    far = 2 * k // _SAMPLE + 8
    if far < len(sample):
        limit = sample[far]
        near = [place for place, distance in enumerate(distances) if distance <= limit]
        if len(near) >= k:
            return near
    return list(range(len(distances)))
