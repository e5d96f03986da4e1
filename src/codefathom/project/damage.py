"""Questions and runs over an index whose files may be damaged: an answer or an error says so, a run repairs it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar

from codefathom.errors import DamagedError, FathomError
from codefathom.project.opening import OpenedProject
from codefathom.types import Progress

_Event = TypeVar("_Event")


@contextmanager
def reading(opened: OpenedProject, *, whole: bool = False, is_old_shown: bool = False) -> Iterator[OpenedProject]:
    """Give an index to a question. What breaks because files are damaged raises DamagedError that says so.

    So does, with `whole`, an answer that had to leave something out and has no place to say it, and, unless
    `is_old_shown`, a catalogue that is older than its views. An index that another thread closes raises
    IndexClosedError.
    """
    soundness = opened.catalog.soundness
    try:
        if not is_old_shown and opened.views.is_ahead:
            raise soundness.damaged("it is older than what was made from it")
        yield opened
        opened.catalog.check_open()  # views that are closed find nothing
        if whole and soundness.damaged_paths:
            raise soundness.damaged(f"what it holds of {min(soundness.damaged_paths)} is wrong")
    except FathomError:
        opened.catalog.check_open()  # if it is closed, that is the cause
        raise
    except Exception as error:
        opened.catalog.check_open()
        # Whatever a library makes of bytes that are not what was written; anything else is a fault of ours.
        problem = opened.damage_of_files()
        if not problem:
            raise
        if "catalogue" in problem:
            raise soundness.damaged(problem["catalogue"]) from error
        part, how = next(iter(problem.items()))
        raise DamagedError(f"the {part} is damaged: {how}", hint="run `fathom index`: it is built again") from error


def lines_of(opened: OpenedProject, lines: Iterator[str]) -> Iterator[str]:
    """Pass on what is read of the index piece by piece. Raises DamagedError, at the end too."""
    with reading(opened, whole=True):
        yield from lines


def again_when_damaged(
    run: Callable[[], Generator[_Event, None, None]], close: Callable[[], None]
) -> Generator[_Event | Progress, None, None]:
    """Pass on the events of an index run; one that finds the index damaged begins again, with one made anew."""
    try:
        yield from run()
    except DamagedError as error:
        yield Progress("scan", 0, 0, message=f"{error}; it is made again")
        close()
        yield from run()
