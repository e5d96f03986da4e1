"""Arguments of the tools, checked; also under the names that other tools of this kind use. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from codefathom.compat.argument_names import TOOL_ARGUMENTS
from codefathom.errors import UsageError
from codefathom.mcp.tool_list import LEAST_TOKENS, MOST_TOKENS, TOKENS, tool_named
from codefathom.question.question import KINDS, Kind
from codefathom.question.question_options import OfTool, QuestionOption, of_tool
from codefathom.search.filter.filter_options import as_spelled, folder_of, is_glob, one_of
from codefathom.text.printable import is_text
from codefathom.types import Filter, FilterGroup, Where

_T = TypeVar("_T")

_CURSOR = re.compile(r"(?P<offset>[0-9]{1,7})(\.(?P<generation>[0-9]{1,15}))?")
_CHANGED = "The index has changed since this cursor was given: places may be missing here, or come twice."
_MOST_VALUES = 100  # of one list


def named(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by our own names. Raises UsageError for one that this tool does not take."""
    spec = tool_named(tool)
    assert spec is not None  # whoever calls has compared the name with the list
    listed = spec["inputSchema"]["properties"]
    # The whole table of options is understood; the list of tools has room for a part of it.
    of_table = (argument.name for kind in KINDS if kind == tool for _, argument in of_tool(kind))
    allowed = tuple(dict.fromkeys((*listed, *of_table)))
    named: dict[str, Any] = {}
    glob = arguments.get("glob") if "paths" in allowed and "glob" not in allowed else None
    for name, value in arguments.items():
        if name == "glob" and glob is value:
            continue
        own = own_argument(tool, name)
        if own not in allowed:
            raise UsageError(f"{tool} has no argument {name[:80]!r}", hint=f"it takes {', '.join(allowed)}")
        named[own] = value
    return named if glob is None else {**named, "paths": _inside(texts(named, "paths"), texts({"glob": glob}, "glob"))}


def own_argument(tool: str, name: str) -> str:
    """Return our name of an argument; any other as it is, in snake_case."""
    snake = re.sub(r"(?<=[a-z])[A-Z]", lambda capital: f"_{capital[0].lower()}", name)
    return TOOL_ARGUMENTS.get(tool, {}).get(snake, snake)


def _inside(paths: Sequence[str], globs: Sequence[str]) -> list[str]:
    """Return the patterns for what fits one of the globs inside of one of the paths."""
    if not paths:
        return list(globs)
    return [f"{path.rstrip('/')}/{'' if '/' in glob else '**/'}{glob.lstrip('/')}" for path in paths for glob in globs]


def most_tokens(arguments: Mapping[str, Any]) -> int:
    """Return the number of tokens that an answer may have. Raises UsageError."""
    return number(arguments, "max_tokens", TOKENS["default"], LEAST_TOKENS, MOST_TOKENS)


class Cursor(NamedTuple):
    """The place at which a page of a list begins."""

    offset: int = 0
    generation: int | None = None  # of the index that gave it; None where it does not say

    def note(self, generation: int) -> str:
        """Return a sentence if the index is another one now, "" else."""
        return _CHANGED if self.generation not in (None, generation) else ""


def cursor_of(arguments: Mapping[str, Any]) -> Cursor:
    """Return the place at which a page begins. Raises UsageError for what no answer has given."""
    value = arguments.get("cursor") or 0
    match = _CURSOR.fullmatch(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if match is None:
        raise UsageError(f"cursor cannot be {str(value)[:80]!r}", hint="give `next` of the answer before, or no cursor")
    return Cursor(int(match["offset"]), int(match["generation"]) if match["generation"] else None)


def option_values(kind: Kind, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the options that a tool takes, by the names of the table. Raises UsageError."""
    return {option.name: _value(option, argument, arguments) for option, argument in of_tool(kind)}


def _value(option: QuestionOption, argument: OfTool, arguments: Mapping[str, Any]) -> Any:
    if argument.words is not None:
        return choice(arguments, argument.name, argument.usual, argument.words)
    if option.form == "count":
        return number(arguments, argument.name, argument.usual, option.least, argument.most)
    if option.form == "switch":
        return switch(arguments, argument.name)
    if option.form == "share":
        return share(arguments, argument.name)
    if option.form == "text":
        return text_of(arguments, argument.name) if arguments.get(argument.name) else ""
    return texts(arguments, argument.name)


def where_of(paths: Sequence[str]) -> Where | None:
    """Return the condition that a search is kept to: any of the paths."""
    inside_each = [_in_path(path) for path in paths]
    some = [one for one in inside_each if one is not None]
    # One that is the whole project takes the place of all others.
    return FilterGroup("OR", tuple(some)) if len(some) == len(inside_each) and some else None


def _in_path(path: str) -> Where | None:
    if is_glob(path):
        return one_of("path", (path,))
    folder = one_of("dir", (path,))
    return folder and FilterGroup("OR", (folder, as_spelled(Filter("path", "eq", folder_of(path)))))


def texts(arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a list of texts; a single text is a list of one."""
    value = arguments.get(name) or ()
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or len(texts) > _MOST_VALUES or not all(isinstance(x, str) for x in texts):
        raise UsageError(f"{name} is not a list of texts", hint=f"give at most {_MOST_VALUES} texts in a list")
    return tuple(texts)


def choice(arguments: Mapping[str, Any], name: str, usual: str, choices: Mapping[str, _T]) -> _T:
    """Return the value of a word. Raises UsageError for one that is no choice."""
    value = arguments.get(name) or usual
    if not isinstance(value, str) or value not in choices:
        raise UsageError(
            f"{name} cannot be {str(value)[:80]!r}", hint=f"choose one of {', '.join(filter(None, choices))}"
        )
    return choices[value]


def switch(arguments: Mapping[str, Any], name: str) -> bool:
    """Return a value that is true or false. Raises UsageError."""
    value = arguments.get(name, False)
    if not isinstance(value, bool):
        raise UsageError(f"{name} cannot be {str(value)[:80]!r}", hint="give true or false")
    return value


def share(arguments: Mapping[str, Any], name: str) -> float:
    """Return a number from 0 to 1. Raises UsageError."""
    value = arguments.get(name, 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UsageError(f"{name} cannot be {str(value)[:80]!r}", hint="give a number from 0 to 1")
    return float(value)


def text_of(arguments: Mapping[str, Any], name: str, most_chars: int | None = None) -> str:
    """Return a text that is not empty, nor longer than a tool can take. Raises UsageError."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip() or not is_text(value):
        raise UsageError(f"{name} is missing or is not a text", hint=f"give {name} as a text")
    if most_chars is not None and len(value) > most_chars:
        raise UsageError(f"{name} has {len(value)} characters, and {most_chars} are the most", hint="give it in parts")
    return value


def number(arguments: Mapping[str, Any], name: str, usual: int, least: int, most: int) -> int:
    """Return a whole number within bounds. Raises UsageError."""
    value = arguments.get(name, usual)
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 9 else value
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise UsageError(f"{name} cannot be {str(value)[:80]!r}", hint=f"give a whole number from {least} to {most}")
    return number
