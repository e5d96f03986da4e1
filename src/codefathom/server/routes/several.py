"""One question to several projects: their results merged by rank, one answer. Paths begin with the project's id."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from codefathom.answer.answer_types import Answer, AnswerRequest
from codefathom.answer.ask import AnswerSources, Text, ask
from codefathom.answer.budget import Material
from codefathom.answer.stages.answer_run import AnswerProject
from codefathom.answer.stages.select import OutlineFile
from codefathom.errors import SourceError, UsageError
from codefathom.project.answer_setup import AnswerSetup, prepare
from codefathom.project.texts import with_symbols
from codefathom.search.federation import in_project, merge
from codefathom.server.projects.served_engine import ServedEngine
from codefathom.types import RelatedResult, SearchResult, Where


def ask_several(engines: Mapping[str, ServedEngine], request: AnswerRequest) -> Iterator[AnswerSources | Text | Answer]:
    """Yield the sources of an answer from all of these projects, its text in checked pieces, and the answer last.

    Settings and models are those of the first project. Raises FathomError as `Engine.ask_events` does.
    """
    pinned = _pinned(request.pinned, engines)
    parts = {
        name: prepare(request._replace(pinned=pinned[name]), engine.opened, _look(engine, request.where))
        for name, engine in engines.items()
    }
    first = next(iter(parts.values()))
    all_pinned = tuple(_named(name, item) for name, part in parts.items() for item in part.question.pinned)
    project = _project(parts)
    for event in ask(replace(first.question, pinned=all_pinned), project, first.models):
        yield with_symbols(event, project.name_of, project.on_disk) if isinstance(event, Answer) else event


def _look(engine: ServedEngine, where: Where | None) -> Callable[[str, int], SearchResult]:
    return lambda query, limit: engine.search(query, limit=limit, level="chunk", where=where)


def _pinned(paths: Sequence[str], names: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Return the paths of each project. Raises SourceError for a path that does not begin with one of them."""
    chosen: dict[str, list[str]] = {name: [] for name in names}
    for path in paths:
        name, _, rest = path.partition("/")
        if name not in chosen or not rest:
            raise SourceError(
                f"{path!r} is in none of the projects",
                hint=f"write the project before the path: {next(iter(chosen))}/{path}",
            )
        chosen[name].append(rest)
    return {name: tuple(rest) for name, rest in chosen.items()}


def _named(name: str, item: Material) -> Material:
    return item._replace(path=f"{name}/{item.path}")


def _project(parts: Mapping[str, AnswerSetup]) -> AnswerProject:
    """Return the projects as one."""

    def of(path: str) -> tuple[AnswerProject | None, str]:
        name, _, rest = path.partition("/")
        part = parts.get(name)
        return (part.project if part else None), rest

    def text(path: str) -> str:
        project, rest = of(path)
        return project.text(rest) if project else ""

    def on_disk(path: str) -> str | None:
        project, rest = of(path)
        return project.on_disk(rest) if project else None

    def name_of(path: str, start_line: int, end_line: int) -> str:
        project, rest = of(path)
        return project.name_of(rest, start_line, end_line) if project else ""

    def related(path: str) -> RelatedResult:
        name = path.partition("/")[0]
        project, rest = of(path)
        if project is None:
            raise UsageError(
                f"{path!r} is in none of the projects",
                hint=f"write the project before the path: {next(iter(parts))}/{path}",
            )
        result = project.related(rest)
        return replace(result, edges=tuple(replace(edge, path=f"{name}/{edge.path}") for edge in result.edges))

    def outline(candidates: Sequence[str]) -> Sequence[OutlineFile]:
        return [
            item._replace(path=f"{name}/{item.path}")
            for name, part in parts.items()
            for item in part.project.outline(
                [path.removeprefix(f"{name}/") for path in candidates if path.startswith(f"{name}/")]
            )
        ]

    return AnswerProject(lambda query, limit: _search(query, limit, parts), text, on_disk, name_of, related, outline)


def _search(query: str, limit: int, parts: Mapping[str, AnswerSetup]) -> SearchResult:
    """Search everywhere; what a question names may be in one project only."""
    results: dict[str, SearchResult] = {}
    error: UsageError | None = None
    for name, part in parts.items():
        try:
            results[name] = part.project.search(query, limit)
        except UsageError as problem:
            error = error or problem
    if error is not None and not results:
        raise error
    best = max(results.values(), key=lambda result: result.confidence)
    return replace(
        best,
        hits=tuple(map(in_project, merge(results, limit))),
        degraded=tuple(dict.fromkeys(text for result in results.values() for text in result.degraded)),
        stale=any(result.stale for result in results.values()),
        weak=all(result.weak for result in results.values()),
        unanswerable=all(result.unanswerable for result in results.values()),
    )
