"""Help texts, made from the same tables as the parser, so that they are alike on every Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap

from codefathom.cli.aliases import LEGACY_OPTIONS
from codefathom.cli.options import COMMANDS, COMMON_OPTIONS, Command, Option

WIDTH = 100
_LEAST_WIDTH = 60
_COLUMN = 30

_OVERVIEW = """\
fathom: ask a code base questions, get answers you can check line by line.

usage: fathom COMMAND [options]

commands:
"""
_OVERVIEW_END = """
`fathom COMMAND --help` explains a command. The first search in a project makes its index.
exit codes: 0 found, 1 nothing found, 2 error, 130 interrupted.

also accepted, for scripts:
"""


def overview(width: int = WIDTH) -> str:
    """Return what `fathom --help` prints."""
    commands = "".join(f"  {command.name:<10} {command.summary}\n" for command in COMMANDS)
    return _OVERVIEW + commands + _OVERVIEW_END + "".join(f"{row}\n" for row in _rows(LEGACY_OPTIONS[1:], width))


def command_help(name: str, width: int = WIDTH) -> str:
    """Return what `fathom NAME --help` prints."""
    command = next(command for command in COMMANDS if command.name == name)
    lines = [f"fathom {name}: {command.summary}", "", f"usage: {usage(command)}", ""]
    if command.operands:
        lines += [*_rows(command.operands, width), ""]
    if command.options:
        lines += ["options:", *_rows(command.options, width), ""]
    lines += ["every command:", *_rows(COMMON_OPTIONS, width)]
    if command.examples:
        lines += ["", "examples:", *(f"  {example}" for example in command.examples)]
    return "\n".join(lines) + "\n"


def usage(command: Command) -> str:
    """Return the command line of a command in short form."""
    return " ".join(["fathom", command.name, *(operand.metavar for operand in command.operands), "[options]"])


def spelling(option: Option) -> str:
    """Return an option as it is written, with its value."""
    names = ", ".join(option.names) if option.names[0].startswith("-") else option.metavar
    return f"{names} {option.metavar}" if option.metavar and option.names[0].startswith("-") else names


def explanation(option: Option) -> str:
    """Return what an option does, which values it takes and how often."""
    text = option.help
    if option.choices and len(option.choices) > 1:
        text += f": {', '.join(option.choices)}"
    if option.repeat and option.names[0].startswith("-"):
        text += " (may be repeated)"
    return text


def _rows(options: Iterable[Option], width: int) -> Iterator[str]:
    for option in options:
        left = f"  {spelling(option)}"
        right = wrap(explanation(option), max(width, _LEAST_WIDTH) - _COLUMN)
        if len(left) >= _COLUMN:
            yield left
            left = ""
        yield f"{left:<{_COLUMN}}{right[0]}"
        yield from (" " * _COLUMN + line for line in right[1:])
