"""--dir, --lang, --kind and --filter → one condition, and paths as typed → paths of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom.cli.filter_arguments import inside_project, where
from codefathom.cli.options import Common, ContextOptions, SearchOptions
from codefathom.errors import UsageError
from codefathom.search.filter.filter_options import one_of
from codefathom.stores.conditions import combine
from codefathom.types import Filter, FilterGroup, Where

NAMES = {"dir": "directory_filter", "lang": "language_filter", "kind": "kind_filter", "filter": "filter"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("project/web/src", "project/api", "beside"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "project/api/main.go").touch()
    (tmp_path / "project/link").symlink_to(tmp_path / "beside")
    monkeypatch.chdir(tmp_path / "project" / "web")
    return tmp_path / "project"


def of(project: Path, **given: tuple[str, ...]) -> Where | None:
    by_row = {NAMES[name]: values for name, values in given.items()}
    in_search = where(SearchOptions(Common(), "q", by_row), str(project))
    assert where(ContextOptions(Common(), "q", by_row), str(project)) == in_search
    return in_search


def test_no_option_is_no_condition(project: Path) -> None:
    assert of(project) is None


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"lang": ("go",)}, one_of("language", ("go",))),
        ({"lang": ("Golang,ts",)}, one_of("language", ("go", "typescript"))),
        ({"lang": ("go", "ts")}, one_of("language", ("go", "typescript"))),
        ({"kind": ("fn",)}, one_of("kind", ("function",))),
        ({"dir": ("src",)}, one_of("dir", ("web/src",))),
        ({"dir": ("api/",)}, one_of("dir", ("api",))),
        ({"dir": ("src", "../api")}, one_of("dir", ("web/src", "api"))),
        ({"dir": ('"a,b*"',)}, one_of("dir", ("a,b*",))),
        ({"dir": ("s*c",)}, one_of("dir", ("s*c",))),
        ({"dir": ("..",)}, None),
        ({"dir": ("src", "..")}, None),
        ({"lang": ("go",), "dir": ("src",)}, combine(one_of("dir", ("web/src",)), one_of("language", ("go",)))),
        ({"filter": ("lines > 3",)}, Filter("lines", "gt", 3)),
    ],
)
def test_options_mean(project: Path, given: dict[str, tuple[str, ...]], meant: Where | None) -> None:
    assert of(project, **given) == meant


def test_several_filters_must_all_hold(project: Path) -> None:
    parts = (Filter("lines", "gt", 3), Filter("is_test", "eq", 0))
    both = of(project, filter=("lines > 3", "is_test = 0"))
    assert isinstance(both, FilterGroup)
    assert both.operator == "AND"
    assert len(both.filters) == len(parts)


def test_a_wrong_filter_is_an_error(project: Path) -> None:
    with pytest.raises(UsageError):
        of(project, filter=("colour = red",))


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("src", "web/src"),
        (".", "web"),
        ("..", ""),
        ("../api/main.go", "api/main.go"),
        ("api/main.go", "api/main.go"),
        ("web", "web"),
        ("./src/", "web/src"),
    ],
)
def test_a_path_is_relative_to_here_then_to_the_project(project: Path, typed: str, path: str) -> None:
    assert inside_project(typed, str(project)) == path
    assert inside_project(str(project / path), str(project)) == path


@pytest.mark.parametrize("typed", ["nowhere", "../..", "../../beside", "/", "link", "a\0b"])
def test_a_path_elsewhere_is_an_error(project: Path, typed: str) -> None:
    with pytest.raises(UsageError) as caught:
        inside_project(typed, str(project))
    assert repr(typed) in str(caught.value)
    assert str(project) in caught.value.hint
