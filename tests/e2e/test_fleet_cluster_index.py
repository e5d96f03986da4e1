"""Shards that machines of a Ray cluster make are those that one machine makes, also when tasks are killed."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from tests.e2e.ray_nodes import PACKAGE, Nodes, needs_ray, other_code, three_nodes
from tests.e2e.test_fleet_branches import commit, git
from tests.waiting import LONG_S, comes, join

from codefathom import Engine
from codefathom.cli import main
from codefathom.fleet import fleet_run
from codefathom.fleet.cluster.ray_cluster import RayCluster
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.fleet_run import FleetReport
from codefathom.fleet.shards import SHARDS
from codefathom.project.location import locate
from codefathom.question.question import Question
from codefathom.types import Progress

ROOMS = ("question", "text", "providers")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path_factory.mktemp("caches")))  # also of the nodes
        with three_nodes() as nodes:
            yield nodes


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Some repositories, a shard for each."""
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(fleet_run, "MOST_BYTES", 1)
    for name in ROOMS:
        shutil.copytree(PACKAGE / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return [str(tmp_path / name) for name in ROOMS]


def on_cluster(name: str, cluster: Nodes) -> Fleet:
    """Open a fleet whose shards the machines of a cluster make."""
    with Fleet.make(name) as fleet:
        settings = locate(fleet.root, is_root=True).settings
    search = settings.search._replace(fleet_cluster=cluster.address)
    return Fleet.make(name, settings=settings._replace(search=search))


def folders(fleet: Fleet) -> list[str]:
    return [shard.folder for shard in fleet.status().shards]


def answers(fleet: Fleet) -> list[object]:
    with Engine.open(fleet.root) as engine:
        questions = ("which words of a question are rare", "read_text(", "stop words repo:text")
        return [
            [(hit.chunk, hit.score, hit.reason) for hit in engine.search(question, limit=10).hits]
            for question in questions
        ]


@needs_ray
def test_shards_of_tasks_are_those_of_one_machine(cluster: Nodes, rooms: list[str]) -> None:
    told: list[Progress] = []
    with Fleet.make("here") as here, on_cluster("there", cluster) as there:
        for fleet in (here, there):
            fleet.add(rooms)
        here.index()
        report = there.index(told.append)
        assert report.n_shards_made == len(ROOMS)
        assert folders(there) == folders(here)
        assert there.verify() == ()
        assert answers(there) == answers(here)
        done = [step for step in told if step.phase == "index"]
        assert [step.n_done for step in done] == [1, 2, 3]
        assert {step.message for step in done} == set(ROOMS)
        assert os.listdir(Path(os.environ["FATHOM_CACHE_DIR"], "fleet-tasks")) == []  # nothing stays

        Path(rooms[1], "fresh.py").write_text("def freshly_written():\n    return 1\n")
        assert (there.index().n_shards_made, here.index().n_shards_made) == (1, 1)
        assert folders(there) == folders(here)
        assert answers(there) == answers(here)
        again = there.index()
        assert (again.n_shards_made, again.generation) == (0, 2)


@needs_ray
def test_branches_are_indexed_and_asked_as_on_one_machine(
    cluster: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    shop = tmp_path / "shop"
    shop.mkdir()
    git(shop, "init", "-q", "-b", "main")
    commit(shop, same="def shared_token(user):\n    return user.token\n", rotate="def rotate_token(user): pass\n")
    git(shop, "checkout", "-q", "-b", "release-2")
    commit(shop, legacy="from same import shared_token\n\n\ndef old_token(user):\n    return shared_token(user)\n")
    git(shop, "checkout", "-q", "main")
    for name in ("far", "near"):
        with Fleet.make(name) as fleet:
            fleet.add([str(shop)])
            (Path(fleet.root) / "fathom.toml").write_text('[source]\nfleet_branches = ["release-*"]\n')
    with on_cluster("far", cluster) as far, Fleet.make("near") as near:
        for fleet in (far, near):
            assert fleet.index().failures == ()
        assert folders(far) == folders(near)
        with Engine.open(near.root) as here:
            search = here.settings.search._replace(fleet_cluster=cluster.address, fleet_timeout_s=LONG_S)
            with Engine.open(near.root, settings=here.settings._replace(search=search)) as there:
                for words in ("token", "token branch:release-2", "token branch:*", "token repo:shop@release-2"):
                    first, second = here.search(words, limit=10), there.search(words, limit=10)
                    assert [(hit.chunk, hit.score, hit.reason) for hit in first.hits] == [
                        (hit.chunk, hit.score, hit.reason) for hit in second.hits
                    ], words
                    assert first.hits and (first.branches, second.partial) == (second.branches, None)
                questions = (
                    Question("token branch:release-2", "symbols"),
                    Question("@@shared_token branch:release-2", "related"),
                    Question("branch:release-2", "map", as_parts=True),
                )
                for question in questions:
                    assert list(here.answer(question))[-1] == list(there.answer(question))[-1]


@needs_ray
def test_a_killed_task_is_made_again(cluster: Nodes, rooms: list[str]) -> None:
    desks = Path(os.environ["FATHOM_CACHE_DIR"], "fleet-tasks")
    reports: list[FleetReport] = []
    with Fleet.make("here") as here:
        here.add(rooms)
        here.index()
        expected = folders(here)
    with on_cluster("there", cluster) as there:
        there.add(rooms)
    seen = set(os.listdir(desks)) if desks.exists() else set()

    def index() -> None:
        with on_cluster("there", cluster) as fleet:
            reports.append(fleet.index())

    running = Thread(target=index, daemon=True)
    running.start()
    assert comes(lambda: desks.exists() and set(os.listdir(desks)) - seen)
    desk = (set(os.listdir(desks)) - seen).pop()
    os.kill(int(desk.rpartition("=")[2].partition("-")[0]), signal.SIGKILL)
    join(running)
    with on_cluster("there", cluster) as there:
        assert reports[0].n_shards_made == len(ROOMS)
        assert folders(there) == expected
        assert there.verify() == ()


@needs_ray
def test_a_run_that_ends_before_its_switch_leaves_its_shards_for_the_next_one(
    cluster: Nodes, rooms: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk of the manifest is gone")

    with on_cluster("there", cluster) as there:
        there.add(rooms)
        with monkeypatch.context() as patch:
            patch.setattr(fleet_run.FleetRun, "_join_words", fail)
            with pytest.raises(OSError, match="is gone"):
                there.index()
        assert there.status().generation == 0
        made = {name: os.stat(Path(there.root, SHARDS, name)) for name in os.listdir(Path(there.root, SHARDS))}
        assert len(made) == len(ROOMS)
        assert there.index().n_shards_made == len(ROOMS)
        assert set(folders(there)) == set(made)
        assert all(os.stat(Path(there.root, SHARDS, name)).st_ino == was.st_ino for name, was in made.items())


@needs_ray
def test_a_machine_with_other_code_makes_no_shard(cluster: Nodes, rooms: list[str], tmp_path: Path) -> None:
    site = other_code(tmp_path / "site")
    machines = RayCluster.connect(cluster.address).machines
    with on_cluster("there", cluster) as there:
        there.add(rooms)
        node = cluster.add(node_ip_address="127.0.0.6", env_vars={"PYTHONPATH": str(site)})
        try:
            assert comes(lambda: node.node_id in (*machines.usable(), *machines._refused))
            assert there.index().n_shards_made == len(ROOMS)
            assert node.node_id in machines._refused or comes(lambda: node.node_id in machines._refused)
            assert there.verify() == ()
        finally:
            cluster.remove(node)


@needs_ray
def test_a_repository_that_cannot_be_read_is_named(
    cluster: Nodes, rooms: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with on_cluster("there", cluster) as there:
        there.add(rooms)
        there.index()
        before = folders(there)
    shutil.rmtree(rooms[0])
    Path(rooms[1], "fresh.py").write_text("def freshly_written():\n    return 1\n")
    assert main(["fleet", "index", "there", "--cluster", cluster.address]) == 2
    told = capsys.readouterr()
    assert "question" in told.err
    assert "1 shard made" in told.out
    with Fleet.open("there") as fleet:
        assert sum(one == other for one, other in zip(folders(fleet), before, strict=True)) == len(ROOMS) - 1
