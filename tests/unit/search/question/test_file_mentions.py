from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.search.question.file_mentions import (
    MAX_BARE,
    MAX_NAMED,
    MAX_WRITTEN,
    bare_files,
    imported_files,
    is_file_name,
    named_files,
    written_files,
)
from codefathom.search.question.issue import Issue, read_issue
from codefathom.text.file_stems import by_stem
from codefathom.types import Reference

PATHS = (
    "Makefile",
    "celery/__init__.py",
    "celery/utils/__init__.py",
    "celery/utils/time.py",
    "docs/celery.utils.time.rst",
    "lib/url.c",
    "lib/url.h",
    "src/main/java/com/shop/Export.java",
    "src/net/client.ts",
    "src/extract/json.rs",
    "web/utils.py",
    "shop/utils.py",
    "app/Http/Kernel.php",
)
BY_STEM = by_stem(PATHS)


def named(title: str, prose: str = "", code: str = "") -> dict[str, float]:
    files = named_files(written_files(Issue(title, prose, code)), BY_STEM)
    return {path: round(value, 2) for path, value in files.items()}


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("time.py loses the zone", {"celery/utils/time.py": 1.0}),
        ("in celery/utils/time.py:12", {"celery/utils/time.py": 1.0}),
        ("in `utils/time.py`, line 3.", {"celery/utils/time.py": 1.0}),
        (r"C:\work\celery\utils\time.py fails", {"celery/utils/time.py": 1.0}),
        ("https://example.org/o/celery/blob/4f2a/celery/utils/time.py#L10-L20", {"celery/utils/time.py": 1.0}),
        ("utils.py", {"shop/utils.py": 0.71, "web/utils.py": 0.71}),
        ("/srv/app/web/utils.py", {"web/utils.py": 1.0}),
        ("url.c and url.h", {"lib/url.c": 1.0, "lib/url.h": 1.0}),
        ("the Makefile of the project", {"Makefile": 1.0}),
        ("celery.utils.time", {"celery/utils/time.py": 0.8}),
        ("celery.utils.time.rate(3)", {"celery/utils/time.py": 0.8}),
        ("celery.utils", {"celery/utils/__init__.py": 0.8}),
        ("time.rate", {"celery/utils/time.py": 0.5}),
        ("com.shop.Export.write", {"src/main/java/com/shop/Export.java": 0.8}),
        ("crate::extract::json", {"src/extract/json.rs": 0.8}),
        (r"App\Http\Kernel", {"app/Http/Kernel.php": 0.8}),
        ("import from src/net/client", {"src/net/client.ts": 0.8}),
        ("response.json() is empty", {}),  # a call, and no file
        ("self.time.zone", {}),
        ("other.py, a.b, e.g. this, 3.11, https://example.org", {}),
        ("utils are slow", {}),
        ("", {}),
    ],
)
def test_what_a_text_names(text: str, files: dict[str, float]) -> None:
    assert named(text) == files


def test_the_title_counts_most_and_code_least() -> None:
    assert named("url.c", "client.ts", "time.py Export.java url.c") == {
        "lib/url.c": 1.0,
        "src/net/client.ts": 0.8,
        "celery/utils/time.py": 0.3,
        "src/main/java/com/shop/Export.java": 0.3,
    }


@pytest.mark.parametrize(
    ("word", "is_name"),
    [
        ("x.py", True),
        ("README.md", True),
        ("a/b.RB", True),
        ("response.json", False),
        ("app.route", False),
        ("py", False),
    ],
)
def test_a_word_that_is_a_file_and_no_symbol(word: str, is_name: bool) -> None:
    assert is_file_name(word) is is_name


def test_a_bare_word_names_a_file_where_few_are_called_so() -> None:
    runs = frozenset(("time", "flathash", "url", "client", "utils"))
    assert bare_files(runs, BY_STEM) == [
        "src/net/client.ts",
        "celery/utils/__init__.py",
        "web/utils.py",
        "shop/utils.py",
        "celery/utils/time.py",
    ]
    many = by_stem(f"{n}/utils.py" for n in range(4))
    assert bare_files(runs, many) == []


@pytest.mark.parametrize(
    ("name", "given", "files"),
    [
        ("celery.utils.time", "rate", ["celery/utils/time.py"]),
        ("celery.utils", "time as clock, other", ["celery/utils/time.py", "celery/utils/__init__.py"]),
        ('"lib/url.h"', "", ["lib/url.h"]),
        ("'../net/client'", "", ["src/net/client.ts"]),
        ("com.shop.Export", "", ["src/main/java/com/shop/Export.java"]),
        ("os.path", "join", []),
        ("time", "", []),  # one word alone may be of another project
        ("", " , ", []),
    ],
)
def test_an_import_names_files(name: str, given: str, files: list[str]) -> None:
    assert sorted(imported_files([Reference("import", name, 1, qualifier=given)], BY_STEM)) == sorted(files)


def test_thousands_of_names_stay_few() -> None:
    paths = by_stem(f"pkg/m{n}.py" for n in range(5_000))
    written = written_files(Issue(" ".join(f"m{n}.py" for n in range(5_000)), "", ""))
    assert len(written) == MAX_WRITTEN
    assert len(named_files(written, paths)) == MAX_NAMED
    assert len(bare_files(frozenset(f"m{n}" for n in range(1_000, 5_000)), paths)) == MAX_BARE


def test_a_name_of_thousands_of_files_names_none_and_is_not_compared_for_ever() -> None:
    paths = by_stem(f"pkg{n}/same/__init__.py" for n in range(20_000))
    written = written_files(Issue("", " ".join(f"x{n}/__init__.py" for n in range(5_000)), ""))
    assert named_files(written, paths) == {}


@pytest.mark.parametrize("sign", ["a.", "a/", "::", "\\", "a.py:1", "-", ".", "a.b.c ", "x.py(", "~$@"])
def test_a_text_that_is_made_to_take_long_does_not(sign: str) -> None:
    written = written_files(read_issue("title\n" + sign * (100_000 // len(sign))))
    assert len(written) <= MAX_WRITTEN


@given(st.text(alphabet=st.sampled_from("utils.py/time :\\#L1()`"), max_size=60))
def test_any_text_names_only_files_that_are_there(text: str) -> None:
    files = named_files(written_files(Issue(text, text, text)), BY_STEM)
    assert set(files) <= set(PATHS)
    assert all(0 < value <= 1 for value in files.values())
