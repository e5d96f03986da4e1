"""The default vector view: int8 rows in one memory-mapped file that many processes read; compares all by cosine.

A commit of a few rows beside very many writes them to a small file next to the large one, with the keys of rows that
are gone; it belongs to one state of the large file. When there are too many of them, the large file is written anew.

Beside very many rows lie their signs in a file of their own, which belongs to one state of the large file too: a
question that is about all rows compares only those exactly whose signs are most alike.
"""

from __future__ import annotations

import mmap
import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from hashlib import blake2b
from itertools import accumulate, chain, pairwise
from math import isfinite
from typing import BinaryIO, NamedTuple, cast
from zlib import crc32

import simsimd

from codefathom.stores.base import Row
from codefathom.stores.checked_files import CheckedFiles
from codefathom.stores.folder import File, Folder, folder_at
from codefathom.stores.vectors.nearest import NO_ROWS, Table, check_length, nearest_of_both, nearest_rows, table_of
from codefathom.stores.vectors.new_rows import MOST_IN_MEMORY, NewRows
from codefathom.stores.vectors.row_signs import (
    LEAST_ROWS,
    bytes_of_signs,
    n_looked_at,
    signs_of,
    with_most_alike_signs,
)
from codefathom.stores.write_errors import writing_error
from codefathom.types.choices import Matrix
from codefathom.types.where import Where

_MAGIC = b"fathomv3"  # 3: with a checksum of the rows
_HEADER = struct.Struct("<8s16sqqqq")  # magic and format, owner, generation, dimensions, rows, checksum of the rows
_CHECKSUM = struct.Struct("<q")  # of header and keys
_START = _HEADER.size + _CHECKSUM.size
VECTORS = "vectors.bin"
_CHANGES = "changes.bin"
_CHANGES_MAGIC = b"fathomc1"
_SPARE = 1_000_000  # bytes of it that are no rows
# magic and format, owner, generation, generation and checksum of the large file, number of keys. The keys follow, a
# byte for each that says if it has a row, the rows, and a checksum of all.
_CHANGES_HEADER = struct.Struct("<8s16sqqqq")
_SIGNS = "signs.bin"
_SIGNS_MAGIC = b"fathoms1"
_SIGNS_HEADER = struct.Struct("<8s16sqq")  # magic and format, owner, generation and checksum of the large file


def quantise(matrix: Matrix) -> list[bytes]:
    """Return each float32 row as int8, scaled so that its largest component is ±127; a zero row stays zero.

    Cosine similarity does not see the scale.
    """
    if not len(matrix):
        return []
    if "numpy" not in sys.modules and len(matrix) <= _FEW_ROWS:
        values = matrix.cast("B").cast("f")
        width = len(values) // len(matrix)
        if isfinite(sum(values)):
            return [_quantised(values[at : at + width]) for at in range(0, len(values), width)]
    import numpy as np  # noqa: PLC0415 -- only a long run needs it; a search must not pay 86 ms for it

    rows = np.asarray(matrix, dtype=np.float32)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = np.rint(rows * (127.0 / np.maximum(largest, _TINY))).astype(np.int8)
    return [row.tobytes() for row in scaled]


def _quantised(row: memoryview[float]) -> bytes:
    """Return one row as numpy makes it, which calculates in single precision."""
    largest = max(max(map(abs, row), default=0.0), _TINY)
    (scale,) = array("f", [127.0 / largest])
    return array("b", map(round, array("f", [value * scale for value in row]))).tobytes()


def quantise_query(matrix: Matrix) -> bytes:
    """Return one float32 row as int8, as `quantise` does; needs no numpy, and is faster where it is loaded."""
    if "numpy" in sys.modules:
        import numpy as np  # noqa: PLC0415 -- only where it is loaded

        row = np.asarray(matrix, dtype=np.float64)  # as Python calculates: the same to the last bit
        scaled = np.rint(row * (127.0 / max(np.abs(row).max(initial=0.0), _TINY)))
        return bytes(scaled.astype(np.int8).tobytes())
    values = cast(list[float], matrix.cast("B").cast("f").tolist())
    scale = 127.0 / max(max(map(abs, values), default=0.0), _TINY)
    return array("b", [round(value * scale) for value in values]).tobytes()


_TINY = 1e-12
_FEW_ROWS = 32


def are_near(one: bytes, other: bytes) -> bool:
    """Return True if two rows of `quantise` are one vector, made on two machines: these may round differently."""
    if one == other:
        return True
    import numpy as np  # noqa: PLC0415 -- as above

    if len(one) != len(other):
        return False
    apart = np.frombuffer(one, dtype=np.int8).astype(np.int16) - np.frombuffer(other, dtype=np.int8)
    return int(np.abs(apart).max()) <= _ROUNDING


_ROUNDING = 2  # of 127


def are_alike(one: bytes, other: bytes) -> bool:
    """Return True if two rows of `quantise` belong to one text, by a model that does not give the same vector twice."""
    if len(one) != len(other):
        return False
    first, second = (memoryview(row).cast("b", (1, len(row))) for row in (one, other))
    (distance,) = memoryview(cast(bytes, simsimd.cdist(first, second, "cos"))).cast("B").cast("d")
    return one == other or distance <= _ALIKE


_ALIKE = 0.03


class _View(NamedTuple):
    """One committed state, as it lies in the file."""

    generation: int
    table: Table
    checksum: int  # of the rows, when they were written
    made: tuple[int, int]  # generation of the large file, and checksum of its header and keys
    changes: Mapping[int, bytes | None]  # rows in the place of those of the table; None: gone
    changed: Table  # the rows among them
    signs: memoryview = memoryview(b"")  # of the rows of the large file; empty: they have none

    @property
    def keys(self) -> Sequence[int]:
        """The keys of the large file, ascending."""
        return self.table.keys

    @property
    def n_rows(self) -> int:
        """The number of rows that are shown."""
        return len(self.keys) - sum(_has(self.keys, key) for key in self.changes) + len(self.changed.keys)


_NOTHING = _View(-1, NO_ROWS, 0, (-1, 0), {}, NO_ROWS)


def _has(keys: Sequence[int], key: int) -> bool:
    place = bisect_left(keys, key)
    return place < len(keys) and keys[place] == key


class FlatVectorStore:
    """All rows in one file: header, keys, rows. A commit replaces it as a whole; a reader keeps what it has opened."""

    large_bytes = 8_000_000  # of rows; fewer are all written again with each commit, in a few milliseconds
    most_in_memory = MOST_IN_MEMORY  # bytes of rows that are not committed
    most_changed = 1 / 32  # of the rows of the large file
    least_with_signs = LEAST_ROWS
    asked_before_numpy = 4  # questions about very many rows: a process that has answered so many will answer more
    least_for_numpy = 50_000  # rows; in fewer it saves less than a millisecond
    compared_before_numpy = 6_000_000  # rows; to pick among them without it has cost what loading it costs

    def __init__(self, folder: Folder | str, dimensions: int, owner: str = "") -> None:
        self.dimensions = dimensions
        self._file = folder_at(folder).file(VECTORS)
        self._changes_file = self._file.folder.file(_CHANGES)
        self._signs_file = self._file.folder.file(_SIGNS)
        self._owner = blake2b(owner.encode(), digest_size=16).digest()
        self._stamp: object = None
        self._view = _NOTHING
        self._cleared = False
        self._new = self._no_rows()
        self._n_asked = self._n_compared = 0
        self.reload()

    @property
    def generation(self) -> int:
        """Generation of the catalogue this view shows; -1 when there is no usable view, or it was cleared."""
        return -1 if self._cleared else self._view.generation

    def __len__(self) -> int:
        return self._view.n_rows

    def reload(self) -> None:
        """See what another process has committed."""
        stamp = (self._file.stamp(), self._changes_file.stamp())
        if stamp != self._stamp:
            self._stamp = stamp
            view = self._load()
            self._view = self._with_changes(view._replace(signs=self._signs_of(view)))

    def damage(self, *, whole: bool = True) -> str:
        """Return the difference between the rows and their checksum, or nothing. See `VectorStore`."""
        if whole:
            return self._damage()
        files, made = (self._file, self._signs_file), " ".join(map(str, (*self._view.made, self._view.checksum)))
        problems: list[str] = []

        def is_sound(_: File) -> bool:
            if not problems:  # both files are read together
                problems.append(self._damage())
            return not problems[0]

        CheckedFiles(self._file.folder).first_damaged([(file, made) for file in files if file.kind()], is_sound)
        return "".join(problems)

    def _damage(self) -> str:
        view = self._view
        if crc32(view.table.rows) != view.checksum:
            return "rows differ from what was written"
        made = _crc32(signs_of([view.table.rows], self.dimensions)) if view.signs else 0
        return "" if made == crc32(view.signs) else "signs of rows differ from the rows"

    def upsert(self, rows: Iterable[Row]) -> None:
        """Add rows, or replace those with the same key. Visible after `commit`."""
        self._new.put(self._checked(rows))

    def _checked(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            check_length(row.vector, self.dimensions)
            yield row

    def delete(self, keys: Collection[int]) -> None:
        """Remove rows; unknown keys are no error. Visible after `commit`."""
        self._new.remove(keys)

    def clear(self) -> None:
        """Drop all rows, to be built again. Visible after `commit`."""
        self._drop_new()
        self._cleared = True

    def abandon(self) -> None:
        """Drop uncommitted changes; after `clear` the rows must still be built anew."""
        self._drop_new()

    def commit(self, generation: int) -> None:
        """Make all changes visible and durable at once, under this generation."""
        if generation == self.generation and not self._new:
            return
        if self._new.are_in_file:
            from codefathom.system.memory import give_back  # noqa: PLC0415 -- only a large index; a search need not load it

            give_back()  # to make room for the pages of the file, which count as memory while they are read
        if self._cleared or not (self._view.keys or self._view.changes):
            self._write(generation, _merged(self._new.table, self._new.others))
        else:
            changes = {**self._view.changes, **self._new.by_key()}
            if self._are_few(changes):
                self._write_changes(generation, changes)
            else:
                self._write(generation, _merged(self._view.table, changes))
        self._drop_new()
        self._cleared = False
        self._stamp = None
        self.reload()

    def drop(self) -> None:
        """Remove the file."""
        self.close()
        if self._file.folder.exists():
            self._file.remove()
            self._changes_file.remove()
            self._signs_file.remove()

    def take(self, other: Folder) -> None:
        """Take over the file of a view of the same catalogue in another folder; see `File.take`. Raises OSError."""
        self._file.folder.make()
        self._file.take(other.file(VECTORS))
        for name in (_CHANGES, _SIGNS):
            if other.file(name).kind():
                self._file.folder.file(name).take(other.file(name))

    problem = ""  # a file beside the index is never away

    def nearest(
        self, vector: bytes, k: int, allowed: Collection[int] | None = None, where: Where | None = None
    ) -> list[tuple[int, float]]:
        """Return the k nearest by cosine similarity as (key, similarity), best first, ties by key.

        Similarities are exact. Of very many rows that no filter narrows some of the k may be others: see `row_signs`.
        """
        check_length(vector, self.dimensions)
        view = self._view
        n = n_looked_at(len(view.keys), k + min(k, len(view.changes))) if view.signs and allowed is None else None
        self._load_numpy_when_it_pays(has_signs=n is not None)
        if n is not None:
            alike = view._replace(table=with_most_alike_signs(view.table, view.signs, vector, n))
            if len(best := _nearest(alike, vector, k, None)) == k:  # else most of them are gone
                return best
        return _nearest(view, vector, k, allowed)

    def _load_numpy_when_it_pays(self, *, has_signs: bool) -> None:
        """Load numpy in a process that goes on asking: distances are picked in a fortieth of the time once it is there.

        Where signs are counted, rows are gathered in a third of the time as well.
        """
        n_rows = len(self._view.keys)
        self._n_asked += has_signs
        self._n_compared += 0 if has_signs or n_rows < self.least_for_numpy else n_rows
        if self._n_asked >= self.asked_before_numpy or self._n_compared >= self.compared_before_numpy:
            import numpy  # noqa: F401, PLC0415

    def close(self) -> None:
        """Release the file. Uncommitted changes are dropped."""
        self._drop_new()
        self._view, self._stamp, self._cleared = _NOTHING, None, False

    def _no_rows(self) -> NewRows:
        return NewRows(self.dimensions, self._waiting_file, self.most_in_memory)

    def _drop_new(self) -> None:
        self._new.close()
        self._new = self._no_rows()

    # ---- the file

    def _waiting_file(self) -> BinaryIO:
        """Make a file for rows that wait to be written. Raises FathomError, OSError."""
        self._file.folder.make()
        return self._file.folder.nameless()

    def _load(self) -> _View:
        data = _content(self._file)
        if len(data) < _START:
            return _NOTHING
        magic, owner, generation, dimensions, n_rows, row_sum = _HEADER.unpack_from(data)
        if (magic, owner, dimensions) != (_MAGIC, self._owner, self.dimensions) or n_rows < 0:
            return _NOTHING
        first = _START + 8 * n_rows
        if len(data) != first + n_rows * dimensions:
            return _NOTHING
        (checksum,) = _CHECKSUM.unpack_from(data, _HEADER.size)
        if checksum != crc32(data[_START:first], crc32(data[: _HEADER.size])):
            return _NOTHING
        table = Table(data[_START:first].cast("q"), data[first:].cast("b"), dimensions)
        return _View(generation, table, row_sum, (generation, checksum), {}, NO_ROWS)

    def _signs_of(self, view: _View) -> memoryview:
        """Return the signs that were kept of a large file; nothing where there are none of this very file."""
        if len(view.keys) >= self.least_with_signs:
            data = _content(self._signs_file)
            whole = _SIGNS_HEADER.size + len(view.keys) * bytes_of_signs(self.dimensions)
            head = _SIGNS_HEADER.pack(_SIGNS_MAGIC, self._owner, *view.made)
            if len(data) == whole and data[: _SIGNS_HEADER.size] == head:
                return data[_SIGNS_HEADER.size :]
        return memoryview(b"")

    def _keep_signs(self, parts: Iterable[bytes | memoryview], made: tuple[int, int]) -> None:
        """Write the signs of all rows of a large file, which may not have its name yet."""
        head = _SIGNS_HEADER.pack(_SIGNS_MAGIC, self._owner, *made)
        self._signs_file.replace(chain([head], signs_of(parts, self.dimensions)))

    def _with_changes(self, view: _View) -> _View:
        """Return the rows of the large file with the changes beside it, where these were made to this file."""
        with suppress(OSError, struct.error, ValueError):
            data = self._changes_file.read(2 * view.table.rows.nbytes + _SPARE)
            magic, owner, generation, *made, n_keys = _CHANGES_HEADER.unpack_from(data)
            (checksum,) = _CHECKSUM.unpack(data[-_CHECKSUM.size :])
            is_ours = (magic, owner, tuple(made)) == (_CHANGES_MAGIC, self._owner, view.made)
            if is_ours and checksum == crc32(data[: -_CHECKSUM.size]):
                start = _CHANGES_HEADER.size + 9 * n_keys
                keys = array("q", data[_CHANGES_HEADER.size : start - n_keys])
                length = self.dimensions
                places = accumulate((length * is_row for is_row in data[start - n_keys : start]), initial=start)
                rows = [data[place:end] or None for place, end in pairwise(places)]
                changes = dict(zip(keys, rows, strict=True))
                shown = (Row(key, row) for key, row in sorted(changes.items()) if row is not None)
                return view._replace(generation=generation, changes=changes, changed=table_of(shown, length))
        return view

    def _are_few(self, changes: Mapping[int, bytes | None]) -> bool:
        rows = self._view.table.rows.nbytes
        return rows >= self.large_bytes and len(changes) * self.dimensions <= rows * self.most_changed

    def _write_changes(self, generation: int, changes: Mapping[int, bytes | None]) -> None:
        view = self._view
        head = (self._owner, generation, *view.made, len(changes))
        parts = [_CHANGES_HEADER.pack(_CHANGES_MAGIC, *head), array("q", changes).tobytes()]
        parts.append(bytes(row is not None for row in changes.values()))
        parts += [row for row in changes.values() if row is not None]
        try:
            if not view.signs and len(view.keys) >= self.least_with_signs:
                self._keep_signs([view.table.rows], view.made)  # an earlier version has written the large file
            self._changes_file.replace([*parts, _CHECKSUM.pack(crc32(b"".join(parts)))])
        except OSError as error:
            raise writing_error(f"cannot write {self._file.path!r}", self._file.folder, error) from error

    def _write(self, generation: int, runs: Iterable[tuple[Sequence[int], bytes | memoryview]]) -> None:
        keys = array("q")
        rows: list[bytes | memoryview] = []
        for some_keys, some_rows in runs:
            keys.extend(some_keys)
            rows.append(some_rows)
        row_sum = _crc32(rows)
        header = _HEADER.pack(_MAGIC, self._owner, generation, self.dimensions, len(keys), row_sum)
        made = (generation, crc32(keys, crc32(header)))
        try:
            self._file.folder.make()
            if len(keys) >= self.least_with_signs:
                self._keep_signs(rows, made)
            else:
                self._signs_file.remove()
            self._file.replace([header, _CHECKSUM.pack(made[1]), keys.tobytes(), *rows])
            self._changes_file.remove()  # one that stays belongs to another file, and is not read
        except OSError as error:
            raise writing_error(f"cannot write {self._file.path!r}", self._file.folder, error) from error


def _nearest(view: _View, vector: bytes, k: int, allowed: Collection[int] | None) -> list[tuple[int, float]]:
    if not view.changes:
        return nearest_rows(view.table, vector, k, allowed)
    return nearest_of_both(view.table, view.changed, view.changes.keys(), vector=vector, k=k, allowed=allowed)


def _merged(table: Table, changes: Mapping[int, bytes | None]) -> Iterator[tuple[Sequence[int], bytes | memoryview]]:
    """Yield runs of keys and rows in ascending order; neighbours that did not change come in one piece."""
    keys, start = table.keys, 0
    for key in sorted(changes):
        place = bisect_left(keys, key, start)
        if place > start:
            yield keys[start:place], table.part(start, place)
        start = place + (place < len(keys) and keys[place] == key)
        row = changes[key]
        if row is not None:
            yield (key,), row
    if start < len(keys):
        yield keys[start:], table.part(start, len(keys))


def _crc32(parts: Iterable[bytes | memoryview]) -> int:
    return reduce(lambda before, part: crc32(part, before), parts, 0)


def _content(file: File) -> memoryview:
    try:
        with file.open() as opened:
            if sys.platform == "win32":
                return memoryview(opened.read())
            return memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):  # missing, or empty
        return memoryview(b"")
