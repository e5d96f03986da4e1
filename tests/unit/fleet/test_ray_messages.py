"""Which messages a question sends to the machines of a cluster, with a stand-in for Ray that says what it was asked."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from codefathom.fleet.cluster.ray_cluster import RayCluster
from codefathom.fleet.cluster.shard_calls import ShardCall, ShardList, ShardMessage, ShardReply, packed
from codefathom.fleet.manifest import Shard

LIMIT_S = 60.0
NODES = ("a", "b", "c")
SHARDS = ShardList("/fleet", "identity", 1, tuple(Shard(n, f"shard-{n}", "", "", 1, 1, 1, 1) for n in range(1, 31)), {})


class Reference(NamedTuple):
    """A message on its way."""

    node: str
    slots: tuple[int, ...]


class DeadError(Exception):
    """An actor has died."""


class OwnFaultError(DeadError):
    """A fault of the program in an actor."""


class StandIn:
    """What `RayCluster` asks of Ray. Machines that are hung do not answer, those that are dead say so."""

    exceptions = SimpleNamespace(RayError=DeadError, RayTaskError=OwnFaultError)
    _private = SimpleNamespace(state=SimpleNamespace(state=SimpleNamespace(get_draining_nodes=dict)))

    def __init__(self, nodes: Sequence[str]) -> None:
        self._nodes = nodes
        self.sent: list[Reference] = []
        self.hung, self.dead = set[str](), set[str]()
        strategies = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: node)
        self.util = SimpleNamespace(scheduling_strategies=strategies, list_named_actors=lambda all_namespaces: [])

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": node, "Alive": True} for node in self._nodes]

    def remote(self, _: type) -> Any:
        return SimpleNamespace(options=lambda **options: SimpleNamespace(remote=lambda: self._actor(options)))

    def _actor(self, options: dict[str, Any]) -> Any:
        def ask(_: str, message: bytes) -> Reference:
            question: ShardMessage = pickle.loads(message)
            self.sent.append(Reference(options["scheduling_strategy"], tuple(call.slot for call in question.calls)))
            return self.sent[-1]

        return SimpleNamespace(ask=SimpleNamespace(remote=ask))

    def wait(self, references: list[Reference], timeout: float, **_: object) -> tuple[list[Reference], None]:
        ready = [reference for reference in references if reference.node not in self.hung]
        if not ready:
            time.sleep(min(timeout, 0.01))
        return ready[:1], None

    def get(self, reference: Reference) -> bytes:
        if reference.node in self.dead:
            raise DeadError
        return packed([ShardReply(f"{reference.node} {slot}") for slot in reference.slots])


def asked(ray: StandIn) -> dict[int, str]:
    """Ask for something of each shard, and return who answered."""
    calls = [ShardCall(shard.slot, "counts") for shard in SHARDS.listed]
    replies = RayCluster(ray, "10.0.0.1:1").ask(SHARDS, calls, LIMIT_S)
    values = {slot: str(reply.value).split() for slot, reply in replies.items()}
    assert all(int(own) == slot for slot, (_, own) in values.items())
    return {slot: node for slot, (node, _) in values.items()}


def test_a_question_is_one_message_for_each_machine() -> None:
    ray = StandIn(NODES)
    answered = asked(ray)
    assert set(answered) == {shard.slot for shard in SHARDS.listed}
    assert sorted(reference.node for reference in ray.sent) == list(NODES)


@pytest.mark.parametrize("problem", ["hung", "dead"])
def test_what_a_machine_does_not_answer_goes_to_the_others(problem: str) -> None:
    ray = StandIn(NODES)
    before = asked(ray)
    ray.sent.clear()
    getattr(ray, problem).add("b")
    answered = asked(ray)
    assert set(answered.values()) == {"a", "c"}
    assert all(answered[slot] == node for slot, node in before.items() if node != "b")
    assert sorted(answered) == sorted(before)
    # The shards of one machine have two others for their second.
    assert Counter(reference.node for reference in ray.sent) == {"a": 2, "b": 1, "c": 2}


def test_a_single_machine_is_asked_again_once_it_is_there() -> None:
    ray = StandIn(("a",))
    ray.dead.add("a")
    answers = ray.get

    def get(reference: Reference) -> bytes:
        try:
            return answers(reference)
        finally:
            ray.dead.clear()  # it was started again

    ray.get = get  # type: ignore[method-assign]
    assert set(asked(ray).values()) == {"a"}
    assert len(ray.sent) == 2
