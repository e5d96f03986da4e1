"""The events of an answer for its readers, and the shape of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from codefathom.agent.loop import Event, Final, Thought, ToolObservation, ToolUse
from codefathom.answer.answer_types import Answer, Source
from codefathom.answer.ask import AnswerSources, Text
from codefathom.config.settings import NOTHING
from codefathom.facts.reasons import Told
from codefathom.facts.remedies import over_http
from codefathom.server.answers.cited_lines import CitedState
from codefathom.server.http.problem_json import Problem
from codefathom.server.jobs.job_events import ServerEvent
from codefathom.shapes import degraded_shape, details_shape, source_shape


class AnswerRoots(NamedTuple):
    """The folders of the projects that paths have chosen; that of loose files is known once they are indexed."""

    roots: Mapping[str, str]  # by the name that the paths of an answer begin with, absolute


EngineEvent: TypeAlias = AnswerRoots | AnswerSources | Text | Event | Answer | CitedState

_MOST_SHOWN = 4_000  # characters of what a tool has found
_MOST_KEPT = 1_000  # of these in a conversation


class AnswerEventMaker:
    """Turns the events of the engine into events for readers; remembers the parts already sent."""

    def __init__(self, projects: Sequence[str], is_joined: bool) -> None:
        """With `is_joined`, paths begin with their project."""
        self._projects = projects
        self._is_joined = is_joined
        self.text = ""  # of the answer, as far as it was sent
        self.sources: list[dict[str, Any]] = []
        self.roots: Mapping[str, str] = NOTHING  # of the projects that paths have chosen
        self.steps: list[dict[str, Any]] = []  # of an agent, with the beginning of what its tools have found
        self._has_sources = False

    def of(self, event: EngineEvent) -> Iterator[ServerEvent]:
        """Yield the events for readers that belong to an event of the engine."""
        for message in self._of(event):
            if message.type == "step":
                text = message.data.get("text", "")
                self.steps.append({**message.data, "text": text[:_MOST_KEPT]} if text else message.data)
            yield message

    def _of(self, event: EngineEvent) -> Iterator[ServerEvent]:
        if isinstance(event, AnswerRoots):
            self.roots = event.roots
        elif isinstance(event, AnswerSources):
            yield from self._sources(event.sources)
            notes = {"left_out": list(event.left_out), **_notes_of(event.problems), "roots": dict(self.roots)}
            yield ServerEvent("status", {"phase": "found", **notes})
        elif isinstance(event, Text):
            yield from self._content(event.text)
        elif isinstance(event, Thought):
            yield ServerEvent("step", {"type": "thinking", "text": event.text})
        elif isinstance(event, ToolUse):
            yield ServerEvent("step", {"type": "tool_call", "tool": event.name, "arguments": event.arguments})
        elif isinstance(event, ToolObservation):
            yield ServerEvent("step", _observed(event))
        elif isinstance(event, Final):
            yield ServerEvent("step", _final(event))
        elif isinstance(event, Answer):
            yield from self._answer(event)

    def _sources(self, sources: Iterable[Source]) -> Iterator[ServerEvent]:
        if not self._has_sources:
            self._has_sources = True
            self.sources = [source_of(source, self._projects, self._is_joined) for source in sources]
            yield ServerEvent("sources", self.sources)

    def _content(self, text: str) -> Iterator[ServerEvent]:
        if text:
            self.text += text
            yield ServerEvent("content", text)

    def _answer(self, answer: Answer) -> Iterator[ServerEvent]:
        """Yield the parts that were not sent yet."""
        yield from self._sources(answer.sources)
        yield from self._content("" if self.text else answer.text)
        details = details_of(answer, self._projects, self._is_joined, self.roots)
        yield ServerEvent("status", {"phase": "answered", **details})
        yield ServerEvent("usage", {**answer.usage._asdict(), "cost": answer.cost, "model": answer.model})
        if answer.failure:
            yield ServerEvent("error", {"code": "provider", "detail": answer.failure, "hint": over_http(answer.hint)})


def _final(event: Final) -> dict[str, Any]:
    """Return the end of an agent's work as an event; its text follows once its citations were checked."""
    return {
        "type": "final_answer",
        "confidence": event.answer.confidence,
        "rounds": event.rounds,
        "stopped_by": event.stopped_by,
    }


def _observed(event: ToolObservation) -> dict[str, Any]:
    return {
        "type": "error" if event.is_error else "tool_result",
        "tool": event.name,
        "text": event.text[:_MOST_SHOWN],
        "places": [place._asdict() for place in event.places],
        "milliseconds": round(event.milliseconds, 1),
    }


def problem_event(problem: Problem) -> ServerEvent:
    """Return the event of a failed answer."""
    return ServerEvent("error", {"code": problem.code, "detail": problem.detail, "hint": problem.hint})


def source_of(source: Source, projects: Sequence[str], is_joined: bool) -> dict[str, Any]:
    """Return a source as the second document has it, and where it is."""
    project, _, file = source.path.partition("/") if is_joined else (projects[0], "", source.path)
    return {
        "id": f"{source.path}:{source.start_line}-{source.end_line}",
        "project_id": project,
        "file": file,
        "module": file.split("/")[0] if "/" in file else "",
        **source_shape(source),
    }


def details_of(
    answer: Answer, projects: Sequence[str], is_joined: bool, roots: Mapping[str, str] = NOTHING
) -> dict[str, Any]:
    """Return all of an answer but its text."""
    sources = [source_of(source, projects, is_joined) for source in answer.sources]
    where = {"sources": sources, "error": answer.failure, "roots": dict(roots)}
    return details_shape(answer) | _notes_of(answer.problems) | where


def _notes_of(problems: Iterable[Told]) -> dict[str, Any]:
    """Return the problems of an answer as events and conversations have them, with routes in place of commands."""
    shape = degraded_shape(problems)
    return shape | {"degraded": list(map(over_http, shape["degraded"]))}
