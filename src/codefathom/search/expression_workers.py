"""Processes beside this one that try an expression on parts of the files. Each opens the catalogue to read it only.

A process gets the next parts when it has answered; this one takes parts, too, from the first moment on. All are ended
when the search ends, however that happens. One that dies makes the search an error: its part would be missing.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from traceback import print_exc
from typing import BinaryIO, NamedTuple, cast

from codefathom.errors import FathomError, IndexingError
from codefathom.search.expression_trial import Trial, try_on
from codefathom.search.sign_table import SignsOfPart
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.folder import File
from codefathom.system.children import end_at_once, received, start_python
from codefathom.system.stopping import check_stopped
from codefathom.text.expressions import Deadline, compiled, deadline

_AHEAD = 2  # parts that a process has, so that it never waits for the next one
_ASK_AGAIN_S = 0.05  # whether the search is stopped


class ExpressionTask(NamedTuple):
    """What is the same for all parts."""

    file: File  # the catalogue
    written: str
    allowed: Collection[int] | None
    limit_s: float
    with_signs: bool = False  # also the groups of signs of all files


class _Part(NamedTuple):
    number: int
    paths: Sequence[str]
    left_s: float


class _Answer(NamedTuple):
    number: int
    trial: Trial | None  # None: the catalogue cannot be opened or read here, which the parent tries itself
    spent_s: float = 0.0  # in the expression
    damaged: Sequence[str] = ()  # paths of documents that are left out


def tried_together(
    parts: Sequence[Sequence[str]],
    tried: Callable[[Sequence[str]], Trial],
    task: ExpressionTask,
    n_workers: int,
    running: Deadline,
) -> Iterator[Trial]:
    """Yield the trials of all parts in their order; `tried` makes one in this process.

    The time that other processes spend counts as that of this one. Raises IndexingError where one of them has died.
    """
    waiting = deque(_Part(number, paths, 0.0) for number, paths in enumerate(parts))
    trials: dict[int, Trial] = {}
    workers = _Workers(task, n_workers)
    try:
        n_yielded = 0
        while n_yielded < len(parts):
            workers.feed(waiting, running)
            if waiting:
                own = waiting.popleft()
                trials[own.number] = tried(own.paths)
            for answer in workers.answers(is_idle=not waiting and n_yielded not in trials):
                trials[answer.number] = tried(parts[answer.number]) if answer.trial is None else answer.trial
                running.left_s -= answer.spent_s
                if answer.damaged:
                    tried(answer.damaged)  # the catalogue of this process notes them as well
            while n_yielded in trials:
                yield trials.pop(n_yielded)
                n_yielded += 1
    finally:
        workers.end()


class _Workers:
    """Some processes, each with a thread here that takes its answers."""

    def __init__(self, task: ExpressionTask, n_workers: int) -> None:
        self._arrived: SimpleQueue[tuple[_Worker, _Answer | None]] = SimpleQueue()
        self._all: list[_Worker] = []
        try:
            while len(self._all) < n_workers:
                self._all.append(_Worker(task, self._arrived))
        except BaseException:
            self.end()
            raise

    def feed(self, waiting: deque[_Part], running: Deadline) -> None:
        """Give each process the parts that it has room for."""
        for worker in self._all:
            while waiting and worker.n_parts < _AHEAD and worker.is_useful:
                worker.send(waiting.popleft()._replace(left_s=running.left_s))

    def answers(self, *, is_idle: bool) -> Iterator[_Answer]:
        """Yield what has arrived; wait for something where there is nothing else to do. Raises IndexingError."""
        while is_idle:
            check_stopped()
            with suppress(Empty):
                yield self._taken(*self._arrived.get(timeout=_ASK_AGAIN_S))
                break
        while not self._arrived.empty():
            yield self._taken(*self._arrived.get())

    def end(self) -> None:
        """End all processes at once."""
        for worker in self._all:
            worker.end()

    def _taken(self, worker: _Worker, answer: _Answer | None) -> _Answer:
        if answer is None:
            raise IndexingError(
                f"a process that searched some of the files has died ({worker.how})",
                hint="ask again; where memory is short, narrow the question to a folder, such as @src",
            )
        worker.n_parts -= 1
        worker.is_useful = answer.trial is not None
        return answer


class _Worker:
    """One process."""

    def __init__(self, task: ExpressionTask, arrived: SimpleQueue[tuple[_Worker, _Answer | None]]) -> None:
        self.n_parts = 0  # under way
        self.is_useful = True
        self._process = start_python("codefathom.search.expression_workers", "serve")
        self._stdin, self._stdout = cast(BinaryIO, self._process.stdin), cast(BinaryIO, self._process.stdout)
        self._thread = Thread(target=self._receive, args=(arrived,), daemon=True)
        self._thread.start()
        self._write(task)

    @property
    def how(self) -> str:
        """The signal or status with which the process has ended."""
        status = self._process.wait()
        return f"signal {-status}" if status < 0 else f"status {status}"

    def send(self, part: _Part) -> None:
        self.n_parts += 1
        self._write(part)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError):  # what was not written has no reader any more
                pipe.close()

    def _write(self, value: ExpressionTask | _Part) -> None:
        with suppress(OSError):  # it has died, which the thread tells
            pickle.dump(value, self._stdin, protocol=5)
            self._stdin.flush()

    def _receive(self, arrived: SimpleQueue[tuple[_Worker, _Answer | None]]) -> None:
        with suppress(OSError, EOFError, ValueError, pickle.UnpicklingError):
            while True:
                arrived.put((self, pickle.load(self._stdout)))
        arrived.put((self, None))


def serve() -> None:
    """Answer the parts of one task, which comes first, from stdin on stdout until stdin ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        values = received(sys.stdin.buffer)
        task: ExpressionTask = next(values)
        try:
            catalog = Catalog.open(task.file, read_only=True)
        except FathomError:  # another process has marked it, or replaces it: the parent has it open
            catalog = None
        for part in values:
            pickle.dump(_answer(task, part, catalog), answers, protocol=5)
            answers.flush()
    except BrokenPipeError:
        end_at_once()
    except BaseException:
        print_exc()
        end_at_once(1)


def _answer(task: ExpressionTask, part: _Part, catalog: Catalog | None) -> _Answer:
    if catalog is None:
        return _Answer(part.number, None)
    catalog.soundness.damaged_paths.clear()
    signs = SignsOfPart() if task.with_signs else None
    with deadline(task.limit_s) as running:
        running.left_s = part.left_s
        try:
            trial = try_on(part.paths, compiled(task.written), catalog, task.allowed, running, signs=signs)
        except FathomError:
            return _Answer(part.number, None)
    return _Answer(part.number, trial, part.left_s - running.left_s, sorted(catalog.soundness.damaged_paths))
