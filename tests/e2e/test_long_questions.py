"""A question of any length is answered or refused at once, whoever asks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import UsageError
from codefathom.search.question.query import MAX_QUESTION

SHOP = Path(__file__).parent.parent / "repos" / "shop"
LIMIT = "at most 100,000 are allowed"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


@pytest.fixture
def engine(shop: Path) -> Iterator[Engine]:
    with Engine.open(str(shop)) as opened:
        yield opened


@pytest.mark.parametrize("letter", ["a", "返", "(", " x", '"', "\n"])
def test_python(engine: Engine, letter: str) -> None:
    question = "x" + letter * 1_000_000
    for ask in (engine.search, engine.context, engine.ask, lambda text: list(engine.investigate(text))):
        with pytest.raises(UsageError, match=LIMIT) as caught:
            ask(question)
        assert "shorten it" in caught.value.hint


@pytest.mark.parametrize("command", [[], ["search"], ["context"], ["ask"], ["ask", "--agent"]])
def test_command_line(shop: Path, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "why is " + "返" * 1_000_000]) == 2
    err = capsys.readouterr().err
    assert LIMIT in err
    assert len(err) < 1_000


def test_a_long_issue_is_answered(engine: Engine) -> None:
    report = "Prices of carts are wrong\n\n" + "The total of a cart is priced twice.\n" * 1_600
    trace = "".join(f'  File "shop/pricing.py", line {n}, in total_cents\n' for n in range(1, 400))
    question = f"{report}\n```\nTraceback (most recent call last):\n{trace}```\n"
    assert 60_000 < len(question) < MAX_QUESTION
    assert "shop/pricing.py" in {hit.chunk.path for hit in engine.search(question).hits}


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (" ".join(f"@src/f{n}.py" for n in range(7_000)), "7,000 marks @path"),
        (" ".join(f"@@name{n}" for n in range(7_000)), "7,000 marks @@symbol"),
        (" ".join(f"ext:l{n}" for n in range(7_000)), "7,001 conditions, at most 400"),
        ("@@" + "a" * 90_000, "no symbol is called"),
        ("@" + "a/" * 45_000, "no indexed file matches"),
    ],
)
def test_too_many_or_too_long_marks(engine: Engine, question: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        engine.search(question)
    assert caught.value.hint
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("question", ["a.b" * 33_000, "lang:go " * 12_000 + "price", "path:" + "*" * 90_000 + " price"])
def test_odd_but_not_too_long(engine: Engine, question: str) -> None:
    engine.search(question)
    engine.symbols(question)
