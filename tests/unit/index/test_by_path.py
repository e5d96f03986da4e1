"""Paths that somebody names, as the index writes them, and the condition that a file lies in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codefathom.errors import UsageError
from codefathom.index.by_path import below_one_of, places_of
from codefathom.stores.conditions import matches


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "shop" / "src").mkdir(parents=True)
    (tmp_path / "shopping").mkdir()
    (tmp_path / "shop" / "src" / "a.py").write_text("")
    os.symlink(tmp_path / "shopping", tmp_path / "shop" / "out")
    os.symlink(tmp_path / "shop" / "src", tmp_path / "shop" / "link")
    return tmp_path / "shop"


@pytest.mark.parametrize(
    ("paths", "places"),
    [
        (["src/a.py"], ["src/a.py"]),
        (["./src/../src//a.py"], ["src/a.py"]),
        (["{root}/src/a.py"], ["src/a.py"]),
        (["gone/b.py"], ["gone/b.py"]),
        (["link/a.py"], ["src/a.py"]),
        (["."], [""]),
        (["{root}"], [""]),
        ([""], [""]),
        (["src", "src/", "link"], ["src"]),
        (["b.py", "a.py"], ["b.py", "a.py"]),
        (["texts://notes/a.md", "texts://"], ["texts://notes/a.md", "texts:/"]),
    ],
)
def test_a_path_is_written_as_in_the_index(root: Path, paths: list[str], places: list[str]) -> None:
    assert places_of(str(root), [path.format(root=root) for path in paths]) == places


@pytest.mark.parametrize("path", ["../shopping", "{root}/../shopping/a.py", "out/a.py", "/etc", "a\ud800"])
def test_a_path_outside_is_refused(root: Path, path: str) -> None:
    written = path.format(root=root)
    with pytest.raises(UsageError) as refused:
        places_of(str(root), ["src/a.py", written])
    assert (str(refused.value), refused.value.hint) == (
        f"{written!r} is outside the project",
        f"give a path below {root}",
    )


def test_a_path_must_be_named(root: Path) -> None:
    with pytest.raises(UsageError) as refused:
        places_of(str(root), [])
    assert (str(refused.value), refused.value.hint) == ("no path is named", "name files or folders of the project")


def test_a_file_is_one_of_the_places_or_below_one() -> None:
    where = below_one_of(["src", "Docs/a.md"])
    assert where is not None
    paths = [
        "src/a.py",
        "src/deep/b.py",
        "src",
        "Docs/a.md",
        "Docs/a.md/b",
        "srcs/a.py",
        "docs/a.md",
        "Src/a.py",
        "x/src/a",
    ]
    assert [path for path in paths if matches(where, {"path": path})] == paths[:5]
    assert below_one_of(["src", ""]) is None
