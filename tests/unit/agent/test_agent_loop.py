"""Rounds of a model with the real tools over the real index of a small project."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codefathom import Engine
from codefathom.agent.loop import AgentLimits, Briefing, Event, Final, Thought, ToolObservation, ToolUse, run
from codefathom.agent.tools import ShownLines, Tool, ToolProject, tools
from codefathom.answer.answer_types import Citation
from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, Delta, Message, Reply, ToolCall, Usage
from codefathom.providers.http import StatusError
from codefathom.types import Prices

SHOP = Path(__file__).parents[2] / "repos" / "shop"
QUESTION = "How are prices computed?"
PRICING = ("read_file", {"file_path": "shop/pricing.py"})
ORDERS = ("read_file", {"file_path": "shop/orders.py", "start_line": 1, "end_line": 9})


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tool, ...]]:
    folder = tmp_path_factory.mktemp("agent")
    shutil.copytree(SHOP, folder / "shop")
    (folder / "shop" / "fathom.toml").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("FATHOM_")]:
            patch.delenv(name)
        patch.setenv("FATHOM_CACHE_DIR", str(folder / "cache"))
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        with Engine.open(str(folder / "shop")) as engine:
            engine.index()
            catalog = engine.opened.catalog
            paths = [document.path for document in catalog.documents()]
            yield tools(
                ToolProject(
                    search=lambda question, level, limit: engine.search(question, level=level, limit=limit),
                    text=lambda path: catalog.text(path) if path in paths else None,
                    symbols=engine.symbols,
                    related=engine.related,
                    paths=lambda: paths,
                )
            )


class Clock:
    """Time that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Scripted:
    """Says what it was told to say, one reply for each ask, and remembers the asks."""

    name = "scripted"

    def __init__(self, *script: Reply | ProviderError, clock: Clock | None = None, seconds: float = 0.0) -> None:
        self.script = list(script)
        self.asks: list[Ask] = []
        self.n_closed = 0
        self._clock = clock or Clock()
        self._seconds = seconds  # that each piece takes

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        self.asks.append(ask)
        reply = self.script.pop(0)
        try:
            for piece in ("thinking ", "aloud"):
                self._clock.now += self._seconds
                yield Delta(reasoning=piece)
            if isinstance(reply, ProviderError):
                raise reply
            yield reply
        finally:
            self.n_closed += 1


def calls(*asked: tuple[str, Any], text: str = "", usage: Usage = Usage(100, 10)) -> Reply:  # noqa: B008
    made = [ToolCall(f"id{index}", name, json.dumps(arguments)) for index, (name, arguments) in enumerate(asked)]
    return Reply(text, tuple(made), usage, "tool_calls")


def says(text: str, usage: Usage = Usage(100, 10)) -> Reply:  # noqa: B008
    return Reply(text, usage=usage)


def answer(start: int = 6, end: int = 8, **changes: Any) -> Reply:
    source = {"path": "shop/pricing.py", "start_line": start, "end_line": end}
    fields = {"answer": "They are summed.", "confidence": "high", "sources": [source], "reasoning": "Read."}
    return says(json.dumps(fields | changes))


def ran(model: Scripted, kit: tuple[Tool, ...], **options: Any) -> list[Event]:
    events = [event for event in run(QUESTION, model, kit, **options) if not isinstance(event, Delta)]
    assert model.script == []
    assert model.n_closed == len(model.asks)
    assert [event for event in events if isinstance(event, Final)] == events[-1:]
    return events


def final_of(events: list[Event]) -> Final:
    assert isinstance(events[-1], Final)
    return events[-1]


def observed(events: list[Event]) -> list[ToolObservation]:
    return [event for event in events if isinstance(event, ToolObservation)]


# ---- a whole run


def test_a_run(kit: tuple[Tool, ...]) -> None:
    model = Scripted(calls(PRICING, text="I read the prices."), answer())
    events = ran(model, kit)
    thought, said, call, seen, thought_again, final = events
    assert thought == thought_again == Thought("thinking aloud")
    assert said == Thought("I read the prices.")
    assert call == ToolUse("read_file", '{"file_path": "shop/pricing.py"}')
    assert isinstance(seen, ToolObservation) and seen.places == (ShownLines("shop/pricing.py", 1, 13),)
    assert isinstance(final, Final)
    assert final.answer.sources == (Citation("shop/pricing.py", 6, 8),)
    assert (final.usage, final.rounds, final.stopped_by) == (Usage(200, 20), 2, "")
    assert final.answer.confidence == "high"


def test_what_the_model_is_told(kit: tuple[Tool, ...]) -> None:
    earlier = (Message("user", "Hello"), Message("assistant", "Hello."))
    model = Scripted(calls(PRICING), answer())
    ran(model, kit, briefing=Briefing(system="Be brief.", history=earlier))
    first, second = model.asks
    assert [spec.name for spec in first.tools] == [tool.spec.name for tool in kit]
    system, *rest = first.messages
    assert system.role == "system" and system.content.startswith("Be brief.\n")
    assert all(f"- {tool.spec.name} takes " in system.content for tool in kit)
    assert rest == [*earlier, Message("user", QUESTION)]
    asked, result = second.messages[len(first.messages) :]
    assert asked == Message("assistant", "", calls(PRICING).tool_calls)
    assert (result.role, result.tool_call_id) == ("tool", "id0")
    assert result.content.startswith("shop/pricing.py, lines 1 to 13 of 13\n")


def test_an_early_answer_without_form_is_asked_for_its_form(kit: tuple[Tool, ...]) -> None:
    model = Scripted(calls(PRICING), says("They are summed."), answer())
    final = final_of(ran(model, kit, briefing=Briefing(demand="As JSON!")))
    assert (final.rounds, final.stopped_by, final.usage) == (2, "", Usage(300, 30))
    assert model.asks[2].messages[-2:] == (Message("assistant", "They are summed."), Message("user", "As JSON!"))
    assert model.asks[2].schema is not None
    assert final.answer.answer == "They are summed."


def test_an_answer_without_a_look_is_worth_little(kit: tuple[Tool, ...]) -> None:
    final = final_of(ran(Scripted(answer()), kit))
    assert (final.rounds, final.answer.confidence, len(final.answer.dropped)) == (1, "low", 1)


# ---- limits


@pytest.mark.parametrize("rounds", [1, 2, 3, 6])
def test_the_last_round_has_no_tools_and_demands_the_answer(kit: tuple[Tool, ...], rounds: int) -> None:
    looks = [calls(("find_symbol", {"name": f"name{number}"})) for number in range(rounds - 1)]
    model = Scripted(*looks, answer())
    final = final_of(ran(model, kit, limits=AgentLimits(rounds=rounds), briefing=Briefing(demand="Now!")))
    assert [bool(ask.tools) for ask in model.asks] == [True] * (rounds - 1) + [False]
    assert [ask.schema is None for ask in model.asks] == [True] * (rounds - 1) + [False]
    assert model.asks[-1].messages[-1] == Message("user", "Now!")
    assert (final.rounds, final.stopped_by) == (rounds, "rounds")


@pytest.mark.parametrize(
    ("usage", "max_tokens", "n_looks"),
    [
        (Usage(90, 10), 1_000, 5),  # rounds end it first
        (Usage(90, 10), 300, 2),  # 200 used, and the answer costs about 100
        (Usage(90, 10), 301, 3),
        (Usage(90, 10), 100, 1),
        (Usage(90, 10), 0, 0),
        (Usage(), 100, 1),  # not counted by the provider: by the length of the text
    ],
)
def test_tokens(kit: tuple[Tool, ...], usage: Usage, max_tokens: int, n_looks: int) -> None:
    looks = [calls(("find_symbol", {"name": f"name{number}"}), usage=usage) for number in range(n_looks)]
    model = Scripted(*looks, answer())
    final = final_of(ran(model, kit, limits=AgentLimits(max_tokens=max_tokens)))
    assert final.stopped_by == ("rounds" if n_looks == 5 else "tokens")
    assert final.rounds == n_looks + 1


@pytest.mark.parametrize(
    ("seconds", "max_seconds", "n_looks", "stopped_by"),
    [
        (1.0, 100.0, 5, "rounds"),
        (0.0, 100.0, 5, "rounds"),
        (30.0, 100.0, 2, "time"),  # a look takes twice as long; the last one is broken off
        (25.0, 100.0, 2, "time"),
        (20.0, 100.0, 3, "time"),
        (0.0, 0.0, 0, "time"),
    ],
)
def test_time(kit: tuple[Tool, ...], seconds: float, max_seconds: float, n_looks: int, stopped_by: str) -> None:
    clock = Clock()
    looks = [calls(("find_symbol", {"name": f"name{number}"})) for number in range(n_looks)]
    model = Scripted(*looks, answer(), clock=clock, seconds=seconds)
    events = ran(model, kit, limits=AgentLimits(max_seconds=max_seconds), clock=clock)
    n_broken = stopped_by == "time" and n_looks > 0
    assert final_of(events).stopped_by == stopped_by
    assert len(observed(events)) == n_looks - n_broken


@pytest.mark.parametrize(
    ("usage", "max_cost", "prices", "n_looks"),
    [
        # a round costs 100 × 1 + 10 × 10, by the million
        (Usage(100, 10), 0.0, Prices(1.0, 10.0), 5),  # no limit
        (Usage(100, 10), 0.01, Prices(1.0, 10.0), 5),
        (Usage(100, 10), 0.0006, Prices(1.0, 10.0), 2),  # 0.0004 used, and the answer costs about 0.0002
        (Usage(100, 10), 0.000601, Prices(1.0, 10.0), 3),
        (Usage(100, 10), 0.0002, Prices(1.0, 10.0), 1),
        (Usage(100, 10), 0.0002, Prices(0.0, 10.0), 1),
        (Usage(100, 10), 0.0002, Prices(), 5),  # a cost that is not known limits nothing
        (Usage(), 0.0002, Prices(1.0, 10.0), 1),  # not counted by the provider: by the length of the text
    ],
)
def test_cost(kit: tuple[Tool, ...], usage: Usage, max_cost: float, prices: Prices, n_looks: int) -> None:
    looks = [calls(("find_symbol", {"name": f"name{number}"}), usage=usage) for number in range(n_looks)]
    model = Scripted(*looks, answer())
    final = final_of(ran(model, kit, limits=AgentLimits(max_cost=max_cost, prices=prices)))
    assert final.stopped_by == ("rounds" if n_looks == 5 else "cost")
    assert final.rounds == n_looks + 1
    assert model.asks[-1].tools == ()


def test_of_two_limits_that_are_reached_the_first_is_named(kit: tuple[Tool, ...]) -> None:
    limits = AgentLimits(max_tokens=100, max_cost=1e-6, prices=Prices(1.0, 1.0))
    final = final_of(ran(Scripted(calls(PRICING), answer()), kit, limits=limits))
    assert (final.stopped_by, final.rounds) == ("tokens", 2)


def test_every_turn_and_every_call_is_a_stage(kit: tuple[Tool, ...]) -> None:
    clock = Clock()
    wrong = ("read_file", {"file_path": "nowhere.py"})
    looks = (calls(PRICING, wrong, text="I look."), says("They are summed."), answer())
    model = Scripted(*looks, clock=clock, seconds=0.5)
    history = (Message("user", "Hello"), Message("assistant", "Hello."))
    limits, briefing = AgentLimits(prices=Prices(1.0, 10.0)), Briefing(demand="As JSON!", history=history)
    events = ran(model, kit, limits=limits, briefing=briefing, clock=clock)
    stages = final_of(events).stages
    assert [(stage.stage, stage.milliseconds, stage.n_in, stage.n_out) for stage in stages] == [
        ("round 1", 1_000.0, 1, 3),
        ("read_file", 0.0, 1, 1),
        ("read_file", 0.0, 1, 0),
        ("round 2", 1_000.0, 2, 1),
        ("answer", 1_000.0, 1, 1),
    ]
    first, look, missed, second, last = stages
    assert first.input == (QUESTION,)
    assert first.output == ("I look.", *(f"{name} {json.dumps(given)}" for name, given in (PRICING, wrong)))
    assert (look.input, look.output) == ((json.dumps(PRICING[1]),), ("shop/pricing.py:1-13",))
    assert missed.detail == observed(events)[1].text.partition("\n")[0] != ""
    assert second.input == tuple(event.text for event in observed(events))
    assert (last.input, last.output) == (("As JSON!",), ("They are summed.",))
    assert [stage.cost for stage in stages] == [0.0002, None, None, 0.0002, 0.0002]
    assert sum((stage.usage for stage in stages), Usage()) == final_of(events).usage


def test_tools_are_timed(kit: tuple[Tool, ...]) -> None:
    clock = Clock()

    def slow(arguments: Any) -> Any:
        clock.now += 0.25
        return kit[1].run(arguments)

    (seen,) = observed(ran(Scripted(calls(PRICING), answer()), (kit[1]._replace(run=slow),), clock=clock))
    assert seen.milliseconds == 250.0


# ---- calls


def test_several_calls_in_a_round(kit: tuple[Tool, ...]) -> None:
    model = Scripted(calls(PRICING, ORDERS, ("search", {"question": "discount"})), answer())
    seen = observed(ran(model, kit))
    assert [event.name for event in seen] == ["read_file", "read_file", "search"]
    assert not any(event.is_error for event in seen)
    results = model.asks[1].messages[-3:]
    assert [(message.role, message.tool_call_id) for message in results] == [
        ("tool", "id0"),
        ("tool", "id1"),
        ("tool", "id2"),
    ]
    assert [message.content for message in results] == [event.text for event in seen]


def test_too_many_calls_in_a_round(kit: tuple[Tool, ...]) -> None:
    many = [("find_symbol", {"name": f"name{number}"}) for number in range(10)]
    seen = observed(ran(Scripted(calls(*many), answer()), kit))
    assert [event.is_error for event in seen] == [False] * 8 + [True] * 2
    assert "no more than 8 calls" in seen[-1].text


@pytest.mark.parametrize(
    ("again", "is_repeated"),
    [
        (PRICING, True),
        (("list_file_content", {"file_path": "shop/pricing.py"}), True),
        (("read_file", {"file_path": "shop/pricing.py", "start_line": 2}), False),
        (("find_symbol", {"name": "discount"}), False),
    ],
)
def test_repeated_calls(kit: tuple[Tool, ...], again: tuple[str, Any], is_repeated: bool) -> None:
    first, other, second = observed(ran(Scripted(calls(PRICING), calls(ORDERS, again), answer()), kit))
    assert not first.text.startswith("Already") and not other.text.startswith("Already")
    assert (second.text == "Already asked in round 1; its result stands above.") == is_repeated
    assert (second.places == ()) == is_repeated


def test_a_mistake_may_be_repeated(kit: tuple[Tool, ...]) -> None:
    wrong = ("read_file", {"file_path": "nowhere.py"})
    seen = observed(ran(Scripted(calls(wrong), calls(wrong), answer()), kit))
    assert seen[0].is_error and seen[1].is_error
    assert seen[0].text == seen[1].text


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("delete_file", "{}", "there is no tool 'delete_file'. The tools are search_code, read_file,"),
        ("", "{}", "there is no tool ''"),
        ("read_file", "{", "the arguments are not a JSON object"),
        ("read_file", "[1]", "the arguments are not a JSON object"),
        ("read_file", "", "file_path is missing"),
        ("read_file", '{"file_path": "../x.py"}', "is not a path from the project's root"),
        ("read_file", '{"a":' * 5_000, "the arguments are not a JSON object"),
    ],
)
def test_wrong_calls_are_answered(kit: tuple[Tool, ...], name: str, arguments: str, says: str) -> None:
    model = Scripted(Reply("", (ToolCall("x", name, arguments),)), answer())
    (seen,) = observed(ran(model, kit))
    assert seen.is_error
    assert says in seen.text


def test_arguments_that_were_written_as_text_twice(kit: tuple[Tool, ...]) -> None:
    twice = json.dumps(json.dumps(PRICING[1]))
    (seen,) = observed(ran(Scripted(Reply("", (ToolCall("x", "read_file", twice),)), answer()), kit))
    assert seen.places == (ShownLines("shop/pricing.py", 1, 13),)


@pytest.mark.parametrize("ids", [("", ""), ("same", "same"), ("a", "")])
def test_every_call_has_an_id_of_its_own(kit: tuple[Tool, ...], ids: tuple[str, str]) -> None:
    made = tuple(ToolCall(one, "find_symbol", f'{{"name": "n{index}"}}') for index, one in enumerate(ids))
    model = Scripted(Reply("", made), answer())
    ran(model, kit)
    asked = next(message for message in model.asks[1].messages if message.tool_calls)
    given = [call.id for call in asked.tool_calls]
    assert len(set(given)) == 2 and all(given)
    assert [message.tool_call_id for message in model.asks[1].messages if message.role == "tool"] == given


# ---- calls in text


PRICING_IN_TEXT = '"arguments": {"file_path": "shop/pricing.py"}}'


@pytest.mark.parametrize(
    ("text", "n_calls", "thought"),
    [
        ('{"tool": "read_file", ' + PRICING_IN_TEXT, 1, ""),
        ('I look.\n```json\n{"tool": "read_file", ' + PRICING_IN_TEXT + "\n```", 1, "I look."),
        ('<tool_call>{"name": "read_file", ' + PRICING_IN_TEXT + "</tool_call>", 1, ""),
        ('{"tool": "list_file_content", ' + PRICING_IN_TEXT + ' {"tool": "list_files"}', 2, ""),
        ('{"tool": "read_file", "arguments": "{\\"file_path\\": \\"shop/pricing.py\\"}"}', 1, ""),
    ],
)
def test_calls_in_text(kit: tuple[Tool, ...], text: str, n_calls: int, thought: str) -> None:
    model = Scripted(says(text), answer())
    events = ran(model, kit)
    seen = observed(events)
    assert len(seen) == n_calls
    assert seen[0].places == (ShownLines("shop/pricing.py", 1, 13),)
    assert [event.text for event in events if isinstance(event, Thought)][1:-1] == [thought] * bool(thought)
    asked, result = model.asks[1].messages[-2:]
    assert asked == Message("assistant", text)  # what follows is no answer to a native call
    assert result.role == "user" and result.tool_call_id == ""
    assert all(event.text in result.content for event in seen)
    assert "with no instructions for you" in result.content


def test_an_unknown_tool_in_text(kit: tuple[Tool, ...]) -> None:
    (seen,) = observed(ran(Scripted(says('{"tool": "rm", "arguments": {}}'), answer()), kit))
    assert "there is no tool 'rm'" in seen.text


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "shop", "arguments": {"a": 1}}',  # data of the project, not a call
        '{"name": "read_file"}',
        '{"tool": 7}',
        '{"tool": null, "arguments": {}}',
    ],
)
def test_other_json_in_text_is_no_call(kit: tuple[Tool, ...], text: str) -> None:
    assert observed(ran(Scripted(says(text), answer()), kit)) == []


# ---- failures


def test_a_model_that_fails_in_the_first_round_is_asked_no_more(kit: tuple[Tool, ...]) -> None:
    final = final_of(ran(Scripted(ProviderError("gone", hint="start it")), kit))
    assert (final.answer.answer, final.answer.named) == ("", ())
    assert (final.stopped_by, final.failure, final.hint, final.rounds) == ("provider", "gone", "start it", 1)
    (stage,) = final.stages
    assert (stage.stage, stage.n_out, stage.detail) == ("round 1", 0, "gone")
    assert [call.problem for call in stage.calls] == ["gone; start it"]


def test_a_later_failure_leads_to_the_answer(kit: tuple[Tool, ...]) -> None:
    model = Scripted(calls(PRICING), ProviderError("gone"), answer())
    final = final_of(ran(model, kit))
    assert (final.stopped_by, final.rounds, final.usage) == ("provider", 2, Usage(200, 20))
    assert final.failure == "gone"
    assert final.answer.sources == (Citation("shop/pricing.py", 6, 8),)
    assert model.asks[2].tools == ()


def test_after_a_failure_the_conversation_is_shorter(kit: tuple[Tool, ...]) -> None:
    whole = ("search_code", {"question": "orders", "top_k": 20})
    history = (Message("user", "x" * 2_000), Message("assistant", "Yes."))
    model = Scripted(calls(whole, PRICING), ProviderError("too long"), answer())
    ran(model, kit, briefing=Briefing(history=history))
    before, after = model.asks[1].messages, model.asks[2].messages
    assert after[: len(before) - 2] == before[:-2]  # the question and what was said earlier stay as they are
    assert len(before[-2].content) > 2_000
    assert after[len(before) - 2].content == f"{before[-2].content[:1_000]}\n(cut)"
    assert after[len(before) - 1] == before[-1]


@pytest.mark.parametrize(
    ("script", "limits", "rounds"),
    [
        ((calls(PRICING, ORDERS, PRICING), ProviderError("gone"), ProviderError("gone for good")), AgentLimits(), 2),
        ((calls(PRICING, ORDERS), ProviderError("gone for good")), AgentLimits(rounds=2), 2),
        ((calls(PRICING, ORDERS), says(""), ProviderError("gone for good")), AgentLimits(), 3),
    ],
)
def test_a_failure_at_the_end_leaves_what_was_seen(
    kit: tuple[Tool, ...], script: Any, limits: AgentLimits, rounds: int
) -> None:
    final = final_of(ran(Scripted(*script), kit, limits=limits))
    assert (final.answer.answer, final.answer.confidence) == ("", "low")
    assert final.answer.sources == (Citation("shop/pricing.py", 1, 13), Citation("shop/orders.py", 1, 9))
    assert (final.stopped_by, final.failure, final.rounds) == ("provider", "gone for good", rounds)
    assert (final.stages[-1].stage, final.stages[-1].n_out, final.stages[-1].detail) == ("answer", 0, "gone for good")


def test_no_more_than_ten_places_stand_for_an_answer(kit: tuple[Tool, ...]) -> None:
    many = [
        ("read_file", {"file_path": "shop/pricing.py", "start_line": line, "end_line": line}) for line in range(1, 8)
    ]
    more = [
        ("read_file", {"file_path": "shop/orders.py", "start_line": line, "end_line": line}) for line in range(1, 8)
    ]
    model = Scripted(calls(*many), calls(*more), ProviderError("gone"), ProviderError("gone"))
    sources = final_of(ran(model, kit)).answer.sources
    assert [source.path for source in sources] == ["shop/pricing.py"] * 7 + ["shop/orders.py"] * 3


def test_two_failures_before_anything_was_seen_leave_nothing(kit: tuple[Tool, ...]) -> None:
    nothing = ("find_symbol", {"name": "nowhere"})
    final = final_of(ran(Scripted(calls(nothing), ProviderError("gone"), ProviderError("gone for good")), kit))
    assert (final.answer.answer, final.answer.named, final.failure) == ("", (), "gone for good")
    assert [stage.stage for stage in final.stages] == ["round 1", "find_symbol", "round 2", "answer"]


def test_an_empty_answer_is_a_failure_and_counts(kit: tuple[Tool, ...]) -> None:
    final = final_of(ran(Scripted(calls(PRICING), says(""), says(""), says(" ")), kit))
    assert (final.failure, final.hint) == ("scripted gave an empty answer", "ask again, or use another model")
    assert final.answer.sources == (Citation("shop/pricing.py", 1, 13),)
    assert final.usage == Usage(400, 40)


def test_a_trace_keeps_what_the_model_was_asked_and_said(kit: tuple[Tool, ...]) -> None:
    model = Scripted(calls(PRICING, text="I read the prices."), answer(answer="Prices of SHOP."))
    briefing = Briefing(history=(Message("user", "About SHOP"),), mask=lambda text: text.replace("SHOP", "«masked»"))
    final = final_of(ran(model, kit, briefing=briefing))
    assert [(stage.stage, stage.n_calls, stage.usage) for stage in final.stages] == [
        ("round 1", 1, Usage(100, 10)),
        ("read_file", 0, Usage()),
        ("round 2", 1, Usage(100, 10)),
        ("answer", 0, Usage()),  # the reply of the last round was one already
    ]
    (first,), (second,) = final.stages[0].calls, final.stages[2].calls
    assert [said.role for said in first.prompt] == ["system", "user", "user"]
    assert first.prompt[1].text == "About «masked»"
    assert first.reply == 'I read the prices.\nread_file {"file_path": "shop/pricing.py"}'
    assert [said.role for said in second.prompt[-2:]] == ["assistant", "tool"]
    assert second.prompt[-2].text == first.reply
    assert "Prices of «masked»" in second.reply
    assert "SHOP" not in repr(final.stages)


# ---- models that take no tools


REFUSALS = [
    (400, 'http://localhost:11434/v1/chat/completions answered 400: "gemma" does not support tools'),
    (400, "http://host/v1/chat/completions answered 400: auto tool choice needs --enable-auto-tool-choice"),
    (404, "http://host/v1/chat/completions answered 404: no endpoint with tool use"),
    (500, "http://host/v1/chat/completions answered 500: Tools param requires --jinja"),
]


@pytest.mark.parametrize(("status", "message"), REFUSALS)
def test_a_model_that_refuses_tools_writes_its_calls(kit: tuple[Tool, ...], status: int, message: str) -> None:
    look = says('{"tool": "read_file", ' + PRICING_IN_TEXT)
    model = Scripted(StatusError(message, status), look, says('{"tool": "list_files"}'), answer())
    events = ran(model, kit)
    final = final_of(events)
    assert [bool(ask.tools) for ask in model.asks] == [True, False, False, False]
    assert model.asks[1].messages == model.asks[0].messages
    assert "as JSON and wait for the result" in model.asks[1].messages[0].content
    assert [event.name for event in observed(events)] == ["read_file", "list_files"]
    assert (final.rounds, final.stopped_by, final.failure) == (3, "", "")
    assert final.answer.sources == (Citation("shop/pricing.py", 6, 8),)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "http://host/v1/chat/completions answered 400: no such model"),
        (400, "http://tools.example/v1/chat/completions answered 400: no such model"),
        (401, "http://host/v1/chat/completions answered 401: no key for tools"),
        (429, "http://host/v1/chat/completions answered 429: too many tool calls today"),
    ],
)
def test_after_other_refusals_nothing_more_is_asked(kit: tuple[Tool, ...], status: int, message: str) -> None:
    final = final_of(ran(Scripted(StatusError(message, status)), kit))
    assert (final.failure, final.stopped_by) == (message, "provider")


def test_a_model_that_refuses_twice_is_asked_no_more(kit: tuple[Tool, ...]) -> None:
    status, message = REFUSALS[0]
    final = final_of(ran(Scripted(*[StatusError(message, status) for _ in range(2)]), kit))
    assert final.failure == message
    assert [call.problem for call in final.stages[0].calls] == [message] * 2


# ---- cancelling


@pytest.mark.parametrize("n_pieces", [1, 2, 3, 4])
def test_closing_ends_the_call(kit: tuple[Tool, ...], n_pieces: int) -> None:
    model = Scripted(says("An early answer."), answer())
    events = run(QUESTION, model, kit)
    pieces = 0
    while pieces < n_pieces:
        pieces += isinstance(next(events), Delta)
    n_open = len(model.asks)
    assert model.n_closed == n_open - 1
    events.close()  # type: ignore[attr-defined]
    assert model.n_closed == n_open
    assert len(model.asks) == n_open
