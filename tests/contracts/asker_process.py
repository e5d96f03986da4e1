"""A process that answers pickled questions: what an asker behind a pipe is made of, on both of its ends."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.waiting import Started

from codefathom import Engine
from codefathom.errors import FathomError
from codefathom.question.question import Question


class PipedAsker:
    """An asker whose answers come from a child process. The facts of its project are read here."""

    def __init__(self, root: str) -> None:
        self._here = Engine.open(root, is_root=True)
        command = [sys.executable, "-m", "tests.contracts.asker_process", root]
        self._child = Started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
        self.root, self.folder, self.settings = self._here.root, self._here.folder, self._here.settings
        self.ready, self.take_in = self._here.ready, self._here.take_in
        self.first_run = None

    @property
    def opened(self) -> Any:
        return self._here.opened

    def answer(self, question: Question) -> Iterator[Any]:
        assert self._child.stdin is not None and self._child.stdout is not None
        pickle.dump(question, self._child.stdin)
        self._child.stdin.flush()
        while (event := pickle.load(self._child.stdout)) is not None:
            if isinstance(event, FathomError):
                raise event
            yield event

    def close(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait()
        self._here.close()


if __name__ == "__main__":
    with Engine.open(sys.argv[1], is_root=True) as engine:
        while sys.stdin.buffer.peek(1):
            try:
                for event in engine.answer(pickle.load(sys.stdin.buffer)):
                    pickle.dump(event, sys.stdout.buffer)
                pickle.dump(None, sys.stdout.buffer)
            except FathomError as error:
                pickle.dump(error, sys.stdout.buffer)
            sys.stdout.buffer.flush()
