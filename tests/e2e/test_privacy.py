"""What a remote model is sent holds no secret, whatever way it takes; and a repository cannot change that."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_ask import QUESTION, call, fathom, shop, sse
from tests.protocols.server import ServedSettings, Turn, serving

from codefathom.testing import FakeEmbedder, rows_of

__all__ = ["shop"]  # a fixture

_SIGNS = string.ascii_letters + string.digits + "+/"
KEY = ["".join(random.Random(line).choices(_SIGNS, k=64)) for line in range(34)]
PEM = ["-----BEGIN RSA PRIVATE KEY-----", *KEY, "-----END RSA PRIVATE KEY-----"]
TOKEN = "ghp_" + "a1B2" * 9
CLAIM = sse("It is there [1].")


@pytest.fixture
def secretive(shop: Path) -> Path:
    block = "\n".join(PEM)
    (shop / "keys.py").write_text(
        f'"""How the price of an order is signed."""\n\nKEY = """{block}\n"""\nT = "{TOKEN}"\n'
    )
    return shop


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedSettings]:
    """A server that is taken for one on another machine: a proxy stands for the way there."""
    with serving(Turn([CLAIM])) as served:
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, served.base_url)
        served.proxy, served.base_url = served.base_url, "http://models.example"  # type: ignore[attr-defined]
        yield served


def leaked(served: ServedSettings) -> list[str]:
    sent = json.dumps([asked.body for asked in served.asked])
    assert served.asked
    return [line for line in (*KEY, TOKEN) if line in sent]


@pytest.mark.parametrize(
    "words",
    [
        ("--pin", "keys.py"),
        ("--pin", "keys.py", "--set", "context.window=900"),
        ("--pin", "keys.py", "--filter-level", "1"),
        ("--doc", "keys.py"),
        ("--agent", "--doc", "keys.py", "--set", "context.window=900"),
    ],
    ids=" ".join,
)
def test_an_answer_sends_no_secret(secretive: Path, remote: ServedSettings, words: tuple[str, ...]) -> None:
    ran = fathom(secretive, remote, "ask", *words, QUESTION)
    assert ran.returncode == 0, ran.stderr
    assert "masked" in json.dumps([asked.body for asked in remote.asked], ensure_ascii=False)
    assert leaked(remote) == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"file_path": "keys.py"}),
        ("read_file", {"file_path": "keys.py", "start_line": 10, "end_line": 14}),
        ("search_code", {"question": "how the price of an order is signed"}),
        ("find_symbol", {"name": "KEY"}),
    ],
)
def test_an_agents_tools_show_no_secret(
    secretive: Path, remote: ServedSettings, tool: str, arguments: dict[str, Any]
) -> None:
    final = sse(json.dumps({"answer": "So.", "confidence": 0.5, "sources": [], "reasoning": ""}))
    remote.turns[:] = [Turn([call(tool, **arguments)]), Turn([final])]
    ran = fathom(secretive, remote, "ask", "--agent", QUESTION)
    assert ran.returncode in (0, 1), ran.stderr
    assert "keys.py" in json.dumps(remote.asked[1].body["messages"][-1])
    assert leaked(remote) == []


def test_a_quotation_of_what_was_masked_holds(secretive: Path, remote: ServedSettings) -> None:
    remote.turns[:] = [Turn([sse('The token is `T = "«masked: GitHub token»"` [keys.py:40-40].')])]
    ran = fathom(secretive, remote, "ask", "--json", "--pin", "keys.py", QUESTION)
    assert json.loads(ran.stdout)["verified_share"] == 1.0


def test_embeddings_send_no_secret(secretive: Path, remote: ServedSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(body: dict[str, Any]) -> bytes:
        return json.dumps({"embeddings": rows_of(FakeEmbedder().embed(body["input"], "document"))}).encode()

    remote.turns[:] = [Turn(reply=said)]
    words = ("--set", "embed.model=ollama:m", "--set", f"embed.base_url={remote.base_url}")
    ran = fathom(secretive, None, "index", "--set", "chunk.max_lines=15", *words)
    assert ran.returncode == 0, ran.stderr
    assert leaked(remote) == []


@pytest.mark.parametrize(
    "settings",
    [
        "[answer]\nmask_secrets = false",
        '[llm]\nmodel = "openai:m"',
        *(f'[llm]\n{role} = "openai:m"' for role in ("index", "select", "judge", "excerpt", "answer", "agent")),
        '[llm]\nbase_url = "http://models.example"',
        '[embed]\nbase_url = "http://models.example"',
        "[index]\npurposes = true",
        '[embed]\nmodel = "openai:m"',
    ],
)
def test_a_repository_cannot_decide_what_is_sent_where(shop: Path, settings: str) -> None:
    (shop / "fathom.toml").write_text(settings)
    ran = fathom(shop, None, "ask", QUESTION)
    assert ran.returncode == 2
    assert "the file of a project must not" in ran.stderr


def test_what_goes_where_is_said_without_a_login(shop: Path) -> None:
    address = ("--set", "llm.base_url=http://user:geheim@models.example/v1")
    ran = fathom(shop, None, "config", "show", "--set", "llm.model=openai:m", *address)
    assert "go to openai:m at http://models.example/v1" in ran.stderr
    assert "geheim" not in ran.stderr + ran.stdout


@pytest.mark.parametrize("sign", ["\x1b]52;c;eA==\x07", "\x1b[2J", "\x9b31m", "\u202e"])
def test_what_a_model_writes_does_not_steer_the_terminal(shop: Path, sign: str) -> None:
    with serving(Turn([sse(f"Prices {sign} are summed [shop/pricing.py:6-8].")])) as served:
        ran = fathom(shop, served, "ask", QUESTION)
    assert "are summed [shop/pricing.py:6-8]" in ran.stdout
    assert not any(steering in ran.stdout for steering in "\x1b\x9b\x07\u202e")
    with serving(Turn([f'{{"error": "{sign}"}}'.encode()], 400)) as served:
        assert not any(steering in fathom(shop, served, "ask", QUESTION).stderr for steering in "\x1b\x9b\x07\u202e")
