"""Requests that no honest client sends: each gets an answer in its form, tells nothing, and /health answers meanwhile.

The server is a process of its own, so that one that hangs can be ended. The requests are in `hostile.py`.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pydantic import BaseModel, ValidationError
from tests.fathom import Fathom

from codefathom.server.schemas.ask_schemas import AskIn
from codefathom.server.schemas.openai_schemas import CompletionIn
from codefathom.server.schemas.project_schemas import TrialIn
from codefathom.server.schemas.search_schemas import SearchIn

from . import hostile
from .hostile_table import WILD_TEXT, Case, table

CASES = table()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start `fathom serve` with the indexed shop."""
    folder = tmp_path_factory.mktemp("hostile")
    shop = folder / "shop"
    shutil.copytree(Path(__file__).parents[1] / "repos" / "shop", shop)
    (shop / "fathom.toml").touch()
    (shop / "wild.txt").write_text(WILD_TEXT)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "XDG_"))}
    own = {
        "HOME": str(folder),
        "FATHOM_SERVER__DATA_DIR": str(folder / "data"),
        "FATHOM_SERVER__ALLOWED_ROOTS": str(shop),
        "FATHOM_SERVER__READ_TIMEOUT_S": "2",
        "FATHOM_SERVER__SEARCH_TIMEOUT_S": "3",
        "FATHOM_LIMITS__ATTEMPTS": "1",
    }
    log = folder / "log"
    with log.open("wb") as said, Fathom(["serve", shop, "--port", "0"], env=kept | own, stderr=said) as server:
        try:
            until = time.monotonic() + hostile.LONG_S
            while not (found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())):
                assert server.poll() is None and time.monotonic() < until, log.read_text()
                time.sleep(0.05)
            httpx.post(f"{found[0]}/index", json={"codebase_path": str(shop)}, timeout=600).raise_for_status()
            yield found[0]
        finally:
            server.kill()


def test_the_table_is_long_enough_and_has_each_request_once() -> None:
    assert len({case.data for case in CASES}) > 200
    assert len({case.name for case in CASES}) == len(CASES)


LONG = [pytest.mark.long]
TRIED = [
    pytest.param(case, id=name, marks=LONG if case.long else [])
    for case, name in zip(CASES, hostile.names(CASES), strict=True)
]


@pytest.mark.parametrize("case", TRIED)
def test_a_hostile_request_is_answered_and_harms_nobody(address: str, case: Case) -> None:
    assert hostile.tried(address, case) == []


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (SearchIn, {f"k{number}": 0 for number in range(100_000)}),
        (TrialIn, {"settings": {f"k{number}": {} for number in range(100_000)}}),
        (TrialIn, {"settings": {f"k{number}": [1] * 1_000 for number in range(100)}}),
        (SearchIn, {"query": "x", "directory_filter": [1] * 500_000}),
        (AskIn, {"query": "x", "history": [{f"k{number}": 0 for number in range(500)}] * 200}),
        (CompletionIn, {"model": "x", "messages": [{"role": "user", "content": [1] * 1_000}] * 500}),
    ],
)
def test_a_body_does_not_have_half_a_million_errors(kind: type[BaseModel], body: dict[str, object]) -> None:
    """They would be put together while nobody else is answered."""
    with pytest.raises(ValidationError) as caught:
        kind.model_validate(body)
    assert caught.value.error_count() == 1


def test_they_can_be_sent_again_and_again(address: str) -> None:
    told: list[str] = []
    assert hostile.run(address, 3, [case for case in CASES if not case.long][-70:-60], told.append) == []
    assert told[-1] == "round 3 of 3: 10 requests, 0 faults"


def test_after_all_of_them_the_server_works(address: str) -> None:
    until = time.monotonic() + hostile.LONG_S
    status = 0
    while status != 200 and time.monotonic() < until:  # a search in time, also on a machine that is slow
        body = {"query": "price", "project_id": "shop"}
        found = httpx.post(f"{address}/search", json=body, timeout=hostile.LONG_S)
        status = found.status_code
    assert found.json()["hits"]
