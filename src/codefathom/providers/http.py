"""JSON and streams of lines over HTTP: timeouts, attempts, pace, and errors that say what to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx

from codefathom.errors import ProviderError
from codefathom.providers.pace import Breaker, Limits, Pace, backoff_s

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_MAX_SAID = 300  # characters of an error's body
_CHARS_PER_TOKEN = 3
_HERE = ("localhost", "127.0.0.1", "[::1]")


class Timeouts(NamedTuple):
    """Seconds to wait for a connection, and for the next piece of a reply."""

    connect_s: float = 10.0
    read_s: float = 600.0


class Server(NamedTuple):
    """Where a provider is and how it is called."""

    base_url: str
    headers: Mapping[str, str] = {}
    timeouts: Timeouts = Timeouts()
    limits: Limits = Limits()
    attempts: int = 5


class StatusError(ProviderError):
    """The server answered with an error; `status` is its number."""

    def __init__(self, message: str, status: int, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


class _Failed(NamedTuple):
    error: ProviderError
    is_passing: bool
    retry_after: str = ""
    is_away: bool = False


class Http:
    """One server. Safe to use from several threads."""

    def __init__(self, server: Server, sleep: Callable[[float], None] = time.sleep) -> None:
        self._server = server
        self._sleep = sleep
        self._pace = Pace(server.limits, sleep=sleep)
        self._breaker = Breaker(server.base_url)
        timeouts = httpx.Timeout(server.timeouts.read_s, connect=server.timeouts.connect_s)
        # A proxy of the environment does not lead to this machine.
        is_here = any(server.base_url.startswith(f"http://{host}") for host in _HERE)
        self._client = httpx.Client(headers=dict(server.headers), timeout=timeouts, trust_env=not is_here)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the JSON that a server answers. Raises ProviderError."""
        with self._answer(path, body) as response:
            try:
                response.read()
                return response.json()
            except ValueError as error:
                raise ProviderError(
                    f"{response.url} did not answer with JSON: {response.text[:_MAX_SAID]!r}"
                ) from error
            except httpx.HTTPError as error:
                raise self._lost(error) from error

    def lines(self, path: str, body: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines of a streamed answer; closing the iterator closes the connection. Raises ProviderError."""
        with self._answer(path, body) as response:
            try:
                yield from _lines(response.iter_bytes())
            except httpx.HTTPError as error:
                raise self._lost(error) from error

    @contextmanager
    def _answer(self, path: str, body: Mapping[str, Any]) -> Iterator[httpx.Response]:
        """Give the first good answer. What may pass is tried again, but never after the first byte of a good one."""
        response = self._first_good(path, body)
        try:
            yield response
        finally:
            response.close()

    def _first_good(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        n_tokens = len(repr(body)) // _CHARS_PER_TOKEN
        for attempt in range(self._server.attempts):
            self._breaker.check()
            self._pace.wait(n_tokens)
            answer = self._attempt(path, body)
            if isinstance(answer, httpx.Response):
                self._breaker.succeeded()
                return answer
            if answer.is_passing or answer.is_away:
                self._breaker.failed()
            if not answer.is_passing or attempt + 1 == self._server.attempts:
                raise answer.error
            self._sleep(backoff_s(attempt, answer.retry_after, time.time()))
        raise AssertionError("there is at least one attempt")  # limits.attempts begins at 1

    def _attempt(self, path: str, body: Mapping[str, Any]) -> httpx.Response | _Failed:
        try:
            request = self._client.build_request("POST", self._server.base_url + path, json=body)
            response = self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            # A server that was silent for as long as was allowed is not asked for the same once more.
            return _Failed(self._lost(error), not isinstance(error, httpx.ReadTimeout), is_away=True)
        except (httpx.InvalidURL, UnicodeError) as error:
            problem = ProviderError(f"{self._server.base_url!r} is no address: {error}", hint="correct llm.base_url")
            return _Failed(problem, is_passing=False)
        if response.is_success:
            return response
        retry_after = response.headers.get("retry-after", "")
        return _Failed(self._refused(response), response.status_code in _PASSING, retry_after)

    def _refused(self, response: httpx.Response) -> StatusError:
        try:
            response.read()
            said = self._without_keys(" ".join(response.text.split()))[:_MAX_SAID]
        except httpx.HTTPError:
            said = ""
        finally:
            response.close()
        message = f"{response.url} answered {response.status_code}" + (f": {said}" if said else "")
        return StatusError(message, response.status_code, hint=_HINTS.get(response.status_code, ""))

    def _without_keys(self, text: str) -> str:
        """Return what a server said without the keys that it was sent."""
        for value in self._server.headers.values():
            text = text.replace(value, "***").replace(value.removeprefix("Bearer "), "***")
        return text

    def _lost(self, error: httpx.HTTPError) -> ProviderError:
        address, timeouts = self._server.base_url, self._server.timeouts
        if isinstance(error, (httpx.ConnectTimeout, httpx.ConnectError)):
            return ProviderError(
                f"{address} cannot be reached: {error}", hint="is the server running? and is llm.base_url right?"
            )
        if isinstance(error, httpx.TimeoutException):
            return ProviderError(
                f"{address} said nothing for {timeouts.read_s:g} s", hint="set llm.read_timeout_s to wait for longer"
            )
        return ProviderError(f"the connection to {address} was lost: {error}", hint="ask again")


def _lines(pieces: Iterator[bytes]) -> Iterator[str]:
    """Yield lines that end at a line feed only: a model may well write the other signs that end lines for Python."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.rstrip(b"\r").decode("utf-8", "replace") for line in whole)
    if rest:
        yield rest.rstrip(b"\r").decode("utf-8", "replace")


_HINTS: Mapping[int, str] = {
    400: "the server does not take this request; is the model right?",
    401: "the key is missing or wrong: set it in the environment, such as OPENAI_API_KEY",
    403: "the key does not allow this",
    404: "no such model or address: for ollama run `ollama pull MODEL`, else correct llm.model and llm.base_url",
    429: "too many requests: wait, or lower limits.requests_per_minute",
}
