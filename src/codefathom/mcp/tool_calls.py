"""Calls of the tools: questions to the projects of the caller, and what becomes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from codefathom.errors import FathomError, SourceError, UsageError
from codefathom.facts.remedies import for_agents
from codefathom.mcp.agent_masks import AgentMasks, masked_text
from codefathom.mcp.call_control import NO_CONTROL, CallControl
from codefathom.mcp.project_questions import (
    answered,
    body_of,
    check_paths,
    entries_of,
    history_of,
    impact_of,
    lines_of,
    mapped,
    near_hint,
    outlines_of,
    related,
    searched,
    tour,
    with_own_paths,
)
from codefathom.mcp.same_files import MOST_LOOKED_AT, FileNames, first_files, names_of_places
from codefathom.mcp.tool_arguments import cursor_of, most_tokens, named, number, option_values, switch, text_of, texts
from codefathom.mcp.tool_projects import ChosenProjects, ToolProjects
from codefathom.mcp.tool_results import (
    AgentWords,
    Body,
    ListPage,
    PageExtras,
    PlaceLines,
    answer_result,
    as_text_alone,
    cut,
    fits,
    folder_result,
    history_result,
    impact_result,
    in_words,
    indexing_result,
    is_first_look,
    lines_result,
    map_result,
    places_result,
    refusal_result,
    related_result,
    search_result,
    tour_result,
    within,
)
from codefathom.question.question import Question
from codefathom.question.question_options import question_of
from codefathom.search.filter.filter_options import condition_of
from codefathom.system.stopping import stopping
from codefathom.types import Progress, RelatedResult, SearchResult, Symbol

# A name of a symbol without its mark.
_NAME = re.compile(r"[^\W\d][\w.:#]*")
_MOST_DIFF_CHARS = 400_000  # a line on stdin may have a million bytes, and JSON escapes
_RELATED_HINT = "give a path or @@name as target, or the text of a unified diff as diff"
# A search answers from the files themselves while the first index is made; the others need it, and wait for it where
# the caller hears how far it is.
_SEARCH_PATIENCE_S, _USUAL_PATIENCE_S = 1.0, 2.0
TOLD_PATIENCE_S = 40.0

ToolResult: TypeAlias = Mapping[str, Any]


class _Call(NamedTuple):
    """One call of a tool, its arguments by our own names."""

    arguments: Mapping[str, Any]
    most: int  # tokens
    chosen: ChosenProjects
    control: CallControl
    masks: AgentMasks


class _Bodies:
    """The bodies of the hits of one search, each read when there may be room for it."""

    def __init__(self, call: _Call, result: SearchResult) -> None:
        self._call = call
        self._hits = result.hits  # with their real paths
        self._symbols: Mapping[str, Sequence[Symbol]] | None = None

    def __call__(self, place: int) -> Iterator[Body]:
        """Yield the whole symbol of a hit, then what the hit itself has of it."""
        hit, chosen = self._hits[place], self._call.chosen
        with suppress(SourceError, UsageError):  # the file is gone, or shorter now
            if self._symbols is None:
                self._symbols = outlines_of(chosen, [hit.chunk.path for hit in self._hits])
            lines = self._call.masks.shown(body_of(chosen, hit, self._symbols.get(hit.chunk.path, ())))
            yield list(enumerate(lines.text.removesuffix("\n").split("\n"), start=lines.start_line))
        yield list(enumerate(hit.chunk.text.removesuffix("\n").split("\n"), start=hit.chunk.start_line))


class ToolCalls:
    """The tools for whoever may ask these projects. Safe to use from several threads."""

    def __init__(self, projects: ToolProjects, words: AgentWords = for_agents) -> None:
        """`words` names in a remedy what the agent has: without them, tools and a terminal."""
        self._projects = projects
        self._words = words

    def call(self, name: str, arguments: Mapping[str, Any], *, control: CallControl = NO_CONTROL) -> ToolResult:
        """Return the result of a tool of the list; a mistake is a result too, and names the remedy.

        Once the control says that the call is cancelled, its work ends, and the result is of no use.
        """
        run = _RUN[name]
        try:
            arguments = named(name, arguments)
            most = most_tokens(arguments)
            names = texts(arguments, "projects")
            control = control.with_patience(patience_s(name, is_heard=control.is_heard))
            with stopping(control.is_cancelled), self._projects.chosen(names, control) as chosen:
                masks = AgentMasks(shows=chosen.shows_secrets)
                result = run(self, _Call(with_own_paths(arguments, chosen), most, chosen, control, masks))
                return masks.noted(result) if chosen.is_structured else as_text_alone(masks.noted(result))
        except FathomError as error:
            return refusal_result(error, self._words)

    def _search(self, call: _Call) -> ToolResult:
        arguments = call.arguments
        cursor = cursor_of(arguments)
        values = {**option_values("search", arguments), "offset": cursor.offset}
        question = question_of("search", text_of(arguments, "query"), values, condition_of(values))
        paths = texts(arguments, "paths")
        if question.commits and call.chosen.indexing:  # without an index of the files, only they can be looked into
            return indexing_result(_step(call.chosen))
        answer = searched(call.chosen, replace(question, for_agent=True), paths)
        if not answer.hits and not call.chosen.indexing:
            check_paths(call.chosen, paths)
        result = in_words(call.masks.of(call.masks.shown(answer)), self._words)
        step = _step(call.chosen) if call.chosen.indexing else None
        # Who names a budget wants it used; the usual answer stays as short as it is.
        bodies = _Bodies(call, answer) if "max_tokens" in arguments and step is None else None
        is_limited = "limit" in arguments
        near = () if is_limited or step is not None else self._near(call, question, answer)

        def within_room(most: int) -> ToolResult:
            return search_result(
                result, cursor, most, is_limited=is_limited, extras=PageExtras(bodies, near), indexing=step
            )

        most = call.masks.room(call.most)
        first = within_room(most)
        # A body may have the first mark, whose note needs room.
        return first if call.masks.room(call.most) == most else within_room(call.masks.room(call.most))

    def _near(self, call: _Call, question: Question, answer: SearchResult) -> tuple[FileNames, ...]:
        """Return names of the best places in the files of the first hits, where an answer shows them."""
        files = first_files(answer.hits) if is_first_look(answer, is_limited=False) else ()
        if not files:
            return ()
        there = replace(question, for_agent=True, limit=MOST_LOOKED_AT)
        places = searched(call.chosen, there, files, are_files=True).hits
        symbols = outlines_of(call.chosen, files)
        # Only names are shown, and only their marks count.
        return call.masks.of(names_of_places(question.text, places, {path: symbols.get(path, ()) for path in files}))

    def _read(self, call: _Call) -> ToolResult:
        arguments = call.arguments
        start = number(arguments, "start_line", 0, 0, 9_999_999)
        end = number(arguments, "end_line", 0, 0, 9_999_999)
        single = texts(arguments, "path") if isinstance(arguments.get("path"), list) else ()
        if not single and (arguments.get("path") or not arguments.get("paths")):
            single = (text_of(arguments, "path"),)
        paths = tuple(dict.fromkeys((*single, *texts(arguments, "paths"))))
        if switch(arguments, "history"):
            return self._history(call, paths, start, end)
        if len(paths) > 1:
            if start or end:
                raise UsageError("start_line and end_line are for one path", hint="write each as path:10-40")
            places = [self._place(call, path) for path in paths]
            return places_result(places, call.masks.room(call.most))
        (path,) = paths
        try:
            place = self._lines(call, path, start, end)
        except SourceError as error:
            return self._folder(call, path, error)
        most = call.masks.room(call.most)
        kept = len(place.lines)
        while kept and not fits(lines_result(place.path, place.lines, place.start_line, kept), most):
            kept = kept // 2
        return lines_result(place.path, place.lines, place.start_line, kept)

    def _history(self, call: _Call, paths: Sequence[str], start: int, end: int) -> ToolResult:
        if len(paths) > 1:
            raise UsageError("the history is that of one place", hint="give one path, or @@name of a symbol")
        if call.chosen.indexing:
            return indexing_result(_step(call.chosen))
        place = f"{paths[0]}:{start}-{end or start}" if start else paths[0]
        return history_result(history_of(call.chosen, place), call.masks.room(call.most))

    def _place(self, call: _Call, path: str) -> PlaceLines:
        """Return the lines of one of several places, or why there are none."""
        try:
            return self._lines(call, path)
        except (SourceError, UsageError) as error:
            return PlaceLines(cut(masked_text(path), 300), problem=cut(masked_text(str(error)), 300))

    def _folder(self, call: _Call, path: str, error: SourceError) -> ToolResult:
        """Return the entries of a folder. Raises SourceError, with the paths that were meant, where there is none."""
        if call.chosen.indexing:
            raise error
        listed = entries_of(call.chosen, path)
        if listed is None:
            raise SourceError(str(error), hint=near_hint(call.chosen, path)) from error
        return folder_result(call.masks.of(listed), call.masks.room(call.most))

    def _lines(self, call: _Call, path: str, start: int = 0, end: int = 0) -> PlaceLines:
        """Return lines of a file. Raises SourceError and UsageError."""
        question = Question(path, "lines", start_line=start, end_line=end, for_agent=True)
        try:
            excerpt = lines_of(call.chosen, question)
        except SourceError as error:
            # A hit of an earlier question to other projects begins with the name of one of them.
            owner = "" if texts(call.arguments, "projects") else self._projects.owner(path)
            if not owner:
                raise
            try:
                with self._projects.chosen([owner], call.control) as chosen:
                    excerpt = lines_of(chosen, question)
            except SourceError:
                raise error from None
        shown_path = call.masks.of(call.masks.shown(excerpt).file.path)
        lines = [cut(line, call.most // 4) for line in excerpt.text.removesuffix("\n").split("\n")]
        return PlaceLines(shown_path, excerpt.start_line, lines)

    def _related(self, call: _Call) -> ToolResult:
        if call.chosen.indexing:
            return indexing_result(_step(call.chosen))
        arguments = call.arguments
        if bool(arguments.get("diff")) == bool(arguments.get("target")):
            raise UsageError("related needs a target or a diff, and not both", hint=_RELATED_HINT)
        cursor = cursor_of(arguments)
        if arguments.get("diff"):
            diff = text_of(arguments, "diff", _MOST_DIFF_CHARS)
            impact = call.masks.of(impact_of(call.chosen, diff, cursor.offset))
            return impact_result(impact, ListPage(cursor, call.chosen.generation), call.masks.room(call.most))
        question = question_of("related", text_of(arguments, "target"), option_values("related", arguments))
        connections = call.masks.of(_connections(call.chosen, replace(question, offset=cursor.offset)))
        return related_result(connections, ListPage(cursor, call.chosen.generation), call.masks.room(call.most))

    def _map(self, call: _Call) -> ToolResult:
        if call.chosen.indexing:
            return indexing_result(_step(call.chosen))
        cursor = cursor_of(call.arguments)
        query = text_of(call.arguments, "query") if call.arguments.get("query") else ""
        question = replace(
            question_of("map", query, option_values("map", call.arguments)),
            files=texts(call.arguments, "files"),
            folders=texts(call.arguments, "paths"),
            offset=cursor.offset,
        )

        check_paths(call.chosen, question.folders)
        if question.tour:
            return tour_result(call.masks.of(tour(call.chosen, question)), call.masks.room(call.most))

        def result_of(budget: int) -> ToolResult:
            outline = call.masks.of(mapped(call.chosen, replace(question, max_tokens=budget)))
            return call.masks.noted(map_result(outline, ListPage(cursor, call.chosen.generation)))

        # What is around the outline, and its line ends in JSON, take room, too.
        return within(call.most, result_of, call.most)

    def _ask(self, call: _Call) -> ToolResult:
        if call.chosen.indexing:
            return indexing_result(_step(call.chosen))
        commits = switch(call.arguments, "commits")
        question = Question(text_of(call.arguments, "question"), "ask", commits=commits, or_commits=True)
        answer = call.masks.answer(answered(call.chosen, question, call.control))
        return answer_result(answer, call.masks.room(call.most))


def _connections(chosen: ChosenProjects, question: Question) -> RelatedResult:
    """Return the connections of a target; one that is no path is tried as the name of a symbol. Raises UsageError."""
    try:
        return related(chosen, question)
    except UsageError:
        if not _NAME.fullmatch(question.text):
            raise
        return related(chosen, replace(question, text=f"@@{question.text}"))


def patience_s(name: str, *, is_heard: bool) -> float:
    """Return the seconds that a call of a tool waits for a first index; who hears how far it is waits longer."""
    if name == "search":
        return _SEARCH_PATIENCE_S
    return TOLD_PATIENCE_S if is_heard else _USUAL_PATIENCE_S


_RUN: Mapping[str, Callable[[ToolCalls, _Call], ToolResult]] = {
    "search": ToolCalls._search,
    "read": ToolCalls._read,
    "related": ToolCalls._related,
    "map": ToolCalls._map,
    "ask": ToolCalls._ask,
}


def _step(chosen: ChosenProjects) -> Progress:
    steps = [item.step for item in chosen.indexing.values()]
    return Progress("index", sum(step.n_done for step in steps), sum(step.n_total for step in steps))
