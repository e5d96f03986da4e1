"""Many clients of one server, as coroutines with little work of their own: they share the machine with the server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit


@dataclass(frozen=True, slots=True)
class Clients:
    """How many ask: each its next request when the answer to the last one has come, or one after each pause."""

    number: int
    every_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one request, and how long after it was due; status 0 when the connection broke."""

    status: int
    seconds: float
    body: bytes  # of an error


def ask_all(
    address: str,
    route: str,
    bodies: Iterable[object],
    clients: Clients,
    on_reply: Callable[[], None] = lambda: None,
) -> list[Reply]:
    """Send every body once and return what came back; each client has a connection that it keeps."""
    return asyncio.run(_ask_all(address, route, iter(bodies), clients, on_reply))


async def _ask_all(
    address: str, route: str, bodies: Iterator[object], clients: Clients, on_reply: Callable[[], None]
) -> list[Reply]:
    replies: list[Reply] = []

    def take(reply: Reply) -> None:
        replies.append(reply)
        on_reply()

    began = time.perf_counter()
    pauses = [clients.every_s * (1 + number / clients.number) for number in range(clients.number)]
    await asyncio.gather(
        *(_client(urlsplit(address), route, _in_time(bodies, began + pause, clients.every_s), take) for pause in pauses)
    )
    return replies


async def _in_time(bodies: Iterator[object], first: float, every_s: float) -> AsyncIterator[tuple[float, object]]:
    """Yield each body when it is due, with that time; without a pause at once."""
    due = first
    for body in bodies:
        await asyncio.sleep(max(due - time.perf_counter(), 0.0))
        yield (due if every_s else time.perf_counter()), body
        due += every_s


async def _client(
    place: SplitResult, route: str, due: AsyncIterator[tuple[float, object]], take: Callable[[Reply], None]
) -> None:
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    async for started, body in due:
        try:
            if connection is None:
                connection = await asyncio.open_connection(place.hostname, place.port)
            status, content = await _ask(*connection, request_of(place.netloc, route, body))
        except (OSError, EOFError, ValueError) as error:
            connection, status, content = None, 0, repr(error).encode()
        take(Reply(status, time.perf_counter() - started, content if status != 200 else b""))
    if connection is not None:
        connection[1].close()


def request_of(host: str, route: str, body: object) -> bytes:
    """Return a request as it is sent."""
    content = json.dumps(body).encode()
    head = f"POST {route} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(content)}\r\n\r\n".encode() + content


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> tuple[int, bytes]:
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = next(line for line in head.split("\r\n") if line.startswith("content-length:"))
    return int(head.split(" ", 2)[1]), await reader.readexactly(int(length.partition(":")[2]))
