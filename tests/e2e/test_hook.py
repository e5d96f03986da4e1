"""`fathom hook` and `fathom install --hook` as processes: what an agent is told, and that nothing can make it fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fathom import run_fathom
from tests.waiting import LONG_S

from codefathom.hosts.grep_offer import is_question

Hook = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / ".fathom").mkdir()
    (folder / ".fathom" / "catalog.db").write_bytes(b"")  # only its name is looked at
    return folder


@pytest.fixture
def hook(project: Path) -> Hook:
    def hook(content: bytes | dict[str, object]) -> subprocess.CompletedProcess[bytes]:
        given = content if isinstance(content, bytes) else json.dumps(content).encode()
        return run_fathom("hook", cwd=project, input=given)

    return hook


def grep(pattern: object, folder: Path | str, **more: object) -> dict[str, object]:
    """An event as Claude Code writes it."""
    arguments = {"pattern": pattern, "output_mode": "content", **more}
    return {
        **{"session_id": "1", "transcript_path": "/t", "cwd": str(folder), "hook_event_name": "PostToolUse"},
        **{"tool_name": "Grep", "tool_input": arguments, "tool_response": {"numFiles": 0}},
    }


def bash(command: object, folder: Path | str) -> dict[str, object]:
    """The same for a command of a shell."""
    return {**grep("", folder), "tool_name": "Bash", "tool_input": {"command": command}}


QUESTIONS = [
    "retry with backoff",
    "where is the token refreshed",
    "how are orders priced?",
    "HTTP retry with backoff",
    "don't follow redirects to other hosts",
    "如何重试支付",
]
OTHERS = [
    "",
    "retry",
    "retry backoff",
    "parse_query",
    "parseQuery in module",
    "retry.*backoff",
    "auth|login|session",
    "retry with back_off",
    "import numpy as np",
    "class Client extends Base",
    "def close self",
    "TODO fix this later",
    "std::vector of things here",
    "a = b + c",
    "find me this " * 30,
    "支付",
]


@pytest.mark.parametrize(("pattern", "is_one"), [*((x, True) for x in QUESTIONS), *((x, False) for x in OTHERS)])
def test_several_plain_words_are_a_question(pattern: str, is_one: bool) -> None:
    assert is_question(pattern) is is_one


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn 'retry with backoff' src",
        'cd src && rg -i "retry with backoff" | head -5',
        "git grep -n 'retry with backoff'",
        "/usr/bin/grep -A 3 --include '*.py' -e 'retry with backoff' -r .",
        "ls; rg -- 'retry with backoff'",
        "rg retry\\ with\\ backoff",
    ],
)
def test_an_agent_that_greps_for_a_question_is_told_of_fathom(project: Path, hook: Hook, command: str) -> None:
    ran = hook(bash(command, project))
    assert (ran.returncode, ran.stderr) == (0, b"")
    told = json.loads(ran.stdout)
    assert told.keys() == {"hookSpecificOutput"}
    assert told["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}  # nothing decides on the call
    assert told["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
    assert "`search`" in told["hookSpecificOutput"]["additionalContext"]
    assert "backoff" not in told["hookSpecificOutput"]["additionalContext"]


def test_the_tool_grep_is_answered_in_the_project_that_it_searches(project: Path, hook: Hook) -> None:
    for folder, more in ((project, {}), (project / "src", {}), (project.parent, {"path": "project/src"})):
        assert hook(grep("retry with backoff", folder, **more)).stdout
    assert hook(grep("retry with backoff", "/", path=str(project))).stdout


@pytest.mark.parametrize("way", ["variable", "setting"])
def test_an_index_outside_of_the_project_counts(tmp_path: Path, way: str) -> None:
    folder, place = tmp_path / "shop", tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "fathom.toml").write_text("")
    (folder / "pay.py").write_text("def retry_with_backoff():\n    return 1\n")
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    if way == "variable":
        environ["FATHOM_INDEX_DIR"] = str(place)
    else:
        (tmp_path / "own.toml").write_text(f'[index]\ndir = "{place}"\n')
        environ["FATHOM_CONFIG"] = str(tmp_path / "own.toml")
    event = json.dumps(grep("retry with backoff", folder)).encode()
    assert run_fathom("hook", cwd=folder, env=environ, input=event).stdout == b""  # there is none yet
    assert run_fathom("index", cwd=folder, env=environ).returncode == 0
    assert not (folder / ".fathom").exists()
    assert b"additionalContext" in run_fathom("hook", cwd=folder, env=environ, input=event).stdout


def test_gemini_and_codex_are_answered_in_the_form_that_they_read(project: Path, hook: Hook) -> None:
    gemini = {**grep("retry with backoff", project.parent), "hook_event_name": "AfterTool"}
    search = {"pattern": "retry with backoff", "dir_path": "project/src"}
    for event in (
        {**gemini, "tool_name": "grep_search", "tool_input": search},
        {**gemini, "tool_name": "search_file_content", "tool_input": {**search, "path": "project"}},
        {**gemini, **bash("grep -rn 'retry with backoff' .", project), "tool_name": "run_shell_command"},
        bash("rg 'retry with backoff'", project),  # Codex writes the same as Claude Code
    ):
        told = json.loads(hook(event).stdout)["hookSpecificOutput"]
        assert told["hookEventName"] == event["hook_event_name"]
        assert "`search`" in told["additionalContext"]


def test_copilot_is_answered_in_the_form_that_it_reads(project: Path, hook: Hook) -> None:
    event = {"sessionId": "1", "timestamp": 1, "cwd": str(project), "toolResult": {"resultType": "success"}}
    command = {"command": "rg 'retry with backoff'"}
    for tool, arguments in (
        ("bash", command),
        ("bash", json.dumps(command)),
        ("powershell", command),
        ("grep", {"pattern": "retry with backoff", "path": "src"}),
        ("rg", {"pattern": "retry with backoff"}),
    ):
        (told,) = json.loads(hook({**event, "toolName": tool, "toolArgs": arguments}).stdout).items()
        assert told[0] == "additionalContext"
        assert "`search`" in told[1]
    for tool, arguments in (
        ("view", command),
        ("bash", "rg 'retry"),
        ("bash", '"rg"'),
        ("bash", None),
        (["bash"], command),
    ):
        assert hook({**event, "toolName": tool, "toolArgs": arguments}).stdout == b""


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00Grep",
        b"Grep",
        b'"Grep"',
        b"[1]",
        b'{"tool_name": "Grep"}',
        b'{"Grep":' + b"[" * 100_000,
        json.dumps({**grep("a b c", "/"), "cwd": 3}).encode(),
        json.dumps({**grep("a b c", "/"), "hook_event_name": ["PostToolUse"]}).encode(),
        json.dumps(grep("a b c", "/\x00")).encode(),
        json.dumps(grep("a b c", "\ud800")).encode(),
        b'"Grep"' + b"x" * 5_000_000,
    ],
)
def test_no_event_makes_it_fail_or_speak(hook: Hook, content: bytes) -> None:
    ran = hook(content)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_it_is_silent_for_all_else(project: Path, hook: Hook) -> None:
    (project.parent / "other" / ".git").mkdir(parents=True)
    words = "retry with backoff"
    for event in (
        grep("parse_query", project),
        grep(3, project),
        grep(words, project, path=["src"]),
        grep(words, project.parent / "other"),  # no index is there
        grep(words, project, path=str(project.parent / "other")),
        grep(words, project.parent / "gone"),
        {**grep(words, project), "hook_event_name": "Stop"},
        {**grep(words, project), "tool_name": "Read"},
        bash(f"cat log | grep '{words}'", project),  # reads the output of a program
        bash(f"echo '{words}'", project),
        bash("grep 'retry with backoff", project),
        bash("grep '" + "a b c" * 1_000 + "'", project),
        bash(3, project),
    ):
        ran = hook(event)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b""), event


def test_nobody_reads_its_answer_or_gives_it_an_event(project: Path) -> None:
    command = [sys.executable, "-m", "codefathom", "hook"]
    event = json.dumps(grep("retry with backoff", project)).encode()
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        ran = subprocess.run(command, input=event, stdout=closed, stderr=subprocess.PIPE, timeout=LONG_S, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    ran = subprocess.run(["sh", "-c", f"{sys.executable} -m codefathom hook <&- >&-"], timeout=LONG_S, check=False)
    assert ran.returncode == 0


def test_it_imports_almost_nothing(project: Path) -> None:
    program = (
        "import sys; before = set(sys.modules); from codefathom.cli import main; sys.argv = ['fathom', 'hook']; "
        "main(); sys.stderr.write(' '.join(sorted(set(sys.modules) - before)))"
    )

    def imported(event: dict[str, object]) -> set[str]:
        ran = subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(event).encode(),
            capture_output=True,
            check=True,
            timeout=LONG_S,
        )
        return set(ran.stderr.decode().split())

    least = {
        *("codefathom", "codefathom.cli", "codefathom.cli.commands", "codefathom.cli.commands.hook_command"),
        *("codefathom.system", "codefathom.system.interruption", "codefathom.system.isolation"),
    }
    silent = imported(bash("ls", project))
    assert {name for name in silent if name.startswith("codefathom")} == least
    assert not silent & {"json", "re", "typing", "shlex", "subprocess", "sqlite3"}
    heard = imported(grep("retry with backoff", project))
    assert {name for name in heard if name.startswith("codefathom")} - least == {
        *("codefathom.hosts", "codefathom.hosts.grep_offer", "codefathom.text", "codefathom.text.foreign_json"),
    }


SETTINGS = {
    "none": None,
    "blank": "\n",
    "empty": "{}",
    "others": json.dumps({"model": "x", "hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": []}]}}, indent=2),
    "null": '{"hooks": {"PostToolUse": null}} // mine\n',
}


@pytest.mark.parametrize("options", [(), ("--project",)])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_hook_is_written_when_it_is_asked_for_and_taken_out_to_the_byte(
    tmp_path: Path, project: Path, name: str, options: tuple[str, ...]
) -> None:
    home = tmp_path / "home"
    base = project if options else home
    path, before = base / ".claude" / "settings.json", SETTINGS[name]
    home.mkdir()
    if before is not None:
        path.parent.mkdir(parents=True)
        path.write_text(before)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
        ran = run_fathom(*words, "claude", *options, cwd=project, env=environ, stdin=subprocess.DEVNULL, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran

    def content() -> str | None:
        return path.read_text() if path.exists() else None

    run("install", "--yes")
    assert content() == before
    shown = run("install", "--print").stdout
    assert str(path) in shown
    assert "with --hook" in shown
    added = run("install", "--yes", "--hook").stdout
    assert "Grep|Bash" in added
    assert " hook || exit 0" in added
    assert "is already set up" in run("install", "--yes", "--hook").stdout
    assert "is already set up" in run("install", "--yes").stdout

    event = grep("retry with backoff", project)
    (item,) = (one for one in json.loads((content() or "").removesuffix(" // mine\n"))["hooks"]["PostToolUse"]
               if one["matcher"] == "Grep|Bash")  # fmt: skip
    command = item["hooks"][0]["command"]
    assert command.startswith("fathom hook") is bool(options)
    if not options:
        ran = subprocess.run(
            command, shell=True, input=json.dumps(event), capture_output=True, text=True, timeout=LONG_S, check=True
        )
        assert "additionalContext" in ran.stdout
    kept = content()
    path.write_text((kept or "").replace(command, "'/old place/fathom' hook || exit 0"))
    assert "changed: " in run("install", "--yes").stdout  # renewed without the option
    assert content() == kept

    path.write_text((kept or "").replace("Grep|Bash", "Grep"))
    for words in (("install", "--yes"), ("install", "--yes", "--hook")):
        assert "the hook of fathom was changed, and stays" in run(*words).stdout
    path.write_text(kept or "")
    run("uninstall", "--yes")
    assert content() == before


def test_settings_that_are_not_understood_matter_only_where_a_hook_is_wanted(tmp_path: Path, project: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(broken := '{"hooks": {"PostToolUse": "none"}}')
    assert run_fathom("install", "claude", "--yes", cwd=project, env=environ).returncode == 0
    ran = run_fathom("install", "claude", "--yes", "--hook", cwd=project, env=environ)
    assert ran.returncode == 2
    assert b"holds no list" in ran.stderr
    assert run_fathom("uninstall", "claude", "--yes", cwd=project, env=environ).returncode == 0
    assert path.read_text() == broken
    ran = run_fathom("install", "cursor", "--yes", "--hook", cwd=project, env=environ)
    assert ran.returncode == 2
    assert b"fathom knows no hook for Cursor" in ran.stderr
