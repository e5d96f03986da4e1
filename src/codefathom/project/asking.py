"""Questions of each kind to one project: from a question, an index and its settings to the events of an answer.

What a kind needs beside a search is imported where it is used: a search pays for nothing else.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from codefathom import types
from codefathom.errors import FathomError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.languages import is_extracted
from codefathom.facts.reasons import Note
from codefathom.project.by_head import marked
from codefathom.project.current_index import CurrentIndex, OnFile
from codefathom.project.damage import damage_of, made_meanwhile, reading, state_of
from codefathom.project.meant_commits import meant_commits, told
from codefathom.project.opening import OpenedProject, fusion
from codefathom.question.extents import (
    MOST_HITS,
    USUAL_DEPTH,
    USUAL_MAP_TOKENS,
    check_offset,
    check_page,
    check_texts,
    limit_of,
    most_parts,
)
from codefathom.question.question import Kind, Question
from codefathom.search.filter.filter_options import IMPORT, kind_named
from codefathom.search.pipeline import search as search_index
from codefathom.search.question.history_words import asks_for_history
from codefathom.search.question.query import branch_words, parse_query
from codefathom.search.request import SearchRequest
from codefathom.search.verdict import of_several
from codefathom.source.masks import MASK
from codefathom.stores.conditions import combine, mentions
from codefathom.text.printable import is_text
from codefathom.text.written_place import Place, place_of
from codefathom.types.choices import FUNCTION_KINDS, LEVELS, MODES, LevelName
from codefathom.types.hits import ConsultedFile, Hit, SearchPlan, SearchResult
from codefathom.types.where import Filter, Where

if TYPE_CHECKING:
    from codefathom.answer.answer_types import AnswerRequest
    from codefathom.project.browsing import Files
    from codefathom.project.opened_asker import OpenedAsker
    from codefathom.search.graph.impact import Impact
    from codefathom.search.graph.project_map import MapParts, ProjectMap
    from codefathom.search.retrieve import Sources
    from codefathom.types.context_files import Context
    from codefathom.types.edges import NamedPlace, RelatedResult
    from codefathom.types.line_histories import LineHistory
    from codefathom.types.listed_files import FileLines, FileOutline, SomeFiles, SomeSymbols, SomeTexts, TourStep

_COMMIT = r"commit/[0-9a-f]{12}(:\d+(-\d+)?)?"
_MAP_HITS = 50  # that draw files into a map


def answer(index: CurrentIndex, question: Question) -> Iterator[Any]:
    """Yield the events of an answer to a question of any kind, the result last; see `Asker`."""
    meant = meant_commits(index.place, question)
    chosen = index.history if is_of_commits(question) else index.asked_by(question)
    if meant == "commits":
        try:
            chosen = index.history
        except FathomError:  # the repository may be gone, or git
            meant = "files"
    return told(meant, _ANSWERS[question.kind](chosen, question))


def is_of_commits(question: Question) -> bool:
    """Return True for a question that the commits answer: one that says so, or that names the lines of a commit."""
    return question.commits or (question.kind == "lines" and re.fullmatch(_COMMIT, question.text) is not None)


def search(index: CurrentIndex, question: Question, on_file: OnFile = lambda _: None) -> SearchResult:
    """Return the best places; `on_file` takes each file that is looked into. See `Engine.search`."""
    chosen = index.asked_by(question)
    return chosen.in_time(lambda: _search_now(chosen, question, on_file))


def _search_now(index: CurrentIndex, question: Question, on_file: OnFile) -> SearchResult:
    started = time.perf_counter()
    request = _request(question, index)
    if question.files:
        index.take_in(question.files, on_file)
    stale = index.refresh()
    with reading(index.believed()) as opened:
        generation = opened.catalog.generation  # before anything is read of it
        result = search_index(request, _sources(opened))
        if made_meanwhile(opened):
            generation = opened.catalog.generation
            result = search_index(request, _sources(opened))
        notes = (*index.take_notes(), *state_of(opened))
        hits = _with_places(opened.marked(_as_in_files(result.hits, opened), generation), opened)
        if opened.place.revision is not None:
            from codefathom.project.commit_hits import with_commits

            hits = with_commits(hits, opened)
        if question.group == "repository":
            from codefathom.search.grouping import by_repository

            hits = by_repository(hits, lambda hit: ("", hit.chunk.path))
        _tell(hits, on_file)
        hits, has_marks = _shown_to_agents(hits, opened) if question.for_agent else (hits, False)
        settings, partial = index.settings, index.partial()
        return SearchResult(
            query=question.text,
            hits=hits,
            level=request.level,
            mode=result.mode,
            confidence=result.confidence,
            generation=generation,
            problems=(*index.partial_notes(), *result.problems, *notes),
            stale=stale,
            advice=result.suggestion,
            milliseconds=(time.perf_counter() - started) * 1000,
            weak=result.verdict.weak,
            unanswerable=result.verdict.unanswerable,
            plan=_as_history(result.plan, request, opened),
            scale=" ".join((result.mode, opened.views.model, settings.search.ranking, settings.rerank.model)),
            offset=request.offset,
            rest=result.rest if partial is None else replace(result.rest, is_exact=False),
            has_marks=has_marks,
            partial=partial,
            branches=index.branches_asked(),
            facets=result.facets if partial is None else replace(result.facets, is_whole=False),
        )


def _sources(opened: OpenedProject) -> Sources:
    if opened.place.revision is None:
        return opened.sources
    from codefathom.project.commit_hits import with_messages

    return with_messages(opened)


def _as_history(plan: SearchPlan, request: SearchRequest, opened: OpenedProject) -> SearchPlan:
    """Return the plan of a search; where commits answer a question about the history, it says so."""
    if opened.place.revision is None or request.mode != "auto" or not asks_for_history(request.query.as_written):
        return plan
    from codefathom.source.revisions.commits import CommitHistory

    if not isinstance(opened.place.revision, CommitHistory):
        return plan
    return SearchPlan("answer", Note(say.ABOUT_HISTORY))


def kept_to(index: CurrentIndex, files: Sequence[str]) -> Where | None:
    """Return the condition that a place lies in one of these files and folders; None when one is the root.

    Raises UsageError for a path that leads out of the project.
    """
    from codefathom.index.by_path import below_one_of, places_of

    return below_one_of(places_of(index.opened.recipe.root, files))


def files_of(opened: OpenedProject) -> Files:
    """Return the indexed files: their names, lines and outlines."""
    from codefathom.project.browsing import Files
    from codefathom.project.originals import Lines

    return Files(opened.catalog, Lines(opened))


def name_at(opened: OpenedProject, path: str, line: int, name: str) -> NamedPlace:
    """Return what a name means on a line of a file; see `search.graph.named_place`."""
    from codefathom.search.graph import named_place

    place = named_place.name_at(opened.catalog, path, line, name)
    return replace(place, definitions=marked(opened.catalog, place.definitions))


def n_symbols(opened: OpenedProject, query: str, path: str, kind: str) -> int:
    """Return the number of symbols, or of imports, that a name, a path and a kind find."""
    if kind == IMPORT:
        from codefathom.project.browsing import imports

        return len(imports(opened.catalog, query, path))
    return opened.catalog.n_symbols(query, path=path, kind=kind)


def symbols(index: CurrentIndex, question: Question) -> SomeSymbols:
    """Return a page of symbols; see `Engine.symbols`."""
    (query, branches), path, offset = branch_words(question.text), question.path, question.offset
    check_texts(query, path, question.symbol_kind)
    limit = limit_of(question)
    kind = kind_named(question.symbol_kind) if question.symbol_kind else ""
    index.refresh()
    with reading(index.believed(), whole=True) as opened:
        if branches is not None:
            from codefathom.project.kept_branches import kept_symbols

            return kept_symbols(opened, question, query, kind, index.files_of_branches(branches))
        if kind == IMPORT:
            from codefathom.project.browsing import imports

            every = imports(opened.catalog, query, path)
            return types.SomeSymbols(tuple(every[offset : offset + limit]), len(every))
        page = marked(opened.catalog, opened.catalog.symbols(query, path=path, kind=kind, limit=limit, offset=offset))
        is_all = not offset and len(page) < limit
        return types.SomeSymbols(page, len(page) if is_all else n_symbols(opened, query, path, kind))


def map_parts(index: CurrentIndex, question: Question) -> MapParts:
    """Return the parts of a map, the most central first; hits of the question fulfil its filter."""
    from codefathom.search.graph.near_map import map_for
    from codefathom.search.graph.project_map import MOST_KEPT, MapRequest, map_parts
    from codefathom.search.graph.usual_map import usual_parts
    from codefathom.search.question.tasks import task_of

    check_texts(*question.files, *question.folders)
    look = Question(task_of(question.text), where=question.where, limit=_MAP_HITS, level="chunk")
    words, branches = branch_words(question.text)
    result = search(index, look) if words else None
    index.refresh()
    # What does not answer the question draws nothing into the map.
    hits = result.hits if result and not result.unanswerable else ()
    with reading(index.believed(), whole=True) as opened:
        request = MapRequest(hits, question.files, question.folders)
        most = question.limit if question.as_parts else most_parts(question)
        if branches is not None:
            parts = map_parts(opened.catalog, request).of_files(index.files_of_branches(branches))
        elif most is None:
            parts = map_parts(opened.catalog, request)
        elif not any(request) and most <= MOST_KEPT:
            parts = usual_parts(opened.catalog)
        else:
            parts = map_for(opened.catalog, request, most)
    return parts._replace(verdict=of_several([result])) if result else parts


def fitted_map(parts: MapParts, question: Question, tokenizer_path: str) -> ProjectMap:
    """Return a map of parts within the budget of a question, behind its offset."""
    from codefathom.answer.tokens import counter
    from codefathom.search.graph.project_map import fitted

    check_offset(question.offset)
    most = USUAL_MAP_TOKENS if question.max_tokens is None else question.max_tokens
    return fitted(question.text, parts.behind(question.offset), most, counter(tokenizer_path))


def _search(index: CurrentIndex, question: Question) -> Iterator[SearchResult]:
    yield search(index, question)


def _symbols(index: CurrentIndex, question: Question) -> Iterator[SomeSymbols]:
    yield index.in_time(lambda: symbols(index, question)._replace(limitations=index.partial_notes()))


def _files(index: CurrentIndex, question: Question) -> Iterator[SomeFiles]:
    yield index.in_time(lambda: _as_it_is(index).files(question)._replace(limitations=index.partial_notes()))


def _texts(index: CurrentIndex, question: Question) -> Iterator[SomeTexts]:
    texts = _as_it_is(index).texts(question)
    yield texts._replace(problems=damage_of(index.last_opened))


def _outlines(index: CurrentIndex, question: Question) -> Iterator[tuple[FileOutline, ...]]:
    yield _as_it_is(index).outlines(question)


def _as_it_is(index: CurrentIndex) -> OpenedAsker:
    from codefathom.project.opened_asker import OpenedAsker

    return OpenedAsker(index.believed(index.opened))


def _lines(index: CurrentIndex, question: Question) -> Iterator[FileLines]:
    index.refresh()
    opened = index.believed()
    place = _place(question, opened)
    lines = files_of(opened).lines(place.path, max(place.start_line, 1), place.end_line)
    if question.for_agent and opened.place.settings.mcp.secrets == "mask":
        from codefathom.project.marked_lines import MarkedLines

        shown = MarkedLines(opened).lines(place.path, lines.start_line, lines.text)
        lines = lines._replace(text=shown, has_marks=shown != lines.text)
    yield lines


def _place(question: Question, opened: OpenedProject) -> Place:
    """Return the place that a question for lines names: a path as it is, else one with its lines."""
    is_path = is_text(question.text) and opened.catalog.documents_at({question.text}) != []
    place = Place(question.text) if is_path else place_of(question.text)
    return Place(place.path, question.start_line or place.start_line, question.end_line or place.end_line)


def _related(index: CurrentIndex, question: Question) -> Iterator[RelatedResult]:
    from codefathom.search.graph.related import connections

    check_texts(question.text)
    limit_of(question)  # it is checked before anything is looked up
    target, branches = branch_words(question.text)
    index.refresh()

    def ask() -> RelatedResult:
        is_kept = None if branches is None else index.files_of_branches(branches)
        with reading(index.believed(), whole=True) as opened:
            result = connections(opened.catalog, replace(question, text=target), opened.files_with, is_kept)
        if not (notes := index.partial_notes()):
            return result
        return replace(result, limitations=(*notes, *result.limitations), rest=replace(result.rest, is_exact=False))

    yield index.in_time(ask)


def _impact(index: CurrentIndex, question: Question) -> Iterator[Impact]:
    from codefathom.project.impact.file_changes import of_diff, of_range
    from codefathom.project.impact.impact_of_change import impact_of_change

    check_texts(question.text, question.diff)
    if not question.diff:
        index.refuse_fleet("has no commits of its own", instead="")
    limit = limit_of(question)
    index.refresh()
    with reading(index.believed(), whole=True) as opened:
        files = of_diff(opened, question.diff) if question.diff else of_range(opened, question.text)
        result = impact_of_change(opened, files, depth=_depth_of(question), limit=limit, offset=question.offset)
    yield result


def _history(index: CurrentIndex, question: Question) -> Iterator[LineHistory]:
    from codefathom.project.history_of_lines import line_history

    check_texts(question.text, question.since, question.author)
    limit_of(question)
    index.refresh()

    def ask() -> LineHistory:
        with reading(index.believed(), whole=True) as opened:
            return line_history(opened, question)

    yield index.in_time(ask)


def tour(index: CurrentIndex, question: Question) -> tuple[TourStep, ...]:
    """Return places to read in a project. Raises UsageError for what would keep it to a part of the project."""
    from codefathom.search.graph.glance import tour

    if question.text or question.files or question.folders or question.offset:
        raise UsageError(
            "a tour leads through a whole project", hint="leave out the question, the files, the folders and the offset"
        )
    index.refresh()
    with reading(index.believed(), whole=True) as opened:
        return tour(opened.catalog)


def _map(index: CurrentIndex, question: Question) -> Iterator[MapParts | ProjectMap | tuple[TourStep, ...]]:
    if question.tour:
        yield index.in_time(lambda: tour(index, question))
        return
    check_offset(question.offset)

    def ask() -> MapParts:
        parts = map_parts(index, question)
        return parts._replace(limitations=(*parts.limitations, *index.partial_notes()))

    parts = index.in_time(ask)
    if question.as_parts:
        yield parts if question.limit is None else parts.first(question.limit)
        return
    yield fitted_map(parts, question, index.settings.context.tokenizer_path)


def _context(index: CurrentIndex, question: Question) -> Iterator[Context]:
    from codefathom.project import answer_setup

    size = answer_setup.size_of(question, index.settings.context)
    limit = answer_setup.HITS_PER_FILE * size.max_files

    def ask() -> Context:
        result = search(index, Question(question.text, where=question.where, limit=limit, level="chunk"))
        with reading(index.believed(), whole=True) as opened:
            return answer_setup.context(opened, answer_setup.for_prompt(result, anyway=question.anyway), size)

    yield index.in_time(ask)


def _ask(index: CurrentIndex, question: Question) -> Iterator[Any]:
    """Return sources, text and answer, or what an agent does. What is wrong with the question is raised at once."""
    from codefathom.project import agent_setup, answer_setup
    from codefathom.project.opened_asker import OpenedAsker

    request = answer_setup.request_of(question)
    opened = _ready_for(index, request)

    def look(query: str, level: LevelName, limit: int) -> SearchResult:
        return search(index, Question(query, limit=limit, level=level, where=question.where))

    with index.looking(), reading(opened):
        events = agent_setup.answered(request, OpenedAsker(opened), look, as_agent=question.as_agent)
    return answer_setup.with_damage(opened, events)


def _ready_for(index: CurrentIndex, request: AnswerRequest) -> OpenedProject:
    """Return the index, up to date, for a request that is checked before. Raises UsageError."""
    check_texts(request.text, *request.pinned, *request.documents, *request.documents.values())
    index.refresh()
    return index.believed()


_ANSWERS: Mapping[Kind, Callable[[CurrentIndex, Question], Iterator[Any]]] = {
    "search": _search,
    "context": _context,
    "related": _related,
    "impact": _impact,
    "symbols": _symbols,
    "map": _map,
    "files": _files,
    "lines": _lines,
    "texts": _texts,
    "outlines": _outlines,
    "history": _history,
    "ask": _ask,
}


def _request(question: Question, index: CurrentIndex) -> SearchRequest:
    """Return the search in an index that a question means, with the settings where it says nothing."""
    settings = index.settings.search
    check_page(question, MOST_HITS)
    check_texts(question.text)
    revision = index.place.revision
    if revision is not None:
        from codefathom.project.commit_filters import of_commits, query_of_commits, with_commit_filters
        from codefathom.source.revisions.commits import CommitHistory

        question = with_commit_filters(question, revision) if isinstance(revision, CommitHistory) else question
    parsed = parse_query(question.text)
    if parsed.is_empty:
        raise UsageError("the query is empty", hint="ask for something, such as: where are orders priced?")
    if question.where is not None and revision and not revision.has_times and mentions(question.where, "modified"):
        raise UsageError(
            f"the files of the revision {revision.name!r} have no time of change",
            hint="search the files in the folder instead, or leave out changed_after, changed_before and modified; "
            "`git log --since` lists the commits of a time",
        )
    unit = _chosen("level", question.level or settings.level, LEVELS)
    mode = _chosen("mode", question.mode or settings.mode, MODES)
    functions_only = Filter("kind", "in", FUNCTION_KINDS) if unit == "function" else None
    inside = kept_to(index, question.files) if question.files else None
    where = combine(question.where, functions_only, inside)
    query = parsed._replace(where=parsed.where and index.condition(parsed.where))
    if revision is not None and isinstance(revision, CommitHistory):
        query, where = query_of_commits(query, revision), of_commits(where, revision)
    return SearchRequest(
        query=query,
        limit=question.limit or settings.limit,
        offset=question.offset,
        level="symbol" if unit == "function" else unit,
        mode=mode,
        where=where,
        min_score=question.min_score,
        facets=question.facets,
        fusion=fusion(index.settings),
        expression_limit_s=settings.expression_timeout_s,
    )


def _depth_of(question: Question) -> int:
    return USUAL_DEPTH[question.kind] if question.depth is None else question.depth


_Name = TypeVar("_Name", bound=str)


def _chosen(what: str, value: str, choices: tuple[_Name, ...]) -> _Name:
    if value in choices:
        return choices[choices.index(value)]
    raise UsageError(f"{what} cannot be {value!r}", hint=f"choose one of {', '.join(choices)}")


def _tell(hits: Sequence[Hit], on_file: OnFile) -> None:
    """Tell of each file that has hits, once, the best first."""
    stale = {hit.chunk.path for hit in hits if hit.stale}
    for path in dict.fromkeys(hit.chunk.path for hit in hits):
        on_file(ConsultedFile(path, "read", "it has changed since it was indexed" if path in stale else ""))


def _as_in_files(hits: Sequence[Hit], opened: OpenedProject) -> tuple[Hit, ...]:
    """Return hits with the lines of their files where the index has masks in them."""
    if not any(MASK in hit.chunk.text for hit in hits):
        return tuple(hits)
    from codefathom.project.originals import Lines

    return Lines(opened).hits(hits)


def _shown_to_agents(hits: tuple[Hit, ...], opened: OpenedProject) -> tuple[tuple[Hit, ...], bool]:
    """Return hits as agents may see them, and whether there are marks in them."""
    if opened.place.settings.mcp.secrets == "show":
        return hits, False
    from codefathom.project.marked_lines import MarkedLines

    return MarkedLines(opened).hits(hits)


def _with_places(hits: tuple[Hit, ...], opened: OpenedProject) -> tuple[Hit, ...]:
    """Return hits with their pages, headings and cells, where they lie in documents that have them."""
    if not any(is_extracted(hit.chunk.path) for hit in hits):
        return hits
    from codefathom.source.document_places import Places

    return Places(opened.catalog.text).with_places(hits)
