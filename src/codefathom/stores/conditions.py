"""Conditions on chunks and their documents: thirteen operators and three groups. Pure.

`matches` defines their meaning; `catalog/conditions_sql.py` says the same in SQL.

- A value is missing when it is NULL or "". On a missing value a positive operator is false and a negative one (ne,
  not_contains, not_in) is true, because a negative operator is exactly the opposite of its positive one.
- Text is compared without regard to the case of A to Z, as SQLite does it; an operator with the ending `_cased`
  (`contains_cased`) regards it. Numbers know eq ne gt gte lt lte in not_in; flags know eq and ne.
- A time is one of a file: it knows gt gte lt lte. A date is its first moment, and without a time zone it is UTC.
- `names` is a list: a condition holds when it holds for one of the names.
- NOT is true when not all of its filters hold. An empty group is no condition: it is true.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple, Protocol, TypeAlias

from codefathom.errors import UsageError
from codefathom.facts.paths import is_test
from codefathom.text.expressions import check, is_match
from codefathom.text.printable import is_text
from codefathom.types.hits import Chunk
from codefathom.types.where import Filter, FilterGroup, Where

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

_POSITIVE = {"ne": "eq", "not_contains": "contains", "not_in": "in"}
_CASED = "_cased"
_COMPARES = {"eq": operator.eq, "gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
_OPERATORS_OF = {
    "text": frozenset({"eq", "contains", "starts_with", "ends_with", "regex", "in"}),
    "list": frozenset({"eq", "contains", "starts_with", "ends_with", "regex", "in"}),
    "number": frozenset({"eq", "gt", "gte", "lt", "lte", "in"}),
    "flag": frozenset({"eq"}),
    "time": frozenset({"gt", "gte", "lt", "lte"}),
}


_IN_WORDS = {
    "text": "a text",
    "list": "a list of names",
    "number": "a number",
    "flag": "true or false",
    "time": "a time",
}


class Field(NamedTuple):
    """A field one can filter by."""

    name: str
    kind: Literal["text", "list", "number", "flag", "time"]
    of: Literal["file", "lines"]  # of the whole file, or of the lines that are shown
    help: str
    expression: str = ""  # over the tables of the catalogue, where it is more than a column of this name

    @property
    def column(self) -> str:
        """Its value in SQL; d is an alias of the table documents, c of chunks."""
        return self.expression or f"{'d' if self.of == 'file' else 'c'}.{self.name}"


FIELDS: Mapping[str, Field] = {
    field.name: field
    for field in (
        Field("path", "text", "file", "path from the project's root, such as `src/net/client.py`"),
        Field("dir", "text", "file", "its folder, such as `src/net`; missing for a file in the root"),
        Field("name", "text", "file", "name of the file, such as `client.py`"),
        Field("ext", "text", "file", "its ending, such as `.py`; `ext = py` means the same"),
        Field("language", "text", "file", "`python`, `typescript`, `cpp`, `csharp`, …"),
        Field("module", "text", "file", "first folder of the path"),
        Field("sub_module", "text", "file", "second folder of the path"),
        Field("size", "number", "file", "bytes on disk"),
        Field(
            "modified",
            "time",
            "file",
            "time of its last change on this disk; compare it with `2026-11-01` or `2026-11-01T18:00+01:00`",
            "CASE WHEN d.mtime_ns >= 0 THEN d.mtime_ns END",
        ),
        Field("is_test", "flag", "file", "true if its path is that of a test", "d.path"),
        Field("kind", "text", "lines", "`function`, `method`, `class`, `section`, `block`, …"),
        Field("symbol", "text", "lines", "qualified name of the symbol they lie in, such as `Client.send`"),
        Field("names", "list", "lines", "qualified names of the symbols that begin in them"),
        Field("start_line", "number", "lines", "number of the first line"),
        Field("end_line", "number", "lines", "number of the last line"),
        Field("lines", "number", "lines", "number of lines", "(c.end_line - c.start_line + 1)"),
        Field("text", "text", "lines", "the lines themselves", "TEXT_OF(c.packed)"),
    )
}

# What a question to a fleet may say of a repository: a fleet makes it a condition on repositories before it is read.
FORK, BRANCH = "fork", "branch"
_ONLY_IN_FLEETS: Mapping[str, str] = {
    FORK: "which repositories are forks",
    BRANCH: "the branches of its repositories",
}

_OF_CHUNKS = ("path", "language", "kind", "symbol", "names", "start_line", "end_line", "text")

OTHER_NAMES: Mapping[str, str] = {
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


def matches(where: Where, record: Mapping[str, object]) -> bool:
    """Return True if a record of field names and values fulfils the condition."""
    return _holds(normalise(where), record)


class FileNumbers(Protocol):
    """What is known of a file without reading it."""

    @property
    def size(self) -> int:
        """In bytes."""
        ...

    @property
    def mtime_ns(self) -> int:
        """Its time stamp; negative: not known."""
        ...


def record_of(chunk: Chunk, file: FileNumbers) -> dict[str, object]:
    """Return the values of all fields for a place in a file."""
    return {**{name: getattr(chunk, name) for name in _OF_CHUNKS}, **file_record(chunk.path, file)}


def file_record(path: str, file: FileNumbers) -> dict[str, object]:
    """Return the values of the fields that are known of a file without reading it."""
    modified = file.mtime_ns if file.mtime_ns >= 0 else None
    return {**path_fields(path), "path": path, "size": file.size, "modified": modified}


def path_fields(path: str) -> dict[str, str]:
    """Return the fields that a path alone decides."""
    folder, _, name = path.rpartition("/")
    dot = name.rfind(".")
    module, sub_module, *_ = [*folder.split("/"), "", ""]
    ext = name[dot:].lower() if dot > 0 else ""
    return {"dir": folder, "name": name, "ext": ext, "module": module, "sub_module": sub_module}


def mentions(where: Where, field: str) -> bool:
    """Return True if a condition asks about a field, under any of its names."""
    if isinstance(where, Filter):
        return field_named(where.field).name == field
    return any(mentions(item, field) for item in where.filters)


def combine(*wheres: Where | None) -> Where | None:
    """Return one condition that holds when all of these hold; None when there is none."""
    conditions = tuple(where for where in wheres if where is not None)
    return conditions[0] if len(conditions) == 1 else FilterGroup("AND", conditions) if conditions else None


# ---- names and values


def normalise(where: Where) -> Where:
    """Return the condition with its fields, operators and values in their one form, or raise UsageError."""
    n_conditions = _n_conditions(where)
    if n_conditions > MAX_CONDITIONS:
        raise UsageError(
            f"the filter has {n_conditions:,} conditions, at most {MAX_CONDITIONS} are allowed",
            hint="join values with `in (a, b, …)`",
        )
    return _normal(where, 0)


def field_named(name: str) -> Field:
    """Return the field with this name, in camelCase or snake_case, or raise UsageError."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).lower().replace("-", "_")
    field = FIELDS.get(OTHER_NAMES.get(snake, snake))
    if snake in _ONLY_IN_FLEETS:
        raise UsageError(
            f"only a fleet knows {_ONLY_IN_FLEETS[snake]}",
            hint=f'leave out {snake}:, or write "{snake}:…" in quotes to search for these words; in a fleet {snake}: '
            "is a part of the question, not of a filter",
        )
    if field is None:
        raise UsageError(f"no field is called {name!r}", hint=f"known fields: {', '.join(FIELDS)}")
    return field


def operator_named(name: str) -> str:
    """Return the operator with this name, in camelCase or snake_case, or raise UsageError."""
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).lower()
    if snake.removesuffix(_CASED) not in OPERATORS:
        hint = f"known operators: {', '.join(OPERATORS)}; with the ending {_CASED} where case matters"
        raise UsageError(f"no operator is called {name!r}", hint=hint)
    return snake


def _n_conditions(where: Where) -> int:
    """Count the conditions without recursion, so that a filter of any depth gets a proper error."""
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
        raise UsageError(
            f"the filter has more than {MAX_DEPTH} groups inside one another",
            hint="use fewer brackets, or fewer groups",
        )
    operator = str(where.operator).upper()
    if operator not in ("AND", "OR", "NOT"):
        raise UsageError(f"{where.operator!r} cannot join filters", hint="use AND, OR or NOT")
    inner = tuple(_normal(item, depth + 1) for item in where.filters)
    return FilterGroup(operator, inner)  # type: ignore[arg-type]  # one of the three, see above


def _normal_filter(item: Filter) -> Filter:
    field = field_named(item.field)
    operator = operator_named(item.operator)
    base = operator.removesuffix(_CASED)
    positive = _POSITIVE.get(base, base)
    if positive not in _OPERATORS_OF[field.kind] or (base != operator and field.kind in ("number", "flag", "time")):
        usable = [name for name in OPERATORS if _POSITIVE.get(name, name) in _OPERATORS_OF[field.kind]]
        raise UsageError(
            f"{field.name} is {_IN_WORDS[field.kind]}: {operator} does not apply to it", hint=_one_of(usable)
        )
    if positive == "in":
        values = item.value if isinstance(item.value, tuple) else (item.value,)
        return Filter(field.name, operator, tuple(_whole_value(field, value) for value in values))
    if isinstance(item.value, tuple):
        raise UsageError(
            f"{field.name} {operator} takes one value, not {len(item.value)}",
            hint="use in or not_in for several values",
        )
    value = _whole_value(field, item.value) if positive == "eq" else _value(field, item.value)
    if positive == "regex":
        check(str(value))
    return Filter(field.name, operator, value)


def _one_of(names: Sequence[str]) -> str:
    return f"use one of {', '.join(names)}"


def _whole_value(field: Field, value: Scalar) -> Scalar:
    """Return a value with the dot of an ending: `ext = py` means `.py`."""
    text = _value(field, value)
    return f".{text}" if field.name == "ext" and text and not str(text).startswith(".") else text


def _value(field: Field, value: Scalar) -> Scalar:
    if field.kind == "number":
        return _number(field, value)
    if field.kind == "flag":
        return flag_named(field.name, value)
    if field.kind == "time":
        return _time(value)
    text = str(value)
    if not is_text(text):
        raise UsageError(f"{field.name} cannot be {text!r}: it is not valid UTF-8", hint="give the value as UTF-8 text")
    return text


def _number(field: Field, value: Scalar) -> Scalar:
    try:
        number = value if not isinstance(value, str) else int(value) if value.strip("+-").isdigit() else float(value)
    except ValueError:  # of too many digits too
        number = float("nan")
    if not -(2**63) <= number < 2**63:  # false for "not a number" too
        raise UsageError(
            f"{field.name} must be a number, not {value!r}", hint="write digits, such as 20; the largest is 2^63 - 1"
        )
    return number


def flag_named(name: str, value: Scalar) -> int:
    """Return 1 or 0 for the value of a field that is true or false. Raises UsageError for another one."""
    word = str(value).lower()
    if word not in ("true", "yes", "1", "false", "no", "0"):
        raise UsageError(f"{name} must be true or false, not {value!r}", hint=f"write {name} = true")
    return int(word in ("true", "yes", "1"))


_LATEST = 2**63 - 1  # in nanoseconds since 1970: no stamp in an index is later, and SQLite takes none


class Nanoseconds(int):
    """A time that was read, in nanoseconds since 1970; any other number is not taken for a time."""


def _time(value: Scalar) -> Nanoseconds:
    if isinstance(value, Nanoseconds):
        return value
    try:
        moment = datetime.fromisoformat(str(value).strip())
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        hint = "write a date, such as 2026-11-01, or a time, such as 2026-11-01T18:00+01:00"
        raise UsageError(f"{str(value)[:80]!r} is not a date or a time", hint=hint) from error
    return Nanoseconds(min(max(since // timedelta(microseconds=1) * 1_000, -_LATEST), _LATEST))


# ---- one condition, taken apart


class Predicate(NamedTuple):
    """A normalised condition without its negation."""

    field: Field
    operator: str  # a positive one
    value: Scalar | tuple[Scalar, ...]
    negated: bool
    cased: bool


def predicate_of(item: Filter) -> Predicate:
    """Return a normalised condition as a positive operator, its value as it is compared, and the negation."""
    base = item.operator.removesuffix(_CASED)
    positive = _POSITIVE.get(base, base)
    cased = base != item.operator
    value = item.value
    if not cased and positive != "regex" and FIELDS[item.field].kind in ("text", "list"):
        value = tuple(_fold(str(one)) for one in value) if isinstance(value, tuple) else _fold(str(value))
    return Predicate(FIELDS[item.field], positive, value, positive != base, cased)


_FOLDED = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _fold(text: str) -> str:
    """Lower A to Z only, as SQLite's lower() does."""
    return text.translate(_FOLDED)


def expression_of(predicate: Predicate) -> str:
    """Return the regular expression with the flags that case and lists ask for."""
    return (
        ("" if predicate.cased else "(?i)") + ("(?m)" if predicate.field.kind == "list" else "") + str(predicate.value)
    )


# ---- in Python


def _holds(where: Where, record: Mapping[str, object]) -> bool:
    if isinstance(where, Filter):
        predicate = predicate_of(where)
        value = _value_of(record, predicate.field)
        return (value not in (None, "") and _passes(predicate, value)) != predicate.negated
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


def _passes(predicate: Predicate, value: object) -> bool:
    if predicate.field.kind == "flag":
        return is_test(str(value)) == bool(predicate.value)
    if predicate.field.kind in ("number", "time"):
        return isinstance(value, (int, float)) and _compares(predicate, value)
    if predicate.operator == "regex":
        return is_match(expression_of(predicate), value)
    text = str(value) if predicate.cased else _fold(str(value))
    values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
    compare = _in_list if predicate.field.kind == "list" else _in_text
    return any(compare(predicate.operator, text, str(one)) for one in values)


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


def _compares(predicate: Predicate, number: float) -> bool:
    if isinstance(predicate.value, tuple):
        return number in predicate.value
    return bool(_COMPARES[predicate.operator](number, predicate.value))
