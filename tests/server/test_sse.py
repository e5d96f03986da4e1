"""Streams of events: what is sent, and that no reader loses any of it."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from threading import Thread
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.server.http.sse import HEARTBEAT, Channel, Event, Form, encoded, follow


class Reader:
    """A client as the standard wants it, which gets the bytes in any pieces."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.last_id = ""
        self.n_comments = 0
        self._rest = b""
        self._fields: dict[str, str] = {}

    def feed(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._take(line.decode())

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        if line.startswith(":"):
            self.n_comments += 1
        elif line:
            self._fields[name] = value.removeprefix(" ")
        elif self._fields:
            self.last_id = self._fields["id"]
            data = json.loads(self._fields["data"])
            self.messages.append(data if "event" not in self._fields else {"type": self._fields["event"], "data": data})
            self._fields = {}


def read(channel: Channel, after: int = 0, form: Form = "document") -> bytes:
    async def collected() -> bytes:
        return b"".join([piece async for piece in follow(channel, after, form=form)])

    return asyncio.run(collected())


def filled(*events: tuple[str, Any], size: int = 100) -> Channel:
    channel = Channel("key", size)
    for kind, data in events:
        channel.publish(kind, data)
    channel.close()
    return channel


def test_the_bytes_are_those_of_the_document() -> None:
    channel = filled(("sources", [{"path": "a.py"}]), ("content", "这个功能"), ("done", None))
    assert read(channel).decode() == (
        'id: key.1\ndata: {"type": "sources", "data": [{"path": "a.py"}]}\n\n'
        'id: key.2\ndata: {"type": "content", "data": "这个功能"}\n\n'
        'id: key.3\ndata: {"type": "done"}\n\n'
    )


def test_named_events_are_for_an_event_source() -> None:
    assert read(filled(("content", "a\nb"), ("done", None)), form="typed").decode() == (
        'id: key.1\nevent: content\ndata: "a\\nb"\n\nid: key.2\nevent: done\ndata: null\n\n'
    )


@pytest.mark.parametrize("form", get_args(Form))
def test_a_stream_that_is_split_at_every_byte_is_read_whole(form: Form) -> None:
    events = [("content", "naïve\r\n\n数据: \u2028 {}"), ("step", {"a": [1, None]}), ("content", ""), ("done", None)]
    raw = read(filled(*events), form=form)
    for cut in range(len(raw) + 1):
        reader = Reader()
        reader.feed(raw[:cut])
        reader.feed(raw[cut:])
        assert [(item["type"], item.get("data")) for item in reader.messages] == events
    reader = Reader()
    for position in range(len(raw)):
        reader.feed(raw[position : position + 1])
    assert [(item["type"], item.get("data")) for item in reader.messages] == events
    assert reader.last_id == "key.4"


@given(st.lists(st.text() | st.integers() | st.lists(st.text())), st.sampled_from(get_args(Form)))
@settings(max_examples=50)
def test_any_data_stays_one_message(data: list[Any], form: Form) -> None:
    reader = Reader()
    reader.feed(encoded(Event(1, "content", json.dumps(data, ensure_ascii=False)), "key", form))
    assert [item["type"] for item in reader.messages] == ["content"]
    assert reader.messages[0]["data"] == data


def test_half_a_character_does_not_break_a_stream() -> None:
    assert b'"data": "a?b"' in read(filled(("content", "a\ud800b")))


@given(st.integers(0, 12), st.integers(1, 8))
@settings(max_examples=60)
def test_a_reader_goes_on_where_it_stopped(after: int, size: int) -> None:
    channel = filled(*[("n", number) for number in range(1, 11)], size=size)
    reader = Reader()
    reader.feed(read(channel, after))
    n_lost = max(10 - size - after, 0)
    told = [{"type": "lost", "data": {"events": n_lost}}] if n_lost else []
    assert reader.messages == [*told, *({"type": "n", "data": n} for n in range(after + n_lost + 1, 11))]


@pytest.mark.parametrize(
    ("last_event_id", "place"),
    [
        ("key.0", 0),
        (" key.2 ", 2),
        ("key.3", 3),
        ("key.4", None),  # never sent
        ("other.1", None),
        ("1", None),
        ("", None),
        ("key.", None),
        ("key.-1", None),
        ("key.²", None),
        ("key." + "9" * 5_000, None),
    ],
)
def test_an_id_tells_the_channel_and_the_place(last_event_id: str, place: int | None) -> None:
    assert filled(*[("n", n) for n in range(3)]).place(last_event_id) == place


def test_two_channels_have_ids_of_their_own() -> None:
    assert Channel().key != Channel().key


def test_nothing_is_added_to_a_closed_channel() -> None:
    channel = filled(("done", None))
    channel.publish("late", 1)
    assert [event.type for event in channel.since(0).events] == ["done"]
    assert channel.is_closed


def test_a_silent_stream_has_a_heartbeat_and_news_come_at_once() -> None:
    async def first_and_second() -> list[bytes]:
        channel = Channel("key")
        stream = follow(channel, heartbeat_s=0.001)
        silent = await anext(stream)
        Thread(target=channel.publish, args=("n", 1)).start()
        pieces = [silent]
        while pieces[-1] == HEARTBEAT:
            pieces.append(await anext(stream))
        await stream.aclose()  # type: ignore[attr-defined]
        return [pieces[0], pieces[-1]]

    assert asyncio.run(first_and_second()) == [HEARTBEAT, b'id: key.1\ndata: {"type": "n", "data": 1}\n\n']


def test_many_readers_of_a_thread_that_writes_get_everything() -> None:
    async def all_read() -> list[list[int]]:
        channel = Channel()

        async def numbers() -> list[int]:
            reader = Reader()
            async for piece in follow(channel, heartbeat_s=60):
                reader.feed(piece)
            return [message["data"] for message in reader.messages]

        def write() -> None:
            for number in range(500):
                channel.publish("n", number)
            channel.close()

        readers = [asyncio.create_task(numbers()) for _ in range(5)]
        await asyncio.sleep(0)
        Thread(target=write).start()
        return await asyncio.gather(*readers)

    assert asyncio.run(all_read()) == [list(range(500))] * 5


def test_a_reader_that_leaves_is_forgotten() -> None:
    channel = Channel()

    async def come_and_go() -> int:
        stream = follow(channel, heartbeat_s=60)
        reading = asyncio.create_task(anext(stream))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        n_listening = len(channel._listeners)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
        return n_listening

    assert asyncio.run(come_and_go()) == 1
    assert channel._listeners == []
    channel.publish("n")  # reaches nobody, and no loop that is closed
