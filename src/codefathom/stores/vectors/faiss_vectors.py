"""FAISS: all rows in memory, from one file that a commit replaces as a whole. Needs the extra `faiss`.

Exact (IndexFlatIP over unit vectors), or with `store.exact = false` in cells of rounded rows (IVF, SQ8).
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from importlib import import_module
from itertools import islice
from math import sqrt
from threading import Lock
from typing import Any
from uuid import UUID
from zlib import crc32

import numpy as np

from codefathom.errors import StoreDamagedError, StoreError
from codefathom.stores.folder import File
from codefathom.stores.vectors.candidates import Change, Label, Point, StoreSetup, Within
from codefathom.stores.vectors.payload import FILTERED, unit_rows
from codefathom.stores.write_errors import writing_error
from codefathom.text.foreign_json import read_json

faiss: Any = import_module("faiss")  # its stubs do not know the names of its parameters

_FILE = "vectors.faiss"
_MAGIC = b"fathomf1"
_START = struct.Struct("<8sqqq")  # magic and format; length of the header, number of rows, checksum of all after it
_TABLE = np.dtype([("key", "<i8"), ("id", "V16"), *((name, "<u2") for name in FILTERED.values())])
_LEAST_IN_CELLS = 20_000  # with fewer rows, cells are not worth their making
_PAGE = 10_000  # points, or rows, that are taken in at a time
_TRAINED = 64  # rows for each cell of which cells are made; more make them no better
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, RuntimeError)  # when a file is read that holds anything
_PROBED, _LEAST_PROBED = 0.1, 8  # share and number of the cells that a query looks into


@dataclass(frozen=True, slots=True)
class _State:
    """One committed state."""

    label: Label
    dimensions: int
    names: Mapping[str, Sequence[str]]  # by field, the names that the numbers in the table stand for
    table: Any  # of `_TABLE`, in the order of keys
    rows: Any  # int8, as in the catalogue, in the same order
    index: Any  # of FAISS; its ids are the keys
    n_trained: int  # rows when its cells were made, 0 without

    @property
    def n_cells(self) -> int:
        """Number of cells, 0 without."""
        return int(self.index.nlist) if self.n_trained else 0

    @property
    def n_probed(self) -> int:
        """Number of cells that a query looks into."""
        return max(int(self.n_cells * _PROBED), _LEAST_PROBED)


class FaissStore:
    """Rows in a file beside the index, which every process reads into its memory."""

    def __init__(self, setup: StoreSetup, least_in_cells: int = _LEAST_IN_CELLS) -> None:
        self._file = setup.folder.file(_FILE)
        self._dimensions = setup.dimensions
        self._project = setup.options.project
        self._is_exact = setup.options.exact
        self._least_in_cells = least_in_cells
        self._lock = Lock()
        self._stamp: object = None
        self._state: _State | None = None

    @property
    def is_exact(self) -> bool:
        """True without cells; those of the file count, whatever the settings have become since it was written."""
        return not self._load().n_trained

    def label(self) -> Label | None:
        """Return the label of the file."""
        header = _header(_content(self._file))
        return Label(header["owner"], header["generation"]) if header else None

    def count(self) -> int:
        """Count the rows."""
        return len(self._load().table)

    def keys(self) -> list[int]:
        """Return the keys of the rows."""
        return [int(key) for key in self._load().table["key"]]

    def projects(self) -> dict[str, int]:
        """Return the project, which has a file of its own."""
        return {self._project: self.count()} if self.label() is not None else {}

    def described(self) -> dict[str, str | int | bool]:
        """Return the state of the file."""
        shown: dict[str, str | int | bool] = {"file": self._file.path, "version": f"FAISS {faiss.__version__}"}
        state = self._load()
        if state.index is not None:
            shown |= {"points": len(state.table), "dimensions": state.dimensions}
            shown["index"] = f"IVF{state.n_cells},SQ8" if state.n_trained else "IndexFlatIP"
        return shown

    def prepare(self) -> None:
        """Make the index of the kind that the settings name, where the file has the other; a commit makes the file."""
        state = self._load()
        wants_cells = not self._is_exact and len(state.table) >= self._least_in_cells
        if state.index is not None and bool(state.n_trained) != wants_cells:
            index, n_trained = self._index(_nothing(self._dimensions), state.table["key"], state.rows)
            self._write(replace(state, index=index, n_trained=n_trained))

    def candidates(self, vector: bytes, n: int, within: Within) -> list[tuple[int, float]]:
        """Return the n nearest by inner product of unit vectors."""
        state = self._load()
        chosen = _chosen(state, within)
        if not len(state.table) or (chosen is not None and not len(chosen)):
            return []
        selector = None if chosen is None else faiss.IDSelectorBatch(chosen)
        most = len(state.table) if chosen is None else len(chosen)
        query, n = unit_rows([vector], self._dimensions), min(n, most)
        n_probed = state.n_probed
        while True:
            similar, keys = state.index.search(query, n, params=_parameters(state, selector, n_probed))
            named = [(int(key), float(one)) for key, one in zip(keys[0], similar[0], strict=True) if key >= 0]
            if len(named) == n or n_probed >= state.n_cells:
                return named
            n_probed *= 4  # the cells that were looked into hold too few

    def apply(self, change: Change) -> None:
        """Write a new file, and put it in the place of the old one."""
        old = _nothing(self._dimensions) if change.is_whole else self._load()
        self._write(self._changed(old, change))

    def _write(self, state: _State) -> None:
        header = {"owner": state.label.owner, "generation": state.label.generation, "dimensions": state.dimensions}
        header |= {"names": state.names, "n_trained": state.n_trained}
        contents: tuple[Any, ...] = (
            state.table.view(np.uint8),
            state.rows.reshape(-1),
            faiss.serialize_index(state.index),
        )
        parts: list[Any] = [json.dumps(header).encode(), *(memoryview(each) for each in contents)]
        checksum = reduce(lambda before, part: crc32(part, before), parts, 0)
        try:
            self._file.folder.make()
            self._file.replace([_START.pack(_MAGIC, len(parts[0]), len(state.table), checksum), *parts])
        except OSError as error:
            raise writing_error(f"cannot write {self._file.path!r}", self._file.folder, error) from error

    def drop(self) -> None:
        """Remove the file."""
        self._file.remove()
        self.close()

    def close(self) -> None:
        """Release the memory."""
        with self._lock:
            self._state, self._stamp = None, None

    # ---- inside

    def _changed(self, old: _State, change: Change) -> _State:
        """Return the state after a change. Points are taken in page by page: their texts are not kept."""
        self._check(old.dimensions)
        names = {field: list(old.names.get(field, ())) for field in FILTERED.values()}
        tables, vectors = [np.empty(0, _TABLE)], bytearray()
        points = iter(change.points)
        while page := list(islice(points, _PAGE)):
            for point in page:
                self._check(len(point.vector))
                vectors += point.vector
            tables.append(np.array([_entry(point, names) for point in page], dtype=_TABLE))
        added = np.concatenate(tables)
        gone = np.isin(old.table["key"], np.array([*change.removed, *added["key"]], dtype=np.int64))
        gone |= np.isin(old.table["id"], added["id"])
        rows = np.frombuffer(vectors, np.int8).reshape(-1, self._dimensions)
        table, rows = np.concatenate([old.table[~gone], added]), np.concatenate([old.rows[~gone], rows])
        order = np.argsort(table["key"])
        table, rows = table[order], rows[order]
        index, n_trained = self._index(old, table["key"], rows)
        return _State(change.label, self._dimensions, names, table, rows, index, n_trained)

    def _check(self, n_dimensions: int) -> None:
        if n_dimensions != self._dimensions:
            raise StoreError(
                f"a vector has {n_dimensions} dimensions, {self._file.path!r} is for {self._dimensions}",
                hint="run `fathom index --full`",
            )

    def _index(self, old: _State, keys: Any, rows: Any) -> tuple[Any, int]:
        """Return an index of these rows, and the number of rows of which its cells were made."""
        n_rows, n_trained = len(rows), 0
        if self._is_exact or n_rows < self._least_in_cells:
            index: Any = faiss.IndexIDMap2(faiss.IndexFlatIP(self._dimensions))
        elif old.n_trained / 2 < n_rows < old.n_trained * 2:
            index, n_trained = faiss.clone_index(old.index), old.n_trained
            index.reset()
        else:
            index = faiss.index_factory(self._dimensions, f"IVF{int(4 * sqrt(n_rows))},SQ8", faiss.METRIC_INNER_PRODUCT)
            step = max(n_rows // (_TRAINED * int(4 * sqrt(n_rows))), 1)
            index.train(self._units(rows[::step]))
            n_trained = n_rows
        for start in range(0, n_rows, _PAGE):
            end = start + _PAGE
            index.add_with_ids(self._units(rows[start:end]), np.ascontiguousarray(keys[start:end]))
        return index, n_trained

    def _units(self, rows: Any) -> Any:
        return unit_rows([rows.tobytes()], self._dimensions)

    def _load(self) -> _State:
        """Return the committed state, which stays in memory until another process has written."""
        with self._lock:
            stamp = self._file.stamp()
            if self._state is None or stamp != self._stamp:
                self._state, self._stamp = self._read(), stamp
            return self._state

    def _read(self) -> _State:
        data = _content(self._file)
        header = _header(data)
        if header is None:
            return _nothing(self._dimensions)
        try:
            return self._state_of(data, header)
        except _DAMAGE as error:
            raise StoreDamagedError(
                f"{self._file.path!r} is damaged", hint="run `fathom index`, which makes it again"
            ) from error

    def _state_of(self, data: memoryview, header: Any) -> _State:
        _, n_header, n_rows, checksum = _START.unpack_from(data)
        if crc32(data[_START.size :]) != checksum:
            raise ValueError("another checksum")
        at_table = _START.size + n_header
        at_rows = at_table + n_rows * _TABLE.itemsize
        at_index = at_rows + n_rows * header["dimensions"]
        rows = np.frombuffer(data[at_rows:at_index], np.int8).reshape(n_rows, header["dimensions"])
        return _State(
            Label(header["owner"], header["generation"]),
            header["dimensions"],
            header["names"],
            np.frombuffer(data[at_table:at_rows], _TABLE),
            rows,
            faiss.deserialize_index(np.frombuffer(data[at_index:], np.uint8)),
            header["n_trained"],
        )


def _nothing(dimensions: int) -> _State:
    rows = np.empty((0, dimensions), np.int8)
    return _State(Label("", -1), dimensions, {}, np.empty(0, _TABLE), rows, None, 0)


def _entry(point: Point, names: Mapping[str, list[str]]) -> tuple[object, ...]:
    """Return a row of the table; names that are new are added."""
    numbers = []
    for field, listed in names.items():
        name = str(point.payload[field])
        if name not in listed:
            listed.append(name)
        numbers.append(listed.index(name))
    return (point.key, UUID(point.id).bytes, *numbers)


def _chosen(state: _State, within: Within) -> Any:
    """Return the keys a query is kept to, None for all."""
    if within.keys is not None:
        return np.intersect1d(np.array(within.keys, dtype=np.int64), state.table["key"])
    if within.fields is None:
        return None
    inside = np.ones(len(state.table), dtype=bool)
    for field, values in within.fields.items():
        numbers = [number for number, name in enumerate(state.names.get(field, ())) if name in values]
        inside &= np.isin(state.table[field], numbers)
    return np.ascontiguousarray(state.table["key"][inside])


def _parameters(state: _State, selector: Any, n_probed: int) -> Any:
    if not state.n_trained:
        return faiss.SearchParameters(sel=selector)
    return faiss.SearchParametersIVF(sel=selector, nprobe=min(n_probed, state.n_cells))


def _header(data: memoryview) -> Any:
    """Return the header of a file, None for anything else."""
    if len(data) < _START.size:
        return None
    magic, n_header, _, _ = _START.unpack_from(data)
    if magic != _MAGIC or not 0 < n_header <= len(data):
        return None
    try:
        header = read_json(bytes(data[_START.size : _START.size + n_header]))
        is_ours = isinstance(header["owner"], str) and type(header["generation"]) is int
        return header if is_ours else None
    except (ValueError, KeyError, TypeError):
        return None


def _content(file: File) -> memoryview:
    try:
        with file.open() as opened:
            return memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):  # missing, or empty
        return memoryview(b"")
