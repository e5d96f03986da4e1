"""--max-tokens and max_tokens: what is printed never has more tokens, the best comes first, and the rest is told."""

from __future__ import annotations

import io
import json
import random
import re
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.answer.tokens import estimate
from codefathom.cli import main
from codefathom.cli.options import COMMANDS as COMMAND_TABLE

WORDS = ("price", "order", "retry", "backoff", "größe", "价格", "x" * 60, "_", "pay")
COMMANDS = (
    ("search", "price of an order"),
    ("search", "--format", "path", "-n", "50", "price"),
    ("search", "--explain", "retry"),
    ("search", "-v", "--level", "file", "pay"),
    ("search", "--mode", "regex", "p.i.e"),
    ("search", "--in", ".", "price of an order"),
    ("search", "-p", ".", "price of an order"),
    ("symbols",),
    ("symbols", "-p", "."),
    ("related", "a/module0.py"),
    ("related", "-p", ".", "a/module0.py"),
    ("map",),
    ("map", "price"),
    ("impact", "../change.diff"),
    ("impact", "--tests-only", "../change.diff"),
    ("history", "a/module0.py"),
    ("context", "price of an order"),
    ("context", "--format", "json", "price of an order"),
    ("ask", "where is the price of an order"),
    ("ask", "--contexts-only", "where is the price of an order"),
    ("files",),
    ("files", "-v"),
    ("status",),
    ("status", "--skipped"),
    ("status", "--secrets"),
    ("export", "--as", "jsonl"),
    ("export", "--as", "index-json"),
    ("chat",),
)
QUESTIONS = "where is the price of an order\nhow is an order retried\n"  # of a chat


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with long lines, Chinese, emoji and characters that are shown as something longer."""
    root = tmp_path_factory.mktemp("budgets") / "project"
    (root / "a").mkdir(parents=True)
    chance = random.Random(7)
    for file in range(12):
        lines = ["from a.module0 import price_0_0, price_0_1"] if file else []
        for number in range(chance.randrange(3, 14)):
            words = " ".join(chance.choices(WORDS, k=chance.randrange(1, 40)))
            lines += [
                f"def price_{file}_{number}(order):",
                f'    """{words} \u202e\x07 😀"""',
                "    return retry(order)",
                "",
            ]
        (root / "a" / f"module{file}.py").write_text("\n".join(lines), encoding="utf-8")
        tests = "\n".join(f"def test_{n}():\n    assert price_0_{n % 3}(1)\n" for n in range(3))
        (root / "a" / f"test_module{file}.py").write_text(f"from a.module0 import price_0_0, price_0_1\n\n{tests}")
    for number in range(15):
        (root / f"binary{number}.dat").write_bytes(b"\0\1")
        (root / f"keys{number}.py").write_text(f'API_KEY = "{"ghp_" + "a1B2" * 9}"\n')
    (root / "a" / "价格 and \u202e.md").write_text("# price\n\nprice of an order\n", encoding="utf-8")
    commit = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "-q", "-m")
    _git(root, "init", "-q")
    for changed in ("", "# the end\n"):
        with (root / "a" / "module0.py").open("a", encoding="utf-8") as file_of_orders:
            file_of_orders.write(changed)
        _git(root, "add", "a")
        _git(root, *commit, f"Price orders \u202e {changed}")
    (root.parent / "change.diff").write_text(diff_of((root / "a" / "module0.py").read_text(encoding="utf-8")))
    with Engine.open(str(root)) as engine:  # whichever of the tests comes first: what it says must not change meanwhile
        engine.index()
    return root


def _git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(root), *words], check=True, timeout=LONG_S)


def diff_of(text: str) -> str:
    """A change of every function, and files of which nothing can be seen."""
    lines = text.split("\n")
    hunk = [
        half for line in lines for half in ([f"-{line}", f"+{line}  # changed"] if "return" in line else [f" {line}"])
    ]
    binary = [f"diff --git a/{n}.bin b/{n}.bin\nBinary files a/{n}.bin and b/{n}.bin differ" for n in range(20)]
    head = ["--- a/a/module0.py", "+++ b/a/module0.py", f"@@ -1,{len(lines)} +1,{len(lines)} @@"]
    return "\n".join([*head, *hunk, *binary, ""])


@pytest.fixture
def run(project: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.chdir(project)

    def run(*words: str) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr("sys.stdin", io.StringIO(QUESTIONS))
        with redirect_stdout(out), redirect_stderr(err):
            code = main(words)
        return Ran(code, out.getvalue(), err.getvalue())

    return run


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.sampled_from(COMMANDS), most=st.integers(1, 1_500), as_json=st.booleans())
def test_no_output_has_more_tokens(run: object, words: tuple[str, ...], most: int, as_json: bool) -> None:
    command, *rest = words
    ran = run(command, *(["--json"] if as_json else []), "--max-tokens", str(most), *rest)
    if command == "chat":
        check_chat(ran, most, as_json=as_json)
        return
    assert estimate(ran.out) <= most
    if command == "export" and ran.code == 0:
        check_export(ran, words[-1])
    elif ran.code == 2:  # not even what is there without any item has room
        assert ran.out == ""
        (least,) = re.findall(r"(?:give at least --max-tokens|give a number from) (\d+)", ran.err)
        assert int(least) > most
    elif as_json:
        json.loads(ran.out)


def check_chat(ran: Ran, most: int, *, as_json: bool) -> None:
    """Each answer keeps to the budget by itself."""
    n_questions = QUESTIONS.count("\n")
    if as_json:
        answers = ran.out.splitlines()
        assert len(answers) in (0, n_questions)
        for answer in answers:
            json.loads(answer)
            assert estimate(f"{answer}\n") <= most
    else:
        assert estimate(ran.out) <= n_questions * most
    assert (ran.code == 2) == ("is too low" in ran.err)


def check_export(ran: Ran, kind: str) -> None:
    """What is left of an export is one, too."""
    if kind == "index-json":
        assert isinstance(json.loads(ran.out), dict)
    else:
        assert all(isinstance(json.loads(line), dict) for line in ran.out.splitlines())


def test_every_command_that_takes_a_budget_is_tried() -> None:
    taking = {command.name for command in COMMAND_TABLE if any("--max-tokens" in one.names for one in command.options)}
    assert taking == {words[0] for words in COMMANDS}


def test_a_budget_of_an_exported_file_is_refused(run: object, tmp_path: Path) -> None:
    ran = run("export", "--as", "jsonl", "-o", str(tmp_path / "out.jsonl"), "--max-tokens", "100")
    assert ran.code == 2
    assert "--max-tokens limits what is printed" in ran.err
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    "words",
    [words for words in COMMANDS if words[0] not in ("context", "map", "ask", "chat") and "index-json" not in words],
)
def test_the_first_come_first_and_the_rest_is_told(run: object, words: tuple[str, ...]) -> None:
    command, *rest = words
    whole = run(command, *rest).out
    part = run(command, "--max-tokens", str(estimate(whole) // 2), *rest)
    assert 0 < len(part.out) < len(whole)
    assert whole.startswith(part.out.rstrip("\n")) or command in ("related", "impact")
    assert set(part.out.splitlines()) <= set(whole.splitlines())
    assert re.search(r"\d+ of \d+ \w+ are left out; a higher --max-tokens shows more", part.err)
    enough = run(command, "--max-tokens", str(estimate(whole)), *rest)
    assert enough.out == whole
    assert "a higher --max-tokens" not in enough.err


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("search", "price"), "hits"),
        (("search", "-p", ".", "price"), "hits"),
        (("search", "--in", ".", "price"), "hits"),
        (("symbols",), "symbols"),
        (("map",), "files"),
        (("related", "a/module0.py"), "edges"),
        (("files",), "files"),
        (("status",), "skipped"),
        (("status", "--secrets"), "secrets"),
    ],
)
def test_json_says_how_many_are_left_out(run: object, words: tuple[str, ...], key: str) -> None:
    command, *rest = words
    text = run(command, "--json", *rest).out
    whole = json.loads(text)
    if command == "related":
        assert (whole["n_left_out"], whole["next_offset"]) == (0, None)
    part = json.loads(
        run(command, "--json", "--max-tokens", str(estimate(text) * 2 // (6 if command == "map" else 3)), *rest).out
    )
    assert part["n_left_out"] > 0
    if command != "map":
        assert part[key] == whole[key][: len(part[key])]
        assert part["n_left_out"] == whole["n_left_out"] + len(whole[key]) - len(part[key])
        # A list without pages begins anew with a higher number of tokens.
        assert part.get("next_offset", len(part[key])) == len(part[key])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0.0, 1.0))
def test_what_a_change_reaches_is_counted_by_list(run: object, share: float) -> None:
    text = run("impact", "--json", "../change.diff").out
    whole = json.loads(text)
    lists = ("changes", "reached", "tests", "unseen")
    assert all(len(whole[name]) > 2 for name in lists)
    assert (whole["left_out_of"], whole["n_left_out"]) == ({}, 0)
    ran = run("impact", "--json", "--max-tokens", str(int(600 + share * estimate(text))), "../change.diff")
    part = json.loads(ran.out)
    rest = {name: len(whole[name]) - len(part[name]) for name in lists}
    assert all(part[name] == whole[name][: len(part[name])] for name in lists)
    assert part["left_out_of"] == {name: n for name, n in rest.items() if n}
    assert part["n_left_out"] == sum(rest.values())
    shown = [len(part[name]) for name in lists if rest[name]]
    assert not shown or max(shown) - min(shown) <= 1  # lists take turns
    words = {"changes": "symbols", "reached": "places", "tests": "tests", "unseen": "notes"}
    assert all(f"{words[name]} {n}" in ran.err for name, n in part["left_out_of"].items())


def test_one_hit_that_is_too_long_is_shown_by_its_place(run: object) -> None:
    first = run("search", "-n", "1", "price of an order").out.split("\n")[0]
    ran = run("search", "-n", "1", "--max-tokens", str(estimate(first + "\n")), "price of an order")
    assert ran.out == first + "\n"
    assert "only the place of the first one is shown" in ran.err


def test_json_is_lean_and_one_line(run: object) -> None:
    text, told = run("search", "price of an order").out, run("search", "--json", "price of an order").out
    assert told.count("\n") == 1
    hits = json.loads(told)["hits"]
    assert all("signals" not in hit for hit in hits)
    assert [hit["content"].count("\n") + 1 for hit in hits[:4]] <= [6, 6, 6, 3]
    for hit in hits:
        lines = hit["content"].split("\n")
        assert hit["content_line"] <= hit["line"] < hit["content_line"] + len(lines)
    assert all(
        hit["signals"] for hit in json.loads(run("search", "--json", "--explain", "price of an order").out)["hits"]
    )
    whole = json.loads(run("search", "--json", "-v", "price of an order").out)["hits"]
    assert all(hit["content_line"] == hit["start_line"] for hit in whole)
    assert text.split(":")[0] == hits[0]["path"]
