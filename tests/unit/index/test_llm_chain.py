"""A model in the chain of parsers: who is asked about what, what is kept of it, and what happens when it fails."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from codefathom.config.configuration import load_settings
from codefathom.config.settings import LlmSettings, ParseSettings, Settings
from codefathom.errors import ProviderError, SettingsError
from codefathom.index.by_path import take_over
from codefathom.index.forecast import dry_run
from codefathom.index.indexing import Stages, run
from codefathom.index.plan import plan
from codefathom.index.reparse import GIVE_UP_AFTER, model_parser
from codefathom.parse import is_for_model
from codefathom.project.location import Location
from codefathom.project.opening import OpenedProject
from codefathom.providers.base import Ask, Reply
from codefathom.testing import ScriptedChat
from codefathom.types import IndexReport

LEDGER = "program ledger;\n\nprocedure PostEntry(amount: integer);\nbegin\n  writeln(amount)\nend;\n\nbegin\nend.\n"
SYMBOL = {"kind": "procedure", "name": "PostEntry", "start_line": 3, "end_line": 6, "signature": "", "doc": ""}
GOOD = Reply(json.dumps({"symbols": [SYMBOL]}))
NOTHING = Reply('{"symbols": []}')
AWAY = ProviderError("no connection")
WITH_GRAMMARS = ("treesitter", "llm:m:1", "text")


def settings_with(*chain: str, model: str = "ollama:m") -> Settings:
    return Settings(parse=ParseSettings(chain), llm=LlmSettings(model=model))


@dataclass
class Project:
    root: Path
    settings: Settings

    @contextmanager
    def opened(self) -> Iterator[OpenedProject]:
        opened = OpenedProject(
            Location(
                str(self.root),
                str(self.root / ".fathom"),
                str(self.root.parent / "cache"),
                self.settings,
                {},
                str(self.root.parent / "state"),
            )
        )
        try:
            yield opened
        finally:
            opened.close()

    @contextmanager
    def stages(self, chat: ScriptedChat) -> Iterator[Stages]:
        with self.opened() as opened, opened.writing() as stages:
            yield replace(stages, model_parser=model_parser(chat, 2, mask=lambda text: text.replace("hunter2", "*")))

    def index(self, chat: ScriptedChat, *, retry: bool = True) -> IndexReport:
        with self.stages(chat) as stages:
            *_, report = run(stages, retry=retry)
        assert isinstance(report, IndexReport)
        return report

    def symbols(self) -> list[str]:
        with self.opened() as opened:
            return [f"{item.path} {item.symbol.name}" for item in opened.catalog.symbols("", limit=1_000)]

    def failures(self) -> list[str]:
        with self.opened() as opened:
            return [f"{failure.path}: {failure.reason}" for failure in opened.catalog.failures()]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    (root / "ledger.pas").write_text(LEDGER)
    (root / "cart.py").write_text("class Cart:\n    def total(self):\n        return 0\n")
    (root / "notes.md").write_text("# Notes\n\nNothing here.\n")
    return Project(root, settings_with("treesitter", "llm", "text"))


def chat(*replies: Reply | ProviderError | Callable[[Ask], Reply]) -> ScriptedChat:
    return ScriptedChat(replies)


@pytest.mark.parametrize(
    ("language", "answered", "chain", "is_asked"),
    [
        ("pascal", "text/1", WITH_GRAMMARS, True),
        ("python", "text/1", WITH_GRAMMARS, True),  # its grammar gave up
        ("python", "treesitter/2", WITH_GRAMMARS, False),
        ("python", "treesitter/2", ("llm:m:1", "treesitter", "text"), True),
        ("pascal", "text/1", ("treesitter", "text", "llm:m:1"), True),
        ("pascal", "llm/1:m", WITH_GRAMMARS, False),  # known from the cache
        ("markdown", "text/1", ("llm:m:1", "text"), False),
        ("pascal", "text/1", ("treesitter", "text"), False),
    ],
)
def test_who_is_asked(language: str, answered: str, chain: tuple[str, ...], is_asked: bool) -> None:
    assert is_for_model("a.x", language, answered, chain) is is_asked


@pytest.mark.parametrize(
    ("path", "is_asked"),
    [("src/a.frob", True), ("notes.txt", False), ("LICENSE", False), (".hidden", False), ("build.log", False)],
)
def test_an_unknown_ending_may_be_code(path: str, is_asked: bool) -> None:
    assert is_for_model(path, "text", "text/1", WITH_GRAMMARS) is is_asked
    assert not is_for_model(path, "text", "text/1", ("treesitter", "text"))


def test_only_what_has_no_grammar_goes_to_the_model(project: Project) -> None:
    model = chat(GOOD)
    report = project.index(model)
    assert ["ledger.pas" in ask.messages[-1].content for ask in model.asks] == [True]
    assert set(project.symbols()) == {"cart.py Cart", "cart.py total", "ledger.pas PostEntry", "notes.md Notes"}
    assert report.failures == ()


def test_a_definition_is_a_chunk_of_its_own(project: Project) -> None:
    body = "  writeln(amount);\n" * 40
    text = f"procedure One;\nbegin\n{body}end;\nprocedure Two;\nbegin\n{body}end;\n"
    (project.root / "ledger.pas").write_text(text)
    spans = [{**SYMBOL, "name": name, "start_line": at, "end_line": at + 42} for name, at in (("One", 1), ("Two", 44))]
    project.index(chat(Reply(json.dumps({"symbols": spans}))))
    with project.opened() as opened:
        starts = {chunk.start_line: chunk.symbol for _, chunk in opened.catalog.chunks_of("ledger.pas")}
    assert starts[44] == "Two"


def test_the_model_comes_before_the_grammars_where_the_chain_says_so(project: Project) -> None:
    project.settings = settings_with("llm", "treesitter", "text")
    cart = {"kind": "class", "name": "Cart", "start_line": 1, "end_line": 3, "signature": "", "doc": ""}

    def answer(ask: Ask) -> Reply:
        return GOOD if "ledger.pas" in ask.messages[-1].content else Reply(json.dumps({"symbols": [cart]}))

    project.index(chat(answer, answer))
    assert set(project.symbols()) == {"cart.py Cart", "ledger.pas PostEntry", "notes.md Notes"}


def test_an_honest_nothing_is_not_asked_again(project: Project) -> None:
    project.index(chat(NOTHING))
    report = project.index(chat())
    assert (report.n_unchanged, report.failures) == (3, ())


def test_another_clone_takes_the_symbols_from_the_cache(project: Project) -> None:
    project.index(chat(GOOD))
    clone = project.root.parent / "clone"
    clone.mkdir()
    (clone / "ledger.pas").write_text(LEDGER)
    other = Project(clone, project.settings)
    other.index(chat())
    assert other.symbols() == ["ledger.pas PostEntry"]


def test_another_model_is_asked_anew(project: Project) -> None:
    project.index(chat(NOTHING))
    project.settings = settings_with("treesitter", "llm", "text", model="ollama:better")
    project.index(chat(GOOD))
    assert "ledger.pas PostEntry" in project.symbols()


def test_another_prompt_is_asked_anew(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.index(chat(NOTHING))
    monkeypatch.setattr("codefathom.parse.llm.PROMPT", "List more.")
    model = chat(GOOD)
    project.index(model)
    assert [ask.messages[0].content for ask in model.asks] == ["List more."]
    assert "ledger.pas PostEntry" in project.symbols()


@pytest.mark.parametrize(
    ("reply", "why"), [(AWAY, "no connection"), (Reply("I cannot."), "the reply is not a list of symbols")]
)
def test_a_failure_leaves_the_text_and_is_tried_again(project: Project, reply: Reply | ProviderError, why: str) -> None:
    report = project.index(chat(reply))
    assert project.failures() == [f"ledger.pas: not parsed by the model: {why}"]
    assert [failure.path for failure in report.failures] == ["ledger.pas"]
    with project.opened() as opened:
        assert opened.catalog.text("ledger.pas") == LEDGER
        assert plan(opened.catalog, opened.recipe).n_pending == 0  # no search waits for it

    report = project.index(chat(GOOD))
    assert (report.changed, report.failures, project.failures()) == (("ledger.pas",), (), [])
    assert "ledger.pas PostEntry" in project.symbols()
    assert project.index(chat()).n_unchanged == 3


def test_without_retry_a_failure_stays_as_it_is(project: Project) -> None:
    project.index(chat(AWAY))
    (project.root / "cart.py").write_text("class Basket: ...\n")
    report = project.index(chat(), retry=False)
    assert (report.changed, report.n_unchanged) == (("cart.py",), 2)
    assert project.failures() == ["ledger.pas: not parsed by the model: no connection"]


def test_a_file_that_failed_in_part_keeps_its_symbols_and_is_tried_again(project: Project) -> None:
    (project.root / "ledger.pas").write_text(LEDGER + "\n" * 1_600)
    model = chat(GOOD, AWAY)
    assert project.index(model).failures[0].reason == "not parsed by the model: no connection"
    assert "ledger.pas PostEntry" in project.symbols()
    again = chat(GOOD, NOTHING)
    assert project.index(again).failures == ()
    assert len(again.asks) == 2


def test_symbols_that_are_made_up_leave_the_text(project: Project) -> None:
    project.index(chat(Reply(json.dumps({"symbols": [{**SYMBOL, "name": "Invented"}]}))))
    with project.opened() as opened:
        (ledger,) = (document for document in opened.catalog.documents() if document.path == "ledger.pas")
    assert list(map(str, ledger.problems)) == ["symbols of scripted:model dropped: name not on its line (1)"]
    assert project.index(chat()).n_unchanged == 3


def test_a_model_that_is_away_is_not_asked_for_ever_and_does_not_stop_the_run(project: Project) -> None:
    for number in range(60):
        (project.root / f"unit{number}.pas").write_text(f"{{ {number} }}\n{LEDGER}")
    model = chat(*[AWAY] * 61)
    report = project.index(model)
    assert GIVE_UP_AFTER <= len(model.asks) <= GIVE_UP_AFTER + 1  # two calls at a time
    assert (len(report.added), len(report.failures), report.paused) == (63, 61, "")
    assert report.failures[-1].reason == "not parsed by the model: not asked after it failed on 8 files in a row"


def test_secrets_are_masked(project: Project) -> None:
    (project.root / "ledger.pas").write_text(f"{{ hunter2 }}\n{LEDGER}")
    model = chat(NOTHING)
    project.index(model)
    assert "1: { * }" in model.asks[0].messages[-1].content


def test_a_dry_run_counts_what_would_be_sent(project: Project) -> None:
    with project.opened() as opened:
        forecast = dry_run(opened.catalog, opened.recipe).for_model
    assert (forecast.n_files, 400 < forecast.n_tokens < 600) == (1, True)
    project.index(chat(AWAY))
    with project.opened() as opened:
        assert dry_run(opened.catalog, opened.recipe).for_model == forecast
    project.index(chat(GOOD))
    with project.opened() as opened:
        assert dry_run(opened.catalog, opened.recipe).for_model.n_files == 0


def test_an_import_is_parsed_by_the_model_too(project: Project) -> None:
    model = chat(GOOD)
    (project.root / "ledger.pas").write_text(LEDGER)
    with project.stages(model) as stages:
        assert take_over(stages, {"ledger.pas": LEDGER}) == 1
    assert project.symbols() == ["ledger.pas PostEntry"]


def test_many_files_are_stored_step_by_step(project: Project) -> None:
    for number in range(20):
        (project.root / f"unit{number}.pas").write_text(f"{{ {number} }}\n{LEDGER}")
    with project.stages(chat(*[NOTHING] * 21)) as stages:
        done = [event.n_done for event in run(stages) if not isinstance(event, IndexReport) and event.phase == "index"]
    assert max(b - a for a, b in zip([0, *done], done, strict=False)) <= 10  # 8 for the model, 2 others
    assert done[-1] == 23


@pytest.mark.parametrize(("llm", "named"), [(LlmSettings(index="ollama:small", model="ollama:m"), "ollama:small"),
                                            (LlmSettings(model="ollama:m"), "ollama:m")])  # fmt: skip
def test_the_role_names_the_model(project: Project, llm: LlmSettings, named: str) -> None:
    project.settings = Settings(parse=ParseSettings(("llm", "text")), llm=llm)
    with project.opened() as opened, opened.writing() as stages:
        assert stages.model_parser is not None
        assert stages.model_parser.model.name == named
        assert stages.recipe.chain[0].startswith(f"llm:{named}:")


def test_without_a_model_the_chain_is_an_error(project: Project) -> None:
    project.settings = settings_with("llm", "text", model="")
    with pytest.raises(SettingsError, match=r"parse\.chain contains llm") as caught, project.opened():
        pass
    assert "set llm.model" in caught.value.hint


def test_only_parsers_stand_in_the_chain(tmp_path: Path) -> None:
    environ = {"FATHOM_PARSE__CHAIN": "treesitter,llm,text"}
    settings = load_settings(str(tmp_path), environ=environ, user_file=os.devnull)
    assert settings.parse.chain == ("treesitter", "llm", "text")
    with pytest.raises(SettingsError) as caught:
        load_settings(str(tmp_path), environ={"FATHOM_PARSE__CHAIN": "llm,regex"}, user_file=os.devnull)
    assert caught.value.hint == "choose one of treesitter, llm, text"
