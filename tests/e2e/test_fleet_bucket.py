"""Shards of a fleet in a bucket: machines of a Ray cluster put them there, and keep copies on their own disks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.s3_server import S3Server, s3_server
from tests.e2e.ray_nodes import PACKAGE, Nodes, needs_ray, three_nodes
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.fleet import fleet_run
from codefathom.fleet.fleet import Fleet
from codefathom.project.location import locate
from codefathom.types import SearchResult

ROOMS = ("question", "text")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with pytest.MonkeyPatch.context() as patch, s3_server() as server:
        for name, value in {**server.variables, "FATHOM_CACHE_DIR": str(tmp_path_factory.mktemp("caches"))}.items():
            patch.setenv(name, value)
        yield server


@pytest.fixture(scope="module")
def cluster(server: S3Server) -> Iterator[Nodes]:
    with three_nodes() as nodes:
        yield nodes


def seen(result: SearchResult) -> Any:
    return [(hit.chunk, hit.score) for hit in result.hits], result.partial


@needs_ray
def test_shards_in_a_bucket_are_made_kept_and_asked(
    server: S3Server, cluster: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(fleet_run, "MOST_BYTES", 1)
    bucket = server.new_bucket()
    for name in ROOMS:
        shutil.copytree(PACKAGE / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    with Fleet.make("rooms") as fleet:
        root = fleet.root
    settings = locate(root, is_root=True).settings
    search = settings.search._replace(
        fleet_cluster=cluster.address, fleet_store=f"s3://{bucket}/fleets", fleet_timeout_s=LONG_S
    )
    there = settings._replace(search=search)
    with Fleet.make("rooms", settings=there) as fleet:
        fleet.add([str(tmp_path / name) for name in ROOMS])
        assert fleet.index().n_shards_made == len(ROOMS)
        folders = [shard.folder for shard in fleet.status().shards]
        assert {name.split("/")[2] for name in server.names(bucket)} == set(folders)
        assert fleet.verify() == ()

        catalog = next(name for name in server.names(bucket) if folders[0] in name and name.endswith("catalog.db"))
        server.put(bucket, catalog, b"what somebody else has put there")
        question = "stop words of a question"
        with Engine.open(root, settings=there) as engine:
            partial = engine.search(question).partial
            assert partial is not None
            assert [(item.shard, "catalog.db" in str(item.reason)) for item in partial.unasked] == [(folders[0], True)]
        report = fleet.index(full=True)
        assert any("put into the store again" in note for note in report.notes)
    with Engine.open(root) as here, Engine.open(root, settings=there) as engine:
        assert seen(engine.search(question, limit=10)) == seen(here.search(question, limit=10))
    caches = Path(os.environ["FATHOM_CACHE_DIR"], "fleet-shards")
    (kept,) = caches.iterdir()
    assert sorted(os.listdir(kept / "shards")) == folders
