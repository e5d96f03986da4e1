"""A question costs one call unless more is asked for; what costs more says so, and whoever waits sees for what."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_ask import QUESTION, shop, sse, surroundings
from tests.fathom import Fathom, run_fathom
from tests.protocols.server import ServedSettings, Turn, serving
from tests.waiting import comes

from codefathom import Engine
from codefathom.answer.answer_types import AnswerRequest, AnswerStep
from codefathom.answer.tokens import estimate
from codefathom.config.configuration import load_settings

__all__ = ["shop"]  # a fixture
SOURCES = Path(__file__).parents[2] / "src" / "codefathom"
MOST_TOKENS = 10_000


def reply_of(text: str, *, is_ollama: bool) -> bytes:
    if not is_ollama:
        return sse(text)
    end = {"message": {"content": ""}, "done": True}
    return b"".join(json.dumps(part).encode() + b"\n" for part in ({"message": {"content": text}}, end))


def stage_of(body: dict[str, Any]) -> str:
    last = body["messages"][-1]["content"]
    is_grading = "document 1 (" in last
    return "judge" if is_grading else "select" if "the list of files" in last else "answer"


def reply(body: dict[str, Any]) -> bytes:
    text = {
        "select": json.dumps({"file_list": []}),
        "judge": "".join(f"{number}: yes/9\n" for number in range(1, 9)),
        "answer": "It is so [1].",
    }[stage_of(body)]
    return reply_of(text, is_ollama="options" in body)


@pytest.fixture
def model() -> Iterator[ServedSettings]:
    with serving(Turn(reply=reply)) as served:
        yield served


def environment(project: Path, served: ServedSettings) -> dict[str, str]:
    named = surroundings(project, served)
    del named["FATHOM_SELECT__FILTER_LEVEL"]  # what is set by default is what counts here
    return named


def fathom(project: Path, served: ServedSettings, *words: str) -> subprocess.CompletedProcess[str]:
    return run_fathom(*words, cwd=project, env=environment(project, served), text=True)


def sent_tokens(body: dict[str, Any]) -> int:
    return sum(estimate(message["content"]) for message in body["messages"])


@pytest.fixture(scope="module")
def real_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("real")
    shutil.copytree(SOURCES, root / "codefathom_copy", ignore=shutil.ignore_patterns("static", "model", "__pycache__"))
    (root / ".fathom").mkdir()
    return root


@pytest.mark.parametrize("question", ["how are citations checked", "how is an answer stopped", "索引如何更新？"])
def test_a_question_is_one_call_of_at_most_10_000_tokens(
    real_project: Path, model: ServedSettings, question: str
) -> None:
    ran = fathom(real_project, model, "ask", question)
    assert ran.returncode == 0, ran.stderr
    (asked,) = model.asked
    longest_reply = 2_048
    assert 4_000 < sent_tokens(asked.body) <= MOST_TOKENS - longest_reply
    headings = set(re.findall(r"^\[\d+\] (\S+?):\d", asked.body["messages"][-1]["content"], re.MULTILINE))
    assert 3 <= len(headings) <= 8  # files


def test_thorough_says_beforehand_what_it_will_cost(shop: Path, model: ServedSettings) -> None:
    ran = fathom(shop, model, "ask", "--thorough", QUESTION)
    assert ran.returncode == 0, ran.stderr
    stages = [stage_of(asked.body) for asked in model.asked]
    assert set(stages) == {"select", "judge", "answer"}
    said = re.search(r"this answer takes about (\d+) calls of models and ([\d,]+) tokens", ran.stderr)
    assert said is not None, ran.stderr
    assert abs(int(said[1]) - len(stages)) <= 1
    n_tokens = sum(sent_tokens(asked.body) for asked in model.asked)
    assert 0.5 * n_tokens <= int(said[2].replace(",", "")) <= 3 * n_tokens
    assert ran.stderr.index("this answer takes") < ran.stderr.index("citations verified")


def test_a_dry_run_says_what_it_would_cost_and_asks_no_model(shop: Path, model: ServedSettings) -> None:
    fathom(shop, model, "index")
    said = {}
    for words in ((), ("--thorough",)):
        ran = fathom(shop, model, "ask", "--dry-run", *words, QUESTION)
        assert (ran.returncode, ran.stderr) == (0, "")
        said[words] = re.fullmatch(r"this answer takes about (\d+) calls? of models and ([\d,]+) tokens\n", ran.stdout)
        assert said[words] is not None, ran.stdout
        told = json.loads(fathom(shop, model, "ask", "--dry-run", "--json", *words, QUESTION).stdout)
        numbers = [int(number.replace(",", "")) for number in said[words].groups()]
        assert numbers == [told["expected"]["n_calls"], told["expected"]["n_tokens"]]
        assert (told["answer"], told["sources"]) == (ran.stdout.strip(), [])
    assert not model.asked
    assert said[()][1] == "1"
    assert int(said["--thorough",][1]) >= 3
    ran = fathom(shop, model, "ask", "--thorough", QUESTION)
    assert f"this answer takes about {said['--thorough',][1]} calls of models" in ran.stderr


def test_a_dry_run_without_a_model_or_for_an_agent(shop: Path, model: ServedSettings) -> None:
    fathom(shop, model, "index")
    ran = run_fathom(
        "ask",
        "--dry-run",
        QUESTION,
        cwd=shop,
        env={name: value for name, value in environment(shop, model).items() if "LLM" not in name},
        text=True,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "this answer asks no model\n", "")
    ran = fathom(shop, model, "ask", "--agent", "--dry-run", QUESTION)
    assert ran.returncode == 2
    assert "--agent and --dry-run cannot be used together" in ran.stderr
    ran = fathom(shop, model, "ask", "--dry-run", "qzxv wvkj pqrz")
    assert ran.stdout == "this answer asks no model\n"  # nothing answers, which no model is asked


@pytest.mark.parametrize(
    ("words", "stages"),
    [
        (("ask", QUESTION), {"answer"}),
        (("ask", "--filter-level", "1", QUESTION), {"select", "judge", "answer"}),
        (("--rag", QUESTION), {"select", "judge", "answer"}),
        (("--rag", "--filter-level", "0", QUESTION), {"answer"}),
        (("--rag", "--set", "select.filter_level=0", QUESTION), {"answer"}),
    ],
)
def test_who_asks_for_stages_gets_them(
    shop: Path, model: ServedSettings, words: tuple[str, ...], stages: set[str]
) -> None:
    ran = fathom(shop, model, *words)
    assert ran.returncode == 0, ran.stderr
    assert {stage_of(asked.body) for asked in model.asked} == stages


def test_thorough_and_a_level_contradict_each_other(shop: Path, model: ServedSettings) -> None:
    ran = fathom(shop, model, "ask", "--thorough", "--filter-level", "0", QUESTION)
    assert ran.returncode == 2
    assert "--thorough and --filter-level cannot be used together" in ran.stderr


def test_each_step_is_told_with_its_progress(shop: Path, model: ServedSettings) -> None:
    own = {"llm.model": "openai:m", "llm.base_url": f"{model.base_url}/v1", "select.filter_level": 1}
    steps: list[AnswerStep] = []
    with Engine.open(str(shop), settings=load_settings(str(shop), overrides=own)) as engine:
        engine.ask(AnswerRequest(QUESTION, on_step=steps.append))
    assert [*dict.fromkeys(step.phase for step in steps)] == ["search", "plan", "select", "judge", "answer"]
    grading = [step.text for step in steps if step.phase == "judge"]
    assert re.fullmatch(r"grading 0 of \d+ files", grading[0])
    assert re.fullmatch(r"grading (\d+) of \1 files", grading[-1])
    assert re.fullmatch(r"openai:m is reading \d+ files", steps[-1].text)


@pytest.mark.parametrize("words", [("ask", QUESTION), ("ask", "--agent", QUESTION)])
def test_a_model_that_hangs_is_named(shop: Path, words: tuple[str, ...]) -> None:
    with serving(Turn([b""], silent_s=600)) as served:
        fathom(shop, served, "index")
        log = shop.parent / "stderr.txt"
        with (
            log.open("w") as stderr,
            Fathom(words, cwd=shop, env=environment(shop, served), stderr=stderr) as process,
        ):
            assert comes(lambda: "openai:m has not answered for 5 s" in log.read_text() or process.poll() is not None)
            assert process.poll() is None
            process.kill()


@pytest.mark.parametrize("words", [("--thorough",), ("--filter-level", "0")])
def test_ollama_keeps_one_window_for_all_calls_of_a_question(
    shop: Path, model: ServedSettings, words: tuple[str, ...]
) -> None:
    turns = f"{QUESTION}\nand why is that so\n"
    own = {**environment(shop, model), "OLLAMA_HOST": model.base_url}
    ran = run_fathom("chat", "--model", "ollama:m", *words, cwd=shop, env=own, input=turns, text=True)
    assert ran.returncode == 0, ran.stderr
    windows = [asked.body["options"].get("num_ctx") for asked in model.asked]
    assert len(windows) >= 2
    assert len(set(windows)) == 1
    assert windows[0] >= 8_192
