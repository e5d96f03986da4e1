"""Contexts and answers in words of several projects, which read the files of each: two small ones on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from codefathom import Engine
from codefathom.answer.answer_types import AnswerRequest
from codefathom.askers.joined import JoinedProjects
from codefathom.askers.kept import KeptProject
from codefathom.errors import SettingsError, SourceError
from codefathom.question.asker import result_of
from codefathom.question.question import Question
from codefathom.types import Context, Filter, Skipped

SHOP = 'def price_of(order):\n    """Price of an order, with tax."""\n    return order.total * 2\n'
BANK = 'def account_of(order):\n    """The account that an order is paid from."""\n    return order.account\n'
LEFT_OUT = [Skipped("/many/7", "too many")]


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Engine]]:
    with ExitStack() as stack:
        opened = {}
        for name, text in (("shop", SHOP), ("bank", BANK)):
            root = tmp_path_factory.mktemp(name)
            (root / f"{name}.py").write_text(text)
            (root / "other.py").write_text("def unrelated():\n    return 'a walrus'\n")
            opened[name] = stack.enter_context(Engine.open(str(root), is_root=True))
        yield opened


@pytest.fixture
def projects(engines: dict[str, Engine]) -> JoinedProjects:
    return JoinedProjects(engines, {"gone": SourceError("the disk is away")}, left_out=LEFT_OUT)


def test_a_context_has_the_files_of_all_projects(projects: JoinedProjects) -> None:
    context = projects.context("price and account of an order")
    texts = {file.path: file.text.strip("\n") for file in context.files}
    assert {"shop/shop.py", "bank/bank.py"} <= texts.keys()
    assert "order.total * 2" in texts["shop/shop.py"]
    assert "order.account" in texts["bank/bank.py"]
    assert [note.kind for note in context.problems if not isinstance(note, str)] == ["project_failed", "left_out"]
    assert result_of(projects, Question("price and account of an order", "context")) == context


def test_the_limits_of_a_context_hold(projects: JoinedProjects) -> None:
    question = "price and account of an order"
    assert len(projects.context(question, max_files=1).files) == 1
    python = Filter("path", "ends_with", "bank.py")
    assert [file.path for file in projects.context(question, where=python).files] == ["bank/bank.py"]
    small = projects.context(question, max_tokens=30)
    assert small.n_tokens <= 30
    assert projects.context(question, format_name="xml").n_tokens != projects.context(question).n_tokens
    nothing: Context = projects.context("zebra giraffe okapi")
    assert (nothing.files, nothing.weak) == ((), True)
    assert projects.context("zebra giraffe okapi", anyway=True).files


def test_an_answer_without_a_model_is_made_of_places_of_all_projects(projects: JoinedProjects) -> None:
    events = list(projects.ask_events("price and account of an order"))
    answer = events[-1]
    assert type(events[0]).__name__ == "AnswerSources"
    assert projects.ask("price and account of an order").text == answer.text
    assert {citation.path for citation in answer.citations} >= {"shop/shop.py", "bank/bank.py"}
    kinds = [note.kind for note in answer.problems if not isinstance(note, str)]
    assert kinds[:1] == ["project_failed"]
    assert "left_out" in kinds
    assert projects.ask(AnswerRequest("price and account of an order")).text == answer.text


def test_an_agent_needs_a_model(projects: JoinedProjects) -> None:
    with pytest.raises(SettingsError):
        list(projects.investigate("price of an order"))


def test_what_is_kept_to_a_place_answers_from_it_only(engines: dict[str, Engine]) -> None:
    root = engines["shop"].root
    kept = KeptProject(engines["shop"], (f"{root}/other.py",))
    both = JoinedProjects({"shop": kept, "bank": engines["bank"]})
    paths = {file.path for file in both.context("price and account of an order", anyway=True).files}
    assert "shop/shop.py" not in paths
    with pytest.raises(SourceError, match="is not inside any of the projects"):
        both.ask(AnswerRequest("price of an order", pinned=("shop/shop.py",)))
    assert result_of(kept, Question("", "files")).files[0].path == "other.py"
    assert len(result_of(kept, Question("", "files")).files) == 1
    assert result_of(kept, Question("", "symbols")).n_symbols == 1


def test_pinned_files_and_documents_are_among_the_sources(projects: JoinedProjects) -> None:
    request = AnswerRequest(
        "price and account of an order", pinned=("bank/other.py",), documents={"note.md": "a price of orders"}
    )
    paths = {source.path for source in next(iter(projects.ask_events(request))).sources}  # type: ignore[union-attr]
    assert {"bank/other.py", "note.md"} <= paths
    python = Filter("path", "ends_with", "bank.py")
    kept = projects.ask(AnswerRequest("price and account of an order", where=python))
    assert {source.path for source in kept.sources} == {"bank/bank.py"}


def test_the_sources_of_an_answer_are_named_after_their_definitions(projects: JoinedProjects) -> None:
    answer = projects.ask("price and account of an order")
    assert {(source.path, source.symbol) for source in answer.citations} >= {
        ("shop/shop.py", "price_of"),
        ("bank/bank.py", "account_of"),
    }
