"""PostgreSQL with pgvector: a table that many projects share. Needs the extra `postgres` and the extension `vector`.

A commit is one transaction: readers see the state before it or the one after it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import islice
from threading import Lock
from typing import Any
from uuid import UUID

from codefathom.errors import StoreAwayError, StoreError, StoreSilentError, without_login
from codefathom.stores.vectors.candidates import Change, Label, Point, StoreSetup, Within
from codefathom.stores.vectors.payload import MAX_ANSWER_BYTES, WRONG_FORM, key_of, similarity_of, unit_rows
from codefathom.system.bounded_socket import WatchedSocket

_psycopg: Any = import_module("psycopg")
_sql: Any = import_module("psycopg.sql")

_TEXTS = (
    "project",
    "file_path",
    "file_dir",
    "file_name",
    "extension",
    "language",
    "chunk_type",
    "symbol",
    "content",
)
_COLUMNS = ("id", "key", *_TEXTS, "start_line", "end_line", "mtime", "embedding")
_TYPES = ("uuid", "int8", *["text"] * len(_TEXTS), "int4", "int4", "float8", "bytea")
_INDEXED, _INDEXED_HALF = 2_000, 4_000  # dimensions that an HNSW index takes, in single and in half precision
# Vectors that a search in the graph follows: so many times those that are wanted, in these bounds; and all it may.
_FOLLOWED, _LEAST_FOLLOWED, _MOST_FOLLOWED, _ALL_FOLLOWED = 8, 32, 256, 1_000
_LONGEST_NAME = 50  # bytes; PostgreSQL cuts names after 63, and those of indexes are longer
_WORTH_COUNTING = 1_000  # rows of a commit after which the planner gets new figures
# Messages at connecting that waiting does not mend; there they come without a code.
_REFUSALS = ("authentication failed", "no password supplied", "does not exist", "no pg_hba.conf entry")
_NO_TABLE, _NO_EXTENSION, _NO_RIGHT = "42P01", ("0A000", "58P01"), "42501"
_GRACE_S = 2.0  # after which the client ends a statement that the server should have ended
_MAKING = 7_204_180_553  # number of the lock under which tables are made
_PASSING = ("08", "40", "53", "57")  # classes of errors that pass: connection, conflict, resources, operator


class PostgresStore:
    """The rows of one project in a table."""

    def __init__(self, setup: StoreSetup) -> None:
        options = setup.options
        self._options = options
        self._project = options.project
        self._dimensions = setup.dimensions
        self._password = setup.key
        self._table = _sql.Identifier(options.collection)
        self._labels = _sql.Identifier(f"{options.collection}_labels")
        self.is_exact = options.exact or setup.dimensions > _INDEXED_HALF
        self._lock = Lock()  # of the next
        self._idle: list[Any] = []  # connections

    # ---- state

    def label(self) -> Label | None:
        """Return the label of the project, None without rows."""
        rows = self._rows("SELECT owner, generation FROM {labels} WHERE project = %s", [self._project])
        with self._of_our_form():
            return next((Label(str(owner), key_of(generation)) for owner, generation in rows), None)

    def count(self) -> int:
        """Count the rows of the project."""
        rows = self._rows("SELECT count(*) FROM {table} WHERE project = %s", [self._project])
        with self._of_our_form():
            return key_of(rows[0][0]) if rows else 0

    def keys(self) -> list[int]:
        """Return the keys of the project's rows."""
        rows = self._rows("SELECT key FROM {table} WHERE project = %s", [self._project])
        with self._of_our_form():
            return [key_of(key) for (key,) in rows]

    def projects(self) -> dict[str, int]:
        """Return the projects of the table with their numbers of rows."""
        statement = (
            "SELECT label.project, (SELECT count(*) FROM {table} AS row WHERE row.project = label.project) "
            "FROM {labels} AS label ORDER BY label.project"
        )
        rows = self._rows(statement)
        with self._of_our_form():
            return {str(project): key_of(n_rows) for project, n_rows in rows}

    def described(self) -> dict[str, str | int | bool]:
        """Return the state of the table as the server says it. Raises StoreAwayError when it does not answer."""
        with self._of_our_form():
            return self._description()

    def _description(self) -> dict[str, str | int | bool]:
        ((version, extension),) = self._rows(
            "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector')"
        )
        name = self._options.collection
        shown: dict[str, str | int | bool] = {
            "address": without_login(self._options.url) or "that of PGHOST",
            "version": f"PostgreSQL {version}, pgvector {extension or 'not yet made in this database'}",
        }
        types = self._rows(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute "
            "WHERE attrelid = to_regclass(%s) AND attname = 'embedding'",
            [self._table.as_string(None)],
        )
        shown["table"] = name if types else f"{name} (not made yet)"
        if types:
            shown["points"] = self._rows("SELECT count(*) FROM {table}")[0][0]
            shown["column"] = types[0][0]
            indexes = self._rows("SELECT indexdef FROM pg_indexes WHERE tablename = %s ORDER BY indexname", [name])
            shown["indexes"] = "; ".join(definition.partition(" USING ")[2] for (definition,) in indexes)
        return shown

    def prepare(self) -> None:
        """Make the extension, the tables and their indexes, where they are missing.

        An index that an exact search does not need stays: other projects of the table may use it.
        """
        with self._connection() as db, db.transaction():
            self._make_tables(db)
            self._make_graph(db)

    # ---- write

    def apply(self, change: Change) -> None:
        """Write the rows and the label in one transaction."""
        with self._connection() as db, db.transaction():
            self._make_tables(db)
            if change.is_whole:
                db.execute(self._statement("DELETE FROM {table} WHERE project = %s"), [self._project])
            columns = ", ".join(_COLUMNS)
            db.execute(
                self._statement(
                    f"CREATE TEMPORARY TABLE fathom_page ON COMMIT DROP AS SELECT {columns} FROM {{table}} WITH NO DATA"
                )
            )
            with db.cursor() as cursor, cursor.copy(f"COPY fathom_page ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(_TYPES)
                points, n_rows = iter(change.points), 0
                while page := list(islice(points, self._options.batch)):
                    self._copy(copy, page)
                    n_rows += len(page)
            replaced = ", ".join(f"{name} = EXCLUDED.{name}" for name in _COLUMNS[1:])
            db.execute(
                self._statement(
                    "DELETE FROM {table} AS row USING fathom_page AS page "
                    "WHERE row.project = %s AND row.key = page.key AND row.id <> page.id"
                ),
                [self._project],
            )
            db.execute(
                self._statement(
                    f"INSERT INTO {{table}} ({columns}) SELECT {columns} FROM fathom_page "
                    f"ON CONFLICT (id) DO UPDATE SET {replaced}"
                )
            )
            self._make_graph(db)
            db.execute(
                self._statement("DELETE FROM {table} WHERE project = %s AND key = ANY(%s)"),
                [self._project, list(change.removed)],
            )
            db.execute(
                self._statement(
                    "INSERT INTO {labels} VALUES (%s, %s, %s) ON CONFLICT (project) "
                    "DO UPDATE SET owner = EXCLUDED.owner, generation = EXCLUDED.generation"
                ),
                [self._project, *change.label],
            )
            if n_rows >= _WORTH_COUNTING:  # a planner without figures takes twice as long
                db.execute(self._statement("ANALYZE {table}"))

    def drop(self) -> None:
        """Remove the rows and the label of the project."""
        with suppress(_NoTableError), self._connection() as db, db.transaction():
            for table in ("table", "labels"):
                db.execute(self._statement(f"DELETE FROM {{{table}}} WHERE project = %s"), [self._project])

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()

    def _copy(self, copy: Any, page: Sequence[Point]) -> None:
        for point in page:
            if len(point.vector) != self._dimensions:
                raise self._size_error(len(point.vector))
        # The binary form of a vector: number of its dimensions, two unused bytes, its values with the high byte first.
        head = struct.pack(">HH", self._dimensions, 0)
        units = unit_rows([point.vector for point in page], self._dimensions).astype(">f4")
        for point, unit in zip(page, units, strict=True):
            fields = point.payload
            texts = (fields[name] for name in _TEXTS)
            lines = (fields["start_line"], fields["end_line"], float(fields["mtime"]))
            copy.write_row((UUID(point.id), point.key, *texts, *lines, head + unit.tobytes()))

    def _make_tables(self, db: Any) -> None:
        options, size = self._options, self._dimensions
        if len(options.collection.encode()) > _LONGEST_NAME:
            raise StoreError(
                f"store.collection = {options.collection!r} is too long for PostgreSQL",
                hint=f"choose a name of at most {_LONGEST_NAME} bytes",
            )
        db.execute("SELECT pg_advisory_xact_lock(%s)", [_MAKING])
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        texts = ", ".join(f"{name} text NOT NULL" for name in _TEXTS)
        db.execute(
            self._statement(
                f"CREATE TABLE IF NOT EXISTS {{table}} (id uuid PRIMARY KEY, key bigint NOT NULL, {texts}, "
                f"start_line integer, end_line integer, mtime double precision, embedding vector({size}) NOT NULL)"
            )
        )
        db.execute(
            self._statement(
                "CREATE TABLE IF NOT EXISTS {labels} (project text PRIMARY KEY, owner text, generation bigint)"
            )
        )
        ((there,),) = db.execute(
            "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'embedding'",
            [self._table.as_string(None)],
        ).fetchall()
        if there != size:
            raise self._size_error(there)
        self._make_index(db, f"{options.collection}_project_key", "(project, key)")

    def _make_graph(self, db: Any) -> None:
        """Make the HNSW index, where it is missing and wanted: after the first rows, which is much faster."""
        options, size = self._options, self._dimensions
        if not self.is_exact:
            kind, column = ("vector", "embedding") if size <= _INDEXED else ("halfvec", f"(embedding::halfvec({size}))")
            how = f"(m = {options.hnsw_m}, ef_construction = {max(options.hnsw_ef_construct, 2 * options.hnsw_m)})"
            name = f"{options.collection}_hnsw"
            self._make_index(db, name, f"USING hnsw ({column} {kind}_ip_ops) WITH {how}")

    def _make_index(self, db: Any, name: str, definition: str) -> None:
        db.execute(
            _sql.SQL("CREATE INDEX IF NOT EXISTS {name} ON {table} ").format(
                name=_sql.Identifier(name), table=self._table
            )
            + _sql.SQL(definition)
        )

    def _size_error(self, n_dimensions: int) -> StoreError:
        return StoreError(
            f"the model has vectors of {self._dimensions} dimensions, those in the table "
            f"{self._options.collection!r} have {n_dimensions}",
            hint="set store.collection to another name, or drop this table",
        )

    # ---- search

    def candidates(self, vector: bytes, n: int, within: Within) -> list[tuple[int, float]]:
        """Return the n nearest by inner product of unit vectors."""
        size = self._dimensions
        conditions, values = ["project = %s"], list[object]([self._project])
        if within.keys is not None:
            conditions.append("key = ANY(%s)")
            values.append(list(within.keys))
        for field, names in (within.fields or {}).items():
            conditions.append(f"{field} = ANY(%s)")
            values.append(list(names))
        (unit,) = unit_rows([vector], size).tolist()
        kind = "vector" if size <= _INDEXED or self.is_exact else "halfvec"
        column = "embedding" if kind == "vector" else f"embedding::halfvec({size})"
        distance = f"{column} <#> %s::{kind}({size})"
        # An order that is no index's makes the server compare all rows, whatever indexes there are.
        order = f"({distance}) + 0" if self.is_exact else distance
        rows = self._rows(
            f"SELECT key, -({distance}) FROM {{table}} WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT %s",
            [str(unit), *values, str(unit), n],
            followed=0 if self.is_exact else self._followed(n),
        )
        with self._of_our_form():
            return [(key_of(key), similarity_of(similarity)) for key, similarity in rows]

    def _followed(self, n: int) -> int:
        usual = min(max(_FOLLOWED * n, _LEAST_FOLLOWED), _MOST_FOLLOWED)
        return min(max(self._options.hnsw_ef or usual, n), _ALL_FOLLOWED)

    # ---- the connection

    def _rows(self, statement: str, values: Sequence[object] = (), followed: int = 0) -> list[Any]:
        """Return the rows of a statement; none without the table."""
        with suppress(_NoTableError), self._connection() as db, self._watched(db):
            if not followed:
                return list(db.execute(self._statement(statement), values).fetchall())
            with db.transaction():
                db.execute(f"SET LOCAL hnsw.ef_search = {followed}")
                db.execute("SET LOCAL hnsw.iterative_scan = strict_order")  # so that a filter never empties the result
                return list(db.execute(self._statement(statement), values).fetchall())
        return []

    @contextmanager
    def _watched(self, db: Any) -> Iterator[None]:
        """Keep what comes over a connection to the limits of one answer. Raises StoreError beyond them."""
        with WatchedSocket(db.fileno(), self._options.timeout_s + _GRACE_S, MAX_ANSWER_BYTES) as watch:
            try:
                yield
            except _psycopg.Error as error:
                if not watch.problem:
                    raise
                kind = StoreSilentError if watch.is_late else StoreError
                raise kind(
                    f"{self._place} cannot be used: {watch.problem}", hint="check store.url, or raise store.timeout_s"
                ) from error

    @contextmanager
    def _of_our_form(self) -> Iterator[None]:
        """Raise StoreError for rows of another form than those of our tables."""
        try:
            yield
        except WRONG_FORM as error:
            raise StoreError(
                f"{self._place} does not answer as pgvector does: {error}", hint="check store.url and store.collection"
            ) from error

    def _statement(self, text: str) -> Any:
        return _sql.SQL(text).format(table=self._table, labels=self._labels)

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """Lend a connection of its own to each thread; one that failed is not used again."""
        with self._lock:
            db = self._idle.pop() if self._idle else None
        try:
            if db is None:
                db = self._connect()
            yield db
        except _psycopg.Error as error:
            raise self._told(error) from error
        finally:
            if db is not None:
                self._put_back(db)

    def _put_back(self, db: Any) -> None:
        if not db.closed and db.info.transaction_status == _psycopg.pq.TransactionStatus.IDLE:
            with self._lock:
                self._idle.append(db)
        else:
            db.close()
            self.close()  # the server may have been started again: then the idle ones are broken, too

    def _connect(self) -> Any:
        milliseconds = math.ceil(self._options.timeout_s * 1_000)
        return _psycopg.connect(
            self._options.url,
            password=self._password or None,
            connect_timeout=max(math.ceil(self._options.timeout_s), 2),
            options=f"-c statement_timeout={milliseconds}",
            application_name="codefathom",
            autocommit=True,
            prepare_threshold=None,  # a pooler between may not keep prepared statements
        )

    @property
    def _place(self) -> str:
        return f"PostgreSQL at {without_login(self._options.url)}" if self._options.url else "PostgreSQL"

    def _told(self, error: Any) -> StoreError:
        place = self._place
        text, code = " ".join(str(error).split()), error.sqlstate or ""
        if code == _NO_TABLE:
            return _NoTableError(f"{place} has no table {self._options.collection!r}", hint="run `fathom store init`")
        if code in _NO_EXTENSION and "vector" in text:
            return StoreError(f"{place} has no pgvector: {text}", hint="install pgvector on this server")
        if code == _NO_RIGHT:
            return StoreError(
                f"{place} does not let this user do that: {text}",
                hint="let an administrator run CREATE EXTENSION vector, and give this user the right to make tables",
            )
        if not code and any(refusal in text for refusal in _REFUSALS):
            return StoreError(f"{place} refuses the connection: {text}", hint="check store.url, and set PGPASSWORD")
        if not code or code[:2] in _PASSING:
            return StoreAwayError(f"{place} cannot be reached: {text}", hint="start it, or check store.url")
        return StoreError(f"{place} refuses a statement: {text}", hint="check store.url and store.collection")


class _NoTableError(StoreError):
    """There is nothing to read."""
