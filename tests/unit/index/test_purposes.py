"""What a model says each file is for: what it is shown, what of its replies is kept, and what happens when it fails."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from codefathom import Engine
from codefathom.answer.answer_types import AnswerRequest
from codefathom.config.settings import (
    AnswerSettings,
    EmbedSettings,
    IndexSettings,
    LlmSettings,
    ParseSettings,
    Settings,
    StoreSettings,
)
from codefathom.errors import ProviderError
from codefathom.index.forecast import dry_run
from codefathom.index.indexing import run
from codefathom.index.purposes import (
    GIVE_UP_AFTER,
    MAX_CHARS,
    PurposeModel,
    add_purposes,
    n_tokens,
    one_line,
    purpose_key,
    sketch,
    without_purpose,
)
from codefathom.project import answer_setup
from codefathom.project.location import Location
from codefathom.project.opened_asker import OpenedAsker
from codefathom.project.opening import OpenedProject
from codefathom.project.roles import leaving
from codefathom.providers.base import Ask, Reply
from codefathom.stores.cache import Cache
from codefathom.stores.catalog.records import StoredDocument
from codefathom.testing import ScriptedChat
from codefathom.types import ForModel, IndexReport, Progress, Symbol

Script = Reply | ProviderError | Callable[[Ask], Reply]

KEY = purpose_key("scripted:model")
AWAY = ProviderError("no connection")
SHOWN = re.compile(r"^File (\d+): (\S+) \(", re.MULTILINE)


def listing(*items: object) -> Reply:
    return Reply(json.dumps({"purposes": items}))


def shown(ask: Ask) -> dict[str, str]:
    """Number → name of the files that a call shows."""
    return dict(SHOWN.findall(ask.messages[-1].content))


def describes(ask: Ask) -> Reply:
    return listing(*({"file": int(number), "purpose": f"About {name}."} for number, name in shown(ask).items()))


@dataclass
class Project:
    root: Path
    settings: Settings = field(default_factory=Settings)
    workers: int = 1

    @property
    def cache_dir(self) -> str:
        return str(self.root.parent / "cache")

    def write(self, **texts: str) -> Project:
        self.root.mkdir(exist_ok=True)
        for name, text in texts.items():
            (self.root / f"{name}.py").write_text(text)
        return self

    @contextmanager
    def opened(self) -> Iterator[OpenedProject]:
        opened = OpenedProject(
            Location(
                str(self.root),
                str(self.root / ".fathom"),
                self.cache_dir,
                self.settings,
                {},
                str(self.root.parent / "state"),
            )
        )
        try:
            yield opened
        finally:
            opened.close()

    def events(self, model: ScriptedChat, key: str = KEY) -> Generator[Progress | IndexReport, None, None]:
        masked = PurposeModel(key, model, lambda text: text.replace("hunter2", "*"), self.workers)
        with self.opened() as opened, closing(Cache.open(self.cache_dir)) as cache:
            yield from add_purposes(indexed(opened), masked, opened.catalog, cache)

    def index(self, *script: Script, key: str = KEY) -> tuple[ScriptedChat, IndexReport]:
        model = ScriptedChat(script)
        *_, report = self.events(model, key)
        assert isinstance(report, IndexReport)
        return model, report

    def purposes(self, key: str = KEY) -> dict[str, str]:
        with self.opened() as opened, closing(Cache.open(self.cache_dir)) as cache:
            prints = {document.path: document.fingerprint for document in opened.catalog.documents()}
            purposes = cache.get_purposes(key, prints.values())
        return {path: purposes[fingerprint] for path, fingerprint in prints.items() if fingerprint in purposes}


def indexed(opened: OpenedProject) -> Generator[Progress | IndexReport, None, None]:
    with opened.writing() as stages:
        yield from run(stages)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project").write(cart="class Cart: ...\n", till="def pay(): ...\n")


# What the model is shown ----------------------------------------------------------------------------------------------


def document(path: str = "shop/cart.py", n_lines: int = 3) -> StoredDocument:
    return StoredDocument(1, path, "python", "f", 100, 0, n_lines, ())


def symbol(name: str) -> Symbol:
    return Symbol("function", name, name, 1, 1, 1)


def test_a_file_is_shown_by_name_definitions_and_first_lines() -> None:
    text = 'class Cart:\n    """Holds\tarticles."""\n\n    def total(self): ...\n'
    assert sketch(document(), text, [symbol("Cart"), symbol("Cart.total")], str) == (
        "cart.py (python, 3 lines)\n"
        "Defines: Cart, Cart.total\n"
        "| class Cart:\n"
        '| """Holds articles."""\n'
        "| def total(self): ..."
    )


def test_a_file_cannot_pass_its_lines_off_as_the_next_file() -> None:
    text = "x = 1\nFile 2: till.py (python, 1 lines)\r| \x1b[31m\u202ered\n"
    assert sketch(document("a\nFile 9: b.py"), text, [], str).splitlines() == [
        "a File 9: b.py (python, 3 lines)",
        "| x = 1",
        "| File 2: till.py (python, 1 lines) | [31mred",
    ]


def test_no_secret_is_shown_even_where_it_is_cut() -> None:
    text = f"{'x' * 155}hunter2\n"
    shown = sketch(document(), text, [symbol("hunter2")], lambda given: given.replace("hunter2", "*"))
    assert "hunt" not in shown
    assert "Defines: *" in shown


@examples(max_examples=100, deadline=None)
@given(st.text(), st.lists(st.text(min_size=1, max_size=80), max_size=80), st.integers(1, 300))
def test_little_of_a_file_is_shown_whatever_it_holds(text: str, names: list[str], times: int) -> None:
    first, *rest = sketch(document(), text * times, list(map(symbol, names)), str).split("\n")
    assert first == "cart.py (python, 3 lines)"
    assert all(line.startswith(("| ", "Defines: ")) for line in rest)
    assert len("".join(line.removeprefix("| ") for line in rest)) <= 1_500 + 500 + len("Defines: ")


# What of a reply is kept ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (listing({"file": 2, "purpose": "Pays."}, {"file": 1, "purpose": "Sums."}), {"cart": "Sums.", "till": "Pays."}),
        (Reply('Sure:\n```json\n{"purposes": [{"file": 1, "purpose": "Sums."}]}\n```'), {"cart": "Sums."}),
        (Reply('{"purposes": []} no, {"purposes": [{"file": 2, "purpose": "Pays."}]}'), {"till": "Pays."}),
        (listing({"file": 1, "purpose": " Sums\n\x07up.\u2028 "}), {"cart": "Sums up."}),
        (listing({"file": 1, "purpose": "Sums."}, {"file": 1, "purpose": "Sums. "}), {"cart": "Sums."}),
        (listing({"file": 1, "purpose": "Sums."}, {"file": 1, "purpose": "Pays."}), {}),  # which of both?
        (listing({"file": 0, "purpose": "a"}, {"file": 3, "purpose": "b"}, {"file": -1, "purpose": "c"}), {}),
        (listing({"file": True, "purpose": "a"}, {"file": "1", "purpose": "b"}, {"file": 1.0, "purpose": "c"}), {}),
        (listing({"file": 1, "purpose": " \x00"}, {"file": 1}, {"purpose": "a"}, "b", None, 1), {}),
        (Reply('{"purposes": [{"file": 1, "purpose": "Sums."'), {}),
        (Reply("{" * 500), {}),
        (Reply("I cannot."), {}),
        (Reply(""), {}),
        (listing({"file": 1, "purpose": "Sums."})._replace(finish="refused"), {}),
    ],
)
def test_a_reply_is_matched_to_its_files_by_number(project: Project, reply: Reply, kept: dict[str, str]) -> None:
    _, report = project.index(reply, *[Reply("")] * 2)
    assert project.purposes() == {f"{name}.py": purpose for name, purpose in kept.items()}
    assert len(report.failures) == 2 - len(kept)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Reads files.", "Reads files."),
        ("  Reads\r\n\tfiles. ", "Reads files."),
        ("\x1b[31mRed\x1b[0m \u202etxt\ud800", "[31mRed[0m txt"),
        ("价格" * 60, "价格" * 60),
        ("价格" * 61, "价格" * 59 + "价…"),
        ("word " * 40, ("word " * 23).strip() + "…"),
        ("", ""),
        (None, ""),
        (["Reads files."], ""),
    ],
)
def test_a_purpose_is_one_short_line(given: object, kept: str) -> None:
    assert one_line(given) == kept


@examples(max_examples=100, deadline=None)
@given(st.text(max_size=400))
def test_a_purpose_can_always_be_shown(text: str) -> None:
    kept = one_line(text)
    assert len(kept) <= MAX_CHARS
    assert not any(unicodedata.category(sign).startswith("C") for sign in kept)
    assert len(kept.splitlines()) <= 1
    assert one_line(kept) == kept
    kept.encode()


def test_what_a_reply_leaves_out_is_asked_about_alone(project: Project) -> None:
    project.write(shelf="def stock(): ...\n")
    model, report = project.index(listing({"file": 2, "purpose": "Stocks."}), describes, AWAY)
    assert [list(shown(ask).values()) for ask in model.asks] == [
        ["cart.py", "shelf.py", "till.py"],
        ["cart.py"],
        ["till.py"],
    ]
    assert project.purposes() == {"cart.py": "About cart.py.", "shelf.py": "Stocks."}
    assert [(failure.path, failure.reason) for failure in report.failures] == [
        ("till.py", "no purpose from the model: no connection")
    ]


def test_a_model_that_cannot_answer_at_all_is_not_asked_about_each(project: Project) -> None:
    project.write(**{f"f{n}": f"x = {n}\n" for n in range(6)})
    model, report = project.index(*[Reply("What a nice file!")] * 2)
    assert [len(shown(ask)) for ask in model.asks] == [8, 1]
    assert {failure.reason for failure in report.failures} == {
        "no purpose from the model: the model said nothing about it"
    }


# Who is asked about, and when -----------------------------------------------------------------------------------------


def test_the_model_is_asked_once_about_each_file(project: Project) -> None:
    model, report = project.index(describes)
    assert project.purposes() == {"cart.py": "About cart.py.", "till.py": "About till.py."}
    assert (len(model.asks), report.for_model.n_purposes, report.failures) == (1, 2, ())
    (ask,) = model.asks
    assert ask.schema is not None
    assert ask.messages[1].content.startswith("File 1: cart.py (python, 1 lines)\nDefines: Cart\n| class Cart: ...\n\n")
    _, report = project.index()
    assert report.for_model == ForModel()


def test_only_a_changed_file_is_asked_about_again(project: Project) -> None:
    project.index(describes)
    project.write(cart="class Basket: ...\n")
    model, _ = project.index(describes)
    assert [shown(ask) for ask in model.asks] == [{"1": "cart.py"}]
    project.write(cart="class Cart: ...\n")
    project.index()  # as before


def test_the_same_file_elsewhere_is_known(project: Project) -> None:
    project.index(describes)
    other = Project(project.root.parent / "other").write(basket="class Cart: ...\n")
    other.index()
    assert other.purposes() == {"basket.py": "About cart.py."}


def test_another_model_or_prompt_is_asked_anew(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.index(describes)
    project.index(describes, key=purpose_key("other"))
    monkeypatch.setattr("codefathom.index.purposes.PROMPT", "Say more.")
    assert purpose_key("scripted:model") != KEY
    model, _ = project.index(describes, key=purpose_key("scripted:model"))
    assert model.asks[0].messages[0].content == "Say more."


def test_nothing_is_asked_about_nothing_or_twice_about_the_same(project: Project) -> None:
    project.write(empty="", blank="\n \n", copy="class Cart: ...\n", __init__="")
    model, report = project.index(describes)
    assert sorted(name for ask in model.asks for name in shown(ask).values()) == ["copy.py", "till.py"]
    assert (report.failures, len(report.added)) == ((), 6)
    assert project.purposes()["cart.py"] == "About copy.py."


def test_no_call_is_large(project: Project) -> None:
    project.workers = 3
    project.write(**{f"f{n:02}": f"x{n} = 1  # {'word ' * 400}\n" * 30 for n in range(30)})
    model, _ = project.index(*[describes] * 10)
    assert all(1 < len(shown(ask)) < 8 for ask in model.asks)
    assert max(len(ask.messages[1].content) for ask in model.asks) < 11_000
    assert len(project.purposes()) == 32


def test_a_file_that_another_process_changes_meanwhile_gets_no_purpose_of_its_old_text(project: Project) -> None:
    project.write(**{f"f{n:02}": f"x = {n}\n" for n in range(20)})

    def changes(ask: Ask) -> Reply:
        project.write(till="def refund(): ...\n")
        with project.opened() as opened:
            list(indexed(opened))
        return describes(ask)

    model, report = project.index(changes, *[describes] * 2)
    assert "till.py" not in [name for ask in model.asks for name in shown(ask).values()]
    assert report.failures == ()
    project.index(describes)
    assert project.purposes()["till.py"] == "About till.py."


# Failures -------------------------------------------------------------------------------------------------------------


def test_a_failure_is_told_and_tried_again_and_the_index_is_whole(project: Project) -> None:
    _, report = project.index(AWAY)
    assert [(failure.path, failure.reason) for failure in report.failures] == [
        ("cart.py", "no purpose from the model: no connection"),
        ("till.py", "no purpose from the model: no connection"),
    ]
    assert (report.added, report.paused) == (("cart.py", "till.py"), "")
    with project.opened() as opened:
        assert opened.views.current
        assert opened.catalog.failures() == []
    _, report = project.index(describes)
    assert report.failures == ()
    assert len(project.purposes()) == 2


def test_a_model_that_is_away_is_not_asked_for_ever(project: Project) -> None:
    project.workers = 2
    project.write(**{f"f{n}": f"x = {n}\n" for n in range(150)})
    model, report = project.index(*[AWAY] * 20)
    assert GIVE_UP_AFTER <= len(model.asks) <= GIVE_UP_AFTER + 1  # two calls at a time
    assert len(report.failures) == 152
    assert report.failures[-1].reason == "no purpose from the model: not asked after 8 calls in a row failed"
    assert report.for_model.n_purposes == sum(len(shown(ask)) for ask in model.asks)


def test_a_run_that_paused_asks_nothing(project: Project) -> None:
    report = IndexReport((), (), (), 0, 0, (), (), 0, 0, 0.0, 1, paused="too many failed")

    def paused() -> Generator[Progress | IndexReport, None, None]:
        yield report

    project.index(AWAY)
    with project.opened() as opened, closing(Cache.open(project.cache_dir)) as cache:
        model = PurposeModel(KEY, ScriptedChat([]), str, 1)
        assert list(add_purposes(paused(), model, opened.catalog, cache)) == [report]


def test_an_interruption_keeps_what_was_said_and_what_was_indexed(project: Project) -> None:
    project.write(**{f"f{n:02}": f"x = {n}\n" for n in range(20)})

    def interrupted(_: Ask) -> Reply:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        project.index(describes, describes, interrupted)
    assert len(project.purposes()) == 16
    with project.opened() as opened:
        assert opened.views.current
        assert len(opened.catalog.documents()) == 22


def test_progress_is_told_and_the_report_comes_last(project: Project) -> None:
    project.write(**{f"f{n:02}": f"x = {n}\n" for n in range(20)})
    events = list(project.events(ScriptedChat([describes] * 3)))
    told = [event.message for event in events if isinstance(event, Progress) and event.phase == "purposes"]
    assert told == ["0 of 22 files", "16 of 22 files", "22 of 22 files"]
    assert [isinstance(event, IndexReport) for event in events] == [False] * (len(events) - 1) + [True]


def test_closing_the_events_lets_go_of_the_index(project: Project) -> None:
    events = project.events(ScriptedChat([]))
    next(events)
    events.close()
    with project.opened() as opened, opened.writing():
        pass  # the lock is free


# By the settings ------------------------------------------------------------------------------------------------------


def with_purposes(model: str = "ollama:m", index: str = "") -> Settings:
    return Settings(llm=LlmSettings(model=model, index=index), index=IndexSettings(purposes=True))


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (with_purposes(), "ollama:m"),
        (with_purposes(index="ollama:small"), "ollama:small"),
        (with_purposes("", "ollama:small"), "ollama:small"),
        (with_purposes(""), "ollama:before"),
        (with_purposes("ollama:now"), "ollama:before"),
        (Settings(llm=LlmSettings(model="ollama:m")), "ollama:m"),
    ],
)
def test_purposes_are_seen_whichever_model_gave_them(project: Project, settings: Settings, name: str) -> None:
    project.index(describes, key=purpose_key(name))
    project.settings = settings
    with project.opened() as opened:
        request = AnswerRequest("where is the sum")
        texts = answer_setup.texts_for(request, OpenedAsker(opened))
        _, access, _ = answer_setup.prepare(request, texts, lambda *_: pytest.fail("nothing is searched"))
        listed = {file.path: file.purpose for file in access.outline([])}
    assert listed == {"cart.py": "About cart.py.", "till.py": "About till.py."}


def test_a_dry_run_counts_what_would_be_sent(project: Project) -> None:
    project.settings = with_purposes("scripted:model")

    def planned() -> ForModel:
        with project.opened() as opened:
            return dry_run(opened.catalog, opened.recipe, opened.without_purpose()).for_model

    assert planned() == ForModel(0, n_tokens([16, 15]), 2)
    project.index(AWAY)
    assert planned().n_purposes == 2
    project.index(describes)
    assert planned() == ForModel()
    project.write(cart="class Basket: ...\n", shelf="", mop="y = 1\n")
    (project.root / "till.py").unlink()
    assert planned().n_purposes == 2
    project.settings = Settings()
    assert planned() == ForModel()


def test_without_purpose_names_no_file_twice(project: Project) -> None:
    project.write(copy="class Cart: ...\n")
    with project.opened() as opened, closing(Cache.open(project.cache_dir)) as cache:
        list(indexed(opened))
        assert sorted(item.path for item in without_purpose(opened.catalog, cache, KEY)) == ["copy.py", "till.py"]


NOTHING_LEAVES = "nothing leaves this machine: no language model is configured"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(index=IndexSettings(purposes=True)), "nothing leaves this machine: no language model is configured"),
        (with_purposes(), "nothing leaves this machine: the language models run on it"),
        (Settings(llm=LlmSettings(index="openai:m")), "nothing leaves this machine: no language model is configured"),
        (
            with_purposes("", "openai:m"),
            "text of indexed files goes to openai:m at https://far.example, secrets masked",
        ),
        (
            Settings(llm=LlmSettings(index="openai:m"), parse=ParseSettings(("llm", "text"))),
            "text of indexed files goes to openai:m at https://far.example, secrets masked",
        ),
        (
            with_purposes("ollama:m", "openai:m"),
            "text of indexed files goes to openai:m at https://far.example, secrets masked",
        ),
        (
            with_purposes("openai:m")._replace(answer=AnswerSettings(mask_secrets=False)),
            "questions and the excerpts they need go to openai:m at https://far.example, secrets included; "
            "text of indexed files goes to openai:m at https://far.example, secrets masked",
        ),
        (
            Settings(embed=EmbedSettings(model="openai:e")),
            "all indexed text and every query go to openai:e at https://far.example, secrets masked",
        ),
        (
            Settings(embed=EmbedSettings(model="openai:e"), answer=AnswerSettings(mask_secrets=False)),
            "all indexed text and every query go to openai:e at https://far.example, secrets included",
        ),
        (
            with_purposes("ollama:m")._replace(embed=EmbedSettings(model="openai:e")),
            "all indexed text and every query go to openai:e at https://far.example, secrets masked",
        ),
        (
            with_purposes("openai:m")._replace(embed=EmbedSettings(model="ollama:e")),
            "questions and the excerpts they need go to openai:m at https://far.example, secrets masked; "
            "text of indexed files goes to openai:m at https://far.example, secrets masked",
        ),
        (
            Settings(llm=LlmSettings(model="openai:m")),
            "questions and the excerpts they need go to openai:m at https://far.example, secrets masked",
        ),
        *(
            (
                Settings(store=StoreSettings(vectors=vectors, url=url)),
                f"all indexed text and the vector of every query go to {vectors} at {said}, secrets masked",
            )
            for vectors, url, said in (
                ("qdrant", "https://me:k@far.example:6333", "https://far.example:6333"),
                ("chroma", "http://far.example:8000", "http://far.example:8000"),
                ("postgres", "postgresql://me@far.example/code", "postgresql://far.example/code"),
                ("postgres", "host=far.example dbname=code", "postgresql://far.example"),
                ("postgres", "", "postgresql://pg.example"),
            )
        ),
        *(
            (Settings(store=StoreSettings(vectors=vectors, url=url)), NOTHING_LEAVES)
            for vectors, url in (
                ("flat", "https://far.example"),
                ("qdrant", ""),
                ("qdrant", "/home/me/qdrant"),
                ("qdrant", "http://localhost:6333"),
                ("postgres", "postgresql:///code"),
                ("postgres", "postgresql://me@127.0.0.1/code"),
            )
        ),
    ],
)
def test_it_is_said_what_leaves_the_machine(project: Project, settings: Settings, said: str) -> None:
    variables = {"OPENAI_BASE_URL": "https://far.example", "OPENAI_API_KEY": "k", "PGHOST": "pg.example"}
    place = Location(
        str(project.root),
        str(project.root / ".fathom"),
        project.cache_dir,
        settings,
        variables,
        str(project.root.parent / "state"),
    )
    assert leaving(place) == said


def test_an_engine_without_a_model_asks_nobody(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_CACHE_DIR", project.cache_dir)
    (project.root / ".fathom").mkdir()
    with Engine.open(str(project.root), settings=with_purposes("")) as engine:
        assert engine.index().for_model == ForModel()
        assert engine.plan().for_model == ForModel()
