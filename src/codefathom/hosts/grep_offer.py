"""An event of a coding agent → the offer of a search by meaning, where it has looked for a question with grep.

The event comes from a stranger: nothing of it is repeated, run or looked up but the folder in which it happened.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from codefathom.text.foreign_json import read_json

_OFFER = (
    "These words read like a question about meaning. This project has an index of fathom, which finds code by what it "
    'does: use the tool `search` of the MCP server fathom, or run `fathom search "question"`. For an exact text, grep '
    "is right."
)
_EVENTS = ("PostToolUse", "PreToolUse", "AfterTool")
_SHELLS = ("Bash", "run_shell_command", "bash", "powershell")
_SEARCHES = ("Grep", "grep_search", "search_file_content", "grep", "rg")
_GREPS = ("grep", "egrep", "fgrep", "rg", "ag", "ack")
_PATTERN_OPTIONS = ("-e", "--regexp")
_WITH_VALUE = frozenset(
    ("-A", "-B", "-C", "-m", "-f", "-g", "-t", "-T", "--include", "--exclude", "--exclude-dir", "--glob", "--type")
)
_ENDS_OF_COMMANDS = ("&&", "||", ";", "&", "(", ")", "\n")
_MOST_CHARS = 4_000  # of a command
_MOST_CHARS_OF_QUESTION = 200
_LEAST_WORDS = 3
_WORD = re.compile(r"(?:[A-Za-z][a-z]*|[A-Z]{2,6})(?:['’-][a-z]+)?,?|[\u4e00-\u9fff]+")
_ASKS = ("怎么", "如何", "哪里", "为什么", "什么")
# Before words they make a line of code, or a mark that stands in code.
_CODE = frozenset(
    (
        *("async", "await", "case", "class", "const", "def", "else", "enum", "export", "extends", "final"),
        *("fn", "for", "from", "func", "function", "if", "impl", "import", "include", "interface", "let"),
        *("module", "namespace", "new", "package", "private", "protected", "public", "raise", "return"),
        *("select", "static", "struct", "throw", "trait", "try", "type", "use", "using", "var", "while"),
        *("todo", "fixme"),
    )
)


class Grep(NamedTuple):
    """A search of an agent for a question, and where it was."""

    event: str  # "" from GitHub Copilot, which does not name it
    folder: str
    place: str  # a path, absolute or below the folder; "" for the folder itself


def grep_of(content: bytes) -> Grep | None:
    """Return the grep of an event in JSON, None for any other event and for a pattern that is no question.

    Raises ValueError for what is not JSON.
    """
    event = read_json(content)
    if not isinstance(event, dict):
        return None
    folder = event.get("cwd")
    if "toolName" in event:  # GitHub Copilot; it may write the arguments as a text of JSON
        tool, arguments = event["toolName"], event.get("toolArgs")
        name: object = ""
        arguments = read_json(arguments) if isinstance(arguments, str) else arguments
    else:
        tool, arguments = event.get("tool_name"), event.get("tool_input")
        name = event.get("hook_event_name") or None
    if not isinstance(name, str) or name not in ("", *_EVENTS) or not isinstance(arguments, dict):
        return None
    if not isinstance(folder, str):
        return None
    if tool in _SHELLS:
        pattern: object = next(_patterns(arguments), "")
        place: object = ""
    elif tool in _SEARCHES:
        pattern, place = arguments.get("pattern"), arguments.get("path") or arguments.get("dir_path") or ""
    else:
        return None
    if not isinstance(pattern, str) or not isinstance(place, str) or not is_question(pattern):
        return None
    return Grep(name, folder, place)


def offer(grep: Grep) -> str:
    """Return the answer to an event: a sentence for the agent, and nothing that decides about its call."""
    told = {"additionalContext": _OFFER}
    return json.dumps({"hookSpecificOutput": {"hookEventName": grep.event, **told}} if grep.event else told) + "\n"


def is_question(pattern: str) -> bool:
    """Return True for three plain words and more: no expression, no name, no line of code. Chinese has no blanks."""
    words = pattern.strip().rstrip("?").split(" ")
    if len(pattern) > _MOST_CHARS_OF_QUESTION or not all(_WORD.fullmatch(word) for word in words):
        return False
    if not pattern.isascii():
        return any(word in pattern for word in _ASKS) or len(words) >= _LEAST_WORDS
    return len(words) >= _LEAST_WORDS and words[0].lower() not in _CODE


def _patterns(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the greps in a command of a shell look for. Raises ValueError for quotes that do not end."""
    command = arguments.get("command")
    if not isinstance(command, str) or len(command) > _MOST_CHARS:
        return
    words = shlex.shlex(command, posix=True, punctuation_chars="();&|\n")
    words.whitespace, words.whitespace_split = " \t\r", True
    part: list[str] = []
    is_first = True  # of a pipe: what comes behind reads the output of another program
    for word in [*words, ";"]:
        if word != "|" and word not in _ENDS_OF_COMMANDS:
            part.append(word)
            continue
        if is_first and (pattern := _pattern(part)):
            yield pattern
        is_first, part = word != "|", []


def _pattern(words: list[str]) -> str:
    """Return what one grep looks for, "" for any other program."""
    if words[:2] == ["git", "grep"]:
        words = words[1:]
    if not words or words[0].rpartition("/")[2] not in _GREPS:
        return ""
    rest = iter(words[1:])
    for word in rest:
        if word in _PATTERN_OPTIONS or word == "--":
            return next(rest, "")
        if word in _WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-"):
            return word
    return ""
