"""How many messages go one after the other for a question to shards elsewhere: each costs the way there and back.

Ray is not needed: the code of an actor answers in this process.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.e2e.ray_nodes import PACKAGE

from codefathom import Engine
from codefathom.fleet import fleet_run
from codefathom.fleet.cluster.code_word import code_word
from codefathom.fleet.cluster.ray_cluster import RayCluster
from codefathom.fleet.cluster.shard_actor import ShardActor
from codefathom.fleet.cluster.shard_calls import ShardCall, ShardList, ShardMessage, ShardReply, packed
from codefathom.fleet.fleet import Fleet

ROOMS = ("search", "stores", "question", "text")


class NearCluster:
    """A cluster of this process alone, which counts the rounds of messages."""

    def __init__(self) -> None:
        self.rounds: list[str] = []
        self._actor = ShardActor()

    def ask(self, shards: ShardList, calls: Sequence[ShardCall], limit_s: float) -> Mapping[int, ShardReply]:
        self.rounds.append(calls[0].method)
        answer = self._actor.ask(code_word(), packed(ShardMessage(shards.key, tuple(calls), shards)))
        return {call.slot: reply for call, reply in zip(calls, pickle.loads(answer), strict=True)}

    def is_away(self, shards: ShardList, slot: int) -> bool:
        return False


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Engine, NearCluster]]:
    """The same fleet, asked here and as on a cluster."""
    folder, cluster = tmp_path_factory.mktemp("fleet"), NearCluster()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_STATE_DIR", str(folder / "state"))
        patch.setattr(fleet_run, "MOST_BYTES", 1)  # a shard of each repository
        patch.setattr(RayCluster, "connect", lambda address: cluster)
        with Fleet.make("rooms") as fleet:
            fleet.add([str(copy_of_room(name, folder)) for name in ROOMS])
            fleet.index()
            with Engine.open(fleet.root) as here:
                search = here.settings.search._replace(fleet_cluster="127.0.0.1:1")
                with Engine.open(fleet.root, settings=here.settings._replace(search=search)) as there:
                    yield here, there, cluster


def copy_of_room(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(PACKAGE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")))


@pytest.mark.parametrize(
    ("question", "rounds"),
    [
        ("where is the confidence of a search calculated", "nearest placed kinds_in"),
        ("which words of a question are rare", "nearest placed kinds_in"),
        ("budget of tokens", "nearest placed kinds_in"),
        ("LexicalView", "symbols_named definitions nearest chunks_defining placed placed kinds_in"),
    ],
)
def test_rounds_of_a_question(engines: tuple[Engine, Engine, NearCluster], question: str, rounds: str) -> None:
    here, there, cluster = engines
    there.search("warm up")
    cluster.rounds.clear()
    result, expected = there.search(question, limit=10), here.search(question, limit=10)
    assert result.hits == expected.hits
    assert " ".join(cluster.rounds) == rounds
