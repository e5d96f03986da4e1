"""What the problems of a parsed document say about its grammar and its definitions. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from codefathom.facts.reasons import LACKS_GRAMMAR, READ_BY_HEAD, Note


def missing_grammars(problems: Iterable[Note]) -> dict[str, str]:
    """Return the languages that a document was parsed without, by its problems, each with the reason."""
    lacking = (note.values for note in problems if note.kind == LACKS_GRAMMAR)
    return {str(values["language"]): str(values["error"]) for values in lacking}


def n_without_syntax(problems: Iterable[Note]) -> int:
    """Return the number of definitions of a document that its grammar has lost, by the problems of the document."""
    return sum(int(str(note.values["count"])) for note in problems if note.kind == READ_BY_HEAD)


def is_complete(problems: Iterable[Note]) -> bool:
    """Return True if the problems of a document only say that definitions are known without syntax: none is missing."""
    return all(note.kind == READ_BY_HEAD for note in problems)
