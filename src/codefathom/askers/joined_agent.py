"""An agent that looks in several projects at once; every path that it reads and writes begins with a project's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from codefathom.agent.loop import Event
from codefathom.agent.tools import ToolProject
from codefathom.answer.answer_types import Answer, AnswerRequest
from codefathom.answer.ask import Text
from codefathom.askers.joined_answers import JoinedTexts, all_related, as_one, each_asked, pinned_in, ready, related_in
from codefathom.askers.kept import KeptProject
from codefathom.askers.side_by_side import outcomes
from codefathom.errors import FathomError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, Told
from codefathom.project.agent_setup import AgentProject, Search, investigate, project_of
from codefathom.project.answer_setup import texts_for
from codefathom.search.federation import merge
from codefathom.types import FoundSymbol, LevelName, RelatedResult, SearchResult, Where

_NOTE = "The tools show several projects: {names}. Each path begins with its project, such as {first}/README."


def investigate_several(
    projects: Mapping[str, KeptProject],
    request: AnswerRequest,
    unopened: Mapping[str, FathomError],
    notes: Callable[[], Sequence[Note]],
) -> Iterator[Event | Text | Answer]:
    """Let the model of the first project look in all of them; yield what happens, and the answer last.

    The answer names the projects that could not be opened, and has the notes. Raises what `Engine.investigate` raises.
    """
    pinned = pinned_in(request.pinned, projects)
    opened, failed = ready(projects)
    failed = {**unopened, **failed}
    first = next(iter(opened))
    hides = opened[first].hides_secrets  # its model sees the texts of all
    parts: dict[str, AgentProject] = {}
    for name, project in opened.items():
        own = request._replace(
            where=project.condition(request.where),
            pinned=pinned[name],
            documents=request.documents if name == first else {},
        )
        texts = texts_for(own, project.asker, hides_secrets=hides)
        parts[name] = project_of(own, texts, _look(project, request.where))
    of_projects = (Note(say.PROJECT_FAILED, {"project": name, "error": str(error)}) for name, error in failed.items())
    degraded: tuple[Told, ...] = (*of_projects, *notes())
    for event in investigate(request, _joined(parts, request, failed)):
        yield replace(event, problems=(*degraded, *event.problems)) if isinstance(event, Answer) else event


def _look(project: KeptProject, where: Where | None) -> Search:
    return lambda query, level, limit: project.look(query, limit, level, where)


def _joined(
    parts: Mapping[str, AgentProject], request: AnswerRequest, failed: Mapping[str, FathomError]
) -> AgentProject:
    """Return the projects as one."""
    first = next(iter(parts))
    texts = JoinedTexts(parts, request.documents)

    def recorded(text: str) -> str:
        for part in parts.values():  # what one of them masks is masked
            text = part.recorded(text)
        return text

    return replace(
        parts[first],
        tools=_tools(parts, request.documents, failed),
        text=texts.text,
        on_disk=texts.on_disk,
        name_of=texts.name_of,
        pinned=tuple(
            item if item.path in request.documents else item._replace(path=f"{name}/{item.path}")
            for name, part in parts.items()
            for item in part.pinned
        ),
        recorded=recorded,
        note=_NOTE.format(names=", ".join(parts), first=first),
    )


def _tools(
    parts: Mapping[str, AgentProject], documents: Mapping[str, str], unready: Mapping[str, FathomError]
) -> ToolProject:
    projects = {name: part.tools for name, part in parts.items()}

    def search(question: str, level: LevelName, limit: int) -> SearchResult:
        results, failed = each_asked(lambda part, query: part.search(query, level, limit), projects, question)
        return as_one(results, {**unready, **failed}, merge(results, limit))

    def text(path: str) -> str | None:
        part, rest = JoinedTexts(parts, documents).of(path)
        return part.tools.text(rest) if part else None

    def symbols(name: str) -> Sequence[FoundSymbol]:
        return [
            replace(item, path=f"{project}/{item.path}")
            for project, part in projects.items()
            for item in part.symbols(name)
        ]

    def related(target: str) -> RelatedResult:
        if not target.startswith("@@"):
            part, rest = JoinedTexts(parts).part(target)
            return related_in(part.tools.related(rest), target.partition("/")[0])
        results, failed = outcomes(lambda part: part.related(target), projects)
        if not results:
            raise next(iter(failed.values()))
        return all_related([related_in(result, name) for name, result in results.items()])

    def paths() -> Sequence[str]:
        inside = [f"{name}/{path}" for name, part in projects.items() for path in part.paths() if path not in documents]
        return [*documents, *inside]

    return ToolProject(search, text, symbols, related, paths)
