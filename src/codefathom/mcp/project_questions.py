"""Questions of the tools to the projects of a call; paths begin with their project where several may be meant.

A session that asks one project imports nothing for several, nor for answers: twenty of them may be open.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.mcp.agent_masks import AgentMasks, masked_text
from codefathom.mcp.call_control import CallControl
from codefathom.mcp.tool_arguments import Place, place_of, where_of
from codefathom.mcp.tool_projects import ChosenProjects, FirstIndex
from codefathom.project.location import path_within
from codefathom.search.graph.impact_part import in_project
from codefathom.search.graph.project_map import ProjectMap, map_text
from codefathom.search.verdict import Verdict
from codefathom.system.stopping import check_stopped
from codefathom.types import LevelName, Mode, Progress, RelatedResult, Rest, SearchResult

if TYPE_CHECKING:
    from codefathom.answer.answer_types import Answer, AnswerStep, OnStep
    from codefathom.askers.open_projects import Federation
    from codefathom.search.graph.impact import Impact

_T = TypeVar("_T")
_MOST_REACHED = 1_000  # more than an answer ever has room for
_MOST_EDGES = 1_000


class SearchWords(NamedTuple):
    """Words and limits of a search, as the engine names them."""

    query: str
    limit: int
    offset: int  # places of earlier pages
    level: LevelName | None
    mode: Mode
    paths: tuple[str, ...]
    languages: tuple[str, ...]
    min_score: float


class MapWords(NamedTuple):
    """Words and limits of a map."""

    query: str
    files: Sequence[str]
    folders: Sequence[str]
    offset: int  # files and symbols of earlier pages


class ReadLines(NamedTuple):
    """Lines of a file, with its path as it is shown."""

    path: str
    start_line: int
    text: str


class Outline(NamedTuple):
    """The map of one project or several as a text."""

    text: str
    completeness: str
    n_left_out: int  # files
    n_symbols_left_out: int
    next_offset: int | None  # of the next page
    verdict: Verdict | None  # on the question, where there is one


def searched(chosen: ChosenProjects, words: SearchWords, masks: AgentMasks) -> SearchResult:
    """Return the best places of all projects; of one whose first index is being made, those that words find.

    Raises the error of the first project if there is no result.
    """
    projects: dict[str, Engine | FirstIndex] = {**chosen.engines, **chosen.indexing}
    paths = _paths_of_each(words.paths, projects) if chosen.is_named else dict.fromkeys(projects, words.paths)

    def look(name: str, query: str, limit: int, offset: int) -> SearchResult:
        where, project = where_of(paths[name], words.languages), projects[name]
        if isinstance(project, FirstIndex):
            result = project.files.search(query, where=where, limit=limit, offset=offset)
            masks.has_shown("".join(hit.chunk.text for hit in result.hits))
            return result
        result = project.search(
            query,
            limit=limit,
            offset=offset,
            level=words.level,
            mode=words.mode,
            where=where,
            min_score=words.min_score,
        )
        return masks.hits(project, result)

    if not chosen.is_named:
        return look(_only(chosen), words.query, words.limit, words.offset)
    from codefathom.askers.joined_answers import as_one, each_asked
    from codefathom.search.federation import merge, reach

    # The list of a single project is not made anew for each page.
    limit, offset = (words.limit, words.offset) if len(paths) == 1 else (reach(words.limit, words.offset), 0)
    results, failed = each_asked(
        lambda name, query: look(name, query, limit, offset), {name: name for name in paths}, words.query
    )
    return as_one(results, {**chosen.failed, **failed}, merge(results, words.limit, words.offset), words.offset)


def lines_of(chosen: ChosenProjects, path: str, start_line: int, end_line: int, masks: AgentMasks) -> ReadLines:
    """Return lines of a file; a path may be a handle such as `a/b.py:10-40`. Raises SourceError, UsageError."""
    name, rest = _owner(chosen, path)
    if name in chosen.failed:
        raise chosen.failed[name]
    shown = f"{name}/" * chosen.is_named
    if name in chosen.indexing:
        place = _place(rest, start_line, end_line)
        text = chosen.indexing[name].files.lines(place.path, place.start_line, place.end_line)
        masks.has_shown(text)
        return ReadLines(shown + place.path, place.start_line, text)
    engine = chosen.engines[name]
    engine.refresh()
    is_path = engine.opened.catalog.documents_at({rest}) != []
    place = Place(rest, start_line, end_line) if is_path else _place(rest, start_line, end_line)
    start = max(place.start_line, 1)
    text = masks.lines(engine, place.path, start, engine.files.lines(place.path, start, place.end_line).text)
    return ReadLines(shown + place.path, start, text)


def related(chosen: ChosenProjects, target: str, offset: int) -> RelatedResult:
    """Return the connections of a file or symbol in each project that has it, as one result."""
    if not chosen.is_named:
        return _engine(chosen).related(target, limit=_MOST_EDGES, offset=offset)
    from codefathom.askers.joined_answers import related_in

    of_each = _federation(chosen.engines, chosen).related(target, limit=offset + _MOST_EDGES).results
    results = [related_in(result, name) for name, result in of_each.items()]
    edges = tuple(edge for result in results for edge in result.edges)
    rest = Rest(sum(result.rest.n for result in results), all(result.rest.is_exact for result in results))
    said = " ".join(dict.fromkeys(result.completeness for result in results))
    return replace(results[0], edges=edges[offset:], completeness=said, offset=offset, rest=rest)


def impact_of(chosen: ChosenProjects, diff: str, offset: int) -> Impact:
    """Return the reach of a diff in its project. Raises UsageError where several projects may be meant."""
    names = (*chosen.engines, *chosen.failed)
    if len(names) > 1:
        raise UsageError("a diff is about one project", hint=f"name one of these in projects: {', '.join(names)}")
    impact = _engine(chosen).impact(diff=diff, limit=_MOST_REACHED, offset=offset)
    if not chosen.is_named:
        return impact
    return in_project(impact, names[0])


def mapped(chosen: ChosenProjects, words: MapWords, max_tokens: int) -> Outline:
    """Return one map of all projects within a budget of tokens."""
    query, files, folders, offset = words
    if not chosen.is_named:
        own_map = _engine(chosen).map(query, files=files, folders=folders, max_tokens=max_tokens, offset=offset)
        return _outline(own_map)
    below = _paths_of_each(folders, chosen.engines)
    own = {name: chosen.engines[name] for name in below}
    kept = tuple(dict.fromkeys(folder for names in below.values() for folder in names if folder != "."))
    projects = _federation(own, chosen)
    return _outline(projects.map(query, files=files, folders=kept, max_tokens=max_tokens, offset=offset).map)


def answered(chosen: ChosenProjects, question: str, control: CallControl) -> Answer:
    """Return the answer of a model; the steps on the way are told. Raises StoppedError once the caller has left."""
    from codefathom.answer.answer_types import Answer, AnswerRequest

    request = AnswerRequest(question, on_step=_teller(control), for_agent=True)
    source = _federation(chosen.engines, chosen) if chosen.is_named else _engine(chosen)
    answer: Answer | None = None
    with closing(_closable(source.ask_events(request))) as events:
        for event in events:
            check_stopped()
            answer = event if isinstance(event, Answer) else answer
    assert answer is not None  # the last event of every answer
    return answer


def _federation(engines: Mapping[str, Engine], chosen: ChosenProjects) -> Federation:
    from codefathom.askers.open_projects import Federation

    # No path of the disk is understood: a caller names files of these projects only.
    return Federation(engines, chosen.failed, here=None)


def _closable(events: Iterator[_T]) -> Generator[_T, None, None]:
    yield from events


def _teller(control: CallControl) -> OnStep:
    n_steps = 0

    def tell(step: AnswerStep) -> None:
        nonlocal n_steps
        n_steps += 1
        control.on_progress(Progress("ask", n_steps, 0, message=masked_text(step.text)))

    return tell


def _only(chosen: ChosenProjects) -> str:
    """Return the name of the only project. Raises its error if it could not be opened."""
    for error in chosen.failed.values():
        raise error
    return next(iter({**chosen.engines, **chosen.indexing}))


def _engine(chosen: ChosenProjects) -> Engine:
    return chosen.engines[_only(chosen)]


def _owner(chosen: ChosenProjects, path: str) -> tuple[str, str]:
    """Return the project of a path, and the path in it. Raises UsageError where it begins with none of them."""
    if not chosen.is_named:
        return _only(chosen), path
    name, _, rest = path.partition("/")
    names = (*chosen.engines, *chosen.indexing, *chosen.failed)
    if name in names and rest:
        return name, rest
    if len(names) == 1:
        return names[0], path
    raise UsageError(
        f"{path[:200]!r} is in none of these projects", hint=f"begin the path with one of {', '.join(names)}"
    )


_WITH_PATHS = ("path", "target", "paths", "files")


def with_own_paths(arguments: Mapping[str, Any], chosen: ChosenProjects) -> Mapping[str, Any]:
    """Return arguments in which a whole path of the disk inside a project is written as an answer would write it."""
    roots = {name: engine.root for name, engine in chosen.engines.items()}
    roots |= {name: first.files.root for name, first in chosen.indexing.items()}

    def own(value: Any) -> Any:
        return _own_path(value, roots, chosen.is_named) if isinstance(value, str) else value

    def each_own(value: Any) -> Any:  # lists in a list are no paths, and may lie deeper than a function can call itself
        return [own(one) for one in value] if isinstance(value, list) else own(value)

    return {name: each_own(value) if name in _WITH_PATHS else value for name, value in arguments.items()}


def _own_path(path: str, roots: Mapping[str, str], is_named: bool) -> str:
    places = {name: place for name, root in roots.items() if (place := path_within(path, root)) is not None}
    if not places:
        return path
    name = max(places, key=lambda name: len(roots[name]))  # the innermost
    return f"{name}/" * is_named + places[name]


def _place(path: str, start_line: int, end_line: int) -> Place:
    place = place_of(path)
    return Place(place.path, start_line or place.start_line, end_line or place.end_line)


def _paths_of_each(paths: Sequence[str], names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the paths of each project that they keep a question to: those that begin with its name, and patterns."""
    own: dict[str, list[str]] = {name: [] for name in names}
    for path in paths:
        name, _, rest = path.removeprefix("./").partition("/")
        for of in [name] if name in own else own:
            own[of].append((rest or ".") if name in own else path)
    return {name: tuple(kept) for name, kept in own.items() if kept or not paths}


def _outline(of: ProjectMap) -> Outline:
    return Outline(
        map_text(of.files), of.completeness, of.n_left_out, of.n_symbols_left_out, of.next_offset, of.verdict
    )
