"""Paths as people write them: with backslashes, with accents of either form, in another case."""

from __future__ import annotations

import unicodedata

import pytest

from codefathom.text.path_spelling import canonical, own_spelling, paths_below, paths_named, spellings

COMPOSED = unicodedata.normalize("NFC", "grüße/größe.py")
DECOMPOSED = unicodedata.normalize("NFD", "grüße/größe.py")
PATHS = [
    "web/src/cart.ts",
    "api/web/src/cart.ts",
    "订单/价格 计算.py",
    DECOMPOSED,
    "🎉 party/🦘.py",
    "case/Readme.py",
    "case/README.py",
    "back\\slash.py",
    "back/slash.py",
    "con.py",
    "aux/nul.txt",
]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("web/src/cart.ts", ["web/src/cart.ts"]),
        ("web\\src\\cart.ts", ["web/src/cart.ts"]),
        (".\\web\\src\\cart.ts", ["web/src/cart.ts"]),
        ("src\\cart.ts", ["web/src/cart.ts", "api/web/src/cart.ts"]),
        ("cart.ts", ["web/src/cart.ts", "api/web/src/cart.ts"]),
        ("订单\\价格 计算.py", ["订单/价格 计算.py"]),
        (COMPOSED, [DECOMPOSED]),
        (DECOMPOSED, [DECOMPOSED]),
        (COMPOSED.replace("/", "\\"), [DECOMPOSED]),
        ("🦘.py", ["🎉 party/🦘.py"]),
        ("case/README.py", ["case/README.py"]),
        ("case\\Readme.py", ["case/Readme.py"]),
        ("case/readme.py", []),
        ("back\\slash.py", ["back\\slash.py"]),
        ("back/slash.py", ["back/slash.py"]),
        ("CON.py", []),
        ("aux\\nul.txt", ["aux/nul.txt"]),
        ("", []),
    ],
)
def test_the_paths_that_are_named(written: str, expected: list[str]) -> None:
    assert paths_named(written, PATHS) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("web/src", ["web/src/cart.ts", "api/web/src/cart.ts"]),
        ("api\\web", ["api/web/src/cart.ts"]),
        ("订单/", ["订单/价格 计算.py"]),
        (COMPOSED.partition("/")[0], [DECOMPOSED]),
        ("🎉 party", ["🎉 party/🦘.py"]),
        ("Case", []),
        ("aux", ["aux/nul.txt"]),
    ],
)
def test_the_paths_below_a_folder(written: str, expected: list[str]) -> None:
    assert paths_below(written, PATHS) == expected


@pytest.mark.parametrize(
    ("name", "is_there", "expected"),
    [
        ("Readme.md", True, "Readme.md"),
        ("README.MD", True, "Readme.md"),  # a system that finds it in any case
        ("README.MD", False, "README.MD"),
        ("größe", False, unicodedata.normalize("NFD", "größe")),
        ("GRÖSSE", True, unicodedata.normalize("NFD", "größe")),
        ("other", True, "other"),
        ("", False, ""),
    ],
)
def test_a_name_as_the_disk_has_it(name: str, is_there: bool, expected: str) -> None:
    names = ["Readme.md", "main.py", unicodedata.normalize("NFD", "größe")]
    assert own_spelling(name, names, is_there=is_there) == expected


def test_a_plain_path_has_one_spelling() -> None:
    assert spellings("src/a.py") == ("src/a.py",)
    assert spellings("src\\a.py") == ("src\\a.py", "src/a.py")
    assert spellings(COMPOSED) == (COMPOSED, DECOMPOSED)
    assert spellings(DECOMPOSED) == (DECOMPOSED, COMPOSED)
    assert canonical(DECOMPOSED.replace("/", "\\")) == COMPOSED
