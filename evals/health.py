"""How long `/health` of a server takes while others work it hard."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from threading import Event, Thread
from urllib.parse import urlsplit

_EVERY_S = 0.5  # more would show in the processor time of the server
FAILED_S = 60.0  # stands for an answer that is not 200


@contextmanager
def watched_health(address: str) -> Iterator[list[float]]:
    """Ask again and again during the block; give the seconds of each answer, with the connection that it needs."""
    seconds: list[float] = []
    is_over = Event()
    place = urlsplit(address).netloc

    def look() -> None:
        while not is_over.is_set():
            began = time.perf_counter()
            is_fine = _is_fine(place)
            seconds.append(time.perf_counter() - began if is_fine else FAILED_S)
            is_over.wait(_EVERY_S)

    thread = Thread(target=look)
    thread.start()
    try:
        yield seconds
    finally:
        is_over.set()
        thread.join()


def _is_fine(place: str) -> bool:
    # Not httpx, which reads the certificates of the system first: 60 ms of a processor, more than the answer takes.
    try:
        with closing(HTTPConnection(place, timeout=FAILED_S)) as connection:
            connection.request("GET", "/health")
            return connection.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False
