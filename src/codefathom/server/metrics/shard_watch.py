"""Whether each shard of the fleets of the server has somebody who answers for it, for `/readyz` and `/metrics`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock

from codefathom.fleet.shard_states import FleetState, StateOfShard

_KEPT_S = 5.0  # anybody may ask, as often as he likes
_MOST_SHARDS = 500  # with labels of their own; the sums are of all of them
_HELP = {
    "shards": "Shards of the fleets of the server.",
    "shards_unanswered": "Shards for which no machine answers.",
    "shard_chunks": "Chunks in a shard, which is called by the number at the beginning of the name of its folder.",
    "shard_holders": "Machines that hold a shard and answer.",
    "shard_looks_total": "Looks into a shard on the machines of a cluster that answer; a question needs several.",
    "shard_look_seconds_total": "Seconds that these looks took.",
}


class ShardWatch:
    """The shards of all fleets, asked when somebody wants to know, and not again for some seconds. Thread-safe."""

    def __init__(
        self, ask: Callable[[], Mapping[str, FleetState]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`ask` returns the state of each fleet, by the id of its project."""
        self._ask, self._clock = ask, clock
        self._lock = Lock()
        self._report: Mapping[str, FleetState] = {}
        self._asked_at = float("-inf")

    def report(self) -> Mapping[str, FleetState]:
        """Return the state of each fleet, by the id of its project."""
        with self._lock:
            if self._clock() - self._asked_at >= _KEPT_S:
                self._report = self._ask()
                self._asked_at = self._clock()
            return self._report

    def unanswered(self) -> tuple[str, ...]:
        """Return the shards that nobody answers for, by the names of their folders."""
        return tuple(item.shard.folder for _, item in self._shards() if not item.state.n_answering)

    def unreadable(self) -> int:
        """Return the number of fleets whose shards are not known."""
        return sum(bool(fleet.problem) and not fleet.shards for fleet in self.report().values())

    def n_shards(self) -> int:
        """Return the number of all shards."""
        return len(self._shards())

    def prometheus(self) -> str:
        """Return the numbers of all shards, and those of each of the first ones, in the text format of Prometheus."""
        shards = self._shards()
        if not shards:
            return ""
        lines = [*_about("shards"), f"codefathom_shards {len(shards)}"]
        lines += [*_about("shards_unanswered"), f"codefathom_shards_unanswered {len(self.unanswered())}"]
        for name, value_of in _VALUES.items():
            lines += [*_about(name), *_rows(name, shards[:_MOST_SHARDS], value_of)]
        return "\n".join(lines) + "\n"

    def _shards(self) -> list[tuple[str, StateOfShard]]:
        return [(project, item) for project, fleet in sorted(self.report().items()) for item in fleet.shards]


_VALUES: Mapping[str, Callable[[StateOfShard], float]] = {
    "shard_chunks": lambda item: item.shard.n_chunks,
    "shard_holders": lambda item: item.state.n_answering,
    "shard_looks_total": lambda item: item.state.n_calls,
    "shard_look_seconds_total": lambda item: round(item.state.seconds, 6),
}


def _rows(
    name: str, shards: Sequence[tuple[str, StateOfShard]], value_of: Callable[[StateOfShard], float]
) -> Iterator[str]:
    for project, item in shards:  # the id of a project has no sign that would have to be quoted
        yield f'codefathom_{name}{{project="{project}",shard="{item.shard.slot:05}"}} {value_of(item)}'


def _about(name: str) -> tuple[str, str]:
    kind = "counter" if name.endswith("_total") else "gauge"
    return f"# HELP codefathom_{name} {_HELP[name]}", f"# TYPE codefathom_{name} {kind}"
