"""Connections of clients: how long each may take, and how many there are at a time.

A client that sends half a request, or does not read what it has asked for, costs a descriptor for as long as it likes
unless somebody looks after it. The server of uvicorn looks after idle connections only; this one also after these:

- The head of a request must arrive within `server.read_timeout_s`; for the body `guard.py` takes the time.
- What waits to be sent must be taken: some of it within `server.write_timeout_s`, again and again.
- There are at most `server.connections`, and `server.connections_of_one` from one address that is not of a trusted
  proxy. For one more, the one is closed that has been without a whole request for longest, and is told why. Where all
  are at work, the new one gets a spare place: for a moment, and for `/health` only, which always answers; else it is
  told so.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import struct
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus
from typing import ClassVar, Protocol

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from codefathom.server.http.client_address import counted_address, is_proxy
from codefathom.server.http.problem_json import (
    MEDIA_TYPE,
    BusyError,
    LateError,
    RequestError,
    TooManyError,
    TryLaterError,
    problem_of,
    retry_after,
)
from codefathom.server.server_config import ServerConfig

_SPARE = 16  # connections above the limits
_CLOSE_ONE = "close one, or try again in a moment"
_SPARE_S = 2.0  # in which the request of one of these must come
_LEAST_TAKEN = 16_384  # bytes that a slow reader takes within `write_timeout_s`: 0.5 KB a second by default
_AT_ONCE = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)  # to linger for 0 seconds
SPARE = "refusal of a connection above the limits"  # key in the state of its requests
_log = logging.getLogger(__name__)


class _Held(Protocol):
    """A connection as its place sees it."""

    @property
    def address(self) -> str: ...

    @property
    def is_waiting(self) -> bool: ...

    def give_way(self, refusal: TryLaterError) -> None: ...


class ConnectionTable:
    """The connections there are. Of one event loop."""

    def __init__(self, config: Callable[[], ServerConfig], most_descriptors: int) -> None:
        """`most_descriptors` is what the system lets this process open: half of it is for indexes and processes."""
        self.config = config
        self._most_here = max(most_descriptors // 2, 1)
        self._held: dict[_Held, None] = {}  # in the order in which they began to wait
        self._spare: dict[_Held, None] = {}

    def __len__(self) -> int:
        return len(self._held)

    def take(self, connection: _Held) -> None:
        """Give a connection a place; another may lose its own for it. Raises TryLaterError where all are at work."""
        config = self.config()
        of_one = [held for held in self._held if held.address == connection.address]
        if len(of_one) >= config.connections_of_one and not is_proxy(connection.address, config.trusted_proxies):
            refusal: TryLaterError = TooManyError("this address has too many connections", hint=_CLOSE_ONE)
            if not self._drop_longest_waiting(of_one, refusal):
                raise refusal
        elif len(self._held) >= min(config.connections, self._most_here):
            # Who has most connections loses one first: others should not notice a flood.
            crowd = Counter(held.address for held in self._held if held.is_waiting)
            first = crowd.most_common(1)[0][0] if crowd else ""
            if not self._drop_longest_waiting((held for held in self._held if held.address == first), _busy()):
                raise _busy()
        self._held[connection] = None

    def take_spare(self, connection: _Held) -> None:
        """Give a connection a place for a moment. Raises BusyError where all of these are at work."""
        if len(self._spare) >= _SPARE and not self._drop_longest_waiting(self._spare, _busy()):
            raise _busy()
        self._spare[connection] = None

    def again(self, connection: _Held) -> None:
        """Note that a connection begins to wait anew, for its next request."""
        if connection in self._held:
            self._held[connection] = self._held.pop(connection)

    def leave(self, connection: _Held) -> None:
        """Take back a place."""
        self._held.pop(connection, None)
        self._spare.pop(connection, None)

    def _drop_longest_waiting(self, held: Iterable[_Held], refusal: TryLaterError) -> bool:
        """Tell one why it has to go; return False where all of these are at work."""
        longest = next((one for one in held if one.is_waiting), None)
        if longest is not None:
            self.leave(longest)
            longest.give_way(refusal)
        return longest is not None


def _busy() -> BusyError:
    return BusyError("there are too many connections", hint=_CLOSE_ONE)


def connection_class(config: Callable[[], ServerConfig], most_descriptors: int) -> type[Connection]:
    """Return the class of the connections of one server, with the values of `config` as they are at each moment."""

    class _Connection(Connection):
        pass

    _Connection.places = ConnectionTable(config, most_descriptors)
    return _Connection


class Connection(H11Protocol):
    """One connection, and its requests one after the other."""

    places: ClassVar[ConnectionTable]

    address = ""
    _n_unsent = 0
    _refusal: TryLaterError | None = None  # of a connection with a spare place

    @property
    def is_waiting(self) -> bool:
        """True if the connection is idle: no request has arrived, or only a part of one."""
        return not self._has_head or (self.cycle.more_body and not self.cycle.response_started)

    @property
    def _has_head(self) -> bool:
        """Return True if the head of a request has arrived that is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def give_way(self, refusal: TryLaterError) -> None:
        """End the connection for the sake of another one: with a word, unless its client does not read."""
        if self.transport.get_write_buffer_size():
            self.drop()
        else:
            self._refuse(refusal)

    def drop(self) -> None:
        """End the connection at once; what was not sent is thrown away, by the system too."""
        with suppress(OSError):
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, if there is a place."""
        super().connection_made(transport)
        self._late = _Timer(self.loop, self._is_late)  # until then the head of a request must be here
        self._stuck = _Timer(self.loop, self._is_stuck)  # until then the client must take something
        # Whatever the system does not take is noticed, also when it is the end of an answer.
        # With TLS, asyncio calls an empty buffer full where the limit is 0, and would never go on.
        transport.set_write_buffer_limits(high=1 if transport.get_extra_info("sslcontext") else 0, low=0)
        host = self.client[0] if self.client else ""
        self.address = host if is_proxy(host, self.places.config().trusted_proxies) else counted_address(host)
        try:
            self.places.take(self)
        except TryLaterError as error:
            self._begin_spare(error)
            return
        self._await_head()

    def _begin_spare(self, refusal: TryLaterError) -> None:
        """Begin above the limits; the guard lets `/health` pass, and nothing else."""
        try:
            self.places.take_spare(self)
        except TryLaterError as error:
            self._refuse(error)
            return
        self._refusal = refusal
        self.app_state = {**self.app_state, SPARE: refusal}
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and give the place back."""
        self.places.leave(self)
        self._late.stop()
        self._stuck.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self.places.again(self)
        # A part of the next one is here already, or a body still comes that nobody has waited for.
        if self.conn.trailing_data[0] or self.conn.their_state is h11.SEND_BODY:
            self._look()

    def pause_writing(self) -> None:
        """Begin to look whether the client reads."""
        super().pause_writing()
        if not self._stuck.is_running:
            self._await_reader()

    def resume_writing(self) -> None:
        """Stop to look: everything is sent."""
        self._stuck.stop()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP in the form of every other answer."""
        del msg
        self._refuse(
            RequestError("this is not a request in HTTP/1.1", hint="/openapi.json has the form of each request")
        )

    def _look(self) -> None:
        """Take the time from the first byte of a head to its last."""
        if self._has_head:
            self._late.stop()
        elif not self._late.is_running and not self.transport.is_closing():
            self._await_head()

    def _await_head(self) -> None:
        limit_s = self.places.config().read_timeout_s
        self._late.start(limit_s if self._refusal is None else min(limit_s, _SPARE_S))

    def _is_late(self) -> None:
        if self._has_head or self.transport.is_closing():
            return
        limit_s = self.places.config().read_timeout_s
        if self._refusal is not None:
            self._refuse(self._refusal)
        elif self.conn.trailing_data[0]:
            self._refuse(LateError(f"the request did not arrive in {limit_s:g} s", hint="see server.read_timeout_s"))
        else:
            self.transport.close()

    def _await_reader(self) -> None:
        self._n_unsent = self.transport.get_write_buffer_size()
        self._stuck.start(self.places.config().write_timeout_s)

    def _is_stuck(self) -> None:
        if self._n_unsent - self.transport.get_write_buffer_size() >= _LEAST_TAKEN:
            self._await_reader()
            return
        _log.info("closed the connection of a client that does not read", extra={"client": self.address})
        self.drop()

    def _refuse(self, error: RequestError) -> None:
        """Send an error, unless an answer has begun already, and close the connection."""
        self._late.stop()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE} and not (
            self._has_head and self.cycle.response_started
        ):
            problem = problem_of(error)
            body = json.dumps({"type": problem.type, **asdict(problem)}).encode()
            headers = [
                (b"content-type", MEDIA_TYPE.encode()),
                (b"content-length", b"%d" % len(body)),
                (b"cache-control", b"no-store"),
                (b"x-content-type-options", b"nosniff"),
                (b"connection", b"close"),
                *((name.encode(), value.encode()) for name, value in retry_after(error).items()),
            ]
            reason = HTTPStatus(problem.status).phrase.encode()
            head = h11.Response(status_code=problem.status, headers=headers, reason=reason)
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:
            self.cycle.disconnected = True  # whatever the route still says, nobody hears it
            self.cycle.message_event.set()
        self.transport.close()


class _Timer:
    """Calls a function when it was not stopped in time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
        self._loop = loop
        self._call = call
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        return self._handle is not None

    def start(self, after_s: float) -> None:
        self.stop()
        self._handle = self._loop.call_later(after_s, self._run)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _run(self) -> None:
        self._handle = None
        self._call()
