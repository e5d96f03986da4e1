"""`language = python and not path contains "test"` → a condition. Pure.

expression = and-terms joined by "or";   and-term = terms joined by "and"
term       = "not" term | "(" expression ")" | flag | field operator value
value      = word | "quoted", in which only \\" is special, or for in and not_in a list (a, b, "c d")
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from codefathom.errors import UsageError
from codefathom.search.filter.filter_options import as_spelled
from codefathom.stores.conditions import MAX_DEPTH, field_named, normalise, operator_named
from codefathom.text.foreign_json import read_json
from codefathom.types import Filter, FilterGroup, Where

_SIGNS = {
    "=": "eq",
    "==": "eq",
    "!=": "ne",
    ">": "gt",
    ">=": "gte",
    "<": "lt",
    "<=": "lte",
    "~": "regex",
    "is": "eq",
    "matches": "regex",
}
_TWO_WORDS = {
    ("not", "contains"): "not_contains",
    ("not", "in"): "not_in",
    ("is", "not"): "ne",
    ("starts", "with"): "starts_with",
    ("ends", "with"): "ends_with",
}
# A sign is not part of a word, but a path may hold any other character.
_TOKEN = re.compile(
    r"""\s+|(?P<sign>!=|!~|==|>=|<=|[=<>~(),\[\]])|(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<word>[^\s(),=<>~"'!\[\]]+)""",
    re.DOTALL,
)


_DEEP = 50  # brackets or groups inside one another; `normalise` allows fewer, with whatever syntax they came
_EXAMPLE = 'write for example: language = python and not path contains "test"'


class _Token(NamedTuple):
    kind: Literal["sign", "quoted", "word", "end"]
    text: str
    column: int  # 1-based

    @property
    def keyword(self) -> str:
        return self.text.lower() if self.kind == "word" else ""


def parse_filter(text: str) -> Where:
    """Return the condition of an expression or its JSON form. UsageError names the mistake and its place."""
    if text.lstrip().startswith(("{", "[")):
        return _from_json_text(text)
    reader = _Reader(text)
    if reader.ended:
        raise UsageError("the filter is empty", hint=_EXAMPLE)
    where = reader.expression(0)
    if not reader.ended:
        raise reader.surprise("`and`, `or` or the end of the filter")
    return normalise(where)


def filter_of(value: object, place: str = "filter") -> Where:
    """Return the condition that a JSON value means: {field, operator, value} or {operator, filters}, nested."""
    if not isinstance(value, Mapping):
        raise UsageError(f"{place} must be an object with field, operator and value, not {value!r}", hint=_JSON_HINT)
    if "filters" in value:
        return _group_of(value, place)
    unknown = set(value) - {"field", "operator", "value", "caseSensitive", "case_sensitive"}
    missing = {"field", "operator", "value"} - set(value)
    if unknown or missing:
        problem = f"{place}.{min(unknown)} is unknown" if unknown else f"{place}.{min(missing)} is missing"
        raise UsageError(problem, hint=_JSON_HINT)
    cased = value.get("caseSensitive", value.get("case_sensitive", False)) is True
    item = Filter(str(value["field"]), str(value["operator"]), _scalars(value["value"], f"{place}.value"))
    try:
        operator = operator_named(item.operator)
        ending = "_cased" if cased and not operator.endswith("_cased") else ""
        return _spelled(normalise(Filter(item.field, operator + ending, item.value)))
    except UsageError as error:
        raise UsageError(f"{error} (at {place})", hint=error.hint) from error


def _spelled(where: Where) -> Where:
    return as_spelled(where) if isinstance(where, Filter) else where


_FLATTER = f"use at most {MAX_DEPTH} of them inside one another"
_JSON_HINT = (
    'write for example: {"field": "language", "operator": "eq", "value": "python"} '
    'or {"operator": "AND", "filters": [...]}'
)


def _from_json_text(text: str) -> Where:
    try:
        value = read_json(text)
    except ValueError as error:
        problem = f'the filter starts with "{text.lstrip()[0]}" but is not valid JSON: {error}'
        raise UsageError(problem, hint=_JSON_HINT) from error
    return normalise(filter_of(value))


def _group_of(value: Mapping[str, object], place: str) -> Where:
    filters = value["filters"]
    operator = str(value.get("operator", "AND")).upper()
    if operator not in ("AND", "OR", "NOT"):
        raise UsageError(f"{operator!r} cannot join filters (at {place}.operator)", hint="use AND, OR or NOT")
    if not isinstance(filters, (list, tuple)):
        raise UsageError(f"{place}.filters must be a list, not {filters!r}", hint=_JSON_HINT)
    if place.count("[") > _DEEP:
        raise UsageError(f"the filter has more than {_DEEP} groups inside one another", hint=_FLATTER)
    inner = tuple(filter_of(item, f"{place}.filters[{index}]") for index, item in enumerate(filters))
    return FilterGroup(operator, inner)  # type: ignore[arg-type]  # one of the three, see above


def _scalars(value: object, place: str) -> str | int | float | tuple[str | int | float, ...]:
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, list) and all(isinstance(one, (str, int, float)) for one in value):
        return tuple(value)
    raise UsageError(f"{place} must be a text, a number or a list of them, not {value!r}", hint=_JSON_HINT)


class _Reader:
    """The tokens of one expression and how far they are read."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._next = 0

    @property
    def now(self) -> _Token:
        return self._tokens[self._next]

    @property
    def ended(self) -> bool:
        return self.now.kind == "end"

    def take(self) -> _Token:
        token = self.now
        self._next += token.kind != "end"
        return token

    def surprise(self, expected: str) -> UsageError:
        token = self.now
        if token.kind == "end":
            return UsageError(f"the filter ends at column {token.column}, before {expected}", hint=_EXAMPLE)
        return UsageError(f"{token.text!r} at column {token.column} of the filter is not {expected}", hint=_EXAMPLE)

    def expression(self, depth: int) -> Where:
        if depth > _DEEP:
            problem = f"the filter has more than {_DEEP} brackets inside one another at column {self.now.column}"
            raise UsageError(problem, hint=_FLATTER)
        terms = [self._and_term(depth)]
        while self.now.keyword == "or":
            self.take()
            terms.append(self._and_term(depth))
        return terms[0] if len(terms) == 1 else FilterGroup("OR", tuple(terms))

    def _and_term(self, depth: int) -> Where:
        terms = [self._term(depth)]
        while self.now.keyword == "and":
            self.take()
            terms.append(self._term(depth))
        return terms[0] if len(terms) == 1 else FilterGroup("AND", tuple(terms))

    def _term(self, depth: int) -> Where:
        negations = 0
        while self.now.keyword == "not":
            self.take()
            negations += 1
        if self.now.text == "(" and self.now.kind == "sign":
            self.take()
            where = self.expression(depth + 1)
            self._expect(")")
        else:
            where = self._condition()
        return FilterGroup("NOT", (where,)) if negations % 2 else where

    def _condition(self) -> Where:
        token = self.now
        if token.kind != "word":
            raise self.surprise("a field")
        try:
            field = field_named(token.text)
            self.take()
            if field.kind == "flag" and (self.now.kind == "end" or self.now.text in ("and", "or", ")")):
                return Filter(field.name, "eq", 1)
            where = self._comparison(field.name)
        except UsageError as error:
            place = "" if " at column " in str(error) else f" (at column {token.column} of the filter)"
            raise UsageError(f"{error}{place}", hint=error.hint) from error
        return where

    def _comparison(self, field: str) -> Where:
        """Read an operator and its value; `!~` and `not matches` have no operator of their own."""
        negated, operator = self._operator()
        values = self._values() if operator.removesuffix("_cased") in ("in", "not_in") else self._value()
        where = _spelled(normalise(Filter(field, operator, values)))
        return FilterGroup("NOT", (where,)) if negated else where

    def _operator(self) -> tuple[bool, str]:
        first = self.take()
        word = first.text.lower()
        pair = (word, self.now.keyword.removesuffix("_cased"))
        if first.kind == "word" and pair in _TWO_WORDS:
            ending = "_cased" if self.take().keyword.endswith("_cased") else ""
            return False, _TWO_WORDS[pair] + ending
        negated = first.text == "!~" or word == "not"
        if word == "not":
            word = self.take().text.lower()
        if first.kind in ("end", "quoted") or word in ("(", ")", ",", "[", "]", ""):
            self._next = self._tokens.index(first)
            raise self.surprise("an operator")
        return negated, operator_named(_SIGNS.get(word.lstrip("!") if word == "!~" else word, word))

    def _value(self) -> str:
        if self.now.kind not in ("word", "quoted"):
            raise self.surprise("a value (in quotes when it holds signs or spaces)")
        token = self.take()
        return _unquoted(token.text) if token.kind == "quoted" else token.text

    def _values(self) -> tuple[str, ...]:
        if self.now.text not in ("(", "["):
            return (self._value(),)
        closing = ")" if self.take().text == "(" else "]"
        values: list[str] = []
        while self.now.text != closing:
            values.append(self._value())
            if self.now.text != closing:
                self._expect(",")
        self._expect(closing)
        return tuple(values)

    def _expect(self, sign: str) -> None:
        if self.now.kind != "sign" or self.now.text != sign:
            raise self.surprise(f"`{sign}`")
        self.take()


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    index = 0
    while index < len(text):
        match = _TOKEN.match(text, index)
        if match is None:
            raise _unreadable(text[index], index + 1)
        if match["sign"] is not None:
            tokens.append(_Token("sign", match["sign"], index + 1))
        elif not match[0].isspace():
            tokens.append(_Token("quoted" if match["quoted"] is not None else "word", match[0], index + 1))
        index = match.end()
    return [*tokens, _Token("end", "", len(text) + 1)]


def _unreadable(char: str, column: int) -> UsageError:
    """Return the error for a character that begins no sign, word or quoted text."""
    if char == "!":
        return UsageError(f"'!' at column {column} of the filter is not an operator", hint="use != or !~, or `not`")
    hint = f"write another {char} at the end of the value, and a backslash before each {char} inside it"
    return UsageError(f"the quote {char!r} at column {column} of the filter is not closed", hint=hint)


def _unquoted(text: str) -> str:
    """Take the quotes off; a backslash stays, except before the quote, so that regular expressions need no doubling."""
    return text[1:-1].replace("\\" + text[0], text[0])
