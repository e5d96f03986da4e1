"""Questions of each kind to one project: from a question, an index and its settings to the events of an answer.

What a kind needs beside a search is imported where it is used: a search pays for nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from codefathom.errors import UsageError
from codefathom.facts.languages import is_extracted
from codefathom.facts.reasons import LEFT_OUT, Note
from codefathom.project.current_index import CurrentIndex
from codefathom.project.damage import made_meanwhile, reading, state_of
from codefathom.project.opening import OpenedProject, fusion
from codefathom.question.extents import (
    MOST_HITS,
    USUAL_DEPTH,
    USUAL_MAP_TOKENS,
    check_offset,
    check_page,
    check_texts,
    limit_of,
)
from codefathom.question.question import Kind, Question
from codefathom.search.filter.filter_options import IMPORT, kind_named
from codefathom.search.pipeline import search as search_index
from codefathom.search.question.query import parse_query
from codefathom.search.request import SearchRequest
from codefathom.search.verdict import of_several
from codefathom.source.masks import MASK
from codefathom.stores.conditions import combine, mentions
from codefathom.types import (
    FUNCTION_KINDS,
    LEVELS,
    MODES,
    ConsultedFile,
    Context,
    Filter,
    Hit,
    IndexedFile,
    LevelName,
    RelatedResult,
    SearchResult,
    SomeSymbols,
    Where,
)

if TYPE_CHECKING:
    from codefathom.answer.answer_types import AnswerRequest
    from codefathom.project.browsing import Files
    from codefathom.search.graph.impact import Impact
    from codefathom.search.graph.project_map import MapParts, ProjectMap

OnFile = Callable[[ConsultedFile], None]

_MAP_HITS = 50  # that draw files into a map


def answer(index: CurrentIndex, question: Question) -> Iterator[Any]:
    """Yield the events of an answer to a question of any kind, the result last; see `Asker`."""
    return _ANSWERS[question.kind](index, question)


def search(index: CurrentIndex, question: Question, on_file: OnFile = lambda _: None) -> SearchResult:
    """Return the best places; `on_file` takes each file that is looked into. See `Engine.search`."""
    started = time.perf_counter()
    request = _request(question, index)
    if question.files:
        request = replace(request, where=combine(request.where, kept_to(index, question.files)))
        index.note_later(_taken_in(index, question.files, on_file))
    stale = index.refresh()
    with reading(index.believed()) as opened:
        result = search_index(request, opened.sources)
        if made_meanwhile(opened):
            result = search_index(request, opened.sources)
        notes = (*index.take_notes(), *state_of(opened))
        hits = _with_places(opened.marked(_as_in_files(result.hits, opened)), opened)
        _tell(hits, on_file)
        settings = index.settings
        return SearchResult(
            query=question.text,
            hits=hits,
            level=request.level,
            mode=result.mode,
            confidence=result.confidence,
            generation=opened.catalog.generation,
            problems=(*result.problems, *notes),
            stale=stale,
            advice=result.suggestion,
            milliseconds=(time.perf_counter() - started) * 1000,
            weak=result.verdict.weak,
            unanswerable=result.verdict.unanswerable,
            plan=result.plan,
            scale=" ".join((result.mode, opened.views.model, settings.search.ranking, settings.rerank.model)),
            offset=request.offset,
            rest=result.rest,
        )


def take_in(index: CurrentIndex, files: Sequence[str]) -> None:
    """Take in what has changed in these files and folders, as a search does that names them.

    The next search names a path that is no file of the index in `degraded`. Raises as `Engine.update`.
    """
    refused = _taken_in(index, files, lambda _: None)
    index.note_later(tuple(dict.fromkeys((*index.take_notes(), *refused))))


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


def n_symbols(opened: OpenedProject, query: str, path: str, kind: str) -> int:
    """Return the number of symbols, or of imports, that a name, a path and a kind find."""
    if kind == IMPORT:
        from codefathom.project.browsing import imports

        return len(imports(opened.catalog, query, path))
    return opened.catalog.n_symbols(query, path=path, kind=kind)


def symbols(index: CurrentIndex, question: Question) -> SomeSymbols:
    """Return a page of symbols; see `Engine.symbols`."""
    query, path, offset = question.text, question.path, question.offset
    check_texts(query, path, question.symbol_kind)
    limit = limit_of(question)
    kind = kind_named(question.symbol_kind) if question.symbol_kind else ""
    index.refresh()
    with reading(index.believed(), whole=True) as opened:
        if kind == IMPORT:
            from codefathom.project.browsing import imports

            every = imports(opened.catalog, query, path)
            return SomeSymbols(tuple(every[offset : offset + limit]), len(every))
        page = tuple(opened.catalog.symbols(query, path=path, kind=kind, limit=limit, offset=offset))
        is_all = not offset and len(page) < limit
        return SomeSymbols(page, len(page) if is_all else n_symbols(opened, query, path, kind))


def map_parts(index: CurrentIndex, question: Question) -> MapParts:
    """Return the parts of a map, the most central first; hits of the question fulfil its filter."""
    from codefathom.search.graph.project_map import MapRequest, map_parts

    check_texts(*question.files, *question.folders)
    look = Question(question.text, where=question.where, limit=_MAP_HITS, level="chunk")
    result = search(index, look) if question.text else None
    index.refresh()
    # What does not answer the question draws nothing into the map.
    hits = result.hits if result and not result.unanswerable else ()
    with reading(index.believed(), whole=True) as opened:
        parts = map_parts(opened.catalog, MapRequest(hits, question.files, question.folders))
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
    yield symbols(index, question)


def _files(index: CurrentIndex, question: Question) -> Iterator[tuple[IndexedFile, ...]]:
    yield files_of(index.believed(index.opened)).listed(question.text)


def _related(index: CurrentIndex, question: Question) -> Iterator[RelatedResult]:
    from codefathom.search.graph.related import related

    check_texts(question.text)
    limit = limit_of(question)
    index.refresh()
    with reading(index.believed(), whole=True) as opened:
        result = related(opened.catalog, question.text, depth=_depth_of(question), limit=limit, offset=question.offset)
    yield result


def _impact(index: CurrentIndex, question: Question) -> Iterator[Impact]:
    from codefathom.project.impact.file_changes import of_diff, of_range
    from codefathom.project.impact.impact_of_change import impact_of_change

    check_texts(question.text, question.diff)
    limit = limit_of(question)
    index.refresh()
    with reading(index.believed(), whole=True) as opened:
        files = of_diff(opened, question.diff) if question.diff else of_range(opened, question.text)
        result = impact_of_change(opened, files, depth=_depth_of(question), limit=limit, offset=question.offset)
    yield result


def _map(index: CurrentIndex, question: Question) -> Iterator[MapParts | ProjectMap]:
    check_offset(question.offset)
    parts = map_parts(index, question)
    yield parts if question.as_parts else fitted_map(parts, question, index.settings.context.tokenizer_path)


def _context(index: CurrentIndex, question: Question) -> Iterator[Context]:
    from codefathom.project import answer_setup

    size = answer_setup.size_of(question, index.settings.context)
    limit = answer_setup.HITS_PER_FILE * size.max_files
    result = search(index, Question(question.text, where=question.where, limit=limit, level="chunk"))
    with reading(index.believed(), whole=True) as opened:
        context = answer_setup.context(opened, answer_setup.for_prompt(result, anyway=question.anyway), size)
    yield context


def _ask(index: CurrentIndex, question: Question) -> Iterator[Any]:
    """Return sources, text and answer, or what an agent does. What is wrong with the question is raised at once."""
    from codefathom.project import agent_setup, answer_setup

    request = answer_setup.request_of(question)
    opened = _ready_for(index, request)

    def look(query: str, level: LevelName, limit: int) -> SearchResult:
        return search(index, Question(query, limit=limit, level=level, where=question.where))

    return agent_setup.answered(request, opened, look, as_agent=question.as_agent)


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
    "ask": _ask,
}


def _request(question: Question, index: CurrentIndex) -> SearchRequest:
    """Return the search in an index that a question means, with the settings where it says nothing."""
    settings = index.settings.search
    check_texts(question.text)
    check_page(question, MOST_HITS)
    parsed = parse_query(question.text)
    if parsed.is_empty:
        raise UsageError("the query is empty", hint='ask for something, such as fathom search "retry with backoff"')
    if question.where is not None and index.place.revision is not None and mentions(question.where, "modified"):
        raise UsageError(
            f"the files of the revision {index.place.revision.name!r} have no time of change",
            hint="search the files in the folder instead, or leave out changed_after, changed_before and modified; "
            "`git log --since` lists the commits of a time",
        )
    unit = _chosen("level", question.level or settings.level, LEVELS)
    where = question.where
    return SearchRequest(
        query=parsed,
        limit=question.limit or settings.limit,
        offset=question.offset,
        level="symbol" if unit == "function" else unit,
        mode=_chosen("mode", question.mode or settings.mode, MODES),
        where=combine(where, Filter("kind", "in", FUNCTION_KINDS)) if unit == "function" else where,
        min_score=question.min_score,
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


def _taken_in(index: CurrentIndex, files: Sequence[str], on_file: OnFile) -> list[Note]:
    """Take in these files, and return a note for each that is not in the index."""
    if index.place.revision is not None:  # the usual look at the branch comes next
        return []
    report = index.update(files, {}, None)
    for act, paths in (
        ("added", report.added),
        ("changed", report.changed),
        ("removed", report.removed),
        ("unchanged", report.unchanged),
    ):
        for path in paths:
            on_file(ConsultedFile(path, act))
    for item in report.refused:
        on_file(ConsultedFile(item.path, "refused", item.reason))
    return [Note(LEFT_OUT, {"path": item.path, "reason": item.reason}) for item in report.refused]


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


def _with_places(hits: tuple[Hit, ...], opened: OpenedProject) -> tuple[Hit, ...]:
    """Return hits with their pages, headings and cells, where they lie in documents that have them."""
    if not any(is_extracted(hit.chunk.path) for hit in hits):
        return hits
    from codefathom.source.document_places import Places

    return Places(opened.catalog.text).with_places(hits)
