"""Models at addresses of their own, in whole processes: who is asked what, what leaves, what it costs, what waits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.test_ask import CLAIM, QUESTION, fathom, shop, sse, surroundings
from tests.fathom import Fathom
from tests.protocols.server import ServedSettings, Turn, serving
from tests.waiting import comes

__all__ = ["shop"]  # a fixture

SELECTED = sse(json.dumps({"file_list": []}))
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def answering() -> Iterator[ServedSettings]:
    with serving(Turn([SELECTED]), Turn([sse(CLAIM)])) as served:
        yield served


@pytest.fixture
def judging() -> Iterator[ServedSettings]:
    with serving(Turn([sse("yes/9")])) as served:
        yield served


def with_judge(served: ServedSettings) -> tuple[str, ...]:
    address = f"{served.base_url.replace('//', '//me:geheim@')}/v1"
    return "--filter-level", "1", "--set", f"llm.judge=openai:small@{address}"


def test_one_server_judges_and_another_answers(shop: Path, answering: ServedSettings, judging: ServedSettings) -> None:
    words = ("ask", "--explain", "--trace", "trace.json", *with_judge(judging), QUESTION)
    ran = fathom(shop, answering, *words)
    assert ran.returncode == 0, ran.stderr
    assert {asked.body["model"] for asked in judging.asked} == {"small"}
    assert [asked.body["model"] for asked in answering.asked] == ["m", "m"]
    assert {asked.path for asked in judging.asked} == {"/v1/chat/completions"}
    assert f"openai:small@{judging.base_url}/v1" in (shop / "trace.json").read_text()
    assert "geheim" not in ran.stdout + ran.stderr + (shop / "trace.json").read_text()


def test_doctor_and_config_name_both_and_no_login(
    shop: Path, answering: ServedSettings, judging: ServedSettings
) -> None:
    fathom(shop, None, "index")
    for words in (("doctor", "--providers"), ("config", "show"), ("config", "show", "--json")):
        ran = fathom(shop, answering, *words, *with_judge(judging)[2:])
        assert ran.returncode == 0, ran.stdout
        assert ran.stdout.count(f"openai:small@{judging.base_url}/v1") == 1
        assert "geheim" not in ran.stdout + ran.stderr


def test_a_login_is_not_kept_with_the_index(shop: Path, judging: ServedSettings) -> None:
    (shop / "ledger.pas").write_text("program ledger;\nbegin\nend.\n")
    address = judging.base_url.replace("//", "//me:geheim@")
    model = ("--set", f"llm.index=openai:m@{address}/v1")
    parsing = ("--set", "parse.chain=treesitter,llm,text", "--set", "index.purposes=true")
    ran = fathom(shop, None, "index", "-v", *model, *parsing)
    sent = str([asked.body for asked in judging.asked])
    assert "program ledger;" in sent
    kept = [path for path in shop.parent.rglob("*") if path.is_file() and b"geheim" in path.read_bytes()]
    assert (kept, "geheim" in ran.stdout + ran.stderr) == ([], False)
    stored = b"".join(path.read_bytes() for path in (shop / ".fathom").rglob("*") if path.is_file())
    assert f"llm:openai:m@{judging.base_url}/v1".encode() in stored


def test_what_leaves_is_said_for_each_address(shop: Path, judging: ServedSettings) -> None:
    remote = ("--set", "llm.model=openai:m@http://me:geheim@models.example/v1")
    ran = fathom(shop, None, "config", "show", *remote, *with_judge(judging)[2:])
    assert "go to openai:m at http://models.example/v1, secrets masked" in ran.stderr
    assert judging.base_url not in ran.stderr
    assert "geheim" not in ran.stdout + ran.stderr


def test_only_what_goes_to_another_machine_is_masked(
    shop: Path, judging: ServedSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "keys.py").write_text(f'TOKEN = "{TOKEN}"\n')
    with serving(Turn([sse(CLAIM)])) as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url)
        model = ("--set", "llm.model=openai:m@http://models.example/v1")
        ran = fathom(shop, None, "ask", "--pin", "keys.py", *model, QUESTION)
        assert ran.returncode == 0, ran.stderr
        assert [asked.path for asked in proxy.asked] == ["http://models.example/v1/chat/completions"]
        assert "TOKEN" in str(proxy.asked[0].body)
        assert TOKEN not in str(proxy.asked[0].body)
    ran = fathom(shop, None, "ask", "--pin", "keys.py", "--set", f"llm.model=openai:m@{judging.base_url}", QUESTION)
    assert TOKEN in str(judging.asked[0].body)


def test_each_model_has_its_price(shop: Path, answering: ServedSettings, judging: ServedSettings) -> None:
    prices = ("--set", "llm.prices=openai:m=200/1000,openai:small=1/10")
    ran = fathom(shop, answering, "ask", "--json", "--trace", "trace.json", *prices, *with_judge(judging), QUESTION)
    costs = {stage["stage"]: stage["cost"] for stage in json.loads((shop / "trace.json").read_text())}
    n_judged = len(judging.asked)
    assert n_judged > 1
    assert (costs["select"], costs["answer"]) == (0.027, 0.027)  # 90 × 200 + 9 × 1000, by the million
    assert costs["judge"] == pytest.approx(n_judged * 180e-6)  # 90 × 1 + 9 × 10
    assert json.loads(ran.stdout)["cost"] == pytest.approx(0.054 + n_judged * 180e-6)
    free = ("--set", "llm.prices=openai:small=0/0", "--set", "llm.prompt_price=200")
    answering.turns[:] = [Turn([SELECTED]), Turn([sse(CLAIM)])]
    ran = fathom(shop, answering, "ask", "--json", *free, *with_judge(judging), QUESTION)
    assert json.loads(ran.stdout)["cost"] == pytest.approx(2 * 0.018)


def test_an_agent_needs_the_price_of_its_own_model(shop: Path, answering: ServedSettings) -> None:
    limited = ("ask", "--agent", "--set", "agent.max_cost=1", "--set")
    ran = fathom(shop, answering, *limited, "llm.prices=openai:other=1/1", QUESTION)
    assert ran.returncode == 2
    assert "agent.max_cost = 1.0 needs the prices of the model" in ran.stderr
    assert "hint: add openai:m=SENT/RECEIVED to llm.prices" in ran.stderr


SLOW = Turn([b"slow down"], 429, {"retry-after": "60"})


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
@pytest.mark.parametrize("words", [("ask", QUESTION), ("index", "--set", "embed.model=openai:m")])
@pytest.mark.parametrize("quiet", [False, True])
def test_a_long_wait_is_said_on_stderr(shop: Path, words: tuple[str, ...], quiet: bool) -> None:
    with serving(SLOW) as served:
        if words[0] == "ask":
            fathom(shop, None, "index")
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [*words, *(["--quiet"] if quiet else [])]
        with Fathom(command, cwd=shop, env=surroundings(shop, served), text=True, **pipes) as process:
            assert process.stderr is not None
            note = "" if quiet else process.stderr.readline()
            assert comes(lambda: served.asked or process.poll() is not None)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            out, rest = process.communicate()
        host = served.base_url.removeprefix("http://")
        assert note == ("" if quiet else f"fathom: waiting 60 s: {host} asks for that (429)\n")
        assert (out, rest, process.returncode) == ("", "fathom: interrupted\n", 130)


def test_files_that_were_not_embedded_are_told_in_one_line(shop: Path) -> None:
    with serving(Turn([b"out of memory"], 500)) as served:
        away = ("--set", "embed.model=openai:m", "--set", "limits.attempts=1", "--set", "embed.batch=1")
        ran = fathom(shop, served, "index", *away)
    failed = [line for line in ran.stdout.splitlines() if line.startswith("failed: ") and "-v" not in line]
    assert len(failed) == 1, ran.stdout
    n_files = len(list((shop).rglob("*.*")))
    assert " files, " in failed[0]
    assert int(failed[0].split()[1]) <= n_files
    assert "not embedded: " in failed[0]
    assert "answered 500: out of memory" in failed[0]
