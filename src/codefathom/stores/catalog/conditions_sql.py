"""A condition → SQL of the catalogue. Pure; values are bound, never written into the statement."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from codefathom.stores.conditions import FIELDS, Predicate, Scalar, expression_of, normalise, predicate_of
from codefathom.types.choices import Level
from codefathom.types.where import Filter, Where


class SqlCondition(NamedTuple):
    """An SQL expression that is 0 or 1, never NULL, and the values of its question marks."""

    condition: str
    parameters: tuple[Scalar, ...]


# The column of each field; s is an alias of the table symbols. Where a level has no column for a field, the field
# decides nothing: whoever shows the places tests them again.
_OF_CHUNKS = {field.name: field.column for field in FIELDS.values()}
_OF_SYMBOLS = _OF_CHUNKS | {
    "kind": "s.kind",
    "symbol": "s.qualified_name",
    "names": "s.qualified_name",
    "start_line": "s.start_line",
    "end_line": "s.end_line",
    "lines": "(s.end_line - s.start_line + 1)",
    "text": "",
}
_OF_FILES = _OF_CHUNKS | {"start_line": "1", "end_line": "d.n_lines", "lines": "d.n_lines", "text": ""}
_COLUMNS: Mapping[Level, Mapping[str, str]] = {"chunk": _OF_CHUNKS, "symbol": _OF_SYMBOLS, "file": _OF_FILES}
_SYMBOLS_OF_CHUNK = (
    "SELECT 1 FROM symbols s WHERE s.document_id = c.document_id AND s.start_line <= c.end_line "
    "AND s.end_line >= c.start_line"
)
_MOST_WORD_CHARS = 1_000  # SQLite takes 50,000 bytes behind LIKE
_NUMBER_SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def to_sql(where: Where, level: Level = "chunk") -> SqlCondition:
    """Return the condition on chunks as SQL: on those that lie in a place of this level which fulfils it.

    A condition on the text of a symbol or file lets every chunk pass. Raises UsageError for a field, an operator or a
    value that does not exist.
    """
    sql = _sql(normalise(where), _Meaning(_COLUMNS[level]))
    if level == "symbol":
        return SqlCondition(f"EXISTS ({_SYMBOLS_OF_CHUNK} AND {sql.condition})", sql.parameters)
    return sql


class _Meaning(NamedTuple):
    """The columns of the fields, and the result of a condition on a field that has none."""

    columns: Mapping[str, str]
    undecided: Literal["0", "1"] = "1"

    def opposite(self) -> _Meaning:
        """Return the meaning under a NOT: what may be true outside it may be false inside."""
        return self._replace(undecided="0" if self.undecided == "1" else "1")


def _sql(where: Where, meaning: _Meaning) -> SqlCondition:
    if isinstance(where, Filter):
        return _sql_filter(where, meaning)
    if not where.filters:
        return SqlCondition("1", ())
    parts = [_sql(item, meaning.opposite() if where.operator == "NOT" else meaning) for item in where.filters]
    joint = " OR " if where.operator == "OR" else " AND "
    inner = joint.join(part.condition for part in parts)
    prefix = "NOT " if where.operator == "NOT" else ""
    values = tuple(value for part in parts for value in part.parameters)
    if where.operator == "OR" and (first := _shared_word(where.filters, meaning)) is not None:
        return SqlCondition(f"({first.condition} AND ({inner}))", (*first.parameters, *values))
    return SqlCondition(f"{prefix}({inner})", values)


def _shared_word(filters: Sequence[Where], meaning: _Meaning) -> SqlCondition | None:
    """Return a test that is quick and lets all pass that one of some conditions is true for; None where there is none.

    The conditions that make up "in a symbol of this name" all look for the name, in two columns.
    """
    columns: dict[str, None] = {}
    values: list[str] = []
    for item in filters:
        if not isinstance(item, Filter):
            return None
        predicate = predicate_of(item)
        column = meaning.columns[predicate.field.name]
        is_text = predicate.field.kind in ("text", "list") and isinstance(predicate.value, str)
        if not column or column.startswith("d.") or not is_text or predicate.negated or predicate.operator == "regex":
            return None
        columns[column] = None
        values.append(str(predicate.value).lower())
    word = min(values, key=len, default="").strip(".\n")
    if not 0 < len(word) <= _MOST_WORD_CHARS or not word.isascii() or not all(word in value for value in values):
        return None
    pattern = re.sub(r"([\\%_])", r"\\\1", word)
    test = " OR ".join(f"coalesce({column}, '') LIKE ? ESCAPE '\\'" for column in columns)
    return SqlCondition(f"({test})", (f"%{pattern}%",) * len(columns))


def _sql_filter(item: Filter, meaning: _Meaning) -> SqlCondition:
    predicate = predicate_of(item)
    column = meaning.columns[predicate.field.name]
    if not column:
        return SqlCondition(meaning.undecided, ())
    build = {"text": _sql_text, "list": _sql_list, "flag": _sql_flag}.get(predicate.field.kind, _sql_number)
    positive = build(predicate, column)
    prefix = "NOT " if predicate.negated else ""
    condition = f"{prefix}(coalesce({column}, '') <> '' AND {positive.condition})"
    if predicate.field.of == "file" or column.startswith("d."):
        # Ask once for each document, not for each of its chunks.
        condition = f"d.id IN (SELECT d.id FROM documents d WHERE {condition})"
    return SqlCondition(condition, positive.parameters)


def _sql_text(predicate: Predicate, column: str) -> SqlCondition:
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


def _sql_list(predicate: Predicate, column: str) -> SqlCondition:
    """Find the value in the lines of the list, between line ends where a name must begin or end."""
    folded = column if predicate.cased else f"lower({column})"
    if isinstance(predicate.value, tuple):
        inside = f"instr(char(10) || {folded} || char(10), char(10) || value || char(10)) > 0"
        return SqlCondition(f"EXISTS (SELECT 1 FROM json_each(?) WHERE {inside})", (json.dumps(predicate.value),))
    if predicate.operator == "regex":
        return SqlCondition(f"{column} REGEXP ?", (expression_of(predicate),))
    begin = "\n" if predicate.operator in ("eq", "starts_with") else ""
    end = "\n" if predicate.operator in ("eq", "ends_with") else ""
    return SqlCondition(f"instr(char(10) || {folded} || char(10), ?) > 0", (f"{begin}{predicate.value}{end}",))


def _sql_number(predicate: Predicate, column: str) -> SqlCondition:
    if isinstance(predicate.value, tuple):
        return SqlCondition(f"{column} IN (SELECT value FROM json_each(?))", (json.dumps(predicate.value),))
    return SqlCondition(f"{column} {_NUMBER_SIGNS[predicate.operator]} ?", (predicate.value,))


def _sql_flag(predicate: Predicate, column: str) -> SqlCondition:
    return SqlCondition(f"IS_TEST({column}) = ?", (int(bool(predicate.value)),))
