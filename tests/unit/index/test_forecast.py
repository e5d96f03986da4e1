"""How long a run will take, and what a model would be sent: from names and sizes alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codefathom.index.chunk import TARGET_CHARS
from codefathom.index.forecast import dry_run, expected, parsed_by_model
from codefathom.index.plan import Recipe
from codefathom.providers.base import BYTES_PER_TOKEN
from codefathom.stores.catalog.catalog import Catalog
from codefathom.types import Forecast, ForModel, IndexReport

FILES = {"a.py": "x = 1\n" * 500, "b.cob": "MOVE A TO B.\n" * 100, "notes.md": "# Notes\n", "large.bin": "\0" * 100}


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog.open(str(tmp_path / "catalog.db"))
    yield catalog
    catalog.close()


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    root = tmp_path / "project"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    return Recipe(str(root.resolve()))


def report(n_bytes: int, n_tokens: int) -> IndexReport:
    forecast = Forecast(0.0, 0, embedding_tokens=n_tokens)
    return IndexReport((), (), (), 0, 0, (), (), 0, n_bytes, 0.0, 1, forecast=forecast)


def test_time_and_size_follow_from_the_bytes() -> None:
    assert expected(report(900_000, 70), 0, "") == Forecast(2.0, 4_500_000)
    assert expected(report(900_000, 70), 90_000, "") == Forecast(10.0, 4_500_000)
    assert expected(report(900_000, 70), 90_000, "m") == Forecast(10.0, 4_500_000, "m", 70)
    assert expected(replace(report(900_000, 70), forecast=None), 90_000, "m").embedding_tokens == 0


def test_a_model_reads_files_with_a_prompt_for_each() -> None:
    assert parsed_by_model([]) == ForModel()
    assert parsed_by_model([300, 301]) == ForModel(2, 200 + 800)


def test_a_run_that_is_not_made_names_all_that_it_would_read(catalog: Catalog, recipe: Recipe) -> None:
    planned = dry_run(catalog, recipe)
    sizes = {name: len(text) for name, text in FILES.items()}
    assert planned.added == ("a.py", "b.cob", "large.bin", "notes.md")
    assert (planned.changed, planned.removed, planned.failures) == ((), (), ())
    assert (planned.n_bytes, planned.n_by_text, planned.dry_run) == (sum(sizes.values()), 0, True)
    assert planned.n_chunks == planned.n_bytes // TARGET_CHARS + 4
    assert planned.for_model == ForModel()
    assert planned.generation == catalog.generation
    assert planned.forecast is not None
    assert planned.forecast.embedding_tokens == sum(sizes.values()) // BYTES_PER_TOKEN + planned.n_chunks * 30


def test_a_model_of_the_chain_is_sent_what_no_grammar_reads(catalog: Catalog, recipe: Recipe) -> None:
    planned = dry_run(catalog, recipe._replace(chain=("treesitter", "llm", "text")))
    unread = len(FILES["b.cob"]) + len(FILES["large.bin"])  # nobody has opened it, to see that it is no text
    assert planned.for_model == ForModel(2, unread // 3 + 2 * 400)
    with_purposes = dry_run(catalog, recipe, ())
    assert (with_purposes.for_model.n_files, with_purposes.for_model.n_purposes) == (0, 4)
    assert with_purposes.for_model.n_tokens > 0
