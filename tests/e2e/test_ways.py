"""The ways of a question and of a file are those that ARCHITECTURE.md draws: a real run enters its stages in order."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import codefathom
from codefathom import Engine

ROOT = Path(__file__).parents[2]
PACKAGE = Path(codefathom.__file__).parent
STAGE = re.compile(r"^ +\d+ (\w+) +([\w/]+\.py)  ", re.MULTILINE)


def drawn(section: str) -> list[tuple[str, str]]:
    """The stages of a picture: function and module."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return STAGE.findall(text.partition(f"## {section}\n")[2].partition("\n## ")[0])


def entered(work: Callable[[], object]) -> list[tuple[str, str]]:
    """The functions of ours that are called, in the order of their first call."""
    first: dict[CodeType, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            first.setdefault(frame.f_code)

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
    ours = {code: Path(code.co_filename) for code in first if Path(code.co_filename).is_relative_to(PACKAGE)}
    return [(code.co_name, path.relative_to(PACKAGE).as_posix()) for code, path in ours.items()]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / ".cache"))  # what is parsed and embedded already goes no way
    (tmp_path / "pricing.py").write_text("def price_of(order):\n    return order.total * 2\n")
    (tmp_path / "README.md").write_text("# Shop\n\nHow orders are priced.\n")
    return Engine.open(str(tmp_path), is_root=True)


def test_a_question_goes_the_way_that_is_drawn(engine: Engine) -> None:
    engine.index()
    stages = drawn("The way of a question")
    assert len(stages) > 10
    assert [stage for stage in entered(lambda: engine.search("how are orders priced")) if stage in stages] == stages


def test_a_file_goes_the_way_that_is_drawn(engine: Engine) -> None:
    stages = drawn("The way of a file")
    assert len(stages) > 10
    assert [stage for stage in entered(engine.index) if stage in stages] == stages
