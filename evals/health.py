"""How long `/health` of a server takes while others work it hard."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import httpx

_EVERY_S = 0.5  # more would show in the processor time of the server
FAILED_S = 60.0  # stands for an answer that is not 200


@contextmanager
def watched_health(address: str) -> Iterator[list[float]]:
    """Ask again and again during the block; give the seconds of each answer, with the connection that it needs."""
    seconds: list[float] = []
    is_over = Event()

    def look() -> None:
        while not is_over.is_set():
            began = time.perf_counter()
            try:
                is_fine = httpx.get(f"{address}/health", timeout=FAILED_S).status_code == httpx.codes.OK
            except httpx.HTTPError:
                is_fine = False
            seconds.append(time.perf_counter() - began if is_fine else FAILED_S)
            is_over.wait(_EVERY_S)

    thread = Thread(target=look)
    thread.start()
    try:
        yield seconds
    finally:
        is_over.set()
        thread.join()
