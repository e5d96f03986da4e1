"""Help texts, made from the same tables as the parser, so that they are alike on every Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap

from codefathom.cli.aliases import LEGACY_OPTIONS
from codefathom.cli.options import COMMANDS, COMMON_OPTIONS, Command, Option
from codefathom.config.settings import declared_settings

WIDTH = 100
_LEAST_WIDTH = 60
_COLUMN = 30

_OVERVIEW = """\
fathom: ask questions about a code base, and get answers that you can check line by line.

usage: fathom COMMAND [options]

commands:
"""
_OVERVIEW_END = """
`fathom COMMAND --help` explains a command. The first search in a project makes its index.
exit codes: 0: results found, 1: nothing found, 2: error, 130: interrupted.

also accepted without a command, for existing scripts:
"""


def overview(width: int = WIDTH) -> str:
    """Return the text of `fathom --help`."""
    commands = "".join(f"  {command.name:<10} {command.summary}\n" for command in COMMANDS)
    return _OVERVIEW + commands + _OVERVIEW_END + "".join(f"{row}\n" for row in _rows(LEGACY_OPTIONS[1:], width))


def command_help(name: str, width: int = WIDTH) -> str:
    """Return the text of `fathom NAME --help`."""
    command = next(command for command in COMMANDS if command.name == name)
    lines = [f"fathom {name}: {command.summary}", "", f"usage: {usage(command)}", ""]
    if command.operands:
        lines += [*_rows(command.operands, width, command), ""]
    if command.options:
        lines += ["options:", *_rows(command.options, width, command), ""]
    lines += ["options of every command:", *_rows(COMMON_OPTIONS, width)]
    if command.examples:
        lines += ["", "examples:", *(f"  {example}" for example in command.examples)]
    return "\n".join(lines) + "\n"


def usage(command: Command) -> str:
    """Return the command line of a command in short form, with brackets around an operand that may be left out."""
    operands = [operand.metavar if operand.required else f"[{operand.metavar}]" for operand in command.operands]
    required = [spelling(option) for option in command.options if option.required]
    return " ".join(["fathom", command.name, *operands, *required, "[options]"])


def spelling(option: Option) -> str:
    """Return an option as it is written, with its value."""
    names = ", ".join(option.names) if option.names[0].startswith("-") else option.metavar
    return f"{names} {option.metavar}" if option.metavar and option.names[0].startswith("-") else names


def explanation(option: Option, command: Command | None = None) -> str:
    """Return the help of an option, and in brackets its choices, its default, and if it may be repeated."""
    is_operand = not option.names[0].startswith("-")
    notes = []
    if len(option.choices) > 1 and not all(choice in option.help for choice in option.choices):
        notes.append(f"one of {', '.join(option.choices)}")
    if default := _default(option, command):
        notes.append(f"default: {default}")
    if option.required and not is_operand:
        notes.append("required")
    if option.repeat and not is_operand:
        notes.append("repeatable")
    return f"{option.help} ({'; '.join(notes)})" if notes else option.help


def _default(option: Option, command: Command | None) -> str:
    """Return the default of an option as text, "" for a switch and where there is none."""
    if not option.metavar:
        return ""
    if option.default:
        return option.default
    if option.setting:
        value = next(setting.default for setting in declared_settings() if setting.key == option.setting)
    else:
        value = command.options_type._field_defaults.get(option.destination) if command else None
    return f"{value:g}" if isinstance(value, float) else str(value or "") if not isinstance(value, int) else str(value)


def _rows(options: Iterable[Option], width: int, command: Command | None = None) -> Iterator[str]:
    for option in options:
        left = f"  {spelling(option)}"
        right = wrap(explanation(option, command), max(width, _LEAST_WIDTH) - _COLUMN)
        if len(left) >= _COLUMN:
            yield left
            left = ""
        yield f"{left:<{_COLUMN}}{right[0]}"
        yield from (" " * _COLUMN + line for line in right[1:])
