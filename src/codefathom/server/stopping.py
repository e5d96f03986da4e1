"""Model calls that end when whoever asked has left: at the next piece that the model sends, thoughts included."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from threading import local
from typing import cast

from codefathom.engine import Engine
from codefathom.errors import FathomError
from codefathom.opening import Opened
from codefathom.providers.base import Ask, ChatModel, Delta, Reply

_asking = local()


class StoppedError(FathomError):
    """Nobody waits for this answer any more."""


@contextmanager
def stopping(is_stopped: Callable[[], bool]) -> Iterator[None]:
    """Have the model calls that this thread makes in the block end, with StoppedError, once `is_stopped` says so."""
    _asking.is_stopped = is_stopped
    try:
        yield
    finally:
        del _asking.is_stopped


class ServedEngine(Engine):
    """An engine whose model calls can be stopped from another thread."""

    @property
    def opened(self) -> Opened:
        """The opened index, for what asks several projects at once."""
        return self._open()

    def _open(self) -> Opened:
        with self._lock:
            if self._opened is None:
                self._opened = _Opened(self.place, self._on_wait)
            return self._opened


class _Opened(Opened):
    def chat_model(self, name: str) -> ChatModel:
        return _Stoppable(super().chat_model(name))


class _Stoppable:
    """A model that looks, before each call and at each piece, whether anybody still waits."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        is_stopped = cast("Callable[[], bool]", getattr(_asking, "is_stopped", _never))
        if is_stopped():
            raise StoppedError("the call was stopped")
        with closing(cast("Generator[Delta | Reply, None, None]", self._model.stream(ask))) as pieces:
            for piece in pieces:
                if is_stopped():
                    raise StoppedError("the call was stopped")
                yield piece


def _never() -> bool:
    return False
