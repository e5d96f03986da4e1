"""Help texts, made from the same tables as the parser, so that they are alike on every Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from codefathom.cli.aliases import COMPAT_TOPIC, LEGACY_OPTIONS
from codefathom.cli.options import COMMANDS, COMMON_OPTIONS, Command, Option
from codefathom.compat.argument_names import REQUEST_KEYS, TOOL_ARGUMENTS, TOOL_NAMES
from codefathom.compat.script_options import COMMAND_OPTIONS
from codefathom.compat.setting_names import SETTING_NAMES
from codefathom.compat.vector_index import TABLE, VECTOR_INDEX_SETTINGS
from codefathom.config.settings import declared_settings

WIDTH = 100
_LEAST_WIDTH = 60
_COLUMN = 30
_WIDE_COLUMN = 42  # of whole lines to type
_GROUP_COLUMN = 14  # of names of commands

# The commands to begin with, each as a line that a person can type.
FIRST = (
    "search where are orders priced",
    "ask how do customers sign in",
    "symbols parse",
    "related src/app.py",
    "impact main...HEAD",
    "map",
    "context retry with backoff",
    "status",
    "serve",
    "install",
)
# All other commands, by what they are about.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "more questions": ("history", "chat", "files"),
    "the index": ("index", "export", "import", "backup", "restore", "store"),
    "projects and settings": ("projects", "fleet", "config", "tokens"),
    "agents, editors": ("mcp", "lsp", "uninstall", "bench"),
    "fathom itself": ("doctor", "completion", "version", "help"),
}
_OVERVIEW = """\
fathom: ask a code base questions; you can check each answer line by line.

usage: fathom COMMAND [options]

{first}
Without options:
  - fathom uses the project around the current folder
  - the first question makes the index, and later questions update it
  - a search prints the best {limit} results
  - nothing is downloaded, and nothing leaves this machine,
    unless your settings name a model or a store on another one
  - results are printed as text; --json prints JSON

{groups}
`fathom COMMAND --help` explains a command and its options.
`fathom help compat` lists options and names of other programs that also work.
exit codes: 0: results found, 1: nothing found, 2: error, 130: interrupted.
"""
_COMPAT = """\
fathom help compat: options and names of other programs that also work here.

Scripts and settings that were made for another program continue to work.
New scripts do not need these names. The right column says what each means.
"""


def help_text(topic: str, width: int = WIDTH) -> str:
    """Return the help of a command, of `compat`, or for "" that of the whole program."""
    if topic == COMPAT_TOPIC:
        return compat_help(width)
    return command_help(topic, width) if topic else overview(width)


def overview(width: int = WIDTH) -> str:
    """Return the text of `fathom --help`."""
    summaries = {command.name: command.summary for command in COMMANDS} | {"help": "show this help, or that of COMMAND"}
    first = [(f"fathom {example}", summaries[example.split()[0]]) for example in FIRST]
    others = {title: [(name, summaries[name]) for name in names] for title, names in GROUPS.items()}
    limit = next(setting.default for setting in declared_settings() if setting.key == "search.limit")
    groups = "".join(_table(title, rows, width, _GROUP_COLUMN) for title, rows in others.items())
    return _OVERVIEW.format(first=_table("commands to begin with", first, width), limit=limit, groups=groups)


def compat_help(width: int = WIDTH) -> str:
    """Return the text of `fathom help compat`: all names of other programs, with what each means."""
    return _COMPAT + "".join(f"\n{_table(title, rows, width)}" for title, rows in compat_tables().items())


def compat_tables() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the names of other programs in groups, each with what it means here."""
    tools = [(f"{tool}: {name}", own) for tool, names in TOOL_ARGUMENTS.items() for name, own in names.items()]
    return {
        'options without a command, as in fathom --rag "QUESTION"': [
            (spelling(option), _with_setting(option)) for option in LEGACY_OPTIONS
        ],
        "options of commands, with the meaning above": [
            (f"fathom {command} [options]", ", ".join(names)) for command, names in COMMAND_OPTIONS.items()
        ],
        "settings, in fathom.toml, the environment and --set": list(SETTING_NAMES.items()),
        "tables of an editor in fathom.toml": [
            (f"{TABLE}.{name}", setting) for name, setting in VECTOR_INDEX_SETTINGS.items()
        ],
        "arguments of the tools of `fathom mcp`": tools,
        "tools of `fathom ask --agent`, as a model may call them": [
            (", ".join(names), own) for own, names in TOOL_NAMES.items()
        ],
        "keys in HTTP requests": [(", ".join(names), own) for own, names in REQUEST_KEYS.items()],
    }


def _with_setting(option: Option) -> str:
    setting = f"; setting: {option.setting}" if option.setting else ""
    return f"{explanation(option)}{setting}"


def command_help(name: str, width: int = WIDTH) -> str:
    """Return the text of `fathom NAME --help`."""
    command = next(command for command in COMMANDS if command.name == name)
    lines = [f"fathom {name}: {command.summary}", "", f"usage: {usage(command)}", ""]
    if command.examples:
        lines += ["examples:", *(f"  {example}" for example in command.examples), ""]
    if command.operands:
        lines += [*_rows(command.operands, width, command), ""]
    if command.options:
        lines += ["options:", *_rows(command.options, width, command), ""]
    lines += ["options of every command:", *_rows(COMMON_OPTIONS, width)]
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
        notes.append(f"one of: {', '.join(option.choices)}")
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
    return _columns([(spelling(option), explanation(option, command)) for option in options], width)


def _table(title: str, rows: Iterable[tuple[str, str]], width: int, column: int = _WIDE_COLUMN) -> str:
    return "".join(f"{line}\n" for line in (f"{title}:", *_columns(rows, width, column)))


def _columns(rows: Iterable[tuple[str, str]], width: int, column: int = _COLUMN) -> Iterator[str]:
    """Yield the lines of two columns, of which the right one begins at `column` and is wrapped."""
    for name, text in rows:
        left = f"  {name}"
        right = wrap(text, max(width, _LEAST_WIDTH) - column, break_on_hyphens=False)
        if len(left) > column - 2:
            yield left
            left = ""
        yield f"{left:<{column}}{right[0]}"
        yield from (" " * column + line for line in right[1:])
