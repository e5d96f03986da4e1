"""Commands in a remedy become routes and tools; each command that is named anywhere is one of the program."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import codefathom
from codefathom.cli.options import COMMANDS, COMMON_OPTIONS
from codefathom.facts.remedies import for_agents, for_agents_over_http, over_http


@pytest.mark.parametrize(
    ("told", "over"),
    [
        ("`fathom status --skipped` lists what is left out", "GET /projects/ID/status lists what is left out"),
        ("did you mean go? `fathom status` lists them", "did you mean go? GET /projects/ID lists them"),
        ("run `fathom index --full`", 'send POST /projects/ID/index with {"full": true}'),
        ("run `fathom fleet index team`; see it", "send POST /projects/ID/index; see it"),
        ("`fathom fleet index NAME` writes it", "POST /projects/ID/index writes it"),
        ("run `fathom doctor --fix` or `fathom index`: made again", "send POST /projects/ID/index: made again"),
        ("`fathom doctor --fix` repairs it", "`fathom doctor --fix` repairs it"),
        ("no command", "no command"),
        ("lower `--min-score`", "lower min_score"),
        ("weak; `--anyway` shows more", 'weak; "anyway": true in POST /ask and POST /context shows more'),
        ("run `fathom status` once as another user", "run `fathom status` once as another user"),
        ("`fathom index` in the folder shows more", "`fathom index` in the folder shows more"),
    ],
)
def test_over_http_commands_become_routes(told: str, over: str) -> None:
    assert over_http(told) == over


def test_for_agents_commands_become_tools() -> None:
    told = "did you mean go? `fathom status` lists the languages of this project; ask again"
    assert for_agents(told) == "did you mean go? read with path . lists the folders of the project; ask again"
    assert for_agents("run `fathom index`") == "run `fathom index`"
    assert for_agents("lower `--min-score`") == "lower min_score"
    assert for_agents_over_http("run `fathom index`") == "send POST /projects/ID/index"
    assert for_agents_over_http("`fathom symbols` lists all symbols") == "search with mode symbol finds names"


def test_each_command_that_a_text_names_is_there() -> None:
    root = Path(codefathom.__file__).parent
    named = [(path.name, words) for path in root.rglob("*.py") for words in _named(path.read_text(encoding="utf-8"))]
    assert len(named) > 100
    assert [where for where in named if not _is_one(where[1].split())] == []


def _named(source: str) -> Iterator[str]:
    """Yield the commands in the texts of a module; `{}` stands for a value."""
    for node in ast.walk(ast.parse(source)):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        values = [part.value if isinstance(part, ast.Constant) else "{}" for part in parts]
        yield from re.findall(r"`fathom ([^`]*)`", "".join(value for value in values if isinstance(value, str)))


def _is_one(words: list[str]) -> bool:
    if words[0] in ("help", "COMMAND", "NAME", "--help", "--rag", "hook") or words[0].startswith("("):
        return True  # also the command of other programs, one that hosts alone call, and patterns
    command = next((one for one in COMMANDS if one.name == words[0]), None)
    if command is None:
        return False
    names = {name for option in (*command.options, *COMMON_OPTIONS) for name in option.names} | {"--help"}
    actions = [option.choices for option in command.operands if option.choices and option.names == ("action",)]
    return all(word in names for word in words[1:] if word.startswith("-")) and all(
        word in choices or not word.islower() for choices in actions for word in words[1:2] if word[0] not in "-{"
    )
