"""A process that searches for the server, so that a search can use a processor of its own, and can be ended.

It reads one search after the other from stdin and writes what came of it to stdout, each pickled: both ends are this
program. It ends when its stdin does.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from traceback import format_exc
from typing import Any, NamedTuple, TypeAlias

from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.errors import FathomError
from codefathom.facts.quick_pickle import QuickPickle
from codefathom.project.location import Location, locate_registered
from codefathom.project.repository_sight import RepositorySight
from codefathom.project.stores.revised_place import with_revision
from codefathom.question.question import Question
from codefathom.server.projects.packed_settings import PackedSettings
from codefathom.server.searches.look import Look, seen
from codefathom.server.searches.loose_index import LooseIndexTask, index_loose, place_of
from codefathom.server.searches.run_plan import RunPlanTask, run_plan
from codefathom.source.revisions.revision import Revision
from codefathom.telemetry import Past, recording


@dataclass(frozen=True, slots=True)
class SearchTask(QuickPickle):
    """One question to an index. Another `version` of it means that its files or its settings are others now."""

    root: str  # of the project; of loose files, the folder with their index
    version: int
    settings: Settings | PackedSettings
    question: Question | Look
    limit_s: float = 0.0  # after which the process is to end
    most_opened: int = 8
    is_traced: bool = False  # the stages are told too
    revision: Revision | None = None  # whose files these are; None: those of the folder
    loose: tuple[str, ...] = ()  # absolute paths of files of no project
    changed: Settings | None = None  # of this question, where they are not those of the version
    sight: RepositorySight | None = None  # what of a fleet may be read; None: all of it


_MANY_OBJECTS = 10_000  # new ones, between two looks for circles: a search makes thousands, and few circles
Task: TypeAlias = SearchTask | LooseIndexTask | RunPlanTask


class AnswerPiece(NamedTuple):
    """One event of an answer: of a search, its result."""

    value: Any


class Broken(NamedTuple):
    """The end of an answer that a fault of this program has broken."""

    trace: str


class AnswerEnd(NamedTuple):
    """The end of an answer, and the spans of its stages."""

    error: FathomError | Broken | None
    spans: tuple[Past, ...] = ()


_Key: TypeAlias = tuple[str, Revision | None, RepositorySight | None]


class RecentEngines:
    """The engines that were used last."""

    def __init__(self) -> None:
        self._engines: OrderedDict[_Key, tuple[int, Engine]] = OrderedDict()

    @contextmanager
    def lease(self, task: SearchTask) -> Iterator[Engine]:
        """Give the engine of a project, which never writes: the server does that. That of loose files is not kept."""
        if task.loose:
            with closing(Engine(_unrefreshed(place_of(task.root, task.loose, _settings_of(task))))) as engine:
                yield engine
        else:
            yield self._engine(task)

    def _engine(self, task: SearchTask) -> Engine:
        key = (task.root, task.revision, task.sight)
        version, engine = self._engines.pop(key, (-1, None))
        if engine is None or version != task.version:
            if engine is not None:
                engine.close()
            place = replace(_unrefreshed(locate_registered(task.root, _settings_of(task))), sight=task.sight)
            engine = Engine(place if task.revision is None else with_revision(place, task.revision))
        self._engines[key] = (task.version, engine)
        while len(self._engines) > task.most_opened:
            _, (_, oldest) = self._engines.popitem(last=False)
            oldest.close()
        return engine


def answer(task: Task, opened: RecentEngines) -> Iterator[AnswerPiece | AnswerEnd]:
    """Yield the events of an answer, and its end."""
    with ExitStack() as stack:
        spans = stack.enter_context(recording()) if task.is_traced else []
        error: FathomError | Broken | None = None
        try:
            yield from map(AnswerPiece, _events(task, opened))
        except FathomError as problem:
            error = problem
        except Exception:  # the process is sound, and the server logs it
            error = Broken(format_exc())
    yield AnswerEnd(error, tuple(spans))


def _events(task: Task, opened: RecentEngines) -> Iterator[Any]:
    if isinstance(task, LooseIndexTask):
        yield index_loose(task)
        return
    if isinstance(task, RunPlanTask):
        yield run_plan(task)
        return
    with opened.lease(task) as leased:
        changed = None if task.changed is None else _never_refreshed(task.changed)
        engine = leased if changed in (None, leased.settings) else leased.with_settings(changed)
        if isinstance(task.question, Look):
            yield seen(engine, task.question)
        else:
            yield from engine.answer(task.question)


def _settings_of(task: SearchTask) -> Settings:
    return task.settings.read() if isinstance(task.settings, PackedSettings) else task.settings


def _unrefreshed(place: Location) -> Location:
    return replace(place, settings=_never_refreshed(place.settings))


def _never_refreshed(settings: Settings) -> Settings:
    return settings._replace(search=settings.search._replace(refresh="never"))


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
    gc.freeze()  # what is there now stays: Python need not look for circles in it again and again
    gc.set_threshold(_MANY_OBJECTS)
    opened = RecentEngines()
    while True:
        try:
            task: Task = pickle.load(tasks)
        except EOFError:
            return
        with _within(task.limit_s):
            for event in answer(task, opened):
                pickle.dump(event, answers, protocol=pickle.HIGHEST_PROTOCOL)
                answers.flush()
