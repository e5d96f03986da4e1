"""The process of one job: it indexes a project, or moves its vectors, and writes its messages, one JSON line each.

It ends when its stdin does: a server that was killed leaves no process behind that still writes the index.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple, TypeVar

from codefathom.clones.git_copies import bring
from codefathom.config.settings import Settings
from codefathom.config.user_places import user_file
from codefathom.engine import Engine
from codefathom.errors import FathomError, LockedError, UsageError
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.fleet_list import FleetList
from codefathom.fleet.fleet_run import FleetReport
from codefathom.fleet.look_turns import FleetLook
from codefathom.project.location import Location, locate_registered
from codefathom.server.jobs.job_messages import (
    MOST_ERRORS,
    FileError,
    JobPace,
    Message,
    Order,
    Report,
    SourcesLook,
    Step,
    Trouble,
    line_of,
    order_of,
    path_outcome_of,
    report_of,
)
from codefathom.server.served_settings import served_settings
from codefathom.types import Failure, IndexReport, Progress, Status

_T = TypeVar("_T")
_LOOK_AGAIN_S = 0.5
_MOST_LOOKS = 1_200  # ten minutes, while another program writes the index
_PATHS_WAIT_S = 5.0  # for another writer, while a request waits for named files
_NICENESS = 10  # searches go first: three processes at 10 get a quarter of a processor that is asked for
_ABANDONED = 3
_READ_AT_ONCE = 1 << 16  # bytes of an order, in which texts may be
# Imported before the order comes, so that a process that was made ready begins at once; the last one brings numpy.
_NEEDED = ("codefathom.index.indexing", "codefathom.project.inspection", "codefathom.stores.vectors.payload")


def messages(
    order: Order, sleep: Callable[[float], None] = time.sleep, on_step: Callable[[Step], None] = lambda _: None
) -> Iterator[Message]:
    """Carry out an order, and yield the messages of the job, its result or a Trouble last.

    What is waited for while the index is opened is told to `on_step`, as no message can be yielded from there.
    """
    try:
        if order.look:
            yield from _looked(order)
            return
        if order.origin is not None and not order.move_to:
            for event in bring(order.origin, order.root):
                yield Step(event.phase, current=event.n_done, total=event.n_total, message=event.message)
        with _open(order, lambda text: on_step(Step("waiting", message=text))) as engine:
            if order.paths or order.texts:
                yield path_outcome_of(engine.update(order.paths, texts=order.texts, wait_s=_PATHS_WAIT_S))
            elif engine.is_fleet and not order.move_to:
                yield from _fleet_indexed(engine, order, sleep)
            elif order.move_to:
                yield from _moved(engine, order.move_to, sleep)
            else:
                yield from _indexed(engine, order, sleep)
    except FathomError as error:
        yield Trouble.of(type(error).__name__, error.told, error.remedy)


def _open(order: Order, on_wait: Callable[[str], None]) -> Engine:
    place = locate_registered(order.root)
    settings = _settings(order, place)
    engine = Engine.open(place.root, settings=settings, revision=order.revision, is_root=True, on_wait=on_wait)
    # A search of the server makes no index, so that this one must not go by itself.
    return Engine(replace(engine.place, is_kept=True), on_wait=on_wait) if order.revision else engine


def _settings(order: Order, place: Location) -> Settings:
    variables = place.variables
    return served_settings(place.root, order.settings, variables, user_file(variables), order.model_hosts)


def _looked(order: Order) -> Iterator[Message]:
    """Ask the sources of a fleet what they have now. Its index is not opened."""
    named = FleetList().of_root(order.root)
    if named is None:
        raise UsageError(f"{order.root!r} is no fleet", hint="`fathom fleet` lists the fleets")
    pace = JobPace(time.monotonic())
    with Fleet(named, _settings(order, locate_registered(order.root))) as fleet:
        for event in _told(fleet.look):
            if isinstance(event, FleetLook):
                yield SourcesLook.of(event)
            else:
                yield pace.step(event, time.monotonic())


def _indexed(engine: Engine, order: Order, sleep: Callable[[float], None]) -> Iterator[Message]:
    pace = JobPace(time.monotonic())
    told: set[FileError] = set()
    for event in _events(engine, order, sleep):
        if isinstance(event, Step):
            yield event
            continue
        yield from _new(event.failures, told)
        if isinstance(event, IndexReport):
            # Searches have the new index already; a first map, or the signs of all files, may take longer than they are
            # given. However that ends, the index is whole, and what keeps a map from being made is told to those who
            # ask for it.
            yield report_of(event, engine.status())
            with suppress(FathomError):
                engine.link_files()
                for n_files in engine.rank_files():
                    yield Step("map", total=n_files)
                engine.read_signs()
        else:
            yield pace.step(event, time.monotonic())


def _fleet_indexed(engine: Engine, order: Order, sleep: Callable[[float], None]) -> Iterator[Message]:
    """Bring a fleet up to date; its repositories are counted in the place of files."""
    named = FleetList().of_root(order.root)
    assert named is not None  # the engine has found it
    began = time.monotonic()
    pace = JobPace(began)
    with Fleet(named, engine.settings) as fleet:

        def begin(_: float | None) -> Iterator[Progress | FleetReport]:
            return _told(lambda tell: fleet.index(tell, full=order.full, only=order.only))

        for event in _in_turn(begin, sleep):
            if isinstance(event, FleetReport):
                yield from _new(event.failures, set())
                seconds = time.monotonic() - began
                yield _fleet_report(event, engine.status(), n_asked=len(order.only), seconds=seconds)
            else:
                yield event if isinstance(event, Step) else pace.step(event, time.monotonic())


def _fleet_report(report: FleetReport, status: Status, *, n_asked: int, seconds: float) -> Report:
    """Return the same of a run over a fleet, in which repositories are counted in the place of files.

    `n_asked` is the number of repositories that the run was about, 0 for all.
    """
    n_looked_at = n_asked or report.n_repositories
    return Report(
        n_added=0,
        n_changed=len(report.changed),
        n_removed=0,
        n_unchanged=max(n_looked_at - len(report.changed) - len(report.failures), 0),
        n_failed=len(report.failures),
        skipped={},
        n_files=status.n_documents,
        n_chunks=status.n_chunks,
        n_symbols=status.n_symbols,
        kinds=dict(status.kinds),
        n_bytes=0,
        seconds=round(seconds, 3),
        generation=report.generation,
        index_dir=status.index_dir,
    )


def _told(work: Callable[[Callable[[Progress], None]], _T]) -> Iterator[Progress | _T]:
    """Yield the progress of work that tells it, and its result last. Raises what it raises."""
    told: SimpleQueue[Progress | _T | _Raised] = SimpleQueue()

    def run() -> None:
        try:
            told.put(work(told.put))
        except BaseException as error:  # raised again where the outcome is waited for
            told.put(_Raised(error))

    thread = Thread(target=run, name="fleet", daemon=True)
    thread.start()
    event: Progress | _T | _Raised = told.get()
    while isinstance(event, Progress):
        yield event
        event = told.get()
    thread.join()
    if isinstance(event, _Raised):
        raise event.error
    yield event


class _Raised(NamedTuple):
    error: BaseException


def _moved(engine: Engine, target: str, sleep: Callable[[float], None]) -> Iterator[Message]:
    pace = JobPace(time.monotonic())
    for event in _in_turn(lambda _: engine.stores.move_events(target), sleep):
        yield pace.step(event, time.monotonic()) if isinstance(event, Progress) else event


def _new(failures: Iterable[Failure], told: set[FileError]) -> Iterator[FileError]:
    """Yield the files that failed, each reason once and not too many of them; the report counts all."""
    for failure in failures:
        error = FileError(failure.path, failure.reason)
        if error not in told and len(told) < MOST_ERRORS:
            told.add(error)
            yield error


def _events(engine: Engine, order: Order, sleep: Callable[[float], None]) -> Iterator[Progress | IndexReport | Step]:
    """Yield the events of a run; while another program writes the index, wait for it."""
    return _in_turn(lambda wait_s: engine.index_events(full=order.full, retry=order.retry, wait_s=wait_s), sleep)


def _in_turn(begin: Callable[[float | None], Iterator[_T]], sleep: Callable[[float], None]) -> Iterator[_T | Step]:
    """Yield the events of what needs the writer lock; while another program has it, wait for that."""
    for _ in range(_MOST_LOOKS):
        try:
            yield from begin(0)
            return
        except LockedError as error:  # raised before the first event
            yield Step("waiting", message=str(error))
        sleep(_LOOK_AGAIN_S)
    yield from begin(None)


def main() -> None:
    """Read an order from stdin and carry it out."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a grammar prints must not end up between two lines
    for module in _NEEDED:
        import_module(module)
    order = order_of(_first_line(0))
    Thread(target=_end_with_server, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    with suppress(BrokenPipeError):

        def send(message: Message) -> None:
            answers.write(line_of(message))
            answers.flush()

        for message in messages(order, on_step=send):
            send(message)


def _first_line(descriptor: int) -> bytes:
    """Read without a buffer, which the thread below would hold while the process ends. Nothing follows the line."""
    pieces = [b""]
    while not pieces[-1].endswith(b"\n"):
        piece = os.read(descriptor, _READ_AT_ONCE)
        if not piece:
            sys.exit(_ABANDONED)
        pieces.append(piece)
    return b"".join(pieces)


def _end_with_server() -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)  # with git and the processes that parse
    os._exit(_ABANDONED)
