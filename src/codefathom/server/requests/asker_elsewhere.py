"""A project as the processes of the searches answer questions to it: what takes long holds up nothing of the server."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from time import monotonic
from typing import Any, NamedTuple, TypeAlias, cast

from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.errors import FathomError, UsageError
from codefathom.facts.reasons import LEFT_OUT, Note
from codefathom.project import agent_setup, answer_setup
from codefathom.project.asking import is_of_commits
from codefathom.project.meant_commits import meant_commits, told
from codefathom.project.opening import OpenedProject
from codefathom.project.repository_sight import RepositorySight
from codefathom.providers.base import ChatModel
from codefathom.question.asker import result_of
from codefathom.question.question import Kind, Question
from codefathom.search.question.history_words import asks_for_history
from codefathom.server.http.auth import ANYONE, Caller
from codefathom.server.http.problem_json import ForbiddenError, bringing_up, taking_in
from codefathom.server.http.time_spent import slow_error, spending_on
from codefathom.server.http.user_roles import Role
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.projects.asked_projects import asked_projects, have_made, indexed_engine
from codefathom.server.projects.packed_settings import PackedSettings
from codefathom.server.projects.served_engine import ServedEngine
from codefathom.server.searches.look import Look
from codefathom.server.searches.search_child import SearchTask
from codefathom.server.searches.search_end import SearchLease, watched
from codefathom.server.state import ServerState
from codefathom.source.revisions.revision import Revision, checked_range
from codefathom.stores.conditions import combine
from codefathom.telemetry import span
from codefathom.types import (
    LevelName,
    PathReport,
    RunProgress,
    SearchResult,
)

# Lines are those of now in any case; the others come in the course of an answer, which was brought up to date before.
_AS_IT_IS: tuple[Kind, ...] = ("lines", "texts", "outlines")
Change: TypeAlias = Callable[[Settings], Settings]


@contextmanager
def indexed(state: ServerState, project_id: str, caller: Caller) -> Iterator[Engine]:
    """Give the engine of a project that has an index. Raises as `indexed_engine`."""
    with indexed_engine(state.projects, state.jobs, project_id, caller) as engine:
        yield engine


@contextmanager
def asker_for(
    state: ServerState, project_id: str, caller: Caller, lease: SearchLease, change: Change | None = None
) -> Iterator[ProjectElsewhere]:
    """Give a project that has an index, for questions of one client. Raises as `indexed`."""
    with indexed(state, project_id, caller) as engine:
        yield ProjectElsewhere(state, lease, project_id, engine, change, caller=caller)


@contextmanager
def any_asker(state: ServerState, project_id: str, caller: Caller, lease: SearchLease) -> Iterator[ProjectElsewhere]:
    """Give a project, also one without an index, for looks of one client. Raises NotFoundError."""
    with state.projects.lease(project_id, caller) as engine:
        yield ProjectElsewhere(state, lease, project_id, engine, caller=caller)


@dataclass(frozen=True)
class AskerElsewhere:
    """An index that the processes of the searches read for one client; see `Asker`.

    Each question raises LeftError when the client has left, StoppedError when the work is stopped, and SlowError when
    it takes too long.
    """

    state: ServerState
    lease: SearchLease
    name: str
    engine: Engine  # stays open: it tells what is known without a question
    change: Change | None = None  # of its settings, for these questions
    commits: bool = False  # each question is one about the commits

    def answer(self, question: Question) -> Iterator[Any]:
        """Yield the events of an answer, the result last. The model of an answer in words is called in this process."""
        if question.kind == "ask":
            yield from self._in_words(question)
            return
        question = self._admitted(question)
        if self.commits and not question.commits:
            question = replace(question, commits=True)
        with self.lease.share:
            yield from self._events(question)

    def look(self, look: Look) -> Any:
        """Return the part of the index that a look is at, however old the index is."""
        with self.lease.share, span(look.kind, project=self.name):
            *_, seen = self._elsewhere(self.engine, look)
            return seen

    def _admitted(self, question: Question) -> Question:
        """Return a question that may go to the commits only where its client may read them."""
        return replace(question, or_commits=False) if question.or_commits else question

    def _events(self, question: Question) -> Iterator[Any]:
        yield from self._told(self.engine, question)

    def _in_words(self, question: Question) -> Iterator[Any]:
        request = answer_setup.request_of(question)
        self.refresh()
        meant = meant_commits(self.engine.place, self._admitted(question))
        asker = replace(self, commits=True) if question.commits or meant == "commits" else self

        def look(query: str, level: LevelName, limit: int) -> SearchResult:
            own = Question(query, limit=limit, level=level, where=question.where)
            return cast(SearchResult, result_of(asker, own))

        return told(meant, agent_setup.answered(request, asker, look, as_agent=question.as_agent))

    def _told(self, engine: Engine, question: Question) -> Iterator[Any]:
        with span(question.kind, project=self.name) as under_way:
            for event in self._elsewhere(engine, question):
                if isinstance(event, SearchResult):
                    under_way.note(mode=event.mode, n_hits=len(event.hits))
                yield event

    def _elsewhere(self, engine: Engine, question: Question | Look) -> Iterator[Any]:
        task = self._task(engine, question)
        with watched(self.lease.end, task.limit_s) as end:
            yield from self.state.search_pool.answer(task, end)

    def _task(self, engine: Engine, question: Question | Look) -> SearchTask:
        """Return the task for another process. Raises SlowError when the time is over already."""
        place = engine.place
        return SearchTask(
            root=engine.root,
            version=engine.version if isinstance(engine, ServedEngine) else 0,
            settings=engine.packed_settings if isinstance(engine, ServedEngine) else engine.settings,
            question=question,
            changed=self._settings_of(engine) if self.change is not None else None,
            limit_s=left_s(self.state, self.lease.until),
            most_opened=self.state.config.opened_projects,
            revision=place.revision if isinstance(place.revision, Revision) else None,
            sight=place.sight,
        )

    def _settings_of(self, engine: Engine) -> Settings:
        return engine.settings if self.change is None else self.change(engine.settings)

    # ---- what is known without a question

    @property
    def root(self) -> str:
        """Absolute path of the folder in which paths begin."""
        return self.engine.root

    @property
    def folder(self) -> str:
        """Absolute path of the folder with the files, "" for a revision."""
        return self.engine.folder

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings_of(self.engine)

    @property
    def generation(self) -> int:
        """Number of changes of the index."""
        return self.engine.generation

    @property
    def first_run(self) -> RunProgress | None:
        """The progress of a run that makes the index for the first time."""
        return self.engine.first_run

    @property
    def hides_secrets(self) -> bool:
        """True if no secret may be in the texts of an answer."""
        return self.engine.hides_secrets

    def chat_model(self, name: str) -> ChatModel:
        """Return a language model, which is called in this process."""
        return self.engine.chat_model(name)

    def refresh(self) -> bool:
        """Bring the index up to date; return whether it is behind."""
        return self.engine.refresh()

    def take_in(self, files: Sequence[str]) -> None:
        """Take in what has changed in these files and folders; see `Engine.take_in`."""
        self.engine.take_in(files)

    def close(self) -> None:
        """Leave the index open: the server closes it."""


@dataclass(frozen=True)
class ProjectElsewhere(AskerElsewhere):
    """A project of the server, which is brought up to date before each question."""

    caller: Caller = ANYONE

    def _events(self, question: Question) -> Iterator[Any]:
        """Yield the events of an answer, the result last.

        Raises ForbiddenError for revisions where the caller, or the server itself, may not read the history.
        """
        is_range = question.kind == "impact" and not question.diff
        if is_range or question.kind == "history" or is_of_commits(question):
            _check_history(self.state, self.caller, self.name)
        if question.kind == "search":
            yield self._searched(question)
            return
        if is_range:
            question = replace(question, text=checked_range(question.text or "HEAD"))
        if question.kind not in _AS_IT_IS:
            self.refresh()
        yield from super()._events(question)

    def look(self, look: Look) -> Any:
        """Return the part of the index that a look is at; only those who may read the history see its commits."""
        if look.kind in ("blame", "commits"):
            _check_history(self.state, self.caller, self.name)
        return super().look(look)

    def _admitted(self, question: Question) -> Question:
        """Return a question that may go to the commits only where its client may read them."""
        if not question.or_commits:
            return question
        if not asks_for_history(question.text):
            return replace(question, or_commits=False)
        try:
            _check_history(self.state, self.caller, self.name)
        except FathomError:
            return replace(question, or_commits=False)
        return question

    def refresh(self) -> bool:
        """Bring the index up to date; return whether it is behind."""
        with spending_on(bringing_up(self.name)):
            return super().refresh()

    def take_in(self, files: Sequence[str]) -> None:
        """Take in what has changed in these files and folders, by a process that may write."""
        self._taken_in(tuple(files))

    def _searched(self, question: Question) -> SearchResult:
        """Return the result of a search, from the cache if the index has not changed since."""
        refused = self._taken_in(question.files)
        with self._engine_now() as engine:
            inside = engine.kept_to(question.files) if question.files else None
            kept = replace(question, files=(), where=combine(question.where, inside))
            with spending_on(bringing_up(self.name)):
                stale = engine.refresh()
            opened = engine.current.last_opened  # each other look at the place of the index costs as much as this one
            have_made(self.state.projects, self.state.jobs, self.name, engine)
            key = _key_of(self.name, engine, opened, kept)

            def is_kept(result: SearchResult) -> bool:
                # While a job writes, the views show less than the generation says: that must not outlive the job.
                return not stale and not result.problems and result.generation == key.generation

            def look() -> SearchResult:
                *_, result = self._told(engine, kept)
                return cast(SearchResult, result)

            def again(result: SearchResult) -> SearchResult:
                # Also where nothing is known to have changed: a change of this moment is taken in some seconds later.
                return replace(result, hits=engine.marked(result.hits, result.generation))

            # The generation is that of the files.
            is_usual = not (kept.commits or kept.or_commits)
            is_usual = is_usual and (self.change is None or self.change(engine.settings) == engine.settings)
            result = self.state.cache.get_or_make(key, look, keep=is_kept, again=again) if is_usual else look()
            notes = engine.current.take_notes()  # of this process, which brings the index up to date
            return replace(result, stale=stale, problems=(*result.problems, *notes, *refused))

    @contextmanager
    def _engine_now(self) -> Iterator[Engine]:
        """Give the engine of the project as it is now: what was taken in meanwhile, another one knows."""
        if self.state.projects.opened.holds(self.name, self.engine):
            yield self.engine
        else:
            with indexed(self.state, self.name, self.caller) as engine:
                yield engine

    def _taken_in(self, files: tuple[str, ...]) -> tuple[Note, ...]:
        """Take in what has changed in these files; return a note for each that is not in the index."""
        if not files or self.engine.place.revision is not None:  # the look at a branch comes later
            return ()
        report = take_in(self.state, self.caller, self.name, NamedContent(files), self.lease.until)
        return tuple(Note(LEFT_OUT, {"path": item.path, "reason": item.why}) for item in report.refused)


@dataclass(frozen=True)
class LooseElsewhere(AskerElsewhere):
    """Files of no project, with an index for the questions of one request."""

    index_folder: str = ""
    files_of_none: tuple[str, ...] = ()  # absolute paths

    def _events(self, question: Question) -> Iterator[Any]:
        """Yield the events of an answer, the result last. No generation is told: there will be no other."""
        for event in super()._events(question):
            yield replace(event, generation=0) if isinstance(event, SearchResult) else event

    def _task(self, engine: Engine, question: Question | Look) -> SearchTask:
        return replace(super()._task(engine, question), root=self.index_folder, loose=self.files_of_none)


class ResultKey(NamedTuple):
    """All that the result of a search depends on: whoever asks for the same has the same result."""

    project: str
    root: str
    sight: RepositorySight | None  # what of a fleet the client may see
    settings: PackedSettings | Settings
    catalog: str  # one that is made anew begins to count again
    generation: int
    stamps: str  # what a filter asks of time stamps is not counted by the generation
    question: Question

    def version(self) -> tuple[Hashable, int]:
        """Return the index that the result is of, and the number of its changes."""
        return (self.project, self.root, self.catalog), self.generation


def _key_of(project: str, engine: Engine, opened: OpenedProject, question: Question) -> ResultKey:
    place, catalog = engine.place, opened.catalog
    settings = engine.packed_settings if isinstance(engine, ServedEngine) else engine.settings
    return ResultKey(
        project, engine.root, place.sight, settings, catalog.identity, opened.generation, catalog.stamps, question
    )


def chosen_projects(state: ServerState, caller: Caller, project_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the projects that are named, each once, else all that the caller may see.

    Raises NotFoundError for an unknown one, and where there is none at all.
    """
    ids, unknown = asked_projects(state.projects, caller, project_ids)
    for error in unknown.values():
        raise error
    return ids


def _check_history(state: ServerState, caller: Caller, project_id: str) -> None:
    """Raise ForbiddenError unless the caller may read all revisions of a project, as its maintainers may."""
    project = state.projects.get(project_id, caller)
    if caller.role_in(project_id) < Role.MAINTAINER:
        raise ForbiddenError(
            f"reading the history needs the role {Role.MAINTAINER.word} in the project {project_id!r}",
            hint="for a change send the text of its diff, or ask an administrator of this server for the role",
        )
    state.projects.check_repository(project)


@dataclass(frozen=True, slots=True)
class NamedContent:
    """Files and folders of a project, and texts that are on no disk, by name; see `Engine.update`."""

    paths: tuple[str, ...] = ()
    texts: Mapping[str, str | None] = field(default_factory=dict)


def take_in(state: ServerState, caller: Caller, project_id: str, content: NamedContent, until: float) -> PathReport:
    """Take in what has changed in a project that has an index; `until` is the limit, by `monotonic`.

    Raises NotFoundError, NotIndexedError, UsageError for a path that leads out of the project, LockedError and
    SlowUpdateError.
    """
    project = state.projects.get(project_id, caller)
    if project.revision:
        raise UsageError(
            f"{project_id!r} is the revision {project.revision!r}, whose files do not change",
            hint="a branch that has moved is taken in with the next search or job",
        )
    with indexed(state, project_id, caller) as engine:
        if content.paths:
            engine.kept_to(content.paths)
        is_written = engine.is_written
    limit_s = left_s(state, until)
    job = IndexJob("", project.id, project.root, full=False, state="queued", created_at=0.0, settings=project.settings)
    with spending_on(taking_in(project_id, is_written=is_written)):
        return state.updates.take_in(job, content.paths, limit_s, content.texts, is_written=is_written)


def left_s(state: ServerState, until: float) -> float:
    """Return the time that is left; without an end, that of a search. Raises SlowError when it is over."""
    if until == inf:
        return state.config.search_timeout_s
    left_s = until - monotonic()
    if left_s <= 0:
        raise slow_error(state.config.search_timeout_s)
    return left_s
