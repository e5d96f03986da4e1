"""Notes on an answer beside its text: its sources, its confidence, its stages. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from codefathom.answer.answer_types import Answer, Citation, Source, StageTrace
from codefathom.text.printable import show_line, show_name

if TYPE_CHECKING:
    from codefathom.cli.display.output import Style

_MAX_NOT_CITED = 10


def sources_text(answer: Answer, style: Style) -> str:
    """Return the sources of a model's answer: those cited, with the cited lines, then the others it was shown.

    A source keeps the number under which the model was shown it.
    """
    cited = _cited(answer)
    if cited:
        rows = [_row(number, path, *_lines_and_symbols(places), style) for (number, path), places in cited.items()]
    else:
        rows = [_row(source.number, source.path, _lines(source), [source.symbol], style) for source in answer.sources]
    head = "sources:" if cited else "sources, none of them cited:"
    return "".join(f"{line}\n" for line in ("", head, *rows, *_not_cited(answer, cited, style))) if rows else ""


def _cited(answer: Answer) -> dict[tuple[int, str], list[Citation]]:
    """Return the citations by the number and path of their source, in the order of the numbers."""
    by_source: dict[tuple[int, str], list[Citation]] = {}
    for citation in answer.citations:
        by_source.setdefault((_number(citation, answer.sources), citation.path), []).append(citation)
    return dict(sorted(by_source.items()))


def _number(citation: Citation, sources: Iterable[Source]) -> int:
    """Return the source that holds the first cited line; of lines that have moved since, one of the same file."""
    of_file = [source for source in sources if source.path == citation.path]
    holding = [source for source in of_file if source.start_line <= citation.start_line <= source.end_line]
    return next((source.number for source in (*holding, *of_file)), 0)


def _lines_and_symbols(places: Sequence[Citation]) -> tuple[str, Iterable[str]]:
    ordered = sorted(places, key=lambda place: (place.start_line, place.end_line))
    return ",".join(map(_lines, ordered)), dict.fromkeys(place.symbol for place in ordered if place.symbol)


def _lines(place: Citation | Source) -> str:
    lines = f"{place.start_line}-{place.end_line}" if place.start_line != place.end_line else str(place.start_line)
    return f"{lines} ({show_line(place.place)})" if place.place else lines


def _row(number: int, path: str, lines: str, symbols: Iterable[str], style: Style) -> str:
    return f"  [{number}] {style.strong(f'{show_name(path)}:{lines}')}  {', '.join(map(show_name, symbols))}".rstrip()


def _not_cited(answer: Answer, cited: Iterable[tuple[int, str]], style: Style) -> Iterator[str]:
    paths = {path for _, path in cited}
    others: dict[str, int] = {}
    for source in answer.sources if paths else ():
        if source.path not in paths:
            others.setdefault(source.path, source.number)
    if others:
        shown = ", ".join(f"[{number}] {show_name(path)}" for path, number in list(others.items())[:_MAX_NOT_CITED])
        more = f" and {len(others) - _MAX_NOT_CITED} more" if len(others) > _MAX_NOT_CITED else ""
        yield style.faint(f"  not cited: {shown}{more}")


def trust_text(answer: Answer) -> str:
    """Return the confidence, the checked citations, the model and the cost of an answer, in one line."""
    n_verified, n_dropped = len(answer.citations), len(answer.dropped)
    confidence = f"confidence {answer.label} ({answer.confidence:.2f})"
    verified = f"{n_verified} of {n_verified + n_dropped} citations verified"
    claims = f"{answer.claims.n_checked} of {answer.claims.n} sentences with a checked place"
    return ", ".join((confidence, *[claims] * bool(answer.model and answer.claims.n), verified, _model_text(answer)))


def command_text(answer: Answer) -> str:
    """Return the model, its cost and the files that it was shown to write a shell command, in one line."""
    paths = ", ".join(show_name(path) for path in dict.fromkeys(source.path for source in answer.sources))
    return f"{_model_text(answer)}, from {paths or 'no file'}"


def _model_text(answer: Answer) -> str:
    tokens = f", {sum(answer.usage)} tokens" if sum(answer.usage) else ""
    cost = "" if answer.cost is None else f", cost {_money(answer.cost)}"
    return f"{answer.model}{tokens}{cost}"


def stages_text(trace: Sequence[StageTrace]) -> str:
    """Return the stages as a table."""
    head = ("stage", "ms", "in", "out", "tokens", "cost", "detail")
    rows = [head, *map(_cells, trace)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)]
    return "\n".join(_aligned(row, widths) for row in rows)


def _cells(stage: StageTrace) -> tuple[str, ...]:
    tokens = f"{stage.usage.prompt_tokens}+{stage.usage.completion_tokens}" if any(stage.usage) else ""
    cost = "" if stage.cost is None else _money(stage.cost)
    numbers = (f"{stage.milliseconds:.0f}", str(stage.n_in), str(stage.n_out), tokens, cost)
    return (show_line(stage.stage), *numbers, show_line(" ".join(stage.detail.split())))


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:], strict=True)]
    return "  ".join(["", row[0].ljust(widths[0]), *cells, row[-1]]).rstrip()


def _money(cost: float) -> str:
    return "<0.0001" if 0 < cost < 0.0001 else f"{cost:.4f}"
