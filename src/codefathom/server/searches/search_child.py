"""A process that searches for the server, so that a search can use a processor of its own, and can be ended.

It reads one search after the other from stdin and writes what came of it to stdout, each pickled: both ends are this
program. It ends when its stdin does.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from traceback import format_exc
from typing import Any, NamedTuple, TypeAlias

from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.errors import FathomError
from codefathom.project.location import locate_registered
from codefathom.project.stores.revised_place import with_revision
from codefathom.server.searches.engine_calls import CALLS
from codefathom.server.searches.loose_search import (
    LooseIndexTask,
    LooseTask,
    index_loose,
    search_loose,
)
from codefathom.source.revisions.revision import Revision
from codefathom.telemetry import Past, recording


@dataclass(frozen=True, slots=True)
class SearchTask:
    """One question to an engine. Another `version` of a project means that its index or its settings are others now."""

    root: str
    version: int
    settings: Settings
    query: str = ""
    options: dict[str, Any] = field(default_factory=dict)  # of the call
    limit_s: float = 0.0  # after which the process is to end
    most_opened: int = 8
    is_traced: bool = False  # the stages are told too
    revision: Revision | None = None  # whose files these are; None: those of the folder
    call: str = "search"  # one of `CALLS`


Task: TypeAlias = SearchTask | LooseTask | LooseIndexTask
Outcome: TypeAlias = Any  # what the call returns, PlacedResult or LooseIndex


class Broken(NamedTuple):
    """The end of a search that a fault of this program has broken."""

    trace: str


class SearchOutcome(NamedTuple):
    """The result or the error of a search, and the spans of its stages."""

    outcome: Outcome  # also FathomError or Broken
    spans: tuple[Past, ...] = ()


class RecentEngines:
    """The engines that were used last."""

    def __init__(self) -> None:
        self._engines: OrderedDict[tuple[str, Revision | None], tuple[int, Engine]] = OrderedDict()

    def engine(self, task: SearchTask) -> Engine:
        """Return the engine of a project; it never writes, which the server does."""
        key = (task.root, task.revision)
        version, engine = self._engines.pop(key, (-1, None))
        if engine is None or version != task.version:
            if engine is not None:
                engine.close()
            settings = task.settings._replace(search=task.settings.search._replace(refresh="never"))
            place = locate_registered(task.root, settings)
            engine = Engine(place if task.revision is None else with_revision(place, task.revision))
        self._engines[key] = (task.version, engine)
        while len(self._engines) > task.most_opened:
            _, (_, oldest) = self._engines.popitem(last=False)
            oldest.close()
        return engine


def answer(task: Task, opened: RecentEngines) -> SearchOutcome:
    """Return the result of a search, or its error."""
    if not task.is_traced:
        return SearchOutcome(_outcome(task, opened))
    with recording() as spans:
        outcome = _outcome(task, opened)
    return SearchOutcome(outcome, tuple(spans))


def _outcome(task: Task, opened: RecentEngines) -> Outcome:
    try:
        if isinstance(task, LooseTask):
            return search_loose(task)
        if isinstance(task, LooseIndexTask):
            return index_loose(task)
        return CALLS[task.call](opened.engine(task), task.query, **task.options)
    except FathomError as error:
        return error
    except Exception:  # the process is sound, and the server logs it
        return Broken(format_exc())


@contextmanager
def _within(limit_s: float) -> Iterator[None]:
    """Have the system end this process when the block takes longer.

    A regular expression that runs wild holds the interpreter: no thread and no handler of Python could do it.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
    else:
        yield


def main() -> None:
    """Answer until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up between two answers
    tasks = os.fdopen(os.dup(0), "rb")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal; the server ends this
    import_module("numpy")  # where it is loaded, vectors are looked through faster
    opened = RecentEngines()
    while True:
        try:
            task: Task = pickle.load(tasks)
        except EOFError:
            return
        with _within(task.limit_s):
            outcome = answer(task, opened)
        pickle.dump(outcome, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()
