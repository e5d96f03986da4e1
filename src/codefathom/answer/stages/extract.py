"""An answer without a language model: the best excerpts, each with its place and the reason why it was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from codefathom.answer.answer_types import Source
from codefathom.answer.budget import CountTokens
from codefathom.answer.prompting import Language
from codefathom.text.printable import show_line, show_name
from codefathom.types import Hit

_MAX_EXCERPTS = 5
_MAX_LINES, _MAX_LINES_OF_BEST = 14, 24
_LINES_BEFORE = 3
_LEAST_SHARE = 0.5  # of the best score
_STAND_IN = {
    "en": "The model failed before its answer was whole. The best excerpts:\n\n{excerpts}",
    "zh": "模型在完成回答之前出错。最相关的代码：\n\n{excerpts}",
}


def excerpts(hits: Sequence[Hit]) -> tuple[Source, ...]:
    """Return the lines to show of the best hits, numbered; hits far behind the best are left out."""
    good = [hit for hit in hits[:_MAX_EXCERPTS] if hit.score >= _LEAST_SHARE * hits[0].score]
    return tuple(_excerpt(number, hit) for number, hit in enumerate(good, start=1))


def fitting(sources: Sequence[Source], most: int, count: CountTokens) -> tuple[Source, ...]:
    """Return as many of the best excerpts as fit into a number of tokens; the first one may be cut to its beginning."""
    n_fit = len(sources)
    while n_fit > 1 and count(_checked(sources[:n_fit])) > most:
        n_fit -= 1
    kept = tuple(sources[:n_fit])
    if n_fit == 1 and count(_checked(kept)) > most:
        kept = (_shortened(kept[0], lambda source: count(_checked([source])) <= most),)
    return kept


def _shortened(source: Source, fits: Callable[[Source], bool]) -> Source:
    """Return the longest beginning of an excerpt, in whole lines, that fits; at least its first line."""
    lines = source.text.split("\n")
    for n_lines in range(len(lines) - 1, 0, -1):
        shorter = replace(source, end_line=source.start_line + n_lines - 1, text="\n".join(lines[:n_lines]))
        if fits(shorter):
            return shorter
    return replace(source, end_line=source.start_line, text=lines[0])


def _checked(sources: Sequence[Source]) -> str:
    """Return the text as it will be once its citations are checked: each number becomes a place."""
    text = answer_of(sources)
    for source in sources:
        text = text.replace(f"[{source.number}]", f"[{source.path}:{source.start_line}-{source.end_line}]", 1)
    return text


def stand_in(sources: Sequence[Source], language: Language) -> str:
    """Return the excerpts as the text that replaces the missing answer of a model."""
    return _STAND_IN[language].format(excerpts=answer_of(sources)) if sources else ""


def answer_of(sources: Sequence[Source]) -> str:
    """Return the excerpts as text; each cites itself by number."""
    return "\n".join(_shown(source) for source in sources)


def nearest(sources: Sequence[Source]) -> str:
    """Return a list of places, each cited by number."""
    return "".join(
        f"- [{source.number}]{f' {show_name(source.symbol)}' if source.symbol else ''}\n" for source in sources
    )


def _excerpt(number: int, hit: Hit) -> Source:
    """The lines of the hit, around its best one when there are too many, without blank ones at either end."""
    chunk = hit.chunk
    most = _MAX_LINES_OF_BEST if number == 1 else _MAX_LINES
    lines = chunk.text.split("\n")
    best = max(hit.line - chunk.start_line, 0)
    first = max(min(best - _LINES_BEFORE, len(lines) - most), 0)
    end = min(first + most, len(lines))
    while end - first > 1 and not lines[end - 1].strip():
        end -= 1
    while end - first > 1 and not lines[first].strip():
        first += 1
    text, start = "\n".join(lines[first:end]), chunk.start_line
    place = (start + first, start + end - 1)
    source = Source(number, chunk.path, *place, text, hit.name, hit.score, hit.reason, is_part=chunk.is_part)
    return replace(source, document_place=hit.document_place)


def _shown(source: Source) -> str:
    # A heading is no code: between backticks it would be taken for a quotation.
    mark = "" if " " in source.symbol else "`"
    name = f"{mark}{show_name(source.symbol)}{mark} " if source.symbol else ""
    reason = f": {show_line(source.reason)}" if source.reason else ""
    fence = "```" if "```" not in source.text else "~~~~"
    place = f", {show_line(source.place)}" if source.place else ""
    return f"{source.number}. {name}[{source.number}]{place}{reason}\n\n{fence}\n{source.text}\n{fence}\n"
