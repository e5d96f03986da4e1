"""Arguments in two steps: words → argparse's namespace → frozen options of one command."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

from codefathom.cli.aliases import COMPAT_TOPIC, HIDDEN_OPTIONS, LEGACY_OPTIONS, PROMPT, is_legacy, switched, translate
from codefathom.cli.options import COMMANDS, COMMON_OPTIONS, Command, Common, Option
from codefathom.errors import UsageError
from codefathom.text.near_names import near_names
from codefathom.text.printable import is_text

_BY_NAME: Mapping[str, Command] = {command.name: command for command in COMMANDS}
# These may also stand before the command; the number is how many words they take.
_LEADING = {name: 2 if option.metavar else 1 for option in COMMON_OPTIONS for name in option.names}


_MAX_SHOWN = 80  # characters of a value that an error repeats


class ParsedCommand(NamedTuple):
    """A command to run, or a request for its help."""

    command: str  # "": the overview of all commands
    options: Any
    wants_help: bool = False


def parse(words: Sequence[str]) -> ParsedCommand:
    """Read the words after the program's name. Raises UsageError."""
    name, rest = _split_command(words)
    if name in _BY_NAME:
        return _parse_command(_BY_NAME[name], rest)
    if name == COMPAT_TOPIC and {"-h", "--help"} & set(words):
        return ParsedCommand(COMPAT_TOPIC, None, wants_help=True)
    if name == "help" or not words:
        return ParsedCommand(_topic(rest), None, wants_help=True)
    if is_legacy(words):
        return _parse_legacy(words)
    if len(name.split()) > 1:
        return _parse_command(_BY_NAME[_command_for(name)], [*rest, name])
    if name:
        otherwise = "fathom help compat" if name == COMPAT_TOPIC else f'fathom search "{name}"'
        raise UsageError(f"{name!r} is not a command", hint=_nearest(name, _BY_NAME, otherwise))
    return _parse_top(words)


def _command_for(question: str) -> str:
    """Return the command for a question that stands without one."""
    from codefathom.search.question.planner import route_of  # only for such a question

    return "ask" if route_of(question) == "answer" else "search"


def _topic(words: Sequence[str]) -> str:
    topic = next((word for word in words if not word.startswith("-")), "")
    if topic and topic not in (*_BY_NAME, "help", COMPAT_TOPIC):
        raise UsageError(f"{topic!r} is not a command", hint=_nearest(topic, _BY_NAME, "fathom --help"))
    return "" if topic == "help" else topic


def _split_command(words: Sequence[str]) -> tuple[str, list[str]]:
    """The first word that is neither a common option nor its value is the command."""
    position = 0
    while position < len(words) and words[position].partition("=")[0] in _LEADING:
        position += 1 if "=" in words[position] else _LEADING[words[position]]
    if position < len(words) and not words[position].startswith("-"):
        return words[position], [*words[:position], *words[position + 1 :]]
    return "", list(words)


def _parse_top(words: Sequence[str]) -> ParsedCommand:
    if {"--version", "-V"} & set(words):
        return ParsedCommand("version", _BY_NAME["version"].options_type(Common(json="--json" in words)))
    if {"-h", "--help"} & set(words):
        return ParsedCommand("", None, wants_help=True)
    unknown = next((word for word in words if word.partition("=")[0] not in _LEADING), "")
    if unknown.startswith("-"):
        remedy = f"write fathom search {unknown} WORDS" if _is_condition(unknown) else "fathom --help lists all options"
        raise UsageError(f"fathom has no option {unknown.partition('=')[0]}", hint=remedy)
    raise UsageError(f"there is no command in {' '.join(words)!r}", hint="fathom --help lists the commands")


def _parse_command(command: Command, words: Sequence[str]) -> ParsedCommand:
    options = (*command.options, *HIDDEN_OPTIONS.get(command.name, ()))
    values = _read(f"fathom {command.name}", command.operands, (*options, *COMMON_OPTIONS), words)
    if values.pop("help", False):
        return ParsedCommand(command.name, None, wants_help=True)
    common, own = _divide(values, options)
    common = common._replace(overrides={**common.overrides, **switched(own)})
    for operand in command.operands:
        if len(operand.choices) == 1:  # a word that may be left out, such as the second one of `config show`
            own.pop(operand.destination, None)
    for option in (*command.operands, *command.options):
        if option.required and not own.get(option.destination):
            missing = option.names[0] if option.names[0].startswith("-") else option.metavar
            raise UsageError(f"fathom {command.name} needs {missing}", hint=f"see fathom {command.name} --help")
    return ParsedCommand(command.name, command.options_type(common=common, **own))


def _parse_legacy(words: Sequence[str]) -> ParsedCommand:
    values = _read("fathom", (PROMPT,), (*LEGACY_OPTIONS, *COMMON_OPTIONS), words)
    if values.pop("help", False):
        return ParsedCommand("", None, wants_help=True)
    common, own = _divide(values, LEGACY_OPTIONS)
    command, options = translate(common, own)
    return ParsedCommand(command, options)


def _divide(values: dict[str, Any], options: Iterable[Option]) -> tuple[Common, dict[str, Any]]:
    """Split into the options of every command, settings included, and those of this command.

    Those of its question are together in `values`, by the names of the table of options.
    """
    overrides = dict(_assignment(text) for text in values.pop("set", ()))
    common = {name: values.pop(name) for name in ("source_dir", "json", "quiet", "verbose", "rev") if name in values}
    said_as: dict[str, str] = {}
    for option in options:
        if option.setting and option.destination in values:
            overrides[option.setting] = values.pop(option.destination)
            said_as[option.setting] = option.names[-1]
    of_question = {option.row: values.pop(option.row) for option in options if option.row in values}
    if of_question:
        values["values"] = of_question
    return Common(overrides=overrides, said_as=said_as, **common), values


def _assignment(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            f"--set {text!r} has no value", hint="write --set key=value; fathom config show lists the keys"
        )
    # With a blank before the sign as well, it is how `fathom config show` writes it; else blanks belong to the value.
    return key.strip(), _unquoted(value.removeprefix(" ") if key.endswith(" ") else value)


def _unquoted(value: str) -> object:
    """Return a text or a list as `fathom config show` prints them, in the form of TOML; other values as they are."""
    if not value.lstrip().startswith(('"', "[")):
        return value
    import tomllib  # only for such a value

    try:
        return tomllib.loads(f"value = {value.strip()}")["value"]
    except ValueError:
        return value


def _read(program: str, operands: Sequence[Option], options: Sequence[Option], words: Sequence[str]) -> dict[str, Any]:
    """Return the values by destination. argparse finds the options; operands may stand between them."""
    cut = words.index("--") if "--" in words else len(words)
    conditions = [word for word in words[:cut] if _is_condition(word)]
    parser = _parser(program, options)
    namespace, operand_words = parser.parse_known_args([word for word in words[:cut] if word not in conditions])
    for word in operand_words:
        if word.startswith("-") and word != "-":
            names = [name for option in options for name in option.names]
            remedy = _of_scripts(word.partition("=")[0], options) or _nearest(
                word, names, f"write -- before words that begin with a dash, or see {program} --help"
            )
            raise UsageError(f"{program} has no option {word.partition('=')[0]}", hint=remedy)
    words_of = vars(namespace)
    present = [option for option in options if option.destination in words_of]
    values = {option.destination: _value(option, words_of[option.destination]) for option in present}
    return values | _assign(program, operands, [*operand_words, *conditions, *words[cut + 1 :]])


def _is_condition(word: str) -> bool:
    """Return True for a condition of a question that begins like an option, such as -repo:shop or -path:vendor/."""
    if not word.startswith("-") or ":" not in word:
        return False
    from codefathom.search.question.query import INLINE_FIELDS  # only for such a word

    name, _, value = word[1:].partition(":")
    return name.lower() in INLINE_FIELDS and value != ""


def _of_scripts(name: str, options: Sequence[Option]) -> str:
    """Return the remedy for an option of scripts without a command, "" for another one."""
    setting = next((option.setting for option in LEGACY_OPTIONS if name in option.names), "")
    # This number limits a context, and an answer, which has a setting of its own.
    settings = {setting, "rerank.top_n"} if setting == "context.max_files" else {setting}
    own = next((option.names[-1] for option in options if setting and option.setting in settings), "")
    if own or not setting or setting == "context.max_files":
        return f"did you mean {own}?" if own else ""
    return f"write --set {setting}=VALUE"


def _assign(program: str, operands: Sequence[Option], words: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for operand in operands:
        parts, words = (words, []) if operand.repeat else (words[:1], words[1:])
        if parts and operand.kind is tuple:
            values[operand.destination] = tuple(_value(operand._replace(kind=str), part) for part in parts)
        elif parts:
            values[operand.destination] = _value(operand, " ".join(parts))
    if words:
        is_other = os.path.isdir(words[0]) and not any(operand.metavar == "DIR" for operand in operands)
        hint = f"write -C {words[0]} to use the project in this folder" if is_other else f"see {program} --help"
        raise UsageError(f"{program} does not take {words[0]!r}", hint=hint)
    return values


# A file of the system may have a name that is not UTF-8. Paths of a project are always.
_OF_SYSTEM = ("--source-dir", "--doc", "--trace", "--output", "file", "folder")


def _value(option: Option, raw: Any) -> Any:
    if isinstance(raw, bool):
        return raw
    name = option.names[-1]
    if option.also and isinstance(raw, str):
        raw = _chosen(option, raw)
    for text in raw if isinstance(raw, list) else [raw]:
        if not is_text(text) and name not in _OF_SYSTEM:
            raise UsageError(f"{name} cannot be {_cut(text)}: it is not valid UTF-8", hint="write it in UTF-8")
        if option.choices and text not in option.choices:
            raise UsageError(f"{name} cannot be {_cut(text)}", hint=f"choose one of {', '.join(option.choices)}")
    if isinstance(raw, list):
        return tuple(raw)
    return raw if option.kind is str else _number(option, raw)


def _chosen(option: Option, text: str) -> str:
    """Return the choice that a text means, however it is written: "Claude Code", "claude-code"."""
    written = "".join(filter(str.isalnum, text)).lower()
    return written if written in option.choices else option.also.get(written, text)


def _number(option: Option, text: str) -> Any:
    hint = "give a number" if option.low is None else f"give a number from {option.low} to {option.high}"
    try:
        number = option.kind(text)
    except ValueError as error:
        raise UsageError(f"{option.names[-1]} cannot be {_cut(text)}", hint=hint) from error
    if option.low is not None and option.high is not None and not option.low <= number <= option.high:  # NaN is not
        raise UsageError(f"{option.names[-1]} cannot be {_cut(text)}", hint=hint)
    return number


def _cut(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…")


class _Parser(argparse.ArgumentParser):
    """Raises instead of leaving the program."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"see {self.prog} --help")


def _parser(program: str, options: Iterable[Option]) -> _Parser:
    # A fixed width, because argparse imports shutil (3 ms) to ask the terminal for it; the help texts are ours anyway.
    formatter = partial(argparse.HelpFormatter, width=100)
    parser = _Parser(
        program, add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS, formatter_class=formatter
    )
    for option in options:
        switch = "store_false" if option.turns_off else "store_true"
        action = "append" if option.repeat else "store" if option.metavar else switch
        parser.add_argument(*option.names, dest=option.destination, action=action)
    return parser


def _nearest(word: str, names: Iterable[str], otherwise: str) -> str:
    near = near_names(word, names, most=1)
    return f"did you mean {near[0]}? or: {otherwise}" if near else otherwise
