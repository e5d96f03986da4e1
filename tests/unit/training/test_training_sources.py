from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from training.sources import Source, forbidden, read_sources  # noqa: E402

EXCLUDED = (ROOT / "training" / "excluded.txt").read_text("utf-8").split()
SOURCES = read_sources(ROOT / "training" / "sources.json")
PERMISSIVE = {
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT-CMU",
    "MIT or Apache-2.0",
    "MulanPSL-2.0",
    "PSF-2.0",
    "Zlib",
}


def source(name: str) -> Source:
    return Source(name, "", "", "MIT", "train")


def test_nothing_learned_from_is_excluded() -> None:
    assert len(EXCLUDED) > 70
    assert len(SOURCES) > 150
    assert forbidden(SOURCES, EXCLUDED) == []


@pytest.mark.parametrize(
    "name",
    [
        "psf/requests",
        "PSF/Requests",
        "someone/requests",
        "pypi:requests",
        "npm:zod",
        "pypi:scikit_learn",
        "a/Axios",
        "laravel/framework",
    ],
)
def test_an_excluded_project_is_recognised_under_other_names(name: str) -> None:
    assert forbidden([source(name), source("a/free")], EXCLUDED) == [name]


@pytest.mark.parametrize("name", ["top-think/framework", "labstack/echo", "pypi:jinja2"])
def test_other_projects_are_free(name: str) -> None:
    assert forbidden([source(name)], EXCLUDED) == []


def test_every_source_names_its_revision_and_a_permissive_licence() -> None:
    for row in SOURCES:
        assert row.revision, row.name
        assert row.licence in PERMISSIVE, row.name
        assert row.split in {"train", "eval"}
        assert row.pairs > 0, row.name
    assert len({row.name for row in SOURCES}) == len(SOURCES)
