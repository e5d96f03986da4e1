"""`--required-exts` and its siblings: what is written is understood or refused, and never leaves an empty index."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.cli import main


@pytest.fixture
def root(tmp_path: Path, own_folders: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    for name in ("a.py", "b.md", "C.MD", "notes.txt", "Dockerfile", "a_test.go"):
        (root / name).write_text(f"text of {name}\n")
    monkeypatch.setenv("FATHOM_CONFIG", os.devnull)
    monkeypatch.chdir(root)
    return root


def indexed(root: Path) -> set[str]:
    with Engine.open(str(root)) as engine:
        return {document.path for document in engine.opened.catalog.documents()}


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        (".md", {"b.md", "C.MD"}),
        ("*.md", {"b.md", "C.MD"}),
        ("**/*.md", {"b.md", "C.MD"}),
        ("md", {"b.md", "C.MD"}),
        (".MD, *.py", {"b.md", "C.MD", "a.py"}),
        ('["*.md", ".txt"]', {"b.md", "C.MD", "notes.txt"}),
        ("Dockerfile", {"Dockerfile"}),
        ("*_test.go", {"a_test.go"}),
    ],
)
@pytest.mark.parametrize("words", [["index", "-q"], ["--build-index"]])
def test_an_ending_is_understood_as_it_is_written(root: Path, words: list[str], value: str, paths: set[str]) -> None:
    assert main(["index", "-q"]) == 0
    assert main([*words, "--required-exts", value]) == 0
    assert indexed(root) == paths


@pytest.mark.parametrize("value", ["src/*.md", "*.m?", "{.md,.py}", "[a-z].py", "*", ".md,a*b", "docs/"])
def test_a_pattern_is_refused(root: Path, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "-q"]) == 0
    before = indexed(root)
    assert main(["index", "--required-exts", value]) == 2
    error = capsys.readouterr().err
    assert "--required-exts cannot be" in error
    assert "source.ignore" in error
    assert indexed(root) == before


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--required-exts", ".zzz"], "ends with '.zzz'"),
        (["--required-exts", ".zzz,.yyy"], "ends with '.zzz', '.yyy'"),
        (["--ignore", "*"], "leave out all 6 files"),
        (["--set", "source.ignore=**"], "leave out all 6 files"),
        (["--set", "source.required_exts=.zzz"], "ends with '.zzz'"),
    ],
)
def test_rules_that_take_no_file_leave_the_index_as_it_was(
    root: Path, words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", "-q"]) == 0
    before = indexed(root)
    for more in ([], ["--dry-run"], ["--full"], ["-q"]):
        assert main(["index", *words, *more]) == 2
        assert text in capsys.readouterr().err
    assert indexed(root) == before
    assert main(["index", "-q"]) == 0  # nothing of the refused rules was kept
    assert indexed(root) == before


def test_a_first_run_without_any_file_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--required-exts", ".zzz"]) == 2
    assert "ends with '.zzz'" in capsys.readouterr().err


def test_an_ignore_file_for_everything_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "-q"]) == 0
    before = indexed(root)
    (root / ".fathomignore").write_text("*\n")
    assert main(["index"]) == 2
    assert "leave out all 6 files" in capsys.readouterr().err
    assert indexed(root) == before


@pytest.mark.parametrize("words", [[], ["--required-exts", ".py"]])
def test_files_that_are_gone_leave_an_empty_index(root: Path, words: list[str]) -> None:
    assert main(["index", "-q", *words]) == 0
    for path in root.iterdir():
        if path.is_file():
            path.unlink()
    assert main(["index", "-q"]) == 0
    assert indexed(root) == set()


@pytest.mark.parametrize(
    ("given", "key", "value"),
    [
        ('embed.query_prefix=" x "', "embed.query_prefix", " x "),
        ("embed.query_prefix=query: ", "embed.query_prefix", "query: "),
        ("embed.query_prefix=  two", "embed.query_prefix", "  two"),
        ('embed.query_prefix = "query: "', "embed.query_prefix", "query: "),
        ("embed.query_prefix = query: ", "embed.query_prefix", "query: "),
        ("search.mode= hybrid ", "search.mode", "hybrid"),
        ("search.limit= 7 ", "search.limit", 7),
    ],
)
def test_blanks_of_a_value_are_kept(
    root: Path, given: str, key: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "show", "--json", "--set", given]) == 0
    shown = {item["key"]: item["value"] for item in json.loads(capsys.readouterr().out)}
    assert shown[key] == value
