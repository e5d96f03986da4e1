"""Documents outside index.min_tokens and index.max_tokens: not embedded, found by their text."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.config.settings import Settings
from codefathom.errors import SettingsError
from codefathom.index.plan import Recipe, TokenLimits
from codefathom.stores.catalog.records import LONG, SHORT
from codefathom.types import Document, Filter, IndexReport

LINE = "Kestrels hover above the motorway and look for voles.\n"  # 54 bytes, 18 tokens


pytestmark = pytest.mark.usefixtures("own_folders")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for name, n_lines in (("short", 10), ("middle", 100), ("long", 400)):
        body = "".join(f"## Part {n} of {name}\n\n{LINE}" for n in range(n_lines))
        (root / f"{name}.md").write_text(f"# The {name} one\n\n{body}")
    return root


def limited(fewest: int = 0, most: int = 0) -> Settings:
    settings = Settings()
    return settings._replace(index=settings.index._replace(min_tokens=fewest, max_tokens=most))


def embedded(engine: Engine) -> set[str]:
    catalog, view = engine.opened.catalog, engine.opened.views.vectors
    keys = dict(catalog.vectors(engine.opened.embedder.name))
    assert len(view) == len(keys)  # type: ignore[arg-type]
    return {chunk.path for chunk in catalog.chunks(keys).values()}


def vectors(engine: Engine) -> int:
    return len(list(engine.opened.catalog.vectors(engine.opened.embedder.name)))


@pytest.mark.parametrize(
    ("fewest", "most", "n_tokens", "verdict"),
    [
        (0, 0, 0, ""),
        (0, 0, 10**9, ""),
        (10_000, 100_000_000, 9_999, SHORT),
        (10_000, 100_000_000, 10_000, ""),
        (10_000, 100_000_000, 10_001, ""),
        (10_000, 100_000_000, 99_999_999, ""),
        (10_000, 100_000_000, 100_000_000, ""),
        (10_000, 100_000_000, 100_000_001, LONG),
        (10_000, 0, 9_999, SHORT),
        (10_000, 0, 10**12, ""),
        (0, 10, 0, ""),
        (0, 10, 11, LONG),
        (7, 7, 6, SHORT),
        (7, 7, 7, ""),
        (7, 7, 8, LONG),
    ],
)
def test_borders_are_inside(fewest: int, most: int, n_tokens: int, verdict: str) -> None:
    assert TokenLimits(fewest, most).verdict(n_tokens) == verdict


def test_documents_outside_the_limits_have_no_vector_and_are_found(project: Path) -> None:
    with Engine.open(str(project), settings=limited(1_000, 5_000)) as engine:
        assert engine.index().n_by_text == 2
        assert embedded(engine) == {"middle.md"}
        status = engine.status()
        assert (status.n_by_text, status.n_without_vector, status.pending) == (2, 0, 0)
        result = engine.search("kestrels hover above the motorway", limit=30)
        assert {hit.chunk.path for hit in result.hits} == {"short.md", "middle.md", "long.md"}
        assert result.degraded == ()
        (short,) = [hit.chunk for hit in result.hits if hit.chunk.path == "short.md"]
        assert short.text == (project / "short.md").read_text()
        excerpts = [hit.chunk for hit in result.hits if hit.chunk.path == "long.md"]
        assert all(chunk.kind != "file" for chunk in excerpts)
        matches = engine.search("Part 7 of short", mode="regex").hits
        assert [hit.chunk.path for hit in matches] == ["short.md"]
        assert "not embedded" not in str(engine.index().failures)


@pytest.mark.parametrize("limits", [(1_000, 0), (0, 5_000), (1_000, 5_000)])
def test_a_change_of_the_limits_takes_effect_with_the_next_run(project: Path, limits: tuple[int, int]) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
        n_vectors = vectors(engine)
        assert embedded(engine) == {"short.md", "middle.md", "long.md"}
    with Engine.open(str(project), settings=limited(*limits)) as engine:
        assert engine.status().pending == 3
        report = engine.index()
        assert report.n_by_text == sum(map(bool, limits))
        n_rows = vectors(engine)
        assert n_rows < n_vectors
        assert engine.opened.views.vectors.generation == engine.opened.catalog.generation
        assert not engine.index().is_eventful
    with Engine.open(str(project)) as engine:
        assert engine.index().n_by_text == 0
        assert vectors(engine) == n_vectors


def test_a_condition_on_lines_holds_for_whole_documents(project: Path) -> None:
    where = Filter("start_line", "gt", 10)
    with Engine.open(str(project), settings=limited(1_000)) as engine:
        result = engine.search("kestrels hover", where=where, limit=30)
        assert result.hits
        assert all(hit.chunk.start_line > 10 for hit in result.hits)


def test_whole_documents_stay_in_the_budget_of_a_context(project: Path) -> None:
    with Engine.open(str(project), settings=limited(1_000)) as engine:
        assert engine.context("kestrels hover above the motorway", max_tokens=150).n_tokens <= 150


def test_an_index_from_elsewhere_is_held_to_the_limits(project: Path, tmp_path: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
    (tmp_path / "state").rename(tmp_path / "state of before")
    with Engine.open(str(project), settings=limited(1_000, 5_000)) as engine:
        engine.index()
        assert embedded(engine) == {"middle.md"}
        assert engine.status().n_by_text == 2
    (tmp_path / "state").rename(tmp_path / "state of before, too")
    with Engine.open(str(project), settings=limited(1_000, 5_000)) as engine:
        assert engine.index().mended == ()


def test_an_extracted_text_counts_and_not_its_file() -> None:
    recipe = Recipe("", tokens=TokenLimits(10, 20))
    document = Document("a.pdf", "text", "x" * 45, "f", 1_000_000)
    assert recipe.verdict(document) == ""
    assert recipe.verdict(Document("a.md", "text", "x" * 45, "f", 1_000_000)) == LONG
    assert recipe.makes(recipe.chunker_of(document))
    assert not Recipe("").makes(recipe.chunker_of(document))


def test_limits_that_leave_no_file_are_refused(project: Path) -> None:
    (project / "fathom.toml").write_text("[index]\nmin_tokens = 8\nmax_tokens = 7\n")
    with pytest.raises(SettingsError, match=r"index\.min_tokens 8 is above index\.max_tokens 7"):
        Engine.open(str(project))


def test_a_planted_vector_of_no_text_is_not_used(project: Path) -> None:
    with Engine.open(str(project), settings=limited(1_000, 5_000)) as engine:
        engine.index()
        n_vectors = vectors(engine)
        engine.opened.catalog.store_made()  # as for a store of other makers
        with sqlite3.connect(engine.index_dir + "/catalog.db") as db:
            db.execute("INSERT INTO embeddings SELECT model, x'', vector, generation FROM embeddings LIMIT 1")
        assert vectors(engine) == n_vectors == engine.opened.catalog.n_rows(engine.opened.embedder.name)


def test_a_forecast_leaves_out_what_is_not_embedded(project: Path) -> None:
    def planned(settings: Settings) -> IndexReport:
        slow = settings._replace(embed=settings.embed._replace(model="ollama:m"))
        with Engine.open(str(project), settings=slow) as engine:
            return engine.plan()

    every, some, none = planned(limited()), planned(limited(500, 3_000)), planned(limited(100_000))
    assert [report.n_by_text for report in (every, some, none)] == [0, 2, 3]
    tokens = [report.forecast.embedding_tokens for report in (every, some, none) if report.forecast is not None]
    assert tokens[0] > 2 * tokens[1] > tokens[2] == 0
    with Engine.open(str(project), settings=limited(500, 3_000)) as engine:
        assert engine.index().n_by_text == some.n_by_text
