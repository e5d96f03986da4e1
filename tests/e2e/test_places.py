"""A hit names line and column, in JSON and as editors read it; a long line is cut where people read, and says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codefathom.cli import main

LONG = "word " * 100


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "zoo"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "fathom.toml").touch()
    (folder / "zoo.py").write_text(
        "class Zoo:\n    async def feed_kangaroo(self):\n        return 'grüß' + grass(1) + grass(2)\n",
        encoding="utf-8",
    )
    (folder / "long.md").write_text(f"# Wombats\n\n{LONG}wombat\n")
    return folder


@pytest.mark.parametrize(
    ("mode", "question", "place"),
    [
        ("auto", "feed kangaroo", "zoo.py:2:15: async def feed_kangaroo(self):"),
        ("regex", r"grass\(\d", "zoo.py:3:25: return 'grüß' + grass(1) + grass(2)"),
        ("regex", "class Zoo", "zoo.py:1:1: class Zoo:"),
        ("auto", "@@Zoo", "zoo.py:1:7: class Zoo:"),
    ],
)
def test_editors_are_given_path_line_and_column(
    zoo: Path, capsys: pytest.CaptureFixture[str], mode: str, question: str, place: str
) -> None:
    assert main(["search", "-q", "-n", "1", "--mode", mode, "--format", "path", question]) == 0
    assert capsys.readouterr().out == f"{place}\n"
    assert main(["search", "-q", "-n", "1", "--mode", mode, "--json", question]) == 0
    (hit,) = json.loads(capsys.readouterr().out)["hits"]
    path, line, column, _ = place.split(":", 3)
    assert (hit["path"], hit["line"], hit["column"]) == (path, int(line), int(column))


@pytest.mark.parametrize("level", ["symbol", "function", "file"])
def test_at_other_levels_too(zoo: Path, capsys: pytest.CaptureFixture[str], level: str) -> None:
    assert main(["search", "-q", "-n", "1", "--level", level, "--format", "path", "feed kangaroo"]) == 0
    assert capsys.readouterr().out == "zoo.py:2:15: async def feed_kangaroo(self):\n"


def test_a_long_line_says_how_much_of_it_is_not_shown(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    n_more = len(LONG + "wombat") - 200
    for form in ("text", "path"):
        assert main(["search", "-q", "--mode", "regex", "--format", form, "^word"]) == 0
        shown = capsys.readouterr().out
        assert f"{LONG[:200]}… ({n_more} more characters)" in shown
        assert "wombat\n" not in shown
        assert main(["search", "-q", "--mode", "regex", "--format", form, "word wombat"]) == 0
        assert f"({n_more} characters …){LONG[n_more:]}wombat\n" in capsys.readouterr().out
    assert main(["search", "-q", "--mode", "regex", "--format", "path", "wombat$"]) == 0
    assert capsys.readouterr().out.startswith("long.md:3:501: ")
