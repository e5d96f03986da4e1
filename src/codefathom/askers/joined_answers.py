"""Several projects as one, for an answer or a context: results are merged, and paths begin with the project's name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from codefathom.answer.answer_types import Answer, AnswerRequest, with_hint
from codefathom.answer.ask import AnswerSources, Text
from codefathom.answer.budget import NameOf
from codefathom.answer.stages.answer_run import AnswerProject
from codefathom.answer.stages.select import OutlineFile
from codefathom.askers.kept import KeptProject
from codefathom.askers.side_by_side import outcomes
from codefathom.errors import FathomError, FirstRunError, SourceError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, Told
from codefathom.project.answer_setup import AnswerSetup, ContextSize, packed, prepare, texts_for, written
from codefathom.project.texts import naming
from codefathom.question.asker import result_of
from codefathom.question.extents import MOST_ITEMS
from codefathom.question.question import Question
from codefathom.search.federation import MergedHits, in_project, merge, questions_for
from codefathom.search.verdict import of_several
from codefathom.types import Context, Partial, RelatedResult, Rest, SearchResult, Where

_P = TypeVar("_P")
_T = TypeVar("_T")


def ask_several(
    projects: Mapping[str, KeptProject],
    request: AnswerRequest,
    unopened: Mapping[str, FathomError],
    notes: Callable[[], Sequence[Note]],
) -> Iterator[AnswerSources | Text | Answer]:
    """Yield the sources of an answer from all of these projects, its text in checked pieces, and the answer last.

    Settings and models are those of the first project; the answer names those that could not be opened, and has the
    notes, which are asked for once all projects are up to date. Raises FathomError as `Engine.ask_events` does.
    """
    pinned = pinned_in(request.pinned, projects)
    opened, failed = ready(projects)
    first = next(iter(opened))
    hides = opened[first].hides_secrets  # its models see the texts of all
    parts: dict[str, AnswerSetup] = {}
    for name, project in opened.items():
        own = request._replace(pinned=pinned[name], documents=request.documents if name == first else {})
        texts = texts_for(own, project.asker, hides_secrets=hides)
        parts[name] = prepare(own, texts, _look(project, request.where))
    all_pinned = tuple(
        item if item.path in request.documents else item._replace(path=f"{name}/{item.path}")
        for name, part in parts.items()
        for item in part.question.pinned
    )
    kept = {name: projects[name].kept(part.project) for name, part in parts.items()}
    together = _project(kept, request.documents, {**unopened, **failed}, tuple(notes()))
    question = replace(parts[first].question, pinned=all_pinned)
    yield from written(AnswerSetup(question, together, parts[first].models))


def ready(projects: Mapping[str, KeptProject]) -> tuple[dict[str, KeptProject], dict[str, FathomError]]:
    """Bring projects up to date; return them, and the errors of the others. Raises the first one without any."""
    refreshed, failed = outcomes(lambda project: project.refresh(), projects)
    if not refreshed:
        raise next(iter(failed.values()))
    return {name: projects[name] for name in refreshed}, failed


def without_first_runs(
    projects: Mapping[str, KeptProject],
) -> tuple[dict[str, KeptProject], dict[str, FathomError]]:
    """Return the projects of several that can be asked now, and the errors of those whose first index is being made.

    Nobody waits for these while others can answer; where it is so of all of them, all are asked.
    """
    waiting: dict[str, FathomError] = {}
    for name, project in projects.items() if len(projects) > 1 else ():
        with suppress(FathomError):  # the question itself runs into it
            if (progress := project.first_run) is not None:
                waiting[name] = FirstRunError.of(name, progress)
    if len(waiting) == len(projects):
        return dict(projects), {}
    return {name: project for name, project in projects.items() if name not in waiting}, waiting


def context(projects: Mapping[str, KeptProject], result: SearchResult, size: ContextSize) -> Context:
    """Return the files of a result of `as_one` within a window of tokens, as `packed` says."""
    names = {name: naming(project.asker) for name, project in projects.items()}

    def text(path: str) -> str | None:
        name, _, rest = path.partition("/")
        asked_for = Question(kind="texts", files=(rest,), as_of="question")
        return next((item.text for item in result_of(projects[name].asker, asked_for).texts), None)

    def name_of(path: str, start_line: int, end_line: int) -> str:
        name, _, rest = path.partition("/")
        return names[name](rest, start_line, end_line)

    return packed(next(iter(projects.values())).settings, result, size, text, name_of)


def _look(project: KeptProject, where: Where | None) -> Callable[[str, int], SearchResult]:
    return lambda query, limit: project.look(query, limit, where=where)


def pinned_in(paths: Sequence[str], projects: Mapping[str, KeptProject]) -> dict[str, tuple[str, ...]]:
    """Return the paths of each project.

    Raises SourceError for a path that does not begin with one of them, or does not lie in what is asked about.
    """
    chosen: dict[str, list[str]] = {name: [] for name in projects}
    for path in paths:
        name, _, rest = path.partition("/")
        if name not in chosen or not rest or not projects[name].contains()(rest):
            raise SourceError(
                f"{path!r} is not inside any of the projects",
                hint=f"write the project before the path: {next(iter(chosen))}/{path}",
            )
        chosen[name].append(rest)
    return {name: tuple(rest) for name, rest in chosen.items()}


class _Readable(Protocol):
    """A project of which texts can be read."""

    @property
    def text(self) -> Callable[[str], str]: ...
    @property
    def on_disk(self) -> Callable[[str], str | None]: ...
    @property
    def name_of(self) -> NameOf: ...


_R = TypeVar("_R", bound=_Readable)


class JoinedTexts(Generic[_R]):
    """The texts of several projects by paths that begin with the project's name.

    Documents that were given belong to none of them and are read by the first.
    """

    def __init__(self, parts: Mapping[str, _R], documents: Collection[str] = ()) -> None:
        self._parts = parts
        self._documents = documents

    def of(self, path: str) -> tuple[_R | None, str]:
        """Return the project of a path, None where there is none, and the path in it."""
        if path in self._documents:
            return next(iter(self._parts.values())), path
        name, _, rest = path.partition("/")
        return self._parts.get(name), rest

    def part(self, path: str) -> tuple[_R, str]:
        """Return the project of a path and the path in it. Raises UsageError where there is none."""
        part, rest = self.of(path)
        if part is None:
            raise UsageError(
                f"{path!r} is not inside any of the projects",
                hint=f"write the project before the path: {next(iter(self._parts))}/{path}",
            )
        return part, rest

    def text(self, path: str) -> str:
        """Return the indexed text of a document, "" when there is none."""
        part, rest = self.of(path)
        return part.text(rest) if part else ""

    def on_disk(self, path: str) -> str | None:
        """Return the present text of a document, None when it is gone."""
        part, rest = self.of(path)
        return part.on_disk(rest) if part else None

    def name_of(self, path: str, start_line: int, end_line: int) -> str:
        """Return the definition that lines lie in, "" for none."""
        part, rest = self.of(path)
        return part.name_of(rest, start_line, end_line) if part else ""


def _project(
    parts: Mapping[str, AnswerProject],
    documents: Mapping[str, str],
    unopened: Mapping[str, FathomError],
    notes: Sequence[Note],
) -> AnswerProject:
    """Return the projects as one."""
    texts = JoinedTexts(parts, documents)

    def related(path: str) -> RelatedResult:
        part, rest = texts.part(path)
        return related_in(part.related(rest), path.partition("/")[0])

    def outline(candidates: Sequence[str]) -> Sequence[OutlineFile]:
        return [
            item._replace(path=f"{name}/{item.path}")
            for name, part in parts.items()
            for item in part.outline(
                [path.removeprefix(f"{name}/") for path in candidates if path.startswith(f"{name}/")]
            )
        ]

    def search(query: str, limit: int) -> SearchResult:
        results, failed = each_asked(lambda part, question: part.search(question, limit), parts, query)
        result = as_one(results, {**unopened, **failed}, merge(results, limit))
        return replace(result, problems=(*result.problems, *notes))

    return AnswerProject(search, texts.text, texts.on_disk, texts.name_of, related, outline)


def each_asked(
    ask: Callable[[_P, str], _T], projects: Mapping[str, _P], query: str
) -> tuple[dict[str, _T], dict[str, FathomError]]:
    """Return answers and errors by project; a question that is kept to one project by a mark goes to that one only."""
    questions = questions_for(query, projects)
    pairs = {name: (projects[name], question) for name, question in questions.items()}
    return outcomes(lambda pair: ask(*pair), pairs)


def related_in(result: RelatedResult, name: str) -> RelatedResult:
    """Return connections whose paths begin with their project."""
    return replace(result, edges=tuple(edge.below(name) for edge in result.edges))


def all_related(results: Sequence[RelatedResult], limit: int = MOST_ITEMS, offset: int = 0) -> RelatedResult:
    """Return a page of the connections in all projects that have a file or symbol, from the first ones of each."""
    edges = tuple(edge for result in results for edge in result.edges)
    n_behind = max(len(edges) - offset - limit, 0)
    rest = Rest(sum(result.rest.n for result in results) + n_behind, all(result.rest.is_exact for result in results))
    notes = [note for result in results for note in result.notes]
    return replace(
        results[0],
        edges=edges[offset : offset + limit],
        n_unresolved=sum(result.n_unresolved for result in results),
        limitations=tuple(dict.fromkeys(note for result in results for note in result.limitations)),
        offset=offset,
        rest=rest,
        notes=(*say.not_followed(say.n_not_followed(notes)), *say.stands_elsewhere(say.n_standing_elsewhere(notes))),
    )


def failure_notes(failed: Mapping[str, FathomError]) -> list[Note]:
    """Return a note for each project that could not be asked; one that is being indexed says how far that is."""
    return [
        Note(say.BEING_INDEXED, {"project": name, "share": error.progress.share})
        if isinstance(error, FirstRunError)
        else Note(say.PROJECT_FAILED, {"project": name, "error": with_hint(error)})
        for name, error in failed.items()
    ]


def in_project_note(name: str, told: Told) -> Note:
    """Return the note of a project about its answer, with its name."""
    return Note(say.IN_PROJECT, {"project": name, "note": told})


def as_one(
    results: Mapping[str, SearchResult], failed: Mapping[str, FathomError], merged: MergedHits, offset: int = 0
) -> SearchResult:
    """Return the results of projects as one, which names those that failed, with a page of their merged hits.

    Its generation is the sum of theirs, which changes with each of them. Raises the first error without any result.
    """
    if not results:
        raise next(iter(failed.values()))
    best = max(results.values(), key=lambda result: result.confidence)
    judged = of_several(results.values())
    # What a question names may be in one project only: that is no failure of the others.
    problems = failure_notes({name: error for name, error in failed.items() if not isinstance(error, UsageError)})
    is_one = len(results) + len(failed) == 1
    notes = [told if is_one else in_project_note(name, told) for name, one in results.items() for told in one.problems]
    return replace(
        best,
        hits=tuple(map(in_project, merged.hits)),
        offset=offset,
        rest=merged.rest,
        facets=merged.facets,
        generation=sum(result.generation for result in results.values()),
        problems=tuple(dict.fromkeys([*problems, *notes])),
        stale=any(result.stale for result in results.values()),
        weak=judged.weak,
        unanswerable=judged.unanswerable,
        partial=joined_partial([result.partial for result in results.values() if result.partial]),
    )


def joined_partial(partials: Sequence[Partial]) -> Partial | None:
    """Return what was not reached of several fleets as one; None for nothing."""
    unasked = tuple(shard for partial in partials for shard in partial.unasked)
    return Partial(sum(partial.n_shards for partial in partials), unasked) if unasked else None
