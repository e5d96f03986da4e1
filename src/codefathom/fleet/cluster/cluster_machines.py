"""The machines of a cluster of Ray: which of them can be asked, which hold a shard, and the actor of each.

A machine whose code is another one is left out while others can be asked, and so is one that Ray drains before it
leaves. So a cluster takes a new version of fathom machine by machine, while questions run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from hashlib import blake2b
from threading import Lock
from typing import Any

from codefathom.errors import SettingsError
from codefathom.fleet.cluster.code_word import code_word
from codefathom.fleet.cluster.shard_actor import ShardActor

NAMESPACE = "codefathom"
_AVOIDED_S = 1.0  # a machine whose actor has just died is asked second: Ray needs about 2 s to start it again
_LOOKED_S = 2.0  # how long a list of machines holds
# A machine with other code is tried again after so long: it may have been updated, and its actor begins anew then.
_REFUSED_S = 10.0
_SWEPT_S = 60.0  # between two looks for actors of other code that nobody asks any more
_UNUSED_S = 600.0
_IDLE_WAIT_S = 2.0
_THREADS = 8  # questions at a time in one actor


class ClusterMachines:
    """The machines of the cluster that this process is connected to. Safe to use from several threads."""

    def __init__(self, ray: Any, address: str) -> None:
        self._ray, self._address = ray, address
        self._lock = Lock()
        self._actors: dict[str, Any] = {}  # by machine
        self._nodes: tuple[str, ...] = ()
        self._looked_at = self._swept_at = float("-inf")
        self._avoided: dict[str, float] = {}  # machines whose actor has died, until when
        self._refused: dict[str, tuple[str, float]] = {}  # machines with other code: its word, and until when

    def usable(self) -> tuple[str, ...]:
        """Return the machines that can be asked. Raises SettingsError where all of them run other code."""
        with self._lock:
            now = time.monotonic()
            if now - self._looked_at > _LOOKED_S:
                self._nodes = self._alive()
                self._looked_at = now
            self._refused = {node: item for node, item in self._refused.items() if item[1] > now}
            usable = tuple(node for node in self._nodes if node not in self._refused)
            if usable or not self._nodes:
                return usable
            word = self._refused[self._nodes[0]][0]
        if not word:
            raise SettingsError(
                f"Codefathom is not installed on a machine of the cluster {self._address!r}",
                hint=f"install codefathom {code_word().partition(' ')[0]} where Ray runs, on each machine",
            )
        raise SettingsError(
            f"an actor of the cluster {self._address!r} runs Codefathom {word}, and this is {code_word()}",
            hint="install the same version, with the same code, on all machines; Ray need not be started again",
        )

    def others(self) -> tuple[str, ...]:
        """Return the machines that are there and cannot be asked now. Raises SettingsError where none can."""
        usable = self.usable()
        return tuple(node["NodeID"] for node in self._ray.nodes() if node["Alive"] and node["NodeID"] not in usable)

    def holders(self, folder: str) -> list[str]:
        """Return the two machines that hold a shard: where one comes or goes, the fewest shards move."""
        return sorted(self.usable(), key=lambda node: blake2b(f"{folder} {node}".encode()).digest())[:2]

    def in_order(self, folder: str) -> tuple[str, ...]:
        """Return the machines that hold a shard, those whose actor has just died last."""
        now = time.monotonic()
        return tuple(sorted(self.holders(folder), key=lambda node: self._avoided.get(node, 0.0) > now))

    def are_avoided(self, nodes: Sequence[str]) -> bool:
        """Return True if the actors of all these machines have just died."""
        now = time.monotonic()
        return all(self._avoided.get(node, 0.0) > now for node in nodes)

    def actor(self, node: str) -> Any:
        """Return the actor of a machine, which is started where there is none; it stays when this process ends.

        Its name has the word of this code: gateways of another version have actors of their own.
        """
        with self._lock:
            if node not in self._actors:
                on_node = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
                self._actors[node] = (
                    self._ray.remote(ShardActor)
                    .options(
                        name=f"{_NAME} {code_word()} {node}",
                        namespace=NAMESPACE,
                        lifetime="detached",
                        get_if_exists=True,
                        max_restarts=-1,
                        max_concurrency=_THREADS,
                        num_cpus=0,  # it may be on any machine, however busy
                        scheduling_strategy=on_node,
                    )
                    .remote()
                )
            return self._actors[node]

    def has_died(self, node: str) -> None:
        """Ask a machine second for a while: its actor has died."""
        with self._lock:
            self._actors.pop(node, None)
            self._avoided[node] = time.monotonic() + _AVOIDED_S
            self._looked_at = float("-inf")

    def refuses(self, node: str, word: str) -> None:
        """Leave a machine out for a while that runs other code, or has none; then its actor begins anew."""
        with self._lock:
            actor = self._actors.pop(node, None)
            self._refused[node] = word, time.monotonic() + _REFUSED_S
        if actor is not None:
            self._ray.kill(actor)  # it was started under the word of this code: nobody else can ask it

    def _alive(self) -> tuple[str, ...]:
        """Return the machines that are there, without those that are about to leave while there are others."""
        alive = sorted(node["NodeID"] for node in self._ray.nodes() if node["Alive"])
        if time.monotonic() - self._swept_at > _SWEPT_S:
            self._swept_at = time.monotonic()
            self._end_unused()
        leaving = self._ray._private.state.state.get_draining_nodes()
        return tuple(node for node in alive if node not in leaving) or tuple(alive)

    def _end_unused(self) -> None:
        """End the actors of other versions that nobody has asked for a while: their gateways are updated, too."""
        listed = self._ray.util.list_named_actors(all_namespaces=True)
        own = f"{_NAME} {code_word()} "
        for name in (item["name"] for item in listed if item["namespace"] == NAMESPACE):
            if not name.startswith(f"{_NAME} ") or name.startswith(own):
                continue
            try:
                actor = self._ray.get_actor(name, namespace=NAMESPACE)
                if self._ray.get(actor.idle_s.remote(), timeout=_IDLE_WAIT_S) > _UNUSED_S:
                    self._ray.kill(actor)
            except (AttributeError, ValueError, self._ray.exceptions.RayError):
                continue  # it is gone, or busy, or too old to say it


_NAME = "shards"
