"""Whatever lies in a repository or comes from a model, no control character reaches the reader's terminal."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from tests.e2e.test_ask import call, sse
from tests.fathom import run_fathom
from tests.hostile import (
    BIDI,
    C1_TITLE,
    CLIPBOARD,
    EVERYTHING,
    FORBIDDEN,
    FORGED,
    NAMES,
    TITLE,
    complaints,
    make_repository,
)
from tests.protocols.server import Turn, serving
from tests.waiting import LONG_S

from codefathom.cli import main
from codefathom.cli.options import COMMANDS
from codefathom.server.metrics.logs import start_log

NAME = f"{TITLE}{C1_TITLE}{BIDI}\n{FORGED}"
BAD = f"{TITLE}{C1_TITLE}{BIDI}\n{FORGED}\r{CLIPBOARD}"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One indexed hostile project for all commands that only read."""
    root = make_repository(tmp_path_factory.mktemp("hostile") / "project")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("FATHOM_CONFIG", os.devnull)
        assert main(["index", "-q", "-C", str(root)]) == 0
    return root


@pytest.fixture
def run(
    hostile: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    for name in [name for name in os.environ if name.startswith(("FATHOM_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_CONFIG", os.devnull)

    def runner(*words: str, folder: Path = hostile) -> Ran:
        monkeypatch.chdir(folder)
        capsys.readouterr()
        return Ran(main(words), *capsys.readouterr())

    return runner


READING = (
    "index", "index -v", "index --json", "index --dry-run", "index --dry-run -v", "index --full -v",
    "search retry with backoff", "search -v --explain retry", "search --json retry", "search --mode regex retry.*",
    "search --mode symbol retry_1", "search --level file -n 50 retry", "search --level symbol -n 50 retry",
    "symbols", "symbols retry", "symbols --json",
    "related imports.py", "related @@retry_1", "related --json @@retry_1", "related guide.md",
    *(f"context --format {name} -v retry with backoff" for name in ("files", "autocoder", "markdown", "xml", "json")),
    "context --max-tokens 60 retry", "--rag retry", "--rag --contexts-only retry", "--query-index retry",
    "ask retry with backoff", "ask --json retry", "ask --contexts-only retry", "ask --explain retry",
    "status", "status --skipped", "status --json", "doctor", "doctor --json",
    "config show", "config show -v", "config show --json", "export --as jsonl", "export --as index-json",
    "version", "version --json", "help", *(f"{command.name} --help" for command in COMMANDS),
)  # fmt: skip


@pytest.mark.parametrize("line", READING)
def test_nothing_of_a_repository_steers_the_terminal(run: Run, line: str) -> None:
    ran = run(*line.split())
    assert complaints(ran.out) == []
    assert complaints(ran.err) == []
    assert "unexpected" not in ran.err
    assert ran.code in (0, 1)


# Each with BAD in place of {}: as a query, a value, a path, a setting.
WRITTEN = (
    "search {}", "search --mode regex {}", "search --mode symbol {}", "search @{}", "search @@{}", "search -- {}",
    "search --lang {} x", "search --kind {} x", "search --dir {} x", "search --filter {} x", "search --level {} x",
    "search --filter path={} x", "search -n {} x", "search --min-score {} x", "search --set {} x",
    "search --set {}=1 x", "search --set search.limit={} x", "search --set embed.model={} x",
    "search --set store.vectors={} x",
    "search --json {}", "search --explain {}", "search -C {} x", "search --{} x", "search --mode={} x",
    "symbols {}", "symbols --path {}", "symbols --kind {}", "symbols --json {}", "symbols -n {}",
    "related {}", "related @@{}", "related x --depth {}", "context {}", "context --json {}",
    "context --format {} x", "context --format xml {}", "ask {}", "ask --json {}", "ask --pin {} x", "ask --doc {} x",
    "ask --url {} x", "ask --url http://{} x", "ask --trace {}/x x", "ask --set llm.model={} x",
    "ask --contexts-only {}",
    "chat {}", "chat --trace {}/x", "chat --pin {}", "status {}", "doctor {}", "config {}", "config show {}",
    "config show --set answer.filter_hint={}", "config show --json --set answer.filter_hint={}",
    "config show --set source.ignore={}", "config show -v --set llm.model=openai:{}", "config show --set index.dir={}",
    "export --as {}", "export --as jsonl -o {}/x", "import --as jsonl {}", "import --as index-json {}",
    "index --ignore {} -q",
    "index --workers {}", "index --required-exts {} --dry-run", "serve {}", "serve --new-token {}", "serve --host {}",
    "{}", "help {}", "--{}", "--rag {}", "--query-index {}", "--rag --max-files {} x", "version {}",
    "doctor --set llm.model=openai:m@http://{} --providers",
)  # fmt: skip


@pytest.mark.parametrize("line", WRITTEN)
def test_nothing_that_is_written_steers_the_terminal(run: Run, tmp_path: Path, line: str) -> None:
    project = tmp_path / "small"
    project.mkdir()
    (project / "a.py").write_text("def retry(): ...\n")
    ran = run(*(word.replace("{}", BAD) for word in line.split()), folder=project)
    assert complaints(ran.out) == []
    assert complaints(ran.err) == []
    assert "unexpected" not in ran.err
    assert ran.code in (0, 1, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [("FATHOM_SEARCH__LIMIT", BAD), (f"FATHOM_{NAME}", "1"), (f"FATHOM_SEARCH__{NAME}", "1"),
     (f"FATHOM_SEARCH_{NAME}", "1"), ("FATHOM_EMBED__MODEL", BAD),
     ("FATHOM_ANSWER__FILTER_HINT", BAD), ("FATHOM_CONFIG", BAD), ("FATHOM_INDEX_DIR", f"index{TITLE}{BIDI}")],
)  # fmt: skip
@pytest.mark.parametrize("line", ["search retry", "config show -v", "config show --json", "status"])
def test_no_variable_steers_the_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, line: str
) -> None:
    (tmp_path / "a.py").write_text("def retry(): ...\n")
    monkeypatch.setenv(name, value)
    ran = run(*line.split(), folder=tmp_path)
    assert complaints(ran.out) + complaints(ran.err) == []
    assert "unexpected" not in ran.err


@pytest.mark.parametrize(
    "text",
    ['[search]\nlimit = "{}"', '[search]\n"{}" = 1', '"{}" = 1', '[answer]\nfilter_hint = "{}"', "[{}",
     '[embed]\nmodel = "{}"',
     '[source]\nignore = ["{}"]', '["{}"]\nx = 1', '[index]\ndir = "{}"'],
)  # fmt: skip
@pytest.mark.parametrize("line", ["search retry", "config show", "config show --json", "status"])
def test_no_settings_file_steers_the_terminal(run: Run, tmp_path: Path, text: str, line: str) -> None:
    project = tmp_path / f"proj{TITLE}{BIDI}ect\n{FORGED.replace('/', '|')}"
    project.mkdir()
    (project / "a.py").write_text("def retry(): ...\n")
    escaped = "".join(f"\\U{ord(char):08x}" for char in BAD)
    (project / "fathom.toml").write_text(text.replace("{}", escaped))
    ran = run(*line.split(), folder=project)
    assert complaints(ran.out) + complaints(ran.err) == []
    assert "unexpected" not in ran.err


ANSWER = f"Retried {EVERYTHING} [guide.md:1-1].\n{FORGED}{BAD}"
SPLIT = "Colour \x1b [31m red \u200d \r \n and 👨 \u200d 👩 more.\n\n[guide.md:1-1] \x9b 2J end"


@pytest.mark.parametrize("answer", [EVERYTHING, f"Retried {EVERYTHING} [guide.md:1-1].", SPLIT])
@pytest.mark.parametrize("words", [("ask",), ("ask", "--json"), ("ask", "--explain"), ("ask", "--filter-level", "1")])
def test_no_answer_of_a_model_steers_the_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], answer: str
) -> None:
    monkeypatch.setenv("FATHOM_LLM__MODEL", f"openai:m{BIDI}")
    with serving(Turn([sse(answer)])) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{served.base_url}/v1")
        ran = run(*words, "--set", "llm.read_timeout_s=300", "retry with backoff")
    assert complaints(ran.out) + complaints(ran.err) == []
    assert "unexpected" not in ran.err


@pytest.mark.parametrize(
    "turn",
    [
        Turn([EVERYTHING.encode()], 401),
        Turn([EVERYTHING.encode()], 400),
        Turn([EVERYTHING.encode()]),
        Turn([b'data: {"error": {"message": ' + json.dumps(EVERYTHING).encode() + b"}}\n\n"]),
    ],
)
def test_no_error_of_a_model_steers_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch, turn: Turn) -> None:
    monkeypatch.setenv("FATHOM_LLM__MODEL", "openai:m")
    with serving(turn) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{served.base_url}/v1")
        ran = run("ask", "--set", "limits.attempts=1", "retry")
        checked = run("doctor", "--providers", "--set", "limits.attempts=1")
    for text in (*ran[1:], *checked[1:]):
        assert complaints(text) == []
    assert "unexpected" not in ran.err + checked.err


def test_no_agent_steers_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_LLM__MODEL", "openai:m")
    final = {"answer": EVERYTHING, "confidence": "high", "sources": [], "reasoning": EVERYTHING}
    turns = [call("read_file", file_path=BAD), call(BAD), sse(EVERYTHING), sse(json.dumps(final))]
    with serving(*(Turn([turn]) for turn in turns)) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{served.base_url}/v1")
        ran = run("ask", "--agent", "--explain", "retry")
    assert complaints(ran.out) + complaints(ran.err) == []
    assert "read_file" in ran.err


@pytest.mark.parametrize("words", [("chat",), ("chat", "--json"), ("chat", "--explain")])
def test_no_conversation_steers_the_terminal(hostile: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    with serving(Turn([sse(ANSWER)]), Turn([EVERYTHING.encode()], 401), Turn([sse(SPLIT)])) as served:
        own = {
            "FATHOM_LLM__MODEL": "openai:m",
            "OPENAI_BASE_URL": f"{served.base_url}/v1",
            "FATHOM_CACHE_DIR": str(tmp_path),
        }
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "OPENAI_"))}
        typed = f"retry {BAD}\nretry\n/clear\nretry {EVERYTHING}\n".encode() + b"\xff\x1b retry\n"
        environment = {**kept, **own, "FATHOM_CONFIG": os.devnull, "FATHOM_CACHE_DIR": str(tmp_path)}
        ran = run_fathom(*words, "--set", "limits.attempts=1", cwd=hostile, env=environment, input=typed)
    assert complaints(ran.stdout.decode().replace(f"\n{FORGED}", "")) == []  # the model may write such a line
    assert complaints(ran.stderr.decode()) == []
    assert len(served.asked) > 2
    assert b"unexpected" not in ran.stderr


@pytest.mark.parametrize("kind", ["text", "json"])
def test_no_line_of_the_servers_log_steers_the_terminal(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    start_log(kind)
    try:
        raise ValueError(BAD)
    except ValueError:
        logging.getLogger("codefathom").exception("no answer to %s", BAD, extra={"path": BAD})
    told = capsys.readouterr().err
    assert "no answer to" in told
    assert complaints(told.partition("Traceback")[0]) == []
    assert not FORBIDDEN & set(told)


def test_a_traceback_steers_nothing_either(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_DEBUG", "1")
    ran = run("search", "--set", f"search.limit={BAD}", "x")
    assert "Traceback" in ran.err
    assert complaints(ran.err) == []


# ---- the real process, with and without a terminal

LIVE = (
    "search -v retry", "symbols", "related @@retry_1", "context --format files retry",
    "context --format markdown retry",
    "context --format xml retry", "context --format json retry", "ask retry", "status --skipped", "status", "doctor",
    "index -v --full", "export --as jsonl", f"search --dir {TITLE} x",
)  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
@pytest.mark.parametrize("line", LIVE)
def test_on_a_real_terminal_nothing_but_our_colours_comes_out(hostile: Path, tmp_path: Path, line: str) -> None:
    from tests.e2e.test_process import on_terminal

    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "NO_COLOR"))}
    own = {"FATHOM_CACHE_DIR": str(tmp_path), "FATHOM_CONFIG": os.devnull, "TERM": "xterm"}
    code, screen = on_terminal(line.split(), hostile, {**kept, **own})
    assert complaints(screen, terminal=True) == []
    assert code in (0, 1, 2)
    assert screen


def test_an_agent_in_a_pipe_gets_the_same(hostile: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    own = {"FATHOM_CACHE_DIR": str(tmp_path), "FATHOM_CONFIG": os.devnull}
    for encoding in ("utf-8", "latin-1", "ascii"):
        variables = {**kept, **own, "PYTHONIOENCODING": encoding}
        ran = run_fathom("search", "retry", cwd=hostile, env=variables)
        assert complaints(ran.stdout.decode(encoding)) == []
        assert ran.returncode == 0


# ---- and what is shown is still of use


def test_json_tells_names_and_texts_exactly(run: Run) -> None:
    hits = json.loads(run("search", "--json", "-n", "50", "retry").out)["hits"]
    assert {hit["path"] for hit in hits} >= set(NAMES)
    assert any(EVERYTHING in hit["content"] for hit in hits)
    lines = run("export", "--as", "jsonl").out.splitlines()
    assert {json.loads(line)["relative_path"] for line in lines} >= set(NAMES)


def test_xml_tells_names_and_texts_but_for_what_xml_cannot(run: Run) -> None:
    documents = ElementTree.fromstring(run("context", "--format", "xml", "retry").out)
    assert {document.get("path") for document in documents} & {"back\u202ecod.py", "hidden\u200b\U000e0041\ufeff.py"}
    assert all(BIDI in (document.text or "") for document in documents)


@pytest.mark.parametrize("name", NAMES)
def test_a_shown_name_can_be_given_back_in_a_shell(run: Run, hostile: Path, name: str) -> None:
    headers = [line for line in run("search", "-n", "50", "retry").out.split("\n") if line.startswith("$'")]
    shown = [line[: line.index("':") + 1] for line in headers]
    read = subprocess.run(
        ["bash", "-c", "\n".join(f"printf '%s\\0' {name}" for name in shown)],
        capture_output=True,
        check=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        timeout=LONG_S,
    )
    assert name in read.stdout.decode().split("\0")


def test_each_hit_is_one_header(run: Run) -> None:
    ran = run("search", "-n", "50", "retry")
    n_hits = len(json.loads(run("search", "--json", "-n", "50", "retry").out)["hits"])
    assert sum(not line.startswith(" ") for line in ran.out.split("\n") if line) == n_hits
    symbols = run("symbols").out
    assert len(symbols.strip("\n").split("\n")) == len(json.loads(run("symbols", "--json").out)["symbols"])


def test_what_people_write_stays_as_it_is(run: Run, tmp_path: Path) -> None:
    text = "می‌خواهم क्‍ष 👨‍👩‍👧 ❤️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 葛󠄀 naïve 用户 \ue0b0"
    (tmp_path / "emoji👩‍💻.md").write_text(f"# retry\n\n{text}\n", encoding="utf-8")
    for words in (("search", "retry"), ("context", "retry"), ("context", "--format", "xml", "retry")):
        ran = run(*words, folder=tmp_path)
        assert text in ran.out
        assert "emoji👩‍💻.md" in ran.out
