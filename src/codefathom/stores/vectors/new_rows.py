"""Rows that are not committed yet, and keys of rows that are to go."""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import BinaryIO

from codefathom.errors import FathomError
from codefathom.stores.base import Row
from codefathom.stores.vectors.nearest import Table

MOST_IN_MEMORY = 8_000_000  # bytes of rows


class NewRows:
    """The changes to a store of vectors; what comes later counts.

    A large project has half a million rows, which as values of a dictionary take half as much again: those that come in
    the order of their keys, as they do of a new catalogue, lie one behind the other, and what is too much for memory
    lies in a file.
    """

    def __init__(
        self, dimensions: int, file: Callable[[], BinaryIO] | None = None, most_in_memory: int = MOST_IN_MEMORY
    ) -> None:
        """`file` makes an empty file; where it cannot, or the disk is full, all rows stay in memory."""
        self._dimensions = dimensions
        self._keys = array("q")  # ascending
        self._rows = bytearray()  # those that are not in the file
        self._make_file, self._most_in_memory = file, most_in_memory
        self._file: BinaryIO | None = None
        self._n_in_file = 0  # bytes
        self._last = -1  # of these keys
        self._others: dict[int, bytes | None] = {}  # in the place of those; None: gone

    def __bool__(self) -> bool:
        return bool(self._keys or self._others)

    @property
    def are_in_file(self) -> bool:
        """True if they were too many for memory: `table` then shows them through a map of the file."""
        return self._file is not None

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
        if len(self._rows) > self._most_in_memory and self._make_file is not None:
            self._move_to_file()

    def remove(self, keys: Iterable[int]) -> None:
        """Note that the rows of these keys are to go, wherever they are."""
        self._others.update(dict.fromkeys(keys))

    @property
    def table(self) -> Table:
        """The rows that came in the order of their keys."""
        if self._file is not None and self._rows:
            self._move_to_file()
        if self._file is None:
            rows = memoryview(self._rows)
        else:
            rows = memoryview(mmap.mmap(self._file.fileno(), self._n_in_file, access=mmap.ACCESS_READ))
        return Table(self._keys, rows.cast("b"), self._dimensions)

    @property
    def others(self) -> Mapping[int, bytes | None]:
        """The rows in the place of those of the table, and further ones; None: gone."""
        return MappingProxyType(self._others)

    def by_key(self) -> dict[int, bytes | None]:
        """Return all changes by key, each row as bytes of its own."""
        table = self.table
        rows = (table.part(place, place + 1).tobytes() for place in range(len(table.keys)))
        return {**dict(zip(table.keys, rows, strict=True)), **self._others}

    def close(self) -> None:
        """Release the file; nothing is asked or added afterwards."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _move_to_file(self) -> None:
        """Move rows from memory to the file; back again, for good, where the file cannot take them."""
        try:
            if self._file is None and self._make_file is not None:
                self._file = self._make_file()
            if self._file is not None:
                _append(self._file, self._rows, self._n_in_file)
                self._n_in_file += len(self._rows)
                self._rows = bytearray()
        except (OSError, FathomError):
            self._make_file = None
            if self._file is not None:
                self._file.seek(0)
                self._rows = bytearray(self._file.read(self._n_in_file)) + self._rows
                self.close()


def _append(file: BinaryIO, content: bytearray, end: int) -> None:
    """Write behind the first `end` bytes, whatever an attempt that failed has left there."""
    file.seek(end)
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]
