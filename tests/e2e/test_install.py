"""`fathom install` and `uninstall` as processes: what is asked, what is refused, and that a host can use the result."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.fathom import Fathom, run_fathom
from tests.waiting import LONG_S, is_readable

from codefathom import __version__
from codefathom.answer.tokens import estimate
from codefathom.cli.arguments import parse
from codefathom.hosts.host_list import HOSTS
from codefathom.hosts.plugin_files import PLUGIN_FOLDER, checksum, is_own_text

if sys.platform == "win32":
    pytest.skip("needs a pseudo terminal", allow_module_level=True)

import pty

PLUGIN = Path(PLUGIN_FOLDER)
SKILL = PLUGIN / "skills" / "fathom" / "SKILL.md"
SUB_AGENT = PLUGIN.parent / "sub_agents" / "code-finder.md"
Install = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / ".cursor").mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return home


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "FATHOM_CACHE_DIR": str(home / "cache")}


@pytest.fixture
def run(home: Path, environ: dict[str, str]) -> Install:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return run_fathom(*words, cwd=home.parent / "project", env=environ, stdin=subprocess.DEVNULL, text=True)

    return run


def on_terminal(home: Path, environ: dict[str, str], answer: Callable[[], str], *words: str) -> tuple[int, str]:
    """Run in a terminal, and type what `answer` returns when it is asked."""
    master, slave = pty.openpty()
    output = b""
    with Fathom(words, cwd=home.parent / "project", env=environ, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        with suppress(OSError):  # Linux says so when the other end is closed
            while is_readable(master, LONG_S) and (chunk := os.read(master, 10_000)):
                output += chunk
                if output.endswith(b"[y/N] "):
                    os.write(master, answer().encode())
        os.close(master)
        return process.wait(LONG_S), output.decode()


@pytest.mark.parametrize(("typed", "code", "is_written"), [("y\n", 0, True), ("n\n", 1, False), ("\n", 1, False)])
def test_a_person_is_asked(home: Path, environ: dict[str, str], typed: str, code: int, is_written: bool) -> None:
    ended, output = on_terminal(home, environ, lambda: typed, "install", "cursor")
    assert ended == code
    assert '+    "fathom": {' in output
    assert (home / ".cursor" / "mcp.json").exists() is is_written
    assert (home / ".cursor" / "skills").exists() is is_written


def test_a_file_that_changes_while_a_person_thinks_is_not_written(home: Path, environ: dict[str, str]) -> None:
    path = home / ".cursor" / "mcp.json"
    path.write_text("{}")

    def answer() -> str:
        path.write_text('{"mcpServers": {"other": {}}}')
        return "y\n"

    ended, output = on_terminal(home, environ, answer, "install", "cursor")
    assert ended == 2
    assert "has changed meanwhile" in output
    assert path.read_text() == '{"mcpServers": {"other": {}}}'


def test_without_a_terminal_nothing_is_written(home: Path, run: Install) -> None:
    ran = run("install")
    assert ran.returncode == 1
    assert "--yes" in ran.stderr
    assert list((home / ".cursor").iterdir()) == []


def test_what_cannot_be_understood_stays_and_keeps_no_other_host_from_it(home: Path, run: Install) -> None:
    broken = home / ".claude.json"
    broken.write_text('{"mcpServers": {"a": 1}')
    ran = run("install", "--yes")
    assert ran.returncode == 2
    assert "Claude Code: " in ran.stderr
    assert "line 1" in ran.stderr
    assert "--print" in ran.stderr
    assert broken.read_text() == '{"mcpServers": {"a": 1}'
    assert not (home / ".claude").exists()
    assert "fathom" in (home / ".cursor" / "mcp.json").read_text()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
        (b'{"mcpServers": []}', "holds no object"),
        (b'{"mcpServers": {"fathom": {"command": "other"}}}', "another server"),
        (b'{"mcpServers": {"fathom": 3}}', "another server"),
        (b'{"mcpServers": {}, "mcpServers": {}}', "twice"),
    ],
)
def test_a_file_with_something_else_is_refused(home: Path, run: Install, content: bytes, problem: str) -> None:
    path = home / ".cursor" / "mcp.json"
    path.write_bytes(content)
    ran = run("install", "cursor", "--yes")
    assert ran.returncode == 2
    assert problem in ran.stderr
    assert "unexpected" not in ran.stderr
    assert path.read_bytes() == content
    assert not (home / ".cursor" / "skills").exists()


def test_a_project_cannot_lead_elsewhere_by_links(home: Path, run: Install) -> None:
    project = home.parent / "project"
    (project / ".git" / "config").write_text("[core]\n")
    (project / ".cursor").symlink_to(".git")
    (project / ".mcp.json").symlink_to(".git/config")
    (project / ".gemini").mkdir()
    os.mkfifo(project / ".gemini" / "settings.json")
    for name in ("cursor", "claude", "gemini"):
        ran = run("install", name, "--project", "--yes")
        assert ran.returncode == 2, name
        assert "is not read or written" in ran.stderr
    assert [path.name for path in (project / ".git").iterdir()] == ["config"]
    assert (project / ".git" / "config").read_text() == "[core]\n"


def test_a_user_may_keep_settings_behind_links_in_the_home_folder(home: Path, run: Install) -> None:
    (home / "dotfiles").mkdir()
    kept = home / "dotfiles" / "mcp.json"
    kept.write_text("{}\n")
    link = home / ".cursor" / "mcp.json"
    link.symlink_to(kept)
    assert run("install", "cursor", "--yes").returncode == 0
    assert link.is_symlink()
    assert "fathom" in kept.read_text()
    assert run("uninstall", "cursor", "--yes").returncode == 0
    assert kept.read_text() == "{}\n"

    outside = home.parent / "outside.json"
    outside.write_text("{}")
    link.unlink()
    link.symlink_to(outside)
    assert run("install", "cursor", "--yes").returncode == 2
    assert outside.read_text() == "{}"


def test_what_a_person_has_changed_stays(home: Path, run: Install) -> None:
    path, skill = home / ".cursor" / "mcp.json", home / ".cursor" / "skills" / "fathom" / "SKILL.md"
    assert run("install", "cursor", "--yes").returncode == 0
    settings = json.loads(path.read_text())
    settings["mcpServers"]["fathom"]["env"] = {"FATHOM_INDEX_DIR": "/big"}
    path.write_text(json.dumps(settings))
    skill.write_text(skill.read_text() + "\nAsk me first.\n")
    ran = run("install", "cursor", "--yes")
    assert "its entry for fathom was changed, and stays" in ran.stdout
    assert json.loads(path.read_text()) == settings
    ran = run("uninstall", "--yes")
    assert "the skill was changed, and stays" in ran.stdout
    assert skill.read_text().endswith("Ask me first.\n")
    assert "its entry for fathom was changed, and stays" in ran.stdout
    assert "remove it there" in ran.stdout
    assert "nothing that `fathom install` writes was found" not in ran.stderr
    assert json.loads(path.read_text()) == settings


def test_an_entry_of_codex_that_was_changed_stays(home: Path, run: Install) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    assert run("install", "codex", "--yes").returncode == 0
    skill = home / ".agents" / "skills" / "fathom" / "SKILL.md"
    path.write_text(path.read_text() + "startup_timeout_sec = 60\n")
    kept = path.read_text()
    for words in (("install",), ("uninstall",), ("uninstall",)):
        ran = run(*words, "codex", "--yes")
        assert "its entry for fathom was changed, and stays" in ran.stdout
        assert path.read_text() == kept
    assert not skill.exists()
    assert ran.returncode == 1
    path.write_text(
        kept.replace("startup_timeout_sec = 60\n", "\n[mcp_servers.fathom.tools.search]\napproval_mode = 1\n")
    )
    assert run("uninstall", "codex", "--yes").returncode == 0  # what the host has added itself goes with the entry
    assert not path.exists() or "fathom" not in path.read_text()


@pytest.mark.parametrize("content", ["", "\n", " \t\n", "// none\n", "# none\n", "\ufeff"])
@pytest.mark.parametrize("name", ["cursor", "codex", "claude", "vscode", "gemini", "zed", "opencode", "junie"])
def test_an_empty_file_is_fine_and_comes_back(home: Path, run: Install, name: str, content: str) -> None:
    if content.startswith("#" if name != "codex" else "//"):
        return
    assert run("install", name, "--yes").returncode == 0
    (path,) = (path for path in home.rglob("*") if path.is_file() and path.suffix in (".json", ".toml"))
    assert run("uninstall", name, "--yes").returncode == 0
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    ran = run("install", name, "--yes")
    assert ran.returncode == 0, ran.stderr
    assert "fathom" in path.read_text()
    assert run("uninstall", name, "--yes").returncode == 0
    assert path.read_text() == content


def test_an_entry_that_names_an_old_place_is_renewed(home: Path, run: Install) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('[mcp_servers.fathom]\ncommand = "/gone/bin/fathom"\nargs = ["mcp"]\n\n[x]\na = 1\n')
    assert run("install", "codex", "--yes").returncode == 0
    assert "/gone" not in path.read_text()
    assert run("uninstall", "codex", "--yes").returncode == 0
    assert path.read_text() == "\n[x]\na = 1\n"


def test_secrets_around_the_entry_are_not_shown(home: Path, run: Install) -> None:
    key = "sk-ant-api03-" + "Zx81Qw0p" * 11 + "-AAAAAA"
    path = home / ".cursor" / "mcp.json"
    path.write_text('{\n  "mcpServers": {\n    "a": {"env": {"ANTHROPIC_API_KEY": "' + key + '"}}\n  }\n}\n')
    ran = run("install", "cursor", "--yes")
    assert ran.returncode == 0
    assert key not in ran.stdout + ran.stderr
    assert key in path.read_text()


def test_a_home_folder_is_no_project(home: Path, environ: dict[str, str]) -> None:
    ran = run_fathom("install", "--project", "--yes", cwd=home, env=environ)
    assert ran.returncode == 2
    assert b"not a project" in ran.stderr
    assert not (home / ".mcp.json").exists()


@pytest.mark.parametrize("place", [".local/bin", ".cache/uv/archive-v0/x/bin"])
def test_settings_name_the_link_that_stays_and_no_copy_for_one_run(
    home: Path, environ: dict[str, str], place: str
) -> None:
    program = home / "tools" / "fathom"
    program.parent.mkdir()
    program.write_text("import sys\nfrom codefathom.cli import main\nsys.exit(main())\n")
    link = home / place / "fathom"
    link.parent.mkdir(parents=True)
    link.symlink_to(program)
    words = [sys.executable, str(link), "install", "codex", "--print"]
    ran = subprocess.run(words, check=False, env=environ, capture_output=True, text=True, timeout=LONG_S)
    if ".cache" in place:
        assert ran.returncode == 2
        assert "uv tool install" in ran.stderr
    else:
        assert f'command = "{link}"' in ran.stdout


def test_a_folder_is_not_ignored(home: Path, run: Install) -> None:
    ran = run("install", "cursor", "--yes", "-C", str(home.parent / "project"))
    assert ran.returncode == 2
    assert "--project" in ran.stderr
    assert not (home / ".cursor" / "mcp.json").exists()
    assert run("install", "cursor", "--yes", "--project", "-C", str(home.parent / "project")).returncode == 0


def test_a_host_can_start_what_its_settings_name(home: Path, run: Install, environ: dict[str, str]) -> None:
    project = home.parent / "project"
    (project / "pay.py").write_text("def retry_payment():\n    return 1\n")
    assert run("install", "cursor", "--yes").returncode == 0
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["fathom"]
    arguments = [word.replace("${workspaceFolder}", str(project)) for word in entry["args"]]
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "read", "arguments": {"path": "pay.py"}}},
    ]  # fmt: skip
    ran = subprocess.run(
        [entry["command"], *arguments],
        check=False,
        cwd=home,  # as editors start it
        env=environ,
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        text=True,
        timeout=LONG_S,
    )
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, ran.stdout.splitlines())}
    assert [tool["name"] for tool in answers[1]["tools"]][:2] == ["search", "read"]
    assert "retry_payment" in json.dumps(answers[2])


def test_the_plugin_is_whole() -> None:
    manifest = json.loads((PLUGIN / "plugin.json").read_text())
    allowed = {"$schema", "name", "version", "description", "author", "homepage", "repository", "license", "keywords"}
    assert manifest.keys() <= allowed
    assert manifest["version"] == __version__
    # A client would start a server in this folder, where it cannot know the project.
    assert sorted(path.name for path in PLUGIN.iterdir()) == ["plugin.json", "skills"]


def test_the_sub_agent_knows_the_command_line_and_changes_nothing() -> None:
    content = SUB_AGENT.read_bytes()
    _, head, body = content.decode().split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields.keys() == {"name", "description", "tools"}
    assert fields["name"] == SUB_AGENT.stem
    assert set(fields["tools"].split(", ")) == {"Bash", "Read", "Grep", "Glob"}
    assert estimate(content.decode()) <= 500
    assert is_own_text(content), f"write this checksum into it: {checksum(content).decode()}"
    assert is_own_text(content.replace(b"\n", b"\r\n")) and not is_own_text(content + b"x")
    commands = [line.split("`")[1] for line in body.splitlines() if line.startswith("| ") and "`fathom" in line]
    assert len(commands) == 7
    assert all(parse(shlex.split(command)[1:]).command for command in commands)


@pytest.mark.parametrize("options", [(), ("--project",)])
def test_a_sub_agent_is_written_where_a_host_documents_one_and_stays_if_it_was_changed(
    run: Install, home: Path, options: tuple[str, ...]
) -> None:
    base = home.parent / "project" if options else home
    path = base / ".claude" / "agents" / SUB_AGENT.name
    assert run("install", "claude", "--yes", *options).returncode == 0
    assert path.read_bytes() == SUB_AGENT.read_bytes()
    assert run("uninstall", "claude", "--yes", *options).returncode == 0
    assert not path.parent.exists()

    assert run("install", "claude", "--yes", *options).returncode == 0
    path.write_bytes(changed := path.read_bytes() + b"Mine.\n")
    assert "the sub-agent was changed, and stays" in run("install", "claude", "--yes", *options).stdout
    assert "the sub-agent was changed, and stays" in run("uninstall", "claude", "--yes", *options).stdout
    assert path.read_bytes() == changed
    assert not (base / ".claude" / "skills").exists()
    assert str(path) in run("install", "claude", "--print", *options).stdout
    assert "code-finder" not in run("install", "cursor", "--print", *options).stdout


INSTRUCTIONS = {  # of a user, and of a project
    "claude": (".claude/CLAUDE.md", "CLAUDE.md"),
    "codex": (".codex/AGENTS.md", "AGENTS.md"),
    "cursor": ("", "AGENTS.md"),
    "vscode": ("", "AGENTS.md"),
    "gemini": (".gemini/GEMINI.md", "GEMINI.md"),
    "zed": ("", "AGENTS.md"),
    "opencode": (".config/opencode/AGENTS.md", "AGENTS.md"),
    "amp": (".config/amp/AGENTS.md", "AGENTS.md"),
}


@pytest.mark.parametrize("before", [None, b"", b"# Rules\r\n", b"\xef\xbb\xbf# Rules"])
@pytest.mark.parametrize(("name", "options"), [*((name, ()) for name in INSTRUCTIONS), ("codex", ("--project",))])
def test_a_paragraph_is_written_when_it_is_asked_for_and_taken_out_to_the_byte(
    run: Install, home: Path, name: str, options: tuple[str, ...], before: bytes | None
) -> None:
    base = home.parent / "project" if options else home
    place = INSTRUCTIONS[name][len(options)]
    path = base / (place or "AGENTS.md")
    if before is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before)
    assert run("install", name, "--yes", *options).returncode == 0
    assert not path.exists() if before is None else path.read_bytes() == before

    ran = run("install", name, "--yes", "--instructions", *options)
    assert ran.returncode == 0, ran.stderr
    if place:
        assert path.read_bytes().startswith(before or b"")
        assert b"fathom: begin" in path.read_bytes()
        assert "ripgrep" in ran.stdout
    assert "is already set up" in run("install", name, "--yes", *options).stdout
    assert run("uninstall", name, "--yes", *options).returncode == 0
    assert not path.exists() if before is None else path.read_bytes() == before


def test_every_host_of_a_project_documents_its_instructions_as_said() -> None:
    said = {host.name: host.project_instructions for host in HOSTS if host.project_instructions}
    assert said == {name: places[1] for name, places in INSTRUCTIONS.items()}


def test_a_paragraph_that_was_changed_stays(run: Install, home: Path) -> None:
    path = home / ".claude" / "CLAUDE.md"
    assert run("install", "claude", "--yes", "--instructions").returncode == 0
    path.write_bytes(changed := path.read_bytes().replace(b"ripgrep", b"grep"))
    for words in (("install", "--instructions"), ("install",), ("uninstall",)):
        assert "the paragraph of fathom was changed, and stays" in run(*words, "claude", "--yes").stdout
        assert path.read_bytes() == changed


def test_instructions_that_others_read_are_neither_hidden_nor_taken(run: Install, home: Path) -> None:
    project = home.parent / "project"
    agents, claude = project / "AGENTS.md", project / "CLAUDE.md"
    agents.write_text("# Rules\n")
    ran = run("install", "claude", "--project", "--yes", "--instructions")
    assert "would not read AGENTS.md" in ran.stdout
    assert not claude.exists()
    assert (project / ".mcp.json").exists()

    claude.symlink_to("AGENTS.md")
    assert "it is a link" in run("install", "claude", "--project", "--yes", "--instructions").stdout
    assert agents.read_text() == "# Rules\n"

    for name in ("codex", "amp"):
        assert run("install", name, "--project", "--yes", "--instructions").returncode == 0
    assert "because Amp uses it, too" in run("uninstall", "codex", "--project", "--yes").stdout
    assert "fathom: begin" in agents.read_text()
    assert run("uninstall", "--project", "--yes").returncode == 0
    assert agents.read_text() == "# Rules\n"
    assert claude.is_symlink()


def test_the_skill_is_short_and_knows_its_text() -> None:
    content = SKILL.read_bytes()
    _, head, body = content.decode().split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines() if not line.startswith(("metadata", " ")))
    assert fields.keys() == {"name", "description"}
    assert fields["name"] == SKILL.parent.name
    assert "stop at" in fields["description"].lower()
    assert "grep" in fields["description"]
    assert len(fields["description"]) <= 1_024
    assert estimate(content.decode()) <= 500
    assert is_own_text(content), f"write this checksum into it: {checksum(content).decode()}"
    assert is_own_text(content.replace(b"\n", b"\r\n")) and not is_own_text(content + b"x")
    commands = [line.split("`")[1] for line in body.splitlines() if line.startswith("| ") and "`fathom" in line]
    assert len(commands) == 6
    assert all(parse(shlex.split(command)[1:]).command for command in commands)
