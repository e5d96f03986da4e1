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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.errors import FathomError
from codefathom.project.location import locate_registered
from codefathom.project.stores.revised_place import with_revision
from codefathom.server.searches.loose_search import (
    LooseIndex,
    LooseIndexTask,
    LooseTask,
    PlacedResult,
    index_loose,
    search_loose,
)
from codefathom.source.revisions.revision import Revision
from codefathom.telemetry import Past, recording
from codefathom.types import SearchResult

if TYPE_CHECKING:
    from codefathom.search.graph.impact import Impact


@dataclass(frozen=True, slots=True)
class SearchTask:
    """One search. Another `version` of a project means that its index or its settings are others now.

    Where `is_impact`, the reach of a change is asked for; what is asked are then revisions, unless a diff is among the
    options.
    """

    root: str
    version: int
    settings: Settings
    query: str = ""
    options: dict[str, Any] = field(default_factory=dict)  # of `Engine.search` or `Engine.impact`
    limit_s: float = 0.0  # after which the process is to end
    most_opened: int = 8
    is_traced: bool = False  # the stages are told too
    revision: Revision | None = None  # whose files these are; None: those of the folder
    is_impact: bool = False


Task: TypeAlias = SearchTask | LooseTask | LooseIndexTask
Outcome: TypeAlias = "SearchResult | PlacedResult | LooseIndex | Impact"


class SearchOutcome(NamedTuple):
    """The result or the error of a search, and the spans of its stages."""

    outcome: Outcome | FathomError
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


def _outcome(task: Task, opened: RecentEngines) -> Outcome | FathomError:
    try:
        if isinstance(task, LooseTask):
            return search_loose(task)
        if isinstance(task, LooseIndexTask):
            return index_loose(task)
        engine = opened.engine(task)
        return (engine.impact if task.is_impact else engine.search)(task.query, **task.options)
    except FathomError as error:
        return error


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
