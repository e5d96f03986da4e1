"""Work that ends when whoever asked for it has left: the caller says how to tell, stages and model calls ask.

What is asked belongs to the context of the caller, as its spans do: threads that run in a copy of it are stopped, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from codefathom.errors import StoppedError

IsStopped: TypeAlias = Callable[[], bool]

_is_stopped: ContextVar[IsStopped | None] = ContextVar("is_stopped", default=None)


@contextmanager
def stopping(is_stopped: IsStopped) -> Iterator[None]:
    """Have the work of the block end, with StoppedError, once `is_stopped` says so; it is asked from any thread."""
    token = _is_stopped.set(is_stopped)
    try:
        yield
    finally:
        _is_stopped.reset(token)


def stop_test() -> IsStopped | None:
    """Return the test whether this work is to end; None where nobody can stop it."""
    return _is_stopped.get()


def check_stopped() -> None:
    """Raise StoppedError if nobody waits for this work any more. Costs next to nothing."""
    is_stopped = _is_stopped.get()
    if is_stopped is not None and is_stopped():
        raise StoppedError("the work was stopped", hint="ask the question again")
