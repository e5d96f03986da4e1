"""Names that other tools for agents and other services use for arguments of ours. Pure."""

from __future__ import annotations

from collections.abc import Mapping

_FOLDERS = ("path", "folder", "folders", "dir", "directory", "directory_filter", "file", "file_path", "include")
# Tool of `fathom mcp` and /mcp → name elsewhere, in snake_case → our argument. camelCase is understood as well.
TOOL_ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    "search": {
        **dict.fromkeys(("question", "q", "text", "pattern", "regex"), "query"),
        **dict.fromkeys(_FOLDERS, "paths"),
        **dict.fromkeys(("lang", "language", "language_filter"), "languages"),
        **dict.fromkeys(("top_k", "k", "n", "num_results", "max_results", "n_results"), "limit"),
        "index_type": "level",
    },
    "read": {
        **dict.fromkeys(("file_path", "file", "filename", "folder", "directory", "target"), "path"),
        **dict.fromkeys(("places", "files", "file_paths"), "paths"),
        **dict.fromkeys(("start", "from_line", "line"), "start_line"),
        **dict.fromkeys(("end", "to_line"), "end_line"),
    },
    "related": {
        **dict.fromkeys(("path", "file_path", "file", "symbol", "name", "query"), "target"),
        "kinds": "kind",
    },
    "map": {**dict.fromkeys(("question", "q", "task"), "query"), **dict.fromkeys(_FOLDERS, "paths")},
    "ask": dict.fromkeys(("query", "q", "text"), "question"),
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
