"""A fleet whose shards are read on the machines of a Ray cluster answers as one machine does, also after kills.

Three nodes of real Ray on this machine. `make test-cluster` kills more often: `evals/trials/fleet_kills.py`.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

import httpx
import pytest
from tests.e2e.ray_nodes import PACKAGE, Nodes, needs_ray, other_code, three_nodes
from tests.waiting import LONG_S, Started, comes, join

from codefathom import Engine, __version__
from codefathom.cli import main
from codefathom.errors import UsageError
from codefathom.fleet import fleet_run
from codefathom.fleet.cluster import cluster_machines
from codefathom.fleet.cluster.cluster_machines import ClusterMachines
from codefathom.fleet.cluster.ray_cluster import RayCluster
from codefathom.fleet.cluster.shard_actor import ShardActor
from codefathom.fleet.cluster.shard_calls import ShardState
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.manifest import Manifest
from codefathom.project.repository_sight import ReaderRule, RepositorySight
from codefathom.types import SearchResult

ROOMS = ("search", "stores", "question", "text")
OF_TEXT = "stop words of a question repo:text,search"
QUESTIONS = (
    "where is the confidence of a search calculated",
    "LexicalView",
    "which words of a question are rare",
    "budget of tokens lang:python",
    "question options path:question_options.py",
    OF_TEXT,
    "who calls combine",
    "Catalog.matching",
    "read_text(",
    "@@RankingQuery",
    "a knitting pattern for woollen socks",
)
ACTIVE = {"search": 1_000, "stores": 3_000, "question": 0, "text": 2_000}  # seconds
MODES = ("lexical", "vector", "symbol", "regex")


class Served(NamedTuple):
    """The same fleet, asked on this machine and on a cluster."""

    here: Engine
    there: Engine
    nodes: Nodes

    @property
    def address(self) -> str:
        return self.nodes.address

    @property
    def machines(self) -> ClusterMachines:
        return RayCluster.connect(self.address).machines


@pytest.fixture(scope="module")
def cluster() -> Iterator[Nodes]:
    with three_nodes() as nodes:
        yield nodes


@pytest.fixture(scope="module")
def served(cluster: Nodes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("fleet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_STATE_DIR", str(folder / "state"))
        patch.setattr(fleet_run, "MOST_BYTES", 1)  # a shard of each repository
        for name in ROOMS:
            shutil.copytree(PACKAGE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        with Fleet.make("rooms") as fleet:
            fleet.add([str(folder / name) for name in ROOMS])
            assert fleet.index().n_shards_made == len(ROOMS)
            with closing(Manifest(fleet.root)) as manifest, manifest.transaction():
                manifest.put_activity({item.id: ACTIVE[item.name] for item in manifest.repositories()})
                manifest.use_activity()
            with Engine.open(fleet.root) as here:
                settings = here.settings
                search = settings.search._replace(fleet_cluster=cluster.address, fleet_timeout_s=LONG_S)
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
    ties = [hit.chunk.path for hit in served.there.search("^from __future__", mode="regex", limit=500).hits]
    named = [name for name, _ in groupby(ties, lambda path: path.partition("/")[0])]
    assert named == ["stores", "text", "search", "question"]  # those that were last active first
    assert served.there.symbols("score") == served.here.symbols("score")
    assert served.there.n_symbols("score") == served.here.n_symbols("score")
    assert served.there.files.listed() == served.here.files.listed()
    path = "text/expressions.py"
    assert served.there.files.outline(path) == served.here.files.outline(path)
    assert served.there.related(f"{path}:20") == served.here.related(f"{path}:20")


@needs_ray
def test_who_sees_a_part_gets_the_answers_of_one_machine(served: Served) -> None:
    """The shards are opened once for all who ask, whatever these may see."""
    rules = (ReaderRule(("text",), frozenset({"ada"})),)
    for words in (("ada",), ()):
        sight = RepositorySight(rules, frozenset(words))
        places = (replace(engine.place, sight=sight) for engine in (served.here, served.there))
        here, there = map(Engine, places)
        with here, there:
            if not words:  # what is not seen is not there
                for engine in (here, there):
                    with pytest.raises(UsageError, match="no repository 'text'"):
                        engine.search(OF_TEXT, limit=10)
            questions = [question for question in QUESTIONS if words or question != OF_TEXT]
            hits = [hit for question in questions for hit in there.search(question, limit=10).hits]
            assert any(hit.chunk.path.startswith("text/") for hit in hits) == bool(words)
            for question in questions:
                assert seen(there.search(question, limit=10)) == seen(here.search(question, limit=10)), question
            assert there.symbols("score") == here.symbols("score")
            assert there.files.listed() == here.files.listed()
    opened = opened_fleets(served)
    assert any(opened)
    for lists in opened:
        assert len(set(lists)) == len(lists)


def opened_fleets(served: Served) -> list[list[tuple[str, int]]]:
    """Return, for each machine, folders and generations of the fleets whose shards it has opened."""
    import ray

    keys = [actor.__ray_call__.remote(lambda own: list(own._fleets)) for actor in actors_of(served)]
    return [[(root, generation) for root, _, generation in own] for own in ray.get(keys, timeout=LONG_S)]


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
    first = cluster.machines.holders(shard.folder)[0]
    machines = sorted(cluster.machines.usable(), key=lambda machine: machine != first)
    assert len(machines) == 3
    return [cluster.machines.actor(machine) for machine in machines]


@contextmanager
def questions_running(served: Served) -> Iterator[Callable[[], int]]:
    """Ask during the block, and compare each answer; yield what counts the answers."""
    expected = {question: seen(served.here.search(question, limit=10)) for question in QUESTIONS}
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

    with running(ask, is_over):
        yield lambda: n_asked[0]
    assert wrong == []


@contextmanager
def running(ask: Callable[[], None], is_over: Event) -> Iterator[None]:
    """Do something in a thread during the block, until an event."""
    asking = Thread(target=ask, daemon=True)
    asking.start()
    try:
        yield
    finally:
        is_over.set()
        join(asking)


@needs_ray
def test_a_killed_actor_costs_no_answer(served: Served) -> None:
    actor = actors_of(served)[0]
    with questions_running(served) as n_asked:
        process = process_of(actor)
        before = n_asked()
        os.kill(process, signal.SIGKILL)
        assert comes(lambda: n_asked() > before + 2)
        assert comes(lambda: answers(actor))
        assert process_of(actor) != process


@needs_ray
def test_a_killed_machine_costs_no_answer(served: Served) -> None:
    node = served.nodes.add(node_ip_address="127.0.0.5")
    try:
        assert comes(lambda: node.node_id in served.machines.usable())
        worker = process_of(served.machines.actor(node.node_id))
        with questions_running(served) as n_asked:
            for process in (node.all_processes["raylet"][0].process.pid, worker):
                os.kill(process, signal.SIGKILL)
            assert comes(lambda: node.node_id not in served.machines.usable())
            before = n_asked()
            assert comes(lambda: n_asked() > before + len(QUESTIONS))
    finally:
        served.nodes.remove(node, allow_graceful=False)
    assert lost(lambda question: paths_of(served.there.search(question, limit=1))) == []


def paths_of(result: SearchResult) -> list[str]:
    return [f"{hit.chunk.path}:{hit.chunk.start_line}" for hit in result.hits]


def lost(ask: Callable[[str], list[str]]) -> list[str]:
    """Return the repositories in which nothing is found."""
    return [name for name in ROOMS if not ask(f"import repo:{name}")]


class Gateway:
    """A `fathom serve` that asks the cluster, and can be killed."""

    def __init__(self, served: Served) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=LONG_S)
        self._words = ["serve", served.here.root, "--cluster", served.address, "--port", str(self.port)]

    @contextmanager
    def running(self) -> Iterator[Started[bytes]]:
        """Run it in the block, in which it is ready; at its end it is killed."""
        variables = {**os.environ, "FATHOM_SEARCH__FLEET_TIMEOUT_S": str(LONG_S)}
        words = [sys.executable, "-m", "codefathom", *self._words]
        with Started(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables) as process:
            try:
                assert comes(lambda: process.poll() is not None or self._is_ready())
                yield process
            finally:
                process.kill()

    def _is_ready(self) -> bool:
        try:
            return self._client.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def ask(self, question: str, limit: int = 10) -> list[str]:
        """Return the places that a whole answer names; one that took too long is asked for again."""
        answers: list[httpx.Response] = []

        def is_answered() -> bool:
            answers.append(self._client.post("/search", json={"query": question, "limit": limit}))
            return answers[-1].status_code != 504  # the processes that search may still be starting

        assert comes(is_answered)
        result = answers[-1].raise_for_status().json()
        assert not any(project["partial"] for project in result["projects"])
        return [f"{hit['path']}:{hit['start_line']}" for hit in result["hits"]]


@needs_ray
def test_a_killed_gateway_gives_the_same_answers_after_a_start(served: Served) -> None:
    gateway = Gateway(served)
    expected = {question: paths_of(served.here.search(question, limit=10)) for question in QUESTIONS}
    for _ in range(2):
        with gateway.running():
            assert {question: gateway.ask(question) for question in QUESTIONS} == expected
            assert lost(lambda question: gateway.ask(question, limit=1)) == []


@needs_ray
def test_actors_of_other_code_end_once_nobody_asks_them(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    machines = served.machines
    own = machines.actor(machines.usable()[0])
    name = f"{cluster_machines._NAME} 0.0.0 (code of before) {machines.usable()[0]}"
    options = {"name": name, "namespace": cluster_machines.NAMESPACE, "lifetime": "detached", "num_cpus": 0}
    other = ray.remote(ShardActor).options(**options).remote()
    assert process_of(other) > 0
    for limit, name_of_limit in ((0.0, "_LOOKED_S"), (0.1, "_SWEPT_S"), (float(LONG_S), "_IDLE_WAIT_S")):
        monkeypatch.setattr(cluster_machines, name_of_limit, limit)

    def is_there() -> bool:
        machines.usable()
        return name in {item["name"] for item in ray.util.list_named_actors(all_namespaces=True)}

    machines._swept_at = float("-inf")
    assert is_there()  # it was asked a moment ago
    monkeypatch.setattr(cluster_machines, "_UNUSED_S", 0.0)
    assert comes(lambda: not is_there())
    assert process_of(own) > 0


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
    machines = cluster.machines.usable()
    assert len(machines) == 3
    for shard in served.there.opened.catalog.shards.values():  # type: ignore[attr-defined]
        holders = cluster.machines.holders(shard.folder)
        assert len(set(holders)) == 2
        assert set(holders) <= set(machines)


def answering(served: Served) -> dict[int, ShardState]:
    """Return who answers for each shard."""
    shards = served.there.opened.catalog._list  # type: ignore[attr-defined]
    return dict(RayCluster.connect(served.address).look(shards, LONG_S))


@needs_ray
def test_who_answers_for_a_shard_is_known(served: Served) -> None:
    before = answering(served)
    assert {(state.n_holders, state.n_answering) for state in before.values()} == {(2, 2)}
    served.there.search(QUESTIONS[0])
    after = answering(served)
    assert all(
        after[slot].n_calls > state.n_calls and after[slot].seconds > state.seconds for slot, state in before.items()
    )


@needs_ray
def test_a_look_does_not_wait_for_a_machine_whose_actor_has_died(served: Served) -> None:
    actor = actors_of(served)[0]
    shards = served.there.opened.catalog._list  # type: ignore[attr-defined]
    states: list[ShardState] = []
    answering(served)
    os.kill(process_of(actor), signal.SIGKILL)
    cluster = RayCluster.connect(served.address)
    looking = Thread(target=lambda: states.extend(cluster.look(shards, 9 * LONG_S).values()), daemon=True)
    looking.start()
    join(looking)
    assert len(states) == len(ROOMS)


def search_in_a_process(served: Served, question: str, **environ: str) -> subprocess.CompletedProcess[str]:
    words = ["search", "--source-dir", served.here.root, "--format", "path", "--cluster", served.address, question]
    command = [sys.executable, "-m", "codefathom", *words]
    variables = {**os.environ, "FATHOM_SEARCH__FLEET_TIMEOUT_S": str(LONG_S), **environ}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables, timeout=LONG_S)


@needs_ray
def test_other_code_of_the_same_version_is_refused(served: Served, tmp_path: Path) -> None:
    outcome = search_in_a_process(served, QUESTIONS[0], PYTHONPATH=str(other_code(tmp_path)))
    assert outcome.returncode == 2
    assert re.search(rf"runs Codefathom {__version__} \(code \w+\), and this is {__version__} \(code", outcome.stderr)
    assert "Ray need not be started again" in outcome.stderr


@needs_ray
def test_a_machine_comes_is_updated_and_leaves_while_questions_run(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_machines, "_REFUSED_S", 1.0)
    expected = search_in_a_process(served, QUESTIONS[0])
    site, machines = other_code(tmp_path), served.machines
    with questions_running(served) as n_asked:
        while not is_refused(served, node := other_machine(served, site)):
            served.nodes.remove(node)  # it is not asked
        newer = search_in_a_process(served, QUESTIONS[0], PYTHONPATH=str(site))
        assert (newer.returncode, newer.stdout) == (0, expected.stdout), newer.stderr  # that machine alone answers it
        shutil.copy(PACKAGE / "versions.py", site / PACKAGE.name / "versions.py")
        assert comes(lambda: holds_shards(served, node.node_id))
        drain(served, node.node_id)
        assert comes(lambda: node.node_id not in machines.usable())
        before = n_asked()
        assert comes(lambda: n_asked() > before + len(QUESTIONS))
        served.nodes.remove(node)
        before = n_asked()
        assert comes(lambda: n_asked() > before + len(QUESTIONS))


def other_machine(served: Served, site: Path) -> Any:
    """Add a machine that runs other code."""
    return served.nodes.add(node_ip_address="127.0.0.5", env_vars={"PYTHONPATH": str(site)})


def is_refused(served: Served, node: Any) -> bool:
    """Return True once a machine is refused, False if another one is asked before it for each shard."""
    machines, shards = served.machines, served.there.opened.catalog.shards.values()  # type: ignore[attr-defined]
    assert comes(lambda: node.node_id in (*machines._refused, *machines.usable()))
    if any(machines.holders(shard.folder)[0] == node.node_id for shard in shards):
        assert comes(lambda: node.node_id in machines._refused)
    return node.node_id in machines._refused


def holds_shards(served: Served, node: str) -> bool:
    """Return True if a machine is one of the holders of a shard, and all holders of all shards answer."""
    machines, shards = served.machines, served.there.opened.catalog.shards.values()  # type: ignore[attr-defined]
    if not any(node in machines.holders(shard.folder) for shard in shards):
        return False
    return all(state.n_answering == 2 for state in answering(served).values())


def drain(served: Served, node: str) -> None:
    """Tell Ray that a machine is about to leave."""
    words = ["drain-node", "--address", served.address, "--node-id", node, "--reason", "DRAIN_NODE_REASON_PREEMPTION"]
    more = ["--reason-message", "it leaves", "--deadline-remaining-seconds", "600"]
    subprocess.run([Path(sys.executable).with_name("ray"), *words, *more], check=True, timeout=LONG_S)


@needs_ray
def test_a_new_generation_is_asked_at_once_while_questions_run(served: Served) -> None:
    """Each answer is that of the old or of the new generation, and once the run has ended that of the new one."""
    question = "freshly_written_while_asked"
    names, is_over = set[tuple[str, ...]](), Event()

    def ask() -> None:
        while not is_over.is_set():
            result = served.there.search(question, mode="symbol", limit=5)
            assert result.partial is None
            names.add(tuple(hit.chunk.path for hit in result.hits))

    with Fleet.open("rooms") as fleet, running(ask, is_over):
        room = next(place for place in fleet.status().repositories if place.name == "text").place
        written = Path(room, "fresh.py")
        written.write_text(f"def {question}():\n    return 1\n")
        try:
            fleet.index()
            assert served.there.search(question, mode="symbol", limit=5).hits[0].chunk.path == "text/fresh.py"
            assert comes(lambda: len(names) == 2)
        finally:
            written.unlink()
            fleet.index()
    assert names == {(), ("text/fresh.py",)}


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


@needs_ray
def test_a_token_that_the_cluster_does_not_take_is_named(lone_fleet: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.9", 0))
        address = f"127.0.0.9:{free.getsockname()[1]}"
    port = address.rpartition(":")[2]
    head = [Path(sys.executable).with_name("ray"), "start", "--head", "--block", f"--port={port}"]
    head += ["--node-ip-address=127.0.0.9", "--include-dashboard=false", "--num-cpus=1", "--disable-usage-stats"]
    environ = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a" * 48}
    with Started(head, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as cluster:
        assert comes(lambda: is_open(address))
        words = ["search", "--source-dir", lone_fleet, "--cluster", address, "token"]
        command = [sys.executable, "-m", "codefathom", *words]
        environ["RAY_AUTH_TOKEN"] = "b" * 48
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, env=environ, timeout=LONG_S)
        cluster.terminate()
    assert outcome.returncode == 2
    assert f"the Ray cluster at '{address}' does not accept the token of this process" in outcome.stderr


def is_open(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError:
        return False
    return True
