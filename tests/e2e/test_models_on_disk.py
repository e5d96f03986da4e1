"""An index whose vectors come from a folder on this disk, and hits that a model there, or behind HTTP, has moved."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.protocols import tiny
from tests.protocols.server import Turn, serving
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.config.configuration import load_settings
from codefathom.errors import SettingsError
from codefathom.project.roles import check_models
from codefathom.testing import FakeReranker
from codefathom.types import Hit

SHOP = Path(__file__).parent.parent / "repos" / "shop"
QUESTION = "how is the price of an order computed"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "shop"


def opened(project: Path, **wanted: object) -> Engine:
    names = {name.replace("__", "."): value for name, value in wanted.items()}
    return Engine.open(str(project), settings=load_settings(str(project), overrides=names))


def places(hits: tuple[Hit, ...]) -> list[tuple[str, int]]:
    return [(hit.chunk.path, hit.chunk.start_line) for hit in hits]


@pytest.mark.parametrize("kind", ["onnx", "model2vec"])
def test_vectors_of_a_model_on_this_disk_are_stored_and_found(project: Path, kind: str) -> None:
    folder = project.parent / "tiny"
    (tiny.embedder if kind == "onnx" else tiny.static)(folder)
    with opened(project, embed__model=f"{kind}:{folder}") as engine:
        assert engine.index().failures == ()
        status = engine.status()
        assert (status.n_without_vector, status.model.partition("#")[0]) == (0, f"{kind}:tiny")
        found = engine.search(QUESTION, mode="vector")
        assert found.hits
        assert found.degraded == ()
        assert engine.search("price").degraded == ()
        assert engine.leaving() == "nothing leaves this machine: no language model is configured"
        assert all(check.ok for check in engine.doctor() if check.name == "embedding model")


def test_a_model_that_is_not_there_is_told_of(project: Path) -> None:
    with (
        opened(project, embed__model=f"onnx:{project.parent / 'none'}") as engine,
        pytest.raises(SettingsError, match="no such folder"),
    ):
        engine.search(QUESTION)


@pytest.mark.parametrize(("section", "name"), [("embed", "model"), ("rerank", "model"), ("rerank", "base_url")])
def test_a_repository_cannot_choose_one(project: Path, section: str, name: str) -> None:
    (project / "fathom.toml").write_text(f'[{section}]\n{name} = "http://code.example"\n')
    with pytest.raises(SettingsError, match=f"{section}.{name} cannot be") as caught:
        load_settings(str(project))
    assert caught.value.hint.startswith("the file of a project must not choose")


def test_a_cross_encoder_moves_hits_and_says_so(project: Path) -> None:
    folder = tiny.reranker(project.parent / "tiny")
    with opened(project) as engine:
        before = engine.search(QUESTION)
    with opened(project, rerank__model=f"onnx:{folder}", rerank__weight=1.0, rerank__depth=10) as engine:
        after = engine.search(QUESTION)
        # The words of one kind of evidence are not mixed with another.
        assert engine.search(QUESTION, mode="lexical").hits[0].signals.keys() == {"lexical", "bm25"}
    assert after.degraded == ()
    assert after.confidence == before.confidence
    grades = [hit.signals["rerank"] for hit in after.hits if "rerank" in hit.signals]
    assert len(grades) > 2
    assert grades == sorted(grades, reverse=True)
    assert places(after.hits) != places(before.hits)


def said(body: dict[str, Any]) -> bytes:
    scores = FakeReranker().scores(body["query"], body["documents"])
    return json.dumps({"results": [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]}).encode()


@pytest.mark.parametrize(
    ("name", "path", "model"),
    [("http:bge@{}/v1", "/v1/rerank", "bge"), ("{}", "/rerank", None), ("http:org/bge:2@{}", "/rerank", "org/bge:2")],
)
def test_a_server_grades_the_best(project: Path, name: str, path: str, model: str | None) -> None:
    with serving(Turn(reply=said)) as served:
        with opened(project, rerank__model=name.format(served.base_url), rerank__depth=3) as engine:
            found = engine.search(QUESTION)
            (check,) = [check for check in check_models(engine.opened) if check.name == "reranking model"]
        asked = served.asked[0]
        assert (asked.path, asked.body.get("model"), asked.body["query"]) == (path, model, QUESTION)
        assert len(asked.body["documents"]) == 3
        assert sum("rerank" in hit.signals for hit in found.hits) >= 1
        assert found.degraded == ()
        assert check.ok, check


def test_a_model_is_asked_at_the_address_of_the_settings(project: Path) -> None:
    with serving(Turn(reply=said)) as served:
        with opened(project, rerank__model="http:bge", rerank__base_url=f"{served.base_url}/v2") as engine:
            assert engine.search(QUESTION).degraded == ()
        assert served.asked[0].path == "/v2/rerank"


def test_a_key_goes_with_the_question(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RERANK_API_KEY", "sk-rerank")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    with serving(Turn(reply=said)) as served:
        with opened(project, rerank__model=f"http:m@{served.base_url}") as engine:
            engine.search(QUESTION)
        assert served.asked[0].headers["authorization"] == "Bearer sk-rerank"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("http:m@http://127.0.0.1:9", "cannot be reached"),
        ("http:m", "has no address"),
        ("http:", "is not a reranking model"),
        ("bge-reranker", "is not a reranking model"),
        ("openai:m@http://127.0.0.1:9", "is not a reranking model"),
        ("onnx:/no/such/folder", "no such folder"),
        ("onnx:bge", "does not name a folder by its whole path"),
        ("model2vec:/tmp", "cannot grade texts"),
        ("http://me:geheim@127.0.0.1:9", "cannot be reached"),
    ],
)
def test_a_reranker_that_fails_leaves_the_search_as_it_is(project: Path, name: str, problem: str) -> None:
    with opened(project) as engine:
        before = engine.search(QUESTION)
    with opened(project, rerank__model=name, limits__attempts=1) as engine:
        after = engine.search(QUESTION)
        checks = check_models(engine.opened)
    assert [hit.score for hit in after.hits] == [hit.score for hit in before.hits]
    (sentence,) = after.degraded
    assert sentence.startswith("not reranked: ")
    assert problem in sentence
    assert "geheim" not in sentence
    (check,) = [check for check in checks if check.name == "reranking model"]
    assert not check.ok
    assert problem in check.detail
    assert "geheim" not in check.detail + check.hint


def test_what_goes_to_another_machine_is_said(project: Path) -> None:
    with opened(project, rerank__model="http:bge@http://me:geheim@rerank.example/v1") as engine:
        leaving = engine.leaving()
    expected = "every query and the best excerpts go to http:bge at http://rerank.example/v1, secrets masked"
    assert leaving == expected
    with opened(project, rerank__model="http://rerank.example") as engine:
        assert "go to the server at http://rerank.example" in engine.leaving()
    with opened(project, rerank__model="http://127.0.0.1:8080") as engine:
        assert engine.leaving().startswith("nothing leaves")


def test_no_secret_goes_to_another_machine(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "ghp_" + "a1B2" * 9
    (project / "keys.py").write_text(f'ORDER_PRICE_TOKEN = "{secret}"\n')
    with serving(Turn(reply=said)) as served:
        # A proxy stands for the way to another machine.
        monkeypatch.setenv("http_proxy", served.base_url)
        with opened(project, rerank__model="http:m@http://rerank.example:1/v1") as engine:
            found = engine.search(f"order price token {secret}")
    assert found.degraded == ()
    (asked,) = served.asked
    assert "ORDER_PRICE_TOKEN" in json.dumps(asked.body)
    assert secret not in json.dumps(asked.body)


PROGRAM = """
import json, sys
from codefathom.cli import main
main(["search", "-n", "1", "retry with backoff"])
sys.stderr.write(json.dumps(sorted(name for name in sys.modules)))
"""


def test_a_model_on_this_disk_brings_nothing_for_other_machines(project: Path) -> None:
    folder = tiny.static(project.parent / "tiny")
    environment = {"FATHOM_EMBED__MODEL": f"model2vec:{folder}", "FATHOM_CACHE_DIR": str(project.parent / "cache")}
    with opened(project, embed__model=f"model2vec:{folder}") as engine:
        engine.index()
    command = [sys.executable, "-c", PROGRAM]
    ran = subprocess.run(command, cwd=project, env=environment, capture_output=True, check=True, timeout=LONG_S)
    modules = set(json.loads(ran.stderr.splitlines()[-1]))
    assert "tokenizers" in modules
    assert (
        modules & {"httpx", "onnxruntime", "codefathom.remote.chat_models", "codefathom.search.ranking.rerank"} == set()
    )
