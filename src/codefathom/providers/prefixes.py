"""Prefixes that embedding models expect before a question and before a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

AUTO = "auto"  # value of a setting: the known prefixes of the model
# By family of models: prefix of a question and of a text, from the cards of the models. The first match counts.
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
    """The prefix of a question and that of a document."""

    query: str = ""
    document: str = ""


def known_prefixes(model: str) -> Prefixes:
    """Return the prefixes that a known model expects; empty ones for any other model."""
    bare = model.rpartition("/")[2].lower()
    for family, (query, document) in PREFIXES.items():
        if re.search(rf"(?:^|[^a-z0-9]){re.escape(family)}(?:[^a-z]|$)", bare):
            return Prefixes(query, document)
    return Prefixes()
