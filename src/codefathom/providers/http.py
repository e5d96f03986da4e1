"""JSON and streams of lines over HTTP: timeouts, attempts, pace, and errors with a remedy."""

from __future__ import annotations

import ipaddress
import json
import logging
import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from itertools import chain, count
from math import ceil, inf
from typing import Any, NamedTuple, Self
from urllib.parse import unquote, urlsplit

import httpx

from codefathom.errors import ProviderError, without_login
from codefathom.providers.pace import (
    LONGEST_S,
    Breaker,
    CallLimits,
    OnWait,
    Pace,
    WaitNotices,
    backoff_s,
    requested_wait_s,
)
from codefathom.system.bounded_http import AnswerLimits, broken_limit, counted, keep_to, limited
from codefathom.text.foreign_json import read_json

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_REFUSED = (400, 413, 422)
_MAX_SAID = 300  # characters of a server's text in an error
_MAX_READ = 10 * _MAX_SAID  # characters that are cleaned to get these
_CHARS_PER_TOKEN = 3
MAX_ANSWER_BYTES = 1 << 24  # of an answer that is not streamed, where its reader expects no more
_MAX_LINE_BYTES = 1 << 24
_MAX_REFUSAL_BYTES = 1 << 16  # of an answer that is an error
_MAX_STREAM_BYTES = 1 << 28  # an event takes some hundred bytes for each token
# So many times the longest silence may an answer take as a whole.
_LONGER, _STREAMED_LONGER = 2, 20
_UNQUOTED = "(its answer is in the log of the Codefathom server)"

_log = logging.getLogger(__name__)


class Hints(NamedTuple):
    """Remedies for errors, in the words of the caller, who knows provider and model."""

    unreachable: str = "is the server running? and is llm.base_url right?"
    key: str = "the key is missing or wrong: set it in the environment, such as OPENAI_API_KEY"
    unknown: str = "no such model or address: correct llm.model and llm.base_url"
    silent: str = "set llm.read_timeout_s to wait for longer"
    refused: str = "the server does not take this request; is the model right?"
    address: str = "correct llm.base_url"


class Timeouts(NamedTuple):
    """Seconds to wait for a connection, and for the next piece of a reply; a whole one may take some times as long."""

    connect_s: float = 10.0
    read_s: float = 600.0


class Server(NamedTuple):
    """Address, key, timeouts and limits of a provider."""

    base_url: str
    headers: Mapping[str, str] = {}
    timeouts: Timeouts = Timeouts()
    limits: CallLimits = CallLimits()
    attempts: int = 5
    hints: Hints = Hints()
    is_quoted: bool = True  # errors quote the server; if False, only the log does
    longest_wait_s: float = LONGEST_S  # between two attempts
    longest_waits_s: float = inf  # that it asks for, in all calls together


class StatusError(ProviderError):
    """The server answered with an error: `status` is its number, `said` its words, which not every user may see."""

    is_passing = False  # the same call may succeed later

    def __init__(self, message: str, status: int, *, said: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.said = said


class _Failed(NamedTuple):
    error: ProviderError
    is_passing: bool = False  # another attempt may succeed
    is_away: bool = False  # the server cannot be reached, or does not answer
    why: str = ""  # in a word
    retry_after: str = ""


class JsonAnswer(NamedTuple):
    """An answer in JSON."""

    value: Any
    headers: Mapping[str, str]


class _Answer(NamedTuple):
    response: httpx.Response
    pieces: Iterator[bytes]


class _Kind(NamedTuple):
    """Kind of an answer."""

    most_bytes: int
    is_streamed: bool  # then its first line is waited for, else all of it


_STREAM = _Kind(_MAX_STREAM_BYTES, is_streamed=True)


class Http:
    """One server. Safe to use from several threads."""

    def __init__(
        self,
        server: Server,
        sleep: Callable[[float], None] = time.sleep,
        on_wait: OnWait = lambda _: None,
    ) -> None:
        self._server = server
        self._address = without_login(server.base_url)
        self._secret = _secret(server)
        self._waits = WaitNotices(on_wait, sleep)
        self._waited_s = 0.0
        self._pace = Pace(server.limits)
        self._breaker = Breaker(self._address)
        self._client = _client(server)

    def also(self, server: Server) -> Self:
        """Return a copy for the same server with other timeouts, attempts and hints, over the same connections.

        Pace and breaker are shared too.
        """
        other = copy(self)
        other._server = server
        return other

    def close(self) -> None:
        """Close the connections, also for all copies."""
        self._client.close()

    def post(self, path: str, body: Mapping[str, Any], most_bytes: int = MAX_ANSWER_BYTES) -> Any:
        """Return the JSON that a server answers. Raises ProviderError, also for an answer of more bytes."""
        return self._json(path, body, most_bytes).value

    def get(self, path: str, most_bytes: int = MAX_ANSWER_BYTES) -> JsonAnswer:
        """Return the JSON behind a path, with the headers of the answer. Raises as `post`."""
        return self._json(path, None, most_bytes)

    def _json(self, path: str, body: Mapping[str, Any] | None, most_bytes: int) -> JsonAnswer:
        response, pieces = self._answer(path, body, _Kind(most_bytes, is_streamed=False))
        response.close()
        data = b"".join(pieces)
        try:
            return JsonAnswer(read_json(data), response.headers)
        except ValueError as error:
            text = data[:_MAX_READ].decode("utf-8", "replace")
            if _is_page(text):
                raise self._page(path) from error
            raise ProviderError(
                f"{self._address}{path} did not answer with JSON: {self.sayable(text)!r}",
                hint=self._server.hints.address,
            ) from error

    def lines(self, path: str, body: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines of a streamed answer; closing the iterator closes the connection. Raises ProviderError."""
        response, pieces = self._answer(path, body, _STREAM)
        is_begun = False
        try:
            for line in _lines(pieces):
                if not is_begun and _is_page(line):
                    raise self._page(path)
                is_begun = is_begun or bool(line.strip())
                yield line
        except httpx.HTTPError as error:
            raise self._lost(error) from error
        finally:
            response.close()

    def sayable(self, text: str) -> str:
        """Return the words of a server for an error message: one short line, without the keys that it was sent.

        Where others than the user of this machine read errors, the line goes to the log instead: a client that may
        choose the server must not read in errors what only this machine can reach.
        """
        said = self._cleaned(text)
        if self._server.is_quoted or not said:
            return said
        _log.info("%s said: %s", self._address, said)
        return _UNQUOTED

    def _cleaned(self, text: str) -> str:
        without_keys = self._secret.sub("***", text) if self._secret else text
        printable = "".join(sign if sign.isprintable() else " " for sign in without_keys[:_MAX_READ])
        return " ".join(printable.split())[:_MAX_SAID]

    def _answer(self, path: str, body: Mapping[str, Any] | None, kind: _Kind) -> _Answer:
        """Return the first good answer. Raises ProviderError when no attempt brings one."""
        with self._breaker.call() as call:
            answer = self._attempts(path, body, kind)
            if isinstance(answer, _Answer):
                call.is_answered = True
                return answer
            call.is_answered, call.error = not answer.is_away, answer.error
        raise answer.error

    def _attempts(self, path: str, body: Mapping[str, Any] | None, kind: _Kind) -> _Answer | _Failed:
        """Repeat a call while its error may pass, but never after a part of an answer was passed on."""
        n_tokens = len(repr(body)) // _CHARS_PER_TOKEN
        for attempt in count():
            turn = self._pace.turn(n_tokens)
            self._waits.sleep(turn.seconds, f"{turn.limit} allows no more calls to {self._host} for now")
            answer = self._attempt(path, body, kind)
            if isinstance(answer, _Answer) or not answer.is_passing:
                break
            requested_s = requested_wait_s(answer.retry_after, time.time())
            wait_s = backoff_s(attempt) if requested_s is None else requested_s
            if wait_s > self._server.longest_wait_s:
                answer.error.remedy = f"the provider asks to wait {ceil(wait_s)} s; ask again after that"
                break
            if self._waited_s + wait_s > self._server.longest_waits_s:
                waited = f"it was waited for {ceil(self._waited_s)} s already"
                answer.error.remedy = f"the provider asks to wait {ceil(wait_s)} s, and {waited}; ask again later"
                break
            if attempt + 1 >= self._server.attempts:
                break
            why = "failed" if requested_s is None else "asks for that"
            self._waits.sleep(wait_s, f"{self._host} {why} ({answer.why})")
            self._waited_s += wait_s
        return answer

    @property
    def _host(self) -> str:
        return self._address.partition("//")[2].partition("/")[0]

    def _attempt(self, path: str, body: Mapping[str, Any] | None, kind: _Kind) -> _Answer | _Failed:
        # Half a character, which file names can hold, is no text that could be sent.
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        try:
            method, address = "GET" if body is None else "POST", self._server.base_url + path
            request = self._client.build_request(method, address, content=content, timeout=self._timeout())
            with limited(self._limits(kind)):
                response = self._client.send(request, stream=True)
            if response.is_success:
                return _Answer(response, _begun(response, kind))
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            said = self._cleaned(str(error))
            hint = self._server.hints.address
            return _Failed(ProviderError(f"{self._address!r} is not a valid address: {said}", hint=hint))
        except httpx.HTTPError as error:
            # A server that was silent until the timeout, or did not stop, does not get the same request again.
            is_passing = not isinstance(error, (httpx.ReadTimeout, httpx.DecodingError)) and not broken_limit(error)
            return _Failed(self._lost(error), is_passing, is_away=True, why=_in_a_word(error))
        retry_after = response.headers.get("retry-after", "") or _until_reset(response.headers)
        is_passing = response.status_code in _PASSING or (response.status_code == 403 and bool(retry_after))
        refused = self._refused(path, response)
        refused.is_passing = is_passing
        return _Failed(refused, is_passing, is_passing, str(response.status_code), retry_after)

    def _limits(self, kind: _Kind) -> AnswerLimits:
        longer = _STREAMED_LONGER if kind.is_streamed else _LONGER
        return AnswerLimits(longer * self._server.timeouts.read_s, kind.most_bytes)

    def _timeout(self) -> httpx.Timeout:
        return httpx.Timeout(self._server.timeouts.read_s, connect=self._server.timeouts.connect_s)

    def _refused(self, path: str, response: httpx.Response) -> StatusError:
        data = b""
        try:
            for piece in response.iter_bytes():
                data += piece
                if len(data) > _MAX_REFUSAL_BYTES:
                    break
        except httpx.HTTPError:
            data = b""
        finally:
            response.close()
        text = data[:_MAX_REFUSAL_BYTES].decode("utf-8", "replace")
        words = self.sayable(text)
        message = f"{self._address}{path} answered {response.status_code}" + (f": {words}" if words else "")
        hint = self._hint(path, response)
        return StatusError(message, response.status_code, said=self._cleaned(text), hint=hint)

    def _hint(self, path: str, response: httpx.Response) -> str:
        status = response.status_code
        if 300 <= status < 400:
            moved_to = without_login(response.headers.get("location", "")).removesuffix(path)
            whereto = f" to {self.sayable(moved_to)}" if moved_to else ""
            return f"the address has moved{whereto}: {self._server.hints.address}"
        hints = self._server.hints
        own = {401: hints.key, 404: hints.unknown, **dict.fromkeys(_REFUSED, hints.refused)}
        return own.get(status) or _HINTS.get(status, "")

    def _page(self, path: str) -> ProviderError:
        hint = f"this is not the address of a model: {self._server.hints.address}"
        return ProviderError(f"{self._address}{path} answered with a web page", hint=hint)

    def _lost(self, error: httpx.HTTPError) -> ProviderError:
        # The words of an error may be those of a server that does not speak HTTP.
        address, timeouts = self._address, self._server.timeouts
        if isinstance(error, _UNREACHED):
            said = self._cleaned(str(error))  # the words of this machine
            return ProviderError(f"{address} cannot be reached: {said}", hint=self._server.hints.unreachable)
        limit, hints = broken_limit(error), self._server.hints
        if isinstance(error, httpx.TimeoutException):
            silent = f"did not answer for {timeouts.read_s:g} s"
            return ProviderError(f"{address} {f'is too slow: {limit}' if limit else silent}", hint=hints.silent)
        if limit:
            return ProviderError(f"{address} cannot be used: {limit}", hint=hints.address)
        said = self.sayable(str(error))
        return ProviderError(f"the connection to {address} was lost: {said}", hint="ask again")


_SECONDS = re.compile(r"[0-9]{1,18}")  # Python makes no number of very many digits
_UNREACHED = (httpx.ConnectTimeout, httpx.ConnectError)


def _until_reset(headers: Mapping[str, str]) -> str:
    """Return the seconds until calls are allowed again, as code hosts tell it; "" where some are left."""
    for prefix in ("x-ratelimit-", "ratelimit-"):
        reset = headers.get(f"{prefix}reset", "")
        if headers.get(f"{prefix}remaining") == "0" and _SECONDS.fullmatch(reset):
            return str(max(int(reset) - int(time.time()), 0) + 1)
    return ""


def _in_a_word(error: httpx.HTTPError) -> str:
    return "cannot be reached" if isinstance(error, _UNREACHED) else "connection lost"


def is_local(address: str) -> bool:
    """Return True if an address leads to this machine itself."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _secret(server: Server) -> re.Pattern[str] | None:
    """Return an expression that matches the keys and the password of a server, also as JSON writes them."""
    secrets = {part for value in server.headers.values() for part in (value, value.removeprefix("Bearer "))}
    if user := re.search("//([^/]*)@", server.base_url):
        plain = unquote(user[1])
        secrets |= {user[1], plain, b64encode(plain.encode("utf-8", "replace")).decode()}
        secrets |= {user[1].partition(":")[2], plain.partition(":")[2]}
    # The longest first: if only a part of a key were removed, the error would show the other part.
    longest_first = sorted((part for secret in secrets if (part := secret.strip())), key=len, reverse=True)
    escaped = (
        "".join(sign if sign.isalnum() else r"\\{0,2}" + re.escape(sign) for sign in part) for part in longest_first
    )
    return re.compile("|".join(escaped), re.IGNORECASE) if longest_first else None


def _is_page(text: str) -> bool:
    """Return True if a body, or its first line, is HTML; no protocol here begins like that."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def _client(server: Server) -> httpx.Client:
    headers = {"Content-Type": "application/json", **server.headers}
    # A proxy of the environment does not lead to this machine.
    is_here = server.base_url.startswith("http://") and is_local(server.base_url)
    try:
        # Reading all certificates takes 0.1 s, and nothing is encrypted on the way to this machine itself.
        client = httpx.Client(headers=headers, trust_env=not is_here, verify=not is_here)
    except (ValueError, ImportError, OSError, httpx.InvalidURL) as error:
        address = without_login(server.base_url)
        raise ProviderError(
            f"{address} cannot be reached with the proxy or certificates from the environment: {error}",
            hint="correct or unset HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE",
        ) from error
    keep_to(client, AnswerLimits(server.timeouts.read_s, MAX_ANSWER_BYTES))
    return client


def _begun(response: httpx.Response, kind: _Kind) -> Iterator[bytes]:
    """Return the pieces of a body; so many have come in that another attempt is not needed for them."""
    try:
        pieces = counted(response.iter_bytes(), kind.most_bytes)
        first: list[bytes] = []
        for piece in pieces:
            first.append(piece)
            if kind.is_streamed and b"\n" in piece:
                break
        return chain(first, pieces)
    except BaseException:  # an interruption too leaves no connection behind
        response.close()
        raise


def _lines(pieces: Iterator[bytes]) -> Iterator[str]:
    """Yield lines that end at a line feed only: a model may well write the other signs that end lines for Python."""
    rest: list[bytes] = []
    n_bytes = 0
    for piece in pieces:
        *whole, last = piece.split(b"\n")
        if whole:
            whole[0] = b"".join((*rest, whole[0]))
            rest, n_bytes = [], 0
        yield from (line.rstrip(b"\r").decode("utf-8", "replace") for line in whole)
        rest.append(last)
        n_bytes += len(last)
        if n_bytes > _MAX_LINE_BYTES:
            raise httpx.ReadError(f"a line is longer than {_MAX_LINE_BYTES:,} bytes")
    if line := b"".join(rest):
        yield line.rstrip(b"\r").decode("utf-8", "replace")


_HINTS: Mapping[int, str] = {
    403: "the key has no permission for this: use another key",
    429: "too many requests: wait, or lower limits.requests_per_minute",
}
