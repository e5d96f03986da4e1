"""`fathom chat` as a process, against a real server that speaks the protocol of a provider."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.e2e.test_ask import CLAIM, FATHOM, QUESTION, fathom, shop, sse, surroundings
from tests.protocols.server import Served, Turn, serving

__all__ = ["shop"]  # a fixture
ALONE = json.dumps({"question": "where is price of shop/pricing.py used", "queries": ["price order"]})
FOLLOW_UP = "and where is it used?"


def messages(served: Served, number: int) -> list[tuple[str, str]]:
    return [(turn["role"], turn["content"]) for turn in served.asked[number].body["messages"]]


def test_a_follow_up_is_searched_by_itself_and_answered_in_the_conversation(shop: Path) -> None:
    with serving(Turn([sse(CLAIM)]), Turn([sse(ALONE)]), Turn([sse("In orders [shop/pricing.py:6-8].")])) as served:
        ran = fathom(shop, served, "chat", stdin=f"{QUESTION}\n\n{FOLLOW_UP}\n/quit\nnever asked\n")
    assert ran.returncode == 0, ran.stderr
    assert "Prices are summed [shop/pricing.py:6-8]." in ran.stdout
    assert "In orders [shop/pricing.py:6-8]." in ran.stdout
    assert "> " not in ran.stderr
    assert len(served.asked) == 3
    assert "You prepare a search" in messages(served, 1)[0][1]
    _, first, answer, last = messages(served, 2)
    assert first == ("user", QUESTION)
    assert answer[1].startswith("Prices are summed [shop/pricing.py:6-8].")
    assert last[1].endswith(FOLLOW_UP)


def test_clear_forgets(shop: Path) -> None:
    with serving(Turn([sse(CLAIM)])) as served:
        fathom(shop, served, "chat", stdin=f"{QUESTION}\n/clear\n{QUESTION}\n")
    assert [len(messages(served, number)) for number in range(len(served.asked))] == [2, 2]


def test_an_error_is_told_and_the_conversation_goes_on(shop: Path) -> None:
    with serving(Turn([b"no"], 401), Turn([sse(CLAIM)])) as served:
        ran = fathom(shop, served, "chat", "--json", stdin=f"{QUESTION}\n{QUESTION}\n")
    assert ran.returncode == 0
    assert "401" in ran.stderr
    assert [json.loads(line)["verified_share"] for line in ran.stdout.splitlines()] == [0.5]


def test_a_conversation_of_errors_only_is_one(shop: Path) -> None:
    with serving(Turn([b"no"], 401)) as served:
        assert fathom(shop, served, "chat", stdin=f"{QUESTION}\n{QUESTION}\n").returncode == 2


def test_without_a_model_that_is_said_once(shop: Path) -> None:
    ran = fathom(shop, None, "chat", stdin=f"{QUESTION}\n{QUESTION}\n")
    assert ran.returncode == 0
    assert ran.stdout.count("[shop/pricing.py:") >= 2
    assert ran.stderr.count("FATHOM_LLM__MODEL") == 1
    assert ran.stderr.count("no language model is configured") == 1


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_an_interruption_ends_the_answer_and_keeps_the_conversation(shop: Path) -> None:
    words = b'data: {"choices": [{"delta": {"content": "word\\n\\n"}}]}\n\n'
    endless = Turn([words], pause_s=0.01, repeat=100_000)
    with serving(endless, Turn([sse(ALONE)]), Turn([sse(CLAIM)])) as served:
        fathom(shop, served, "index")
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        environment = surroundings(shop, served)
        with subprocess.Popen([*FATHOM, "chat"], cwd=shop, env=environment, **pipes) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{QUESTION}\n".encode())
            process.stdin.flush()
            assert process.stdout.read(4) == b"word"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(f"{FOLLOW_UP}\n".encode(), timeout=20)
        assert served.asked[0].is_closed.wait(timeout=10)
    assert process.returncode == 0
    assert b"stopped" in err
    assert b"Prices are summed [shop/pricing.py:6-8]." in out
    assert messages(served, 2)[1] == ("user", QUESTION)
