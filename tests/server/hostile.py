"""Requests that no honest client sends, and what every one of them must be answered with.

`test_hostile_requests.py` sends each once; a trial may send them for longer: `run(address, rounds=100)`. It needs the
address of a server with the project `shop` (tests/repos/shop, with `WILD_TEXT` in one more file) and without tokens.
The requests are in `hostile_table.py`.
"""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from tests.waiting import LONG_S

from .hostile_table import Case, raw, table

# Deliberate: too many connections or searches, a search that took too long.
DELIBERATE = {503, 504}
KEYS_OF_PROBLEM = {"type", "title", "status", "detail", "code", "hint", "detail_parts", "hint_parts"}
# Words of an error that nobody foresaw, and of what lies inside.
LEAKS = (
    "Traceback",
    'File "',
    "site-packages",
    "/src/codefathom",
    "codefathom.server",
    "object at 0x",
    "sqlite3.",
    "pydantic",
    "starlette",
    "an unexpected error",
    "Internal Server Error",
)


@dataclass(frozen=True)
class Answer:
    """One answer as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def send(address: str, case: Case) -> bytes:
    """Send a request; return all that comes until the connection ends."""
    host = urlsplit(address)
    with socket.create_connection((host.hostname or "", host.port or 80), timeout=LONG_S) as connection:
        with suppress(ConnectionError):  # the server may have heard enough
            connection.sendall(case.data[:-1])
            time.sleep(case.pause_s)
            connection.sendall(case.data[-1:])
        if not case.reads:
            return b""
        data = b""
        with suppress(ConnectionError):
            while piece := connection.recv(65_536):
                data += piece
        return data


def answers_in(data: bytes) -> Iterator[Answer]:
    """Yield the answers in what a server has sent."""
    while data:
        head, mark, data = data.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        assert mark and status.startswith("HTTP/1.1 "), f"no answer in HTTP: {head[:200]!r}"
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        number = int(status.split()[1])
        if headers.get("transfer-encoding") == "chunked":
            body, data = _chunks(data)
        else:
            length = int(headers.get("content-length", 0))
            body, data = data[:length], data[length:]
        if number >= 200:
            yield Answer(number, headers, body)


def _chunks(data: bytes) -> tuple[bytes, bytes]:
    body = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        body, data = body + data[:length], data[length + 2 :]
        if not length:
            break
    return body, data


def faults(case: Case, data: bytes) -> Iterator[str]:
    """Yield what is wrong with the answers to a request."""
    if not data and case.reads and not case.may_be_silent:
        yield "no answer"
    # An answer to HEAD has a length and no body.
    found = () if case.data.startswith(b"HEAD ") else answers_in(data)
    for answer in found:
        text = answer.body.decode("utf-8", "replace")
        if answer.status >= 500 and answer.status not in DELIBERATE:
            yield f"status {answer.status}: {text[:300]}"
        if answer.status >= 400:
            yield from _misshaped(answer, text)
        if "x-injected" in answer.headers:
            yield "a header came from the request"


def _misshaped(answer: Answer, text: str) -> Iterator[str]:
    if "text/html" in answer.headers.get("content-type", "") and answer.status == 404:
        return  # the page, for people
    if answer.headers.get("content-type") == "application/json" and "error" in json.loads(text):
        if json.loads(text)["error"].keys() != {"message", "type", "param", "code"}:
            yield f"an error of another shape than OpenAI's: {text[:300]}"
        return
    if answer.headers.get("content-type") != "application/problem+json":
        yield f"no problem+json but {answer.headers.get('content-type')}: {text[:200]}"
        return
    problem = json.loads(text)
    if problem.keys() != KEYS_OF_PROBLEM or problem["status"] != answer.status:
        yield f"a problem of another shape: {text[:300]}"
    yield from (f"{leak!r} leaks: {text[:500]}" for leak in LEAKS if leak in text)


HEALTH = Case("health", raw("GET", "/health"))


def is_healthy(address: str) -> bool:
    """Whether the server says that it is there."""
    try:
        return next(answers_in(send(address, HEALTH))).status == 200
    except (OSError, StopIteration):
        return False


def tried(address: str, case: Case) -> list[str]:
    """Send a request, and ask /health meanwhile and afterwards; return what is wrong."""
    came: list[bytes | BaseException] = []

    def carry_out() -> None:
        try:
            came.append(send(address, case))
        except BaseException as error:  # told by the thread that waits
            came.append(error)

    thread = threading.Thread(target=carry_out, daemon=True)
    thread.start()
    wrong: list[str] = []
    while True:
        if not is_healthy(address):
            wrong.append("/health did not answer")
            break
        if not thread.is_alive():
            break
        thread.join(0.05)
    thread.join(LONG_S)
    if not came or isinstance(came[0], BaseException):
        return [*wrong, f"no end: {came[0] if came else 'still waiting'}"]
    return [*wrong, *faults(case, came[0])]


def run(
    address: str,
    rounds: int = 1,
    cases: Sequence[Case] = (),
    tell: Callable[[str], None] = lambda _: None,
    seed: int = 0,
) -> list[str]:
    """Send every request so many times, in another order each time; return what was wrong, by the names of requests."""
    chosen, order, wrong = list(cases or table()), random.Random(seed), []
    for number in range(rounds):
        for case in chosen:
            wrong += [f"{case.name}: {fault}" for fault in tried(address, case)]
        tell(f"round {number + 1} of {rounds}: {len(chosen)} requests, {len(wrong)} faults")
        order.shuffle(chosen)
    return wrong


def names(cases: Iterable[Case]) -> list[str]:
    """Return the names of requests, for the ids of tests."""
    return [quote(case.name, safe=" /()=,.:") for case in cases]
