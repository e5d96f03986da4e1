"""An index of an older format: whoever waits until it is brought up hears of it; where it cannot be, what to do."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fathom import run_fathom
from tests.mcp_session import McpSession
from tests.older_formats import made_older

from codefathom import Engine
from codefathom.server.jobs.job_child import messages
from codefathom.server.jobs.job_messages import Order, Report, Step
from codefathom.stores.catalog.schema import FORMAT

pytestmark = pytest.mark.usefixtures("own_folders")

QUESTION = "price of an order"
WORD = f"the index has format {FORMAT - 1} of an older fathom: it is written in format {FORMAT} first"


@pytest.fixture
def old(shop: Path) -> Path:
    """A project whose index the version before has written."""
    with Engine.open(str(shop)) as engine:
        engine.index()
    made_older(catalogue_of(shop), FORMAT - 1)
    return shop


def catalogue_of(root: Path) -> Path:
    return root / ".fathom" / "catalog.db"


@contextmanager
def written_elsewhere(root: Path) -> Iterator[None]:
    """Keep everybody from bringing it up until the block ends, as another process does that is at it."""
    db = sqlite3.connect(catalogue_of(root), isolation_level=None)
    try:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")
    finally:
        db.close()


def test_a_command_says_once_what_it_waits_for(old: Path) -> None:
    told = run_fathom("search", QUESTION, cwd=old, text=True)
    assert (told.returncode, "pricing.py" in told.stdout) == (0, True), told.stderr
    assert (told.stderr.count(WORD), WORD in told.stdout) == (1, False)
    assert WORD not in run_fathom("search", QUESTION, cwd=old, text=True).stderr


def test_a_command_that_is_to_be_quiet_is(old: Path) -> None:
    assert WORD not in run_fathom("search", "-q", QUESTION, cwd=old, text=True).stderr


def test_a_program_hears_of_it_before_and_its_first_result_has_it(old: Path) -> None:
    heard: list[str] = []
    with Engine.open(str(old), on_wait=heard.append) as engine:
        first, second = engine.search(QUESTION), engine.search(QUESTION)
    assert [text.startswith(WORD) for text in heard] == [True]
    assert [sum(str(note).startswith(WORD) for note in result.problems) for result in (first, second)] == [1, 0]
    assert first.hits == second.hits


def test_the_progress_of_a_call_of_an_agent_tells_it(old: Path) -> None:
    with McpSession(old) as session:
        with written_elsewhere(old):
            key = session.begin("map", {}, progressToken=1)
            first = session.next(lambda message: message.get("method") == "notifications/progress")
            assert first["params"]["message"].startswith(WORD)
            cancelled = session.begin("map", {}, progressToken=2)
            session.cancel(cancelled)
            assert session.ask("ping")["result"] == {}
        assert session.response(key)["result"]["structuredContent"]["outline"]
        assert session.content("search", query=QUESTION)["hits"]


def test_a_job_of_the_server_tells_it_as_a_step(old: Path) -> None:
    steps: list[Step] = []
    said = list(messages(Order(str(old)), on_step=steps.append))
    assert isinstance(said[-1], Report)
    assert [(step.phase, step.message.startswith(WORD)) for step in steps] == [("waiting", True)]


@pytest.mark.parametrize("words", [("search", QUESTION), ("symbols", "order"), ("status",), ("index",)], ids=" ".join)
def test_where_it_cannot_be_written_the_error_says_what_to_do(old: Path, words: tuple[str, ...]) -> None:
    if sys.platform == "win32":
        pytest.skip("needs limits of POSIX")
    from tests.e2e.test_full_disk import limited

    before = catalogue_of(old).read_bytes()
    told = limited(old, *words)
    assert told.returncode == 2, told.stdout
    assert f"has format {FORMAT - 1} of an older fathom, and cannot be written in format {FORMAT}" in told.stderr
    assert "set FATHOM_INDEX_DIR to another folder" in told.stderr
    assert catalogue_of(old).read_bytes() == before
    assert run_fathom("search", QUESTION, cwd=old, text=True).returncode == 0  # there is room again
