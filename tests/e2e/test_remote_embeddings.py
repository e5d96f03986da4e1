"""An index whose vectors come from a server: made, asked, and used while the server is away."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.protocols.server import ServedSettings, Turn, serving

from codefathom import Engine
from codefathom.cli import main
from codefathom.config.configuration import load_settings
from codefathom.errors import ProviderError, SettingsError
from codefathom.providers import pace
from codefathom.testing import FakeEmbedder, rows_of

SHOP = Path(__file__).parent.parent / "repos" / "shop"
SECRET = "ghp_" + "a1B2" * 9


def said(body: dict[str, Any]) -> bytes:
    """Answer as both protocols do."""
    found = rows_of(FakeEmbedder(body.get("dimensions") or 64).embed(body["input"], "document"))
    return json.dumps({"embeddings": found, "data": [{"embedding": row} for row in found]}).encode()


@pytest.fixture
def served() -> Iterator[ServedSettings]:
    with serving(Turn(reply=said)) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "shop"


def opened(project: Path, base_url: str, on_wait: Callable[[str], None] = print, **more: object) -> Engine:
    wanted = {"embed.model": "ollama:m", "embed.base_url": base_url, "limits.attempts": 1, **more}
    return Engine.open(str(project), settings=load_settings(str(project), overrides=wanted), on_wait=on_wait)


def texts(served: ServedSettings) -> list[str]:
    return [text for asked in served.asked for text in asked.body["input"]]


def test_vectors_of_a_server_are_stored_and_found(project: Path, served: ServedSettings) -> None:
    with opened(project, served.base_url) as engine:
        report = engine.index()
        status = engine.status()
        assert (report.failures, status.model, status.n_without_vector) == ((), "ollama:m", 0)
        n_sent = len(texts(served))
        assert n_sent > status.n_chunks // 2
        found = engine.search("how is the price of an order computed", mode="vector")
        assert found.hits
        assert texts(served)[n_sent:] == ["how is the price of an order computed"]
    with opened(project, served.base_url) as engine:
        engine.index()
        assert engine.search("price", mode="hybrid").degraded == ()
        assert texts(served)[n_sent + 1 :] == ["price"]  # nothing is embedded twice, and no length asked for


def test_a_model_at_an_address_of_its_own_is_kept_without_its_login(project: Path, served: ServedSettings) -> None:
    address = f"{served.base_url.replace('//', '//me:geheim@')}/v1"
    with opened(project, "http://127.0.0.1:9", **{"embed.model": f"openai:m@{address}"}) as engine:
        assert engine.index().failures == ()
        assert engine.status().model == f"openai:m@{served.base_url}/v1"
    n_sent = len(texts(served))
    # The same model, named in the other way.
    with opened(project, f"{served.base_url}/v1", **{"embed.model": "openai:m"}) as engine:
        engine.index()
        assert engine.search("price").degraded == ()
    assert texts(served)[n_sent:] == ["price"]
    assert {asked.path for asked in served.asked} == {"/v1/embeddings"}
    kept = [path for path in project.parent.rglob("*") if path.is_file() and b"geheim" in path.read_bytes()]
    assert kept == []


def test_a_model_of_ollama_is_the_same_at_any_address(project: Path, served: ServedSettings) -> None:
    with opened(project, "", **{"embed.model": f"ollama:m@{served.base_url}"}) as engine:
        assert engine.index().failures == ()
        assert engine.status().model == "ollama:m"


def test_a_server_that_is_away_costs_meaning_and_nothing_else(project: Path, served: ServedSettings) -> None:
    with opened(project, "http://127.0.0.1:9") as engine:
        report = engine.index()
        assert "chunks have no vector of ollama:m" in report.paused
        assert "cannot be reached" in report.paused
        assert {failure.reason[:12] for failure in report.failures} == {"not embedded"}
        found = engine.search("order price")
        assert found.hits
        (sentence,) = found.degraded
        assert sentence.startswith("0 of ")
        assert "have a vector of ollama:m; the bundled model answers until" in sentence
        assert engine.search("order price", mode="vector").hits
    with opened(project, served.base_url) as engine:
        assert engine.index().failures == ()
        assert engine.status().n_without_vector == 0
        assert engine.search("order price").degraded == ()


@pytest.mark.parametrize("asking", [lambda engine: engine.index(), lambda engine: engine.search("order price")])
def test_a_long_wait_is_told(project: Path, asking: Callable[[Engine], object]) -> None:
    told: list[str] = []

    def stop(line: str) -> None:
        told.append(line)
        raise KeyboardInterrupt  # so that nobody has to wait

    slow = Turn([b"slow down"], 429, {"retry-after": "30"})
    with serving(slow) as running, pytest.raises(KeyboardInterrupt):
        asking(opened(project, running.base_url, stop, **{"limits.attempts": 2}))
    assert told == [f"waiting 30 s: {running.base_url.removeprefix('http://')} asks for that (429)"]


def test_questions_and_documents_keep_to_one_quota(project: Path, served: ServedSettings) -> None:
    told: list[str] = []

    def stop(line: str) -> None:
        told.append(line)
        raise KeyboardInterrupt

    with opened(project, served.base_url, stop, **{"limits.requests_per_minute": 2}) as engine:
        engine.index()  # one call finds the length of the vectors, one embeds all
        with pytest.raises(KeyboardInterrupt):
            engine.search("order price")
    assert "limits.requests_per_minute allows no more calls" in told[0]
    assert len(served.asked) == 2


def test_a_dry_run_foretells_time_size_tokens_and_cost(
    project: Path, served: ServedSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "vendor" / "tool").mkdir(parents=True)
    (project / "vendor" / "tool" / "LICENSE").write_text("free")
    os.symlink("shop", project / "link")
    with opened(project, served.base_url, **{"llm.prices": ("ollama:m=1000/0",)}) as engine:
        report = engine.plan()
        forecast = report.forecast
        assert forecast is not None
        assert forecast.embedding_model == "ollama:m"
        assert report.n_bytes / 4 < forecast.embedding_tokens < 2 * report.n_bytes
        assert forecast.cost == pytest.approx(forecast.embedding_tokens / 1000)
        engine.index()
        assert engine.plan().forecast.seconds == 0.0  # type: ignore[union-attr]
    with opened(project, served.base_url) as engine:
        (project / "new.py").write_text("x = 1\n")
        assert engine.plan().forecast.cost is None  # type: ignore[union-attr]
    address = ("--set", f"embed.base_url={served.base_url}", "--set", "embed.model=ollama:m")
    assert main(["-C", str(project), "index", "--dry-run", *address]) == 0
    told = capsys.readouterr().out
    assert "expected: about 0.0 s and " in told
    assert "then the embedding model ollama:m reads about " in told
    assert "cost: not known; llm.prices" in told
    assert "1 vendored" in told
    assert "1 symlink" in told


def test_a_wrong_key_is_a_failure_wherever_it_is_told(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(Turn([b'{"error": "invalid api key"}'], 401)) as wrong:
        monkeypatch.setenv("FATHOM_EMBED__MODEL", f"openai:m@{wrong.base_url}/v1")
        assert main(["-C", str(project), "index", "--quiet"]) == 2
        assert "paused: " in capsys.readouterr().err
        assert main(["-C", str(project), "index"]) == 2
        told = capsys.readouterr().out
        assert "paused: " in told
        assert "answered 401: " in told
        assert "set OPENAI_API_KEY in the environment" in told
        assert main(["-C", str(project), "status"]) == 0
        status = capsys.readouterr().out
        assert ", 0 failed" not in status
        assert "answered 401: " in status
        assert "paused" in status
        assert main(["-C", str(project), "doctor"]) == 1
        assert "not embedded: " in capsys.readouterr().out
        assert main(["-C", str(project), "search", "order price"]) == 0
        assert "answered 401: " in capsys.readouterr().err
        wrong.turns[:] = [Turn(reply=said)]  # as with the right key
        assert main(["-C", str(project), "index"]) == 0
        assert "failed" not in capsys.readouterr().out
        assert main(["-C", str(project), "status"]) == 0
        status = capsys.readouterr().out
        assert ", 0 failed" in status
        assert "paused" not in status


def test_few_refused_texts_are_failures_and_the_others_are_embedded(project: Path) -> None:
    for place in range(60):
        (project / f"part{place}.py").write_text(f"def step{place}(value):\n    return value + {place}\n")
    with serving(Turn(reply=said, when=lambda body: not any("step7" in text for text in body["input"]))) as running:
        running.refusal = b'{"error": "this text is not allowed"}'
        with opened(project, running.base_url, **{"embed.batch": 1}) as engine:
            report = engine.index()
            assert [failure.path for failure in report.failures] == ["part7.py"]
            assert "this text is not allowed" in report.failures[0].reason
            assert report.paused == ""
            assert engine.status().failures == report.failures
            assert engine.status().n_without_vector == 1


def test_a_throttle_that_is_set_holds_on_this_machine_too(project: Path, served: ServedSettings) -> None:
    told: list[str] = []

    def stop(line: str) -> None:
        told.append(line)
        raise KeyboardInterrupt  # so that nobody has to wait

    with (
        opened(project, served.base_url, stop, **{"limits.min_interval_ms": 60_000}) as engine,
        pytest.raises(KeyboardInterrupt),
    ):
        engine.index()
    assert "limits.min_interval_ms allows no more calls" in told[0]


def test_a_server_that_goes_away_later(project: Path) -> None:
    with serving(Turn(reply=said)) as running, opened(project, running.base_url) as engine:
        engine.index()
        running.turns[:] = [Turn(status=500)]
        (project / "new.py").write_text("def refund_everything():\n    return 1\n")
        report = engine.index()
        assert [failure.path for failure in report.failures] == ["new.py"]
        found = engine.search("refund_everything")
        assert found.hits[0].chunk.path == "new.py"
        assert "ranked by words" in found.degraded[0]
        assert "have no vector of ollama:m yet" in found.degraded[1]
        with pytest.raises(ProviderError):
            engine.search("refund_everything", mode="vector")
        running.turns[:] = [Turn(reply=said)]
        (project / "other.py").write_text("x = 1\n")
        assert engine.index().failures == ()
        assert engine.status().n_without_vector == 0


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"embed.dimensions": 32}, "ollama:m:32"),
        ({"embed.dimensions": 32, "embed.reduce": "truncate"}, "ollama:m:32:truncate"),
        ({"embed.dimensions": 32, "embed.reduce": "project"}, "ollama:m:32:project"),
        ({"embed.model": "bundled", "embed.dimensions": 32, "embed.reduce": "project"}, ":32:project"),
    ],
)
def test_shorter_vectors(project: Path, served: ServedSettings, more: dict[str, object], name: str) -> None:
    with opened(project, served.base_url, **more) as engine:
        assert engine.index().failures == ()
        assert engine.status().model.endswith(name)
        assert engine.search("order price", mode="vector").hits
        vectors = engine.opened.sources.vectors
        assert vectors is not None
        assert len(vectors.nearest(b"\1" * 32, 3)) == 3
    # Asked for by the model itself, or made of its whole vectors.
    asked = {call.body.get("dimensions") for call in served.asked}
    assert asked <= ({32} if "embed.reduce" not in more else {None})


@pytest.mark.parametrize("mode", ["--rag", "--build-index", "--query-index"])
def test_the_bundled_model_makes_shorter_vectors(project: Path, mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [mode, "order"] if mode != "--build-index" else [mode]
    assert main([*words, "--source-dir", str(project), "--duckdb-vector-dim", "128"]) == 0
    assert "embed.dimensions" not in capsys.readouterr().err
    with opened(project, "", **{"embed.model": "bundled", "embed.dimensions": 128}) as engine:
        engine.index()
        assert engine.status().n_without_vector == 0
        assert engine.opened.embedder.dimensions == 128
        assert engine.search("order price", mode="vector").hits


def test_a_greater_length_than_the_model_has_is_its_own(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--build-index", "--source-dir", str(project), "--duckdb-vector-dim", "1024"]) == 0
    assert "failed" not in capsys.readouterr().out
    assert main(["-C", str(project), "search", "order price"]) == 0
    assert "indexed" not in capsys.readouterr().err  # the same vectors as without the option


def test_secrets_do_not_leave_the_machine(
    project: Path, served: ServedSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "keys.py").write_text(f'TOKEN = "{SECRET}"\n')
    # A proxy stands for the way to another machine.
    monkeypatch.setenv("http_proxy", served.base_url)
    with opened(project, "http://embeddings.example:1") as engine:
        assert engine.index().failures == ()
    assert any("TOKEN" in text for text in texts(served))
    assert not any(SECRET in text for text in texts(served))


def test_a_project_cannot_say_where_its_text_goes(project: Path) -> None:
    (project / "fathom.toml").write_text('[embed]\nmodel = "openai:m"\n')
    with pytest.raises(SettingsError, match=r"embed\.model cannot be 'openai:m'") as caught:
        load_settings(str(project))
    assert "choose where text is sent" in caught.value.hint
    (project / "fathom.toml").write_text('[embed]\nmodel = "bundled"\n')
    assert load_settings(str(project)).embed.model == "bundled"


@pytest.mark.parametrize(("status", "n_refused"), [(429, 2), (429, 5), (503, 6)])
def test_a_run_keeps_on_as_long_as_the_settings_say(
    project: Path, monkeypatch: pytest.MonkeyPatch, status: int, n_refused: int
) -> None:
    """The first call of a new model asks for the length of its vectors: it is no less patient than the others."""
    monkeypatch.setattr(pace, "_FIRST_S", 0.0)
    refusals = [Turn([b"slow down"], status)] * n_refused
    patient = {"limits.attempts": 5}
    with serving(*refusals, Turn(reply=said)) as served, opened(project, served.base_url, **patient) as engine:
        report = engine.index()
        assert (report.paused, engine.status().n_without_vector) == ("", 0)
        assert engine.search("retry with backoff").hits


def test_a_question_does_not_wait_as_long(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "_FIRST_S", 0.0)
    with serving(Turn([b"slow down"], 429)) as served, opened(project, served.base_url, **{"limits.attempts": 5}) as it:
        _ = it.opened
        assert len(served.asked) == 2
