"""A project that is being indexed holds up no search in other projects, and is not said to be damaged."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest
from tests.server.conftest import serving
from tests.server.test_projects import add, index
from tests.waiting import LONG_S, comes

from codefathom.askers.joined import JoinedProjects
from codefathom.cli import main
from codefathom.config.configuration import load_settings
from codefathom.engine import Engine
from codefathom.server.app import create_app
from codefathom.server.projects.served_engine import ServedEngine
from codefathom.server.server_config import ServerConfig
from codefathom.stores.lock import writer_lock
from codefathom.types import Progress

QUESTION = "where are orders priced"
N_FILES = 401  # of the large project
SMALLER = {"embed.dimensions": 64, "embed.reduce": "truncate"}


def large(folder: Path) -> Path:
    """A project of several batches of files."""
    folder.mkdir()
    (folder / "fathom.toml").touch()
    for number in range(N_FILES - 1):
        (folder / f"zoo_{number}.py").write_text(f"def feed_kangaroo_{number}():\n    return 'grass'\n")
    return folder


@contextmanager
def held_run(folder: Path) -> Iterator[Progress]:
    """Hold a run over a project after its first files; yield how far it is."""
    with Engine.open(str(folder)) as engine, closing(engine.index_events()) as events:
        yield next(event for event in events if isinstance(event, Progress) and event.phase == "index" and event.n_done)


@contextmanager
def held_writer(folder: Path) -> Iterator[None]:
    """Hold the right to write the index of a project."""
    (folder / ".fathom").mkdir(exist_ok=True)
    with writer_lock(str(folder / ".fathom")):
        yield


def share(step: Progress) -> int:
    return step.n_done * 100 // N_FILES


@pytest.fixture
def beside(server: httpx.Client, shop: Path, tmp_path: Path) -> Iterator[Progress]:
    """A run that stands still: the first over `terraform`, beside an indexed project."""
    add(server, shop)
    index(shop)
    add(server, large(tmp_path / "terraform"))
    with held_run(tmp_path / "terraform") as step:
        yield step


def test_a_search_over_all_names_what_is_being_indexed(server: httpx.Client, beside: Progress) -> None:
    found = server.post("/search", json={"query": QUESTION}).json()
    assert {hit["project_id"] for hit in found["hits"]} == {"shop"}
    assert found["degraded"] == []
    assert found["indexing"] == [{"project_id": "terraform", "n_done": beside.n_done, "n_files": N_FILES}]
    assert [item["problem"] and item["problem"]["code"] for item in found["projects"]] == [None, "indexing"]
    assert found["projects"][1]["problem"]["detail"] == f"the project 'terraform' is being indexed, {share(beside)} %"


@pytest.mark.parametrize(
    ("route", "values"),
    [("symbols", {"query": "total_cents"}), ("related", {"target": "@@total_cents"}), ("map", {"query": QUESTION})],
)
def test_what_looks_around_names_it_too(server: httpx.Client, beside: Progress, route: str, values: dict) -> None:
    told = server.get(f"/federated/{route}", params=values).raise_for_status().json()
    assert told["indexing"] == [{"project_id": "terraform", "n_done": beside.n_done, "n_files": N_FILES}]
    assert {name: problem["code"] for name, problem in told["failed"].items()} == {"terraform": "indexing"}


@pytest.mark.parametrize("route", ["/context", "/ask"])
def test_contexts_and_answers_have_one_quiet_line(server: httpx.Client, beside: Progress, route: str) -> None:
    told = server.post(route, json={"query": QUESTION}).raise_for_status().json()
    assert f"terraform is being indexed, {share(beside)} %" in told["degraded"]
    assert not any("damaged" in note or "repairs" in note for note in told["degraded"])


def test_a_project_that_is_asked_alone_gives_what_it_has(server: httpx.Client, beside: Progress) -> None:
    found = server.post("/search", json={"query": "feed_kangaroo_1", "project_id": "terraform"}).json()
    note = f"the project is being indexed, {share(beside)} %; until then only names are found"
    assert found["degraded"] == [note]
    assert found["indexing"] == []


def test_a_run_that_was_ended_is_named_as_unfinished(tmp_path: Path) -> None:
    folder = large(tmp_path / "terraform")
    with held_run(folder) as step:
        pass
    settings = load_settings(str(folder), environ={**os.environ, "FATHOM_SEARCH__REFRESH": "never"})
    with Engine.open(str(folder), settings=settings) as engine:
        (note,) = engine.search("feed_kangaroo_1").degraded
    assert note.startswith(f"the first `fathom index` has not finished: {step.n_done} of {N_FILES} files are indexed")


def test_a_job_that_has_stored_nothing_yet_is_no_lack_of_an_index(config: ServerConfig, shop: Path) -> None:
    app = create_app(config)
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        add(client, shop)
        with held_writer(shop):
            job = client.post("/projects/shop/index", headers={"accept": "application/json"}).json()
            answer = client.post("/search", json={"query": QUESTION})
            assert (answer.status_code, answer.json()["code"]) == (409, "indexing")
            assert answer.json()["detail"].startswith("the project 'shop' is being indexed")
            client.post(f"/jobs/{job['id']}/cancel")


def test_an_index_of_another_model_answers_and_a_job_makes_the_vectors(server: httpx.Client, shop: Path) -> None:
    """No search makes them, and none waits for them."""
    add(server, shop)
    index(shop)
    old = server.post("/search", json={"query": QUESTION}).json()
    server.patch("/projects/shop", json={"settings": SMALLER}).raise_for_status()
    with held_writer(shop):  # so that the job stays where it is
        told = server.post("/search", json={"query": QUESTION}).raise_for_status().json()
        assert told["hits"]
        assert [note for note in told["degraded"] if "was made with the embedding model" in note]
        assert not [note for note in told["degraded"] if "damaged" in note]
        assert told["stale"]
        server.post("/search", json={"query": "another question"}).raise_for_status()
        (job,) = server.get("/jobs").json()["jobs"]
    assert comes(lambda: server.get(f"/jobs/{job['id']}").json()["state"] == "done")
    told = server.post("/search", json={"query": QUESTION}).json()
    assert (told["degraded"], told["stale"]) == ([], False)
    assert told["hits"][0]["path"] == old["hits"][0]["path"]


def test_a_run_that_makes_another_model_is_not_waited_for(shop: Path) -> None:
    index(shop)
    settings = load_settings(
        str(shop), environ={**os.environ, "FATHOM_EMBED__DIMENSIONS": "64", "FATHOM_EMBED__REDUCE": "truncate"}
    )
    with held_writer(shop), Engine.open(str(shop), settings=settings) as engine:
        result = engine.search(QUESTION)
        assert result.hits
        (note,) = result.degraded
        assert "they are being made; until then only words and names are found" in note
    with Engine.open(str(shop), settings=settings) as engine:
        assert engine.search(QUESTION).degraded == ()


def test_several_projects_on_the_command_line(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index(shop)
    folder = large(tmp_path / "terraform")
    words = ["--project", str(shop), "--project", str(folder)]
    with held_run(folder) as step:
        assert main(["search", *words, QUESTION]) == 0
        out, err = capsys.readouterr()
        assert "shop/shop/pricing.py" in out
        assert err.count(f"terraform is being indexed, {share(step)} %") == 1
        assert "damaged" not in err
        for command in (["search", QUESTION], ["symbols", "total_cents"], ["related", "@@total_cents"], ["map"]):
            assert main([command[0], "--json", *words, *command[1:]]) == 0
            told = json.loads(capsys.readouterr().out)
            assert told["indexing"] == [{"project": "terraform", "n_done": step.n_done, "n_files": N_FILES}]


def test_where_all_are_being_indexed_each_gives_what_it_has(tmp_path: Path) -> None:
    folders = [large(tmp_path / name) for name in ("one", "two")]
    with held_run(folders[0]), held_run(folders[1]), ExitStack() as stack:
        engines = {folder.name: stack.enter_context(Engine.open(str(folder))) for folder in folders}
        found = JoinedProjects({name: ServedEngine(engine.place) for name, engine in engines.items()}).search(
            "feed_kangaroo_1"
        )
        assert set(found.results) == {"one", "two"}
