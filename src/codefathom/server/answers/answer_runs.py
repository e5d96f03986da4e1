"""Answers while they are written: a thread writes each into a channel, and stops when nobody reads it any more."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from secrets import token_hex
from threading import Lock, Thread
from typing import Any, TypeAlias

from codefathom.answer.answer_types import Answer
from codefathom.server.answers.answer_events import AnswerEventMaker, Happening, details_of, problem_event
from codefathom.server.answers.conversations import Conversations, ConversationTurn
from codefathom.server.http.problem_json import BusyError, NotFoundError, Problem, RequestError, problem_of
from codefathom.server.http.sse import Channel
from codefathom.server.jobs.job_events import Told
from codefathom.server.projects.served_engine import StoppedError, stopping
from codefathom.telemetry import bound

MOST_AT_ONCE = 16
MOST_KEPT = 100  # answers whose events can still be read
PATIENCE_S = 10.0  # an answer in a conversation waits as long for a reader, such as a page that is loaded again
_SIZE = 10_000  # events of one answer

_log = logging.getLogger(__name__)

Open: TypeAlias = Callable[[], AbstractContextManager[Iterator[Happening]]]


class AnswerError(RequestError):
    """An answer has failed, as its problem says."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail, hint=problem.hint)
        self.status = problem.status
        self.code = problem.code


@dataclass(frozen=True, slots=True)
class Asker:
    """A question with its owner and its conversation."""

    question: str
    owner: str = ""
    conversation_id: str = ""  # "" for in none
    projects: tuple[str, ...] = ()
    is_agent: bool = False
    asked_at: float = 0.0  # seconds since the epoch


class Asking:
    """One answer, from the question on. `answer` and `problem` are there once the channel is closed."""

    def __init__(self, asker: Asker, clock: Callable[[], float] = time.monotonic) -> None:
        self.asker = asker
        self.channel = Channel(token_hex(16), _SIZE)
        self.answer: Answer | None = None
        self.problem: Problem | None = None
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
    def is_stopped(self) -> bool:
        """True if the answer has to end before it is complete."""
        with self._lock:
            return self._looked()

    def join(self) -> None:
        """Count one more reader; one who comes too late finds the answer stopped."""
        with self._lock:
            self._looked()
            self._n_readers += 1
            self._left_at = None

    def leave(self) -> None:
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


class Answers:
    """The answers that are being written, and the latest that were. Safe to use from several threads."""

    def __init__(
        self, conversations: Conversations, most_at_once: int = MOST_AT_ONCE, clock: Callable[[], float] = time.time
    ) -> None:
        self._conversations = conversations
        self._most_at_once = most_at_once
        self._clock = clock
        self._lock = Lock()
        self._runs: OrderedDict[str, Asking] = OrderedDict()
        self._threads: dict[str, Thread] = {}

    def begin(self, asker: Asker, open_events: Open) -> Asking:
        """Begin to answer; `open_events` is called by the thread of the answer. Raises BusyError."""
        asking = Asking(replace(asker, asked_at=self._clock()))
        started = {"phase": "searching", "answer_id": asking.id, "conversation_id": asker.conversation_id}
        asking.channel.publish("status", started)
        with self._lock:
            if len(self._threads) >= self._most_at_once:
                raise BusyError(
                    f"the server is writing {self._most_at_once} answers already", hint="try again in a moment"
                )
            self._runs[asking.id] = asking
            while len(self._runs) > MOST_KEPT + self._most_at_once:
                self._runs.popitem(last=False)
            thread = Thread(target=bound(self._carry_out), args=(asking, open_events), name="answer", daemon=True)
            self._threads[asking.id] = thread
        thread.start()
        return asking

    def find(self, answer_id: str, owner: str = "") -> Asking:
        """Return an answer that is being written, or was lately. Raises NotFoundError, also for that of another."""
        with self._lock:
            asking = self._runs.get(answer_id)
        if asking is None or asking.asker.owner != owner:
            raise NotFoundError(f"no such answer: {answer_id!r}", hint="ask the question again")
        return asking

    def running(self, conversation_id: str, owner: str = "") -> list[Asking]:
        """Return the answers that are being written in a conversation, the oldest first."""
        with self._lock:
            return [
                asking
                for asking in self._runs.values()
                if asking.id in self._threads
                and (asking.asker.conversation_id, asking.asker.owner) == (conversation_id, owner)
            ]

    def stop(self) -> None:
        """Stop all answers that are being written."""
        with self._lock:
            for asking in self._runs.values():
                asking.stop()

    def close(self, wait_s: float = 5.0) -> None:
        """Stop all; an answer whose search is slow is left behind after some seconds."""
        self.stop()
        with self._lock:
            threads = list(self._threads.values())
        until = time.monotonic() + wait_s
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0.0))

    def _carry_out(self, asking: Asking, open_events: Open) -> None:
        """Run in a thread of its own."""
        telling = AnswerEventMaker(asking.asker.projects)
        try:
            with stopping(lambda: asking.is_stopped), open_events() as events:
                for event in events:
                    if asking.is_stopped:
                        break
                    for told in telling.of(event):
                        _tell(asking, told)
                    if isinstance(event, Answer):
                        asking.answer = event
        except StoppedError:
            pass
        except Exception as error:  # whoever asked must hear of it
            asking.problem = problem_of(error)
            if asking.problem.status == 500:
                _log.exception("an answer failed")
            _tell(asking, problem_event(asking.problem))
        self._conclude(asking, telling)

    def _conclude(self, asking: Asking, telling: AnswerEventMaker) -> None:
        """Keep the turn, then tell the end: who reads the conversation after that finds it there."""
        try:
            asker = asking.asker
            if asker.conversation_id:
                turn = ConversationTurn(
                    asker.question, telling.text, _state(asking), asker.asked_at, _details(asking, telling)
                )
                self._conversations.add(asker.conversation_id, turn, asker.owner)
        except Exception as error:  # such as a conversation that was deleted meanwhile
            _tell(asking, problem_event(problem_of(error)))
        with self._lock:
            del self._threads[asking.id]
        if asking.is_stopped and asking.answer is None:
            _tell(asking, Told("status", {"phase": "stopped"}))
        _tell(asking, Told("done"))
        asking.channel.close()


def _tell(asking: Asking, told: Told) -> None:
    asking.channel.publish(told.type, told.data)


def _state(asking: Asking) -> str:
    if asking.answer is not None:
        return "failed" if asking.answer.failure else "done"
    return "failed" if asking.problem else "stopped"


def _details(asking: Asking, telling: AnswerEventMaker) -> dict[str, Any]:
    """Return the details of an answer that a conversation stores beside its text."""
    asker, problem = asking.asker, asking.problem
    on_the_way = {"answer_id": asking.id, "is_agent": asker.is_agent, "steps": telling.steps}
    if asking.answer is not None:
        return {**on_the_way, **details_of(asking.answer, asker.projects), "hint": asking.answer.hint}
    failed = {"error": problem.detail, "hint": problem.hint} if problem else {"error": "", "hint": ""}
    return {**on_the_way, "sources": telling.sources, **failed}
