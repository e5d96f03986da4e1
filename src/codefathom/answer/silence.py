"""A call of a model that says nothing for some seconds: whoever waits is told which model it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TypeAlias

from codefathom.answer.answer_types import AnswerStep, OnStep

SILENT_S = 5.0


Hear: TypeAlias = Callable[[], None]  # called with the first piece of a reply; later calls do nothing


@contextmanager
def silence_told(name: str, on_step: OnStep, every_s: float = SILENT_S) -> Iterator[Hear]:
    """Tell every few seconds that the model is silent, until the first piece of its reply or the end of the block."""
    is_heard, lock = Event(), Lock()

    def tell() -> None:
        seconds = 0.0
        while not is_heard.wait(every_s):
            seconds += every_s
            with lock:  # nothing is told after the first piece
                if not is_heard.is_set():
                    on_step(AnswerStep("waiting", f"{name} has not answered for {seconds:.0f} s"))

    def hear() -> None:
        with lock:
            is_heard.set()

    Thread(target=tell, name="silence", daemon=True).start()
    try:
        yield hear
    finally:
        hear()
