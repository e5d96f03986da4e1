"""Connections of threads: none is closed while its thread uses it, and none stays open after that."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.waiting import LONG_S, join

from codefathom.errors import IndexClosedError, IndexingError
from codefathom.stores.database import Database
from codefathom.stores.lent_connections import LentConnections

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n WHERE begun()"


def connect() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def test_a_statement_of_another_thread_is_interrupted_and_its_connection_closed_after_it(tmp_path: Path) -> None:
    database, begun, errors = Database(str(tmp_path / "x.db")), Event(), list[Exception]()

    def read() -> None:
        database.connection().create_function("begun", 0, begun.set)
        try:
            database.read(ENDLESS)
        except IndexingError as error:
            errors.append(error)

    thread = Thread(target=read)
    thread.start()
    assert begun.wait(LONG_S)
    database.close()
    join(thread)
    assert [type(error) for error in errors] == [IndexClosedError]
    assert str(errors[0]) == f"the index {str(tmp_path)!r} was closed while it was used"


def test_a_transaction_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    path, begun, errors = str(tmp_path / "x.db"), Event(), list[Exception]()
    database = Database(path)
    database.connection().execute("CREATE TABLE t(a)")

    def write() -> None:
        try:
            with database.transaction() as db:
                db.create_function("begun", 0, begun.set)
                db.execute("INSERT INTO t VALUES (1)")
                db.execute(f"INSERT INTO t {ENDLESS}")
        except IndexingError as error:
            errors.append(error)

    thread = Thread(target=write)
    thread.start()
    assert begun.wait(LONG_S)
    database.close()
    join(thread)
    assert [type(error) for error in errors] == [IndexClosedError]
    assert Database(path).read("SELECT * FROM t") == []


@pytest.mark.parametrize("ask", ["read", "rows", "transaction", "damage"])
def test_nothing_is_read_of_a_closed_file(ask: str, tmp_path: Path) -> None:
    database = Database(str(tmp_path / "x.db"))
    database.read("SELECT 1")
    database.seal()
    database.close()
    database.close()
    with pytest.raises(IndexClosedError):
        match ask:
            case "read":
                database.read("SELECT 1")
            case "rows":
                list(database.rows("SELECT 1"))
            case "transaction":
                with database.transaction():
                    pass
            case _:
                database.damage()


def test_rows_that_nobody_has_taken_yet_keep_no_file_open(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "x.db"))
    rows = database.rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
    assert next(rows) == (1,)
    database.close()
    with pytest.raises(IndexClosedError):
        list(rows)


def test_a_connection_that_is_used_for_too_long_is_closed_by_its_thread() -> None:
    lent, used, go_on, states = LentConnections(connect, patience_s=0.0), Event(), Event(), list[bool]()

    def use() -> None:
        own = lent.add()
        assert own is not None
        used.set()
        assert go_on.wait(LONG_S)
        states.append(is_open(own.connection))
        states.append(lent.give_back(own))
        states.append(is_open(own.connection))

    thread = Thread(target=use)
    thread.start()
    assert used.wait(LONG_S)
    with lent.closing() as is_first:
        assert is_first
    assert lent.n_open == 1
    go_on.set()
    join(thread)
    assert states == [True, True, False]
    assert lent.n_open == 0


def test_the_thread_that_closes_may_still_use_its_own() -> None:
    lent = LentConnections(connect)
    with lent.closing():
        own = lent.add()
        assert own is not None
        lent.give_back(own)
        others: list[object] = []
        thread = Thread(target=lambda: others.extend([lent.take(), lent.add()]))
        thread.start()
        join(thread)
        assert others == [None, None]
    assert not is_open(own.connection)
    assert (lent.take(), lent.add(), lent.take_again(own)) == (None, None, False)
    with lent.closing() as is_first:
        assert not is_first
