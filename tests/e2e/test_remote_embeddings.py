"""An index whose vectors come from a server: made, asked, and used while the server is away."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.protocols.server import Served, Turn, serving

from codefathom import Engine
from codefathom.configuration import load_settings
from codefathom.errors import ProviderError, SettingsError
from codefathom.testing import FakeEmbedder, rows_of

SHOP = Path(__file__).parent.parent / "repos" / "shop"
SECRET = "ghp_" + "a1B2" * 9


def said(body: dict[str, Any]) -> bytes:
    found = rows_of(FakeEmbedder(body.get("dimensions") or 64).embed(body["input"], "document"))
    return json.dumps({"embeddings": found}).encode()


@pytest.fixture
def served() -> Iterator[Served]:
    with serving(Turn(reply=said)) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "shop"


def opened(project: Path, base_url: str, **more: object) -> Engine:
    wanted = {"embed.model": "ollama:m", "embed.base_url": base_url, "limits.attempts": 1, **more}
    return Engine.open(str(project), settings=load_settings(str(project), overrides=wanted))


def texts(served: Served) -> list[str]:
    return [text for asked in served.asked for text in asked.body["input"]]


def test_vectors_of_a_server_are_stored_and_found(project: Path, served: Served) -> None:
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


def test_a_server_that_is_away_costs_meaning_and_nothing_else(project: Path, served: Served) -> None:
    with opened(project, "http://127.0.0.1:9") as engine:
        report = engine.index()
        assert report.paused == ""
        assert {failure.reason[:12] for failure in report.failures} == {"not embedded"}
        found = engine.search("order price")
        assert found.hits
        assert "ranked by words and names only" in found.degraded[0]
        with pytest.raises(ProviderError, match="cannot be reached"):
            engine.search("order price", mode="vector")
    with opened(project, served.base_url) as engine:
        assert engine.index().failures == ()
        assert engine.status().n_without_vector == 0
        assert engine.search("order price").degraded == ()


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
def test_shorter_vectors(project: Path, served: Served, more: dict[str, object], name: str) -> None:
    with opened(project, served.base_url, **more) as engine:
        assert engine.index().failures == ()
        assert engine.status().model.endswith(name)
        assert engine.search("order price", mode="vector").hits
        assert engine._open().views.vectors.dimensions == 32
    # Asked for by the model itself, or made of its whole vectors.
    asked = {call.body.get("dimensions") for call in served.asked}
    assert asked <= ({32} if "embed.reduce" not in more else {None})


def test_the_bundled_model_says_how_to_make_it_shorter(project: Path) -> None:
    with pytest.raises(SettingsError, match=r"embed\.dimensions = 32") as caught:
        opened(project, "", **{"embed.model": "bundled", "embed.dimensions": 32}).index()
    assert "embed.reduce" in caught.value.hint


def test_secrets_do_not_leave_the_machine(project: Path, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert "what is sent where" in caught.value.hint
    (project / "fathom.toml").write_text('[embed]\nmodel = "bundled"\n')
    assert load_settings(str(project)).embed.model == "bundled"
