"""Model calls that end when whoever asked has left.

A call is read by a thread of its own, so that nobody waits for a model that is silent. Its connection is closed at the
next piece that comes, thoughts included, or when the model has been silent for as long as the settings allow.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from itertools import count
from queue import Empty, SimpleQueue
from threading import Thread, local
from typing import NamedTuple, TypeAlias, cast

from codefathom.engine import Engine, OnProgress, OnWait
from codefathom.errors import FathomError
from codefathom.project.location import Location
from codefathom.providers.base import Ask, ChatModel, Delta, Reply

_LOOK_S = 0.1  # how often a silent call is looked after
_asking = local()
_versions = count(1)

IsStopped: TypeAlias = Callable[[], bool]


class StoppedError(FathomError):
    """Nobody waits for this answer any more."""


@contextmanager
def stopping(is_stopped: IsStopped) -> Iterator[None]:
    """Have the model calls that this thread makes in the block end, with StoppedError, once `is_stopped` says so."""
    _asking.is_stopped = is_stopped
    try:
        yield
    finally:
        del _asking.is_stopped


class ServedEngine(Engine):
    """An engine whose model calls can be stopped from another thread, and whose questions wait for no job."""

    def __init__(
        self, place: Location, on_progress: OnProgress | None = None, on_wait: OnWait = lambda _: None
    ) -> None:
        super().__init__(place, on_progress, on_wait, wrap_model=Stoppable, first_index_wait_s=0.0)
        self.version = next(_versions)  # a number that no other engine of this process has


class Stoppable:
    """A model whose calls end when the thread that makes them is told to stop; see `stopping`."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """Provider and model."""
        return self._model.name

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        """See `ChatModel`. Raises StoppedError."""
        is_stopped: IsStopped | None = getattr(_asking, "is_stopped", None)
        if is_stopped is None:
            yield from self._model.stream(ask)
            return
        if is_stopped():
            raise StoppedError("the call was stopped", hint="ask the question again")
        call = _Call(self._model, ask)
        try:
            yield from call.pieces(is_stopped)
        finally:
            call.is_abandoned = True


class _Ended(NamedTuple):
    error: BaseException | None = None


class _Call:
    """One call, read by a thread of its own."""

    def __init__(self, model: ChatModel, ask: Ask) -> None:
        self.is_abandoned = False
        self._model = model
        self._ask = ask
        self._come: SimpleQueue[Delta | Reply | _Ended] = SimpleQueue()
        Thread(target=self._read, name="model", daemon=True).start()

    def pieces(self, is_stopped: IsStopped) -> Iterator[Delta | Reply]:
        while True:
            try:
                piece = self._come.get(timeout=_LOOK_S)
            except Empty:
                piece = None
            if is_stopped():
                raise StoppedError("the call was stopped", hint="ask the question again")
            if isinstance(piece, _Ended):
                if piece.error is not None:
                    raise piece.error
                return
            if piece is not None:
                yield piece

    def _read(self) -> None:
        try:
            with closing(cast("Generator[Delta | Reply, None, None]", self._model.stream(self._ask))) as pieces:
                for piece in pieces:
                    if self.is_abandoned:
                        return
                    self._come.put(piece)
        except BaseException as error:  # raised again where it is waited for
            self._come.put(_Ended(error))
        else:
            self._come.put(_Ended())
