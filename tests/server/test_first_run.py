"""A project that is being indexed holds up no search in other projects, and is not said to be damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from tests.server.test_projects import add, index

from codefathom.engine import Engine
from codefathom.types import Progress

QUESTION = "where are orders priced"


def large(folder: Path) -> Path:
    """A project of several batches of files."""
    folder.mkdir()
    (folder / "fathom.toml").touch()
    for number in range(400):
        (folder / f"zoo_{number}.py").write_text(f"def feed_kangaroo_{number}():\n    return 'grass'\n")
    return folder


@contextmanager
def held_run(folder: Path) -> Iterator[Progress]:
    """Hold a run over a project after its first files; yield how far it is."""
    with Engine.open(str(folder)) as engine, closing(engine.index_events()) as events:
        yield next(event for event in events if isinstance(event, Progress) and event.phase == "index" and event.n_done)


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
    assert found["indexing"] == [{"project_id": "terraform", "n_done": beside.n_done, "n_files": 401}]
    assert [item["problem"] and item["problem"]["code"] for item in found["projects"]] == [None, "indexing"]
    share = beside.n_done * 100 // 401
    assert found["projects"][1]["problem"]["detail"] == f"the project 'terraform' is being indexed, {share} %"
