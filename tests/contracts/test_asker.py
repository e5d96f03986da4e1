"""Whoever can be asked answers the same questions: one project, places in it, several as one, a process elsewhere."""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.asker_process import PipedAsker
from tests.line_face import answered

from codefathom import Engine
from codefathom.answer.answer_types import Answer
from codefathom.askers.joined import JoinedProjects
from codefathom.askers.kept import KeptProject
from codefathom.askers.part import Part
from codefathom.errors import FathomError, UsageError
from codefathom.question.asker import Asker, result_of
from codefathom.question.question import Question
from codefathom.search.graph.impact import Impact
from codefathom.search.graph.project_map import ProjectMap
from codefathom.source.masks import MARK
from codefathom.types import Context, FileLines, RelatedResult, Rest, SearchResult, SomeFiles, SomeSymbols, SomeTexts

KEY = "AKIA" + "Q3EXAMPLE7HBNDCA"  # in two parts, so that it is none here
DIFF = """\
--- a/shop/pricing.py
+++ b/shop/pricing.py
@@ -1,2 +1,2 @@
 def price_of(order):
-    return order.total * 2
+    return order.total * 3
"""
# The question, the type of its result, and the paths in it.
QUESTIONS: dict[str, tuple[Question, type, Callable[[Any], set[str]]]] = {
    "search": (Question("price of an order"), SearchResult, lambda result: {hit.chunk.path for hit in result.hits}),
    "regex": (Question("price_o.", mode="regex"), SearchResult, lambda result: {hit.chunk.path for hit in result.hits}),
    "symbols": (
        Question("price_of", "symbols"),
        SomeSymbols,
        lambda result: {item.path for item in result.symbols},
    ),
    "related": (
        Question("@@price_of", "related"),
        RelatedResult,
        lambda result: {edge.path for edge in result.edges},
    ),
    "map": (Question("price", "map"), ProjectMap, lambda result: {file.path for file in result.files}),
    "files": (Question("", "files"), SomeFiles, lambda result: {file.path for file in result.files}),
    "context": (
        Question("price of an order", "context", max_files=5),
        Context,
        lambda result: {file.path for file in result.files},
    ),
    "ask": (
        Question("how is the price of an order made", "ask"),
        Answer,
        lambda result: {source.path for source in result.sources},
    ),
    "lines": (Question("shop/cart.py:3-4", "lines"), FileLines, lambda result: {result.file.path}),
    "texts": (
        Question(kind="texts", files=("shop/cart.py", "nowhere/at/all.py")),
        SomeTexts,
        lambda result: {item.path for item in result.texts},
    ),
    "outlines": (
        Question(kind="outlines", files=("shop/pricing.py",)),
        tuple,
        lambda result: {item.path for item in result if item.symbols},
    ),
    "impact": (
        Question(kind="impact", diff=DIFF),
        Impact,
        lambda result: {item.path for item in result.reached},
    ),
}
USE = "from shop.pricing import price_of\n\n"
ASKERS = ["one", "kept", "joined of one", "joined of two", "kept and joined", "piped", "kept piped", "joined piped"]
# Each path of the project, as an asker writes it; what is outside of the places is in no result of one that is kept.
PREFIX = {"joined of one": "one/", "joined of two": "one/", "kept and joined": "one/", "joined piped": "one/"}
KEPT = {"kept", "kept piped", "kept and joined"}
SHOP = {"shop/pricing.py", "shop/cart.py"}


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    base = tmp_path_factory.mktemp("askers")
    write(base / "one/shop/pricing.py", "def price_of(order):\n    return order.total * 2\n")
    write(
        base / "one/shop/cart.py", "from shop.pricing import price_of\n\ndef pay(order):\n    return price_of(order)\n"
    )
    write(
        base / "one/other/report.py", "from shop.pricing import price_of\n\ndef report(order): return price_of(order)\n"
    )
    write(base / "two/zoo.py", "def feed(animal):\n    return animal.price\n")
    return str(base / "one"), str(base / "two")


@pytest.fixture(scope="module")
def askers(roots: tuple[str, str]) -> Iterator[dict[str, Asker]]:
    one, two = (Engine.open(root, is_root=True) for root in roots)
    for engine in (one, two):  # lists of files and texts are those of the index, which other questions make first
        engine.index()
    piped = PipedAsker(roots[0])
    places = (os.path.join(one.root, "shop"),)
    yield {
        "one": one,
        "kept": KeptProject(one, places),
        "joined of one": JoinedProjects({"one": one}),
        "joined of two": JoinedProjects({"one": one, "two": two}),
        "kept and joined": JoinedProjects({"one": KeptProject(one, places)}),
        "piped": piped,
        "kept piped": KeptProject(piped, places),
        "joined piped": JoinedProjects({"one": piped, "two": two}),
    }
    for part in (one, two, piped):
        part.close()


@pytest.mark.parametrize("name", ASKERS)
@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_result_is_of_its_kind_and_about_what_is_asked(askers: dict[str, Asker], name: str, kind: str) -> None:
    question, type_of_result, paths_of = QUESTIONS[kind]
    if kind == "impact" and (name in KEPT or name in {"joined of two", "joined piped"}):
        with pytest.raises(UsageError, match=r"a (diff|change) is") as raised:
            result_of(askers[name], question)
        assert raised.value.hint
        return
    result = result_of(askers[name], in_words_of(name, question))
    assert isinstance(result, type_of_result)
    prefix, paths = PREFIX.get(name, ""), paths_of(result)
    assert paths & {prefix + path for path in SHOP}
    if name in KEPT:
        assert paths <= {prefix + path for path in SHOP}
    elif kind in {"related", "files", "regex"}:
        assert f"{prefix}other/report.py" in paths
    assert pickle.loads(pickle.dumps(result)) is not None  # it can be sent


@pytest.mark.parametrize("kind", [kind for kind in QUESTIONS if kind != "impact"])
def test_a_process_elsewhere_answers_as_the_project_does(askers: dict[str, Asker], kind: str) -> None:
    for own, elsewhere in [("one", "piped"), ("kept", "kept piped"), ("joined of two", "joined piped")]:
        question = in_words_of(own, QUESTIONS[kind][0])
        assert timeless(result_of(askers[elsewhere], question)) == timeless(result_of(askers[own], question))


@pytest.mark.parametrize("name", ASKERS)
def test_an_answer_in_words_begins_with_its_sources(askers: dict[str, Asker], name: str) -> None:
    kinds = [type(event).__name__ for event in askers[name].answer(QUESTIONS["ask"][0])]
    assert (kinds[0], kinds[-1]) == ("AnswerSources", "Answer")
    assert set(kinds[1:-1]) <= {"Text"}


@pytest.mark.parametrize("name", ASKERS)
@pytest.mark.parametrize(
    ("question", "message"),
    [
        (Question(""), "the query is empty"),
        (Question("x", limit=0), "limit cannot be 0"),
        (Question("x", offset=-1), "offset cannot be -1"),
        (Question("x", "symbols", limit=0), "limit cannot be 0"),
        (Question("x", "context", max_files=10**9), "max_files cannot be"),
        (Question("", "ask"), "the question is empty"),
        (Question("x", "ask", pinned=("nowhere.py",)), "nowhere.py"),
        (Question("one/nowhere.py", "lines"), "nowhere.py"),
    ],
)
def test_a_wrong_question_has_the_same_error(
    askers: dict[str, Asker], name: str, question: Question, message: str
) -> None:
    with pytest.raises(FathomError, match=message) as raised:
        result_of(askers[name], question)
    assert raised.value.hint


@pytest.mark.parametrize("name", ASKERS)
def test_pages_make_up_the_list(askers: dict[str, Asker], name: str) -> None:
    question = QUESTIONS["regex"][0]
    whole = result_of(askers[name], question)
    first = result_of(askers[name], replace(question, limit=1))
    second = result_of(askers[name], replace(question, limit=1, offset=1))
    assert [hit.chunk.id for hit in (*first.hits, *second.hits)] == [hit.chunk.id for hit in whole.hits[:2]]
    if name in {"joined of two", "joined piped"}:
        assert not first.rest.is_exact  # equal files are listed once: nobody counts what was not asked for
    else:
        assert first.rest == Rest(len(whole.hits) - 1)


@pytest.fixture(scope="module")
def keepers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Asker]]:
    """Askers of a project whose file has a secret."""
    root = tmp_path_factory.mktemp("keepers") / "one"
    write(root / "shop/keys.py", f'TOKEN = "{KEY}"\n\n\ndef sign(order):\n    return TOKEN + order\n')
    one, piped = Engine.open(str(root), is_root=True), PipedAsker(str(root))
    kept = KeptProject(piped, (os.path.join(one.root, "shop"),))
    yield {"one": one, "kept": KeptProject(one), "joined": JoinedProjects({"one": piped}), "piped": piped, "both": kept}
    for part in (one, piped):
        part.close()


@pytest.mark.parametrize("name", ["one", "kept", "joined", "piped", "both"])
def test_lines_for_the_model_of_an_agent_have_marks_whoever_is_asked(keepers: dict[str, Asker], name: str) -> None:
    path = f"{'one/' * (name == 'joined')}shop/keys.py:1"
    questions = Question("TOKEN =", mode="regex"), Question(path, "lines")
    for question in questions:
        seen, shown = (result_of(keepers[name], replace(question, for_agent=mark)) for mark in (False, True))
        assert [KEY in text_of(result) for result in (seen, shown)] == [True, False]
        assert [MARK in text_of(result) for result in (seen, shown)] == [False, True]
        assert [result.has_marks for result in (seen, shown)] == [False, True]


def text_of(result: SearchResult | FileLines) -> str:
    return result.text if isinstance(result, FileLines) else "".join(hit.chunk.text for hit in result.hits)


def test_a_project_that_fails_is_named_and_stops_no_other(roots: tuple[str, str]) -> None:
    with Engine.open(roots[0], is_root=True) as one:
        projects = JoinedProjects({"one": one}, {"gone": UsageError("there is no folder", hint="look")})
        assert result_of(projects, Question("price")).hits
        each = projects.of_each(Question("price"))
        assert (set(each.results), set(each.failed)) == ({"one"}, {"gone"})


def test_an_engine_and_what_is_kept_are_parts(roots: tuple[str, str]) -> None:
    engine: Part = Engine.open(roots[0], is_root=True)
    kept: Part = KeptProject(engine, (os.path.join(roots[0], "shop"),))
    twice = KeptProject(kept, (os.path.join(roots[0], "shop/cart.py"),))
    assert {item.path for item in result_of(twice, Question("", "files")).files} == {"shop/cart.py"}
    twice.close()


@pytest.mark.parametrize("name", ASKERS)
@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("search limit=2 mode=regex price_o.", "SearchResult"),
        ("search where='path contains \"shop\"' price of an order", "SearchResult"),
        ("symbols symbol_kind=function price_of", "SomeSymbols"),
        ("related depth=2 @@price_of", "RelatedResult"),
        ("map max_tokens=500", "ProjectMap"),
        ("context max_files=1 price of an order", "Context"),
        ("ask anyway=true how is an order priced", "Answer"),
        ("files", "SomeFiles"),
        ("search limit=many price", "error"),
        ("search limit=0 price", "error"),
        ("dance", "error"),
    ],
)
def test_another_face_needs_nothing_else(askers: dict[str, Asker], name: str, line: str, last: str) -> None:
    *_, event = (json.loads(event) for event in answered(line, askers[name]))
    assert last in event
    assert "error" in event or re.search(r"(pricing|cart|report)\.py", json.dumps(event))


def in_words_of(name: str, question: Question) -> Question:
    """The question with its files as this asker writes them: of several projects, a path begins with its own."""
    prefix = PREFIX.get(name, "")
    if question.kind == "lines":
        return replace(question, text=prefix + question.text)
    return replace(question, files=tuple(prefix + path for path in question.files)) if prefix else question


def timeless(result: Any) -> Any:
    if isinstance(result, Answer):
        return replace(result, trace=())
    return replace(result, milliseconds=0.0) if isinstance(result, SearchResult) else result


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
