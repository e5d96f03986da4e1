"""PostgreSQL with pgvector keeps the contract, on a real server."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.candidate_stores import StoreContract
from tests.contracts.postgres_server import PASSWORD, PostgresServer, can_run, served

from codefathom.errors import StoreAwayError, StoreError
from codefathom.stores.vectors.candidates import CandidateStore, Change, Label, StoreOptions, StoreSetup, Within
from codefathom.stores.vectors.postgres_vectors import PostgresStore

pytestmark = pytest.mark.skipif(not can_run, reason="the binaries are for Linux")
ADDRESS, COLLECTION = "FATHOM_TEST_POSTGRES_URL", "FATHOM_TEST_POSTGRES_TABLE"  # also for the second process


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with served() as server:
        yield server


@pytest.fixture(autouse=True)
def table(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, server.url)
    monkeypatch.setenv(COLLECTION, f'Test "{uuid.uuid4().hex[:8]}')


class TestExact(StoreContract):
    def connect(self, setup: StoreSetup) -> CandidateStore:
        options = setup.options._replace(url=os.environ[ADDRESS], collection=os.environ[COLLECTION])
        return PostgresStore(setup._replace(options=options, key=PASSWORD))


class TestHnsw(TestExact):
    least_recall = 0.9

    def connect(self, setup: StoreSetup) -> CandidateStore:
        return super().connect(setup._replace(options=setup.options._replace(exact=False)))


class TestHalfPrecision(TestHnsw):
    """An HNSW index takes 2,000 dimensions in single precision; more are indexed in half precision."""

    dimensions = 2_008
    n_rounds, n_many = 2, 400


def store_at(url: str, folder: Path, key: str = PASSWORD, **options: object) -> PostgresStore:
    setup = TestExact()._setup(folder)
    chosen = StoreOptions(url, os.environ[COLLECTION], "shop")._replace(**options)
    return PostgresStore(setup._replace(options=chosen, key=key))


def filled(store: PostgresStore, project: str = "shop") -> PostgresStore:
    points = TestExact()._points({key: key for key in range(30)}, project)
    store.apply(Change(points, (), True, Label("owner", 1)))
    return store


def test_settings_are_read_back_as_they_were_set(server: PostgresServer, tmp_path: Path) -> None:
    options = {"exact": False, "hnsw_m": 24, "hnsw_ef_construct": 120}
    assert str(store_at(server.url, tmp_path).described()["table"]).endswith("(not made yet)")
    filled(store_at(server.url, tmp_path, **options))
    described = store_at(server.url, tmp_path).described()
    assert described["column"] == f"vector({TestExact.dimensions})"
    assert described["points"] == 30
    assert "hnsw (embedding vector_ip_ops) WITH (m='24', ef_construction='120')" in str(described["indexes"])
    assert "btree (project, key)" in str(described["indexes"])
    assert str(described["version"]).startswith("PostgreSQL 18")


def test_the_projects_of_a_table_are_listed(server: PostgresServer, tmp_path: Path) -> None:
    for name in ("web", "shop"):
        filled(store_at(server.url, tmp_path, project=name), name)
    assert store_at(server.url, tmp_path, project="other").projects() == {"shop": 30, "web": 30}


@pytest.mark.parametrize("key", ["", "another"])
def test_a_refused_password_is_said_at_once(server: PostgresServer, tmp_path: Path, key: str) -> None:
    with pytest.raises(StoreError, match="refuses the connection") as error:
        store_at(server.url, tmp_path, key).count()
    assert not isinstance(error.value, StoreAwayError)  # waiting would not help
    assert "PGPASSWORD" in error.value.hint
    assert "another" not in str(error.value)


def test_a_name_that_would_be_cut_is_refused(server: PostgresServer, tmp_path: Path) -> None:
    """PostgreSQL cuts names after 63 bytes: two tables would become one."""
    with pytest.raises(StoreError, match=r"store\.collection") as error:
        filled(store_at(server.url, tmp_path, collection="ä" * 30))
    assert "50 bytes" in error.value.hint


def test_a_missing_database_is_said(server: PostgresServer, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r'database "none" does not exist'):
        store_at(server.url.replace("/postgres", "/none"), tmp_path).count()


def test_a_user_without_rights_is_told_the_remedy(server: PostgresServer, tmp_path: Path) -> None:
    import psycopg

    with psycopg.connect(server.url, password=PASSWORD, autocommit=True) as db:
        db.execute(f"CREATE USER guest PASSWORD '{PASSWORD}'")
        db.execute("CREATE DATABASE bare")
    url = server.url.replace("fathom@", "guest@").replace("/postgres", "/bare")
    with pytest.raises(StoreError, match="does not let this user") as error:
        filled(store_at(url, tmp_path))
    assert "CREATE EXTENSION vector" in error.value.hint


def test_a_server_that_stops_and_comes_back(server: PostgresServer, tmp_path: Path) -> None:
    store = filled(store_at(server.url, tmp_path))
    server.stop()
    try:
        for _ in range(2):
            with pytest.raises(StoreAwayError, match="cannot be reached"):
                store.candidates(bytes([127] * TestExact.dimensions), 5, Within())
    finally:
        server.start()
    assert store.count() == 30
    assert len(store.candidates(bytes([127] * TestExact.dimensions), 5, Within())) == 5


def test_a_commit_that_is_cut_leaves_what_was_there(server: PostgresServer, tmp_path: Path) -> None:
    store = filled(store_at(server.url, tmp_path))

    def points() -> Iterator[object]:
        yield from TestExact()._points({key: key for key in range(100, 110)})
        server.stop()
        yield from TestExact()._points({key: key for key in range(110, 5_000)})

    try:
        with pytest.raises(StoreAwayError):
            store.apply(Change(points(), (), True, Label("owner", 2)))
    finally:
        server.start()
    assert (store.count(), store.label()) == (30, Label("owner", 1))
