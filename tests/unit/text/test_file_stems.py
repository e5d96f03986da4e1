from __future__ import annotations

import pytest

from codefathom.facts.paths import stands_for_folder
from codefathom.text.file_stems import by_stem, flat_stem


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Hot_reload.test.ts", "hotreload"),
        ("flat-hash_map.h", "flathashmap"),
        ("Makefile", "makefile"),
        (".gitignore", ".gitignore"),
        ("u\u0308ber.py", "\u00fcber"),  # as macOS may write it
        ("", ""),
    ],
)
def test_the_stem_of_a_name(name: str, stem: str) -> None:
    assert flat_stem(name) == stem


@pytest.mark.parametrize(("path", "stands"), [("a/__init__.py", True), ("a/mod.rs", True), ("a/model.rs", False)])
def test_a_file_that_stands_for_its_folder(path: str, stands: bool) -> None:
    assert stands_for_folder(path) is stands


def test_paths_by_their_stems() -> None:
    assert by_stem(["a/time.py", "b/Time.go", "a/__init__.py", "index.ts"]) == {
        "time": ["a/time.py", "b/Time.go"],
        "init": ["a/__init__.py"],
        "a": ["a/__init__.py"],
        "index": ["index.ts"],
    }
