"""Control that the caller of a tool has while it runs.

It imports next to nothing, as all that stands before the list of tools: a host waits for that.
"""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from codefathom.types import Progress


class CallControl:
    """Give up, and hear how far the work is."""

    __slots__ = ("is_cancelled", "is_heard", "on_progress", "patience_s")

    def __init__(
        self,
        is_cancelled: Callable[[], bool] = lambda: False,
        on_progress: Callable[[Progress], None] | None = None,
        patience_s: float = 2.0,
    ) -> None:
        """Both functions are called from any thread; `is_cancelled` between the stages of the work.

        `patience_s` is the time for which a first index is waited for; the tool sets it.
        """
        self.is_cancelled = is_cancelled
        self.on_progress = on_progress or (lambda _: None)
        self.is_heard = on_progress is not None  # who hears of the progress waits longer for a first index
        self.patience_s = patience_s

    def with_patience(self, seconds: float) -> CallControl:
        """Return the same control for a call that waits so long for a first index."""
        return CallControl(self.is_cancelled, self.on_progress if self.is_heard else None, seconds)


NO_CONTROL = CallControl()
