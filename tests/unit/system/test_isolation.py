"""Where modules come from, for this process and its children."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import codefathom
from codefathom.system.children import environment, find_program, neutral_folder
from codefathom.system.isolation import trusted_path

PACKAGE_PARENT = str(Path(codefathom.__file__).parents[1])
LIBRARY = os.path.dirname(os.__file__)


@pytest.mark.parametrize(
    ("path", "variable", "left"),
    [
        (["", "/a"], None, ["/a"]),  # `python -c`, a notebook
        (["{here}", "/a"], None, ["/a"]),  # `python -m`
        (["/a", "{here}"], None, ["/a", "{here}"]),  # somebody put it there
        (["/a", "src", "b/../c"], None, ["/a"]),
        (["/x/bin", "{here}", "/a"], f"{os.pathsep}/a", ["/x/bin", "/a"]),  # an empty entry is the working directory
        (["/x/bin", "{here}/src", "/a"], f"src{os.pathsep}/a", ["/x/bin", "/a"]),
        (["{here}", "{here}", "/a"], "{here}", ["{here}", "{here}", "/a"]),  # named in full: it is meant
        (["{package}", "/a"], None, ["{package}", "/a"]),
    ],
)
def test_entries_that_follow_the_working_directory_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: list[str], variable: str | None, left: list[str]
) -> None:
    is_at_home = "{package}" in path
    here = PACKAGE_PARENT if is_at_home else str(tmp_path)
    monkeypatch.chdir(here)
    words = {"here": here, "package": PACKAGE_PARENT}
    monkeypatch.setattr(sys, "path", [entry.format(**words) for entry in path])
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if variable is not None:
        monkeypatch.setenv("PYTHONPATH", variable.format(**words))
    assert trusted_path() == [entry.format(**words) for entry in left]


def test_whoever_searches_the_library_of_python_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(LIBRARY)
    monkeypatch.setattr(sys, "path", [LIBRARY, "/a"])
    assert trusted_path() == [LIBRARY, "/a"]


def test_a_working_directory_that_is_gone_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setattr(sys, "path", ["", "/a"])
    assert trusted_path() == ["/a"]
    monkeypatch.chdir(tmp_path)


def test_what_is_relative_means_the_same_in_a_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FATHOM_CACHE_DIR", "cache")
    monkeypatch.setenv("FATHOM_INDEX_DIR", "/indexes")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "src", "/a"]))
    monkeypatch.setenv("PATH", os.pathsep.join([".", "/bin", "bin"]))
    made = environment()
    assert made["FATHOM_CACHE_DIR"] == str(tmp_path / "cache")
    assert made["FATHOM_INDEX_DIR"] == "/indexes"
    assert (made["PYTHONPATH"], made["PATH"]) == ("/a", "/bin")
    monkeypatch.setenv("PYTHONPATH", ".")
    assert "PYTHONPATH" not in environment()
    assert not Path.cwd().is_relative_to(neutral_folder())


def test_a_program_is_not_taken_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text("#!/bin/sh\n")
        (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "bin"]))
    assert find_program("git") is None
    monkeypatch.setenv("PATH", os.pathsep.join(["", str(tmp_path / "bin")]))
    assert find_program("git") == str(tmp_path / "bin" / "git")
