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
from contextlib import suppress
from importlib import import_module
from threading import Lock
from time import monotonic, process_time
from traceback import print_exc
from typing import Any, NamedTuple

from codefathom.source.extraction.refusal import ExtractionLimits, Refusal, too_slow
from codefathom.system.children import end_at_once, received, start_python

_READERS = {"pdf": "pdf_text", "docx": "word_text", "notebook": "notebook_text"}
_BROKEN = {"pdf": "broken PDF", "docx": "broken Word document", "notebook": "broken notebook"}
_IDLE_S = 30
_OUT_OF_TIME = -getattr(signal, "SIGPROF", 0)  # what a process ends with that has used up its computing time


class _Answer(NamedTuple):
    outcome: str | Refusal
    cpu_s: float


class ExtractionChild:
    """One child process, started when it is needed and again after it has ended. For several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._slow_s = 0.0  # time of the processor that documents of this run took beyond the usual

    def text_of(self, kind: str, data: bytes, limits: ExtractionLimits) -> str | Refusal:
        """Return the text of a document, or the reason why it has none; `kind` is its language."""
        with self._lock:
            is_late = self._slow_s >= limits.slow_cpu_s and limits.usual_cpu_s < limits.cpu_s
            most = limits._replace(cpu_s=limits.usual_cpu_s) if is_late else limits
            for _ in range(2):  # once may be somebody outside, or a rest that was too long; twice it is the document
                began = monotonic()
                answer = self._ask(kind, data, most)
                if answer is not None:
                    self._count(answer.cpu_s, limits)
                    return answer.outcome
                is_too_slow = self.stop() == _OUT_OF_TIME
                self._count(most.cpu_s if is_too_slow else min(monotonic() - began, most.cpu_s), limits)
                if is_too_slow:
                    return too_slow(limits, is_late)
        return Refusal("the reader crashed on it")

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

    def _ask(self, kind: str, data: bytes, limits: ExtractionLimits) -> _Answer | None:
        """Return the answer, None when the process died over it."""
        if self._process is None:
            self._process = start_python("codefathom.source.extraction.extraction_child", "serve")
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # both are pipes, see start_python
        assert stdout is not None
        try:
            pickle.dump((kind, data, limits), stdin, protocol=5)
            stdin.flush()
            answer = _Answer(*pickle.load(stdout))
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            return None
        except BaseException:  # its answer would be taken for that to the next document
            self.stop()
            raise
        return answer


READER = ExtractionChild()
atexit.register(READER.stop)


def serve() -> None:
    """Answer documents from stdin with their texts on stdout until stdin ends, or nothing comes for a while."""
    answers = os.fdopen(os.dup(1), "wb")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)  # whatever a library prints must not end up between two answers, nor before a user
    os.dup2(silent, 2)
    try:
        for kind, data, limits in received(sys.stdin.buffer):
            _rest(0)
            _limit(limits)
            began = process_time()
            outcome = _outcome(kind, data, limits)
            pickle.dump((outcome, process_time() - began), answers, protocol=5)
            answers.flush()
            _limit(None)
            _rest(_IDLE_S)
    except BaseException:
        print_exc()
        end_at_once(1)


def _outcome(kind: str, data: bytes, limits: ExtractionLimits) -> str | Refusal:
    try:
        reader: Any = import_module(f"codefathom.source.extraction.{_READERS[kind]}")
        answer: str | Refusal = reader.text_of(data, limits)
    except MemoryError:
        return Refusal("reading it takes too much memory")
    except ImportError as error:
        return Refusal(f"the library that reads it cannot be loaded: {error}")
    except Exception:  # a library says in many ways that a document is not what it should be
        return Refusal(_BROKEN[kind])
    return answer


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
        soft = limits.memory_bytes if limits else hard
        resource.setrlimit(resource.RLIMIT_AS, (soft if hard < 0 else min(soft, hard), hard))
