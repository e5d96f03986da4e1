"""Regular expressions that somebody else wrote: compiled within bounds, and run under one deadline for a whole search.

Python's own engine cannot be stopped, and no other thread runs while it works. The library `regex` has a limit of time
and lets other threads run. Only the processor time of the expression itself counts: neither the reading of texts nor
other work of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import local
from time import thread_time
from typing import TYPE_CHECKING

from codefathom.errors import SlowExpressionError, UsageError
from codefathom.text.expression_syntax import translate

if TYPE_CHECKING:
    import regex

USUAL_LIMIT_S = 10.0  # where nobody says another
SETTING = "search.expression_timeout_s"
_SHARE = 0.2  # of the time of a search, for one text that is searched for all its matches
_MAX_SHOWN = 100  # characters of an expression in a message
_running = local()


class Deadline:
    """The time that all expressions of one search share."""

    def __init__(self, limit_s: float = USUAL_LIMIT_S) -> None:
        self.limit_s = limit_s
        self.left_s = limit_s

    @property
    def is_over(self) -> bool:
        """True if no time is left for any expression."""
        return self.left_s <= 0

    @contextmanager
    def spent_on(self, expression: str, share: float = 1.0) -> Iterator[float]:
        """Count the time of the block, and yield the seconds that it may take: at most a share of the whole limit.

        Raises SlowExpressionError.
        """
        began, spent_s = thread_time(), 0.0
        try:
            if self.is_over:
                raise TimeoutError
            allowed_s = min(self.left_s, self.limit_s * share)
            try:
                yield allowed_s
            except TimeoutError:
                spent_s = allowed_s  # the library counts the time of all threads, and so this one may have had less
                raise
        except (TimeoutError, MemoryError) as error:  # 1 GB of places to go back to is as hopeless as no end
            raise SlowExpressionError(
                f"the regular expression {shown(expression)} takes too long: it was stopped after {self.limit_s:g} s",
                hint=f"leave out a repeat inside a repeat, such as (a+)+, or raise {SETTING}",
            ) from error
        finally:
            self.left_s -= max(spent_s, thread_time() - began)


@contextmanager
def deadline(limit_s: float) -> Iterator[Deadline]:
    """Give all expressions that this thread runs in the block `limit_s` seconds together; the outermost block counts.

    Without a block, each text has the usual time.
    """
    outer: Deadline | None = getattr(_running, "deadline", None)
    if outer is not None:
        yield outer
        return
    _running.deadline = own_deadline = Deadline(limit_s)
    try:
        yield own_deadline
    finally:
        _running.deadline = None


def _deadline_of_this_thread() -> Deadline:
    return getattr(_running, "deadline", None) or Deadline()


class Expression:
    """A compiled expression. Safe to use from several threads."""

    def __init__(self, written: str) -> None:
        """Raises UsageError for text that is not an expression, or that needs too much memory."""
        check(written)
        import regex  # noqa: PLC0415 -- takes 9 ms, and few searches need it

        self.written = written
        self._pattern: regex.Pattern[str] = regex.compile(translate(written), regex.VERSION0, cache_pattern=False)

    def is_in(self, text: str) -> bool:
        """Return True if the expression matches somewhere. Raises SlowExpressionError."""
        running = _deadline_of_this_thread()
        with running.spent_on(self.written) as left_s:
            return self._pattern.search(text, timeout=left_s, concurrent=True) is not None

    def places(self, text: str) -> Iterator[int]:
        """Yield the start of each match. Raises SlowExpressionError; other texts may still be searched after that."""
        running = _deadline_of_this_thread()
        with running.spent_on(self.written, _SHARE) as left_s:
            for match in self._pattern.finditer(text, timeout=left_s, concurrent=True):
                yield match.start()


@lru_cache(maxsize=64)
def compiled(written: str) -> Expression:
    """Return an expression in Python's syntax. Raises UsageError."""
    return Expression(written)


def is_match(written: str, value: object) -> bool:
    """Return True if an expression matches somewhere in a value; None has no match. Raises UsageError."""
    return value is not None and compiled(written).is_in(str(value))


def check(written: str) -> None:
    """Raise UsageError if this is not a regular expression, or one that needs too much memory."""
    try:
        translate(written)
    except ValueError as error:
        hint = "escape ( [ * + ? . with a backslash to find the characters themselves"
        raise UsageError(f"{shown(written)} is not a regular expression: {error}", hint=hint) from error


def shown(written: str) -> str:
    """Return an expression as a message names it: in quotes, without flags that are ours, and not all of a long one."""
    written = written.removeprefix("(?i)").removeprefix("(?m)")
    return repr(written if len(written) <= _MAX_SHOWN else f"{written[:_MAX_SHOWN]}…")
