"""Scores say what they measure, thresholds hold in every mode, and --explain shows how a score is made."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from operator import mul

import pytest
from tests.golden.conftest import copy_shop

from codefathom import Engine
from codefathom.cli import main
from codefathom.config.settings import SearchSettings
from codefathom.search.ranking.explain import lines
from codefathom.server.schemas.search_schemas import SearchIn
from codefathom.stores.vectors.flat_vectors import quantise_query
from codefathom.types import MODES, Mode, SearchResult

QUESTION = "where are orders priced"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        project = copy_shop(tmp_path_factory.mktemp("shop"))
        (project / "twice.py").write_text("".join(f"def order_price_{n}():\n    return {n}\n\n\n" for n in range(60)))
        with Engine.open(str(project)) as opened:
            opened.index()
            yield opened


def searched(engine: Engine, settings: SearchSettings, question: str = QUESTION, **options: object) -> SearchResult:
    changed = engine.settings._replace(
        search=settings, origins={f"search.{name}": "test" for name in settings._asdict()}
    )
    return engine.with_settings(changed).search(question, **options)


# ---- measures


def test_the_score_by_meaning_is_the_cosine(engine: Engine) -> None:
    embedder = engine.opened.sources.embedder
    assert embedder is not None
    hits = engine.search(QUESTION, mode="vector", limit=30).hits
    hit = next(hit for hit in hits if hit.chunk.path == "docs/shipping.md")
    stored = dict(engine.opened.catalog.vectors(embedder.name))
    key = next(key for key, chunk in engine.opened.catalog.chunks_of("docs/shipping.md") if chunk.id == hit.chunk.id)
    query = quantise_query(embedder.embed([QUESTION], "query"))
    row = memoryview(stored[key]).cast("b")
    cosine = sum(map(mul, memoryview(query).cast("b"), row)) / (norm(memoryview(query).cast("b")) * norm(row))
    assert hit.score == hit.signals["cosine"] == pytest.approx(cosine, abs=0.01)


def norm(row: Iterable[int]) -> float:
    return math.sqrt(sum(value * value for value in row))


def test_the_score_by_words_is_bm25(engine: Engine) -> None:
    hits = engine.search("price order", mode="lexical", limit=50).hits
    assert [hit.score for hit in hits] == [hit.signals["bm25"] for hit in hits]
    assert hits[0].score > 1
    assert hits[0].signals["lexical"] == 1.0


# ---- thresholds


def test_a_least_score_by_words_may_be_above_1(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    hits = engine.search("price order", mode="lexical", limit=50).hits
    least = hits[1].score
    assert least > 1
    words = ["--json", "-q", "--mode", "lexical", "-n", "50", "--min-score", str(least)]
    assert main(["search", "-C", engine.root, *words, "price order"]) == 0
    shown = [hit["path"] for hit in json.loads(capsys.readouterr().out)["hits"]]
    assert shown == [hit.chunk.path for hit in hits if hit.score >= least]
    assert SearchIn.model_validate({"query": "price", "min_score": least}).model_dump()["min_score"] == least


@pytest.mark.parametrize("mode", sorted(set(MODES) - {"auto", "graph"}))
def test_min_score_holds_in_every_mode(engine: Engine, mode: Mode) -> None:
    question = {"regex": "order", "symbol": "order"}.get(mode, "price order")
    scores = [hit.score for hit in engine.search(question, mode=mode, limit=100).hits]
    assert len(set(scores)) > 1
    for least in (scores[0], scores[len(scores) // 2], scores[-1]):
        above = engine.search(question, mode=mode, limit=100, min_score=least).hits
        assert [hit.score for hit in above] == [score for score in scores if score >= least]
    assert engine.search(question, mode=mode, min_score=scores[0] + 0.01).hits == ()


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_min_similarity_holds(engine: Engine, mode: Mode) -> None:
    cosines = [hit.score for hit in engine.search(QUESTION, mode="vector", limit=100).hits]
    least = cosines[len(cosines) // 2]
    result = searched(engine, SearchSettings(min_similarity=least), mode=mode, limit=100)
    if mode == "vector":
        assert [hit.score for hit in result.hits] == [cosine for cosine in cosines if cosine > least]
    else:
        assert all(hit.signals.get("vector", 0.0) == 0.0 or hit.signals["vector"] > least for hit in result.hits)
        assert any(hit.signals.get("vector", 0.0) == 0.0 for hit in result.hits)


@pytest.mark.parametrize("mode", ["vector", "lexical"])
def test_the_number_of_candidates_holds(engine: Engine, mode: Mode) -> None:
    settings = SearchSettings(candidates=3)
    assert len(searched(engine, settings, "price order", mode=mode, limit=50).hits) == 3
    assert len(searched(engine, settings, "price order", mode="hybrid", limit=50).hits) <= 6


# ---- the sum as the ranking


@pytest.mark.parametrize(
    ("method", "words", "meaning"), [("weighted", 0.6, 0.4), ("weighted", 0.4, 0.6), ("rrf", 0.6, 0.4)]
)
def test_the_sum_of_two_rankings_can_order_the_hits(engine: Engine, method: str, words: float, meaning: float) -> None:
    settings = SearchSettings(ranking="fused", fusion=method, lexical_weight=words, vector_weight=meaning)
    hits = searched(engine, settings, "price order", mode="hybrid", limit=100).hits
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert hit.score == pytest.approx(hit.signals["by_words"] + hit.signals["by_meaning"])
    if method == "weighted":  # each side is scaled from 0 to 1 over its candidates
        bm25 = [hit.signals["bm25"] for hit in hits if "bm25" in hit.signals]
        low, high = min(bm25), max(bm25)
        for hit in hits:
            if "bm25" in hit.signals:
                assert hit.signals["by_words"] == pytest.approx(words * (hit.signals["bm25"] - low) / (high - low))


# ---- --explain


LONG_TEXT = " ".join(f"the price of order {n} is wrong in part{n}of the report" for n in range(60))


@pytest.mark.parametrize("question", ["price order", LONG_TEXT], ids=["short", "long"])
def test_the_learned_score_follows_from_what_explain_prints(engine: Engine, question: str) -> None:
    hits = engine.search(question, mode="hybrid", limit=30).hits
    assert all(("long_text" in hit.signals) == (question is LONG_TEXT) for hit in hits)
    assert {hit.signals["repeat"] for hit in hits} > {1.0, 0.5}
    for hit in hits:
        *printed, last = lines(hit)
        total = sum(float(line.split()[0]) for line in printed if line[0] in "+-")
        repeat = hit.signals["repeat"]
        assert 1 / (1 + math.exp((6 - total) / 2.5)) * repeat == pytest.approx(hit.score, abs=0.002)
        assert f"{hit.score:.3f}" in last


def test_the_sum_is_printed(engine: Engine) -> None:
    settings = SearchSettings(ranking="fused", fusion="weighted")
    for hit in searched(engine, settings, "price order", mode="hybrid").hits:
        *printed, last = lines(hit)
        parts = [float(line.split()[0]) for line in printed if line[0] in "+-"]
        assert sum(parts) == pytest.approx(hit.score, abs=0.002)
        assert re.match(rf"= {hit.score:.3f}\b", last)


def test_a_measure_adds_nothing(engine: Engine) -> None:
    for mode in ("lexical", "vector"):
        hit = engine.search("price order", mode=mode).hits[0]
        assert all(line[0] not in "+-=" for line in lines(hit))
