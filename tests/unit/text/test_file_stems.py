from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.counted import n_python_calls

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


NAMES = st.one_of(
    st.sampled_from(
        ["__init__.py", "mod.rs", "_init.py", "In-it.py", "init", "index.d.ts", "_.py", "-", ".a_b", "Aİ.x"]
    ),
    st.text(st.one_of(st.sampled_from("aB_-.\\é"), st.characters(exclude_characters="/")), min_size=1, max_size=6),
)


@given(st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=8))
def test_paths_have_the_stems_of_their_names_one_by_one(paths: list[str]) -> None:
    expected: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        expected.setdefault(flat_stem(name), []).append(path)
        if folder and stands_for_folder(name):
            expected.setdefault(flat_stem(folder.rpartition("/")[2]), []).append(path)
    assert by_stem(paths) == expected


def test_usual_paths_are_not_taken_one_by_one() -> None:
    """The first question after a change reads the paths of all files."""
    paths = [f"a/b/some-File_{n}.test.py" for n in range(2_000)]
    assert n_python_calls(lambda: by_stem(paths)) < 1.1 * len(paths)  # a step of a generator for each, and no more
