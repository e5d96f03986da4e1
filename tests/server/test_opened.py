"""Engines kept open and results kept: bounded, shared, and never closed or served at the wrong time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.server.projects.opened_engines import OpenedEngines
from codefathom.server.searches.search_cache import ResultCache


class RecordingModel(Engine):
    """An engine that knows whether it was closed."""

    n_closed = 0

    def close(self) -> None:
        self.n_closed += 1
        super().close()


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    for name in "abcd":
        (tmp_path / name).mkdir()
        (tmp_path / name / "fathom.toml").touch()
        (tmp_path / name / "code.py").write_text(f"def word_{name}():\n    return 1\n", encoding="utf-8")
    return [str(tmp_path / name) for name in "abcd"]


@pytest.fixture
def opened() -> Iterator[OpenedEngines]:
    engines = OpenedEngines(lambda: 2, lambda folder, _: RecordingModel.open(folder))
    yield engines
    engines.close()


def use(opened: OpenedEngines, folder: str) -> RecordingModel:
    with opened.lease(folder) as engine:
        assert isinstance(engine, RecordingModel)
        return engine


def test_the_engines_used_last_stay_open(opened: OpenedEngines, folders: list[str]) -> None:
    a, b, c, _ = folders
    first, second = use(opened, a), use(opened, b)
    assert use(opened, a) is first
    use(opened, c)
    assert len(opened) == 2
    assert (first.n_closed, second.n_closed) == (0, 1)
    assert use(opened, b) is not second


def test_an_engine_in_use_is_not_closed(opened: OpenedEngines, folders: list[str]) -> None:
    with ExitStack() as stack:
        engines = [stack.enter_context(opened.lease(folder)) for folder in folders]
        assert len(opened) == 4
        assert [engine.search("word").hits != () for engine in engines] == [True] * 4
        opened.drop(folders[0])
        assert engines[0].search("word").hits
        assert engines[0].n_closed == 0
    assert [engine.n_closed for engine in engines].count(1) == 2
    assert engines[0].n_closed == 1
    assert len(opened) == 2


def test_a_dropped_engine_is_opened_anew(opened: OpenedEngines, folders: list[str]) -> None:
    with opened.lease(folders[0]) as first:
        opened.drop(folders[0])
        with opened.lease(folders[0]) as second:
            assert second is not first
    assert first.n_closed == 1
    opened.drop(folders[0])
    opened.drop(folders[0])
    assert second.n_closed == 1


def test_threads_share_an_engine_while_others_push_it_out(opened: OpenedEngines, folders: list[str]) -> None:
    barrier = Barrier(8, timeout=LONG_S)

    def work(number: int) -> int:
        barrier.wait()
        n_found = 0
        for turn in range(12):
            folder = folders[(number + turn) % 4]
            with opened.lease(folder) as engine:
                n_found += bool(engine.search(f"word_{folder[-1]}").hits)
        return n_found

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [12] * 8
    assert len(opened) <= 2


# ---- results


def test_a_result_is_kept_for_its_time_and_counted() -> None:
    now = [0.0]
    cache = ResultCache(lambda: 10, lambda: 300.0, lambda: now[0])
    made: list[float] = []

    def make() -> float:
        made.append(now[0])
        return now[0]

    assert [cache.get_or_make("key", make) for _ in range(3)] == [0.0] * 3
    now[0] = 299.0
    assert cache.get_or_make("key", make) == 0.0
    now[0] = 300.0
    assert cache.get_or_make("key", make) == 300.0
    assert made == [0.0, 300.0]
    assert cache.counts() == (1, 3, 2)
    cache.clear()
    assert cache.counts().n_entries == 0


def test_what_is_not_to_be_kept_and_errors_are_made_again() -> None:
    cache = ResultCache(lambda: 10, lambda: 300.0)
    values = iter([1, 2, 3])
    assert cache.get_or_make("key", lambda: next(values), keep=lambda value: value > 1) == 1
    with pytest.raises(ZeroDivisionError):
        cache.get_or_make("key", lambda: 1 // 0)
    assert cache.get_or_make("key", lambda: next(values), keep=lambda value: value > 1) == 2
    assert cache.get_or_make("key", lambda: next(values)) == 2


def test_no_time_keeps_nothing() -> None:
    cache = ResultCache(lambda: 10, lambda: 0.0)
    values = iter([1, 2])
    assert [cache.get_or_make("key", lambda: next(values)) for _ in range(2)] == [1, 2]


@settings(max_examples=100)
@given(st.lists(st.integers(0, 9), max_size=60), st.integers(1, 5))
def test_the_results_used_last_stay(keys: list[int], most: int) -> None:
    cache = ResultCache(lambda: most, lambda: 300.0, lambda: 0.0)
    expected: list[int] = []
    for key in keys:
        made: list[int] = []
        cache.get_or_make(key, lambda made=made: made.append(1))
        assert bool(made) == (key not in expected)
        expected = [*(known for known in expected if known != key), key][-most:]
        assert cache.counts().n_entries == len(expected)
