"""Spans: how long the parts of the work take, for whoever collects them. Nobody does unless a face connects one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from threading import local
from typing import NamedTuple, ParamSpec, Protocol, TypeAlias, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

Value: TypeAlias = str | bool | int | float


class Span(Protocol):
    """A part of the work that is under way."""

    def note(self, **values: Value) -> None:
        """Add what is known of it."""
        ...


class Collector(Protocol):
    """A receiver of spans."""

    @property
    def is_on(self) -> bool:
        """Return True if the receiver collects spans now."""
        ...

    def span(self, name: str, values: Mapping[str, Value], *, is_current: bool) -> AbstractContextManager[Span]:
        """Measure the block; what is measured inside belongs to it where it is current."""
        ...

    def past(self, spans: tuple[Past, ...]) -> None:
        """Take over what was measured elsewhere, as parts of what is current here."""
        ...


class Past(NamedTuple):
    """A span that has ended. Times are nanoseconds since the epoch."""

    name: str
    began_ns: int
    ended_ns: int
    parent: int  # place of the span it is a part of in the same list, -1 for none
    values: dict[str, Value]
    problem: str = ""


class _Nothing:
    """Stands for a span where nobody collects: itself the block, so that it costs next to nothing."""

    def note(self, **values: Value) -> None:
        """Forget it."""

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *_: object) -> None: ...


_NOTHING = _Nothing()
_collector: Collector | None = None
_recording = local()


def collect_with(collector: Collector | None) -> None:
    """Have this process's spans collected; None ends that."""
    global _collector  # noqa: PLW0603  one for the process, as with a log
    _collector = collector


def is_collected() -> bool:
    """Return True if spans are collected."""
    return _collector is not None and _collector.is_on


def span(name: str, *, is_current: bool = True, **values: Value) -> AbstractContextManager[Span]:
    """Measure a block; one inside a generator that others interrupt must not be current."""
    recorder: _Recorder | None = getattr(_recording, "by", None)
    if recorder is not None:
        return recorder.span(name, values)
    if _collector is not None and _collector.is_on:
        return _collector.span(name, values, is_current=is_current)
    return _NOTHING


def bound(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return a function for another thread, whose spans belong to what is current here."""
    context = copy_context()
    return lambda *args, **kwargs: context.run(work, *args, **kwargs)


def take_over(spans: tuple[Past, ...]) -> None:
    """Collect what a process has measured."""
    if _collector is not None and _collector.is_on and spans:
        _collector.past(spans)


@contextmanager
def recording() -> Iterator[list[Past]]:
    """Note the spans of this thread in a list, for another process to collect."""
    recorder = _recording.by = _Recorder()
    try:
        yield recorder.spans
    finally:
        del _recording.by


class _Recorder:
    def __init__(self) -> None:
        self.spans: list[Past] = []
        self._open: list[int] = []

    @contextmanager
    def span(self, name: str, values: Mapping[str, Value]) -> Iterator[Span]:
        place = len(self.spans)
        began = Past(name, time.time_ns(), 0, self._open[-1] if self._open else -1, dict(values))
        self.spans.append(began)
        self._open.append(place)
        problem = ""
        try:
            yield _Noting(began.values)
        except BaseException as error:
            problem = f"{type(error).__name__}: {error}"
            raise
        finally:
            self._open.pop()
            self.spans[place] = began._replace(ended_ns=time.time_ns(), problem=problem)


class _Noting:
    def __init__(self, values: dict[str, Value]) -> None:
        self._values = values

    def note(self, **values: Value) -> None:
        self._values.update(values)
