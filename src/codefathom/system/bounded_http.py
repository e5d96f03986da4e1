"""Limits for the answers of servers: the time of a whole answer, headers included, and its size.

What httpx limits is each wait: a server that sends one byte a second would hold its caller for ever, and one that does
not stop would fill the memory. So the connections themselves keep to a limit, whatever library reads from them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from ssl import SSLContext
from typing import Any, NamedTuple

import httpcore
import httpx

_PACKED = ("gzip", "deflate", "identity", "")  # encodings that give at most a thousand bytes for one
_SENT_AT_ONCE = 1 << 20  # bytes of a request


class AnswerLimits(NamedTuple):
    """Limits of one answer."""

    seconds: float  # from the sending of the request to the last byte
    n_bytes: int  # as they come over the wire, headers included, and again after they were unpacked


class AnswerTooLargeError(httpcore.ReadError):
    """An answer is longer than it may be."""


class AnswerTooSlowError(httpcore.ReadTimeout):
    """An answer is not complete after the time that it may take."""


_limits: ContextVar[AnswerLimits | None] = ContextVar("limits of the next answers", default=None)


@contextmanager
def limited(limits: AnswerLimits) -> Iterator[None]:
    """Let requests that are sent inside keep to other limits than those of their client."""
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)


def keep_to(client: httpx.Client, limits: AnswerLimits, *, unpacks: bool = True) -> None:
    """Let a client, which has sent nothing yet, keep to limits. An answer beyond them is an `httpx.HTTPError`.

    `broken_limit` tells it from others. With `unpacks`, whoever reads an answer counts what `iter_bytes` gives of it,
    and each piece holds 64 MB or less; without, no answer may be packed.
    """
    transports = [client._transport, *client._mounts.values()]
    for transport in transports:
        pool: Any = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = _Backend(pool._network_backend, limits)
    allowed = _PACKED if unpacks else ("identity", "")
    client.headers["accept-encoding"] = "gzip, deflate" if unpacks else "identity"

    def check(response: httpx.Response) -> None:
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in allowed:
            raise httpx.DecodingError(f"the answer is packed as {encoding[:40]!r}, which was not asked for")

    client.event_hooks = {"response": [check]}


def read_whole(response: httpx.Response, n_bytes: int) -> bytes:
    """Return an unpacked body of at most so many bytes. Raises httpx.ReadError beyond them."""
    return b"".join(counted(response.iter_bytes(), n_bytes))


def counted(pieces: Iterable[bytes], n_bytes: int) -> Iterator[bytes]:
    """Pass on pieces of an unpacked body as long as there are no more bytes. Raises httpx.ReadError beyond them."""
    n_read = 0
    for piece in pieces:
        n_read += len(piece)
        if n_read > n_bytes:
            error = AnswerTooLargeError(_too_large(n_bytes))
            raise httpx.ReadError(str(error)) from error
        yield piece


def broken_limit(error: BaseException | None) -> str:
    """Return a sentence about the limit that an answer broke, "" for any other error."""
    return next(
        (str(part) for part in _causes(error) if isinstance(part, (AnswerTooLargeError, AnswerTooSlowError))), ""
    )


def silence(error: BaseException | None) -> str:
    """Return a sentence if an answer, or the next part of it, did not come in time; "" for any other error."""
    is_silent = any(isinstance(part, (httpx.ReadTimeout, AnswerTooSlowError)) for part in _causes(error))
    return (broken_limit(error) or "it did not answer in time") if is_silent else ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _too_large(n_bytes: int) -> str:
    return f"the answer is larger than {n_bytes:,} bytes"


class _Stream(httpcore.NetworkStream):
    """A connection, which serves one request at a time."""

    def __init__(self, stream: httpcore.NetworkStream, limits: AnswerLimits) -> None:
        self._stream = stream
        self._usual = limits
        self._begin()
        self._is_read = True  # since the last request was begun

    def _begin(self) -> None:
        self._limits = _limits.get() or self._usual
        self._deadline = time.monotonic() + self._limits.seconds
        self._n_read = 0
        self._is_read = False

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what is there, in the time that is left for the whole answer."""
        self._is_read = True
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise self._too_slow()
        try:
            data = self._stream.read(max_bytes, left_s if timeout is None else min(timeout, left_s))
        except httpcore.ReadTimeout as error:
            if time.monotonic() >= self._deadline:
                raise self._too_slow() from error
            raise
        self._n_read += len(data)
        if self._n_read > self._limits.n_bytes:
            raise AnswerTooLargeError(_too_large(self._limits.n_bytes))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send a part of a request; the time begins with its first part."""
        if self._is_read:
            self._begin()
        for start in range(0, len(buffer), _SENT_AT_ONCE):
            if time.monotonic() > self._deadline:
                raise self._too_slow()
            self._stream.write(buffer[start : start + _SENT_AT_ONCE], timeout)

    def _too_slow(self) -> AnswerTooSlowError:
        return AnswerTooSlowError(f"the answer was not complete after {self._limits.seconds:g} s")

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Return the connection with TLS over it."""
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout), self._usual)

    def get_extra_info(self, info: str) -> Any:
        """Return a fact about the connection."""
        return self._stream.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    """Opens connections that keep to limits."""

    def __init__(self, backend: httpcore.NetworkBackend, limits: AnswerLimits) -> None:
        self._backend = backend
        self._limits = limits

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to a host."""
        stream = self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        return _Stream(stream, self._limits)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        """Connect to a socket of this machine."""
        return _Stream(self._backend.connect_unix_socket(path, timeout, socket_options), self._limits)

    def sleep(self, seconds: float) -> None:
        """Wait before another attempt."""
        self._backend.sleep(seconds)
