"""Server-sent events: numbered, kept for a while so that a reader can go on where it stopped, with a heartbeat.

A channel holds the events of one job or one answer. It is filled by a thread and read by any number of clients, each
of them a coroutine: a stream that is silent for an hour holds no thread.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from threading import Lock
from typing import Any, Literal, NamedTuple

# "document": every message is `data: {"type": …, "data": …}`. "typed": the type is the event's name, for EventSource.
Form = Literal["document", "typed"]
HEARTBEAT = b": heartbeat\n\n"
HEARTBEAT_S = 15.0  # proxies close what is silent for 30 s or more
SIZE = 2_000  # events that are kept


class Event(NamedTuple):
    """One message. Its data is JSON as text, "" for none."""

    number: int
    type: str
    data: str = ""


class News(NamedTuple):
    """The events that a reader has not got yet."""

    events: tuple[Event, ...]
    n_lost: int  # how many came before them and are kept no longer
    is_closed: bool


def encoded(event: Event, key: str, form: Form) -> bytes:
    """Return a message as it is sent; its id tells the channel and the place in it."""
    name = json.dumps(event.type)
    if form == "typed":
        body = f"event: {event.type}\ndata: {event.data or 'null'}"
    else:
        body = f'data: {{"type": {name}, "data": {event.data}}}' if event.data else f'data: {{"type": {name}}}'
    # File names can hold half characters, which no stream of text may hold.
    return f"id: {key}.{event.number}\n{body}\n\n".encode("utf-8", "replace")


class Channel:
    """The events of one job or answer. Safe to use from several threads."""

    def __init__(self, key: str = "", size: int = SIZE) -> None:
        self.key = key or token_hex(8)
        self._events: deque[Event] = deque(maxlen=size)
        self._n_events = 0
        self._is_closed = False
        self._listeners: list[Callable[[], None]] = []
        self._lock = Lock()

    @property
    def last(self) -> int:
        """The number of the latest event, 0 before the first one."""
        return self._n_events

    @property
    def is_closed(self) -> bool:
        """True if no more events will come."""
        return self._is_closed

    def publish(self, kind: str, data: Any = None) -> None:
        """Add an event; none is added to a closed channel."""
        text = "" if data is None else json.dumps(data, ensure_ascii=False)
        with self._lock:
            if not self._is_closed:
                self._n_events += 1
                self._events.append(Event(self._n_events, kind, text))
        self._tell()

    def close(self) -> None:
        """Let every reader end after the last event."""
        with self._lock:
            self._is_closed = True
        self._tell()

    def since(self, number: int) -> News:
        """Return the events after the event of that number."""
        with self._lock:
            first = self._events[0].number if self._events else self._n_events + 1
            events = tuple(event for event in self._events if event.number > number)
            return News(events, max(first - number - 1, 0), self._is_closed)

    def place(self, last_event_id: str) -> int | None:
        """Return the number in an id that was sent from here; None for one of another channel, or for none."""
        key, _, number = last_event_id.strip().rpartition(".")
        if key != self.key or not (number.isascii() and number.isdigit()) or len(number) > 18:
            return None
        return int(number) if int(number) <= self._n_events else None

    @contextmanager
    def listening(self, tell: Callable[[], None]) -> Iterator[None]:
        """Have `tell` called, from any thread, after each event while the block runs."""
        with self._lock:
            self._listeners.append(tell)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(tell)

    def _tell(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for tell in listeners:
            tell()


async def follow(
    channel: Channel, after: int = 0, *, form: Form = "document", heartbeat_s: float = HEARTBEAT_S
) -> AsyncIterator[bytes]:
    """Yield the messages after a number as they are sent; see `events_after`."""
    async for event in events_after(channel, after, heartbeat_s=heartbeat_s):
        yield HEARTBEAT if event is None else encoded(event, channel.key, form)


async def events_after(
    channel: Channel, after: int = 0, *, heartbeat_s: float = HEARTBEAT_S
) -> AsyncIterator[Event | None]:
    """Yield the events after a number, and None after each time of silence, until the channel is closed.

    A reader that is too slow, or comes back too late, is told how many events it has missed.
    """
    loop, come = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody reads any more
            loop.call_soon_threadsafe(come.set)

    with channel.listening(tell):
        while True:
            come.clear()
            news = channel.since(after)
            if news.n_lost:
                after += news.n_lost
                yield Event(after, "lost", json.dumps({"events": news.n_lost}))
            for event in news.events:
                yield event
                after = event.number
            if news.is_closed:
                return
            try:
                await asyncio.wait_for(come.wait(), heartbeat_s)
            except TimeoutError:
                yield None
