"""Ctrl-C: the first one ends a command in an orderly way, wherever it strikes; the second one ends the process at once.

Python raises KeyboardInterrupt wherever the main thread is at this moment. In a function that C calls (of SQLite, in
`__del__`, in the callback of a weak reference) that is printed at best, and forgotten. So it is remembered here, and
stages of the work ask for it (`system/stopping.py`).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

TYPE_CHECKING = False  # see `cli`: typing takes too long to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn

INTERRUPTED = 130  # exit code, as shells have it
_LINE = "fathom: interrupted\n"


class Interruption:
    """The Ctrl-C of this process. Only the main thread takes signals."""

    def __init__(self) -> None:
        self._has_come = False
        self._is_told = False

    def has_come(self) -> bool:
        """Return True if the work that goes on is to end."""
        return self._has_come

    def begin(self) -> None:
        """Take Ctrl-C from now on, unless somebody else does: the program around, or one that ignores it."""
        self._has_come = self._is_told = False
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return
        try:
            signal.signal(signal.SIGINT, self._take)
        except ValueError:  # a program calls this in another thread than the main one
            return
        sys.unraisablehook = _silent_about_interrupts

    def end(self) -> None:
        """Leave Ctrl-C to the program around, which goes on."""
        self.forget()
        if signal.getsignal(signal.SIGINT) != self._take:
            return
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        except ValueError:  # as above
            return
        sys.unraisablehook = sys.__unraisablehook__

    def forget(self) -> None:
        """Go on: what it was to end has ended."""
        self._has_come = False

    def tell(self, write: Callable[[str], object]) -> None:
        """Have the command write that it was interrupted; a second Ctrl-C does not write it once more."""
        self._has_come = self._is_told = True
        # Python notes a KeyboardInterrupt that passes through code in a string, such as the making of a dataclass, and
        # ends itself by a signal then, although it was caught; the next such code takes the note away.
        eval("None")
        write("interrupted")

    def end_now(self) -> NoReturn:
        """End the process at once. Its children end with it: they lose what they read from."""
        if not self._is_told:
            os.write(2, _LINE.encode())
        os._exit(INTERRUPTED)

    def _take(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._has_come:
            self.end_now()
        self._has_come = True
        raise KeyboardInterrupt


def _silent_about_interrupts(problem: Any) -> None:
    """Report what Python cannot raise, except a Ctrl-C, which is remembered."""
    if not issubclass(problem.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(problem)


INTERRUPTION = Interruption()
