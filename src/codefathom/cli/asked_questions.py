"""The options of a command → the question that it asks: one for one project, for several and for paths."""

from __future__ import annotations

from dataclasses import replace

from codefathom.cli.filter_arguments import where
from codefathom.cli.options import (
    ContextOptions,
    HistoryOptions,
    ImpactOptions,
    MapOptions,
    RelatedOptions,
    SearchOptions,
    SymbolsOptions,
)
from codefathom.question.extents import MOST_ITEMS
from codefathom.question.question import Question
from codefathom.question.question_options import question_of


def search_question(options: SearchOptions, folder: str) -> Question:
    """Return a search; folders of a filter are those below `folder`, without one those of each project."""
    return question_of("search", options.query, options.values, where(options, folder))


def context_question(options: ContextOptions, folder: str) -> Question:
    """Return the question of `fathom context`."""
    question = question_of("context", options.query, options.values, where(options, folder))
    return replace(question, format_name=options.format)


def symbols_question(options: SymbolsOptions) -> Question:
    """Return the question of `fathom symbols`."""
    return Question(
        options.query,
        "symbols",
        path=options.path,
        symbol_kind=options.kind,
        limit=options.limit,
        offset=options.offset,
    )


def related_question(options: RelatedOptions) -> Question:
    """Return the question of `fathom related`."""
    question = question_of("related", options.target, options.values)
    return replace(question, depth=options.depth, limit=options.limit, offset=options.offset)


def impact_question(options: ImpactOptions, diff: str | None) -> Question:
    """Return the question of `fathom impact`, with all items of each list; without a diff, revisions are named."""
    revisions = options.change if diff is None else "HEAD"  # an empty diff is that of a tree without changes
    return Question(revisions, "impact", diff=diff or "", depth=options.depth, limit=MOST_ITEMS)


def history_question(options: HistoryOptions, target: str) -> Question:
    """Return the question of `fathom history` about a place as the project has it."""
    return Question(
        target, "history", since=options.since, author=options.author, limit=options.limit, offset=options.offset
    )


def map_question(options: MapOptions) -> Question:
    """Return the question of `fathom map`."""
    return replace(
        question_of("map", options.query, options.values),
        files=options.file,
        folders=options.dir,
        max_tokens=options.max_tokens,
        offset=options.offset,
    )
