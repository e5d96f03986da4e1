"""What the caller of a tool may do while it runs. It imports nothing: a host waits for the first answer of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from codefathom.types import Progress


class CallControl(NamedTuple):
    """Give up, and hear how far the work is."""

    is_cancelled: Callable[[], bool] = lambda: False  # asked between the stages of the work, from any thread
    on_progress: Callable[[Progress], None] = lambda _: None  # called from any thread
    is_heard: bool = False  # somebody hears the progress, and so waits longer for a first index
    patience_s: float = 2.0  # for which a first index is waited for; set by the tool


NO_CONTROL = CallControl()
