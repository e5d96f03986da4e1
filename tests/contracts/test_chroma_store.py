"""Chroma keeps the contract, on its real server."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.candidate_stores import StoreContract
from tests.contracts.chroma_server import ChromaServer, served

from codefathom.errors import StoreAwayError, StoreError
from codefathom.stores.vectors.candidates import CandidateStore, Change, Label, StoreOptions, StoreSetup, Within
from codefathom.stores.vectors.chroma_vectors import ChromaStore

ADDRESS, COLLECTION = "FATHOM_TEST_CHROMA_URL", "FATHOM_TEST_CHROMA_COLLECTION"  # also for the second process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with served(tmp_path_factory.mktemp("chroma")) as server:
        yield server


@pytest.fixture(autouse=True)
def collection(server: ChromaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, server.url)
    monkeypatch.setenv(COLLECTION, f"test-{uuid.uuid4().hex[:8]}")


class TestChroma(StoreContract):
    least_recall = 0.9
    n_rounds, n_many = 10, 1_000

    def connect(self, setup: StoreSetup) -> CandidateStore:
        options = setup.options._replace(url=os.environ[ADDRESS], collection=os.environ[COLLECTION])
        return ChromaStore(setup._replace(options=options))


def store_at(url: str, folder: Path, **options: object) -> ChromaStore:
    setup = TestChroma()._setup(folder)
    return ChromaStore(setup._replace(options=StoreOptions(url, os.environ[COLLECTION], "shop")._replace(**options)))


def filled(store: ChromaStore, project: str = "shop", generation: int = 1) -> ChromaStore:
    points = TestChroma()._points({key: key for key in range(30)}, project)
    store.apply(Change(points, (), True, Label("owner", generation)))
    return store


def test_settings_are_read_back_as_they_were_set(server: ChromaServer, tmp_path: Path) -> None:
    assert str(store_at(server.url, tmp_path).described()["collection"]).endswith("(not made yet)")
    filled(store_at(server.url, tmp_path, hnsw_m=24, hnsw_ef_construct=120, hnsw_ef=77))
    described = store_at(server.url, tmp_path).described()
    assert (described["hnsw_m"], described["hnsw_ef_construct"], described["hnsw_ef"]) == (24, 120, 77)
    assert (described["points"], described["distance"]) == (30, "cosine")


def test_the_projects_are_listed(server: ChromaServer, tmp_path: Path) -> None:
    for name in ("web", "shop"):
        filled(store_at(server.url, tmp_path, project=name), name)
    assert store_at(server.url, tmp_path, project="other").projects() == {"shop": 30, "web": 30}


def test_a_new_build_is_met_when_it_is_complete(server: ChromaServer, tmp_path: Path) -> None:
    """While it is written, a search finds the old one; afterwards nothing is left of that."""
    query = bytes([127] * TestChroma.dimensions)
    store, reader = filled(store_at(server.url, tmp_path)), store_at(server.url, tmp_path)
    counts: list[tuple[int, int]] = []

    def points() -> Iterator[object]:
        for number, point in enumerate(TestChroma()._points({key: key for key in range(100, 150)})):
            if number % 10 == 9:
                counts.append((reader.count(), len(reader.candidates(query, 99, Within()))))
            yield point

    store.apply(Change(points(), (), True, Label("owner", 2)))
    assert counts == [(30, 30)] * 5
    assert (reader.count(), reader.label()) == (50, Label("owner", 2))
    assert {key for key, _ in reader.candidates(query, 99, Within())} == set(range(100, 150))
    collections = [row["name"] for row in store._ask("GET", store._path) if row["name"].startswith(store._begin)]
    assert len(collections) == 1


def test_a_server_that_stops_and_comes_back(server: ChromaServer, tmp_path: Path) -> None:
    store = filled(store_at(server.url, tmp_path))
    server.stop()
    try:
        with pytest.raises(StoreAwayError, match="cannot be reached"):
            store.candidates(bytes([127] * TestChroma.dimensions), 5, Within())
    finally:
        server.start()
    assert len(store.candidates(bytes([127] * TestChroma.dimensions), 5, Within())) == 5


def test_what_is_no_chroma_is_said(tmp_path: Path) -> None:
    from tests.contracts.qdrant_server import served as served_qdrant

    with served_qdrant("secret") as server, pytest.raises(StoreError, match="refuses the key") as error:
        store_at(server.url, tmp_path).count()
    assert error.value.hint == "set CHROMA_API_KEY"
