"""A cluster of Ray: an actor on each of its machines, two of which can be asked for each shard.

Ray starts the actors and starts them again, knows which machines are there, and carries messages. Ours are the choice
of two machines for a shard, and the second question where the first machine is slow.
"""

from __future__ import annotations

import logging
import pickle
import socket
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from threading import Lock
from typing import Any

from codefathom import __version__
from codefathom.errors import SettingsError
from codefathom.fleet.cluster.shard_actor import ShardActor
from codefathom.fleet.cluster.shard_calls import ListNeeded, ShardCall, ShardList, ShardMessage, ShardReply, packed
from codefathom.system.extras import install_line

SETTING = "search.fleet_cluster"
NAMESPACE = "codefathom"
_CONNECT_S = 3.0
# A look into some shards takes some milliseconds. A machine that has not answered by now is waiting for something,
# such as its disk; the other one may have what is asked in memory.
HEDGE_S = 0.1
_AVOIDED_S = 1.0  # a machine whose actor has just died is asked second: Ray needs about 2 s to start it again
_LOOKED_S = 2.0  # how long a list of machines holds
_PAUSE_S = 0.05  # between two questions to a machine whose actor is being started
_THREADS = 8  # questions at a time in one actor


@dataclass(slots=True)
class _Bundle:
    """Calls to shards that the same machines hold, in order of preference."""

    nodes: tuple[str, ...]
    calls: tuple[ShardCall, ...]
    sent_at: float = 0.0
    next_node: int = 0  # to be asked, in `nodes`
    not_before: float = 0.0  # of the next message
    with_list: set[str] = field(default_factory=set)  # machines that were sent the list of shards


class RayCluster:
    """The cluster that this process is connected to. Safe to use from several threads."""

    def __init__(self, ray: Any, address: str) -> None:
        self._ray, self._address = ray, address
        self._lock = Lock()
        self._actors: dict[str, Any] = {}  # by machine
        self._nodes: tuple[str, ...] = ()
        self._looked_at = float("-inf")
        self._avoided: dict[str, float] = {}  # machines whose actor has died, until when

    @classmethod
    def connect(cls, address: str) -> RayCluster:
        """Return the cluster at HOST:PORT, the same each time. Raises SettingsError for one that cannot be asked."""
        return _connected(address)

    def ask(self, shards: ShardList, calls: Sequence[ShardCall], limit_s: float) -> Mapping[int, ShardReply]:
        """See `ShardCluster`."""
        replies: dict[int, ShardReply] = {}
        until = time.monotonic() + limit_s
        open_bundles = self._bundled(shards, calls)
        sent: dict[Any, tuple[_Bundle, str]] = {}  # by the reference of its answer
        while open_bundles and (now := time.monotonic()) < until:
            for bundle in open_bundles:
                if bundle.next_node < len(bundle.nodes) and now >= bundle.not_before:
                    self._send(shards, bundle, bundle.nodes[bundle.next_node], sent)
                    bundle.next_node += 1
                    bundle.not_before = now + HEDGE_S
            for reference in self._arrived(list(sent), open_bundles, until):
                bundle, node = sent.pop(reference)
                if any(bundle is other for other in open_bundles):
                    answer = self._answer(reference, node)
                    if isinstance(answer, list):
                        replies |= {call.slot: reply for call, reply in zip(bundle.calls, answer, strict=True)}
                        open_bundles = [other for other in open_bundles if other is not bundle]
                    elif isinstance(answer, ListNeeded):
                        bundle.with_list.add(node)
                        self._send(shards, bundle, node, sent)
                    else:
                        self._ask_others(shards, bundle)
        return replies

    def is_away(self, shards: ShardList, slot: int) -> bool:
        """See `ShardCluster`."""
        now = time.monotonic()
        return all(self._avoided.get(node, 0.0) > now for node in self._holders(shards.folder_of(slot)))

    # ---- messages

    def _bundled(self, shards: ShardList, calls: Sequence[ShardCall]) -> list[_Bundle]:
        bundles = defaultdict[tuple[str, ...], list[ShardCall]](list)
        for call in calls:
            bundles[self._in_order(shards, call.slot)].append(call)
        return [_Bundle(nodes, tuple(own)) for nodes, own in bundles.items()]

    def _send(self, shards: ShardList, bundle: _Bundle, node: str, sent: dict[Any, tuple[_Bundle, str]]) -> None:
        message = ShardMessage(shards.key, bundle.calls, shards if node in bundle.with_list else None)
        sent[self._actor(node).ask.remote(__version__, packed(message))] = bundle, node

    def _arrived(self, references: list[Any], bundles: Sequence[_Bundle], until: float) -> list[Any]:
        """Return references whose answers are there, after waiting for one until something is to be sent."""
        due = [bundle.not_before for bundle in bundles if bundle.next_node < len(bundle.nodes)]
        wait_s = max(min([until, *due]) - time.monotonic(), 0.001)
        if not references:
            time.sleep(min(wait_s, _PAUSE_S))
            return []
        return list(self._ray.wait(references, num_returns=1, timeout=wait_s, fetch_local=True)[0])

    def _answer(self, reference: Any, node: str) -> list[ShardReply] | ListNeeded | None:
        """Return the answer of an actor; None if it has died. Raises SettingsError for one of another version."""
        try:
            message: bytes = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError:
            raise  # a fault of this program
        except self._ray.exceptions.RayError as error:
            if "No module named 'codefathom'" in str(error):
                raise SettingsError(
                    f"Codefathom is not installed on a machine of the cluster {self._address!r}",
                    hint=f"install codefathom {__version__} where Ray runs, on each machine",
                ) from error
            with self._lock:
                self._actors.pop(node, None)
                self._avoided[node] = time.monotonic() + _AVOIDED_S
                self._looked_at = float("-inf")
            return None
        if len(message) < _LONGEST_VERSION and message[:1] != pickle.PROTO:
            raise SettingsError(
                f"an actor of the cluster {self._address!r} runs Codefathom {message.decode()}, and this is "
                f"{__version__}",
                hint="install the same version on all machines, and start Ray there again (`ray stop`, `ray start`)",
            )
        return pickle.loads(message)  # type: ignore[no-any-return]

    def _ask_others(self, shards: ShardList, bundle: _Bundle) -> None:
        """Have the calls of an actor that has died sent to the other machine, or to whoever holds the shards by now."""
        if bundle.next_node < len(bundle.nodes):
            bundle.not_before = 0.0
            return
        bundle.nodes += self._in_order(shards, bundle.calls[0].slot)
        bundle.not_before = time.monotonic() + _PAUSE_S

    # ---- machines

    def _in_order(self, shards: ShardList, slot: int) -> tuple[str, ...]:
        """Return the machines that hold a shard, those whose actor has just died last."""
        now = time.monotonic()
        holders = self._holders(shards.folder_of(slot))
        return tuple(sorted(holders, key=lambda node: self._avoided.get(node, 0.0) > now))

    def _holders(self, folder: str) -> list[str]:
        """Return the two machines that hold a shard: where one comes or goes, the fewest shards move."""
        return sorted(self._machines(), key=lambda node: blake2b(f"{folder} {node}".encode()).digest())[:2]

    def _machines(self) -> tuple[str, ...]:
        with self._lock:
            if time.monotonic() - self._looked_at > _LOOKED_S:
                self._nodes = tuple(sorted(node["NodeID"] for node in self._ray.nodes() if node["Alive"]))
                self._looked_at = time.monotonic()
            return self._nodes

    def _actor(self, node: str) -> Any:
        """Return the actor of a machine, which is started where there is none; it stays when this process ends."""
        with self._lock:
            if node not in self._actors:
                on_node = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
                self._actors[node] = (
                    self._ray.remote(ShardActor)
                    .options(
                        name=f"shards {node}",
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


_LONGEST_VERSION = 100


@cache
def _connected(address: str) -> RayCluster:
    try:
        import ray
        import ray.util.scheduling_strategies
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"{SETTING} = {address!r} needs the library {error.name!r}, which is not installed",
            hint=install_line("cluster"),
        ) from error
    _check_address(ray, address)
    if not ray.is_initialized():
        try:
            ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            raise SettingsError(f"cannot join the Ray cluster at {address!r}: {error}", hint=_START) from error
    elif ray.get_runtime_context().gcs_address != address:
        raise SettingsError(
            f"this process is connected to the Ray cluster at {ray.get_runtime_context().gcs_address!r}, and not to "
            f"{address!r}",
            hint=f"set {SETTING} to one address",
        )
    return RayCluster(ray, address)


_START = "run `ray start --head` on one machine, and `ray start --address=HOST:PORT` on the others and on this one"


def _check_address(ray: Any, address: str) -> None:
    """Raise SettingsError where nothing answers: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535 or "/" in host:
        raise SettingsError(f"{SETTING} cannot be {address!r}", hint="give the address of a Ray cluster as HOST:PORT")
    if host in ("localhost", "127.0.0.1", "::1"):
        host = (
            ray.util.get_node_ip_address()
        )  # Ray takes these names for the address by which others reach this machine
    with suppress(OSError), socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S):
        return
    raise SettingsError(f"no Ray cluster answers at {address!r}", hint=_START)
