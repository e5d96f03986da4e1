"""Worker processes that prepare files. A file that kills its worker costs that file, not the run.

Plain child processes instead of `multiprocessing`: nothing is imported twice in the caller's program, so indexing
works from a script without a `__main__` guard, from a thread and from a server.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields
from itertools import islice
from operator import attrgetter
from queue import SimpleQueue
from typing import Any, BinaryIO

from codefathom.plan import Job, Recipe
from codefathom.prepare import Outcome, prepare
from codefathom.types import Break, Chunk, Document, Failure, ParsedDocument, Reference, Symbol

# Starting a worker costs about 100 ms: below this many bytes one process is as fast.
MIN_BYTES_FOR_WORKERS = 1_500_000
_BATCH_BYTES = 256_000
_BATCH_FILES = 64


def prepare_all(jobs: Sequence[Job], recipe: Recipe, n_workers: int) -> Iterator[list[Outcome]]:
    """Prepare all files, in batches, in the order given; with n_workers of 0 in this process."""
    batches = list(_batches(jobs))
    if n_workers < 1 or sum(job.file.size for job in jobs) < MIN_BYTES_FOR_WORKERS or not sys.executable:
        for batch in batches:
            yield [prepare(job, recipe) for job in batch]
        return
    pool = _Pool(recipe, min(n_workers, len(batches)))
    try:
        with ThreadPoolExecutor(pool.size) as threads:
            try:
                yield from _in_order(pool, threads, batches)
            finally:
                pool.close()
    finally:
        pool.reap()


def _in_order(pool: _Pool, threads: ThreadPoolExecutor, batches: list[list[Job]]) -> Iterator[list[Outcome]]:
    """Keep the workers busy, but only so far ahead of the reader that memory stays bounded."""
    waiting = iter(batches)
    running = deque(threads.submit(pool.prepare, batch) for batch in islice(waiting, 2 * pool.size + 1))
    while running:
        yield running.popleft().result()
        running.extend(threads.submit(pool.prepare, batch) for batch in islice(waiting, 1))


def _batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    batch: list[Job] = []
    n_bytes = 0
    for job in jobs:
        if batch and (n_bytes + job.file.size > _BATCH_BYTES or len(batch) >= _BATCH_FILES):
            yield batch
            batch, n_bytes = [], 0
        batch.append(job)
        n_bytes += job.file.size
    if batch:
        yield batch


class _Pool:
    """A few workers; each call borrows one."""

    def __init__(self, recipe: Recipe, size: int) -> None:
        self.recipe = recipe
        self.size = size
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._all = [_Worker(recipe) for _ in range(size)]
        for worker in self._all:
            self._idle.put(worker)

    def prepare(self, jobs: list[Job]) -> list[Outcome]:
        worker = self._idle.get()
        try:
            return worker.prepare(jobs)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """End the work that is under way."""
        for worker in self._all:
            worker.close()

    def reap(self) -> None:
        """Wait for the processes to end, so that none stays behind; no thread may use them any more."""
        for worker in self._all:
            worker.stop()


class _Worker:
    """One child process that answers a list of jobs with a list of outcomes."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self._closed = False
        self._process = self._start()

    def prepare(self, jobs: list[Job]) -> list[Outcome]:
        outcomes = self._ask(jobs)
        if outcomes is not None:
            return outcomes
        if self._closed:
            return []
        if len(jobs) == 1:  # once may be somebody outside; twice in a row it is the file
            return self._ask(jobs) or [Failure(jobs[0].file.path, "the parser crashed on it")]
        return [outcome for job in jobs for outcome in self.prepare([job])]

    def close(self) -> None:
        self._closed = True
        self._process.kill()  # the thread that waits for an answer sees the end of the pipe and cleans up

    def stop(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not written yet has nobody to read it
                    pipe.close()
        self._process.wait()

    def _ask(self, jobs: list[Job]) -> list[Outcome] | None:
        """Return the answer, or None when the process died over it; a new one is running then."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # both are pipes, see _start
        assert stdout is not None
        try:
            pickle.dump((self.recipe, jobs), stdin, protocol=5)
            stdin.flush()
            outcomes: list[Outcome] = pickle.load(stdout)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            self.stop()
            if not self._closed:
                self._process = self._start()
            return None
        return outcomes

    def _start(self) -> subprocess.Popen[bytes]:
        # The child finds the package where this process found it, also when it is not installed.
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(entry for entry in sys.path if entry))
        command = [sys.executable, "-c", "from codefathom.workers import serve; serve()"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def serve() -> None:
    """Answer job lists from stdin on stdout until stdin ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a grammar prints must not end up between two answers
    _answer(sys.stdin.buffer, answers)


def _answer(questions: BinaryIO, answers: BinaryIO) -> None:
    while True:
        try:
            recipe, jobs = pickle.load(questions)
        except (EOFError, KeyboardInterrupt):
            return
        pickler = pickle.Pickler(answers, protocol=5)
        pickler.dispatch_table = _AS_ROWS
        pickler.dump([prepare(job, recipe) for job in jobs])
        answers.flush()


def _as_row(kind: type) -> Callable[[Any], tuple[type, tuple[object, ...]]]:
    """Return what makes a call of its class and a row of values of a dataclass."""
    row = attrgetter(*(field.name for field in fields(kind)))
    return lambda value: (kind, row(value))


# As dataclasses pickle themselves, they would take a fifth of the time that it takes to make them.
_AS_ROWS: dict[type, Callable[[Any], Any]] = {
    kind: _as_row(kind) for kind in (Break, Chunk, Document, ParsedDocument, Reference, Symbol)
}
