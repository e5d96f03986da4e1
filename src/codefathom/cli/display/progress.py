"""Progress of a long run on stderr: one changing line on a terminal, a few plain lines elsewhere.

An own line and no library: tqdm takes 60 ms to import, rich 85 ms, and a first search would have to wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from codefathom.cli.display.output import Output
from codefathom.text.printable import duration, show_line
from codefathom.types import Progress

_WIDTH = 20
_TERMINAL_EVERY_S = 0.1
_PLAIN_EVERY_S = 5.0
_PHASES = {
    "wait": "waiting",
    "scan": "scanning",
    "index": "indexing",
    "write": "writing",
    "views": "writing",
    "embed": "embedding",
    "purposes": "purposes",
    "paused": "paused",
}


class ProgressLine:
    """Takes the events of a run and shows them."""

    def __init__(self, output: Output, clock: Callable[[], float] = time.monotonic) -> None:
        self._output = output
        self._clock = clock
        self._started = clock()
        self._shown_at = self._started
        self._n_done = 0
        self._n_chunks = 0
        self._is_waiting = False

    def __call__(self, event: Progress) -> None:
        """Show an event, unless the last one was shown a moment ago."""
        now = self._clock()
        if event.phase == "scan":
            self._started = now
        if event.phase != "wait":
            self._n_done, self._n_chunks = event.n_done, event.n_chunks
        every = _TERMINAL_EVERY_S if self._output.is_terminal else _PLAIN_EVERY_S
        if event.phase == "wait" and not self._is_waiting:
            every = 0.0  # the reason for waiting is shown at once
        self._is_waiting = event.phase == "wait"
        if now - self._shown_at < every:
            return
        self._shown_at = now
        text = describe(event, now - self._started)
        if self._output.is_terminal:
            self._output.pass_by(text)
        else:
            self._output.write(show_line(text) + "\n")
            self._output.flush()

    def summary(self) -> str:
        """Return a summary of the last run, "" if it had nothing to do."""
        if not self._n_done:
            return ""
        files = "1 file" if self._n_done == 1 else f"{self._n_done} files"
        return f"indexed {files}, {self._n_chunks} chunks in {duration(self._clock() - self._started)}"

    def forget(self) -> None:
        """Forget the last run: `summary` is empty until the next one."""
        self._n_done = 0


def describe(event: Progress, seconds: float) -> str:
    """Return one line: phase, bar, files, chunks, files a second, time left."""
    parts = [f"{_PHASES.get(event.phase, event.phase):<8}"]
    if event.n_total:
        n_filled = _WIDTH * event.n_done // event.n_total
        parts.append(f"[{'#' * n_filled}{'-' * (_WIDTH - n_filled)}] {event.n_done}/{event.n_total} files")
    if event.n_chunks:
        parts.append(f"{event.n_chunks} chunks")
    if event.phase != "wait" and event.n_done and event.n_total and seconds > 0:
        rate = event.n_done / seconds
        parts.append(f"{rate:.0f}/s")
        parts.append(f"{duration((event.n_total - event.n_done) / rate)} left")
    if event.message:
        parts.append(event.message)
    return "  ".join(parts)
