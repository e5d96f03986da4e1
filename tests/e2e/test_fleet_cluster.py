"""A fleet whose shards are read on the machines of a Ray cluster answers as one machine does, also after kills.

Three nodes of real Ray on this machine. `make test-cluster` kills more often.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

import pytest
from tests.waiting import comes, join

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import SettingsError
from codefathom.fleet import fleet_run
from codefathom.fleet.cluster import ray_cluster
from codefathom.fleet.cluster.ray_cluster import RayCluster
from codefathom.fleet.fleet import Fleet
from codefathom.types import SearchResult

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="Ray is not installed: pip install 'codefathom[cluster]' (PyPI has no wheel of it for each Python)",
)
PACKAGE = Path(fleet_run.__file__).parents[1]
ROOMS = ("search", "stores", "question", "text")
QUESTIONS = (
    "where is the confidence of a search calculated",
    "LexicalView",
    "which words of a question are rare",
    "budget of tokens lang:python",
    "question options path:question_options.py",
    "stop words of a question repo:text,search",
    "who calls combine",
    "Catalog.matching",
    "read_text(",
    "@@RankingQuery",
    "a knitting pattern for woollen socks",
)
MODES = ("lexical", "vector", "symbol", "regex")


class Served(NamedTuple):
    """The same fleet, asked on this machine and on a cluster."""

    here: Engine
    there: Engine
    address: str


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Start three nodes, and return their address."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_enable_metrics_collection", "0")
        os.makedirs("/tmp/ray", exist_ok=True)  # else Ray fails where it has never run
        # Not 127.0.0.1, for which Ray takes the address by which others reach this machine.
        node = {"num_cpus": 1, "object_store_memory": 80_000_000}
        head = {**node, "include_dashboard": False, "node_ip_address": "127.0.0.2"}
        nodes = Cluster(initialize_head=True, head_node_args=head)
        for number in (3, 4):
            nodes.add_node(wait=False, **node, node_ip_address=f"127.0.0.{number}")
        nodes.wait_for_nodes()
        yield nodes.address
        import ray

        ray.shutdown()
        ray_cluster._connected.cache_clear()
        nodes.shutdown()


@pytest.fixture(scope="module")
def served(cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("fleet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_STATE_DIR", str(folder / "state"))
        patch.setattr(fleet_run, "MOST_BYTES", 1)  # a shard of each repository
        for name in ROOMS:
            shutil.copytree(PACKAGE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        with Fleet.make("rooms") as fleet:
            fleet.add([str(folder / name) for name in ROOMS])
            assert fleet.index().n_shards_made == len(ROOMS)
            with Engine.open(fleet.root) as here:
                settings = here.settings
                search = settings.search._replace(fleet_cluster=cluster)
                with Engine.open(fleet.root, settings=settings._replace(search=search)) as there:
                    yield Served(here, there, cluster)


def seen(result: SearchResult) -> Any:
    return [(hit.chunk, hit.score, hit.reason) for hit in result.hits], result.confidence, result.mode, result.partial


@needs_ray
def test_the_answers_are_those_of_one_machine(served: Served) -> None:
    for question in QUESTIONS:
        assert seen(served.there.search(question, limit=10)) == seen(served.here.search(question, limit=10)), question
    for mode in MODES:
        asked: Any = {"query": "combine", "mode": mode, "limit": 10}
        assert seen(served.there.search(**asked)) == seen(served.here.search(**asked)), mode
    assert served.there.symbols("score") == served.here.symbols("score")
    assert served.there.n_symbols("score") == served.here.n_symbols("score")
    assert served.there.files.listed() == served.here.files.listed()
    path = "text/expressions.py"
    assert served.there.files.outline(path) == served.here.files.outline(path)
    assert served.there.related(f"{path}:20") == served.here.related(f"{path}:20")


def process_of(actor: Any) -> int:
    import ray

    return int(ray.get(actor.__ray_call__.remote(lambda _: os.getpid()), timeout=60))


def answers(actor: Any) -> bool:
    import ray

    try:
        return process_of(actor) > 0
    except ray.exceptions.RayError:
        return False


def actors_of(served: Served) -> list[Any]:
    """Return the actors of the three machines, that which is asked first for the first shard before the others."""
    cluster = RayCluster.connect(served.address)
    shard = next(iter(served.there.opened.catalog.shards.values()))  # type: ignore[attr-defined]
    first = cluster._holders(shard.folder)[0]
    machines = sorted(cluster._machines(), key=lambda machine: machine != first)
    assert len(machines) == 3
    return [cluster._actor(machine) for machine in machines]


def kill_while_asked(served: Served, n_kills: int) -> None:
    """Kill actors, one after the other, while questions run; each has the right answer."""
    expected = {question: seen(served.here.search(question, limit=10)) for question in QUESTIONS}
    actors = actors_of(served)
    wrong: list[str] = []
    n_asked, is_over = [0], Event()

    def ask() -> None:
        while not is_over.is_set():
            for question, answer in expected.items():
                try:
                    if seen(served.there.search(question, limit=10)) != answer:
                        wrong.append(question)
                except Exception as error:
                    wrong.append(f"{question}: {error!r}")
                n_asked[0] += 1

    asking = Thread(target=ask, daemon=True)
    asking.start()
    try:
        for number in range(n_kills):
            actor = actors[number % len(actors)]
            process = process_of(actor)
            before = n_asked[0]
            os.kill(process, signal.SIGKILL)
            assert comes(lambda before=before: n_asked[0] > before + 2)  # type: ignore[misc]
            assert comes(lambda actor=actor: answers(actor))  # type: ignore[misc]
            assert process_of(actor) != process
    finally:
        is_over.set()
        join(asking)
    assert wrong == []


@needs_ray
def test_a_killed_actor_costs_no_answer(served: Served) -> None:
    kill_while_asked(served, 1)


@needs_ray
@pytest.mark.long
def test_many_killed_actors_cost_no_answer(served: Served) -> None:
    kill_while_asked(served, 60)


@needs_ray
def test_where_a_machine_does_not_answer_the_other_one_is_asked(served: Served) -> None:
    question = QUESTIONS[0]
    expected = seen(served.here.search(question, limit=10))
    for actor in actors_of(served):
        process = process_of(actor)
        os.kill(process, signal.SIGSTOP)  # it is neither dead nor does it answer
        try:
            assert seen(served.there.search(question, limit=10)) == expected
        finally:
            os.kill(process, signal.SIGCONT)


@needs_ray
def test_two_machines_hold_each_shard(served: Served) -> None:
    cluster = RayCluster.connect(served.address)
    machines = cluster._machines()
    assert len(machines) == 3
    for shard in served.there.opened.catalog.shards.values():  # type: ignore[attr-defined]
        holders = cluster._holders(shard.folder)
        assert len(set(holders)) == 2
        assert set(holders) <= set(machines)


@needs_ray
def test_another_version_is_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "__version__", "9.9.9")
    with pytest.raises(SettingsError, match=r"runs Codefathom \d.*, and this is 9\.9\.9"):
        served.there.search("anything at all")


@needs_ray
def test_from_the_command_line(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["search", "--source-dir", served.here.root, "--format", "path", "where are tokens counted"]
    assert main(words) == 0
    expected = capsys.readouterr().out
    assert expected
    assert main([*words, "--cluster", served.address]) == 0
    assert capsys.readouterr().out == expected


@pytest.fixture
def lone_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "alpha").mkdir()
    (tmp_path / "alpha" / "code.py").write_text("def refresh_token(user):\n    return user.token\n")
    with Fleet.make("lone") as fleet:
        fleet.add([str(tmp_path / "alpha")])
        fleet.index()
        return fleet.root


def test_without_ray_the_error_names_the_extra(
    lone_fleet: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    assert main(["search", "--source-dir", lone_fleet, "--cluster", "127.0.0.2:9", "token"]) == 2
    error = capsys.readouterr().err
    assert "needs the library 'ray', which is not installed" in error
    assert "pip install 'codefathom[cluster]'" in error


@needs_ray
def test_an_address_without_a_cluster_is_named(lone_fleet: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as lone:  # nobody listens at this port, and nobody else takes it
        lone.bind(("127.0.0.2", 0))
        address = f"127.0.0.2:{lone.getsockname()[1]}"
        assert main(["search", "--source-dir", lone_fleet, "--cluster", address, "token"]) == 2
    assert f"no Ray cluster answers at '{address}'" in capsys.readouterr().err


@needs_ray
@pytest.mark.parametrize("address", ["auto", "ray://127.0.0.2:10001", "127.0.0.2", ":6379", "127.0.0.2:70000"])
def test_what_is_no_address_is_refused(lone_fleet: str, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--source-dir", lone_fleet, "--cluster", address, "token"]) == 2
    assert f"search.fleet_cluster cannot be '{address}'" in capsys.readouterr().err
