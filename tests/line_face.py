"""A face in a few lines: words of a line → a question, the events of its answer → lines of JSON. For tests.

`search limit=3 mode=regex price_of` is a question; options are the fields of `Question`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_args

from codefathom.errors import FathomError, UsageError
from codefathom.question.asker import Asker
from codefathom.question.question import Kind, Question
from codefathom.search.filter.filter_parser import parse_filter

FIELDS = {field.name: field for field in fields(Question)}


def answered(line: str, asker: Asker) -> Iterator[str]:
    """Yield a line of JSON for each event of the answer to a line; an error is one, too."""
    try:
        for event in asker.answer(question_of(line)):
            yield json.dumps({type(event).__name__: plain(event)}, ensure_ascii=False)
    except FathomError as error:
        yield json.dumps({"error": str(error), "hint": error.hint}, ensure_ascii=False)


def question_of(line: str) -> Question:
    kind, *words = shlex.split(line) or [""]
    if kind not in get_args(Kind):
        raise UsageError(f"unknown kind of question: {kind!r}", hint=f"begin with one of {', '.join(get_args(Kind))}")
    pairs = [word.partition("=") for word in words]
    options = {name: value_of(name, value) for name, sign, value in pairs if sign and name in FIELDS}
    text = " ".join(word for word, pair in zip(words, pairs, strict=True) if not (pair[1] and pair[0] in FIELDS))
    return Question(text, **{"kind": kind, **options})


def value_of(name: str, value: str) -> Any:
    declared = str(FIELDS[name].type)
    if name == "where":
        return parse_filter(value)
    if declared.startswith("tuple[str, ...]"):
        return tuple(value.split(","))
    try:
        if declared.startswith("int"):
            return int(value)
        if declared.startswith("float"):
            return float(value)
    except ValueError:
        raise UsageError(f"{name} cannot be {value!r}", hint="give a number") from None
    return value == "true" if declared == "bool" else value


def plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(name): plain(item) for name, item in value.items()}
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
