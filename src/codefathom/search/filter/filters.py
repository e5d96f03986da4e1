"""Conditions on chunks and their documents: thirteen operators, three groups, one meaning in SQL and in Python. Pure.

- A value is missing when it is NULL or "". On a missing value a positive operator is false and a negative one (ne,
  not_contains, not_in) is true, because a negative operator is exactly the opposite of its positive one.
- Text is compared without regard to the case of A to Z, as SQLite does it; an operator with the ending `_cased`
  (`contains_cased`) regards it. Numbers know eq ne gt gte lt lte in not_in; flags know eq and ne.
- `names` is a list: a condition holds when it holds for one of the names.
- NOT is true when not all of its filters hold. An empty group is no condition: it is true.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from codefathom.errors import UsageError
from codefathom.text.expressions import check, is_match
from codefathom.text.printable import is_text
from codefathom.types import Filter, FilterGroup, Where

Scalar: TypeAlias = str | int | float

OPERATORS = (
    "eq",
    "ne",
    "gt",
    "gte",
    "lt",
    "lte",
    "contains",
    "not_contains",
    "starts_with",
    "ends_with",
    "regex",
    "in",
    "not_in",
)

# SQLite refuses expressions of more than 1,000 levels, and its parser more than about 100 open brackets.
MAX_CONDITIONS = 400
MAX_DEPTH = 20

TEST_PATH = (
    r"(?i)(?:^|/)(?:tests?|__tests__|specs?|testdata)/"
    r"|(?:^|/)(?:test_[^/]*|conftest\.py)$|[_.-](?:tests?|spec)\.[^/]*$|(?-i:(?:Test|Tests|Spec|Suite)\.[a-z]+$)"
)

_POSITIVE = {"ne": "eq", "not_contains": "contains", "not_in": "in"}
_CASED = "_cased"
_NUMBER_SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_COMPARES = {"eq": operator.eq, "gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
_KNOWN_TO = {
    "text": frozenset({"eq", "contains", "starts_with", "ends_with", "regex", "in"}),
    "list": frozenset({"eq", "contains", "starts_with", "ends_with", "regex", "in"}),
    "number": frozenset({"eq", "gt", "gte", "lt", "lte", "in"}),
    "flag": frozenset({"eq"}),
}


class Field(NamedTuple):
    """A field one can filter by, and its column; d is an alias of the table documents, c of chunks."""

    name: str
    kind: Literal["text", "list", "number", "flag"]
    column: str


class SqlCondition(NamedTuple):
    """An SQL expression that is 0 or 1, never NULL, and the values of its question marks."""

    condition: str
    parameters: tuple[Scalar, ...]


FIELDS: Mapping[str, Field] = {
    field.name: field
    for field in (
        Field("path", "text", "d.path"),
        Field("dir", "text", "d.dir"),
        Field("name", "text", "d.name"),
        Field("ext", "text", "d.ext"),
        Field("language", "text", "d.language"),
        Field("module", "text", "d.module"),
        Field("sub_module", "text", "d.sub_module"),
        Field("size", "number", "d.size"),
        Field("is_test", "flag", "d.path"),
        Field("kind", "text", "c.kind"),
        Field("symbol", "text", "c.symbol"),
        Field("names", "list", "c.names"),
        Field("start_line", "number", "c.start_line"),
        Field("end_line", "number", "c.end_line"),
        Field("lines", "number", "(c.end_line - c.start_line + 1)"),
        Field("text", "text", "c.text"),
    )
}

_OTHER_NAMES = {
    "lang": "language",
    "content": "text",
    "directory": "dir",
    "extension": "ext",
    "file": "name",
    "file_name": "name",
    "file_path": "path",
    "type": "kind",
    "chunk_type": "kind",
    "submodule": "sub_module",
    "test": "is_test",
}


def to_sql(where: Where) -> SqlCondition:
    """Return the condition as SQL; values are bound, never written. Raises UsageError like `normalise`."""
    return _sql(normalise(where))


def matches(where: Where, record: Mapping[str, object]) -> bool:
    """Whether a record of field names and values fulfils the condition; decides as `to_sql` does."""
    return _holds(normalise(where), record)


def combine(*wheres: Where | None) -> Where | None:
    """Return one condition that holds when all of these hold; None when there is none."""
    given = tuple(where for where in wheres if where is not None)
    return given[0] if len(given) == 1 else FilterGroup("AND", given) if given else None


# ---- names and values


def normalise(where: Where) -> Where:
    """Return the condition with its fields, operators and values in their one form, or raise UsageError."""
    if _n_conditions(where) > MAX_CONDITIONS:
        raise UsageError(f"a filter has at most {MAX_CONDITIONS} conditions", hint="join values with `in (a, b, …)`")
    return _normal(where, 0)


def field_named(name: str) -> Field:
    """Return the field with this name, in camelCase or snake_case, or raise UsageError."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).lower().replace("-", "_")
    found = FIELDS.get(_OTHER_NAMES.get(snake, snake))
    if found is None:
        raise UsageError(f"no field is called {name!r}", hint=f"known fields: {', '.join(FIELDS)}")
    return found


def operator_named(name: str) -> str:
    """Return the operator with this name, in camelCase or snake_case, or raise UsageError."""
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).lower()
    if snake.removesuffix(_CASED) not in OPERATORS:
        hint = f"known operators: {', '.join(OPERATORS)}; with the ending {_CASED} where case matters"
        raise UsageError(f"no operator is called {name!r}", hint=hint)
    return snake


def _n_conditions(where: Where) -> int:
    """Count without recursion, so that no depth is too great to be refused politely."""
    waiting: list[Where] = [where]
    count = 0
    while waiting:
        item = waiting.pop()
        count += 1
        if isinstance(item, FilterGroup):
            waiting.extend(item.filters)
    return count


def _normal(where: Where, depth: int) -> Where:
    if isinstance(where, Filter):
        return _normal_filter(where)
    if depth == MAX_DEPTH:
        raise UsageError(f"a filter nests at most {MAX_DEPTH} groups")
    operator = str(where.operator).upper()
    if operator not in ("AND", "OR", "NOT"):
        raise UsageError(f"no group is called {where.operator!r}", hint="known groups: AND, OR, NOT")
    inner = tuple(_normal(item, depth + 1) for item in where.filters)
    return FilterGroup(operator, inner)  # type: ignore[arg-type]  # one of the three, see above


def _normal_filter(item: Filter) -> Filter:
    field = field_named(item.field)
    operator = operator_named(item.operator)
    base = operator.removesuffix(_CASED)
    positive = _POSITIVE.get(base, base)
    if positive not in _KNOWN_TO[field.kind] or (base != operator and field.kind in ("number", "flag")):
        usable = [name for name in OPERATORS if _POSITIVE.get(name, name) in _KNOWN_TO[field.kind]]
        raise UsageError(f"{field.name} is a {field.kind}: {operator} means nothing for it", hint=_one_of(usable))
    if positive == "in":
        given = item.value if isinstance(item.value, tuple) else (item.value,)
        return Filter(field.name, operator, tuple(_whole_value(field, value) for value in given))
    if isinstance(item.value, tuple):
        raise UsageError(f"{field.name} {operator} takes one value, not {len(item.value)}", hint="use in or not_in")
    value = _whole_value(field, item.value) if positive == "eq" else _value(field, item.value)
    if positive == "regex":
        check(str(value))
    return Filter(field.name, operator, value)


def _one_of(names: Sequence[str]) -> str:
    return f"use one of {', '.join(names)}"


def _whole_value(field: Field, value: Scalar) -> Scalar:
    """Endings are kept with their dot; `ext = py` means the same."""
    text = _value(field, value)
    return f".{text}" if field.name == "ext" and text and not str(text).startswith(".") else text


def _value(field: Field, value: Scalar) -> Scalar:
    if field.kind == "number":
        return _number(field, value)
    if field.kind == "flag":
        return _flag(field, value)
    text = str(value)
    if not is_text(text):
        raise UsageError(f"{field.name} cannot be {text!r}: it is no text in UTF-8")
    return text


def _number(field: Field, value: Scalar) -> Scalar:
    try:
        number = value if not isinstance(value, str) else int(value) if value.strip("+-").isdigit() else float(value)
    except ValueError:  # of too many digits too
        number = float("nan")
    if not -(2**63) <= number < 2**63:  # false for "not a number" too
        raise UsageError(f"{field.name} is a number: {value!r} is none that it could have")
    return number


def _flag(field: Field, value: Scalar) -> int:
    word = str(value).lower()
    if word not in ("true", "yes", "1", "false", "no", "0"):
        raise UsageError(f"{field.name} is true or false, not {value!r}")
    return int(word in ("true", "yes", "1"))


# ---- one condition, taken apart


class _Test(NamedTuple):
    """A normalised condition without its negation."""

    field: Field
    operator: str  # a positive one
    value: Scalar | tuple[Scalar, ...]
    negated: bool
    cased: bool


def _test(item: Filter) -> _Test:
    base = item.operator.removesuffix(_CASED)
    positive = _POSITIVE.get(base, base)
    cased = base != item.operator
    value = item.value
    if not cased and positive != "regex" and FIELDS[item.field].kind in ("text", "list"):
        value = tuple(_fold(str(one)) for one in value) if isinstance(value, tuple) else _fold(str(value))
    return _Test(FIELDS[item.field], positive, value, positive != base, cased)


_FOLDED = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _fold(text: str) -> str:
    """Lower A to Z only, as SQLite's lower() does."""
    return text.translate(_FOLDED)


def _expression(test: _Test) -> str:
    """Return the regular expression with the flags that case and lists ask for."""
    return ("" if test.cased else "(?i)") + ("(?m)" if test.field.kind == "list" else "") + str(test.value)


# ---- as SQL


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
    test = _test(item)
    positive = {"text": _sql_text, "list": _sql_list, "number": _sql_number, "flag": _sql_flag}[test.field.kind](test)
    prefix = "NOT " if test.negated else ""
    condition = f"{prefix}(coalesce({test.field.column}, '') <> '' AND {positive.condition})"
    if test.field.column.startswith("d."):  # ask once for each document, not for each of its chunks
        condition = f"d.id IN (SELECT d.id FROM documents d WHERE {condition})"
    return SqlCondition(condition, positive.parameters)


def _sql_text(test: _Test) -> SqlCondition:
    column = test.field.column
    folded = column if test.cased else f"lower({column})"
    if isinstance(test.value, tuple):
        # One JSON array, because the number of parameters is limited and a list of paths can be long.
        return SqlCondition(f"{folded} IN (SELECT value FROM json_each(?))", (json.dumps(test.value),))
    value = str(test.value)
    if test.operator == "regex":
        return SqlCondition(f"{column} REGEXP ?", (_expression(test),))
    if test.operator == "eq":
        return SqlCondition(f"{folded} = ?", (value,))
    if test.operator == "ends_with":
        return SqlCondition(f"substr({folded}, ?) = ?", (-len(value), value)) if value else SqlCondition("1", ())
    return SqlCondition(f"instr({folded}, ?) {'= 1' if test.operator == 'starts_with' else '> 0'}", (value,))


def _sql_list(test: _Test) -> SqlCondition:
    """Find the value in the lines of the list, between line ends where a name must begin or end."""
    column = test.field.column
    folded = column if test.cased else f"lower({column})"
    if isinstance(test.value, tuple):
        inside = f"instr(char(10) || {folded} || char(10), char(10) || value || char(10)) > 0"
        return SqlCondition(f"EXISTS (SELECT 1 FROM json_each(?) WHERE {inside})", (json.dumps(test.value),))
    if test.operator == "regex":
        return SqlCondition(f"{column} REGEXP ?", (_expression(test),))
    begin = "\n" if test.operator in ("eq", "starts_with") else ""
    end = "\n" if test.operator in ("eq", "ends_with") else ""
    return SqlCondition(f"instr(char(10) || {folded} || char(10), ?) > 0", (f"{begin}{test.value}{end}",))


def _sql_number(test: _Test) -> SqlCondition:
    if isinstance(test.value, tuple):
        return SqlCondition(f"{test.field.column} IN (SELECT value FROM json_each(?))", (json.dumps(test.value),))
    return SqlCondition(f"{test.field.column} {_NUMBER_SIGNS[test.operator]} ?", (test.value,))


def _sql_flag(test: _Test) -> SqlCondition:
    return SqlCondition(f"OWN_REGEXP(?, {test.field.column}) = ?", (TEST_PATH, int(bool(test.value))))


# ---- in Python


def _holds(where: Where, record: Mapping[str, object]) -> bool:
    if isinstance(where, Filter):
        test = _test(where)
        value = _value_of(record, test.field)
        return (value not in (None, "") and _passes(test, value)) != test.negated
    if not where.filters:
        return True
    if where.operator == "OR":
        return any(_holds(item, record) for item in where.filters)
    return all(_holds(item, record) for item in where.filters) != (where.operator == "NOT")


def _value_of(record: Mapping[str, object], field: Field) -> object:
    if field.name == "is_test":
        return record.get("path")
    value = record.get(field.name)
    if field.name == "lines" and value is None:
        start, end = record.get("start_line"), record.get("end_line")
        return end - start + 1 if isinstance(start, int) and isinstance(end, int) else None
    return "\n".join(value) if field.kind == "list" and isinstance(value, (tuple, list)) else value


def _passes(test: _Test, value: object) -> bool:
    if test.field.kind == "flag":
        return bool(re.search(TEST_PATH, str(value))) == bool(test.value)
    if test.field.kind == "number":
        return isinstance(value, (int, float)) and _compares(test, value)
    if test.operator == "regex":
        return is_match(_expression(test), value)
    text = str(value) if test.cased else _fold(str(value))
    wanted = test.value if isinstance(test.value, tuple) else (test.value,)
    compare = _in_list if test.field.kind == "list" else _in_text
    return any(compare(test.operator, text, str(one)) for one in wanted)


def _in_text(operator: str, text: str, value: str) -> bool:
    if operator == "contains":
        return value in text
    if operator == "starts_with":
        return text.startswith(value)
    return text.endswith(value) if operator == "ends_with" else text == value


def _in_list(operator: str, names: str, value: str) -> bool:
    begin = "" if operator in ("contains", "ends_with") else "\n"
    end = "" if operator in ("contains", "starts_with") else "\n"
    return f"{begin}{value}{end}" in f"\n{names}\n"


def _compares(test: _Test, number: float) -> bool:
    if isinstance(test.value, tuple):
        return number in test.value
    return bool(_COMPARES[test.operator](number, test.value))
