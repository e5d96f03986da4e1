"""A condition → SQL of the catalogue. Pure; values are bound, never written into the statement."""

from __future__ import annotations

import json
from typing import NamedTuple

from codefathom.stores.conditions import TEST_PATH, Predicate, Scalar, expression_of, normalise, predicate_of
from codefathom.types import Filter, Where


class SqlCondition(NamedTuple):
    """An SQL expression that is 0 or 1, never NULL, and the values of its question marks."""

    condition: str
    parameters: tuple[Scalar, ...]


# The column of each field; d is an alias of the table documents, c of chunks.
_COLUMNS = {
    "path": "d.path",
    "dir": "d.dir",
    "name": "d.name",
    "ext": "d.ext",
    "language": "d.language",
    "module": "d.module",
    "sub_module": "d.sub_module",
    "size": "d.size",
    "is_test": "d.path",
    "kind": "c.kind",
    "symbol": "c.symbol",
    "names": "c.names",
    "start_line": "c.start_line",
    "end_line": "c.end_line",
    "lines": "(c.end_line - c.start_line + 1)",
    "text": "c.text",
}
_NUMBER_SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def to_sql(where: Where) -> SqlCondition:
    """Return the condition as SQL. Raises UsageError for a field, an operator or a value that does not exist."""
    return _sql(normalise(where))


def _sql(where: Where) -> SqlCondition:
    if isinstance(where, Filter):
        return _sql_filter(where)
    if not where.filters:
        return SqlCondition("1", ())
    parts = [_sql(item) for item in where.filters]
    joint = " OR " if where.operator == "OR" else " AND "
    inner = joint.join(part.condition for part in parts)
    prefix = "NOT " if where.operator == "NOT" else ""
    return SqlCondition(f"{prefix}({inner})", tuple(value for part in parts for value in part.parameters))


def _sql_filter(item: Filter) -> SqlCondition:
    predicate = predicate_of(item)
    positive = {"text": _sql_text, "list": _sql_list, "number": _sql_number, "flag": _sql_flag}[predicate.field.kind](
        predicate
    )
    prefix = "NOT " if predicate.negated else ""
    condition = f"{prefix}(coalesce({_COLUMNS[predicate.field.name]}, '') <> '' AND {positive.condition})"
    if _COLUMNS[predicate.field.name].startswith("d."):  # ask once for each document, not for each of its chunks
        condition = f"d.id IN (SELECT d.id FROM documents d WHERE {condition})"
    return SqlCondition(condition, positive.parameters)


def _sql_text(predicate: Predicate) -> SqlCondition:
    column = _COLUMNS[predicate.field.name]
    folded = column if predicate.cased else f"lower({column})"
    if isinstance(predicate.value, tuple):
        # One JSON array, because the number of parameters is limited and a list of paths can be long.
        return SqlCondition(f"{folded} IN (SELECT value FROM json_each(?))", (json.dumps(predicate.value),))
    value = str(predicate.value)
    if predicate.operator == "regex":
        return SqlCondition(f"{column} REGEXP ?", (expression_of(predicate),))
    if predicate.operator == "eq":
        return SqlCondition(f"{folded} = ?", (value,))
    if predicate.operator == "ends_with":
        return SqlCondition(f"substr({folded}, ?) = ?", (-len(value), value)) if value else SqlCondition("1", ())
    return SqlCondition(f"instr({folded}, ?) {'= 1' if predicate.operator == 'starts_with' else '> 0'}", (value,))


def _sql_list(predicate: Predicate) -> SqlCondition:
    """Find the value in the lines of the list, between line ends where a name must begin or end."""
    column = _COLUMNS[predicate.field.name]
    folded = column if predicate.cased else f"lower({column})"
    if isinstance(predicate.value, tuple):
        inside = f"instr(char(10) || {folded} || char(10), char(10) || value || char(10)) > 0"
        return SqlCondition(f"EXISTS (SELECT 1 FROM json_each(?) WHERE {inside})", (json.dumps(predicate.value),))
    if predicate.operator == "regex":
        return SqlCondition(f"{column} REGEXP ?", (expression_of(predicate),))
    begin = "\n" if predicate.operator in ("eq", "starts_with") else ""
    end = "\n" if predicate.operator in ("eq", "ends_with") else ""
    return SqlCondition(f"instr(char(10) || {folded} || char(10), ?) > 0", (f"{begin}{predicate.value}{end}",))


def _sql_number(predicate: Predicate) -> SqlCondition:
    if isinstance(predicate.value, tuple):
        return SqlCondition(
            f"{_COLUMNS[predicate.field.name]} IN (SELECT value FROM json_each(?))", (json.dumps(predicate.value),)
        )
    return SqlCondition(f"{_COLUMNS[predicate.field.name]} {_NUMBER_SIGNS[predicate.operator]} ?", (predicate.value,))


def _sql_flag(predicate: Predicate) -> SqlCondition:
    return SqlCondition(f"OWN_REGEXP(?, {_COLUMNS[predicate.field.name]}) = ?", (TEST_PATH, int(bool(predicate.value))))
