"""A folder in which no file can be indexed, and one that is no repository: each face says so, with a way out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.test_mcp import answers, call

from codefathom.cli import main


@pytest.fixture(params=["", "binary"])
def bare(request: pytest.FixtureRequest, tmp_path: Path, own_folders: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bare"
    folder.mkdir()
    if request.param:
        (folder / "a.bin").write_bytes(bytes(range(256)) * 4)
    monkeypatch.chdir(folder)
    return folder


def test_commands_say_that_no_file_is_indexed(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "-q"]) == 0
    assert main(["map"]) == 1
    assert "no file is indexed; `fathom status --skipped` lists the files that are left out" in capsys.readouterr().err
    assert main(["status"]) == 0
    assert "up to date  nothing is indexed: no file here can be" in capsys.readouterr().out


def test_an_agent_is_not_sent_in_a_circle(bare: Path) -> None:
    told = answers(bare, call(1, "read", path="."), call(2, "map"), call(3, "search", query="where is the price"))
    root, outline, found = (told[n]["result"]["content"][0]["text"] for n in (1, 2, 3))
    assert root == "./\nno file is indexed"
    assert outline == "no file is indexed"
    assert found.endswith("the index is empty: the project has no text file, or ignore rules leave all of them out")


def test_what_needs_git_says_so(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bare / "a.py").write_text("x = 1\n")
    for words in ("search --commits x", "history a.py", "impact main", "search --rev v1 x"):
        assert main(words.split()) == 2
        assert (
            "hint: commits, revisions and the history of lines need a git repository; all else works without one"
            in capsys.readouterr().err
        )


def test_a_server_begins_with_one_folder(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bare / "two").mkdir()
    assert main(["serve", ".", "two"]) == 2
    assert "hint: see fathom serve --help" in capsys.readouterr().err
    assert main(["serve", ".", "-C", "two"]) == 2
    assert "two folders are named" in capsys.readouterr().err
