"""What `fathom --help`, `fathom COMMAND --help` and `fathom help compat` show."""

from __future__ import annotations

import re

import pytest

from codefathom.cli.aliases import HIDDEN_OPTIONS, LEGACY_OPTIONS
from codefathom.cli.arguments import parse
from codefathom.cli.commands.short_commands import RUN
from codefathom.cli.completion import script
from codefathom.cli.help import command_help, help_text, overview, spelling
from codefathom.cli.options import COMMANDS, SHELLS
from codefathom.compat.argument_names import REQUEST_KEYS, TOOL_ARGUMENTS, TOOL_NAMES
from codefathom.compat.script_options import COMMAND_OPTIONS, SCRIPT_OPTIONS
from codefathom.compat.setting_names import SETTING_NAMES
from codefathom.compat.vector_index import VECTOR_INDEX_SETTINGS

NAMES = [command.name for command in COMMANDS]
TOPICS = ["", "compat", *NAMES]
# Said in another way since a reader stumbled: whoever writes a help text sees here what to avoid.
RIDDLES = re.compile(
    r"\bis no\b|\bare no\b|\bso (?:much|many)\b|\bwhoever\b|\bin any case\b|\ban?ew\b|what has no room|\bby our own\b|"
    r"\btake(?:s|n)? in\b|\btakes? over\b|\bas far as\b|the thing to do",
    re.IGNORECASE,
)


def first_commands() -> list[str]:
    """The example lines at the top of the overview, without the name of the program."""
    block = overview(200).partition("commands to begin with:\n")[2].partition("\n\n")[0]
    return [re.split(r"  +", line.strip())[0].removeprefix("fathom ") for line in block.splitlines()]


def other_commands() -> list[str]:
    """The names in the groups below."""
    block = overview(200).partition("\nmore questions:\n")[2].partition("\n\n")[0]
    return [line.split()[0] for line in block.splitlines() if line.startswith("  ")]


def test_the_overview_begins_with_ten_lines_that_a_person_can_type() -> None:
    lines = first_commands()
    assert [parse(line.split()).command for line in lines] == [line.split()[0] for line in lines]
    assert len(lines) == 10


def test_the_overview_names_each_command_once() -> None:
    assert sorted([*(line.split()[0] for line in first_commands()), *other_commands()]) == sorted([*NAMES, "help"])
    assert set(RUN) == set(NAMES)


def test_the_overview_is_read_at_a_glance() -> None:
    lines = overview(80).splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("width", [72, 80, 100])
def test_help_fits_into_a_terminal(topic: str, width: int) -> None:
    texts = [line for line in help_text(topic, width).splitlines() if not line.startswith("  fathom ")]
    right = [line for line in texts if line.startswith(" " * 12)]
    assert max(map(len, right), default=0) <= width
    assert max(map(len, texts)) <= 100


@pytest.mark.parametrize("topic", TOPICS)
def test_help_is_plain_english(topic: str) -> None:
    assert RIDDLES.findall(re.sub(r"\s+", " ", help_text(topic))) == []


@pytest.mark.parametrize("name", NAMES)
def test_each_command_explains_its_words(name: str) -> None:
    command, text = next(command for command in COMMANDS if command.name == name), command_help(name)
    for option in (*command.operands, *command.options):
        assert f"  {spelling(option)}" in text
    for example in command.examples:
        assert f"  {example}\n" in text


def test_names_of_other_programs_are_listed_in_their_own_help() -> None:
    text = re.sub(r"\s+", " ", help_text("compat"))
    for option in LEGACY_OPTIONS:
        assert f"{spelling(option)} {option.help}" in text
    for name, own in [*SETTING_NAMES.items(), *((f"vector_index.{a}", b) for a, b in VECTOR_INDEX_SETTINGS.items())]:
        assert f" {name} {own} " in text
    for tool, names in TOOL_ARGUMENTS.items():
        for name, own in names.items():
            assert f" {tool}: {name} {own} " in text
    for own, others in [*REQUEST_KEYS.items(), *TOOL_NAMES.items()]:
        assert f" {', '.join(others)} {own}" in text


def test_names_of_other_programs_are_nowhere_else() -> None:
    shown = {name for command in COMMANDS for option in command.options for name in option.names}
    of_scripts = {option.names[-1] for option in SCRIPT_OPTIONS}
    # These are our own options as well.
    assert of_scripts & shown == {"--shell", "--filter-level", "--max-files", "--required-exts"}
    for name in sorted(of_scripts - shown):
        assert name not in "".join([overview(), *map(command_help, NAMES), *map(script, SHELLS)]), name


def test_a_command_takes_the_names_that_the_help_says() -> None:
    assert COMMAND_OPTIONS.keys() == HIDDEN_OPTIONS.keys()
    for command, names in COMMAND_OPTIONS.items():
        for option in (option for option in SCRIPT_OPTIONS if option.names[-1] in names):
            words = [command, *(["show"] if command == "config" else ["where"] if command == "ask" else [])]
            parsed = parse([*words, option.names[-1], *(["1"] if option.metavar else [])])
            assert parsed.command == command
            assert option.setting in parsed.options.common.overrides or option.names[-1] == "--contexts-only"
