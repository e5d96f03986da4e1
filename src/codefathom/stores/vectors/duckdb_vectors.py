"""DuckDB: a table in a file of its own, which other programs can read. Needs the extra `duckdb`, and no extension.

DuckDB lets no second process open a file that is written. So each commit writes a new file, and a small file beside it
says which one counts; a reader keeps the one that it has opened.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from codefathom.errors import StoreDamagedError, StoreError
from codefathom.stores.folder import File
from codefathom.stores.vectors.candidates import Change, Label, Point, StoreSetup, Within
from codefathom.stores.vectors.payload import unit_rows
from codefathom.stores.write_errors import writing_error

duckdb: Any = import_module("duckdb")

_CURRENT = "duckdb.json"  # name of the file that counts, and its label
_FILES = ("vectors-", ".duckdb")  # beginning and end of the names of such files
_ATTEMPTS = 5  # to open a file that a writer may be replacing
# Nothing is fetched and no other file is opened, whatever a file that came with a repository says.
_CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
}
# The first six are the columns of the table `rag` that users of auto-coder know.
_TABLE = """
CREATE TABLE rag(
    _id VARCHAR PRIMARY KEY, file_path VARCHAR, content VARCHAR,
    raw_content VARCHAR GENERATED ALWAYS AS (content) VIRTUAL, vector FLOAT[{dimensions}], mtime DOUBLE,
    key BIGINT, project VARCHAR, language VARCHAR, extension VARCHAR, chunk_type VARCHAR, symbol VARCHAR,
    start_line INTEGER, end_line INTEGER)
"""
_TEXTS = ("file_path", "content", "project", "language", "extension", "chunk_type", "symbol")
_NUMBERS = ("mtime", "start_line", "end_line")


class _Current(NamedTuple):
    """The file that counts."""

    name: str
    label: Label
    dimensions: int


class DuckdbStore:
    """The table `rag` of one project. Exact: every vector is compared."""

    is_exact = True

    def __init__(self, setup: StoreSetup) -> None:
        self._folder = setup.folder
        self._dimensions = setup.dimensions
        self._project = setup.options.project
        self._batch = setup.options.batch
        self._lock = Lock()  # of all below
        self._opened = ""
        self._connection: Any = None
        self._used: list[Any] = []  # cursors that work, each in a thread of its own
        self._n_closed = 0  # times

    def label(self) -> Label | None:
        """Return the label of the file that counts."""
        current = self._current()
        return current.label if current is not None else None

    def count(self) -> int:
        """Count the rows."""
        return int(next(iter(self._rows("SELECT count(*) FROM rag")), (0,))[0])

    def keys(self) -> list[int]:
        """Return the keys of the rows."""
        return [key for (key,) in self._rows("SELECT key FROM rag")]

    def projects(self) -> dict[str, int]:
        """Return the project, which has a file of its own."""
        return {self._project: self.count()} if self._current() is not None else {}

    def described(self) -> dict[str, str | int | bool]:
        """Return the state of the file that counts."""
        current = self._current()
        name = current.name if current is not None else "(not made yet)"
        shown: dict[str, str | int | bool] = {
            "file": self._folder.file(name).path,
            "version": f"DuckDB {duckdb.__version__}",
        }
        if current is not None:
            shown |= {"points": self.count(), "dimensions": current.dimensions, "table": "rag"}
        return shown

    def prepare(self) -> None:
        """Make nothing: the first commit makes the file."""

    def candidates(self, vector: bytes, n: int, within: Within) -> list[tuple[int, float]]:
        """Return the n nearest by inner product of unit vectors."""
        conditions, values = ["true"], list[list[int] | list[str]]()
        if within.keys is not None:
            conditions.append("key IN (SELECT unnest(?::BIGINT[]))")
            values.append(list(within.keys))
        for field, names in (within.fields or {}).items():
            conditions.append(f"{field} IN (SELECT unnest(?::VARCHAR[]))")
            values.append(list(names))
        (unit,) = unit_rows([vector], self._dimensions).tolist()
        return self._rows(
            f"SELECT key, array_inner_product(vector, ?::FLOAT[{self._dimensions}]) AS similarity FROM rag "
            f"WHERE {' AND '.join(conditions)} ORDER BY similarity DESC, key LIMIT ?",
            (unit, *values, n),
        )

    def apply(self, change: Change) -> None:
        """Write the changed table into a new file, and let it count."""
        try:
            self._folder.make()
            old = None if change.is_whole else self._current()
            name = f"{_FILES[0]}{change.label.generation}-{os.urandom(4).hex()}{_FILES[1]}"
            self._write(self._folder.file(name), old, change)
            header = {"file": name, "dimensions": self._dimensions, **change.label._asdict()}
            self._folder.file(_CURRENT).replace([json.dumps(header).encode()])
            self._remove_files(but=name)
        except OSError as error:
            raise writing_error(f"cannot write {self._folder.path!r}", self._folder, error) from error

    def drop(self) -> None:
        """Remove the files."""
        self.close()
        if self._folder.exists():
            self._folder.file(_CURRENT).remove()
            self._remove_files(but="")

    def close(self) -> None:
        """Release the file. What another thread reads at this moment is interrupted, and releases it later."""
        with self._lock:
            self._n_closed += 1
            connection, self._connection, self._opened = self._connection, None, ""
            for cursor in self._used:  # DuckDB refuses to close the connection of a cursor that works
                cursor.interrupt()
            if connection is not None and not self._used:
                connection.close()

    # ---- write

    def _write(self, file: File, old: _Current | None, change: Change) -> None:
        if old is not None:
            self._check(old.dimensions)
            with self._folder.file(old.name).open() as opened:
                file.replace(iter(lambda: opened.read(1 << 20), b""))
        try:
            with closing(duckdb.connect(file.path, config=_CLOSED)) as db:
                if old is None:
                    db.execute(_TABLE.format(dimensions=self._dimensions))
                points = iter(change.points)
                while page := list(islice(points, self._batch)):
                    self._put(db, page)
                db.execute("DELETE FROM rag WHERE key IN (SELECT unnest(?::BIGINT[]))", [list(change.removed)])
                db.execute("CHECKPOINT")
        except duckdb.Error as error:
            with suppress(OSError):
                file.remove()
            raise StoreError(f"DuckDB cannot write {file.path!r}: {error}", hint="run `fathom index --full`") from error

    def _put(self, db: Any, points: Sequence[Point]) -> None:
        """Insert points, or replace those with the same id. Columns of numbers are taken in much faster than lists."""
        for point in points:
            self._check(len(point.vector))
        units = unit_rows([point.vector for point in points], self._dimensions)
        columns = {f"v{number}": np.ascontiguousarray(units[:, number]) for number in range(self._dimensions)}
        columns["_id"] = np.array([point.id for point in points], dtype=object)
        columns["key"] = np.array([point.key for point in points], dtype=np.int64)
        for name in _TEXTS:
            columns[name] = np.array([point.payload[name] for point in points], dtype=object)
        for name in _NUMBERS:
            columns[name] = np.array([point.payload[name] for point in points], dtype=np.float64)
        names = ("_id", "key", *_TEXTS, *_NUMBERS)
        vector = ", ".join(f"v{number}" for number in range(self._dimensions))
        db.register("page", columns)
        db.execute("DELETE FROM rag WHERE key IN (SELECT key FROM page)")
        db.execute(
            f"INSERT OR REPLACE INTO rag({', '.join(names)}, vector) "
            f"SELECT {', '.join(names)}, array_value({vector}) FROM page"
        )
        db.unregister("page")

    def _check(self, n_dimensions: int) -> None:
        if n_dimensions != self._dimensions:
            raise StoreError(
                f"a vector has {n_dimensions} dimensions, {self._folder.path!r} is for {self._dimensions}",
                hint="run `fathom index --full`",
            )

    def _remove_files(self, *, but: str) -> None:
        for name in self._folder.names():
            if name != but and name.startswith(_FILES[0]) and _FILES[1] in name:
                with suppress(OSError):  # in use, where a file in use cannot be removed
                    self._folder.remove(name)

    # ---- read

    def _current(self) -> _Current | None:
        """Return the file that counts, None when there is none."""
        before = None
        while (current := self._named()) is not None and current != before:
            if self._folder.file(current.name).kind() == "file":
                return current
            before = current  # replaced and removed after its name was read, or lost
        return None

    def _named(self) -> _Current | None:
        """Return the file that is named as the one that counts."""
        try:
            header = json.loads(self._folder.file(_CURRENT).read(10_000))
            name, label = header["file"], Label(header["owner"], header["generation"])
            is_ours = name.startswith(_FILES[0]) and name.endswith(_FILES[1])
            is_ours = is_ours and isinstance(label.owner, str) and type(label.generation) is int
            return _Current(name, label, header["dimensions"]) if is_ours else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # missing, or not written by this store
            return None

    def _rows(self, statement: str, values: Iterable[object] = ()) -> list[Any]:
        """Return the rows of a statement; none without a file."""
        for _ in range(_ATTEMPTS):
            current = self._current()
            if current is None:
                return []
            n_closed = self._n_closed
            try:
                with self._cursor(current) as cursor:
                    rows: list[Any] = cursor.execute(statement, list(values)).fetchall()
                    return rows
            except duckdb.Error as error:
                if self._n_closed != n_closed:
                    raise StoreError(
                        f"{self._folder.path!r} was closed while it was read", hint="ask the question again"
                    ) from error
                if self._current() == current:
                    raise StoreDamagedError(
                        f"DuckDB cannot read {current.name!r}: {error}", hint="run `fathom index`, which makes it again"
                    ) from error
        raise StoreError(f"{self._folder.path!r} changes all the time", hint="try again")

    @contextmanager
    def _cursor(self, current: _Current) -> Iterator[Any]:
        """Lend a cursor, which `close` does not close; a file that was replaced stays open until its end."""
        with self._lock:
            if self._opened != current.name:
                path = self._folder.file(current.name).path
                self._connection = duckdb.connect(path, read_only=True, config=_CLOSED)
                self._opened = current.name
            cursor = self._connection.cursor()
            self._used.append(cursor)
        try:
            yield cursor
        finally:
            with self._lock:
                self._used.remove(cursor)
            cursor.close()
