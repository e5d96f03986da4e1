"""What a trace keeps of the calls of a model: what was sent, masked; what came back, as far as it came."""

from __future__ import annotations

from contextlib import closing

import pytest

from codefathom.answer.answer_types import TracedMessage
from codefathom.answer.record import Record, RecordingModel
from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, Message, Reply, ToolCall, Usage, whole
from codefathom.providers.parallel import in_parallel
from codefathom.testing import ScriptedChat
from codefathom.types import NO_PRICES, Prices

ASK = Ask((Message("system", "Be brief."), Message("user", "What is it?")))


def test_a_call_is_kept_with_what_came_back() -> None:
    model = RecordingModel(ScriptedChat([Reply("It is two.", usage=Usage(9, 3))]))
    assert whole(model, ASK).text == "It is two."
    (call,) = model.calls
    assert (call.model, call.reply, call.usage, call.problem) == ("scripted:model", "It is two.", Usage(9, 3), "")
    assert call.prompt == (TracedMessage("system", "Be brief."), TracedMessage("user", "What is it?"))
    assert call.milliseconds > 0


def test_calls_of_tools_are_a_part_of_what_was_said() -> None:
    called = (ToolCall("1", "read_file", '{"file_path": "a.py"}'),)
    model = RecordingModel(ScriptedChat([Reply("I look.", called)]))
    whole(model, Ask((Message("assistant", "", called), Message("tool", "text", tool_call_id="1"))))
    (call,) = model.calls
    assert call.prompt == (TracedMessage("assistant", 'read_file {"file_path": "a.py"}'), TracedMessage("tool", "text"))
    assert call.reply == 'I look.\nread_file {"file_path": "a.py"}'


def test_a_failure_is_kept_with_its_remedy() -> None:
    model = RecordingModel(ScriptedChat([ProviderError("no connection", hint="start it")]))
    with pytest.raises(ProviderError):
        whole(model, ASK)
    (call,) = model.calls
    assert (call.reply, call.usage, call.problem) == ("", Usage(), "no connection; start it")


def test_of_a_call_that_was_ended_there_is_what_had_come() -> None:
    model = RecordingModel(ScriptedChat([Reply("one two three")]))
    with closing(model.stream(ASK)) as pieces:  # type: ignore[type-var]
        assert [next(pieces).text for _ in range(2)] == ["one", " "]
    (call,) = model.calls
    assert (call.reply, call.problem) == ("one ", "the call was ended before the reply was whole")


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (8_000, "x" * 8_000),
        (8_001, f"{'x' * 6_000}\n… 1 characters …\n{'x' * 2_000}"),
        (99_999, f"{'x' * 6_000}\n… 91999 characters …\n{'x' * 2_000}"),
    ],
)
def test_long_texts_lose_their_middle(length: int, expected: str) -> None:
    model = RecordingModel(ScriptedChat([Reply("x" * length)]))
    whole(model, Ask([Message("user", "x" * length)]))
    assert (model.calls[0].prompt[0].text, model.calls[0].reply) == (expected, expected)


def test_what_is_cut_is_masked_first() -> None:
    key = "KEY-0123456789"
    model = RecordingModel(ScriptedChat([Reply(key)]), lambda text: text.replace(key, "«masked»"))
    whole(model, Ask([Message("user", "x" * 5_995 + key + "y" * 9_000)]))  # the cut would go through it
    assert "KEY" not in repr(model.calls)
    assert model.calls[0].reply == "«masked»"


@pytest.mark.parametrize(("n", "kept"), [(20, range(20)), (21, [0, *range(2, 21)]), (50, [0, *range(31, 50)])])
def test_of_many_messages_the_first_and_the_latest_are_kept(n: int, kept: range | list[int]) -> None:
    model = RecordingModel(ScriptedChat([Reply("")]))
    whole(model, Ask([Message("user", str(number)) for number in range(n)]))
    assert [said.text for said in model.calls[0].prompt] == [str(number) for number in kept]


def test_a_stage_keeps_the_calls_of_several_threads_and_of_every_model() -> None:
    def reply(ask: Ask) -> Reply:
        return Reply(f"re: {ask.messages[0].content}", usage=Usage(1, 1))

    record = Record()
    with record.stage("judge", ["a.py"]) as stage:
        model = stage.recorded(ScriptedChat([reply] * 40))
        in_parallel(lambda n, model: whole(model, Ask([Message("user", str(n))])), range(40), model, 8)
        whole(stage.recorded(ScriptedChat([reply])), Ask([Message("user", "40")]))
    (kept,) = record.stages
    said = [(call.prompt[0].text, call.reply) for call in kept.calls]
    assert sorted(said) == sorted((str(n), f"re: {n}") for n in range(41))
    assert kept.usage == record.usage == Usage(41, 41)


def test_no_more_than_a_hundred_calls_of_a_stage_are_kept_and_all_are_counted() -> None:
    record = Record()
    with record.stage("judge", []) as stage:
        model = stage.recorded(ScriptedChat([Reply("", usage=Usage(1, 0))] * 102))
        for _ in range(102):
            whole(model, ASK)
    (kept,) = record.stages
    assert (len(kept.calls), kept.n_calls, kept.usage) == (100, 102, Usage(102, 0))


@pytest.mark.parametrize(
    ("used", "costs", "total"),
    [
        ([("cheap:model", Usage(1_000, 10)), ("dear:model", Usage(1_000, 10))], [0.00102, 0.0102], 0.01122),
        ([("cheap:model", Usage(1_000, 0)), ("cheap:model", Usage())], [0.001, None], 0.001),  # not counted
        ([("cheap:model", Usage(1_000, 0)), ("free:model", Usage(9, 9))], [0.001, None], None),  # no price is known
        ([("cheap:model", Usage())], [None], None),
        ([], [], None),
    ],
)
def test_each_model_has_its_price(
    used: list[tuple[str, Usage]], costs: list[float | None], total: float | None
) -> None:
    prices = {"cheap:model": Prices(1.0, 2.0), "dear:model": Prices(10.0, 20.0)}
    record = Record(prices_of=lambda name: prices.get(name, NO_PRICES))
    for name, usage in used:
        model = ScriptedChat([Reply("", usage=usage)])
        model.name = name
        with record.stage("judge", []) as stage:
            whole(stage.recorded(model), ASK)
    assert [stage.cost for stage in record.stages] == costs
    assert record.cost == total
