"""How far a question reaches in a fleet: the shards that it asked, and those that it did not, with the reason.

It belongs to the context of the caller: threads that run in a copy of it ask for the same question.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from codefathom.facts.reasons import AND_MORE, PARTIAL, SHARD_LATE, SHARD_NOT_ASKED, Note
from codefathom.types import Partial

_MOST_SHARDS, _MOST_NAMED = 3, 5  # shards that a sentence names, and repositories of each

_reach: ContextVar[FleetReach | None] = ContextVar("reach", default=None)


@dataclass
class FleetReach:
    """One question on its way through the shards of a fleet."""

    root: str  # of the fleet
    until: float  # by `clock`
    clock: Callable[[], float] = time.monotonic
    begun: set[int] = field(default_factory=set)  # slots of shards
    unasked: dict[int, Note] = field(default_factory=dict)  # also those that were asked, but not to the end

    def may_ask(self, slot: int) -> bool:
        """Return False if the time is over, and note that this shard was not asked to the end."""
        if self.clock() < self.until:
            self.begun.add(slot)
            return True
        self.unasked.setdefault(slot, Note(SHARD_LATE))
        return False

    def may_read(self, slot: int) -> bool:
        """Return True if places of a shard can still be shown: it was asked, or there is time to do it."""
        return slot in self.begun or self.may_ask(slot)


@contextmanager
def reaching(reach: FleetReach) -> Iterator[FleetReach]:
    """Let a question reach so far; inside another question to the same fleet, it is a part of that one."""
    outer = _reach.get()
    if outer is not None and outer.root == reach.root:
        yield outer
        return
    _reach.set(reach)
    try:
        yield reach
    finally:
        _reach.set(outer)  # no token: the events of an answer may be read in another context


def current_reach(root: str) -> FleetReach | None:
    """Return the question that is asked now to the fleet of a folder; None where nobody asks with an end."""
    reach = _reach.get()
    return reach if reach is not None and reach.root == root else None


def partial_notes(partial: Partial | None) -> tuple[Note, ...]:
    """Return the note on what a question did not reach, with the first shards and repositories of each; or none."""
    if partial is None:
        return ()
    shards = tuple(
        Note(
            SHARD_NOT_ASKED,
            {"shard": item.shard, "repositories": _first(item.repositories, _MOST_NAMED), "reason": item.reason},
        )
        for item in partial.unasked[:_MOST_SHARDS]
    )
    n_more = len(partial.unasked) - len(shards)
    values = {"count": len(partial.unasked), "total": partial.n_shards, "repositories": partial.n_repositories}
    more = (Note(AND_MORE, {"count": n_more}),) if n_more else ()
    return (Note(PARTIAL, values | {"shards": (*shards, *more)}),)


def _first(names: Sequence[str], most: int) -> tuple[str, ...]:
    return (*names[:most], *([str(Note(AND_MORE, {"count": len(names) - most}))] if len(names) > most else []))
