"""From a question to an answer: which stages run, what they lose, and that no claim is shown unchecked."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.answer.answer_types import Answer, AnswerRequest, traced
from codefathom.answer.ask import AnswerSources, Text, ask
from codefathom.answer.stages.answer_run import Models
from codefathom.answer.tokens import estimate
from codefathom.config import windows
from codefathom.config.configuration import load_settings
from codefathom.config.settings import (
    LEAST_CONTEXT,
    AnswerSettings,
    ContextSettings,
    LlmSettings,
    RerankSettings,
    SelectSettings,
    Settings,
)
from codefathom.errors import ProviderError, SettingsError, SourceError, UsageError
from codefathom.facts.reasons import NOT_FOUND, Note
from codefathom.project import answer_setup
from codefathom.project.answer_setup import AnswerSetup
from codefathom.providers.base import Ask, Delta, Message, Reply, Usage
from codefathom.testing import ScriptedChat
from codefathom.types import Prices, SearchResult

SHOP = Path(__file__).parents[2] / "repos" / "shop"
QUESTION = "how is the price of an order computed"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "shop"
    shutil.copytree(SHOP, project)
    (project / ".fathom").mkdir()
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "none.toml"))
    return project


def prepared(request: AnswerRequest, engine: Engine, look: Callable[[str, int], SearchResult]) -> AnswerSetup:
    return answer_setup.prepare(request, answer_setup.texts_for(request, engine), look)


def events_of(
    project: Path, models: Models, request: AnswerRequest, settings: Settings | None = None
) -> list[AnswerSources | Text | Answer]:
    with Engine.open(str(project), settings=settings or Settings()) as engine:
        engine.index()

        def look(query: str, limit: int) -> SearchResult:
            return engine.search(query, limit=limit)

        question, access, _ = prepared(request, engine, look)
        return list(ask(question, access, models))


def answered(project: Path, *replies: str, settings: Settings | None = None, **given: object) -> Answer:
    models = Models(answer=ScriptedChat([Reply(text, usage=Usage(100, 10)) for text in replies]))
    *_, answer = events_of(project, models, AnswerRequest(QUESTION, **given), settings)  # type: ignore[arg-type]
    assert isinstance(answer, Answer)
    return answer


def test_the_model_sees_numbered_sources_and_the_question_last(shop: Path) -> None:
    model = ScriptedChat([Reply("It is summed up.")])
    found, *_ = events_of(shop, Models(answer=model), AnswerRequest(QUESTION))
    assert isinstance(found, AnswerSources)
    system, user = model.asks[0].messages
    assert system.role == "system"
    assert user.content.endswith(QUESTION)
    for source in found.sources:
        assert f"[{source.number}] {source.path}:{source.start_line}-{source.end_line}" in user.content
    assert "13\t" in user.content  # lines carry their numbers


def test_citations_are_resolved_and_the_others_removed_and_counted(shop: Path) -> None:
    answer = answered(shop, "Prices are summed [shop/pricing.py:6-8].\n\nAnd taxed [shop/tax.py:1-2]. And [99].")
    assert (
        answer.text
        == "Prices are summed [shop/pricing.py:6-8].\n\nAnd taxed [cited place not found]. And [cited place not found]."
    )
    assert [(item.path, item.start_line, item.end_line) for item in answer.citations] == [("shop/pricing.py", 6, 8)]
    assert (len(answer.dropped), answer.verified_share) == (2, 0.333)
    assert "2 citations could not be verified and were removed" in answer.degraded
    assert answer.usage == Usage(100, 10)
    assert 0.0 < answer.confidence < 0.66
    assert answer.label in ("medium", "low")


def test_a_file_that_changes_while_the_model_writes_is_not_cited(shop: Path) -> None:
    def reply(_: object) -> Reply:
        (shop / "shop/pricing.py").write_text("# all new\n")
        return Reply("Prices are summed [shop/pricing.py:6-8].")

    model = ScriptedChat([reply])
    *_, answer = events_of(shop, Models(answer=model), AnswerRequest(QUESTION))
    assert isinstance(answer, Answer)
    assert answer.citations == ()
    assert [item.reason for item in answer.dropped] == ["the file has changed there"]


def test_without_a_model_the_answer_consists_of_checked_excerpts(shop: Path) -> None:
    *_, answer = events_of(shop, Models(), AnswerRequest(QUESTION))
    assert isinstance(answer, Answer)
    assert answer.verified_share == 1.0
    assert len(answer.citations) == len(answer.sources) > 1
    assert "shop/pricing.py" in answer.text
    assert all(f"[{source.path}:{source.start_line}-{source.end_line}]" in answer.text for source in answer.sources)
    assert answer.model == ""
    assert any("no language model" in problem for problem in answer.degraded)


def test_what_is_not_there_is_not_asked_of_the_model(shop: Path) -> None:
    model = ScriptedChat([])
    settings = Settings(answer=AnswerSettings(least_confidence=0.9))
    *_, answer = events_of(
        shop, Models(answer=model), AnswerRequest("quantum chromodynamics of zebras in orders"), settings
    )
    assert isinstance(answer, Answer)
    assert answer.text.startswith("This was not found here.")
    assert model.asks == []


def test_not_found_is_said_in_the_language_of_the_question(shop: Path) -> None:
    settings = Settings(select=SelectSettings(filter_level=1))
    judging = ScriptedChat([Reply("\n".join(f"{number}: no/0" for number in range(1, 20)))] * 20)
    models = Models(answer=ScriptedChat([]), judge=judging)
    *_, answer = events_of(shop, models, AnswerRequest("量子色动力学在哪里实现"), settings)
    assert isinstance(answer, Answer)
    assert answer.text.startswith("这里没有找到")


def test_pinned_files_and_given_texts_come_first_and_stay(shop: Path) -> None:
    answer = answered(
        shop, "See [1] and [2].", pinned=("docs/shipping.md",), documents={"diff": "-old\n+new\n"},
        settings=Settings(answer=AnswerSettings(least_confidence=1.0)),
    )  # fmt: skip
    assert [source.path for source in answer.sources][:2] == ["diff", "docs/shipping.md"]
    assert [citation.path for citation in answer.citations] == ["diff", "docs/shipping.md"]


def test_a_pinned_file_that_is_not_there_is_an_error(shop: Path) -> None:
    with pytest.raises(SourceError, match=r"'shop/none\.py' is not in the index"):
        answered(shop, pinned=("shop/none.py",))


def test_an_empty_question_is_an_error(shop: Path) -> None:
    with pytest.raises(UsageError, match="empty"):
        events_of(shop, Models(), AnswerRequest(" \n"))


def test_the_conversation_so_far_goes_along(shop: Path) -> None:
    model = ScriptedChat([Reply('{"question": "how are prices computed", "queries": []}'), Reply("Yes [1].")])
    history = (Message("user", "what is sold here?"), Message("assistant", "Articles."))
    events_of(shop, Models(answer=model), AnswerRequest(QUESTION, history=history))
    assert tuple(model.asks[1].messages[1:3]) == history
    assert model.asks[1].messages[-1].content.endswith(QUESTION)  # as it was typed


def test_every_stage_tells_what_it_took_in_and_gave(shop: Path) -> None:
    def grade(question: Ask) -> Reply:
        paths = re.findall(r"is document (\d+) \((.*?)\)", question.messages[-1].content)
        grades = [f"{number}: {'yes/9' if path == 'shop/pricing.py' else 'no/2'}" for number, path in paths]
        return Reply("\n".join(grades), usage=Usage(1_000, 10))

    models = Models(
        answer=ScriptedChat([Reply("So [1]. Or [7].", usage=Usage(2_000, 100))]),
        select=ScriptedChat(
            [Reply('{"file_list": [{"file_path": "config.toml", "reason": "settings"}]}', usage=Usage(3_000, 20))]
        ),
        judge=ScriptedChat([grade] * 10),
    )
    settings = Settings(select=SelectSettings(filter_level=2), llm=LlmSettings(prompt_price=1.0, completion_price=10.0))
    *_, answer = events_of(shop, models, AnswerRequest(QUESTION), settings)
    assert isinstance(answer, Answer)
    stages = {stage.stage: stage for stage in answer.trace}
    assert list(stages) == ["search", "select", "related", "judge", "limit", "pack", "answer"]
    assert all(stage.milliseconds > 0 for stage in answer.trace)
    assert all(len(stage.input) == stage.n_in for stage in answer.trace)
    assert stages["search"].input == (QUESTION,)
    assert re.fullmatch(r"\S+:\d+-\d+ \d\.\d\d", stages["search"].output[0])
    assert stages["select"].output[-1] == "config.toml: settings"
    assert (stages["select"].usage, stages["select"].cost) == (Usage(3_000, 20), 0.0032)
    assert set(stages["select"].input) <= set(stages["related"].input) <= set(stages["judge"].input)
    assert "shop/pricing.py: 9/10" in stages["judge"].output
    assert "docs/shipping.md: 2/10" in stages["judge"].output
    assert len(stages["judge"].output) == stages["judge"].n_in
    assert stages["judge"].n_out == 1
    assert stages["limit"].output == ("shop/pricing.py",)
    assert stages["pack"].output == stages["answer"].input == ("shop/pricing.py:1-13",)
    assert stages["answer"].output == ("So [1]. Or [7].",)
    assert (stages["answer"].n_out, stages["answer"].cost) == (1, 0.003)
    assert [stage.stage for stage in answer.trace if stage.cost is None] == ["search", "related", "limit", "pack"]
    assert answer.usage == sum((stage.usage for stage in answer.trace), Usage())
    assert answer.cost == pytest.approx(sum(stage.cost or 0.0 for stage in answer.trace))


def test_a_rewritten_question_is_what_the_other_models_are_asked(shop: Path) -> None:
    rewritten = "how is the tax of an order computed"
    reply = Reply(f'{{"question": "{rewritten}", "queries": ["tax rate"]}}', usage=Usage(30, 3))
    selecting = ScriptedChat([Reply('{"file_list": []}')])
    history = (Message("user", "what is sold here?"), Message("assistant", "Articles."))
    models = Models(answer=ScriptedChat([reply, Reply("So [1].")]), select=selecting)
    settings = Settings(select=SelectSettings(filter_level=1))
    *_, answer = events_of(shop, models, AnswerRequest("and its tax?", history=history), settings)
    assert isinstance(answer, Answer)
    first = answer.trace[0]
    assert (first.stage, first.n_in, first.usage) == ("rewrite", 2, Usage(30, 3))
    assert first.input == ("user: what is sold here?", "assistant: Articles.")
    assert first.output == answer.trace[1].input == (rewritten, "tax rate")
    assert selecting.asks[0].messages[-1].content.endswith(rewritten)


@pytest.mark.parametrize(
    ("prices", "usage", "expected"),
    [
        (Prices(), Usage(1_000_000, 1_000_000), None),
        (Prices(is_free=True), Usage(1_000_000, 1_000_000), 0.0),  # 0 is known, unlike above
        (Prices(is_free=True), Usage(), None),
        (Prices(0.25, 2.0), Usage(), None),  # not counted by the provider
        (Prices(0.25, 2.0), Usage(1_000_000, 1_000_000), 2.25),
        (Prices(0.25, 2.0), Usage(1, 0), 2.5e-07),
        (Prices(0.0, 2.0), Usage(90, 0), 0.0),
        (Prices(0.0, 2.0), Usage(90, 9), 1.8e-05),
        (Prices(0.1, 0.0), Usage(3, 9), 3e-07),  # 0.1 × 3 is more than 0.3 in binary fractions
    ],
)
def test_what_tokens_cost(prices: Prices, usage: Usage, expected: float | None) -> None:
    assert prices.cost(usage) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], ()),
        (["a", ""], ("a", "")),
        (["x" * 2_000], ("x" * 2_000,)),
        (["x" * 2_001], ("x" * 2_000 + "…",)),
        (["a"] * 100, ("a",) * 100),
        (["a"] * 102, (*("a",) * 100, "… and 2 more")),
    ],
)
def test_a_trace_keeps_no_more_than_can_be_read(texts: list[str], expected: tuple[str, ...]) -> None:
    assert traced(texts) == expected


def test_a_judging_model_drops_what_is_beside_the_point(shop: Path) -> None:
    def grade(question: object) -> Reply:
        text = question.messages[-1].content  # type: ignore[attr-defined]
        lines = [line for line in text.splitlines() if "pricing.py" in line or "orders.py" in line]
        return Reply("yes/9" if lines else "no/1")

    settings = Settings(select=SelectSettings(filter_level=1))
    models = Models(answer=ScriptedChat([Reply("So [1].")]), judge=ScriptedChat([grade] * 20))
    *_, answer = events_of(shop, models, AnswerRequest(QUESTION), settings)
    assert isinstance(answer, Answer)
    stages = [stage.stage for stage in answer.trace]
    assert stages == ["search", "judge", "limit", "pack", "answer"]


def test_a_file_that_is_too_large_is_judged_in_parts(shop: Path) -> None:
    (shop / "shop" / "large.py").write_text(LARGE + "\n\ndef total_price(order): ...\n")

    def grade(question: Ask) -> Reply:
        texts = re.split(r"is document \d+ \(", question.messages[-1].content)[1:]
        grades = ("yes/9" if "def total_price" in text else "no/0" for text in texts)
        return Reply("\n".join(f"{number}: {one}" for number, one in enumerate(grades, start=1)))

    judging = ScriptedChat([grade] * 40)
    models = Models(answer=ScriptedChat([Reply("So [1].")]), judge=judging)
    settings = Settings(select=SelectSettings(filter_level=1), context=ContextSettings(window=4_000))
    *_, answer = events_of(shop, models, AnswerRequest("total_price of an order"), settings)
    assert isinstance(answer, Answer)
    assert {source.path for source in answer.sources} == {"shop/large.py"}
    asked = "\n".join(ask.messages[-1].content for ask in judging.asks)
    assert "(shop/large.py, lines 1 to " in asked
    assert estimate(LARGE) > 2_300  # 4,000 × 0.6, less 100


def test_a_stage_that_fails_is_left_out_and_said(shop: Path) -> None:
    settings = Settings(select=SelectSettings(filter_level=1))
    broken = ScriptedChat([ProviderError("no connection")] * 20)
    models = Models(answer=ScriptedChat([Reply("So [1].")]), select=broken, judge=broken)
    *_, answer = events_of(shop, models, AnswerRequest(QUESTION), settings)
    assert isinstance(answer, Answer)
    assert answer.citations
    assert any("no connection" in problem for problem in answer.degraded)


def test_connected_files_are_added_at_level_two(shop: Path) -> None:
    settings = Settings(select=SelectSettings(filter_level=2))
    *_, answer = events_of(shop, Models(answer=ScriptedChat([Reply("So [1].")])), AnswerRequest(QUESTION), settings)
    assert isinstance(answer, Answer)
    assert "related" in [stage.stage for stage in answer.trace]


LARGE = "".join(f"def price_of_order_{n}(order):\n    return order.lines[{n}].price\n\n\n" for n in range(150))
SMALL_WINDOW = ContextSettings(window=2_000, full_text_ratio=0.4, segment_ratio=0.5)
ONLY_PINNED = RerankSettings(top_n=1)
LEVEL_ONE = SelectSettings(filter_level=1, max_input_tokens=20_000)


def lines_chosen(shop: Path, excerpting: ScriptedChat, **parts: object) -> tuple[AnswerSources, Answer]:
    """Ask with two files that do not fit whole, both pinned."""
    for name in ("large.py", "larger.py"):
        (shop / "shop" / name).write_text(LARGE)
    settings = Settings(**({"select": LEVEL_ONE, "context": SMALL_WINDOW, "rerank": ONLY_PINNED} | parts))  # type: ignore[arg-type]
    models = Models(answer=ScriptedChat([Reply("So [1].")]), excerpt=excerpting)
    request = AnswerRequest(QUESTION, pinned=("shop/large.py", "shop/larger.py"))
    found, *_, answer = events_of(shop, models, request, settings)
    assert isinstance(found, AnswerSources)
    assert isinstance(answer, Answer)
    return found, answer


CUT = tuple(
    f"shop/{name}.py does not fit into the context: the model was shown only parts of it"
    for name in ("large", "larger")
)


def of_each(large: str, larger: str) -> ScriptedChat:
    """Choose lines of the two large files, in whatever order it is asked about them."""

    def reply(question: Ask) -> Reply:
        return Reply(large if " shop/large.py:" in question.messages[-1].content else larger, usage=Usage(1_000, 7))

    return ScriptedChat([reply] * 2)


def places(found: AnswerSources, *paths: str) -> list[tuple[str, int, int]]:
    return [(item.path, item.start_line, item.end_line) for item in found.sources if item.path in paths]


def test_a_model_chooses_the_lines_of_files_that_do_not_fit(shop: Path) -> None:
    replies = ('{"ranges": [[90, 93], [10, 13]]}', '{"ranges": [{"start_line": 200, "end_line": 203}]}')
    found, answer = lines_chosen(shop, of_each(*replies))
    assert places(found, "shop/large.py", "shop/larger.py") == [
        ("shop/large.py", 10, 13),
        ("shop/large.py", 90, 93),
        ("shop/larger.py", 200, 203),
    ]
    (stage,) = [stage for stage in answer.trace if stage.stage == "excerpts"]
    assert (stage.n_in, stage.n_out, stage.usage) == (2, 2, Usage(2_000, 14))
    assert answer.usage == Usage(2_000, 14)
    assert answer.degraded == CUT


@pytest.mark.parametrize(
    ("larger", "problem"),
    [
        ("I would not know.", "the excerpting model named no lines of shop/larger.py that are there"),
        ('{"ranges": []}', "the excerpting model found nothing in shop/larger.py worth showing"),
        ('{"ranges": [[9000, 9009]]}', "the excerpting model named no lines of shop/larger.py that are there"),
    ],
)
def test_where_no_lines_are_chosen_the_usual_ones_are_shown(shop: Path, larger: str, problem: str) -> None:
    found, answer = lines_chosen(shop, of_each('{"ranges": [[10, 13]]}', larger))
    assert places(found, "shop/large.py") == [("shop/large.py", 10, 13)]
    assert places(found, "shop/larger.py")[0][1] == 1  # nothing was found in it: its beginning
    assert problem in answer.degraded


def test_an_excerpting_model_that_fails_is_said_once(shop: Path) -> None:
    found, answer = lines_chosen(shop, ScriptedChat([ProviderError("no connection")] * 2))
    assert places(found, "shop/large.py", "shop/larger.py")
    assert answer.degraded == ("the excerpting model failed: no connection", *CUT)


def test_no_more_than_three_problems_of_a_stage_are_said(shop: Path) -> None:
    names = tuple(f"shop/large_{number}.py" for number in range(5))
    for name in names:
        (shop / name).write_text(LARGE)
    models = Models(answer=ScriptedChat([Reply("So [1].")]), excerpt=ScriptedChat([Reply("Hm.")] * 5))
    settings = Settings(select=LEVEL_ONE, context=SMALL_WINDOW, rerank=ONLY_PINNED)
    *_, answer = events_of(shop, models, AnswerRequest(QUESTION, pinned=names), settings)
    assert isinstance(answer, Answer)
    said = [problem.split()[7] for problem in answer.degraded if problem.startswith("the excerpting model")]
    assert said == list(names[:3])


@pytest.mark.parametrize(
    "parts",
    [
        {"context": ContextSettings()},  # everything fits
        {"select": SelectSettings(filter_level=0)},
    ],
)
def test_no_lines_are_asked_for_where_they_are_not_needed(shop: Path, parts: dict[str, object]) -> None:
    excerpting = ScriptedChat([])
    _, answer = lines_chosen(shop, excerpting, **parts)
    assert excerpting.asks == []
    assert "excerpts" not in [stage.stage for stage in answer.trace]


def test_no_lines_are_asked_for_without_room_for_them(shop: Path) -> None:
    excerpting = ScriptedChat([])
    with pytest.raises(UsageError, match="no line of any source fits"):
        lines_chosen(shop, excerpting, context=ContextSettings(window=2_000, full_text_ratio=1.0, segment_ratio=0.0))
    assert excerpting.asks == []


def test_no_lines_are_asked_for_an_answer_that_is_not_written(shop: Path) -> None:
    (shop / "shop" / "large.py").write_text(LARGE)
    excerpting = ScriptedChat([])
    settings = Settings(select=LEVEL_ONE, context=SMALL_WINDOW, answer=AnswerSettings(least_confidence=1.0))
    models = Models(answer=ScriptedChat([]), excerpt=excerpting)
    found, *_, answer = events_of(shop, models, AnswerRequest("price of an order of zebras"), settings)
    assert isinstance(found, AnswerSources)
    assert isinstance(answer, Answer)
    assert answer.text.startswith("This was not found here.")
    assert "shop/large.py" in {source.path for source in found.sources}
    assert excerpting.asks == []


def test_chosen_lines_never_pass_the_window(shop: Path) -> None:
    everything = '{"ranges": [[1, 600]]}'
    found, _ = lines_chosen(shop, of_each(everything, everything))
    assert 0 < sum(estimate(source.text) for source in found.sources) <= 1_800
    lines = [(item.path, line) for item in found.sources for line in range(item.start_line, item.end_line + 1)]
    assert len(lines) == len(set(lines))


def test_an_answer_without_a_place_says_so(shop: Path) -> None:
    problem = "the answer cites no source: nothing in it could be checked"
    guess = answered(shop, "It is summed somewhere.")
    assert problem in guess.degraded
    assert (guess.verified_share, guess.label) == (0.0, "low")
    assert problem not in answered(shop, "It is summed [1].").degraded


@pytest.mark.parametrize(
    ("llm", "level", "expected"),
    [
        (LlmSettings(), -1, 0),
        (LlmSettings(model="ollama:m"), -1, 1),
        (LlmSettings(judge="ollama:m"), -1, 1),
        (LlmSettings(answer="ollama:m"), -1, 0),
        (LlmSettings(model="ollama:m"), 0, 0),
        (LlmSettings(), 2, 2),
    ],
)
def test_a_model_selects_and_judges_where_there_is_one(shop: Path, llm: LlmSettings, level: int, expected: int) -> None:
    settings = Settings(llm=llm, select=SelectSettings(filter_level=level))
    with Engine.open(str(shop), settings=settings) as engine:
        question, *_ = prepared(AnswerRequest(QUESTION), engine, lambda *_: None)  # type: ignore[arg-type,return-value]
    assert question.filter_level == expected


@pytest.mark.parametrize(
    ("question", "level", "grade", "is_asked"),
    [
        ("wombat burrows underground", 0, "", False),
        ("@shop/pricing.py wombat burrows underground", 0, "", True),  # it names its place
        ("订单的价格是怎么计算的？", 0, "", True),  # words of another language say nothing
        ("wombat burrows underground", 1, "yes/9", False),  # a judge is not asked about nothing
        ("migration of a database schema", 1, "yes/9", True),  # of what is weak, what the judge leaves is likely
        ("migration of a database schema", 1, "no/0", False),
    ],
)
def test_who_decides_that_there_is_an_answer(shop: Path, question: str, level: int, grade: str, is_asked: bool) -> None:
    answering = ScriptedChat([Reply("So [1].")])
    judging = ScriptedChat([Reply("\n".join(f"{number}: {grade}" for number in range(1, 20)))] * 20)
    settings = Settings(select=SelectSettings(filter_level=level))
    *_, answer = events_of(shop, Models(answer=answering, judge=judging), AnswerRequest(question), settings)
    assert len(answering.asks) == is_asked
    assert isinstance(answer, Answer)
    assert (Note(NOT_FOUND) in answer.problems) is not is_asked
    assert bool(judging.asks) is (grade != "" and "wombat" not in question)
    if grade == "yes/9" and is_asked:
        assert not answer.weak
        assert answer.confidence == 0.9  # what the judge thought of the sources


def test_a_window_in_which_nothing_fits_is_an_error(shop: Path) -> None:
    settings = Settings(context=ContextSettings(window=1))
    with pytest.raises(UsageError, match="no line of any source fits"):
        events_of(shop, Models(answer=ScriptedChat([])), AnswerRequest(QUESTION), settings)


def test_the_least_window_that_can_be_set_has_room_for_a_source(shop: Path) -> None:
    settings = load_settings(str(shop), overrides={"context.window": LEAST_CONTEXT})
    found, *_ = events_of(shop, Models(answer=ScriptedChat([Reply("So [1].")])), AnswerRequest(QUESTION), settings)
    assert isinstance(found, AnswerSources)
    assert found.sources


@pytest.mark.parametrize("window", [1, 2, 2048, 2097])
def test_a_model_whose_window_is_full_of_its_reply_is_not_asked(shop: Path, window: int) -> None:
    settings = load_settings(str(shop), overrides={"llm.window": window})
    model = ScriptedChat([])
    with pytest.raises(SettingsError, match=r"tokens for sources beside answer\.max_tokens 2048") as refused:
        events_of(shop, Models(answer=model), AnswerRequest(QUESTION), settings)
    assert "at least 2098" in str(refused.value.hint)


def test_each_role_may_have_a_model_of_its_own(shop: Path) -> None:
    llm = LlmSettings(model="ollama:m", excerpt="ollama:small")
    with Engine.open(str(shop), settings=Settings(llm=llm)) as engine:
        engine.index()
        models = answer_setup.models(engine)
    named = [model.name for model in models if model]
    assert named == ["ollama:m", "ollama:m", "ollama:m", "ollama:small"]
    assert models.answer is models.judge  # one connection, one pace


def test_the_window_is_kept(shop: Path) -> None:
    settings = Settings(context=ContextSettings(window=300, full_text_ratio=0.5, segment_ratio=0.4))
    model = ScriptedChat([Reply("So [1].")])
    found, *_ = events_of(shop, Models(answer=model), AnswerRequest(QUESTION), settings)
    assert isinstance(found, AnswerSources)
    with Engine.open(str(shop), settings=settings) as engine:
        count = prepared(AnswerRequest(QUESTION), engine, lambda *_: None).question.count  # type: ignore[arg-type,return-value]
    assert 0 < sum(count(source.text) for source in found.sources) <= 270


@pytest.mark.parametrize(("window", "expected"), [(0, 24_000), (8_192, 8_192 - 2_048), (1_000_000, 120_000)])
def test_the_context_follows_the_model(window: int, expected: int) -> None:
    assert windows.window(Settings(llm=LlmSettings(window=window))) == expected


def test_a_fixed_window_is_used_as_it_is() -> None:
    assert windows.window(Settings(context=ContextSettings(window=77_000, disable_auto_window=True))) == 77_000


def test_an_answer_that_was_cut_or_refused_says_so(shop: Path) -> None:
    for finish, word in (("length", "was cut"), ("refused", "refused")):
        models = Models(answer=ScriptedChat([Reply("So [1].", finish=finish)]))  # type: ignore[arg-type]
        *_, answer = events_of(shop, models, AnswerRequest(QUESTION))
        assert isinstance(answer, Answer)
        assert any(word in problem for problem in answer.degraded)


class Breaking(ScriptedChat):
    """Writes its reply and then fails."""

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        for item in super().stream(ask):
            if isinstance(item, Reply):
                raise ProviderError("the connection was lost", hint="ask again")
            yield item


STAND_IN = "The model failed before its answer was whole. The best excerpts:\n\n1. "


def broken_off(shop: Path, model: ScriptedChat, question: str = QUESTION) -> tuple[str, Answer]:
    events = events_of(shop, Models(answer=model), AnswerRequest(question))
    answer = events[-1]
    assert isinstance(answer, Answer)
    return "".join(event.text for event in events if isinstance(event, Text)), answer


def test_an_answer_that_breaks_off_is_followed_by_excerpts(shop: Path) -> None:
    reply = Reply("Prices are summed [shop/pricing.py:6-8], not [99].\n\nAnd")
    shown, answer = broken_off(shop, Breaking([reply]), "where is total_cents computed")
    assert shown == answer.text
    assert answer.text.startswith(
        f"Prices are summed [shop/pricing.py:6-8], not [cited place not found].\n\nAnd\n\n{STAND_IN}"
    )
    assert (answer.failure, answer.hint) == ("the answering model failed: the connection was lost", "ask again")
    assert (answer.confidence, answer.label) == (0.3, "low")  # its sources would have given it more
    assert answer.degraded == (
        answer.failure,
        "1 citation could not be verified and was removed",
    )
    assert (answer.model, len(answer.dropped)) == ("scripted:model", 1)
    assert answer.citations[0].path == "shop/pricing.py"
    assert len(answer.citations) > 1
    assert [source.number for source in answer.sources] == list(range(1, len(answer.sources) + 1))
    for place in answer.citations:
        assert any(
            source.path == place.path and source.start_line <= place.start_line <= place.end_line <= source.end_line
            for source in answer.sources
        )
    (call,) = answer.trace[-1].calls
    assert (call.reply[:17], call.problem) == ("Prices are summed", "the connection was lost; ask again")
    assert answer.trace[-1].detail == "the connection was lost"


@pytest.mark.parametrize(
    ("reply", "failure", "hint"),
    [
        (ProviderError("no connection", hint="start it"), "no connection", "start it"),
        (ProviderError("no connection"), "no connection", ""),
        (
            Reply("  \n", usage=Usage(100, 1)),
            "scripted:model gave an empty answer",
            "ask again, or use another model",
        ),
    ],
)
def test_without_a_word_of_the_model_there_are_excerpts_alone(
    shop: Path, reply: Reply | ProviderError, failure: str, hint: str
) -> None:
    shown, answer = broken_off(shop, ScriptedChat([reply]))
    *_, usual = events_of(shop, Models(), AnswerRequest(QUESTION))
    assert isinstance(usual, Answer)
    assert shown.strip() == answer.text.strip()
    assert answer.text.startswith(STAND_IN)
    assert (answer.failure, answer.hint) == (f"the answering model failed: {failure}", hint)
    assert answer.degraded == (answer.failure,)
    assert (answer.model, answer.confidence) == ("", min(usual.confidence, 0.3))
    assert set(answer.citations) <= set(usual.citations)
    assert answer.verified_share == 1.0
    assert answer.usage == (reply.usage if isinstance(reply, Reply) else Usage())


def test_excerpts_that_stand_in_are_of_what_a_judge_kept(shop: Path) -> None:
    def grade(question: Ask) -> Reply:
        paths = re.findall(r"is document (\d+) \((.*?)\)", question.messages[-1].content)
        return Reply("\n".join(f"{number}: {'yes/8' if 'orders' in path else 'no/1'}" for number, path in paths))

    models = Models(answer=ScriptedChat([ProviderError("gone")]), judge=ScriptedChat([grade] * 9))
    *_, answer = events_of(shop, models, AnswerRequest(QUESTION), Settings(select=SelectSettings(filter_level=1)))
    assert isinstance(answer, Answer)
    assert {citation.path for citation in answer.citations} == {"shop/orders.py"}
    assert (answer.sources[0].score, answer.sources[0].reason[-11:]) == (0.8, "judged 8/10")


def test_a_failure_is_told_in_the_language_of_the_question(shop: Path) -> None:
    shown, answer = broken_off(shop, ScriptedChat([ProviderError("gone")]), "订单的价格是怎么计算的？")
    assert shown.startswith("模型在完成回答之前出错")
    assert answer.failure == "the answering model failed: gone"


def test_every_source_but_a_whole_file_has_its_symbol(shop: Path) -> None:
    (shop / "shop" / "large.py").write_text(LARGE)
    models = Models(answer=ScriptedChat([Reply("So [1].")]))
    request = AnswerRequest("price_of_order_70 of an order")
    found, *_ = events_of(shop, models, request, Settings(context=SMALL_WINDOW))
    assert isinstance(found, AnswerSources)
    parts = [source for source in found.sources if source.path == "shop/large.py"]
    assert parts
    assert all(not source.is_whole and source.symbol in source.text for source in parts)
    assert all(source.symbol == "" for source in found.sources if source.is_whole)


def test_a_trace_keeps_what_models_were_asked_and_said(shop: Path) -> None:
    models = Models(
        answer=ScriptedChat([Reply("So [1].", usage=Usage(20, 2))]),
        select=ScriptedChat([Reply("No list.", usage=Usage(30, 3))]),
        judge=ScriptedChat([ProviderError("overloaded")] + [Reply("1: yes/9", usage=Usage(1, 1))] * 9),
    )
    settings = Settings(select=SelectSettings(filter_level=1))
    *_, answer = events_of(shop, models, AnswerRequest(QUESTION), settings)
    assert isinstance(answer, Answer)
    calls = {stage.stage: stage.calls for stage in answer.trace if stage.calls}
    assert list(calls) == ["select", "judge", "answer"]
    (selecting,), (answering,) = calls["select"], calls["answer"]
    assert (selecting.reply, selecting.usage, selecting.problem) == ("No list.", Usage(30, 3), "")
    assert "shop/pricing.py" in selecting.prompt[-1].text
    assert sorted(call.problem for call in calls["judge"])[-1] == "overloaded"
    assert [said.role for said in answering.prompt] == ["system", "user"]
    assert answering.prompt[-1].text.endswith(QUESTION)
    assert all(stage.n_calls == len(stage.calls) for stage in answer.trace)
    assert answer.usage == sum((call.usage for stage in answer.trace for call in stage.calls), Usage())


def test_the_text_comes_word_by_word_and_checked(shop: Path) -> None:
    models = Models(answer=ScriptedChat([Reply("One [98].\n\nTwo [99].\n\nThree.")]))
    pieces = [event.text for event in events_of(shop, models, AnswerRequest(QUESTION)) if isinstance(event, Text)]
    assert "".join(pieces) == "One [cited place not found].\n\nTwo [cited place not found].\n\nThree."
    assert len(pieces) > 3


def test_closing_the_events_ends_the_models_call(shop: Path) -> None:
    closed = []

    class Endless:
        name = "endless"

        def stream(self, _: object) -> Iterator[object]:
            try:
                while True:
                    yield Delta("on and on\n\n")
            finally:
                closed.append(True)

    with Engine.open(str(shop)) as engine:
        engine.index()
        question, project, _ = prepared(
            AnswerRequest(QUESTION), engine, lambda query, limit: engine.search(query, limit=limit)
        )
        events = ask(question, project, Models(answer=Endless()))  # type: ignore[arg-type]
        assert isinstance(next(events), AnswerSources)
        assert isinstance(next(events), Text)
        events.close()  # type: ignore[attr-defined]
    assert closed == [True]
