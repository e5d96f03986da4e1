"""A process that answers pickled questions: what an asker behind a pipe is made of, on both of its ends."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.waiting import Started

from codefathom import Engine
from codefathom.config.settings import Settings
from codefathom.errors import FathomError, SettingsError
from codefathom.providers.base import ChatModel
from codefathom.question.question import Question
from codefathom.types import RunProgress


class Facts(NamedTuple):
    """What an asker tells beside its answers."""

    root: str
    folder: str
    settings: Settings
    generation: int
    hides_secrets: bool
    first_run: RunProgress | None


class PipedAsker:
    """An asker in a child process: nothing of its project is read here."""

    def __init__(self, root: str) -> None:
        command = [sys.executable, "-m", "tests.contracts.asker_process", root]
        self._child = Started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])

    @property
    def root(self) -> str:
        return self._facts.root

    @property
    def folder(self) -> str:
        return self._facts.folder

    @property
    def settings(self) -> Settings:
        return self._facts.settings

    @property
    def generation(self) -> int:
        return self._facts.generation

    @property
    def hides_secrets(self) -> bool:
        return self._facts.hides_secrets

    @property
    def first_run(self) -> RunProgress | None:
        return self._facts.first_run

    def chat_model(self, name: str) -> ChatModel:
        raise SettingsError(f"there is no model {name!r} here", hint="set none")

    def answer(self, question: Question) -> Iterator[Any]:
        yield from self._told("answer", question)

    def refresh(self) -> bool:
        (is_behind,) = self._told("refresh")
        return bool(is_behind)

    def take_in(self, files: Sequence[str]) -> None:
        list(self._told("take_in", tuple(files)))

    def close(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait()

    @property
    def _facts(self) -> Facts:
        (facts,) = self._told("facts")
        return Facts(*facts)

    def _told(self, act: str, *values: object) -> Iterator[Any]:
        assert self._child.stdin is not None and self._child.stdout is not None
        pickle.dump((act, values), self._child.stdin)
        self._child.stdin.flush()
        events = []
        while (event := pickle.load(self._child.stdout)) is not None:
            if isinstance(event, FathomError):
                raise event
            events.append(event[0])
        yield from events  # once all are read: another question may come between two of them


def _facts(engine: Engine) -> tuple[Any, ...]:
    facts = Facts(*(getattr(engine, name) for name in Facts._fields))
    # Where settings come from cannot be sent, and is of no use elsewhere.
    return tuple(facts._replace(settings=facts.settings._replace(origins={}, refused={})))


ACTS: Mapping[str, Callable[..., Iterator[Any]]] = {
    "answer": lambda engine, question: engine.answer(question),
    "facts": lambda engine: iter([_facts(engine)]),
    "refresh": lambda engine: iter([engine.refresh()]),
    "take_in": lambda engine, files: iter([engine.take_in(files)]),
}


if __name__ == "__main__":
    with Engine.open(sys.argv[1], is_root=True) as opened:
        while sys.stdin.buffer.peek(1):
            name, given = pickle.load(sys.stdin.buffer)
            try:
                for one in ACTS[name](opened, *given):
                    pickle.dump((one,), sys.stdout.buffer)
                pickle.dump(None, sys.stdout.buffer)
            except FathomError as error:
                pickle.dump(error, sys.stdout.buffer)
            sys.stdout.buffer.flush()
