"""Worker processes that prepare files. A file that kills its worker costs that file, not the run.

Plain child processes instead of `multiprocessing`: nothing is imported twice in the caller's program, so indexing
works from a script without a `__main__` guard, from a thread and from a server.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields
from operator import attrgetter
from queue import SimpleQueue
from traceback import print_exc
from typing import Any, BinaryIO, TypeAlias

from codefathom.facts.reasons import PARSER_CRASHED, Note
from codefathom.index.plan import FileJob, Recipe
from codefathom.index.prepare import Outcome, PreparedFile, failure_of, prepare, prepare_window, touched_file
from codefathom.source.changes import UNKNOWN_SIZE
from codefathom.source.extraction.extraction_child import READER
from codefathom.source.large import Window
from codefathom.system.children import end_at_once, received, start_python
from codefathom.system.memory import Allowance, give_back
from codefathom.types import Break, Chunk, Document, Failure, ParsedDocument, Reference, Symbol

_Batch: TypeAlias = "Sequence[FileJob | Window]"

# Starting a worker costs about 100 ms: below this many bytes one process is as fast.
MIN_BYTES_FOR_WORKERS = 1_500_000
_MOST_BYTES_COMPARED_HERE = 50_000_000  # some thousand files, which are read in a second
_USUAL_BYTES = 3_000  # of a document that is made when it is read, such as a commit
_BATCH_BYTES = 256_000
_BATCH_FILES = 64
# Memory that a byte of a file takes while it is prepared, at most: with a syntax tree, and without.
_HELD_FOR_BYTE = 100
_HELD_FOR_BYTE_OF_TEXT = 20
_BYTES_OF_WORKER = 60_000_000
_SHARES = 4  # batches that must fit at a time into the memory that may be used
_MUCH = 1_000_000  # bytes of files after which a worker gives memory back
_MANY_OBJECTS = 10_000  # new ones, between two looks for circles: files make very many, and hardly a circle


def prepare_all(
    jobs: Sequence[FileJob], recipe: Recipe, n_workers: int, memory: Allowance | None = None
) -> Iterator[list[Outcome]]:
    """Prepare all files, in batches, in the order given; with n_workers of 0 in this process.

    Files that may be as they were indexed come first, if they are not too many: those that are need no other process.
    Where memory is short, batches are smaller and fewer files are prepared at the same time.
    """
    memory = memory or Allowance()
    READER.begin_run()
    if n_workers > 0 and sum(_size(job) for job in jobs if job.fingerprint) <= _MOST_BYTES_COMPARED_HERE:
        same: set[str] = set()
        for batch in _batches([job for job in jobs if job.fingerprint], memory):
            with recipe.with_open_folders() as opened:
                touched = list(filter(None, (touched_file(job, opened) for job in batch)))
            same.update(item.path for item in touched)
            if touched:
                yield list(touched)
        jobs = [job for job in jobs if job.file.path not in same]
    n_bytes = sum(map(_size, jobs))
    if n_workers < 1 or n_bytes < MIN_BYTES_FOR_WORKERS or not sys.executable:
        for batch in _batches(jobs, memory):
            with recipe.with_open_folders() as opened:
                outcomes = [_outcome(job, opened) for job in batch]
            yield outcomes
        return
    n_most = n_bytes // _BATCH_BYTES + len(jobs) // _BATCH_FILES + 1
    yield from _prepared(_batches(jobs, memory), recipe, min(n_workers, n_most), memory)


def prepare_windows(
    windows: Iterable[Window], recipe: Recipe, n_workers: int, memory: Allowance | None = None
) -> Iterator[PreparedFile | Failure]:
    """Prepare the windows of one large file, in their order; a Failure comes for one that cannot be."""
    if n_workers < 1 or not sys.executable:
        outcomes_here = (_outcome(window, recipe) for window in windows)
        yield from (item for item in outcomes_here if isinstance(item, PreparedFile | Failure))
        return
    for outcomes in _prepared(([window] for window in windows), recipe, n_workers, memory or Allowance()):
        yield from (item for item in outcomes if isinstance(item, PreparedFile | Failure))


def _prepared(batches: Iterator[_Batch], recipe: Recipe, n_workers: int, memory: Allowance) -> Iterator[list[Outcome]]:
    pool = _Pool(recipe, max(min(n_workers, memory.n_bytes // _BYTES_OF_WORKER), 1))
    try:
        with ThreadPoolExecutor(pool.size) as threads:
            try:
                yield from _in_order(pool, threads, batches, memory)
            finally:
                pool.close()
    finally:
        pool.reap()


def _in_order(
    pool: _Pool, threads: ThreadPoolExecutor, batches: Iterator[_Batch], memory: Allowance
) -> Iterator[list[Outcome]]:
    """Keep the workers busy, but only so far ahead of the reader that memory stays bounded."""
    running: deque[tuple[int, Future[list[Outcome]]]] = deque()
    batch = next(batches, None)
    n_held = 0  # bytes that the batches take while they are prepared, an estimate
    while running or batch is not None:
        while batch is not None and len(running) <= 2 * pool.size:
            size = sum(map(_bytes_held, batch))
            if running and n_held + size > memory.n_bytes:
                break
            running.append((size, threads.submit(pool.prepare, batch)))
            n_held += size
            batch = next(batches, None)
        size, first = running.popleft()
        yield first.result()
        n_held -= size


def _batches(jobs: Iterable[FileJob], memory: Allowance) -> Iterator[list[FileJob]]:
    batch: list[FileJob] = []
    n_bytes = 0
    for job in jobs:
        most = min(_BATCH_BYTES, memory.n_bytes // (_HELD_FOR_BYTE * _SHARES))
        if batch and (n_bytes + _size(job) > most or len(batch) >= _BATCH_FILES):
            yield batch
            batch, n_bytes = [], 0
        batch.append(job)
        n_bytes += _size(job)
    if batch:
        yield batch


def _size(job: FileJob) -> int:
    return _USUAL_BYTES if job.file.size == UNKNOWN_SIZE else job.file.size


def _bytes_held(job: FileJob | Window) -> int:
    return _HELD_FOR_BYTE * _size(job) if isinstance(job, FileJob) else _HELD_FOR_BYTE_OF_TEXT * len(job.data)


class _Pool:
    """A few workers; each call borrows one."""

    def __init__(self, recipe: Recipe, size: int) -> None:
        self.recipe = recipe
        self.size = size
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._all = [_Worker(recipe) for _ in range(size)]
        for worker in self._all:
            self._idle.put(worker)

    def prepare(self, jobs: _Batch) -> list[Outcome]:
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

    def prepare(self, jobs: _Batch) -> list[Outcome]:
        outcomes = self._ask(jobs)
        if outcomes is not None:
            return outcomes
        if self._closed:
            return []
        if len(jobs) == 1:  # once may be somebody outside; twice in a row it is the file
            return self._ask(jobs) or [Failure(jobs[0].file.path, Note(PARSER_CRASHED))]
        return [outcome for job in jobs for outcome in self.prepare([job])]

    def close(self) -> None:
        self._closed = True
        self._process.kill()  # the thread that waits for an answer sees the end of the pipe and cleans up

    def stop(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # unwritten data has no reader any more
                    pipe.close()
        self._process.wait()

    def _ask(self, jobs: _Batch) -> list[Outcome] | None:
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
        return start_python("codefathom.index.workers", "serve")


def serve() -> None:
    """Answer job lists from stdin on stdout until stdin ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a grammar prints must not end up between two answers
    gc.freeze()
    gc.set_threshold(_MANY_OBJECTS)
    try:
        for recipe, jobs in received(sys.stdin.buffer):
            _answer(recipe, jobs, answers)
    except BrokenPipeError:
        end_at_once()
    except BaseException:
        print_exc()
        end_at_once(1)  # the thread that reads would have Python complain once more


def _answer(recipe: Recipe, jobs: _Batch, answers: BinaryIO) -> None:
    pickler = pickle.Pickler(answers, protocol=5)
    pickler.dispatch_table = _AS_ROWS
    with recipe.with_open_folders() as opened:
        pickler.dump([_outcome(job, opened) for job in jobs])
    answers.flush()
    if sum(job.file.size for job in jobs) > _MUCH:
        give_back()


def _outcome(job: FileJob | Window, recipe: Recipe) -> Outcome:
    try:
        return prepare_window(job, recipe) if isinstance(job, Window) else prepare(job, recipe)
    except Exception as error:
        return failure_of(job.file.path, error)


def _as_row(kind: type) -> Callable[[Any], tuple[type, tuple[object, ...]]]:
    """Return a function from a value of a dataclass to its class and the row of its fields, as pickle takes it."""
    row = attrgetter(*(field.name for field in fields(kind)))
    return lambda value: (kind, row(value))


# As dataclasses pickle themselves, they would take a fifth of the time that it takes to make them.
_AS_ROWS: dict[type, Callable[[Any], Any]] = {
    kind: _as_row(kind) for kind in (Break, Chunk, Document, ParsedDocument, Reference, Symbol)
}
