"""A path with brackets or braces is itself, before it is a pattern, however it is written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codefathom.cli import main

PAGES = {
    "app/[id]/page.tsx": "ItemPage",
    "app/[...rest]/page.tsx": "RestPage",
    "app/[[...slug]]/page.tsx": "SlugPage",
    "app/d/page.tsx": "BesidePage",  # the pattern app/[id] matches it
    "lib/{{name}}/page.tsx": "NamedPage",
}


@pytest.fixture
def root(tmp_path: Path, own_folders: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, name in PAGES.items():
        place = tmp_path / "site" / path
        place.parent.mkdir(parents=True)
        place.write_text(f"export function {name}() {{ return 1 }}\n")
    monkeypatch.chdir(tmp_path / "site")
    return tmp_path / "site"


@pytest.fixture
def shown(root: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., set[str]]:
    """Return a function from a command to the pages that it names on its standard output."""

    def pages(*arguments: str) -> set[str]:
        main(list(arguments))
        out = capsys.readouterr().out
        return {name for name in PAGES.values() if f"function {name}" in out}

    return pages


@pytest.mark.parametrize("path", PAGES)
def test_a_command_finds_the_file_itself(shown: Callable[..., set[str]], path: str) -> None:
    folder, expected = path.rpartition("/")[0], {PAGES[path]}
    assert shown("search", "page", "--dir", folder) == expected
    assert shown("search", f"@{path} page") == expected
    assert shown("search", "page", "--file", path) == expected
    assert PAGES[path] in shown("search", f"page path:{path}")


def test_a_pattern_is_one_still(root: Path, shown: Callable[..., set[str]]) -> None:
    (root / "app" / "[id]" / "page.tsx").unlink()
    (root / "app" / "[id]").rmdir()
    assert shown("search", "@app/[id]/page.tsx page") == {"BesidePage"}
    assert shown("search", "page", "--dir", "app/[cd]") == {"BesidePage"}
    assert shown("search", "page", "--dir", "app/*") == set(PAGES.values()) - {"ItemPage", "NamedPage"}
