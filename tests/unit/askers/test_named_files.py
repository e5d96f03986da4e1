"""Paths for several projects: each goes to the project that it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom.askers.named_files import files_by_project, relative_to
from codefathom.errors import SourceError, UsageError


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("shop/a.py", "shop/inner/b.py", "web/c.py", "shop/web/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "here", "expected"),
    [
        (["shop/a.py"], None, {"shop": ("a.py",)}),
        (["shop"], None, {"shop": (".",)}),
        (["shop/"], None, {"shop": (".",)}),
        (["shop/gone.py", "web/c.py", "shop/a.py"], None, {"shop": ("gone.py", "a.py"), "web": ("c.py",)}),
        # a path of the disk goes to the innermost project around it
        (["{tree}/shop/a.py"], None, {"shop": ("{tree}/shop/a.py",)}),
        (["{tree}/shop/inner/b.py"], None, {"inner": ("{tree}/shop/inner/b.py",)}),
        (["{tree}/web"], None, {"web": ("{tree}/web",)}),
        # a relative one begins in `here`; what is there on the disk counts before a name
        (["a.py"], "{tree}/shop", {"shop": ("{tree}/shop/a.py",)}),
        (["web/d.py"], "{tree}/shop", {"shop": ("{tree}/shop/web/d.py",)}),
        (["web/c.py"], "{tree}/shop", {"web": ("c.py",)}),
        (["web/c.py"], None, {"web": ("c.py",)}),
    ],
)
def test_a_path_goes_to_its_project(
    tree: Path, paths: list[str], here: str | None, expected: dict[str, tuple[str, ...]]
) -> None:
    roots = {"shop": f"{tree}/shop", "web": f"{tree}/web", "inner": f"{tree}/shop/inner"}
    found = files_by_project([path.format(tree=tree) for path in paths], roots, here=here and here.format(tree=tree))
    assert found == {name: tuple(path.format(tree=tree) for path in own) for name, own in expected.items()}


@pytest.mark.parametrize("path", ["{tree}/shopping/a.py", "{tree}", "other/a.py", "a.py", "/"])
def test_a_path_in_no_project_is_refused(tree: Path, path: str) -> None:
    written = path.format(tree=tree)
    with pytest.raises(UsageError) as refused:
        files_by_project([written], {"shop": f"{tree}/shop"})
    assert str(refused.value) == f"{written!r} is not inside any of these projects"
    assert refused.value.hint == "begin the path with the name of its project"


def test_a_path_of_a_project_that_is_not_open_raises_its_error(tree: Path) -> None:
    away = SourceError("web is away")
    with pytest.raises(SourceError, match="web is away"):
        files_by_project(["web/c.py"], {"shop": f"{tree}/shop"}, {"web": away})


def test_paths_become_those_of_the_index(tree: Path) -> None:
    assert relative_to(f"{tree}/shop", ["a.py", f"{tree}/shop/inner/b.py", "inner/../a.py", "."]) == (
        "a.py",
        "inner/b.py",
        "a.py",
        ".",
    )
