"""`fathom chat` as a process, against a real server that speaks the protocol of a provider."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.e2e.test_ask import CLAIM, QUESTION, call, fathom, shop, sse, surroundings
from tests.fathom import FATHOM, Fathom
from tests.protocols.server import ServedSettings, Turn, serving
from tests.waiting import LONG_S, Started, is_readable

if sys.platform != "win32":
    import pty

__all__ = ["shop"]  # a fixture
ALONE = json.dumps({"question": "where is price of shop/pricing.py used", "queries": ["price order"]})
FOLLOW_UP = "and where is it used?"


def messages(served: ServedSettings, number: int) -> list[tuple[str, str]]:
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
    assert ran.stderr.count("401") == 1
    failed, answered = (json.loads(line) for line in ran.stdout.splitlines())
    assert "401" in failed["error"]
    assert "error" not in answered
    assert answered["verified_share"] == 0.5
    assert len(messages(served, 1)) == 2  # what failed was not said


def test_a_conversation_of_errors_only_is_one(shop: Path) -> None:
    with serving(Turn([b"no"], 401)) as served:
        assert fathom(shop, served, "chat", stdin=f"{QUESTION}\n{QUESTION}\n").returncode == 2


def test_without_a_model_that_is_said_once(shop: Path) -> None:
    ran = fathom(shop, None, "chat", stdin=f"{QUESTION}\n{QUESTION}\n")
    assert ran.returncode == 0
    assert ran.stdout.count("[shop/pricing.py:") >= 2
    assert ran.stderr.count("FATHOM_LLM__MODEL") == 1
    assert ran.stderr.count("no language model is configured") == 1
    assert ran.stderr.index("indexed 15 files") < ran.stderr.index("no language model is configured")
    assert ran.stderr.count("indexed 15 files") == 1


def test_the_sources_follow_each_answer(shop: Path) -> None:
    with serving(Turn([sse(CLAIM)])) as served:
        ran = fathom(shop, served, "chat", stdin=f"{QUESTION}\n/clear\n{QUESTION}\n/exit\n{QUESTION}\n")
    assert ran.stdout.count("shop/pricing.py:6-8  total_cents\n  not cited: ") == 2


def test_the_stages_of_every_answer_are_told_and_kept(shop: Path) -> None:
    words = ("chat", "--filter-level", "1", "--explain", "--trace", "trace.jsonl")
    with serving(Turn([sse(CLAIM)])) as served:
        for _ in range(2):
            ran = fathom(shop, served, *words, stdin=f"{QUESTION}\n/clear\n{QUESTION}\n")
            assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("the stages of this answer") == 2
    lines = [json.loads(line) for line in (shop / "trace.jsonl").read_text().splitlines()]
    assert [line["question"] for line in lines] == [QUESTION] * 4
    for line in lines:
        assert [stage["stage"] for stage in line["stages"]] == ["search", "select", "judge", "limit", "pack", "answer"]
        assert line["stages"][-1]["usage"] == {"prompt_tokens": 90, "completion_tokens": 9}


def test_an_agent_has_the_conversation_in_mind(shop: Path) -> None:
    final = {"answer": "Summed [shop/pricing.py:6-8].", "confidence": "high", "sources": [], "reasoning": "seen"}
    answer = [call("read_file", file_path="shop/pricing.py"), sse("enough"), sse(json.dumps(final))]
    with serving(*(Turn([turn]) for turn in answer * 2)) as served:
        ran = fathom(shop, served, "chat", "--agent", stdin=f"{QUESTION}\n{FOLLOW_UP}\n")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("Summed [shop/pricing.py:6-8].") == 2
    assert ran.stderr.count('read_file {"file_path": "shop/pricing.py"}') == 2
    assert [role for role, _ in messages(served, 3)] == ["system", "user", "assistant", "user"]
    assert messages(served, 3)[1][1] == QUESTION
    assert "Summed [shop/pricing.py:6-8]." in messages(served, 3)[2][1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--agent",), "an agent needs a language model"),
        (("--trace", "nowhere/trace"), "cannot write 'nowhere/trace'"),
        (("--filter-level", "9"), "--filter-level cannot be"),
    ],
)
def test_what_cannot_be_done_is_said(shop: Path, words: tuple[str, ...], message: str) -> None:
    ran = fathom(shop, None, "chat", *words, stdin=f"{QUESTION}\n")
    assert ran.returncode == 2
    assert message in ran.stderr
    assert "hint: " in ran.stderr


class Terminal:
    """`fathom chat` at a pseudo-terminal: what is typed, and what stands there."""

    def __init__(self, shop: Path) -> None:
        self.master, slave = pty.openpty()
        surrounded = surroundings(shop, None) | {"TERM": "xterm", "INPUTRC": os.devnull}
        command = [*FATHOM, "chat"]
        # A session of its own, whose terminal this is, so that Ctrl-C reaches it.
        self.process = Started(
            [sys.executable, "-c", CONTROLLED, *command],
            cwd=shop,
            env=surrounded,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self.shown = ""

    def until(self, text: str, timeout_s: float = LONG_S) -> str:
        """Wait until a text is shown, and return what stood before it since the last time."""
        deadline = time.monotonic() + timeout_s
        while text not in self.shown:
            assert is_readable(self.master, max(deadline - time.monotonic(), 0)), self.shown
            self.shown += os.read(self.master, 10_000).decode()
        before, _, self.shown = self.shown.partition(text)
        return before

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def interrupt(self) -> None:
        # Python notices a signal that comes between the prompt and the waiting for a key only at the next key.
        time.sleep(0.3)
        self.type("\x03")

    def code(self) -> int:
        return self.process.wait()


CONTROLLED = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
HINT = "press Ctrl-C again, or Ctrl-D, to end the conversation"
at_terminals = pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")


@at_terminals
def test_a_line_is_edited_and_taken_back_from_the_history(shop: Path) -> None:
    pytest.importorskip("readline")
    terminal = Terminal(shop)
    terminal.until("> ")
    terminal.type("learXX\x7f\x7f\x01/c\n")  # two backspaces, then Ctrl-A: to the beginning
    terminal.until("was cleared")
    terminal.until("> ")
    terminal.type("\x1b[A\n")  # the arrow up
    terminal.until("was cleared")
    terminal.until("> ")
    terminal.type("\x04")
    assert terminal.code() == 0
    assert not any("history" in path.name for path in shop.parent.rglob("*"))


@at_terminals
def test_an_interrupted_line_is_dropped_and_the_second_time_ends(shop: Path) -> None:
    terminal = Terminal(shop)
    terminal.until("> ")
    terminal.type("never asked")
    terminal.until("asked")
    terminal.interrupt()
    terminal.until(HINT)
    terminal.until("> ")
    terminal.type("/clear\n")
    terminal.until("was cleared")
    terminal.until("> ")
    terminal.interrupt()  # the first one again: there was a line in between
    terminal.until(HINT)
    terminal.until("> ")
    terminal.interrupt()
    assert terminal.code() == 0
    assert not (shop / ".fathom" / "catalog.db").exists()  # nothing was searched for


@at_terminals
@pytest.mark.parametrize("end", ["\x04", "/quit\n", "/exit\n"])
def test_a_conversation_at_a_terminal_ends_well(shop: Path, end: str) -> None:
    terminal = Terminal(shop)
    assert "/clear clears the conversation, /quit or Ctrl-D ends it" in terminal.until("> ")
    terminal.type(end)
    assert terminal.code() == 0


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_an_interruption_ends_the_answer_and_keeps_the_conversation(shop: Path) -> None:
    words = b'data: {"choices": [{"delta": {"content": "word\\n\\n"}}]}\n\n'
    endless = Turn([words], pause_s=0.01, repeat=100_000)
    with serving(endless, Turn([sse(ALONE)]), Turn([sse(CLAIM)])) as served:
        fathom(shop, served, "index")
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        environment = surroundings(shop, served)
        with Fathom(["chat"], cwd=shop, env=environment, **pipes) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{QUESTION}\n".encode())
            process.stdin.flush()
            assert process.stdout.read(4) == b"word"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(f"{FOLLOW_UP}\n".encode())
        assert served.asked[0].is_closed.wait(LONG_S)
    assert process.returncode == 0
    assert b"stopped" in err
    assert b"Prices are summed [shop/pricing.py:6-8]." in out
    assert messages(served, 2)[1] == ("user", QUESTION)
