"""Calls of a model, several at the same time; an interruption ends them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, ChatModel, Delta, Reply

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


class Stoppable:
    """A model whose calls end at their next piece when they are told to."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._stopped = Event()

    @property
    def name(self) -> str:
        """See `ChatModel`."""
        return self._model.name

    def stop(self) -> None:
        """End the calls that are under way, and all later ones."""
        self._stopped.set()

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        """See `ChatModel`."""
        for item in self._model.stream(ask):
            if self._stopped.is_set():
                raise ProviderError("interrupted")
            yield item


def together(
    call: Callable[[_Given], _Made], items: Sequence[_Given], workers: int, stop: Callable[[], None]
) -> list[_Made]:
    """Return what `call` makes of each item, in their order. When it is interrupted, `stop` ends what is under way."""
    pool = ThreadPoolExecutor(max(min(workers, len(items)), 1), thread_name_prefix="model")
    try:
        return list(pool.map(call, items))
    except BaseException:
        stop()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
