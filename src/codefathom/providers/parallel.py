"""Several calls of a model at the same time; the results have the order of the requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TypeVar

from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, ChatModel, Delta, Reply
from codefathom.telemetry import bound

Value = TypeVar("Value")
Result = TypeVar("Result")


def in_parallel(
    work: Callable[[Value, ChatModel], Result],
    values: Sequence[Value],
    model: ChatModel,
    workers: int,
    on_done: Callable[[int], None] = lambda _: None,
) -> list[Result]:
    """Run `work` for each value with the model, at most `workers` at the same time; return the results in order.

    `on_done` is called with the number of results so far. An interruption, and an error of one of them, ends the calls
    that are under way at their next piece.
    """
    stopped = Event()
    stoppable = _Stoppable(model, stopped)
    if min(len(values), workers) <= 1:
        return list(_counted((work(value, stoppable) for value in values), on_done))
    futures: list[Future[Result]] = [Future() for _ in values]
    waiting: SimpleQueue[tuple[Future[Result], Value]] = SimpleQueue()
    for future, value in zip(futures, values, strict=True):
        waiting.put((future, value))

    def work_on() -> None:
        while not stopped.is_set():
            try:
                future, value = waiting.get_nowait()
            except Empty:
                return
            try:
                future.set_result(work(value, stoppable))
            except BaseException as error:  # raised again where the result is waited for
                future.set_exception(error)

    for _ in range(min(len(values), workers)):
        # A thread that waits for a silent server must not keep an interrupted program from ending.
        Thread(target=bound(work_on), name="model", daemon=True).start()
    try:
        return list(_counted((future.result() for future in futures), on_done))
    finally:
        stopped.set()


def _counted(results: Iterable[Result], on_done: Callable[[int], None]) -> Iterator[Result]:
    for n_done, result in enumerate(results, start=1):
        on_done(n_done)
        yield result


class _Stoppable:
    """A model whose calls end as soon as nobody waits for their results."""

    def __init__(self, model: ChatModel, stopped: Event) -> None:
        self._model = model
        self._stopped = stopped

    @property
    def name(self) -> str:
        return self._model.name

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        for item in self._model.stream(ask):
            if self._stopped.is_set():
                raise ProviderError(f"the call of {self.name} was stopped", hint="ask again")
            yield item
