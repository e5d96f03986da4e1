"""Progress of a long run on stderr: one changing line on a terminal, a few plain lines elsewhere.

An own line and no library: tqdm takes 60 ms to import, rich 85 ms, and a first search would have to wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from codefathom.cli.display.output import Output
from codefathom.text.printable import duration, show_line

if TYPE_CHECKING:
    from codefathom.types.index_runs import Extent, Progress

_WIDTH = 20
_TERMINAL_EVERY_S = 0.1
_PLAIN_EVERY_S = 5.0
_OF_MODELS = ("embed", "purposes")  # phases of which one step may take long
_PHASES = {
    "clone": "cloning",
    "wait": "waiting",
    "scan": "scanning",
    "index": "indexing",
    "write": "writing",
    "views": "writing",
    "embed": "embedding",
    "move": "moving",
    "purposes": "purposes",
    "paused": "paused",
}


class ProgressLine:
    """Takes the events of a run and shows them."""

    def __init__(self, output: Output, clock: Callable[[], float] = time.monotonic) -> None:
        self.tells_extent = False
        self._output = output
        self._clock = clock
        self._began = self._started = clock()
        self._shown_at = self._started
        self._n_done = 0
        self._n_chunks = 0
        self._phase = ""

    def __call__(self, event: Progress) -> None:
        """Show an event, unless the last one was shown a moment ago."""
        now = self._clock()
        if event.phase == "scan":
            self._started = now
        if event.phase != "wait":
            self._n_done, self._n_chunks = event.n_done, event.n_chunks
        every = _TERMINAL_EVERY_S if self._output.is_terminal else _PLAIN_EVERY_S
        is_new = event.phase != self._phase
        if is_new and (self._output.is_terminal or event.phase in ("wait", *_OF_MODELS)):
            every = 0.0  # the phase that is shown is the one that runs
        if is_new:
            self._began = now
        self._phase = event.phase
        if event.extent is not None and self.tells_extent:
            self._output.write(f"{extent_text(event.extent)}\n")
            self._output.flush()
        if now - self._shown_at < every:
            return
        self._shown_at = now
        text = describe(event, now - self._began)
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


def extent_text(extent: Extent) -> str:
    """Return the files of a run in one line."""
    numbers = f"{extent.n_to_index} to index, {extent.n_to_remove} to remove from the index"
    return f"{extent.n_files} files in the project: {numbers}"


_UNITS = {"embed": "chunks", "move": "chunks", "clone": "repositories"}


def describe(event: Progress, seconds: float) -> str:
    """Return one line: phase, bar, files or chunks, their number a second, time left; `seconds` are of this phase."""
    unit = _UNITS.get(event.phase, "files")
    parts = [f"{_PHASES.get(event.phase, event.phase):<8}"]
    if event.n_total:
        n_filled = _WIDTH * event.n_done // event.n_total
        parts.append(f"[{'#' * n_filled}{'-' * (_WIDTH - n_filled)}] {event.n_done}/{event.n_total} {unit}")
    if event.n_chunks:
        parts.append(f"{event.n_chunks} chunks")
    if event.phase != "wait" and event.n_done and event.n_total and seconds > 0:
        rate = event.n_done / seconds
        parts.append(f"{rate:.0f}/s")
        parts.append(f"{duration((event.n_total - event.n_done) / rate)} left")
    if event.message and not (event.n_total and event.phase in _OF_MODELS):
        parts.append(event.message)
    return "  ".join(parts)
