"""`fathom chat`: one question in each line; the model also gets the questions and answers before it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from io import TextIOWrapper
from typing import Any

from codefathom.answer.answer_types import Answer
from codefathom.answer.ask import Text
from codefathom.askers.joined import JoinedProjects
from codefathom.cli.commands.ask_command import (
    Events,
    answer_parts,
    ask_events,
    check_trace,
    choose_level,
    conclude,
    question_inputs,
    refuse_contradictions,
    show,
    write_trace,
)
from codefathom.cli.display.output import complain
from codefathom.cli.extra_documents import STDIN
from codefathom.cli.face import Face
from codefathom.cli.options import AskOptions
from codefathom.cli.token_budget import write_items
from codefathom.engine import Engine
from codefathom.errors import FathomError, StoppedError, UsageError
from codefathom.project.answer_setup import recent
from codefathom.providers.base import Message
from codefathom.shapes import answer_shape, trace_shape
from codefathom.system.interruption import INTERRUPTION
from codefathom.text.printable import escape_json

SUCCESS, ERROR = 0, 2
_CLEAR, _QUIT = "/clear", ("/quit", "/exit")
_PROMPT = "> "


def run(options: AskOptions, face: Face) -> int:
    """Answer until the input ends. 2 when every question failed."""
    refuse_contradictions(options)
    choose_level(options, face)
    if STDIN in options.doc:
        raise UsageError(
            "--doc - cannot be used in a chat: the questions come from stdin", hint="give a file with --doc"
        )
    check_trace(options.trace)
    with face.open_chosen(options) as engine:
        conversation = _Conversation(engine, face, options)
        for line in _typed(face) if sys.stdin.isatty() else _piped():
            if line in _QUIT:
                break
            if line == _CLEAR:
                conversation.clear()
            else:
                conversation.ask(line)
    return ERROR if conversation.all_failed else SUCCESS


class _Conversation:
    """The messages so far, and the number of questions that failed."""

    def __init__(self, engine: Engine | JoinedProjects, face: Face, options: AskOptions) -> None:
        self._engine = engine
        self._face = face
        self._options = options
        self._inputs = question_inputs(options, engine, face)
        self._history: tuple[Message, ...] = ()
        self._answer_text = ""  # of the present answer, as far as it is written
        self._has_model = bool(engine.settings.llm.of("agent" if options.agent else "answer"))
        self._reported: set[str] = set()  # problems that need not be repeated with every answer
        self._n_questions = 0
        self._n_failed = 0

    @property
    def all_failed(self) -> bool:
        """Return True if there were questions and each of them failed."""
        return 0 < self._n_questions == self._n_failed

    def clear(self) -> None:
        """Forget all messages."""
        self._history = ()
        self._face.note("the conversation was cleared")

    def ask(self, question: str) -> None:
        """Answer one question. Neither an error nor an interruption ends the conversation."""
        self._n_questions += 1
        self._answer_text = ""
        try:
            # Closing the events ends the call of the model.
            with closing(ask_events(question, self._inputs, self._engine, self._history)) as events:
                self._answer(question, self._recorded(events))
        except (KeyboardInterrupt, StoppedError):
            INTERRUPTION.forget()
            self._end_line()
            self._face.note("stopped")
        except FathomError as error:
            self._n_failed += 1
            self._end_line()
            complain(str(error), error.hint)
            return
        finally:
            self._face.flush()
        self._remember(question)

    def _recorded(self, events: Events) -> Events:
        """Yield the events of an answer and keep its text, of which an interruption leaves a part."""
        for event in events:
            if isinstance(event, Text):
                self._answer_text += event.text
            elif isinstance(event, Answer):
                self._answer_text = event.text
            yield event

    def _answer(self, question: str, events: Events) -> None:
        most = self._options.max_tokens
        answer = show(events, self._face, waits=bool(most))
        if most:
            write_items(answer_parts(answer, self._options, self._face, _as_line), most, self._face)
        elif self._face.common.json:
            self._face.write(_as_line({**answer_shape(answer), **self._face.of_paths}))
        conclude(answer, self._options, self._face, self._reported)
        if self._options.trace:
            line = json.dumps({"question": question, "stages": trace_shape(answer.trace)})
            write_trace(line, self._options.trace, "a")
        if answer.failure:
            self._n_failed += 1
            self._answer_text = ""
        if not self._has_model:
            self._reported.update(answer.degraded)  # a missing model is reported once

    def _end_line(self) -> None:
        if self._answer_text and not self._face.common.json and not self._answer_text.endswith("\n"):
            self._face.write("\n")

    def _remember(self, question: str) -> None:
        if self._answer_text.strip():
            turns = (*self._history, Message("user", question), Message("assistant", self._answer_text))
            self._history = recent(turns, self._engine.settings)


def _as_line(shape: Mapping[str, Any]) -> str:
    return escape_json(json.dumps(shape, ensure_ascii=False)) + "\n"


def _piped() -> Iterator[str]:
    """Yield the lines of stdin, without empty ones."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a wrong byte must not end the conversation
    for line in sys.stdin:
        if line.strip():
            yield line.strip()


def _typed(face: Face) -> Iterator[str]:
    """Yield the lines typed at a terminal, without empty ones, until it ends or is interrupted twice in a row."""
    face.note(f"{_CLEAR} clears the conversation, {_QUIT[0]} or Ctrl-D ends it")
    read = _reader(face)
    was_interrupted = False
    while True:
        try:
            line = read()
        except (EOFError, KeyboardInterrupt) as reason:
            INTERRUPTION.forget()
            face.ask("\n")
            if was_interrupted or isinstance(reason, EOFError):
                return
            was_interrupted = True
            face.note("press Ctrl-C again, or Ctrl-D, to end the conversation")
            continue
        was_interrupted = False
        if line.strip():
            yield line.strip()


def _reader(face: Face) -> Callable[[], str]:
    """Return a function that reads a line, with editing and a history if the terminal can do that."""
    try:
        import readline  # noqa: F401  (`input` uses it once it is imported; not every Python has it)
    except ImportError:
        can_edit = False
    else:
        can_edit = sys.stdout.isatty()  # readline writes the prompt there, which is data when it is no terminal

    def edited() -> str:
        face.ask("")
        return input(_PROMPT)

    def plain() -> str:
        face.ask(_PROMPT)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line

    return edited if can_edit else plain
