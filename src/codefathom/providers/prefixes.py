"""What models expect before a question and before a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

AUTO = "auto"  # a setting that leaves them to what the model is known to expect
# What families of models expect before a question and before a text, as their cards say; the first match counts.
PREFIXES: Mapping[str, tuple[str, str]] = {
    "nomic-embed": ("search_query: ", "search_document: "),
    "e5": ("query: ", "passage: "),
    "mxbai-embed": ("Represent this sentence for searching relevant passages: ", ""),
    "snowflake-arctic-embed": ("Represent this sentence for searching relevant passages: ", ""),
    "qwen3-embedding": (
        "Instruct: Given a question about a code base, retrieve the code that answers it\nQuery: ",
        "",
    ),
}


class Prefixes(NamedTuple):
    """What stands before a text, by its kind."""

    query: str = ""
    document: str = ""


def known_prefixes(model: str) -> Prefixes:
    """Return what a model is known to expect before its texts; nothing for a model that is not known."""
    bare = model.rpartition("/")[2].lower()
    for family, (query, document) in PREFIXES.items():
        if re.search(rf"(?:^|[^a-z0-9]){re.escape(family)}(?:[^a-z]|$)", bare):
            return Prefixes(query, document)
    return Prefixes()
