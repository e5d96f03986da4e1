"""`fathom -s --rag "…"`: one shell command from a model, alone on stdout, and never run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.test_ask import fathom, shop, sse
from tests.protocols.server import ServedSettings, Turn, serving

__all__ = ["shop"]  # a fixture

TASK = "create a file called proof"


@pytest.fixture
def served() -> Iterator[ServedSettings]:
    with serving(Turn([sse("```sh\n$ touch shop/proof # [1]\n```")])) as running:
        yield running


@pytest.mark.parametrize("words", [["-s", "--rag", TASK], ["--rag", "--shell", TASK], ["ask", "-s", TASK]])
def test_one_command_stands_alone_on_stdout(shop: Path, served: ServedSettings, words: list[str]) -> None:
    ran = fathom(shop, served, *words)
    assert (ran.returncode, ran.stdout) == (0, "touch shop/proof # [1]\n"), ran.stderr
    assert "it was not run" in ran.stderr
    assert not list(shop.rglob("proof"))


def test_the_model_is_asked_for_a_command_and_sees_files(shop: Path, served: ServedSettings) -> None:
    fathom(shop, served, "-s", "--rag", "compute the price of an order")
    messages = served.asked[-1].body["messages"]
    assert "one command for" in messages[0]["content"]
    assert "shop/pricing.py" in messages[-1]["content"]


def test_json_has_the_command_and_what_it_was_written_from(shop: Path, served: ServedSettings) -> None:
    ran = fathom(shop, served, "ask", "--shell", "--json", "compute the price of an order")
    answer = json.loads(ran.stdout)
    assert answer["answer"] == "touch shop/proof # [1]"
    assert any("was not run" in note for note in answer["degraded"])


@pytest.mark.parametrize("reply", ["First do this:\nrm -rf x\nThen that.", "NONE", "```sh\ncd x\nls\n```"])
def test_what_is_no_single_command_is_an_error(shop: Path, reply: str) -> None:
    with serving(Turn([sse(reply)])) as served:
        ran = fathom(shop, served, "-s", "--rag", TASK)
    assert (ran.returncode, ran.stdout.strip()) == (2, "")
    assert "gave no single command" in ran.stderr


def test_a_command_cannot_steer_the_terminal(shop: Path) -> None:
    with serving(Turn([sse("echo \x1b]0;x\x07 \u202e")])) as served:
        ran = fathom(shop, served, "-s", "--rag", TASK)
    assert "\x1b" not in ran.stdout
    assert "\u202e" not in ran.stdout


def test_without_a_model_there_is_no_command(shop: Path) -> None:
    ran = fathom(shop, None, "-s", "--rag", TASK)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "a shell command is written by a language model" in ran.stderr


@pytest.mark.parametrize("other", ["--agent", "--contexts-only"])
def test_it_excludes_what_writes_no_command(shop: Path, served: ServedSettings, other: str) -> None:
    ran = fathom(shop, served, "ask", "-s", other, TASK)
    assert ran.returncode == 2
    assert "cannot be used together" in ran.stderr
