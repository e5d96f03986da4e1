"""Processes that search: they find what the engine finds, follow the index, and are ended when they take too long."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from tests.server.conftest import Serve
from tests.server.test_projects import add, index
from tests.waiting import LONG_S, comes, join

from codefathom import Engine
from codefathom.answer.answer_types import Answer
from codefathom.answer.ask import AnswerSources
from codefathom.config.settings import Settings
from codefathom.errors import IndexingError, UsageError
from codefathom.question.question import Question
from codefathom.server.http.problem_json import LeftError, SlowError
from codefathom.server.searches.loose_index import LooseIndex, LooseIndexTask
from codefathom.server.searches.search_child import SearchTask
from codefathom.server.searches.search_end import SearchEnd, watched
from codefathom.server.searches.search_pool import SearchPool
from codefathom.server.server_config import ServerConfig
from codefathom.system.stopping import stopping
from codefathom.types import SearchResult

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


QUESTIONS = (
    Question(QUESTION, limit=3),
    Question(QUESTION, "context", max_files=2),
    Question("shop/pricing.py", "related"),
    Question("", "impact", diff="--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"),
    Question("price", "symbols", limit=2),
    Question("price", "map", max_tokens=500),
    Question("shop", "files"),
    Question(QUESTION, "ask"),
)


def timeless(event: Any) -> Any:
    """Return an event without what another run says otherwise."""
    if isinstance(event, SearchResult):
        return replace(event, milliseconds=0.0)
    return replace(event, trace=()) if isinstance(event, Answer) else event


def wanted(shop: Path, query: str = QUESTION, **options: Any) -> SearchTask:
    return SearchTask(str(shop), 1, Settings(), Question(query, **options), LONG_S)


def searched(pool: SearchPool, task: SearchTask, end: SearchEnd | None = None) -> SearchResult:
    result: SearchResult = pool.result(task, end or SearchEnd())
    return result


def test_a_process_finds_what_the_engine_finds(shop: Path, search_pool: SearchPool) -> None:
    index(shop)
    with Engine.open(str(shop)) as engine:
        here = engine.search(QUESTION, limit=3)
    there = searched(search_pool, wanted(shop, limit=3))
    assert replace(there, milliseconds=0.0) == replace(here, milliseconds=0.0)
    assert searched(search_pool, wanted(shop, limit=1)).hits == here.hits[:1]
    assert len(search_pool._all) == 1


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.kind)
def test_every_kind_of_question_is_answered_as_the_engine_answers_it(
    shop: Path, search_pool: SearchPool, question: Question
) -> None:
    index(shop)
    with Engine.open(str(shop)) as engine:
        here = list(engine.answer(question))
    there = list(search_pool.answer(replace(wanted(shop), question=question), SearchEnd()))
    assert list(map(timeless, there)) == list(map(timeless, here))
    assert len(here) == 1 or question.kind == "ask"


def test_an_answer_comes_event_by_event_and_ends_with_its_process_when_it_is_left(
    shop: Path, search_pool: SearchPool
) -> None:
    index(shop)
    events = search_pool.answer(wanted(shop, kind="ask"), SearchEnd())
    assert isinstance(next(events), AnswerSources)
    assert len(search_pool._all) == 1
    events.close()
    assert not search_pool._all
    assert searched(search_pool, wanted(shop)).hits, "another one answers"


def test_loose_files_are_answered_from_an_index_that_somebody_else_holds(
    shop: Path, search_pool: SearchPool, tmp_path: Path
) -> None:
    folder = tmp_path / "folder of the index"
    folder.mkdir()
    made = LooseIndexTask((str(shop / "shop"),), (), (), Settings(), str(folder), LONG_S)
    loose: LooseIndex = search_pool.result(made, SearchEnd())
    assert loose.root == str(shop / "shop")
    task = replace(wanted(shop), root=str(folder), loose=loose.files)
    paths = {f"{loose.root}/{hit.chunk.path}" for hit in searched(search_pool, task).hits}
    assert paths and paths <= set(loose.files)


def test_its_errors_are_those_of_the_engine(shop: Path, search_pool: SearchPool) -> None:
    index(shop)
    with pytest.raises(UsageError, match="is not a regular expression") as caught:
        searched(search_pool, wanted(shop, "(", mode="regex"))
    assert "backslash" in caught.value.hint
    assert searched(search_pool, wanted(shop)).hits, "the process goes on"
    assert len(search_pool._all) == 1


def test_a_fault_of_the_program_is_told_with_its_trace_and_the_process_goes_on(
    shop: Path, search_pool: SearchPool
) -> None:
    index(shop)
    with pytest.raises(RuntimeError, match="KeyError: 'bogus'"):
        searched(search_pool, wanted(shop, kind="bogus"))
    assert searched(search_pool, wanted(shop)).hits
    assert len(search_pool._all) == 1


def test_a_search_that_nobody_waits_for_ends_with_its_process(shop: Path, search_pool: SearchPool) -> None:
    (shop / "victim.py").write_text(VICTIM)
    index(shop)
    end = SearchEnd()
    endless = replace(wanted(shop, ENDLESS, mode="regex"), settings=PATIENT)
    with ThreadPoolExecutor(1) as threads:
        search = threads.submit(search_pool.result, endless, end)
        assert comes(lambda: search_pool._all)
        end.come()
        end.enforce()
        with pytest.raises(LeftError):
            search.result(LONG_S)
    assert not search_pool._all
    with pytest.raises(LeftError):
        searched(search_pool, wanted(shop), end)
    assert not search_pool._all, "nothing is begun"


def test_work_inside_of_other_work_is_left_with_it(
    shop: Path, search_pool: SearchPool, caplog: pytest.LogCaptureFixture
) -> None:
    """A search of a request that can be stopped has an end of its own, which nobody brings but the request's."""
    index(shop)
    end = SearchEnd()
    with stopping(lambda: False), watched(end, LONG_S) as own:
        end.come()
        end.enforce()
        with pytest.raises(LeftError):
            searched(search_pool, wanted(shop), own)
    assert not search_pool._all, "nothing is begun"
    assert caplog.messages == []


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


def test_nothing_is_ended_once_its_work_is_over() -> None:
    """Else the process would be another search's by then."""
    end, reached, go_on, is_over = SearchEnd(), Event(), Event(), Event()

    def ended() -> None:
        reached.set()
        go_on.wait(LONG_S)
        order.append("ended")

    def work() -> None:
        with end.reaching(ended):
            begun.set()
            reached.wait(LONG_S)
        order.append("over")
        is_over.set()

    order: list[str] = []
    begun = Event()
    worker = Thread(target=work)
    worker.start()
    assert begun.wait(LONG_S)
    enforcer = Thread(target=end.enforce)
    enforcer.start()
    assert not is_over.wait(0.3), "an end that is on its way is waited for"
    go_on.set()
    join(worker, enforcer)
    assert order == ["ended", "over"]


def test_a_process_that_is_ended_after_its_last_words_answers_nobody_else(
    shop: Path, search_pool: SearchPool, caplog: pytest.LogCaptureFixture
) -> None:
    index(shop)
    end = SearchEnd()
    events = search_pool.answer(wanted(shop), end)
    first = next(events)
    (process,) = search_pool._all
    assert isinstance(process._process.stdout, BufferedReader)
    assert process._process.stdout.peek(1), "its last words are written"
    end.come()
    end.enforce()
    assert isinstance(first, SearchResult)
    assert list(events) == []
    assert process not in search_pool._all
    assert searched(search_pool, wanted(shop)).hits
    assert caplog.messages == []


def test_it_follows_the_index_and_takes_over_other_settings(shop: Path, search_pool: SearchPool) -> None:
    index(shop)
    before = searched(search_pool, wanted(shop))
    (shop / "late.py").write_text("def latecomer() -> None:\n    '''Comes late.'''\n")
    assert not [hit for hit in searched(search_pool, wanted(shop, "latecomer")).hits if hit.chunk.path == "late.py"]
    index(shop)
    after = searched(search_pool, wanted(shop, "latecomer"))
    assert after.hits[0].chunk.path == "late.py"
    assert after.generation > before.generation
    few = Settings()._replace(search=Settings().search._replace(limit=1))
    assert len(searched(search_pool, replace(wanted(shop), settings=few)).hits) > 1, (
        "the version says that nothing changed"
    )
    assert len(searched(search_pool, replace(wanted(shop), settings=few, version=2)).hits) == 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that ends a process")
def test_what_takes_too_long_is_ended_with_its_process(shop: Path, search_pool: SearchPool) -> None:
    (shop / "victim.py").write_text(VICTIM)
    index(shop)
    endless = replace(wanted(shop, ENDLESS, mode="regex"), limit_s=0.5)
    with pytest.raises(SlowError, match=r"0\.5 s"):
        searched(search_pool, endless)
    assert len(search_pool._all) == 0
    assert searched(search_pool, wanted(shop)).hits


def test_a_process_that_has_died_is_replaced(shop: Path, search_pool: SearchPool) -> None:
    index(shop)
    searched(search_pool, wanted(shop))
    (process,) = search_pool._all
    os.kill(process._process.pid, signal.SIGKILL)
    process._process.wait(LONG_S)
    assert searched(search_pool, wanted(shop)).hits
    assert len(search_pool._all) == 1


def test_as_many_processes_as_searches_at_once_and_none_after_the_end(shop: Path, search_pool: SearchPool) -> None:
    index(shop)
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda n: searched(search_pool, wanted(shop, limit=n)), [1, 2, 3, 4] * 3))
    assert [len(result.hits) for result in found] == [1, 2, 3, 4] * 3
    processes = list(search_pool._all)
    assert 1 <= len(processes) <= 2
    search_pool.close()
    assert all(not process.is_running for process in processes)
    with pytest.raises(IndexingError, match="shutting down"):
        searched(search_pool, wanted(shop))


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
    assert {answer.status_code for answer in answers} == {200, 429}, "all are of one client, which sends too much"
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json()["code"] == "too_many_requests"
    wait_s = refused.headers["retry-after"]
    assert refused.json()["hint"] == f"try again in {wait_s} s"
    assert int(wait_s) >= 1
