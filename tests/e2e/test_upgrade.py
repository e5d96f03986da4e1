"""While the vectors of a slow model are made, the bundled one answers; what is made is kept."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.protocols import tiny
from tests.protocols.server import ServedSettings, Turn, serving
from tests.removing import remove_folder
from tests.waiting import Started, comes

from codefathom import Engine
from codefathom.config.configuration import load_settings
from codefathom.testing import FakeEmbedder, rows_of
from codefathom.types import IndexReport, Progress

N_FILES = 130  # far more than a search waits for


def said(body: dict[str, Any]) -> bytes:
    return json.dumps({"embeddings": rows_of(FakeEmbedder(64).embed(body["input"], "document"))}).encode()


@pytest.fixture
def served() -> Iterator[ServedSettings]:
    with serving(Turn(reply=said)) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / ".fathom").mkdir(parents=True)
    for place in range(N_FILES):
        (root / f"part{place}.py").write_text(f"def step{place}(value):\n    return value + {place}\n")
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    return root


def opened(project: Path, served: ServedSettings, **more: object) -> Engine:
    wanted = {"embed.model": "ollama:m", "embed.base_url": served.base_url, "limits.attempts": 1, "embed.batch": 10}
    return Engine.open(str(project), settings=load_settings(str(project), overrides={**wanted, **more}))


def documents(served: ServedSettings) -> list[str]:
    return [text for asked in served.asked for text in asked.body["input"] if "part" in text]


def steps(engine: Engine, n: int) -> None:
    """Begin a run of `fathom index` and end it after n batches of the slow model."""
    n += 1  # the phase is told before its first batch
    events = engine.index_events()
    for event in events:
        n -= isinstance(event, Progress) and event.phase == "embed"
        if not n:
            break
    events.close()  # type: ignore[attr-defined]


def test_a_first_search_waits_for_no_slow_model(project: Path, served: ServedSettings) -> None:
    with opened(project, served) as engine:
        found = engine.search("step7")
        assert found.hits[0].chunk.path == "part7.py"
        assert found.hits[0].signals["vector"] > 0
        assert found.degraded == (
            f"0 of {N_FILES} chunks have a vector of ollama:m; the bundled model answers until `fathom index` has made "
            "the others",
        )
        assert engine.search("step7", mode="lexical").degraded == ()
        assert documents(served) == []
        assert engine.status().n_without_vector == N_FILES


def test_an_ended_run_goes_on_where_it_stopped(project: Path, served: ServedSettings) -> None:
    with opened(project, served) as engine:
        steps(engine, 3)
        assert engine.status().n_without_vector == N_FILES - 30
        assert engine.search("step7").degraded[0].startswith(f"30 of {N_FILES} chunks have a vector")
        assert ["step7"] not in [asked.body["input"] for asked in served.asked]
    with opened(project, served) as engine:
        report = engine.index()
        assert (report.failures, report.added) == ((), ())
        assert engine.status().n_without_vector == 0
        found = engine.search("step7")
        assert (found.degraded, found.generation) == ((), report.generation)
    assert len(documents(served)) == len(set(documents(served))) == N_FILES
    assert served.asked[-1].body["input"] == ["step7"]


def test_the_begun_vectors_follow_a_change(project: Path, served: ServedSettings) -> None:
    with opened(project, served) as engine:
        steps(engine, 3)
        n_before = len(documents(served))
    (project / "part0.py").unlink()
    (project / "new.py").write_text("def brand_new():\n    return 1\n")
    with opened(project, served) as engine:
        found = engine.search("brand_new")
        assert found.hits[0].chunk.path == "new.py"
        assert len(documents(served)) == n_before
        made = int(found.degraded[0].partition(" ")[0])
        assert made == N_FILES - engine.status().n_without_vector
        assert engine.index().failures == ()
        assert engine.search("brand_new").degraded == ()
        vectors = engine.opened.sources.vectors
        assert vectors is not None
        assert len(vectors.nearest(b"\1" * 64, 2 * N_FILES)) == N_FILES


def test_progress_is_told_in_chunks(project: Path, served: ServedSettings) -> None:
    with opened(project, served) as engine:
        *events, report = engine.index_events()
    told = [event.message for event in events if isinstance(event, Progress) and event.phase == "embed"]
    assert told == [f"{n} of {N_FILES} chunks" for n in (*range(0, N_FILES, 10), N_FILES)]
    assert isinstance(report, IndexReport)
    assert (len(report.added), report.failures) == (N_FILES, ())


def test_progress_moves_with_each_call(project: Path, served: ServedSettings) -> None:
    with opened(project, served, **{"embed.batch": 1_000, "embed.batch_tokens": 200}) as engine:
        n_asked = []
        for event in engine.index_events():
            if isinstance(event, Progress) and event.phase == "embed":
                n_asked.append((event.n_done, len(documents(served))))
                assert event.n_total == N_FILES
    assert n_asked[0] == (0, 0)
    assert n_asked[-1] == (N_FILES, N_FILES)
    assert len(n_asked) - 1 == len([asked for asked in served.asked if "part" in asked.body["input"][0]]) > 10
    assert all(n_done == n_sent for n_done, n_sent in n_asked)


def test_others_search_and_write_meanwhile(project: Path, served: ServedSettings) -> None:
    with opened(project, served) as engine, opened(project, served) as other:
        for event in engine.index_events():
            if isinstance(event, Progress) and event.message.startswith("50 of"):
                (project / "late.py").write_text("def too_late():\n    return None\n")
                (project / "part3.py").unlink()
                found = other.search("too_late")
                assert found.hits[0].chunk.path == "late.py"
                assert not found.stale
        assert other.search("too_late").degraded == (
            f"1 of {N_FILES} chunks have no vector of ollama:m yet; run `fathom index`",
        )
        assert engine.index().failures == ()
        assert engine.search("too_late", mode="vector").hits[0].chunk.path == "late.py"
        assert other.search("too_late", mode="vector").degraded == ()
        assert "part3.py" not in {hit.chunk.path for hit in engine.search("step3", limit=200, mode="vector").hits}


def test_a_small_change_is_embedded_by_the_search_that_finds_it(project: Path, served: ServedSettings) -> None:
    with opened(project, served) as engine:
        engine.index()
    (project / "new.py").write_text("def brand_new():\n    return 1\n")
    (project / "part5.py").unlink()
    with opened(project, served) as engine:
        found = engine.search("brand_new", limit=200, mode="vector")
        assert ("new.py" in {hit.chunk.path for hit in found.hits}, found.degraded) == (True, ())
        assert engine.status().n_without_vector == 0
        assert "part5.py" not in {hit.chunk.path for hit in engine.search("step5", limit=200, mode="vector").hits}


def test_what_was_made_before_a_failure_is_kept(project: Path, served: ServedSettings) -> None:
    bad = Turn(status=400)
    served.turns[:] = [*[Turn(reply=said)] * 5, bad]  # the length of a vector, and four batches
    with opened(project, served) as engine:
        report = engine.index()
        assert len(report.failures) == engine.status().n_without_vector == N_FILES - 40
        assert {failure.reason.partition(":")[0] for failure in report.failures} == {"not embedded"}
        assert report.paused
        assert engine.status().failures == report.failures
        assert engine.search("step7").hits
        served.turns[:] = [Turn(reply=said)]
        n_before = len(documents(served))
        assert engine.index().failures == ()
    assert len(documents(served)[n_before:]) == N_FILES - 40


def test_a_killed_run_sends_little_twice(project: Path, served: ServedSettings) -> None:
    served.turns[:] = [Turn(reply=said, silent_s=0.02)]
    program = "from codefathom.cli import main; main(['index', '--quiet'])"
    environment = os.environ | {
        "FATHOM_EMBED__MODEL": "ollama:m",
        "FATHOM_EMBED__BASE_URL": served.base_url,
        "FATHOM_EMBED__BATCH": "1000",
        "FATHOM_EMBED__BATCH_TOKENS": "200",
    }
    with Started([sys.executable, "-c", program], cwd=project, env=environment) as running:
        assert comes(lambda: len(served.asked) >= 6 or running.poll() is not None)
        running.kill()
    one_call = max(len(asked.body["input"]) for asked in served.asked)
    assert 4 * one_call <= len(documents(served)) < N_FILES
    with opened(project, served) as engine:
        assert engine.index().failures == ()
        assert engine.status().n_without_vector == 0
        assert engine.search("step7").degraded == ()
    assert len(documents(served)) <= N_FILES + one_call
    assert len(set(documents(served))) == N_FILES


def test_nearly_all_are_enough(project: Path, served: ServedSettings) -> None:
    with opened(project, served) as engine:
        steps(engine, 12)
        found = engine.search("step7")
        assert found.degraded == (f"10 of {N_FILES} chunks have no vector of ollama:m yet; run `fathom index`",)
        assert served.asked[-1].body["input"] == ["step7"]


def test_a_lost_view_is_made_again_without_the_model(project: Path, served: ServedSettings) -> None:
    with opened(project, served) as engine:
        engine.index()
        best = [hit.chunk.path for hit in engine.search("step7", mode="vector").hits]
        (folder,) = [path for path in (project / ".fathom").glob("vectors-*") if (path / "vectors.bin").stat().st_size
                     < 20_000]  # fmt: skip
    remove_folder(folder)
    n_before = len(documents(served))
    with opened(project, served) as engine:
        assert "the bundled model answers" in engine.search("step7").degraded[0]
        engine.index()
        found = engine.search("step7", mode="vector")
        assert ([hit.chunk.path for hit in found.hits], found.degraded) == (best, ())
    assert len(documents(served)) == n_before


def test_going_back_and_forth_costs_nothing(project: Path, served: ServedSettings) -> None:
    with opened(project, served) as engine:
        engine.index()
    n_before = len(served.asked)
    with opened(project, served, **{"embed.model": "bundled"}) as engine:
        assert engine.search("step7").degraded == ()
        assert engine.status().n_without_vector == 0
    with opened(project, served) as engine:
        assert engine.search("step7").degraded == ()
    assert [asked.body["input"] for asked in served.asked[n_before:]] == [["step7"]]


def test_another_clone_takes_the_vectors_from_the_cache(project: Path, served: ServedSettings) -> None:
    with opened(project, served) as engine:
        engine.index()
    n_before = len(documents(served))
    shutil.copytree(project, project.parent / "clone", ignore=shutil.ignore_patterns(".fathom"))
    (project.parent / "clone" / ".fathom").mkdir()
    with opened(project.parent / "clone", served) as engine:
        assert engine.index().failures == ()
        assert engine.status().n_without_vector == 0
    assert len(documents(served)) == n_before


def test_a_transformer_on_this_disk_is_slow_and_a_static_model_is_not(project: Path, served: ServedSettings) -> None:
    transformer, static = tiny.embedder(project.parent / "one"), tiny.static(project.parent / "two")
    with opened(project, served, **{"embed.model": f"onnx:{transformer}"}) as engine:
        assert engine.search("step7").degraded[0].startswith(f"0 of {N_FILES} chunks have a vector of onnx:one#")
        engine.index()
        assert engine.search("step7").degraded == ()
    with opened(project, served, **{"embed.model": f"model2vec:{static}"}) as engine:
        assert engine.search("step7").degraded == ()
        assert engine.status().n_without_vector == 0
