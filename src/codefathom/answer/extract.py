"""An answer without a language model: the best excerpts, each with its place and the reason why it was found."""

from __future__ import annotations

from collections.abc import Sequence

from codefathom.answer.types import Source
from codefathom.types import Hit

_MAX_EXCERPTS = 5
_MAX_LINES = 14
_LINES_BEFORE = 3
_LEAST_SHARE = 0.25  # of the best score


def excerpts(hits: Sequence[Hit]) -> tuple[Source, ...]:
    """Return the lines to show of the best hits, numbered; what is far behind the best is no answer."""
    good = [hit for hit in hits[:_MAX_EXCERPTS] if hit.score >= _LEAST_SHARE * hits[0].score]
    return tuple(_excerpt(number, hit) for number, hit in enumerate(good, start=1))


def answer_of(sources: Sequence[Source]) -> str:
    """Return the excerpts as text; each cites itself by number."""
    return "\n".join(_shown(source) for source in sources)


def nearest(sources: Sequence[Source]) -> str:
    """Return a list of places, each cited by number."""
    return "".join(f"- [{source.number}]{f' {source.symbol}' if source.symbol else ''}\n" for source in sources)


def _excerpt(number: int, hit: Hit) -> Source:
    """The lines of the hit, around its best one when there are too many."""
    chunk = hit.chunk
    lines = chunk.text.removesuffix("\n").split("\n")
    best = max(hit.line - chunk.start_line, 0)
    first = max(min(best - _LINES_BEFORE, len(lines) - _MAX_LINES), 0)
    shown = lines[first : first + _MAX_LINES]
    start = chunk.start_line + first
    return Source(number, chunk.path, start, start + len(shown) - 1, "\n".join(shown), hit.name, hit.score, hit.reason)


def _shown(source: Source) -> str:
    # A heading is no code: between backticks it would be taken for a quotation.
    mark = "" if " " in source.symbol else "`"
    name = f"{mark}{source.symbol}{mark} " if source.symbol else ""
    reason = f": {source.reason}" if source.reason else ""
    fence = "```" if "```" not in source.text else "~~~~"
    return f"{source.number}. {name}[{source.number}]{reason}\n\n{fence}\n{source.text}\n{fence}\n"
