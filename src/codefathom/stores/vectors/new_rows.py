"""Rows that are not committed yet, and keys of rows that are to go. No file."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from codefathom.stores.base import Row
from codefathom.stores.vectors.nearest import Table


class NewRows:
    """The changes to a store of vectors; what comes later counts.

    A large project has half a million rows, which as values of a dictionary take half as much again: those that come in
    the order of their keys, as they do of a new catalogue, lie one behind the other.
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._keys = array("q")  # ascending
        self._rows = bytearray()
        self._last = -1  # of these keys
        self._others: dict[int, bytes | None] = {}  # in the place of those; None: gone

    def __bool__(self) -> bool:
        return bool(self._keys or self._others)

    def put(self, rows: Iterable[Row]) -> None:
        """Add rows of as many bytes as there are dimensions, or replace those with the same keys."""
        for key, vector in rows:
            if key > self._last:
                self._keys.append(key)
                self._rows += vector
                self._last = key
                self._others.pop(key, None)
            else:
                self._others[key] = vector

    def remove(self, keys: Iterable[int]) -> None:
        """Note that the rows of these keys are to go, wherever they are."""
        self._others.update(dict.fromkeys(keys))

    @property
    def table(self) -> Table:
        """The rows that came in the order of their keys."""
        return Table(self._keys, memoryview(self._rows).cast("b"), self._dimensions)

    @property
    def others(self) -> Mapping[int, bytes | None]:
        """The rows in the place of those of the table, and further ones; None: gone."""
        return MappingProxyType(self._others)

    def by_key(self) -> dict[int, bytes | None]:
        """Return all changes by key, each row as bytes of its own."""
        table = self.table
        rows = (table.part(place, place + 1).tobytes() for place in range(len(table.keys)))
        return {**dict(zip(table.keys, rows, strict=True)), **self._others}
