"""Work for a client, in its turn among the searches of all clients; what nobody waits for any more is ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from codefathom.server.http.auth import Caller
from codefathom.server.http.client_address import counted_address
from codefathom.server.http.problem_json import LeftError
from codefathom.server.searches.search_end import SearchEnd, SearchLease
from codefathom.server.state import ServerState

LET_FINISH_S = 1.0  # work that needs no longer costs less than the process that would have to be replaced
_T = TypeVar("_T")


async def in_turn(
    state: ServerState, caller: Caller, request: Request, work: Callable[[SearchLease], _T], *, patience: int = 1
) -> _T:
    """Run `work` when it is the client's turn, and return its value; the limit is `patience` times that of a search.

    A client that has left is not waited for: what has not begun for it is left undone, what goes on for long is ended.
    Raises TryLaterError and SlowError.
    """
    limit_s = state.config.search_timeout_s * patience
    lease = SearchLease(SearchEnd(), monotonic() + limit_s)
    client = caller.id or counted_address(request.client.host if request.client else "")
    try:
        await request.body()  # what comes after it is that the client leaves
    except ClientDisconnect as error:
        raise _left() from error
    turn = asyncio.ensure_future(state.search_queue.run(client, lambda: work(lease), limit_s))
    departure = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((turn, departure), return_when=asyncio.FIRST_COMPLETED)
        if not turn.done():
            raise _left()
        return turn.result()
    finally:
        departure.cancel()
        turn.cancel()  # no more than a word to one that is done
        lease.end.come()
        asyncio.get_running_loop().call_later(LET_FINISH_S, lease.end.enforce)


def _left() -> LeftError:
    return LeftError("the client has disconnected", hint="send the request again")
