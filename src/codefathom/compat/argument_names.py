"""Names that other tools for agents and other services use for arguments of ours. Pure."""

from __future__ import annotations

from collections.abc import Mapping

# Tool of `fathom mcp` and /mcp → name elsewhere, in snake_case → our argument. camelCase is understood as well.
TOOL_ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    "search": {
        "question": "query",
        "index_type": "level",
        "directory_filter": "paths",
        "language_filter": "languages",
        "top_k": "limit",
        "max_results": "limit",
    },
    "read": {"file_path": "path"},
    "related": {"path": "target"},
    "map": {"question": "query", "directory_filter": "paths"},
    "ask": {"query": "question"},
}
# Tool of an agent's rounds (`fathom ask --agent`) → names under which a model may call it as well.
TOOL_NAMES: Mapping[str, tuple[str, ...]] = {"search_code": ("search",), "read_file": ("list_file_content",)}
# Key in the body of an HTTP request → names elsewhere, in both spellings.
REQUEST_KEYS: Mapping[str, tuple[str, ...]] = {
    "query": ("question", "q"),
    "question": ("query",),
    "limit": ("max_results", "maxResults", "top_k", "topK", "recall_count"),
    "level": ("index_type", "indexType"),
    "path": ("source_dir", "sourceDir", "codebase_path", "codebasePath"),
}
