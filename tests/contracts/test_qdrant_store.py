"""Qdrant keeps the contract: in a folder, and over HTTP.

Over HTTP a small server of the tests answers (`qdrant_server.py`). `make test-qdrant` runs the same contract on the
server whose address is in QDRANT_URL.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.candidate_stores import StoreContract
from tests.contracts.qdrant_server import KEY, QdrantServer, served

from codefathom.errors import StoreAwayError, StoreError
from codefathom.stores.base import Row
from codefathom.stores.rescored import RescoredStore, RowsOf
from codefathom.stores.vectors.candidates import CandidateStore, Change, Label, StoreOptions, StoreSetup
from codefathom.stores.vectors.qdrant_vectors import QdrantStore

ADDRESS, COLLECTION = "FATHOM_TEST_QDRANT_URL", "FATHOM_TEST_QDRANT_COLLECTION"  # also for the second process


class TestFolder(StoreContract):
    n_rounds, n_many = 4, 500

    def connect(self, setup: StoreSetup) -> CandidateStore:
        return QdrantStore(setup._replace(options=setup.options._replace(url=f"{setup.folder.path}-qdrant")))


@pytest.mark.parametrize("is_told", [True, False])
def test_a_folder_that_is_replaced_while_it_is_copied_is_copied_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_told: bool
) -> None:
    """Whether the copy fails, or silently lacks what was removed already."""
    contract = TestFolder()
    writer, reader = (contract.connect(contract._setup(tmp_path)) for _ in range(2))
    writer.apply(Change(contract._points({1: 1}), (), True, Label("owner", 1)))
    copytree, copies = shutil.copytree, list[str]()

    def replaced_meanwhile(source: str, target: str, *more: Any, **options: Any) -> str:
        copies.append(source)
        if len(copies) > 1:
            return copytree(source, target, *more, **options)
        writer.apply(Change(contract._points({2: 2, 3: 3}), (), True, Label("owner", 2)))
        if is_told:
            raise FileNotFoundError(source)
        return target

    monkeypatch.setattr(shutil, "copytree", replaced_meanwhile)
    assert (reader.count(), reader.label()) == (2, Label("owner", 2))


class TestServer(StoreContract):
    n_rounds, n_many = 8, 500

    @pytest.fixture(autouse=True)
    def server(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setenv(COLLECTION, f"test-{uuid.uuid4().hex[:8]}")
        if address := os.environ.get("QDRANT_URL"):
            monkeypatch.setenv(ADDRESS, address)
            yield
            return
        with served() as server:
            monkeypatch.setenv(ADDRESS, server.url)
            yield

    def connect(self, setup: StoreSetup) -> CandidateStore:
        options = setup.options._replace(url=os.environ[ADDRESS], collection=os.environ[COLLECTION])
        return QdrantStore(setup._replace(options=options, key=os.environ.get("QDRANT_API_KEY", "")))


class TestServerWithOneCollectionAProject(TestServer):
    n_rounds = 2

    def connect(self, setup: StoreSetup) -> CandidateStore:
        options = setup.options._replace(url=os.environ[ADDRESS], collection=os.environ[COLLECTION] + "-{project}")
        return QdrantStore(setup._replace(options=options, key=os.environ.get("QDRANT_API_KEY", "")))


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with served(KEY) as server:
        yield server


def store_at(server: QdrantServer, folder: Path, key: str = KEY, **options: object) -> QdrantStore:
    contract = TestFolder()
    setup = contract._setup(folder)
    return QdrantStore(setup._replace(options=StoreOptions(server.url, project="shop")._replace(**options), key=key))


def filled(store: QdrantStore, n_points: int = 30) -> QdrantStore:
    store.apply(Change(TestFolder()._points({key: key for key in range(n_points)}), (), True, Label("owner", 1)))
    return store


def test_settings_are_read_back_as_they_were_set(server: QdrantServer, tmp_path: Path) -> None:
    described = store_at(server, tmp_path, hnsw_m=24, hnsw_ef_construct=120, on_disk=True).described()
    assert described["collection"] == "codefathom (not made yet)"
    filled(store_at(server, tmp_path, hnsw_m=24, hnsw_ef_construct=120, on_disk=True))
    described = store_at(server, tmp_path).described()
    assert described["collection"] == "codefathom"
    assert (described["hnsw_m"], described["hnsw_ef_construct"], described["on_disk"]) == (24, 120, True)
    assert (described["dimensions"], described["distance"]) == (TestFolder.dimensions, "Cosine")
    assert described["points"] == 31  # the label is one
    indexes = "build, chunk_type, extension, file_dir, file_path, key, language, project"
    assert described["payload_indexes"] == indexes
    filled(store_at(server, tmp_path, hnsw_m=8))  # other settings change the collection, without making it anew
    assert store_at(server, tmp_path).described()["hnsw_m"] == 8


def test_points_come_in_batches(server: QdrantServer, tmp_path: Path) -> None:
    filled(store_at(server, tmp_path, batch=1_000), 2_500)
    assert server.batches == [1_000, 1_000, 500, 1]


def test_long_vectors_come_in_smaller_batches(server: QdrantServer, tmp_path: Path) -> None:
    """A server takes 32 MB at once."""

    class TestLong(TestFolder):
        dimensions = 3_072

    store = QdrantStore(TestLong()._setup(tmp_path)._replace(options=StoreOptions(server.url, project="shop"), key=KEY))
    store.apply(Change(TestLong()._points({key: key for key in range(1_100)}), (), True, Label("owner", 1)))
    assert store.count() == 1_100
    assert max(server.batches) < 1_000


def test_any_project_can_have_a_collection_of_its_own(server: QdrantServer, tmp_path: Path) -> None:
    store = filled(store_at(server, tmp_path, collection="code-{project}", project='a/b:c*"d'))
    assert store.described()["collection"] == "code-a-b-c--d"
    assert store.label() == Label("owner", 1)


def test_the_projects_of_a_collection_are_listed(server: QdrantServer, tmp_path: Path) -> None:
    for name, n_points in (("web", 7), ("shop", 5)):
        store = store_at(server, tmp_path, project=name)
        points = TestFolder()._points({key: key for key in range(n_points)}, name)
        store.apply(Change(points, (), True, Label("owner", 1)))
    assert store_at(server, tmp_path, project="other").projects() == {"shop": 5, "web": 7}


@pytest.mark.parametrize("key", ["", "another"])
def test_a_refused_key_is_said_at_once(server: QdrantServer, tmp_path: Path, key: str) -> None:
    with pytest.raises(StoreError, match="refuses the key") as error:
        store_at(server, tmp_path, key).count()
    assert not isinstance(error.value, StoreAwayError)  # waiting would not help
    assert error.value.hint == "set QDRANT_API_KEY"


@pytest.mark.parametrize("state", [500, 502, 503, 429])
def test_a_server_in_trouble_is_away(server: QdrantServer, tmp_path: Path, state: int) -> None:
    store = filled(store_at(server, tmp_path))
    server.failures = [state]
    with pytest.raises(StoreAwayError):
        store.count()
    assert store.count() == 30


def test_a_server_that_does_not_answer_is_away(server: QdrantServer, tmp_path: Path) -> None:
    store = filled(store_at(server, tmp_path, timeout_s=0.5))
    server.is_held = True
    with pytest.raises(StoreAwayError, match="cannot be reached"):
        store.count()


def test_what_the_server_refuses_is_said(server: QdrantServer, tmp_path: Path) -> None:
    store = filled(store_at(server, tmp_path))
    server.failures = [400]
    with pytest.raises(StoreError, match=r"refuses a request \(HTTP 400\).*out of disk") as error:
        store.count()
    assert not isinstance(error.value, StoreAwayError)


def test_a_server_that_stops_and_comes_back(server: QdrantServer, tmp_path: Path) -> None:
    """While it is away the catalogue answers and takes what is new; the store gets it afterwards."""
    contract = TestFolder()
    catalogue = contract.open(tmp_path)._catalog
    clock = [0.0]
    source = RowsOf(catalogue, "model", "owner", "shop", contract.dimensions)
    store = store_at(server, tmp_path)
    view = RescoredStore(store, source, sleep=lambda _: None, now=lambda: clock[0])
    query = bytes([127] * contract.dimensions)
    catalogue.write({key: bytes([key + 1] * contract.dimensions) for key in range(20)}, 1, is_whole=True)
    view.upsert([Row(0, query)])
    view.commit(1)
    assert (view.problem, len(view.nearest(query, 50))) == ("", 20)
    server.stop()
    assert len(view.nearest(query, 50)) == 20
    assert "cannot be reached" in view.problem
    catalogue.write({77: query}, 2, is_whole=False)
    view.upsert([Row(77, query)])
    view.commit(2)
    assert len(view.nearest(query, 50)) == 21
    server.start()
    clock[0] += 60
    view.reload()
    assert (view.problem, view.generation) == ("", 1)  # behind: so an index run commits what it lacks
    view.commit(2)
    assert len(view.nearest(query, 50)) == 21
    assert store.count() == 21
    assert store.label() == Label("owner", 2)
