"""What a model may see of a project: secrets go out of whole texts before anything is cut, and places have names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.answer.answer_types import Answer, Citation, Source
from codefathom.config.settings import LlmSettings, Settings
from codefathom.project.opened_asker import OpenedAsker
from codefathom.project.opening import OpenedProject
from codefathom.project.texts import Texts, with_symbols
from codefathom.providers.base import NO_USAGE
from codefathom.source.masks import MASK

KEY = "AKIA" + "Q3EXAMPLE7HBNDCA"  # in two parts, so that it is none here
TEXT = f'''TOKEN = "{KEY}"


class Cart:
    def total(self):
        return 1

    def empty(self):
        return not self.total()


def pay(cart): ...
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "none.toml"))
    root = tmp_path / "project"
    (root / ".fathom").mkdir(parents=True)
    (root / "cart.py").write_text(TEXT)
    return root


def opened(root: Path, base_url: str) -> Iterator[OpenedProject]:
    settings = Settings(llm=LlmSettings(model="openai:m", base_url=base_url))
    with Engine.open(str(root), settings=settings) as engine:
        engine.index()
        yield engine.opened


@pytest.mark.parametrize(("base_url", "is_there"), [("http://10.1.2.3/v1", False), ("http://localhost/v1", True)])
def test_secrets_are_seen_by_models_on_this_machine_only(project: Path, base_url: str, is_there: bool) -> None:
    for index in opened(project, base_url):
        texts = Texts(OpenedAsker(index), {"note": f"key {KEY}"})
        (symbol,) = index.catalog.symbols("TOKEN")
        seen = (texts.indexed("cart.py"), texts.on_disk("cart.py"), texts.indexed("note"))
        assert [KEY in (text or "") for text in seen] == [is_there] * len(seen)
        kept = (texts.of_symbol(symbol).symbol.signature, texts.recorded(f"what is {KEY}?"))
        assert [KEY in text for text in kept] == [False, False]


def test_what_a_model_was_shown_is_compared_with_the_file_as_it_was_shown(project: Path) -> None:
    for index in opened(project, "http://localhost/v1"):
        texts = Texts(OpenedAsker(index))
        (project / "cart.py").write_text("# new\n" + TEXT)
        shown, now = texts.indexed("cart.py"), texts.on_disk("cart.py")
        assert MASK * len(KEY) in shown
        assert now == "# new\n" + shown


@pytest.mark.parametrize(
    ("lines", "name"),
    [((5, 6), "Cart.total"), ((4, 9), "Cart"), ((5, 9), "Cart"), ((1, 12), "TOKEN"), ((10, 12), "pay"), ((2, 3), "")],
)
def test_lines_are_named_after_the_definition_around_them(project: Path, lines: tuple[int, int], name: str) -> None:
    for index in opened(project, ""):
        texts = Texts(OpenedAsker(index))
        assert texts.name_of("cart.py", *lines) == name
        assert texts.name_of("nowhere.py", *lines) == ""


def test_citations_and_parts_of_files_get_their_names() -> None:
    sources = (
        Source(1, "a.py", 1, 9, "", is_whole=True),
        Source(2, "a.py", 2, 3, ""),
        Source(3, "a.py", 2, 3, "", "found"),
    )
    answer = Answer("", "", (Citation("a.py", 4, 5),), (), 1.0, 1.0, "high", "", NO_USAGE, sources, 1)
    named = with_symbols(answer, lambda path, start, end: f"{path} {start} {end}", {}.get)
    assert [source.symbol for source in named.sources] == ["", "a.py 2 3", "found"]
    assert [citation.symbol for citation in named.citations] == ["a.py 4 5"]


def test_citations_and_sources_in_documents_get_their_places() -> None:
    sources = (
        Source(1, "a.pdf", 1, 9, "", is_whole=True),
        Source(2, "a.pdf", 2, 3, ""),
        Source(3, "gone.pdf", 1, 1, ""),
    )
    citations = (Citation("a.pdf", 2, 2), Citation("a.pdf", 1, 4))
    answer = Answer("", "", citations, (), 1.0, 1.0, "high", "", NO_USAGE, sources, 1)
    named = with_symbols(answer, lambda *_: "", {"a.pdf": "[page 1]\nOne\n[page 2]\nTwo\n"}.get)
    assert [source.place for source in named.sources] == ["", "pages 1-2", ""]
    assert [citation.place for citation in named.citations] == ["page 1", "pages 1-2"]
