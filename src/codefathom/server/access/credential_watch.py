"""Requests under way whose sender loses access: a token is revoked or expires, a role is taken away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anyio import CancelScope

LOOK_EVERY_S = 1.0


class CredentialWatch:
    """Looks again, each second, at the senders of all requests under way. Of one event loop."""

    def __init__(self) -> None:
        self._held: dict[CancelScope, Callable[[], bool]] = {}
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def holding(self, is_still_valid: Callable[[], bool]) -> Iterator[CancelScope]:
        """Cancel the block when its sender has no access any more."""
        with CancelScope() as scope:
            self._held[scope] = is_still_valid
            self._wait()
            try:
                yield scope
            finally:
                del self._held[scope]

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        self._timer = None
        for scope, is_still_valid in list(self._held.items()):
            if not scope.cancel_called and not is_still_valid():
                scope.cancel()
        if self._held:
            self._wait()
