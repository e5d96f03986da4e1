"""`fathom ask` as a process, against a real server that speaks the protocol of a provider."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fathom import Fathom, run_fathom
from tests.protocols.server import ServedSettings, Turn, serving
from tests.waiting import LONG_S, comes

SHOP = Path(__file__).parent.parent / "repos" / "shop"
QUESTION = "how is the price of an order computed"
CLAIM = "Prices are summed [shop/pricing.py:6-8]. And taxed [shop/tax.py:1-3]."


def sse(text: str, **parts: Any) -> bytes:
    events = [{"choices": [{"delta": {"content": word + " ", **parts}}]} for word in text.split(" ")]
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 90, "completion_tokens": 9}}
    return "".join(f"data: {json.dumps(event)}\n\n" for event in [*events, end]).encode() + b"data: [DONE]\n\n"


def call(name: str, /, **arguments: Any) -> bytes:
    function = {"name": name, "arguments": json.dumps(arguments)}
    events = [
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": function}]}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + b"data: [DONE]\n\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    return tmp_path / "shop"


def surroundings(shop: Path, served: ServedSettings | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "OPENAI_", "OLLAMA_"))}
    own = {"FATHOM_CACHE_DIR": str(shop.parent / "cache"), "FATHOM_CONFIG": str(shop.parent / "none.toml")}
    model = {"FATHOM_LLM__MODEL": "openai:m", "OPENAI_BASE_URL": f"{served.base_url}/v1"} if served else {}
    model["FATHOM_SELECT__FILTER_LEVEL"] = "0"  # one call a question, unless a test asks for more
    return {**kept, **own, **model}


def fathom(shop: Path, served: ServedSettings | None, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return run_fathom(*words, cwd=shop, env=surroundings(shop, served), input=stdin, text=True)


@pytest.fixture
def answering() -> Iterator[ServedSettings]:
    with serving(Turn([sse(CLAIM)])) as served:
        yield served


def test_an_answer_in_words(shop: Path, answering: ServedSettings) -> None:
    ran = fathom(shop, answering, "ask", QUESTION)
    assert ran.returncode == 0, ran.stderr
    text, _, sources = ran.stdout.partition("\nsources:\n")
    assert text == "Prices are summed [shop/pricing.py:6-8]. And taxed [cited place not found]. \n"
    assert re.match(r"  \[\d] shop/pricing\.py:6-8  total_cents\n  not cited: .*\bshop/orders\.py", sources)
    assert "1 citation could not be verified and was removed" in ran.stderr
    assert "1 of 2 citations verified, openai:m, 99 tokens" in ran.stderr


def test_an_answer_as_json(shop: Path, answering: ServedSettings) -> None:
    answer = json.loads(fathom(shop, answering, "ask", "--json", QUESTION).stdout)
    assert [(item["path"], item["start_line"], item["end_line"]) for item in answer["citations"]] == [
        ("shop/pricing.py", 6, 8)
    ]
    assert (answer["verified_share"], len(answer["dropped_citations"])) == (0.5, 1)
    assert answer["usage"] == {"prompt_tokens": 90, "completion_tokens": 9}
    assert (answer["model"], answer["stale"]) == ("openai:m", False)


def test_what_is_sent_holds_the_sources_and_no_secret(shop: Path, answering: ServedSettings) -> None:
    key = "AKIA" + "Q3EXAMPLE7HBNDCA"  # in two parts, so that it is none here
    (shop / "shop" / "pricing.py").write_text(f'"""Prices of orders."""\naws_key = "{key}"\n\ndef price(order): ...\n')
    environment = {
        **surroundings(shop, answering),
        "OPENAI_BASE_URL": answering.base_url.replace("127.0.0.1", "localhost"),
    }
    run_fathom("ask", QUESTION, cwd=shop, env=environment)
    sent = json.dumps(answering.asked[0].body)
    assert "shop/pricing.py" in sent
    assert key in sent  # a model on this machine may see it

    answering.asked.clear()
    # The same address under a name that is not known to be this machine's.
    answering.base_url = answering.base_url.replace("127.0.0.1", "127.1")
    fathom(shop, answering, "ask", QUESTION)
    assert key not in json.dumps(answering.asked[0].body)


def test_a_text_from_stdin_is_a_source(shop: Path, answering: ServedSettings) -> None:
    fathom(shop, answering, "ask", "--doc", "-", "what could this break?", stdin="-old line\n+new line\n")
    assert "+new line" in answering.asked[0].body["messages"][-1]["content"]


def test_a_trace_names_every_stage(shop: Path, answering: ServedSettings) -> None:
    fathom(shop, answering, "ask", "--trace", "trace.json", QUESTION)
    trace = json.loads((shop / "trace.json").read_text())
    assert [stage["stage"] for stage in trace] == ["search", "limit", "pack", "answer"]
    assert [stage["n_in"] for stage in trace] == [len(stage["input"]) for stage in trace]
    search, _, pack, answer = trace
    assert search["input"] == [QUESTION]
    assert pack["output"] == answer["input"]
    assert any(place.startswith("shop/pricing.py:1-") for place in pack["output"])
    assert answer["output"] == [f"{CLAIM} "]  # as the model wrote it, unchecked
    assert answer["usage"] == {"prompt_tokens": 90, "completion_tokens": 9}
    assert [stage["cost"] for stage in trace] == [None] * 4


PRICES = ("--set", "llm.prompt_price=200", "--set", "llm.completion_price=1000")


def test_with_prices_the_cost_is_told(shop: Path, answering: ServedSettings) -> None:
    ran = fathom(shop, answering, "ask", "--json", *PRICES, "--trace", "trace.json", QUESTION)
    assert json.loads(ran.stdout)["cost"] == 0.027  # 90 × 200 + 9 × 1000, by the million
    assert [stage["cost"] for stage in json.loads((shop / "trace.json").read_text())] == [None, None, None, 0.027]
    assert ran.stderr.endswith("openai:m, 99 tokens, cost 0.0270\n")


def test_without_prices_no_cost_is_told(shop: Path, answering: ServedSettings) -> None:
    ran = fathom(shop, answering, "ask", "--json", QUESTION)
    assert json.loads(ran.stdout)["cost"] is None
    assert ran.stderr.endswith("openai:m, 99 tokens\n")


def table(stderr: str) -> list[str]:
    return stderr.partition("fathom: the stages of this answer\n")[2].splitlines()


def test_the_stages_are_explained_after_the_answer(shop: Path, answering: ServedSettings) -> None:
    ran = fathom(shop, answering, "ask", "--explain", *PRICES, QUESTION)
    assert ran.stdout.startswith("Prices are summed [shop/pricing.py:6-8]. And taxed [cited place not found]. \n")
    head, *rows = table(ran.stderr)
    assert head.split() == ["stage", "ms", "in", "out", "tokens", "cost", "detail"]
    assert [row.split()[0] for row in rows] == ["search", "limit", "pack", "answer"]
    end_of_tokens = head.index("tokens") + len("tokens")
    assert rows[-1][:end_of_tokens].endswith(" 90+9")
    assert rows[-1][end_of_tokens:] == "  0.0270  1 citations dropped"
    assert rows[0][end_of_tokens:] == ""


def test_quiet_explains_nothing(shop: Path, answering: ServedSettings) -> None:
    assert fathom(shop, answering, "ask", "-q", "--explain", QUESTION).stderr == ""


def test_the_agent_looks_and_then_answers(shop: Path) -> None:
    final = {
        "answer": "Prices are summed [shop/pricing.py:6-8].",
        "confidence": "high",
        "sources": [{"path": "shop/pricing.py", "start_line": 6, "end_line": 8}],
        "reasoning": "it says so",
    }
    turns = [call("read_file", file_path="shop/pricing.py"), sse("I have seen enough."), sse(json.dumps(final))]
    with serving(*(Turn([turn]) for turn in turns)) as served:
        ran = fathom(shop, served, "ask", "--agent", QUESTION)
    assert ran.returncode == 0, ran.stderr
    assert "Prices are summed [shop/pricing.py:6-8]." in ran.stdout
    assert 'read_file {"file_path": "shop/pricing.py"}' in ran.stderr
    assert "confidence high" in ran.stderr


def test_the_agent_is_held_to_what_it_may_cost(shop: Path) -> None:
    final = {"answer": "Summed.", "confidence": "low", "sources": [], "reasoning": "I may not look any more."}
    # The prompt alone costs more than that, and then the answer is demanded.
    words = ("--agent", "--json", "--explain", "--trace", "trace.json", *PRICES, "--set", "agent.max_cost=0.001")
    with serving(Turn([call("read_file", file_path="shop/pricing.py")]), Turn([sse(json.dumps(final))])) as served:
        ran = fathom(shop, served, "ask", *words, QUESTION)
    assert ran.returncode == 0, ran.stderr
    assert len(served.asked) == 2
    answer = json.loads(ran.stdout)
    assert "the agent reached its limit of cost" in answer["degraded"]
    assert answer["cost"] == 0.027  # of the second call; the first one counted no tokens
    trace = json.loads((shop / "trace.json").read_text())
    assert [stage["stage"] for stage in trace] == ["round 1", "read_file", "answer"]
    assert [row.split()[0] for row in table(ran.stderr)] == ["stage", "round", "read_file", "answer"]


def test_without_a_model_there_are_excerpts(shop: Path) -> None:
    ran = fathom(shop, None, "ask", QUESTION)
    assert ran.returncode == 0
    assert "[shop/pricing.py:" in ran.stdout
    assert "FATHOM_LLM__MODEL" in ran.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ask", "--agent", "x"), "an agent needs a language model"),
        (("ask", "--agent", "--model", "ollama:m", "--set", "agent.max_cost=1", "x"),
          "agent.max_cost = 1.0 needs the prices of the model"),
        (("ask", "--set", "llm.prompt_price=-1", "x"), "llm.prompt_price cannot be '-1'"),
        (("ask", "--pin", "shop/none.py", "x"), "no such path in the project: 'shop/none.py'"),
        (("ask", "--doc", "none.txt", "x"), "cannot read 'none.txt'"),
        (("ask", "--model", "gpt-5", "x"), "llm.model = 'gpt-5' does not name a provider and a model"),
        (("ask", "--model", "openai:gpt-5", "x"), "openai:gpt-5 needs a key"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(shop: Path, words: tuple[str, ...], message: str) -> None:
    ran = fathom(shop, None, *words)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert "hint: " in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_model_that_fails_leaves_excerpts_and_is_an_error(shop: Path) -> None:
    away = ("--set", "llm.base_url=http://127.0.0.1:9", "--set", "limits.attempts=1", "--model", "ollama:m")
    for words in ((), ("--json",)):
        ran = fathom(shop, None, "ask", *away, *words, QUESTION)
        assert ran.returncode == 2
        assert "[shop/pricing.py:" in ran.stdout
        assert ran.stderr.count("http://127.0.0.1:9 cannot be reached") == 1
    assert "cannot be reached" in fathom(shop, None, "ask", "-q", *away, QUESTION).stderr


def test_words_appear_while_the_model_writes_them(shop: Path) -> None:
    # One paragraph without an end: what waits for its end shows nothing.
    words = [
        b'data: {"choices": [{"delta": {"content": "%s "}}]}\n\n' % word
        for word in (b"so", b"it", b"[shop/tax.py:1-3]", b"is")
    ]
    with serving(Turn(words, pause_s=0.01, repeat=100_000)) as served:
        fathom(shop, served, "index")
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with Fathom(["ask", QUESTION], cwd=shop, env=surroundings(shop, served), **pipes) as process:
            assert process.stdout is not None
            expected = b"so it [cited place not found] is so it"
            assert process.stdout.read(len(expected)) == expected
            process.kill()


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_an_interruption_ends_the_models_call(shop: Path) -> None:
    words = b'data: {"choices": [{"delta": {"content": "word\\n\\n"}}]}\n\n'
    with serving(Turn([words], pause_s=0.01, repeat=100_000)) as served:
        fathom(shop, served, "index")
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environment = surroundings(shop, served)
        with Fathom(["ask", QUESTION], cwd=shop, env=environment, **pipes) as process:
            assert process.stdout is not None
            assert process.stdout.read(4) == b"word"
            process.send_signal(signal.SIGINT)
            process.communicate()
            assert process.returncode == 130
            assert served.asked[0].is_closed.wait(LONG_S)


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_an_interruption_does_not_wait_for_calls_at_the_same_time(shop: Path) -> None:
    selected = sse(json.dumps({"file_list": []}))
    words = ("ask", "--filter-level", "1", QUESTION)
    with serving(Turn([selected]), Turn([b""], silent_s=600)) as served:
        fathom(shop, served, "index")
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environment = surroundings(shop, served)
        with Fathom(words, cwd=shop, env=environment, **pipes) as process:
            # Two judgements are waited for.
            assert comes(lambda: len(served.asked) >= 3 or process.poll() is not None)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            process.communicate()
            assert process.returncode == 130


def test_doctor_asks_every_model_for_one_word(shop: Path, answering: ServedSettings) -> None:
    fathom(shop, answering, "index")
    ran = fathom(shop, answering, "doctor", "--providers")
    assert ran.returncode == 0, ran.stdout
    assert "model for answer, select, judge, excerpt, agent" in ran.stdout
    assert "openai:m answered in" in ran.stdout
    assert "nothing leaves this machine" in ran.stdout
    assert len(answering.asked) == 1


def test_doctor_tells_which_model_does_not_answer(shop: Path) -> None:
    with serving(Turn([b"no such model"], 404)) as served:
        ran = fathom(shop, served, "doctor", "--providers")
    assert ran.returncode == 1
    assert "answered 404: no such model" in ran.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "nothing leaves this machine: no language model is configured"),
        (("--set", "llm.model=ollama:m"), "nothing leaves this machine: the language models run on it"),
        (
            ("--set", "llm.model=ollama:m", "--set", "llm.base_url=http://10.1.2.3:11434"),
            "questions and the excerpts they need go to ollama:m at http://10.1.2.3:11434, secrets masked",
        ),
    ],
)
def test_the_settings_tell_what_leaves_the_machine(shop: Path, words: tuple[str, ...], expected: str) -> None:
    assert expected in fathom(shop, None, "config", "show", *words).stderr
