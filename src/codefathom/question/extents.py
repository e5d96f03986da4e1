"""The usual and the largest extents of questions. Pure."""

from __future__ import annotations

from codefathom.errors import UsageError
from codefathom.question.question import Question
from codefathom.text.printable import is_text

USUAL_DEPTH = {"related": 1, "impact": 3}
USUAL_LIMIT = {"related": 200, "impact": 200, "symbols": 50, "history": 20}
USUAL_MAP_TOKENS = 4_000
DEEPEST = 5  # steps of connections, where a face asks

MOST_HITS = 100_000
MOST_ITEMS = 1_000_000  # of the lists of connections and symbols
MOST_BLAMED_LINES = 4_000  # at once: as many as the page shows
MOST_PASSED_BY = 10_000_000  # of a list, over all pages


def check_count(what: str, number: int, most: int, least: int = 1) -> None:
    """Raise UsageError for a number out of its bounds."""
    if not least <= number <= most:
        raise UsageError(f"{what} cannot be {number}", hint=f"give a number from {least} to {most}")


def check_offset(offset: int) -> None:
    """Raise UsageError for items that no list has."""
    check_count("offset", offset, MOST_PASSED_BY, least=0)


def check_page(question: Question, most: int) -> None:
    """Raise UsageError for a page of a list of which at most so many items are given."""
    if question.limit is not None:
        check_count("limit", question.limit, most)
    check_offset(question.offset)


def limit_of(question: Question) -> int:
    """Return the most items of a page of connections or symbols. Raises UsageError."""
    check_page(question, MOST_ITEMS)
    return USUAL_LIMIT[question.kind] if question.limit is None else question.limit


def check_texts(*texts: str) -> None:
    """Raise UsageError for texts that are not Unicode."""
    for text in texts:
        if not is_text(text.replace("\0", "")):
            raise UsageError(
                f"{text[:80]!r} cannot be written as UTF-8", hint="remove the unpaired surrogate characters"
            )


def most_parts(question: Question) -> int:
    """Return how many parts of a map a question can show, those before its offset among them: each has a token."""
    return question.offset + (USUAL_MAP_TOKENS if question.max_tokens is None else question.max_tokens)
