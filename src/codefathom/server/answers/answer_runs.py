"""Answers while they are written: a thread writes each into a channel, and stops when nobody reads it any more."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from secrets import token_hex
from threading import Lock, Thread
from typing import Any, TypeAlias

from codefathom.answer.answer_types import Answer, AnswerStep, OnStep
from codefathom.config.settings import NOTHING
from codefathom.errors import StoppedError
from codefathom.facts.remedies import over_http
from codefathom.server.answers.answer_events import (
    AnswerEventMaker,
    AnswerRoots,
    EngineEvent,
    details_of,
    problem_event,
)
from codefathom.server.answers.cited_lines import CitedState
from codefathom.server.answers.conversation_record import ConversationTurn
from codefathom.server.answers.conversations import Conversations
from codefathom.server.http.problem_json import (
    BusyError,
    NotFoundError,
    Problem,
    RequestError,
    TooManyError,
    problem_of,
)
from codefathom.server.http.sse import Channel
from codefathom.server.jobs.job_events import ServerEvent
from codefathom.system.stopping import stopping
from codefathom.telemetry import bound

MOST_AT_ONCE = 16
MOST_KEPT = 100  # answers whose events can still be read
PATIENCE_S = 10.0  # an answer in a conversation waits as long for a reader, such as a page that is loaded again
_SIZE = 10_000  # events of one answer

_log = logging.getLogger(__name__)

Open: TypeAlias = Callable[[OnStep], AbstractContextManager[Iterator[EngineEvent]]]


class AnswerError(RequestError):
    """An answer has failed, as its problem says."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail, hint=problem.hint)
        self.status = problem.status
        self.code = problem.code


@dataclass(frozen=True, slots=True)
class AskedBy:
    """A question with its owner and its conversation."""

    question: str
    owner: str = ""
    conversation_id: str = ""  # "" for in none
    projects: tuple[str, ...] = ()
    is_agent: bool = False
    is_joined: bool = False  # paths begin with their project
    asked_at: float = 0.0  # seconds since the epoch


class AnswerTask:
    """One answer, from the question on. `answer` and `problem` are there once the channel is closed."""

    def __init__(self, asker: AskedBy, clock: Callable[[], float] = time.monotonic) -> None:
        self.asker = asker
        self.channel = Channel(token_hex(16), _SIZE)
        self.answer: Answer | None = None
        self.roots: Mapping[str, str] = NOTHING  # of the projects that paths have chosen
        self.cited = CitedState((), NOTHING)
        self.problem: Problem | None = None
        self.first_word_at: float | None = None  # by `time.perf_counter`
        self._to_tell: list[Callable[[], None]] = []  # when it has ended
        self._has_ended = False
        self._clock = clock
        self._patience_s = PATIENCE_S if asker.conversation_id else 0.0
        self._is_stopped = False
        self._left_at: float | None = None  # when the last reader left; None while there is one, or was none yet
        self._lock = Lock()
        self._n_readers = 0

    @property
    def id(self) -> str:
        """The beginning of the ids of its events."""
        return self.channel.key

    @property
    def failure(self) -> str:
        """The reason why the answer failed, "" where it did not, or is not whole yet."""
        if self.problem is not None:
            return self.problem.detail
        return self.answer.failure if self.answer is not None else ""

    def note_word(self) -> None:
        """Note that a word of the answer is there."""
        if self.first_word_at is None:
            self.first_word_at = time.perf_counter()

    def on_end(self, tell: Callable[[], None]) -> None:
        """Call `tell` when the answer has ended, at once where it has already."""
        with self._lock:
            if not self._has_ended:
                self._to_tell.append(tell)
                return
        tell()

    def end(self) -> None:
        """Say that nothing more will come."""
        with self._lock:
            self._has_ended = True
            to_tell = list(self._to_tell)
        for tell in to_tell:
            tell()

    @property
    def is_stopped(self) -> bool:
        """True if the answer has to end before it is complete."""
        with self._lock:
            return self._looked()

    def attach(self) -> None:
        """Count one more reader; one who comes too late finds the answer stopped."""
        with self._lock:
            self._looked()
            self._n_readers += 1
            self._left_at = None

    def detach(self) -> None:
        """Count one reader less; once the last one has left, what is not whole is stopped.

        An answer in a conversation waits for some seconds: a page that is loaded again comes back for it.
        """
        with self._lock:
            self._n_readers -= 1
            if self._n_readers < 1:
                self._left_at = self._clock()
                self._looked()

    def stop(self) -> None:
        """End the call of the model at its next piece; nothing to do for an answer that is whole."""
        with self._lock:
            self._is_stopped = True

    def _looked(self) -> bool:
        if self._left_at is not None and self._clock() - self._left_at >= self._patience_s:
            self._is_stopped = True
        return self._is_stopped


class AnswerTasks:
    """The answers that are being written, and the latest that were. Safe to use from several threads."""

    def __init__(
        self,
        conversations: Conversations,
        most_at_once: int = MOST_AT_ONCE,
        clock: Callable[[], float] = time.time,
        on_answer: Callable[[Answer], None] = lambda _: None,
    ) -> None:
        """`on_answer` is called with each answer that is whole."""
        self._conversations = conversations
        self._most_at_once = most_at_once
        self._clock = clock
        self._on_answer = on_answer
        self._lock = Lock()
        self._runs: OrderedDict[str, AnswerTask] = OrderedDict()
        self._threads: dict[str, Thread] = {}

    def begin(self, asker: AskedBy, open_events: Open) -> AnswerTask:
        """Begin to answer; `open_events` is called by the thread of the answer. Raises TryLaterError."""
        task = AnswerTask(replace(asker, asked_at=self._clock()))
        started = {"phase": "searching", "answer_id": task.id, "conversation_id": asker.conversation_id}
        task.channel.publish("status", started)
        with self._lock:
            if len(self._threads) >= self._most_at_once:
                has_own = any(self._runs[one].asker.owner == asker.owner for one in self._threads if one in self._runs)
                raise (TooManyError if has_own else BusyError)(
                    f"the server is writing {self._most_at_once} answers already"
                )
            self._runs[task.id] = task
            while len(self._runs) > MOST_KEPT + self._most_at_once:
                self._runs.popitem(last=False)
            thread = Thread(target=bound(self._carry_out), args=(task, open_events), name="answer", daemon=True)
            self._threads[task.id] = thread
        thread.start()
        return task

    def find(self, answer_id: str, owner: str = "") -> AnswerTask:
        """Return an answer that is being written, or was lately. Raises NotFoundError, also for that of another."""
        with self._lock:
            task = self._runs.get(answer_id)
        if task is None or task.asker.owner != owner:
            raise NotFoundError(f"no such answer: {answer_id!r}", hint="ask the question again")
        return task

    def running(self, conversation_id: str, owner: str = "") -> list[AnswerTask]:
        """Return the answers that are being written in a conversation, the oldest first."""
        with self._lock:
            return [
                task
                for task in self._runs.values()
                if task.id in self._threads
                and (task.asker.conversation_id, task.asker.owner) == (conversation_id, owner)
            ]

    def stop(self) -> None:
        """Stop all answers that are being written."""
        with self._lock:
            for task in self._runs.values():
                task.stop()

    def close(self, wait_s: float = 5.0) -> None:
        """Stop all; an answer whose search is slow is left behind after some seconds."""
        self.stop()
        with self._lock:
            threads = list(self._threads.values())
        until = time.monotonic() + wait_s
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0.0))

    def _carry_out(self, task: AnswerTask, open_events: Open) -> None:
        """Run in a thread of its own."""
        maker = AnswerEventMaker(task.asker.projects, task.asker.is_joined)
        try:
            with stopping(lambda: task.is_stopped), open_events(lambda step: _say(task, step)) as events:
                for event in events:
                    if task.is_stopped:
                        break
                    for message in maker.of(event):
                        if message.type == "content":
                            task.note_word()
                        _publish(task, message)
                    if isinstance(event, AnswerRoots):
                        task.roots = event.roots
                    elif isinstance(event, Answer):
                        task.answer = event
                    elif isinstance(event, CitedState):
                        task.cited = event
        except StoppedError:
            pass
        except Exception as error:  # whoever asked must hear of it
            task.problem = problem_of(error)
            if task.problem.status == 500:
                _log.exception("an answer failed")
            _publish(task, problem_event(task.problem))
        self._conclude(task, maker)

    def _conclude(self, task: AnswerTask, maker: AnswerEventMaker) -> None:
        """Keep the turn, then tell the end: who reads the conversation after that finds it there."""
        try:
            asker = task.asker
            if asker.conversation_id:
                turn = ConversationTurn(asker.question, maker.text, _state(task), asker.asked_at, _details(task, maker))
                self._conversations.add(asker.conversation_id, turn, asker.owner)
        except Exception as error:  # such as a conversation that was deleted meanwhile
            _publish(task, problem_event(problem_of(error)))
        if task.answer is not None:
            self._on_answer(task.answer)
        with self._lock:
            del self._threads[task.id]
        if task.is_stopped and task.answer is None:
            _publish(task, ServerEvent("status", {"phase": "stopped"}))
        task.end()  # first: whoever reads the end finds it counted
        _publish(task, ServerEvent("done"))
        task.channel.close()


def _say(task: AnswerTask, step: AnswerStep) -> None:
    _publish(task, ServerEvent("status", {"phase": step.phase, "detail": step.text}))


def _publish(task: AnswerTask, event: ServerEvent) -> None:
    task.channel.publish(event.type, event.data)


def _state(task: AnswerTask) -> str:
    if task.answer is not None:
        return "failed" if task.answer.failure else "done"
    return "failed" if task.problem else "stopped"


def _details(task: AnswerTask, maker: AnswerEventMaker) -> dict[str, Any]:
    """Return the details of an answer that a conversation stores beside its text."""
    asker, problem = task.asker, task.problem
    # All that were asked, also where no source is of them: whoever may not see one may not read this.
    on_the_way = {"answer_id": task.id, "is_agent": asker.is_agent, "steps": maker.steps, "projects": asker.projects}
    if task.answer is not None:
        details = details_of(task.answer, asker.projects, asker.is_joined, task.roots)
        return {**on_the_way, **details, **task.cited.as_json(), "hint": over_http(task.answer.hint)}
    failed = {"error": problem.detail, "hint": problem.hint} if problem else {"error": "", "hint": ""}
    return {**on_the_way, "sources": maker.sources, **failed}
