"""Real servers that stop and come back in the middle of searches and of an index run: no hit and no row is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from tests.contracts import chroma_server, postgres_server

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.types import Progress, SearchResult

QUESTIONS = ("retry with backoff", "price of the cart", "where is the config read")


class Server(Protocol):
    """A server that can be stopped."""

    @property
    def url(self) -> str: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...


@pytest.fixture(params=["postgres", "chroma"])
def server(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    if request.param == "postgres" and not postgres_server.can_run:
        pytest.skip("the binaries are for Linux")
    (tmp_path / "server").mkdir()
    served = postgres_server.served() if request.param == "postgres" else chroma_server.served(tmp_path / "server")
    with served as server:
        monkeypatch.setenv("PGPASSWORD", postgres_server.PASSWORD)
        monkeypatch.setenv("FATHOM_STORE__VECTORS", request.param)
        monkeypatch.setenv("FATHOM_STORE__URL", server.url)
        yield server


def places(result: SearchResult) -> list[object]:
    return [(hit.chunk.path, hit.chunk.start_line, hit.score) for hit in result.hits]


def all_places(engine: Engine) -> list[list[object]]:
    return [places(engine.search(question, mode=mode)) for question in QUESTIONS for mode in ("auto", "vector")]


def test_searches_go_on_while_it_is_away(server: Server, shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.index()
        before = all_places(engine)
        assert not engine.search(QUESTIONS[0]).degraded
        server.stop()
        assert all_places(engine) == before
        degraded = engine.search(QUESTIONS[0], mode="vector").degraded
        assert any("cannot be reached" in note for note in degraded), degraded
        (check,) = (check for check in engine.doctor() if check.name == "vector store")
        assert (check.ok, "the vectors of the catalogue answer" in check.detail) == (False, True)
    server.start()
    with Engine.open(str(shop)) as engine:  # the one above would ask again after its pause
        assert all_places(engine) == before
        assert not engine.search(QUESTIONS[0], mode="vector").degraded


def test_an_index_run_that_loses_it_keeps_all(server: Server, shop: Path) -> None:
    """It stops after the first files were read; what it missed reaches it with the next run."""

    def stop(progress: Progress) -> None:
        if progress.n_done >= 1:
            server.stop()

    with Engine.open(str(shop), on_progress=stop) as engine:
        report = engine.index()
        assert not report.failures
        assert "cannot be reached" in report.store_problem
        assert engine.search("price of the cart", mode="vector").hits
    with Engine.open(str(shop)) as engine:
        (shop / "zoo.py").write_text("def feed_the_kangaroo():\n    return 'grass'\n")
        engine.index()
        assert engine.search("feed the kangaroo", mode="vector").hits[0].chunk.path == "zoo.py"
    server.start()
    with Engine.open(str(shop)) as engine:
        assert engine.index().store_problem == ""
        assert engine.stores.verify().problem == ""
        assert engine.search("feed the kangaroo", mode="vector").hits[0].chunk.path == "zoo.py"
        assert not engine.search("feed the kangaroo", mode="vector").degraded


@pytest.fixture(params=["chroma", "qdrant"])
def away(request: pytest.FixtureRequest, shop: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options of a store that is away, for commands in the shop."""
    if request.param == "qdrant":
        pytest.importorskip("qdrant_client")
    monkeypatch.chdir(shop)
    return ["--set", f"store.vectors={request.param}", "--set", "store.url=http://127.0.0.1:9"]


def test_an_index_run_says_that_the_store_is_away(away: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", *away]) == 0
    assert re.search(r"^not in the store: .*127\.0\.0\.1:9 cannot be reached", capsys.readouterr().out, re.MULTILINE)
    assert main(["index", "-q", *away]) == 0
    assert "127.0.0.1:9 cannot be reached" in capsys.readouterr().err
    assert main(["index", "--json", *away]) == 0
    assert "cannot be reached" in json.loads(capsys.readouterr().out)["store_problem"]


def test_status_says_that_the_store_is_away(away: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["index", *away])
    capsys.readouterr()
    assert main(["status", *away]) == 0
    assert re.search(
        r"^store {7}.*127\.0\.0\.1:9 cannot be reached.*searches use the vectors of the index",
        capsys.readouterr().out,
        re.MULTILINE,
    )
    assert main(["status", "--json", *away]) == 0
    assert "cannot be reached" in json.loads(capsys.readouterr().out)["store_problem"]
    assert main(["index", "--set", "store.vectors=flat"]) == 0
    capsys.readouterr()
    assert main(["status", "--set", "store.vectors=flat"]) == 0
    assert "cannot be reached" not in capsys.readouterr().out
    assert main(["status", "--json", "--set", "store.vectors=flat"]) == 0
    assert json.loads(capsys.readouterr().out)["store_problem"] == ""


def test_the_first_question_of_a_new_project_needs_no_server(server: Server, shop: Path) -> None:
    server.stop()
    with Engine.open(str(shop)) as engine:
        result = engine.search("price of the cart")
        assert result.hits
        assert any("cannot be reached" in note for note in result.degraded), result.degraded


def test_a_project_moves_there_and_back(server: Server, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FATHOM_STORE__VECTORS")
    with Engine.open(str(shop)) as engine:
        engine.index()
        before = all_places(engine)
        for target in ("chroma" if "http" in server.url else "postgres", "flat"):
            assert engine.stores.move(target).problem == ""
            assert all_places(engine) == before


def test_an_index_is_removed_although_the_store_is_away(server: Server, shop: Path) -> None:
    notes: list[str] = []
    with Engine.open(str(shop), on_wait=notes.append) as engine:
        engine.index()
        server.stop()
        assert engine.remove_index() > 0
    assert not (shop / ".fathom").exists()
    assert any("what it has of this project stays there" in note for note in notes), notes


def test_another_value_of_exact_is_said_once(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for exact in ("true", "false", "false", "true"):
        words = ["--set", "store.vectors=faiss", "--set", f"store.exact={exact}"]
        assert main(["index", "-C", str(shop), *words]) == 0
        lines = capsys.readouterr().out.splitlines()
        said.append(next((line.partition(" now")[0] for line in lines if line.startswith("store: ")), ""))
    assert said == ["", "store: store.exact is false", "", "store: store.exact is true"]


@pytest.fixture(scope="module")
def postgres() -> Iterator[postgres_server.PostgresServer]:
    if not postgres_server.can_run:
        pytest.skip("the binaries are for Linux")
    import psycopg

    with postgres_server.served() as server:
        with psycopg.connect(server.url, password=postgres_server.PASSWORD, autocommit=True) as db:
            db.execute(f"CREATE USER guest PASSWORD '{postgres_server.PASSWORD}'")
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
            db.execute("CREATE TABLE strange (project text, key text)")
            db.execute("CREATE TABLE strange_labels (project text, owner integer)")
            db.execute("CREATE TABLE narrow (id uuid PRIMARY KEY, project text, key bigint, embedding vector(3))")
        yield server


_FAILURES = {
    "no password": {"PGPASSWORD": ""},
    "a wrong password": {"PGPASSWORD": "another"},
    "no such user": {"FATHOM_STORE__URL": "postgresql://nobody@{host}/postgres"},
    "no such database": {"FATHOM_STORE__URL": "postgresql://fathom@{host}/none"},
    "no right": {"FATHOM_STORE__URL": "postgresql://guest@{host}/postgres"},
    "no address": {"FATHOM_STORE__URL": "postgresql://fathom@{host}/postgres?nothing=1"},
    "tables of others": {"FATHOM_STORE__COLLECTION": "strange"},
    "a table of other vectors": {"FATHOM_STORE__COLLECTION": "narrow"},
}


@pytest.mark.parametrize("failure", _FAILURES)
def test_whatever_fails_nothing_stops(
    postgres: postgres_server.PostgresServer, shop: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    """The catalogue gives the same hits, the failure is named once with its remedy, and the run goes on."""
    with Engine.open(str(shop)) as engine:
        engine.index()
        before = all_places(engine)
    host = f"127.0.0.1:{postgres.port}"
    monkeypatch.setenv("PGPASSWORD", postgres_server.PASSWORD)
    monkeypatch.setenv("FATHOM_STORE__VECTORS", "postgres")
    monkeypatch.setenv("FATHOM_STORE__URL", postgres.url)
    for name, value in _FAILURES[failure].items():
        monkeypatch.setenv(name, value.format(host=host))
    with Engine.open(str(shop)) as engine:
        assert all_places(engine) == before
        notes = [note for note in engine.search(QUESTIONS[0], mode="vector").degraded if "index answer" in note]
        assert len(notes) == 1
        assert "; " in notes[0]
        report = engine.index()
        assert (report.failures, report.paused) == ((), "")
        assert "; " in report.store_problem
        assert engine.status().store_problem
        (check,) = (check for check in engine.doctor() if check.name == "vector store")
        assert not check.ok
        assert engine.files.lines("shop/orders.py", 1, 2).text
