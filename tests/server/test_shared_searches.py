"""Equal questions share one search, and an answer holds only for what it was made of."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import httpx
import pytest
from tests.waiting import LONG_S

from codefathom.server.searches.search_cache import ResultCache
from codefathom.server.server_config import ServerConfig

from .conftest import Serve
from .test_live import write
from .test_projects import add, index

QUESTION = {"query": "where are orders priced", "project_id": "shop"}


def asked(client: httpx.Client, body: object = QUESTION, token: str = "") -> dict:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    answer = client.post("/search", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


# ---- what an answer depends on


def test_the_next_question_has_the_settings_of_now(serve: Serve, config: ServerConfig, shop: Path) -> None:
    with serve(config) as server:
        add(server, shop)
        index(shop)
        assert asked(server)["mode"] == "hybrid"
        write(shop / "fathom.toml", '[search]\nmode = "lexical"\n')
        assert asked(server)["mode"] == "lexical"


def test_an_index_that_was_made_again_is_another_one(serve: Serve, config: ServerConfig, shop: Path) -> None:
    with serve(config) as server:
        add(server, shop)
        index(shop)
        before = asked(server, {"query": "priced_here_only", "project_id": "shop"})
        shutil.rmtree(shop / ".fathom")
        (shop / "here.py").write_text("def priced_here_only():\n    return 1\n")
        index(shop)
        now = asked(server, {"query": "priced_here_only", "project_id": "shop"})
        assert [hit["path"] for hit in before["hits"]] != ["here.py"]
        assert now["hits"][0]["path"] == "here.py"


def test_what_an_index_gave_before_it_changed_is_not_kept() -> None:
    cache = ResultCache(lambda: 10, lambda: 300.0, size_of=len, version_of=lambda key: (key[0], key[1]))

    def ask(*key: object) -> None:
        cache.get_or_make(key, lambda: "xx")

    for key in (("shop", 1, "a"), ("shop", 1, "b"), ("depot", 1, "a"), ("shop", 2, "a")):
        ask(*key)
    assert (cache.counts().n_entries, cache.n_bytes) == (2, 4)  # of the depot, and of the shop as it is
    ask("shop", 1, "c")  # a search that began before the change takes nothing away
    ask("shop", 2, "a")
    ask("depot", 1, "a")
    assert (cache.counts().n_entries, cache.counts().n_hits) == (3, 2)
    ask("shop", 3, "a")
    assert cache.counts().n_entries == 2


# ---- one search for all who ask at that time


def test_who_asks_while_a_value_is_made_waits_for_it() -> None:
    cache = ResultCache(lambda: 10, lambda: 300.0)
    has_begun, may_end, made = Event(), Event(), []

    def make() -> int:
        has_begun.set()
        assert may_end.wait(LONG_S)
        made.append(1)
        return 42

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(cache.get_or_make, "key", make)
        assert has_begun.wait(LONG_S)
        others = [pool.submit(cache.get_or_make, "key", make, again=lambda value: value + 1) for _ in range(3)]
        may_end.set()
        assert first.result(LONG_S) == 42
        assert [other.result(LONG_S) for other in others] == [43] * 3
    assert len(made) == 1
    assert cache.counts() == (1, 3, 1)


@pytest.mark.parametrize("is_failing", [True, False])
def test_what_failed_or_may_not_be_kept_is_made_by_each(is_failing: bool) -> None:
    cache = ResultCache(lambda: 10, lambda: 300.0)
    has_begun, may_end = Event(), Event()

    def first_value() -> int:
        has_begun.set()
        assert may_end.wait(LONG_S)
        if is_failing:
            raise ZeroDivisionError
        return 1

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get_or_make, "key", first_value, keep=lambda _: False)
        assert has_begun.wait(LONG_S)
        other = pool.submit(cache.get_or_make, "key", lambda: 2)
        may_end.set()
        assert other.result(LONG_S) == 2
        if is_failing:
            with pytest.raises(ZeroDivisionError):
                first.result(LONG_S)
        else:
            assert first.result(LONG_S) == 1


def test_values_are_kept_up_to_a_number_of_bytes() -> None:
    cache = ResultCache(lambda: 1000, lambda: 300.0, size_of=len, most_bytes=100)
    for number in range(20):
        cache.get_or_make(number, lambda: "x" * 30)
        assert cache.n_bytes <= 100
    assert cache.counts().n_entries == 3
    cache.get_or_make("large", lambda: "x" * 101)
    assert cache.n_bytes == 0, "one that has no room alone"
    cache.get_or_make("small", lambda: "x" * 40)
    assert cache.n_bytes == 40
