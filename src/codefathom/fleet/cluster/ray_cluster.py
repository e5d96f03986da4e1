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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from codefathom.errors import SettingsError
from codefathom.fleet.cluster.cluster_machines import NAMESPACE, ClusterMachines
from codefathom.fleet.cluster.code_word import code_word
from codefathom.fleet.cluster.ray_tasks import RayTasks, Run
from codefathom.fleet.cluster.shard_calls import (
    LOOKS,
    ListNeeded,
    LookCount,
    ShardCall,
    ShardList,
    ShardMessage,
    ShardReply,
    ShardState,
    packed,
)
from codefathom.system.extras import install_line

SETTING = "search.fleet_cluster"
_CONNECT_S = 3.0
# A look into some shards takes some milliseconds. A machine that has not answered by now is waiting for something,
# such as its disk; the other one may have what is asked in memory.
HEDGE_S = 0.1
_PAUSE_S = 0.05  # between two questions to a machine whose actor is being started


@dataclass(slots=True, eq=False)
class _Bundle:
    """Calls to shards that travel in one message, to one machine after the other.

    At first these are all calls of a question to a machine. Where it does not answer they become parts, as the second
    machines of its shards differ.
    """

    nodes: tuple[str, ...]
    calls: tuple[ShardCall, ...]
    next_node: int = 0  # to be asked, in `nodes`
    not_before: float = 0.0  # of the next message
    with_list: set[str] = field(default_factory=set)  # machines that were sent the list of shards
    is_alone: bool = False  # no other machine is asked, and this one once
    is_lost: bool = False  # its machine will not answer
    whole: _Bundle | None = None  # that this is a part of

    @property
    def due(self) -> float:
        """When something is to be done for it, if no answer comes."""
        return self.not_before if self.is_to_part or self.next_node < len(self.nodes) else float("inf")

    @property
    def is_to_part(self) -> bool:
        """Return True if it becomes parts once it is due."""
        return self.whole is None and not self.is_alone and self.next_node > 0


class RayCluster:
    """The cluster that this process is connected to. Safe to use from several threads."""

    def __init__(self, ray: Any, address: str) -> None:
        self._ray = ray
        self.machines = ClusterMachines(ray, address)

    @classmethod
    def connect(cls, address: str) -> RayCluster:
        """Return the cluster at HOST:PORT, the same each time. Raises SettingsError for one that cannot be asked."""
        return _connected(address)

    def ask(self, shards: ShardList, calls: Sequence[ShardCall], limit_s: float) -> Mapping[int, ShardReply]:
        """See `ShardCluster`."""
        replies: dict[int, ShardReply] = {}
        for bundle, answer in self._exchange(shards, self._bundled(shards, calls), limit_s):
            replies |= {call.slot: reply for call, reply in zip(bundle.calls, answer, strict=True)}
        return replies

    def look(self, shards: ShardList, limit_s: float) -> Mapping[int, ShardState]:
        """Ask each holder of each shard, and return how many there are and how many answered. Raises FathomError."""
        by_node = defaultdict[str, list[ShardCall]](list)
        holders = {shard.slot: self.machines.holders(shard.folder) for shard in shards.listed}
        for slot, nodes in holders.items():
            for node in nodes:
                by_node[node].append(ShardCall(slot, LOOKS))
        bundles = [_Bundle((node,), tuple(calls), is_alone=True) for node, calls in by_node.items()]
        answers = defaultdict[int, list[LookCount]](list)
        for bundle, answer in self._exchange(shards, bundles, limit_s):
            for call, reply in zip(bundle.calls, answer, strict=True):
                if reply.error is None:
                    answers[call.slot].append(reply.value)
        return {slot: _state_of(len(nodes), answers[slot]) for slot, nodes in holders.items()}

    def meet(self, limit_s: float) -> None:
        """Have each machine say which code it runs: one with other code is not used then. Raises SettingsError."""
        nobody = ShardList("", "", 0, (), {})
        for _ in self._exchange(
            nobody, [_Bundle((node,), (), is_alone=True) for node in self.machines.usable()], limit_s
        ):
            pass
        self.machines.usable()

    def tasks(self, most_deaths: int) -> RayTasks:
        """Return what starts tasks, each again as often as its process may die."""
        return RayTasks(self._ray, self.machines, _on_its_machine, most_deaths)

    def _exchange(
        self, shards: ShardList, bundles: list[_Bundle], limit_s: float
    ) -> Iterator[tuple[_Bundle, list[ShardReply]]]:
        """Yield the bundles that are answered within the time, or their parts, each call once."""
        until = time.monotonic() + limit_s
        open_bundles = bundles
        sent: dict[Any, tuple[_Bundle, str]] = {}  # by the reference of its answer
        while open_bundles and time.monotonic() < until:
            open_bundles = self._sent_on(shards, open_bundles, sent)
            for reference in self._arrived(list(sent), open_bundles, until):
                bundle, node = sent.pop(reference)
                waiting = [other for other in open_bundles if bundle in (other, other.whole)]
                answer = self._answer(reference, node) if waiting else None
                if isinstance(answer, list):
                    yield from ((part, _own_replies(part, bundle, answer)) for part in waiting)
                if isinstance(answer, list) or (answer is None and bundle.is_alone):
                    open_bundles = [other for other in open_bundles if other not in waiting]
                elif isinstance(answer, ListNeeded):
                    bundle.with_list.add(node)
                    self._send(shards, bundle, node, sent)
                else:
                    for part in waiting:
                        self._ask_others(shards, part)

    def is_away(self, shards: ShardList, slot: int) -> bool:
        """See `ShardCluster`."""
        return self.machines.are_avoided(self.machines.holders(shards.folder_of(slot)))

    # ---- messages

    def _bundled(self, shards: ShardList, calls: Sequence[ShardCall]) -> list[_Bundle]:
        bundles = defaultdict[tuple[str, ...], list[ShardCall]](list)
        for call in calls:
            bundles[self.machines.in_order(shards.folder_of(call.slot))[:1]].append(call)
        return [_Bundle(nodes, tuple(own)) for nodes, own in bundles.items()]

    def _sent_on(
        self, shards: ShardList, bundles: Sequence[_Bundle], sent: dict[Any, tuple[_Bundle, str]]
    ) -> list[_Bundle]:
        """Send what is due, and return what waits for an answer then."""
        now = time.monotonic()
        waiting: list[_Bundle] = []
        for bundle in bundles:
            waiting += self._parts(shards, bundle) if bundle.is_to_part and now >= bundle.not_before else [bundle]
        for bundle in waiting:
            if now >= bundle.due and not bundle.is_to_part:
                self._send(shards, bundle, bundle.nodes[bundle.next_node], sent)
                bundle.next_node += 1
                bundle.not_before = now + HEDGE_S
        return waiting

    def _parts(self, shards: ShardList, bundle: _Bundle) -> list[_Bundle]:
        """Return the calls of a message that is late or lost, for the other machines of their shards."""
        parts = defaultdict[tuple[str, ...], list[ShardCall]](list)
        for call in bundle.calls:
            nodes = self.machines.in_order(shards.folder_of(call.slot))
            others = tuple(node for node in nodes if node not in bundle.nodes)
            parts[others or (nodes if bundle.is_lost else ())].append(call)
        # Ray may be starting the actor of a machine that is the only one.
        pause_until = time.monotonic() + _PAUSE_S
        return [
            _Bundle(nodes, tuple(own), not_before=pause_until if set(nodes) & set(bundle.nodes) else 0.0, whole=bundle)
            for nodes, own in parts.items()
        ]

    def _send(self, shards: ShardList, bundle: _Bundle, node: str, sent: dict[Any, tuple[_Bundle, str]]) -> None:
        message = ShardMessage(shards.key, bundle.calls, shards if node in bundle.with_list else None)
        sent[self.machines.actor(node).ask.remote(code_word(), packed(message))] = bundle, node

    def _arrived(self, references: list[Any], bundles: Sequence[_Bundle], until: float) -> list[Any]:
        """Return references whose answers are there, after waiting for one until something is to be sent."""
        wait_s = max(min([until, *(bundle.due for bundle in bundles)]) - time.monotonic(), 0.001)
        if not references:
            time.sleep(min(wait_s, _PAUSE_S))
            return []
        return list(self._ray.wait(references, num_returns=1, timeout=wait_s, fetch_local=True)[0])

    def _answer(self, reference: Any, node: str) -> list[ShardReply] | ListNeeded | None:
        """Return the answer of an actor; None if it has died, or runs other code."""
        try:
            message: bytes = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError:
            raise  # a fault of this program
        except self._ray.exceptions.RayError as error:
            if "No module named 'codefathom'" in str(error):
                self.machines.refuses(node, "")
            else:
                self.machines.has_died(node)
            return None
        if len(message) < _LONGEST_WORD and message[:1] != pickle.PROTO:
            self.machines.refuses(node, message.decode())
            return None
        return pickle.loads(message)  # type: ignore[no-any-return]

    def _ask_others(self, shards: ShardList, bundle: _Bundle) -> None:
        """Have calls that an actor does not answer sent to the other machine, or to whoever holds the shards by now."""
        if bundle.is_to_part or bundle.next_node < len(bundle.nodes):
            bundle.is_lost, bundle.not_before = True, 0.0
            return
        bundle.nodes += self.machines.in_order(shards.folder_of(bundle.calls[0].slot))
        bundle.not_before = time.monotonic() + _PAUSE_S


def _own_replies(part: _Bundle, bundle: _Bundle, answer: Sequence[ShardReply]) -> list[ShardReply]:
    """Return the replies to the calls of a part, or of the whole, of a message."""
    replies = {call.slot: reply for call, reply in zip(bundle.calls, answer, strict=True)}
    return [replies[call.slot] for call in part.calls]


def _on_its_machine(run: Run, word: str, message: bytes) -> tuple[str, bytes]:
    """Return the machine of Ray on which a task runs, and what it gives."""
    import ray

    return ray.get_runtime_context().get_node_id(), run(word, message)


def _state_of(n_holders: int, answers: Sequence[LookCount]) -> ShardState:
    n_calls, seconds = sum(item.n_calls for item in answers), sum(item.seconds for item in answers)
    return ShardState(n_holders, len(answers), n_calls, seconds)


_LONGEST_WORD = 100


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
        _check_token(ray, address)
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


def _check_token(ray: Any, address: str) -> None:
    """Raise SettingsError for a token that the cluster does not take: Ray itself would try it for 20 s."""
    try:
        ray._raylet.GcsClient(address=address)
    except ray.exceptions.AuthenticationError as error:
        raise SettingsError(
            f"the Ray cluster at {address!r} does not accept the token of this process, or needs one",
            hint="set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN as on the machines of the cluster",
        ) from error
    except ray.exceptions.RayError:
        return  # `ray.init` says what it is
