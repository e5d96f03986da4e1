"""The process that takes texts out of documents, apart from all others: what crashes over a document is this one.

Each process that reads files has at most one, which is started with the first document and ends when nothing came for a
while. It has limits on computing time and memory where the system knows such limits.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from importlib import import_module
from threading import Lock
from time import monotonic, process_time
from traceback import print_exc
from typing import Any, NamedTuple

from codefathom.facts import reasons as say
from codefathom.facts.languages import EXTRACTIONS
from codefathom.source.extraction.refusal import TOO_MUCH_MEMORY, ExtractionLimits, Refusal, refusal, too_slow
from codefathom.system.children import end_at_once, received, start_python

_IDLE_S = 30
_TOO_SLOW = refusal(say.TOO_SLOW, seconds="")
_OUT_OF_TIME = -getattr(signal, "SIGPROF", 0)  # what a process ends with that has used up its computing time


class Task(NamedTuple):
    """What is taken out of a document."""

    kind: str  # of the document: its language
    page: int = 0  # of which a picture is made; 0: the text of all


class _Answer(NamedTuple):
    outcome: str | bytes | Refusal
    cpu_s: float


class ExtractionChild:
    """One child process, started when it is needed and again after it has ended. For several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._slow_s = 0.0  # time of the processor that documents of this run took beyond the usual

    def text_of(self, kind: str, data: bytes, limits: ExtractionLimits) -> str | Refusal:
        """Return the text of a document, or the reason why it has none; `kind` is its language."""
        outcome = self._outcome(Task(kind), data, limits)
        assert not isinstance(outcome, bytes)  # which a picture is
        return outcome

    def picture_of(self, data: bytes, page: int, limits: ExtractionLimits) -> bytes | Refusal:
        """Return a page of a PDF as PNG, or the reason why it cannot be drawn."""
        outcome = self._outcome(Task("pdf", page), data, limits)
        assert not isinstance(outcome, str)  # which a text is
        return outcome

    def _outcome(self, task: Task, data: bytes, limits: ExtractionLimits) -> str | bytes | Refusal:
        with self._lock:
            is_late = self._slow_s >= limits.slow_cpu_s and limits.usual_cpu_s < limits.cpu_s
            most = limits._replace(cpu_s=limits.usual_cpu_s) if is_late else limits
            few = most._replace(memory_bytes=min(most.memory_bytes, most.usual_memory_bytes))
            # Once may be somebody outside, or a rest that was too long; twice it is the document, or too little memory.
            attempts = [few, few, most]
            while attempts:
                attempt = attempts.pop(0)
                answer = self._attempt(task, data, attempt, is_last=not attempts)
                if answer is None:
                    continue
                self._count(answer.cpu_s, limits)
                if answer.outcome == _TOO_SLOW:
                    return too_slow(limits, is_late)
                if not attempts or not _may_lack_memory(answer.outcome, task.kind):
                    return answer.outcome
                attempts = [most]
        return refusal(say.READER_CRASHED)

    def _attempt(self, task: Task, data: bytes, limits: ExtractionLimits, *, is_last: bool) -> _Answer | None:
        """Return the answer; None when the process died over the document for any other reason than its time.

        The last attempt, which gets most memory, is made while no other process of this user makes one.
        """
        with _alone() if is_last else nullcontext():
            began = monotonic()
            answer = self._ask(task, data, limits)
            if answer is None and self.stop() == _OUT_OF_TIME:
                return _Answer(_TOO_SLOW, limits.cpu_s)
            if answer is None:
                self._count(min(monotonic() - began, limits.cpu_s), limits)
            elif is_last or answer.outcome == TOO_MUCH_MEMORY:
                self.stop()  # which gives the memory back
        return answer

    def begin_run(self) -> None:
        """Let the documents of another run take as long as those of the last one could."""
        self._slow_s = 0.0

    def _count(self, cpu_s: float, limits: ExtractionLimits) -> None:
        self._slow_s += max(cpu_s - limits.usual_cpu_s, 0.0)

    def stop(self) -> int | None:
        """End the process, and return its exit status; None where there is none."""
        process, self._process = self._process, None
        if process is None:
            return None
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # unwritten data has no reader any more
                    pipe.close()
        process.kill()
        return process.wait()

    def _ask(self, task: Task, data: bytes, limits: ExtractionLimits) -> _Answer | None:
        """Return the answer, None when the process died over it."""
        if self._process is None:
            self._process = start_python("codefathom.source.extraction.extraction_child", "serve")
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # both are pipes, see start_python
        assert stdout is not None
        try:
            pickle.dump((task, data, limits), stdin, protocol=5)
            stdin.flush()
            answer = _Answer(*pickle.load(stdout))
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            return None
        except BaseException:  # its answer would be taken for that to the next document
            self.stop()
            raise
        return answer


def _may_lack_memory(outcome: str | bytes | Refusal, kind: str) -> bool:
    """Return True if more memory may bring a text: some libraries call a document broken when they get too little."""
    return outcome == TOO_MUCH_MEMORY or outcome == refusal(EXTRACTIONS[kind].broken)


READER = ExtractionChild()
atexit.register(READER.stop)


def serve() -> None:
    """Answer documents from stdin with their texts on stdout until stdin ends, or nothing comes for a while."""
    answers = os.fdopen(os.dup(1), "wb")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)  # whatever a library prints must not end up between two answers, nor before a user
    os.dup2(silent, 2)
    try:
        for task, data, limits in received(sys.stdin.buffer):
            _rest(0)
            _limit(limits)
            began = process_time()
            outcome = reading(task, data, limits)
            pickle.dump((outcome, process_time() - began), answers, protocol=5)
            answers.flush()
            _limit(None)
            _rest(_IDLE_S)
    except BaseException:
        print_exc()
        end_at_once(1)


def reading(task: Task, data: bytes, limits: ExtractionLimits) -> str | bytes | Refusal:
    """Return what the reader of a kind of document takes out of it, in this process, or the reason against."""
    how = EXTRACTIONS[task.kind]
    try:
        reader: Any = import_module(f"codefathom.source.extraction.{'pdf_picture' if task.page else how.reader}")
        answer: str | bytes | Refusal = (
            reader.picture_of(data, task.page, limits) if task.page else reader.text_of(data, limits)
        )
    except MemoryError:
        return TOO_MUCH_MEMORY
    except ImportError as error:
        return refusal(say.LIBRARY_BROKEN, error=str(error))
    except Exception:  # a library says in many ways that a document is not what it should be
        return refusal(how.broken)
    return answer


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other process of this user is inside; where that cannot be told, nobody waits."""
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            flock: Any = import_module("fcntl")
            place = os.path.join(tempfile.gettempdir(), f"fathom-extraction-{os.getuid()}.lock")
            file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, file)
            flock.flock(file, flock.LOCK_EX)
        yield


def _address_space() -> int:
    """Return the bytes that the addresses of this process span, by which its limit counts; 0 if it is not known."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _rest(seconds: int) -> None:
    """End this process silently when so many seconds have passed; 0: do not."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _limit(limits: ExtractionLimits | None) -> None:
    """Limit computing time and memory from now on; Windows knows neither limit, and macOS no limit on memory."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, limits.cpu_s if limits else 0)
    with suppress(ImportError, OSError, ValueError):
        resource: Any = import_module("resource")
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = _address_space() + limits.memory_bytes if limits else hard
        resource.setrlimit(resource.RLIMIT_AS, (soft if hard < 0 else min(soft, hard), hard))
