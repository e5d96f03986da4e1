"""The catalogues and vectors of the shards of a fleet, asked on the machines of a cluster.

How their answers are put together is the same as on one machine: that is in the classes which these extend. Calls to
several shards travel together, one message for each actor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from codefathom.errors import FathomError, IndexingError
from codefathom.facts.reasons import SHARD_AWAY, SHARD_LATE, Note
from codefathom.fleet.cluster.shard_calls import ShardCall, ShardList, ShardReply, VectorsPart, plain
from codefathom.fleet.manifest import Manifest
from codefathom.fleet.reach import current_reach
from codefathom.fleet.shard_catalogs import ShardCatalogs
from codefathom.fleet.shard_store import StoreAddress
from codefathom.fleet.shard_vectors import ShardVectors, open_vectors
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import CheckedText

_T = TypeVar("_T")
_Item = TypeVar("_Item")
_Arguments = ParamSpec("_Arguments")
_MOST_TEXTS = 200  # files whose texts travel in one message


class ShardCluster(Protocol):
    """Whoever has shards asked elsewhere."""

    def ask(self, shards: ShardList, calls: Sequence[ShardCall], limit_s: float) -> Mapping[int, ShardReply]:
        """Return the replies that came within the time, by shard; a call for each shard at most. Raises FathomError."""
        ...

    def is_away(self, shards: ShardList, slot: int) -> bool:
        """Return True if no machine that holds a shard can be asked now."""
        ...


class ClusterCatalogs(ShardCatalogs):
    """The catalogue of a fleet whose shards are read on other machines. Safe to use from several threads."""

    def __init__(
        self, manifest: Manifest, cluster: ShardCluster, limit_s: float, store: StoreAddress | None = None
    ) -> None:
        """`limit_s` is the time for what has no end of its own, such as a list of symbols."""
        super().__init__(manifest)
        self._cluster, self._limit_s = cluster, limit_s
        self._list = ShardList.of(manifest, store)
        self._meta: dict[tuple[str, str], str] = {}

    def catalog(self, slot: int) -> Catalog:
        """Return what asks the catalogue of a shard for one thing at a time. Raises DamagedError."""
        if slot in self.broken:
            raise self._broken(slot)
        return cast(Catalog, _RemoteCatalog(self, slot))

    def values(self, calls: Sequence[ShardCall]) -> dict[int, Any]:
        """Return what each shard gives; one that does not is noted with the question, or is an error if it has no end.

        Raises FathomError.
        """
        reach = current_reach(self._list.root)
        limit_s = self._limit_s if reach is None else reach.until - reach.clock()
        replies = self._cluster.ask(self._list, calls, limit_s) if calls else {}
        values: dict[int, Any] = {}
        for slot in (call.slot for call in calls):
            reply = replies.get(slot)
            if reply is None:
                problem = Note(SHARD_AWAY if self._cluster.is_away(self._list, slot) else SHARD_LATE)
            elif reply.away is not None:
                problem = reply.away
            elif reply.problem is not None:
                problem = reply.problem
                self.broken[slot] = problem
            elif reply.error is not None:
                raise reply.error
            else:
                values[slot] = reply.value
                continue
            if reach is None:
                raise self._broken(slot) if slot in self.broken else self._away(slot, problem)
            reach.unasked.setdefault(slot, problem)
        return values

    def value(self, call: ShardCall) -> Any:
        """Return what one shard gives. Raises FathomError."""
        values = self.values([call])
        if call.slot not in values:
            raise self._broken(call.slot) if call.slot in self.broken else self._away(call.slot, Note(SHARD_AWAY))
        return values[call.slot]

    def _away(self, slot: int, problem: Note) -> FathomError:
        return IndexingError(
            f"shard {self.shards[slot].folder} of the fleet cannot be asked: {problem}",
            hint="see with `ray status` that the machines of the cluster run, and ask again",
        )

    def _each(
        self,
        slots: Iterable[int],
        read: Callable[Concatenate[Catalog, _Arguments], _T],
        *values: _Arguments.args,
        **named: _Arguments.kwargs,
    ) -> Iterator[_T]:
        arguments = tuple(map(plain, values))
        calls = [ShardCall(slot, read.__name__, arguments, named) for slot in slots if self.reached(slot)]
        return iter(self.values(calls).values())

    def _own(self, own_values: Mapping[int, list[_Item]], read: Callable[[Catalog, list[_Item]], _T]) -> Iterator[_T]:
        calls = [ShardCall(slot, read.__name__, (own,)) for slot, own in own_values.items() if self._named(slot)]
        return iter(self.values(calls).values())

    def _is_home(self, slot: int, path: str) -> bool:
        return self._manifest.home_of(path) == path  # without a look into the shard

    def get_meta(self, key: str, default: str = "") -> str:
        """Return a value that the shards have stored. A generation is never written: it is asked for once."""
        if (key, default) not in self._meta:
            self._meta[key, default] = super().get_meta(key, default)
        return self._meta[key, default]


class _RemoteCatalog:
    """The catalogue of one shard on another machine."""

    def __init__(self, shards: ClusterCatalogs, slot: int) -> None:
        self._shards, self._slot = shards, slot

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda *values, **named: self._shards.value(
            ShardCall(self._slot, method, tuple(map(plain, values)), named)
        )

    def texts(self, paths: Sequence[str]) -> Iterator[CheckedText]:
        """Yield the texts of files; not all of them travel at once."""
        for start in range(0, len(paths), _MOST_TEXTS):
            yield from self._shards.value(ShardCall(self._slot, "texts", (paths[start : start + _MOST_TEXTS],)))


class ClusterVectors(ShardVectors):
    """The vectors of a fleet whose shards are read on other machines."""

    def __init__(self, shards: ClusterCatalogs, part: VectorsPart) -> None:
        super().__init__(shards, lambda slot: open_vectors(shards, slot, *part))
        self._cluster_shards, self._part = shards, part

    def _each_nearest(self, arguments: Mapping[int, tuple[Any, ...]]) -> Iterator[list[tuple[int, float]]]:
        slots = (slot for slot in arguments if self._shards.reached(slot))
        calls = [ShardCall(slot, "nearest", arguments[slot], vectors=self._part) for slot in slots]
        return iter(self._cluster_shards.values(calls).values())
