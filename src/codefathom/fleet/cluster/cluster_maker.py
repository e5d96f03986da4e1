"""Makes the shards of a run by tasks of Ray: it chooses the machines, and starts a task again whose machine is lost."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from codefathom.errors import FathomError, IndexingError
from codefathom.fleet.cluster.code_word import code_word
from codefathom.fleet.cluster.ray_cluster import RayCluster
from codefathom.fleet.cluster.ray_tasks import RayTasks, TaskLostError
from codefathom.fleet.cluster.shard_calls import packed
from codefathom.fleet.cluster.shard_task import NoText, ShardTask, TaskOutcome, UnseenFile, make_shard
from codefathom.fleet.fleet_place import name_of_fleet
from codefathom.fleet.manifest import Manifest
from codefathom.fleet.shard_parts import wrong_size
from codefathom.fleet.shard_store import StoreAddress
from codefathom.fleet.shard_stores import open_store
from codefathom.fleet.shards import SHARDS, BuiltShard, MadeShard, ShardOrder, build, folder_name
from codefathom.project.location import Location
from codefathom.stores.folder import Folder
from codefathom.system.stopping import check_stopped
from codefathom.types import Progress

_MEET_S = 30.0  # for the actors of all machines to begin, which say what code they run
_LOOK_S = 1.0  # between two looks whether the run is to end
_MOST_DEATHS = 3  # of the process of one task; Ray starts it again
_AHEAD = 2  # tasks for each processor: those that wait are sent already
_MOST_REFUSALS = 20  # machines with other code that get the same task
_MOST_NAMES = 3


class _Sent(NamedTuple):
    order: ShardOrder
    n_refusals: int = 0


class ClusterMaker:
    """Has shards made on the machines of a cluster; see `ShardMaker`."""

    def __init__(
        self,
        place: Location,
        manifest: Manifest,
        store: StoreAddress,
        cluster: RayCluster,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._place, self._manifest, self._on_progress = place, manifest, on_progress
        self._address, self._store = store, open_store(store)
        self._cluster = cluster
        self._shards = Folder(place.root).below(SHARDS)
        self._notes: list[str] = []
        # A task has one processor: several of them fill a machine.
        index = place.settings.index._replace(workers=1)
        self._settings = place.settings._replace(index=index)

    @property
    def notes(self) -> Sequence[str]:
        """See `ShardMaker`."""
        return self._notes

    def make(self, orders: Iterable[ShardOrder]) -> Iterator[MadeShard]:
        """See `ShardMaker`; several at a time, in the order in which they are ready."""
        self._cluster.meet(_MEET_S)
        waiting = iter(orders)
        tasks = self._cluster.tasks(_MOST_DEATHS)
        sent: dict[Any, _Sent] = {}
        n_done = 0
        try:
            while True:
                while len(sent) < _AHEAD * tasks.n_processors and (order := next(waiting, None)):
                    if made := self._made_here(order):
                        yield made
                    else:
                        sent[self._send(tasks, order)] = _Sent(order)
                if not sent:
                    return
                check_stopped()
                for reference in tasks.ended(list(sent), _LOOK_S):
                    item = sent.pop(reference)
                    outcome = self._outcome(tasks, reference, item.order)
                    if outcome is None:
                        if item.n_refusals >= _MOST_REFUSALS:
                            raise IndexingError(
                                f"no machine of the cluster makes the shard of {_names(item.order)}",
                                hint="see with `ray status` which machines there are, and what their logs say",
                            )
                        sent[self._send(tasks, item.order)] = item._replace(n_refusals=item.n_refusals + 1)
                        continue
                    n_done += 1
                    self._on_progress(Progress("index", n_done, n_done + len(sent), message=_names(item.order)))
                    yield MadeShard(item.order, self._arrived(outcome, item.order))
        finally:
            for reference in sent:
                tasks.cancel(reference)

    def _made_here(self, order: ShardOrder) -> MadeShard | None:
        """Return a shard that need not be made on another machine."""
        if not order.files:
            return MadeShard(order, None)
        name = folder_name(order, self._place)
        if built := self._store.find(name):  # of a run that was ended before its switch
            return MadeShard(order, self._arrived(built, order))
        if self._shards.below(name).exists():  # begun, or made, by a run of this machine alone
            return MadeShard(order, self._built_here(order))
        return None

    def _built_here(self, order: ShardOrder) -> BuiltShard | None:
        return build(order, self._place, self._on_progress)

    def _send(self, tasks: RayTasks, order: ShardOrder) -> Any:
        if not order.parts:  # of an earlier version of fathom, which kept none to compare with
            order = order._replace(before=None)
        fleet = name_of_fleet(self._place)
        task = ShardTask(order, fleet, self._settings, self._address)
        return tasks.send(make_shard, code_word(), packed(task))

    def _outcome(self, tasks: RayTasks, reference: Any, order: ShardOrder) -> TaskOutcome | None:
        """Return what came of a task; None where a machine cannot do it, which is not used again."""
        try:
            node, message = tasks.answer(reference)
        except TaskLostError as error:
            raise IndexingError(
                f"the shard of {_names(order)} was not made: its task was lost {_MOST_DEATHS + 1} times, {error}",
                hint="see with `ray status` and in the logs of Ray why its processes end, such as for want of memory",
            ) from error
        if not node:
            self._cluster.meet(_MEET_S)
            return None
        if message[:1] != pickle.PROTO:
            tasks.refuses(node, message.decode())
            return None
        return cast(TaskOutcome, pickle.loads(message))

    def _arrived(self, outcome: TaskOutcome, order: ShardOrder) -> BuiltShard | None:
        """Return the shard of a task, whose files this machine sees. Raises FathomError."""
        if isinstance(outcome, FathomError):
            raise outcome
        if isinstance(outcome, NoText):
            return None
        if isinstance(outcome, UnseenFile):
            self._notes.append(
                f"{_names(order)}: indexed on this machine, as one of the cluster does not see {outcome.path!r} as it "
                "is here; put the repositories and the folder of the fleet on a disk that all machines see"
            )
            return self._built_here(order)
        name = outcome.shard.folder
        if self._place.settings.search.fleet_store and wrong_size(self._shards.below(name), outcome.parts):
            self._store.bring(name, outcome.parts, self._shards)
        if wrong_size(self._shards.below(name), outcome.parts):
            raise IndexingError(
                f"a machine of the cluster made the shard {name}, and it is not in {self._shards.path!r} here",
                hint="have the folder of the fleet on a disk that all machines see at the same path",
            )
        return outcome


def _names(order: ShardOrder) -> str:
    """Return the names of the repositories of a shard, for a person."""
    names = sorted(order.trees)
    return ", ".join(names[:_MOST_NAMES]) + (
        f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    )
