"""Processes that search: they find what the engine finds, follow the index, and are ended when they take too long."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.server.conftest import Serve
from tests.server.test_projects import add, index
from tests.waiting import LONG_S, comes

from codefathom import Engine
from codefathom.config.settings import Settings
from codefathom.errors import IndexingError, UsageError
from codefathom.server.http.problem_json import LeftError, SlowError
from codefathom.server.searches.search_child import SearchTask
from codefathom.server.searches.search_end import SearchEnd
from codefathom.server.searches.search_pool import SearchPool
from codefathom.server.server_config import ServerConfig

QUESTION = "where are orders priced"
# Grows with the number of letters by the power of two: no machine is done with it.
ENDLESS = "(a|a)+$"
VICTIM = f"text = '{'a' * 60}!'\n"
PATIENT = Settings()._replace(search=Settings().search._replace(expression_timeout_s=600.0))


@pytest.fixture
def search_pool() -> Iterator[SearchPool]:
    made = SearchPool()
    yield made
    made.close()


def wanted(shop: Path, query: str = QUESTION, **options: object) -> SearchTask:
    return SearchTask(str(shop), 1, Settings(), query, options, LONG_S)


def test_a_process_finds_what_the_engine_finds(shop: Path, search_pool: SearchPool) -> None:
    index(shop)
    with Engine.open(str(shop)) as engine:
        here = engine.search(QUESTION, limit=3)
    there = search_pool.search(wanted(shop, limit=3))
    assert replace(there, milliseconds=0.0) == replace(here, milliseconds=0.0)
    assert search_pool.search(wanted(shop, limit=1)).hits == here.hits[:1]
    assert len(search_pool._all) == 1


def test_its_errors_are_those_of_the_engine(shop: Path, search_pool: SearchPool) -> None:
    index(shop)
    with pytest.raises(UsageError, match="is not a regular expression") as caught:
        search_pool.search(wanted(shop, "(", mode="regex"))
    assert "backslash" in caught.value.hint
    assert search_pool.search(wanted(shop)).hits, "the process goes on"
    assert len(search_pool._all) == 1


def test_a_fault_of_the_program_is_told_with_its_trace_and_the_process_goes_on(
    shop: Path, search_pool: SearchPool
) -> None:
    index(shop)
    with pytest.raises(RuntimeError, match="unexpected keyword argument 'bogus'"):
        search_pool.ask(replace(wanted(shop, "price", bogus=1), call="related"), SearchEnd())
    assert search_pool.search(wanted(shop)).hits
    assert len(search_pool._all) == 1


def test_a_search_that_nobody_waits_for_ends_with_its_process(shop: Path, search_pool: SearchPool) -> None:
    (shop / "victim.py").write_text(VICTIM)
    index(shop)
    end = SearchEnd()
    endless = replace(wanted(shop, ENDLESS, mode="regex"), settings=PATIENT)
    with ThreadPoolExecutor(1) as threads:
        search = threads.submit(search_pool.search, endless, end)
        assert comes(lambda: search_pool._all)
        end.come()
        end.enforce()
        with pytest.raises(LeftError):
            search.result(LONG_S)
    assert not search_pool._all
    with pytest.raises(LeftError):
        search_pool.search(wanted(shop), end)
    assert not search_pool._all, "nothing is begun"


def test_an_end_that_has_come_reaches_what_begins_later() -> None:
    end, reached = SearchEnd(), []
    with end.reaching(lambda: reached.append("over")):
        pass
    end.enforce()
    assert reached == [], "what is over is left alone"
    with end.reaching(lambda: reached.append("late")):
        assert reached == ["late"]
    with pytest.raises(ValueError, match="x"), end.reaching(lambda: None):
        raise ValueError("x")
    assert end._ends == []


def test_it_follows_the_index_and_takes_over_other_settings(shop: Path, search_pool: SearchPool) -> None:
    index(shop)
    before = search_pool.search(wanted(shop))
    (shop / "late.py").write_text("def latecomer() -> None:\n    '''Comes late.'''\n")
    assert not [hit for hit in search_pool.search(wanted(shop, "latecomer")).hits if hit.chunk.path == "late.py"]
    index(shop)
    after = search_pool.search(wanted(shop, "latecomer"))
    assert after.hits[0].chunk.path == "late.py"
    assert after.generation > before.generation
    few = Settings()._replace(search=Settings().search._replace(limit=1))
    assert len(search_pool.search(replace(wanted(shop), settings=few)).hits) > 1, (
        "the version says that nothing changed"
    )
    assert len(search_pool.search(replace(wanted(shop), settings=few, version=2)).hits) == 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that ends a process")
def test_what_takes_too_long_is_ended_with_its_process(shop: Path, search_pool: SearchPool) -> None:
    (shop / "victim.py").write_text(VICTIM)
    index(shop)
    endless = replace(wanted(shop, ENDLESS, mode="regex"), limit_s=0.5)
    with pytest.raises(SlowError, match=r"0\.5 s"):
        search_pool.search(endless)
    assert len(search_pool._all) == 0
    assert search_pool.search(wanted(shop)).hits


def test_a_process_that_has_died_is_replaced(shop: Path, search_pool: SearchPool) -> None:
    index(shop)
    search_pool.search(wanted(shop))
    (process,) = search_pool._all
    os.kill(process._process.pid, signal.SIGKILL)
    process._process.wait(LONG_S)
    assert search_pool.search(wanted(shop)).hits
    assert len(search_pool._all) == 1


def test_as_many_processes_as_searches_at_once_and_none_after_the_end(shop: Path, search_pool: SearchPool) -> None:
    index(shop)
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda n: search_pool.search(wanted(shop, limit=n)), [1, 2, 3, 4] * 3))
    assert [len(result.hits) for result in found] == [1, 2, 3, 4] * 3
    processes = list(search_pool._all)
    assert 1 <= len(processes) <= 2
    search_pool.close()
    assert all(not process.is_running for process in processes)
    with pytest.raises(IndexingError, match="shutting down"):
        search_pool.search(wanted(shop))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that ends a process")
def test_over_http_a_slow_search_is_refused_and_the_server_goes_on(
    config: ServerConfig, shop: Path, serve: Serve
) -> None:
    (shop / "victim.py").write_text(VICTIM)
    patient = {**os.environ, "FATHOM_SEARCH__EXPRESSION_TIMEOUT_S": "600"}
    with serve(replace(config, search_timeout_s=10.0, variables=patient)) as server:
        add(server, shop)
        index(shop)
        answer = server.post("/search", json={"query": ENDLESS, "mode": "regex"})
        assert (answer.status_code, answer.json()["code"]) == (504, "too_slow")
        assert "server.search_timeout_s" in answer.json()["hint"]
        # In time, also on a machine that takes seconds to start a process.
        assert comes(lambda: server.post("/search", json={"query": QUESTION}).json().get("hits"))


def test_over_http_too_many_searches_are_refused(config: ServerConfig, shop: Path, serve: Serve) -> None:
    with serve(replace(config, search_processes=1, waiting_searches=1)) as server:
        add(server, shop)
        index(shop)

        def ask(number: int) -> httpx.Response:
            return server.post("/search", json={"query": f"{QUESTION} {number}"})

        with ThreadPoolExecutor(16) as threads:
            answers = list(threads.map(ask, range(48)))
    assert {answer.status_code for answer in answers} == {200, 503}
    refused = next(answer for answer in answers if answer.status_code == 503)
    assert refused.json()["code"] == "busy"
