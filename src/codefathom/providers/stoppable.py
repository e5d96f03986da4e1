"""Model calls that end when whoever asked has left.

A call is read by a thread of its own, so that nobody waits for a model that is silent. Its connection is closed at the
next piece that comes, thoughts included, or when the model has been silent for as long as the settings allow.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple, cast

from codefathom.providers.base import Ask, ChatModel, Delta, Reply
from codefathom.system.stopping import check_stopped, stop_test

_LOOK_S = 0.1  # how often a silent call is looked after


class Stoppable:
    """A model whose calls end when the work that makes them is stopped; see `system.stopping`."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """Provider and model."""
        return self._model.name

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        """See `ChatModel`. Raises StoppedError."""
        if stop_test() is None:
            yield from self._model.stream(ask)
            return
        check_stopped()
        call = _Call(self._model, ask)
        try:
            yield from call.pieces()
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

    def pieces(self) -> Iterator[Delta | Reply]:
        while True:
            try:
                piece = self._come.get(timeout=_LOOK_S)
            except Empty:
                piece = None
            check_stopped()
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
