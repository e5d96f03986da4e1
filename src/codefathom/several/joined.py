"""Several projects as one, for an answer or a context: results are merged, and paths begin with the project's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from codefathom.answer.answer_types import Answer, AnswerRequest, with_hint
from codefathom.answer.ask import AnswerSources, Text, ask
from codefathom.answer.stages.answer_run import AnswerProject
from codefathom.answer.stages.select import OutlineFile
from codefathom.engine import Engine
from codefathom.errors import FathomError, SourceError, UsageError
from codefathom.project.answer_setup import ContextSize, packed, prepare
from codefathom.project.originals import Lines
from codefathom.project.texts import naming, with_symbols
from codefathom.search.federation import in_project, merge
from codefathom.several.side_by_side import outcomes
from codefathom.types import Context, RelatedResult, SearchResult, Where


def ask_several(
    engines: Mapping[str, Engine], request: AnswerRequest, unopened: Mapping[str, FathomError] = MappingProxyType({})
) -> Iterator[AnswerSources | Text | Answer]:
    """Yield the sources of an answer from all of these projects, its text in checked pieces, and the answer last.

    Settings and models are those of the first project; the answer names those that could not be opened. Raises
    FathomError as `Engine.ask_events` does.
    """
    pinned = _pinned(request.pinned, engines)
    first = next(iter(engines))
    parts = {
        name: prepare(
            request._replace(pinned=pinned[name], documents=request.documents if name == first else {}),
            engine.opened,
            _look(engine, request.where),
        )
        for name, engine in engines.items()
    }
    all_pinned = tuple(
        item if item.path in request.documents else item._replace(path=f"{name}/{item.path}")
        for name, part in parts.items()
        for item in part.question.pinned
    )
    project = _project({name: part.project for name, part in parts.items()}, request.documents, unopened)
    for event in ask(replace(parts[first].question, pinned=all_pinned), project, parts[first].models):
        yield with_symbols(event, project.name_of, project.on_disk) if isinstance(event, Answer) else event


def context(engines: Mapping[str, Engine], result: SearchResult, size: ContextSize) -> Context:
    """Return the files of a result of `as_one` within a window of tokens, as `packed` says."""
    texts = {name: Lines(engine.opened).text for name, engine in engines.items()}
    names = {name: naming(engine.opened) for name, engine in engines.items()}

    def text(path: str) -> str:
        name, _, rest = path.partition("/")
        return texts[name](rest)

    def name_of(path: str, start_line: int, end_line: int) -> str:
        name, _, rest = path.partition("/")
        return names[name](rest, start_line, end_line)

    return packed(next(iter(engines.values())).settings, result, size, text, name_of)


def _look(engine: Engine, where: Where | None) -> Callable[[str, int], SearchResult]:
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


def _project(
    parts: Mapping[str, AnswerProject], documents: Mapping[str, str], unopened: Mapping[str, FathomError]
) -> AnswerProject:
    """Return the projects as one. Documents that were given belong to none of them and are read by the first."""

    def of(path: str) -> tuple[AnswerProject | None, str]:
        if path in documents:
            return next(iter(parts.values())), path
        name, _, rest = path.partition("/")
        return parts.get(name), rest

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
            for item in part.outline(
                [path.removeprefix(f"{name}/") for path in candidates if path.startswith(f"{name}/")]
            )
        ]

    def search(query: str, limit: int) -> SearchResult:
        results, failed = outcomes(lambda part: part.search(query, limit), parts)
        return as_one(results, {**unopened, **failed}, limit)

    return AnswerProject(search, text, on_disk, name_of, related, outline)


def as_one(results: Mapping[str, SearchResult], failed: Mapping[str, FathomError], limit: int) -> SearchResult:
    """Return results of projects as one, which names the projects that failed. Raises their first error without any."""
    if not results:
        raise next(iter(failed.values()))
    best = max(results.values(), key=lambda result: result.confidence)
    # What a question names may be in one project only: that is no failure of the others.
    problems = [f"{name}: {with_hint(error)}" for name, error in failed.items() if not isinstance(error, UsageError)]
    return replace(
        best,
        hits=tuple(map(in_project, merge(results, limit))),
        degraded=tuple(dict.fromkeys([*problems, *(text for result in results.values() for text in result.degraded)])),
        stale=any(result.stale for result in results.values()),
        weak=all(result.weak for result in results.values()),
        unanswerable=all(result.unanswerable for result in results.values()),
    )
