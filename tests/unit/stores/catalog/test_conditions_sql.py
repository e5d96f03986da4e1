"""Each operator on each kind of field finds in SQL what it means in Python: all of a small table, none by chance."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from codefathom.stores.catalog.conditions_sql import to_sql
from codefathom.stores.conditions import FIELDS, OPERATORS, matches
from codefathom.stores.database import add_functions
from codefathom.stores.packed_chunks import packed
from codefathom.types import Filter, FilterGroup, Level, Where

TEXTS = ["", "a", "A", "ab", "Ab.c", "b", "ba", "c\\d", "é"]
NAMES = [(), ("a",), ("Ab", "b"), ("ba.c", "A"), ("b\\a",)]
PATHS = ["a.py", "tests/a.py", "Src/b/A.PY"]
NUMBERS = [None, 0, 1, 2, 3]
Row = dict[str, object]


def _rows() -> list[Row]:
    rows: list[Row] = [{"symbol": text, "text": text, "names": (), "path": "a.py"} for text in TEXTS]
    rows += [{"names": names, "symbol": None, "path": path} for names in NAMES for path in PATHS]
    rows += [{"start_line": n, "end_line": None if n is None else n + 1, "size": n, "path": "a.py"} for n in NUMBERS]
    return [{"text": "x", "kind": "block", "language": "python", **row} for row in rows]


ROWS = _rows()


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    yield from filled()


@pytest.fixture
def own() -> Iterator[sqlite3.Connection]:
    yield from filled()


def filled() -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(":memory:")
    add_functions(database)
    database.executescript(
        "CREATE TABLE documents(id INTEGER PRIMARY KEY, path, dir, name, ext, language, module, sub_module, size,"
        " n_lines);"
        "CREATE TABLE chunks(document_id, kind, symbol, names, start_line, end_line, packed);"
        "CREATE TABLE symbols(document_id, kind, qualified_name, start_line, end_line);"
    )
    for number, row in enumerate(ROWS):
        database.execute(
            "INSERT INTO documents(id, path, language, size, n_lines) VALUES (?, ?, ?, ?, 40)",
            (number, row["path"], row["language"], row.get("size")),
        )
        names = row.get("names", ())
        assert isinstance(names, tuple)
        values = (row["kind"], row.get("symbol"), "\n".join(names), row.get("start_line"), row.get("end_line"))
        database.execute(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)", (number, *values, packed(str(row["text"]), "", ""))
        )
    yield database
    database.close()


def found(database: sqlite3.Connection, where: Where, level: Level = "chunk") -> list[int]:
    condition, parameters = to_sql(where, level)
    rows = database.execute(
        f"SELECT d.id, {condition} FROM chunks c JOIN documents d ON d.id = c.document_id ORDER BY d.id", parameters
    ).fetchall()
    assert {value for _, value in rows} <= {0, 1}  # never NULL
    return [number for number, value in rows if value]


def meant(where: Where) -> list[int]:
    return [number for number, row in enumerate(ROWS) if matches(where, row)]


def values_of(field: str, operator: str) -> list[object]:
    kind = FIELDS[field].kind
    if kind == "flag":
        return [True, False]
    if kind == "number":
        return [(), (1, 3)] if operator in ("in", "not_in") else [0, 1, 2, 2.5]
    if operator in ("in", "not_in"):
        return [(), ("a",), ("AB", "b"), ("", "Ab.c", "c\\d")]
    return ["a", "^A", "b$", "[bc]"] if operator == "regex" else ["", "a", "A", "b", "AB", "b.c", "\\", "É"]


def operators_of(field: str) -> list[str]:
    kind = FIELDS[field].kind
    order, lists = ("gt", "gte", "lt", "lte"), ("in", "not_in")
    if kind == "flag":
        return ["eq", "ne"]
    if kind == "number":
        return ["eq", "ne", *order, *lists]
    plain = [name for name in OPERATORS if name not in order]
    return [*plain, *(f"{name}_cased" for name in plain)]


CASES = [
    (field, operator)
    for field in ("symbol", "names", "path", "text", "start_line", "lines", "size", "is_test")
    for operator in operators_of(field)
]


@pytest.mark.parametrize(("field", "operator"), CASES)
def test_an_operator_finds_in_sql_what_it_means_in_python(
    database: sqlite3.Connection, field: str, operator: str
) -> None:
    for value in values_of(field, operator.removesuffix("_cased")):
        where = Filter(field, operator, value)  # type: ignore[arg-type]
        assert found(database, where) == meant(where), value
        not_this = FilterGroup("NOT", (where,))
        assert found(database, not_this) == meant(not_this), value


A, B, HAS_TEXT = Filter("symbol", "contains", "a"), Filter("symbol", "contains", "b"), Filter("text", "contains", "x")


@pytest.mark.parametrize(
    "where",
    [
        FilterGroup("AND", (A, B)),
        FilterGroup("OR", (A, B)),
        FilterGroup("NOT", (A, B)),
        FilterGroup("NOT", (FilterGroup("OR", (A, B)),)),
        FilterGroup("OR", (FilterGroup("AND", (A, B)), FilterGroup("NOT", (A,)))),
        FilterGroup("AND", ()),
        FilterGroup("OR", (A, FilterGroup("AND", ()))),
        FilterGroup("NOT", (FilterGroup("NOT", (A,)), B)),
    ],
)
def test_groups_join_as_in_python(database: sqlite3.Connection, where: FilterGroup) -> None:
    assert found(database, where) == meant(where)


@pytest.mark.parametrize("level", ["file", "symbol"])
def test_a_condition_on_a_text_that_a_level_does_not_have_excludes_nothing(
    own: sqlite3.Connection, level: Level
) -> None:
    own.execute("DELETE FROM symbols")
    own.executemany("INSERT INTO symbols VALUES (?, 'function', 'f', 1, 40)", [(n,) for n in range(len(ROWS))])
    own.execute("UPDATE chunks SET start_line = 5, end_line = 6")
    every = list(range(len(ROWS)))
    never = Filter("text", "eq", "no chunk has this text")
    for where in (
        HAS_TEXT,
        never,
        FilterGroup("NOT", (never,)),
        FilterGroup("NOT", (HAS_TEXT,)),
        FilterGroup("NOT", (FilterGroup("NOT", (never,)),)),
        FilterGroup("NOT", (FilterGroup("NOT", (FilterGroup("NOT", (HAS_TEXT,)),)),)),
    ):
        assert found(own, where, level) == every, where
    assert found(own, FilterGroup("AND", (never, Filter("path", "eq", "tests/a.py"))), level) == meant(
        Filter("path", "eq", "tests/a.py")
    )


def test_a_level_has_its_own_lines_and_names(own: sqlite3.Connection) -> None:
    own.execute("UPDATE chunks SET start_line = 5, end_line = 6, symbol = 'other', kind = 'block'")
    own.execute("DELETE FROM symbols")
    # a symbol of file 0 around the chunk, one of file 1 before it, one of file 2 behind it, one of file 3 up to it
    own.executemany(
        "INSERT INTO symbols VALUES (?, 'class', ?, ?, ?)",
        [(0, "Shop.Cart", 2, 9), (1, "Shop.Cart", 1, 4), (2, "Shop.Cart", 7, 9), (3, "Bank", 6, 8), (4, "Bank", 3, 5)],
    )
    assert found(own, Filter("symbol", "eq", "shop.cart"), "symbol") == [0]
    assert found(own, Filter("names", "contains", "bank"), "symbol") == [3, 4]
    assert found(own, Filter("kind", "eq", "class"), "symbol") == [0, 3, 4]
    assert found(own, Filter("start_line", "gte", 3), "symbol") == [3, 4]
    assert found(own, Filter("end_line", "eq", 9), "symbol") == [0]
    assert found(own, Filter("lines", "eq", 8), "symbol") == [0]
    assert found(own, Filter("lines", "eq", 40), "file") == list(range(len(ROWS)))
    assert found(own, Filter("end_line", "lt", 40), "file") == []
    assert found(own, Filter("start_line", "eq", 1), "file") == list(range(len(ROWS)))
    assert found(own, FilterGroup("NOT", (Filter("symbol", "eq", "bank"),)), "symbol") == [0]
