"""`fathom ask` with a server that fails: what there is so far is kept, and the exit code says that it is not all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.e2e.test_ask import CLAIM, QUESTION, call, fathom, shop, sse, surroundings
from tests.fathom import run_fathom
from tests.protocols.server import Turn, serving

__all__ = ["shop"]

STAND_IN = "The model failed before its answer was whole. The best excerpts:\n\n1. "
BEGUN = sse(CLAIM).partition(b"And")[0].rpartition(b"data")[0]
REFUSED = Turn([b'{"error": {"message": "wrong key"}}'], 401)


def test_a_server_that_dies_midway_leaves_what_it_wrote_and_excerpts(shop: Path) -> None:
    with serving(Turn([BEGUN], reset="middle")) as served:
        ran = fathom(shop, served, "ask", "--json", "--trace", "trace.json", QUESTION)
    assert ran.returncode == 2
    answer = json.loads(ran.stdout)
    assert answer["answer"].startswith(f"Prices are summed [shop/pricing.py:6-8]. \n\n{STAND_IN}")
    assert answer["error"] in answer["degraded"]
    assert "was lost" in answer["error"]
    assert ran.stderr.count("was lost") == 1
    assert (answer["model"], answer["verified_share"]) == ("openai:m", 1.0)
    *_, stage = json.loads((shop / "trace.json").read_text())
    (asked,) = stage["calls"]
    assert asked["reply"] == "Prices are summed [shop/pricing.py:6-8]. "
    assert "was lost" in asked["problem"]
    assert asked["prompt"][-1]["text"].endswith(QUESTION)


@pytest.mark.parametrize("turn", [REFUSED, Turn([sse("")]), Turn([b"<html>Welcome</html>"]), Turn([b"data: }{\n\n"])])
def test_without_a_word_of_the_model_there_are_excerpts(shop: Path, turn: Turn) -> None:
    with serving(turn) as served:
        ran = fathom(shop, served, "ask", QUESTION)
    assert ran.returncode == 2, ran.stderr
    assert ran.stdout.startswith(STAND_IN)
    assert re.search(r"^1\. .*\[shop/\w+\.py:\d+-\d+\]", ran.stdout, re.MULTILINE)
    assert ran.stderr.count("the answering model failed: ") == 1
    assert "Traceback" not in ran.stderr


def test_one_cause_is_told_once_for_all_models(shop: Path) -> None:
    with serving(REFUSED) as served:
        ran = fathom(shop, served, "ask", "--filter-level", "1", "--json", QUESTION)
    answer = json.loads(ran.stdout)
    assert answer["error"].startswith("the selecting, judging and answering models failed: http://")
    assert answer["error"] in answer["degraded"]
    assert "OPENAI_API_KEY" in answer["hint"]
    assert (answer["confidence"] <= 0.3, answer["label"]) == (True, "low")
    assert ran.stderr.count("wrong key") == 1
    assert ran.stderr.rstrip().endswith(f"  hint: {answer['hint']}")


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ("20000", []),
        ("600", ["story.txt does not fit into the context: the model was shown only parts of it"]),
    ],
)
def test_a_document_that_does_not_fit_is_told(shop: Path, window: str, said: list[str]) -> None:
    lines = "\n".join(f"order {number} has a price that is computed by hand" for number in range(300))
    (shop.parent / "story.txt").write_text(lines)
    document = str(shop.parent / "story.txt")
    with serving(Turn([sse(CLAIM)])) as served:
        ran = fathom(shop, served, "ask", "--doc", document, "--set", f"context.window={window}", "--json", QUESTION)
    told = [problem for problem in json.loads(ran.stdout)["degraded"] if "fit" in problem]
    assert told == [f"{shop.parent}/{problem}" for problem in said]
    assert all(ran.stderr.count(problem) == 1 for problem in said)


@pytest.mark.parametrize(
    ("finish", "label"),
    [("stop", "high"), ("length", "low"), ("content_filter", "low")],
)
def test_an_answer_that_is_not_whole_is_not_sure(shop: Path, finish: str, label: str) -> None:
    claim = sse("Prices are summed [shop/pricing.py:6-8].").replace(b'"stop"', json.dumps(finish).encode())
    with serving(Turn([claim])) as served:
        answer = json.loads(fathom(shop, served, "ask", "--json", "@shop/pricing.py total_cents of items").stdout)
    assert answer["verified_share"] == 1.0
    assert (answer["label"], answer["confidence"] > 0.3) == (label, label == "high")


def test_without_a_model_what_was_given_is_not_read(shop: Path) -> None:
    ran = fathom(shop, None, "ask", "--pin", "README.md", "--json", QUESTION)
    (said,) = [problem for problem in json.loads(ran.stdout)["degraded"] if "given with the question" in problem]
    assert said in ran.stderr
    assert "given with the question" not in fathom(shop, None, "ask", QUESTION).stderr


def test_an_agent_whose_model_fails_leaves_what_it_saw(shop: Path) -> None:
    with serving(Turn([call("read_file", file_path="shop/pricing.py")]), REFUSED) as served:
        ran = fathom(shop, served, "ask", "--agent", "--json", "--trace", "trace.json", QUESTION)
    assert ran.returncode == 2, ran.stderr
    answer = json.loads(ran.stdout)
    assert answer["answer"].endswith("- [shop/pricing.py:1-13]\n")
    assert "wrong key" in answer["error"]
    assert answer["model"] == ""
    trace = json.loads((shop / "trace.json").read_text())
    assert [(stage["stage"], stage["n_calls"]) for stage in trace] == [
        ("round 1", 1),
        ("read_file", 0),
        ("round 2", 1),
        ("answer", 1),
    ]


def test_an_agent_whose_model_never_answers_leaves_excerpts(shop: Path) -> None:
    with serving(REFUSED) as served:
        ran = fathom(shop, served, "ask", "--agent", QUESTION)
        assert len(served.asked) == 1
    assert ran.returncode == 2
    assert ran.stdout.startswith(STAND_IN)
    assert "OPENAI_API_KEY" in ran.stderr  # what to do


def test_a_trace_holds_neither_keys_nor_what_was_masked(shop: Path) -> None:
    key = "AKIA" + "Q3EXAMPLE7HBNDCA"  # in two parts, so that it is none here
    own = "sk-own-key-of-the-user-0123456789"
    (shop / "shop" / "pricing.py").write_text(f'"""Prices of orders."""\naws_key = "{key}"\n\ndef price(order): ...\n')
    echo = Turn([json.dumps({"error": f"wrong key {own}"}).encode()], 403)
    with serving(Turn([sse(json.dumps({"file_list": []}))]), Turn([sse("1: yes/9")]), echo) as served:
        # The same address under a name that is not known to be this machine's.
        served.base_url = served.base_url.replace("127.0.0.1", "127.1")
        more = ("--filter-level", "1", "--set", "limits.min_interval_ms=0", "--trace", "trace.json")
        environment = {**surroundings(shop, served), "OPENAI_API_KEY": own}
        ran = run_fathom("ask", *more, f"{QUESTION} with {key}", cwd=shop, env=environment)
    assert ran.returncode == 2
    trace = (shop / "trace.json").read_text()
    assert "masked" in trace
    assert key not in trace
    assert own not in trace


def test_a_silent_judge_does_not_hold_the_trace_back(shop: Path) -> None:
    selected, silent = Turn([sse(json.dumps({"file_list": []}))]), Turn([b""], silent_s=3_600)
    with serving(selected, silent) as served:
        words = ("--filter-level", "1", "--set", "llm.read_timeout_s=0.3", "--trace", "trace.json")
        ran = fathom(shop, served, "ask", *words, QUESTION)
    assert ran.returncode == 2
    calls = [call for stage in json.loads((shop / "trace.json").read_text()) for call in stage["calls"]]
    assert sum("did not answer for 0.3 s" in call["problem"] for call in calls) > 1
