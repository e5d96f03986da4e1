"""Answers in the making: each written by a thread into a channel, and stopped when nobody reads it any more."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from secrets import token_hex
from threading import Lock, Thread
from typing import Any, TypeAlias

from codefathom.answer.types import Answer
from codefathom.server.answer_events import Happening, Telling, details_of, problem_event
from codefathom.server.conversations import Conversations, Turn
from codefathom.server.job_events import Told
from codefathom.server.problems import NotFoundError, Problem, RequestError, problem_of
from codefathom.server.sse import Channel
from codefathom.server.stopping import StoppedError, stopping

MOST_AT_ONCE = 16
MOST_KEPT = 100  # answers whose events can still be read
_SIZE = 10_000  # events of one answer

_log = logging.getLogger(__name__)

Open: TypeAlias = Callable[[], AbstractContextManager[Iterator[Happening]]]


class BusyError(RequestError):
    """As many answers are being written as may be at a time."""

    status = 503
    code = "busy"


class AnswerError(RequestError):
    """An answer has failed, as its problem says."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail, hint=problem.hint)
        self.status = problem.status
        self.code = problem.code


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks what."""

    question: str
    owner: str = ""
    conversation_id: str = ""  # "" for in none
    projects: tuple[str, ...] = ()


class Asking:
    """One answer, from the question on. `answer` and `problem` are there once the channel is closed."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.channel = Channel(token_hex(16), _SIZE)
        self.answer: Answer | None = None
        self.problem: Problem | None = None
        self.is_stopped = False
        self._lock = Lock()
        self._n_readers = 0

    @property
    def id(self) -> str:
        """What the ids of its events begin with."""
        return self.channel.key

    def join(self) -> None:
        """Count one more reader."""
        with self._lock:
            self._n_readers += 1

    def leave(self) -> None:
        """Count one reader less; the last one to leave stops what is not whole yet."""
        with self._lock:
            self._n_readers -= 1
            if self._n_readers < 1:
                self.is_stopped = True

    def stop(self) -> None:
        """End the call of the model at its next piece; nothing to do for an answer that is whole."""
        self.is_stopped = True


class Answers:
    """The answers that are being written, and the latest that were. Safe to use from several threads."""

    def __init__(
        self, conversations: Conversations, most_at_once: int = MOST_AT_ONCE, clock: Callable[[], float] = time.time
    ) -> None:
        self._conversations = conversations
        self._most_at_once = most_at_once
        self._clock = clock
        self._lock = Lock()
        self._known: OrderedDict[str, Asking] = OrderedDict()
        self._threads: dict[str, Thread] = {}

    @property
    def n_running(self) -> int:
        """How many are being written."""
        return len(self._threads)

    def begin(self, asker: Asker, open_events: Open) -> Asking:
        """Begin to answer; `open_events` is called by the thread of the answer. Raises BusyError."""
        asking = Asking(asker)
        started = {"phase": "searching", "answer_id": asking.id, "conversation_id": asker.conversation_id}
        asking.channel.publish("status", started)
        with self._lock:
            if len(self._threads) >= self._most_at_once:
                raise BusyError(f"{self._most_at_once} answers are being written", hint="ask again in a moment")
            self._known[asking.id] = asking
            while len(self._known) > MOST_KEPT + self._most_at_once:
                self._known.popitem(last=False)
            thread = Thread(target=self._carry_out, args=(asking, open_events), name="answer", daemon=True)
            self._threads[asking.id] = thread
        thread.start()
        return asking

    def find(self, answer_id: str, owner: str = "") -> Asking:
        """Return an answer that is being written, or was lately. Raises NotFoundError, also for that of another."""
        with self._lock:
            asking = self._known.get(answer_id)
        if asking is None or asking.asker.owner != owner:
            raise NotFoundError(f"no such answer: {answer_id!r}", hint="ask again")
        return asking

    def stop(self) -> None:
        """Stop all answers that are being written."""
        with self._lock:
            for asking in self._known.values():
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
        telling, asked_at = Telling(asking.asker.projects), self._clock()
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
        self._conclude(asking, telling.text, asked_at)

    def _conclude(self, asking: Asking, text: str, asked_at: float) -> None:
        """Keep the turn, then tell the end: who reads the conversation after that finds it there."""
        try:
            if asking.asker.conversation_id:
                turn = Turn(asking.asker.question, text, _state(asking), asked_at, _details(asking))
                self._conversations.add(asking.asker.conversation_id, turn, asking.asker.owner)
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


def _details(asking: Asking) -> dict[str, Any]:
    if asking.answer is not None:
        return details_of(asking.answer, asking.asker.projects)
    return {"error": asking.problem.detail if asking.problem else ""}
