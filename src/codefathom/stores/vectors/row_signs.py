"""The signs of int8 rows, one bit for each number: they tell which of very many rows may be among the nearest.

Two rows with a small angle between them have the same sign in most places. Counting the places where they differ reads
an eighth of the memory; only the rows with the least differences are then compared exactly. No file, no state.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator
from typing import cast

import simsimd

from codefathom.stores.vectors.nearest import Table, marked_places

# So many rows for each one that is asked for: docs/decisions/nearest-by-signs.md has what is lost by it.
_LOOKED_AT = 120
_LEAST_LOOKED_AT = 12_000
_PAYS = 16  # times as many rows; with fewer, comparing all of them exactly is as fast
_SAMPLE = 64
_PACKED_AT_ONCE = 1 << 20  # bytes of rows
_MOST_IN_A_BYTE = 256  # dimensions; 256 differences of 256 count as none, and the row is only looked at in vain

LEAST_ROWS = _PAYS * _LEAST_LOOKED_AT  # of a table that has signs


def bytes_of_signs(dimensions: int) -> int:
    """Return the number of bytes that the signs of one row take."""
    return (dimensions + 7) // 8


def signs_of(parts: Iterable[bytes | memoryview], dimensions: int) -> Iterator[bytes]:
    """Yield the signs of rows, which come in pieces of one or more whole rows; a bit is 1 for a number above 0."""
    import numpy as np  # noqa: PLC0415 -- only who writes very many rows gets here

    for rows in _in_large_pieces(parts, dimensions):
        matrix = np.frombuffer(rows, dtype=np.int8).reshape(-1, dimensions)
        yield np.packbits(matrix > 0, axis=1).tobytes()


def _in_large_pieces(parts: Iterable[bytes | memoryview], dimensions: int) -> Iterator[bytes]:
    step = max(_PACKED_AT_ONCE // dimensions, 1) * dimensions
    waiting: list[memoryview] = []
    n_bytes = 0
    for part in parts:
        view = memoryview(part).cast("B")
        for start in range(0, len(view), step):
            waiting.append(view[start : start + step])
            n_bytes += len(waiting[-1])
            if n_bytes >= step:
                yield b"".join(waiting)
                waiting, n_bytes = [], 0
    yield b"".join(waiting)


def n_looked_at(n_rows: int, k: int) -> int | None:
    """Return the number of rows to compare exactly where the k nearest are asked for; None: all."""
    n = max(_LOOKED_AT * k, _LEAST_LOOKED_AT)
    return n if n * _PAYS <= n_rows else None


def with_most_alike_signs(table: Table, signs: memoryview, vector: bytes, n: int) -> Table:
    """Return the rows of a table whose signs differ least from those of a row: about n of them, never fewer."""
    counts = _differences(table, signs, vector)
    far = n // _SAMPLE + n // (8 * _SAMPLE) + 8  # in a sample
    if far >= -(-len(counts) // _SAMPLE):
        return table
    chosen = (_chosen_by_numpy if "numpy" in sys.modules else _chosen)(table, counts, far)
    return chosen if len(chosen.keys) >= n else table


def _chosen(table: Table, counts: memoryview[int], far: int) -> Table:
    """Return the rows with no larger count than this place of a sorted sample has."""
    keys, rows, width = table.keys, table.rows, table.dimensions
    places = marked_places(_marks(counts, sorted(counts[::_SAMPLE])[far]))
    data = b"".join([rows[place * width : place * width + width] for place in places])
    return Table(array("q", [keys[place] for place in places]), memoryview(data).cast("b"), width)


def _chosen_by_numpy(table: Table, counts: memoryview[int], far: int) -> Table:
    """Return the same, in a sixth of the time."""
    import numpy as np  # noqa: PLC0415 -- only where it is loaded

    numbers = np.frombuffer(counts, dtype=counts.format)
    places = np.flatnonzero(numbers <= np.sort(numbers[::_SAMPLE])[far])
    keys, rows = np.asarray(table.keys)[places], np.frombuffer(table.rows, dtype=np.int8)
    chosen = rows.reshape(-1, table.dimensions).take(places, axis=0)
    return Table(array("q", keys.tobytes()), chosen.data.cast("B").cast("b"), table.dimensions)


def _differences(table: Table, signs: memoryview, vector: bytes) -> memoryview[int]:
    """Return the number of signs of each row that differ from those of a vector."""
    width = bytes_of_signs(table.dimensions)
    bits = "".join(["1" if 0 < byte < 128 else "0" for byte in vector]).ljust(8 * width, "0")
    question = memoryview(int(bits, 2).to_bytes(width, "big")).cast("B", (1, width))
    numbers = "uint8" if table.dimensions <= _MOST_IN_A_BYTE else "uint16"
    rows = signs.cast("B", (len(table.keys), width))
    counts = simsimd.cdist(question, rows, "hamming", dtype="bin8", out_dtype=numbers)  # type: ignore[arg-type]
    return memoryview(cast(bytes, counts)).cast("B").cast("B" if numbers == "uint8" else "H")


def _marks(counts: memoryview[int], limit: int) -> bytes:
    """Return a byte for each count, 1 for those up to a limit. A few passes over bytes, none over numbers."""
    if counts.itemsize == 1:
        return counts.tobytes().translate(bytes(byte <= limit for byte in range(256)))
    data, first = counts.tobytes(), int(sys.byteorder == "little")
    high, low = data[first::2], data[1 - first :: 2]
    limit_high, limit_low = divmod(limit, 256)
    below, same, within = (
        int.from_bytes(part.translate(bytes(map(is_marked, range(256)))), "big")
        for part, is_marked in (
            (high, limit_high.__gt__),
            (high, limit_high.__eq__),
            (low, limit_low.__ge__),
        )
    )
    return (below | same & within).to_bytes(len(counts), "big")
