"""The list of tools as `tools/list` gives it: always in this order, and short. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codefathom.question.question import Kind
from codefathom.question.question_options import OfTool, QuestionOption, of_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    ToolSpec: TypeAlias = Mapping[str, Any]

_READ_ONLY = {"readOnlyHint": True, "openWorldHint": False}
# A model may be on another machine.
_OF_MODEL = {"readOnlyHint": True, "openWorldHint": True}
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_LIST = {"type": "array"}
_NUMBER = {"type": "integer"}
_FLAG = {"type": "boolean"}
_TRUST = {"confidence": {"type": "number"}, "weak": _FLAG}
LEAST_TOKENS, MOST_TOKENS = 200, 20_000
TOKENS: Mapping[str, Any] = {"type": "integer", "default": 2_000}  # an error names the bounds
_PROJECTS = {**_TEXTS, "description": "other projects"}
_INDEXING = {"type": "object"}  # done and total, in files
_PLACE = {"path": _TEXT, "start_line": _NUMBER, "end_line": _NUMBER}
_CURSOR = {**_TEXT, "description": "`next` of the answer before"}
_PAGE = {"left_out": _NUMBER, "next": _TEXT, "note": _TEXT}


def _listed(kind: Kind) -> dict[str, Any]:
    """Return the arguments that the table of options has, and the list has room for: those of few words."""
    return {argument.name: _argument(option, argument) for option, argument in of_tool(kind) if argument.is_listed}


def _argument(option: QuestionOption, argument: OfTool) -> dict[str, Any]:
    if option.form == "switch":
        return _FLAG
    if option.form == "texts":
        return {"type": "array", "items": {"enum": list(option.choices)}}
    return {"type": "string", "enum": list(argument.words or ())}


def _tool(name: str, description: str, required: str, properties: Mapping[str, Any], results: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, **({"required": [required]} if required else {})},
        "outputSchema": {"type": "object", "properties": {**results, "indexing": _INDEXING, "masked": {}}},
        "annotations": _READ_ONLY,
    }


TOOLS: Sequence[ToolSpec] = (
    _tool(
        "search",
        "Find code in this project by a question, a name, a path, a stack trace or a diff. Use it when "
        "you do not know the exact words. For every place of one exact text, grep is better.",
        "query",
        {
            "query": _TEXT,
            "paths": {**_TEXTS, "description": "only in these files, folders or globs"},
            "projects": _PROJECTS,
            **_listed("search"),
            "max_tokens": {**TOKENS, "description": f"{LEAST_TOKENS} to {MOST_TOKENS}; brings whole symbols"},
            "cursor": _CURSOR,
        },
        {
            "hits": _LIST,
            "also": _LIST,
            **_TRUST,
            **_PAGE,
        },
    ),
    _tool(
        "read",
        "Read lines of files: places of hits, such as path:10-40, several at once. Of a folder, list the entries.",
        "",
        {
            "path": _TEXT,
            "paths": _TEXTS,
            "start_line": _NUMBER,
            "end_line": _NUMBER,
            "history": {**_FLAG, "description": "the commits that made path:10-40 or @@name"},
            "projects": _PROJECTS,
            "max_tokens": TOKENS,
        },
        {**_PLACE, "commits": _LIST, "text": _TEXT, "places": _LIST, "entries": _LIST, "left_out": _NUMBER},
    ),
    _tool(
        "related",
        "List what imports, calls or uses a file (its path) or a symbol (@@name), and what it imports and calls; or "
        "what a diff reaches, and the tests that touch it.",
        "",
        {
            "target": _TEXT,
            "diff": {**_TEXT, "description": "instead of target: a unified diff"},
            **_listed("related"),
            "projects": _PROJECTS,
            "max_tokens": TOKENS,
            "cursor": _CURSOR,
        },
        {
            **dict.fromkeys(("edges", "changes", "reached", "tests", "unseen"), _LIST),
            "completeness": _TEXT,
            **_PAGE,
        },
    ),
    _tool(
        "map",
        "Outline this project: its most central files, each with the definitions that others use. Use it once, before "
        "you know where to look; a question, or files that you work on, draw what is near them in. With tour, list ten "
        "places to read in this order.",
        "",
        {
            "query": _TEXT,
            "files": _TEXTS,
            "paths": {**_TEXTS, "description": "only below these folders"},
            **_listed("map"),
            "projects": _PROJECTS,
            "max_tokens": TOKENS,
            "cursor": _CURSOR,
        },
        {"outline": _TEXT, "completeness": _TEXT, **_TRUST, **_PAGE},
    ),
)
_ASK: ToolSpec = {
    **_tool(
        "ask",
        "Have a language model answer a question about this project, with checked places. It is slower than "
        "search, which is enough for most questions.",
        "question",
        {"question": _TEXT, "projects": _PROJECTS, "max_tokens": TOKENS},
        {
            "answer": _TEXT,
            "weak": _FLAG,
            "places": _LIST,
        },
    ),
    "annotations": _OF_MODEL,
}


def tools(*, has_model: bool, is_structured: bool = True) -> Sequence[ToolSpec]:
    """Return the tools that are offered; `ask` only where a language model is set.

    Where answers are not structured, no tool promises what their JSON has.
    """
    offered = (*TOOLS, _ASK) if has_model else TOOLS
    if is_structured:
        return offered
    return tuple({key: value for key, value in tool.items() if key != "outputSchema"} for tool in offered)


# What programs that search code call such tools; understood, and not listed.
_OTHER_NAMES = {"search_code": "search", "list_file_content": "read", "read_file": "read"}


def own_name(name: object) -> object:
    """Return the name of a tool here; any other value as it is."""
    return _OTHER_NAMES.get(name, name) if isinstance(name, str) else name


def unknown_tool(name: object, offered: Sequence[ToolSpec]) -> str:
    """Return the sentence for a call of a tool that is not offered."""
    *names, last = (tool["name"] for tool in offered)
    return f"there is no tool {str(name)[:80]!r}; the tools are {', '.join(names)} and {last}"


def tool_named(name: object) -> ToolSpec | None:
    """Return a tool, whether it is offered or not; None where no tool has the name."""
    return next((tool for tool in (*TOOLS, _ASK) if tool["name"] == name), None)
