"""`fathom chat`: one question a line, each with the turns before it in mind."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterator
from io import TextIOWrapper
from typing import TextIO, cast

from codefathom.answer.ask import Found, Text
from codefathom.answer.types import Answer
from codefathom.asking import recent
from codefathom.cli import complain
from codefathom.cli.ask import STDIN, conclude, documents, show
from codefathom.cli.face import Face
from codefathom.cli.filters import inside_project, where
from codefathom.cli.options import AskOptions, ChatOptions
from codefathom.cli.shapes import answer_shape
from codefathom.engine import Engine
from codefathom.errors import FathomError, UsageError
from codefathom.providers.base import Message
from codefathom.types import Where

FOUND, ERROR = 0, 2
_CLEAR, _QUIT = "/clear", "/quit"


def run(options: ChatOptions, face: Face) -> int:
    """Answer until the input ends. 2 when every question failed."""
    if STDIN in options.doc:
        raise UsageError("the questions come from stdin, a document cannot", hint="give a file with --doc")
    with face.open() as engine:
        conversation = _Conversation(engine, face, AskOptions(query="", **options._asdict()))
        for line in _lines(face, sys.stdin):
            if line == _QUIT:
                break
            if line == _CLEAR:
                conversation.clear()
            else:
                conversation.ask(line)
    return ERROR if conversation.all_failed else FOUND


class _Conversation:
    """What was said so far, and how the questions went."""

    def __init__(self, engine: Engine, face: Face, options: AskOptions) -> None:
        self._engine = engine
        self._face = face
        self._where: Where | None = where(options, engine.root)
        self._pinned = [inside_project(path, engine.root) for path in options.pin]
        self._documents = dict(documents(options.doc, options.url))
        self._history: tuple[Message, ...] = ()
        self._said = ""  # of the answer under way
        self._has_model = bool(engine.settings.llm.of("answer"))
        self._told: set[str] = set()  # what need not be told with every answer
        self._n_asked = 0
        self._n_failed = 0

    @property
    def all_failed(self) -> bool:
        """Whether there were questions and none of them went well."""
        return 0 < self._n_asked == self._n_failed

    def clear(self) -> None:
        """Forget what was said."""
        self._history = ()
        self._face.note("the conversation is forgotten")

    def ask(self, question: str) -> None:
        """Answer one question. Neither an error nor an interruption ends the conversation."""
        self._n_asked += 1
        self._said = ""
        events = self._events(question)
        try:
            self._answer(events)
        except KeyboardInterrupt:
            self._end_line()
            self._face.note("stopped")
        except FathomError as error:
            self._n_failed += 1
            self._end_line()
            complain(str(error), error.hint)
            return
        finally:
            events.close()
            self._face.flush()
        self._remember(question)

    def _events(self, question: str) -> Generator[Found | Text | Answer, None, None]:
        """Yield the events of an answer and keep its text, of which an interruption leaves a part."""
        events = self._engine.ask_events(
            question, where=self._where, pinned=self._pinned, documents=self._documents, history=self._history
        )
        try:
            for event in events:
                if isinstance(event, Text):
                    self._said += event.text
                yield event
        finally:
            cast("Generator[object, None, None]", events).close()  # ends the call of the model

    def _answer(self, events: Iterator[Found | Text | Answer]) -> None:
        if self._face.common.json:
            *_, answer = events
            assert isinstance(answer, Answer)  # the protocol of ask_events
            self._face.write(json.dumps(answer_shape(answer), ensure_ascii=False) + "\n")
        else:
            answer = show(events, self._face)
        if answer.model or not (self._has_model or self._told):
            conclude(answer, self._face)
        else:
            self._end_line()
            self._face.notes(problem for problem in answer.degraded if problem not in self._told)
        if not self._has_model:
            self._told.update(answer.degraded)  # that there is no model is no news the second time

    def _end_line(self) -> None:
        if self._said and not self._face.common.json and not self._said.endswith("\n"):
            self._face.write("\n")

    def _remember(self, question: str) -> None:
        if self._said.strip():
            turns = (*self._history, Message("user", question), Message("assistant", self._said))
            self._history = recent(turns, self._engine.settings)


def _lines(face: Face, stdin: TextIO) -> Iterator[str]:
    """Yield what is typed, without empty lines; only a terminal is prompted."""
    if isinstance(stdin, TextIOWrapper):
        stdin.reconfigure(errors="replace")  # a wrong byte must not end the conversation
    is_prompted = stdin.isatty()
    while True:
        if is_prompted:
            face.ask("> ")
        line = stdin.readline()
        if not line:
            break
        if line.strip():
            yield line.strip()
    if is_prompted:
        face.ask("\n")
