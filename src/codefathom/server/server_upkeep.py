"""What a server does from time to time, without a request: it forgets what is too old, and notes its figures."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from anyio import to_thread

from codefathom.errors import FathomError

_EVERY_S = 60.0

_log = logging.getLogger(__name__)


@asynccontextmanager
async def upkeep(*duties: Callable[[], None]) -> AsyncIterator[None]:
    """Do all of this before the block, each minute during it, and after it; what fails is logged, and done again."""
    await to_thread.run_sync(_do, duties)
    task = asyncio.create_task(_again_and_again(duties))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await to_thread.run_sync(_do, duties)


async def _again_and_again(duties: tuple[Callable[[], None], ...]) -> None:
    while True:
        await asyncio.sleep(_EVERY_S)
        await to_thread.run_sync(_do, duties)


def _do(duties: tuple[Callable[[], None], ...]) -> None:
    for duty in duties:
        try:
            duty()
        except (OSError, FathomError) as error:  # such as a full disk
            _log.warning("the upkeep of the server failed: %s", error)
