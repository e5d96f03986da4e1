"""The list of tools as `tools/list` gives it: always in this order, and short. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_READ_ONLY = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_FLAG = {"type": "boolean"}
_MOST_TOKENS = {"type": "integer", "minimum": 200, "maximum": 20_000, "default": 2_000}
_HIT = {
    "type": "object",
    "properties": {
        "path": _TEXT,
        "start_line": _NUMBER,
        "end_line": _NUMBER,
        "symbol": _TEXT,
        "why": _TEXT,
        "stale": _FLAG,
    },
}


def _tool(name: str, description: str, required: str, properties: Mapping[str, Any], results: Any) -> Mapping[str, Any]:
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": [required] if required else []},
        "outputSchema": {"type": "object", "properties": results},
        "annotations": _READ_ONLY,
    }


TOOLS: Sequence[Mapping[str, Any]] = (
    _tool(
        "search",
        "Find code in this project by a question in plain words, a name, a path or a stack trace. Use it when you do "
        "not know the exact words. For every place of one exact text, grep is better.",
        "query",
        {
            "query": _TEXT,
            "paths": {"type": "array", "items": _TEXT, "description": "only in these files, folders or globs"},
            "mode": {"type": "string", "enum": ["auto", "hybrid", "semantic", "symbol", "regex"]},
            "max_tokens": _MOST_TOKENS,
            "cursor": {**_TEXT, "description": "`next` of the answer before"},
        },
        {
            "hits": {"type": "array", "items": _HIT},
            "confidence": {"type": "number"},
            "weak": _FLAG,
            "left_out": _NUMBER,
            "next": _TEXT,
            "indexing": {"type": "object"},
        },
    ),
    _tool(
        "read",
        "Read lines of a file of this project: those of a hit, or others.",
        "path",
        {"path": _TEXT, "start_line": _NUMBER, "end_line": _NUMBER, "max_tokens": _MOST_TOKENS},
        {"path": _TEXT, "start_line": _NUMBER, "end_line": _NUMBER, "left_out": _NUMBER},
    ),
    _tool(
        "related",
        "List what imports, calls or uses a file (its path) or a symbol (@@name), and what it imports and calls.",
        "target",
        {"target": _TEXT, "max_tokens": _MOST_TOKENS},
        {"edges": {"type": "array"}, "completeness": _TEXT, "left_out": _NUMBER},
    ),
    _tool(
        "map",
        "Outline this project: its most central files, each with the definitions that others use. Use it once, before "
        "you know where to look; a question, or files that you work on, draw what is near them in.",
        "",
        {
            "query": _TEXT,
            "files": {"type": "array", "items": _TEXT},
            "paths": {"type": "array", "items": _TEXT, "description": "only below these folders"},
            "max_tokens": _MOST_TOKENS,
        },
        {"outline": _TEXT, "completeness": _TEXT, "left_out": _NUMBER},
    ),
)
