"""A project at a glance: its own words, a reading tour from its entry on, and its files by size."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom.engine import Engine
from codefathom.search.graph.glance import MOST_SIZED_FILES, MOST_STEPS, Glance, first_paragraph
from codefathom.types import TourStep

FILES = {
    "main.py": "from shop.cart import checkout\n\n\ndef main():\n    checkout()\n",
    "shop/cart.py": "from shop.price import total\n\n\ndef checkout():\n    return total([])\n",
    "shop/price.py": "def total(order):\n    return sum(order)\n",
    "shop/alone.py": "def alone(): ...\n",
    "tests/test_cart.py": "from shop.cart import checkout\n",
    "README.md": "# Shop\n\n[![build](x.svg)](x)\n\nA **shop** that prices [orders](o.md).\n\nMore.\n",
}


def seen(root: Path, files: dict[str, str]) -> tuple[Glance, tuple[TourStep, ...]]:
    (root / "fathom.toml").touch()
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(root) as engine:
        engine.index()
        return engine.glance(), engine.tour()


def test_a_tour_goes_from_the_entry_down_and_then_to_what_nothing_leads_to(tmp_path: Path) -> None:
    found, steps = seen(tmp_path, FILES)
    assert [(step.path, step.reason, step.source) for step in steps] == [
        ("main.py", "entry", ""),
        ("shop/cart.py", "imported", "main.py"),
        ("shop/price.py", "imported", "shop/cart.py"),
        ("shop/alone.py", "central", ""),
    ]
    assert [(step.symbol, step.start_line, step.end_line) for step in steps[:3]] == [
        ("main", 4, 5),
        ("checkout", 4, 5),
        ("total", 1, 2),
    ]
    assert (found.purpose, found.purpose_path) == ("A shop that prices orders.", "README.md")


def test_a_tour_begins_at_the_entry_beside_most_of_the_code(tmp_path: Path) -> None:
    own = {f"src/{path}": text for path, text in FILES.items() if path.startswith("shop/")}
    entry = {"src/shop/__main__.py": "from shop.cart import checkout\n\ncheckout()\n"}
    _, steps = seen(tmp_path, {**own, **entry, "tools/server.py": "def serve(): ...\n"})
    assert [(step.path, step.reason) for step in steps if step.reason == "entry"] == [
        ("src/shop/__main__.py", "entry"),
        ("tools/server.py", "entry"),
    ]


def test_it_is_bounded_and_files_are_named_by_size(tmp_path: Path) -> None:
    many = {f"part/file{number}.py": f"def part{number}(): ...\n" for number in range(MOST_SIZED_FILES)}
    found, steps = seen(tmp_path, {**many, "large.py": "x = 1\n" * 200})
    assert len(steps) == MOST_STEPS
    assert found.files[0].path == "large.py"
    assert found.files[0].changed_at == pytest.approx((tmp_path / "large.py").stat().st_mtime)
    assert (len(found.files), found.n_files_left_out > 0) == (MOST_SIZED_FILES, True)
    assert (found.purpose, found.purpose_path) == ("", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("# Only a heading\n", ""),
        ("Title\n=====\n\nIt is *for* `code`.\n", "It is for code."),
        ("Title\n=====\nIt stands close.", "It stands close."),
        ("<p align=center>\n<img src=x>\n</p>\n\nWords that count here", "Words that count here"),
        ("See `the docs <https://x.org>`_ for more.", "See the docs for more."),
        ("word " * 500, ("word " * 500)[:499].rstrip() + "…"),
    ],
)
def test_the_first_paragraph_of_prose_is_taken(text: str, words: str) -> None:
    assert first_paragraph(text) == words
