"""Answers in the making: who may read them, when they are stopped, and how many there may be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.waiting import LONG_S

from codefathom.agent.loop import Thought, ToolObservation
from codefathom.answer.answer_types import Answer, OnStep, Source
from codefathom.answer.ask import AnswerSources, Text
from codefathom.errors import UsageError
from codefathom.providers.base import NO_USAGE
from codefathom.server.answers.answer_events import EngineEvent, source_of
from codefathom.server.answers.answer_runs import PATIENCE_S, AnswerTask, AnswerTasks, AskedBy
from codefathom.server.answers.conversations import Conversations
from codefathom.server.http.problem_json import BusyError, NotFoundError, TooManyError

SOURCE = Source(1, "shop/cart.py", 3, 9, "…", "Cart.total", 0.91234, "defines it")
ANSWER = Answer("where?", "Here.", (), (), 0.0, 0.5, "medium", "m", NO_USAGE, (SOURCE,), 3)
WHOLE: list[EngineEvent] = [AnswerSources((SOURCE,), (), ()), Text("He"), Text("re."), ANSWER]
ASKER = AskedBy("where?", "ann", "", ("shop",))


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Conversations]:
    with closing(Conversations(str(tmp_path / "kept.db"))) as kept:
        yield kept


@pytest.fixture
def answers(kept: Conversations) -> Iterator[AnswerTasks]:
    with closing(AnswerTasks(kept, most_at_once=2)) as answers:
        yield answers


def scripted(*events: EngineEvent | Exception) -> Callable[[], object]:
    """Events that come at once, or an error."""

    @contextmanager
    def opened(_: OnStep) -> Iterator[Iterator[EngineEvent]]:
        def told() -> Iterator[EngineEvent]:
            for event in events:
                if isinstance(event, Exception):
                    raise event
                yield event

        yield told()

    return opened


class Held:
    """Events of which the next one comes when the test lets it."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.is_closed = threading.Event()

    @contextmanager
    def __call__(self, _: OnStep) -> Iterator[Iterator[EngineEvent]]:
        def told() -> Iterator[EngineEvent]:
            yield Text("first ")
            self.go_on.wait(LONG_S)
            yield Text("second")

        try:
            yield told()
        finally:
            self.is_closed.set()


def ended(task: AnswerTask) -> list[str]:
    """The types of all events, once there are no more."""
    is_told = threading.Event()
    with task.channel.listening(is_told.set):
        while not task.channel.is_closed:
            assert is_told.wait(LONG_S)
            is_told.clear()
    return [event.type for event in task.channel.since(0).events]


def test_an_answer_is_told_and_kept(answers: AnswerTasks, kept: Conversations) -> None:
    conversation = kept.begin(["shop"], "ann")
    task = answers.begin(AskedBy("where?", "ann", conversation.id, ("shop",)), scripted(*WHOLE))
    assert ended(task) == ["status", "sources", "status", "content", "content", "status", "usage", "done"]
    assert task.answer == ANSWER
    (turn,) = kept.get(conversation.id, "ann").turns
    assert (turn.question, turn.answer, turn.state) == ("where?", "Here.", "done")
    assert turn.details["sources"][0]["path"] == "shop/cart.py"


def test_an_agents_answer_comes_whole(answers: AnswerTasks) -> None:
    task = answers.begin(ASKER, scripted(ANSWER))
    assert ended(task) == ["status", "sources", "content", "status", "usage", "done"]


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageError("no such path", hint="look"), "usage"), (ZeroDivisionError("inside"), "internal")],
)
def test_an_error_is_told_without_the_inside(
    answers: AnswerTasks, kept: Conversations, error: Exception, code: str
) -> None:
    conversation = kept.begin(["shop"], "ann")
    task = answers.begin(AskedBy("where?", "ann", conversation.id, ("shop",)), scripted(Text("He"), error))
    assert ended(task) == ["status", "content", "error", "done"]
    assert task.problem is not None
    assert task.problem.code == code
    assert "inside" not in str(task.channel.since(0))
    assert kept.get(conversation.id, "ann").turns[0].state == "failed"


def test_the_last_reader_who_leaves_stops_it(answers: AnswerTasks) -> None:
    held = Held()
    task = answers.begin(ASKER, held)
    task.attach()
    task.attach()
    task.detach()
    assert not task.is_stopped
    task.detach()
    held.go_on.set()
    assert ended(task)[-2:] == ["status", "done"]
    assert held.is_closed.is_set()
    assert '"stopped"' in task.channel.since(0).events[-2].data
    assert "second" not in str(task.channel.since(0))
    assert task.answer is None


def test_no_more_answers_are_written_at_a_time_than_allowed(answers: AnswerTasks) -> None:
    held = [Held(), Held()]
    task = [answers.begin(ASKER, item) for item in held]
    with pytest.raises(TooManyError, match="2 answers"):
        answers.begin(ASKER, scripted(*WHOLE))
    with pytest.raises(BusyError, match="2 answers"):  # somebody of whom none is written
        answers.begin(replace(ASKER, owner="ben"), scripted(*WHOLE))
    held[0].go_on.set()
    ended(task[0])
    assert ended(answers.begin(ASKER, scripted(*WHOLE)))[-1] == "done"
    held[1].go_on.set()


def test_nobody_reads_the_answers_of_others(answers: AnswerTasks) -> None:
    task = answers.begin(ASKER, scripted(*WHOLE))
    assert answers.find(task.id, "ann") is task
    for answer_id, owner in ((task.id, "ben"), (task.id, ""), ("unknown", "ann")):
        with pytest.raises(NotFoundError):
            answers.find(answer_id, owner)


def test_a_conversation_that_was_deleted_meanwhile_is_an_error_and_no_end(
    answers: AnswerTasks, kept: Conversations
) -> None:
    task = answers.begin(AskedBy("where?", "ann", "gone", ("shop",)), scripted(*WHOLE))
    assert ended(task)[-2:] == ["error", "done"]
    assert task.answer == ANSWER


def test_a_source_tells_its_project() -> None:
    shape = source_of(SOURCE, ["shop"], False)
    assert (shape["id"], shape["score"]) == ("shop/cart.py:3-9", 0.9123)
    assert (shape["project_id"], shape["file"], shape["module"]) == ("shop", "shop/cart.py", "shop")
    several = source_of(SOURCE, ["shop", "zoo"], True)
    assert (several["project_id"], several["file"], several["module"]) == ("shop", "cart.py", "")


class Clock:
    """A clock that goes on when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_an_answer_in_a_conversation_waits_for_its_reader_to_come_back() -> None:
    clock = Clock()
    task = AnswerTask(AskedBy("where?", "ann", "conversation", ("shop",)), clock)
    task.attach()
    task.detach()
    clock.now += PATIENCE_S - 0.1
    assert not task.is_stopped
    task.attach()
    clock.now += 2 * PATIENCE_S
    assert not task.is_stopped
    task.detach()
    clock.now += PATIENCE_S
    task.attach()
    assert task.is_stopped


def test_an_answer_that_nobody_has_begun_to_read_goes_on() -> None:
    clock = Clock()
    task = AnswerTask(ASKER, clock)
    clock.now += 100 * PATIENCE_S
    assert not task.is_stopped
    task.attach()
    task.detach()
    assert task.is_stopped


def test_what_is_being_written_is_listed_by_conversation(answers: AnswerTasks, kept: Conversations) -> None:
    conversation = kept.begin(["shop"], "ann")
    held = Held()
    task = answers.begin(AskedBy("where?", "ann", conversation.id, ("shop",)), held)
    assert answers.running(conversation.id, "ann") == [task]
    assert answers.running(conversation.id, "ben") == []
    assert answers.running("other", "ann") == []
    held.go_on.set()
    ended(task)
    assert answers.running(conversation.id, "ann") == []
    assert kept.get(conversation.id, "ann").turns[0].details["answer_id"] == task.id


def test_a_failed_answer_is_kept_with_its_sources_its_steps_and_the_hint(
    answers: AnswerTasks, kept: Conversations
) -> None:
    conversation = kept.begin(["shop"], "ann")
    happened = (
        AnswerSources((SOURCE,), (), ()),
        Thought("I look."),
        ToolObservation("read_file", "x" * 3_000, (), False, 1.0),
    )
    asker = AskedBy("where?", "ann", conversation.id, ("shop",), is_agent=True)
    ended(answers.begin(asker, scripted(*happened, UsageError("no such path", hint="look"))))
    details = kept.get(conversation.id, "ann").turns[0].details
    assert [source["file"] for source in details["sources"]] == ["shop/cart.py"]
    assert [step["type"] for step in details["steps"]] == ["thinking", "tool_result"]
    assert len(details["steps"][1]["text"]) == 1_000
    assert (details["error"], details["hint"], details["is_agent"]) == ("no such path", "look", True)
