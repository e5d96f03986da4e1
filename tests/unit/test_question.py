"""A question as a value is answered as the methods of `Engine` answer it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codefathom import Engine
from codefathom.question.asker import result_of
from codefathom.question.question import Question
from codefathom.types import SearchResult, SomeFiles, SomeSymbols

ASKED: dict[Question, Callable[[Engine], Any]] = {
    Question("price of an order", limit=2): lambda engine: engine.search("price of an order", limit=2),
    Question("price_of", kind="symbols"): lambda engine: SomeSymbols(
        engine.symbols("price_of"), engine.n_symbols("price_of")
    ),
    Question("@@price_of", kind="related", depth=2): lambda engine: engine.related("@@price_of", depth=2),
    Question("price", kind="map", max_tokens=500): lambda engine: engine.map("price", max_tokens=500),
    Question("price", kind="context", max_files=1): lambda engine: engine.context("price", max_files=1),
    Question("", kind="files"): lambda engine: SomeFiles(engine.files.listed()),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    root = tmp_path_factory.mktemp("shop")
    write(root / "pricing.py", "def price_of(order):\n    return order.total * 2\n")
    write(root / "cart.py", "from pricing import price_of\n\ndef pay(order):\n    return price_of(order)\n")
    return Engine.open(str(root), is_root=True)


@pytest.mark.parametrize("question", ASKED, ids=lambda question: question.kind)
def test_a_question_of_each_kind_gets_the_answer_of_the_method(engine: Engine, question: Question) -> None:
    assert timeless(result_of(engine, question)) == timeless(ASKED[question](engine))


def test_an_answer_in_words_comes_as_sources_text_and_answer(engine: Engine) -> None:
    kinds = [type(event).__name__ for event in engine.answer(Question("how is an order priced", kind="ask"))]
    assert (kinds[0], kinds[-1]) == ("AnswerSources", "Answer")


def test_a_question_can_be_sent_and_kept() -> None:
    question = Question("x", documents=(("a", "b"),))
    assert pickle.loads(pickle.dumps(question)) == question
    assert {question: 1}[replace(question)] == 1


def timeless(result: Any) -> Any:
    return replace(result, milliseconds=0.0) if isinstance(result, SearchResult) else result


def write(path: Path, text: str) -> None:
    path.write_text(text)
