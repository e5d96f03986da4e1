"""The settings of each host with something in them: before, after `fathom install`, and again before."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from codefathom.cli.options import HOST_NAMES
from codefathom.hosts.host_list import HOSTS, Host, Surroundings, has_project_settings, project_places, user_places

from .conftest import Run

GOLDEN = Path(__file__).parent / "host_settings"
SKILL = Path(__file__).parents[2] / "src" / "codefathom" / "hosts" / "plugin" / "skills" / "fathom" / "SKILL.md"
CLINE = "globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
OF_USERS = {
    "claude": (".claude.json", ".claude/skills"),
    "codex": (".codex/config.toml", ".agents/skills"),
    "cursor": (".cursor/mcp.json", ".cursor/skills"),
    "vscode": (".config/Code/User/mcp.json", ".copilot/skills"),
    "gemini": (".gemini/settings.json", ".gemini/skills"),
    "zed": (".config/zed/settings.json", ""),
    "windsurf": (".codeium/windsurf/mcp_config.json", ".codeium/windsurf/skills"),
    "opencode": (".config/opencode/opencode.json", ".config/opencode/skills"),
    "cline": (
        f".config/Code/User/{CLINE}",
        ".cline/skills",
    ),
    "amp": (".config/amp/settings.json", ".config/agents/skills"),
    "junie": (".junie/mcp/mcp.json", ".junie/skills"),
}
OF_PROJECTS = {
    "claude": (".mcp.json", ".claude/skills"),
    "codex": (".codex/config.toml", ".agents/skills"),
    "cursor": (".cursor/mcp.json", ".cursor/skills"),
    "vscode": (".vscode/mcp.json", ".github/skills"),
    "gemini": (".gemini/settings.json", ".gemini/skills"),
    "zed": (".zed/settings.json", ""),
    "opencode": ("opencode.json", ".opencode/skills"),
    "amp": (".amp/settings.json", ".agents/skills"),
    "junie": (".junie/mcp/mcp.json", ".junie/skills"),
}
CASES = [("user", name) for name in OF_USERS] + [("project", name) for name in OF_PROJECTS]


def test_the_options_name_all_hosts() -> None:
    assert tuple(host.name for host in HOSTS) == HOST_NAMES == tuple(OF_USERS)
    assert [host.name for host in HOSTS if has_project_settings(host)] == list(OF_PROJECTS)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Claude Code", "claude"),
        ("claude-code", "claude"),
        ("VS Code", "vscode"),
        ("GitHub Copilot", "vscode"),
        ("gemini-cli", "gemini"),
        ("JetBrains", "junie"),
        ("OpenCode", "opencode"),
    ],
)
def test_a_host_is_named_as_people_say_it(run: Run, home: Path, tmp_path: Path, written: str, name: str) -> None:
    title = next(host.title for host in HOSTS if host.name == name)
    assert run(["install", written, "--print"], tmp_path).out.startswith(f"{title}: in ")


@pytest.fixture
def home(run: Run, quiet_surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which no variable moves the settings of a host elsewhere."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return quiet_surroundings


@pytest.mark.skipif(sys.platform != "linux", reason="the places of VS Code differ")
@pytest.mark.parametrize(("scope", "name"), CASES)
def test_existing_settings_stay(run: Run, home: Path, tmp_path: Path, scope: str, name: str) -> None:
    base = home if scope == "user" else tmp_path / "project"
    settings, skills = (OF_USERS if scope == "user" else OF_PROJECTS)[name]
    path = base / settings
    before = next(GOLDEN.glob(f"{name}.before.*"))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before.read_bytes())
    path.chmod(0o640)
    options = ["--yes", *(["--project"] if scope == "project" else [])]

    assert run(["install", name, *options], tmp_path / "project").code == 0
    command = str(Path(sys.executable).parent / "fathom")
    after = path.read_bytes().replace(command.encode(), b"/home/me/.local/bin/fathom")
    golden = GOLDEN / f"{name}.{scope}{before.suffix}"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_bytes(after)
    assert after == golden.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o640
    if skills:
        assert (base / skills / "fathom" / "SKILL.md").read_bytes() == SKILL.read_bytes()

    assert "is already set up" in run(["install", name, *options], tmp_path / "project").out
    assert run(["uninstall", name, *options], tmp_path / "project").code == 0
    assert path.read_bytes() == before.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o640
    assert not skills or not (base / skills).exists()


HOOKS = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "vscode": ".copilot/hooks/fathom.json",
}


@pytest.mark.parametrize("has_settings", [True, False])
@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_has_the_form_of_its_host(run: Run, home: Path, tmp_path: Path, name: str, has_settings: bool) -> None:
    path, before = home / HOOKS[name], GOLDEN / f"{name}.hook.before.json"
    if has_settings:
        path.parent.mkdir(parents=True)
        path.write_bytes(before.read_bytes())

    assert run(["install", name, "--yes", "--hook"], tmp_path).code == 0
    command = str(Path(sys.executable).parent / "fathom")
    after = path.read_bytes().replace(command.encode(), b"/home/me/.local/bin/fathom")
    golden = GOLDEN / f"{name}.hook{'' if has_settings else '.new'}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_bytes(after)
    assert after == golden.read_bytes()

    assert "is already set up" in run(["install", name, "--yes", "--hook"], tmp_path).out
    assert run(["uninstall", name, "--yes"], tmp_path).code == 0
    assert path.read_bytes() == before.read_bytes() if has_settings else not path.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the places of VS Code differ")
@pytest.mark.parametrize("name", HOST_NAMES)
def test_what_was_made_is_gone(run: Run, home: Path, tmp_path: Path, name: str) -> None:
    assert run(["install", name, "--yes"], tmp_path).code == 0
    path = home / OF_USERS[name][0]
    read = tomllib.loads if path.suffix == ".toml" else json.loads
    assert "fathom" in str(read(path.read_text(encoding="utf-8")))
    assert run(["uninstall", "--yes"], tmp_path).code == 0
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "system", "environ", "settings"),
    [
        ("vscode", "darwin", {}, "/me/Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", {"APPDATA": "/roaming"}, "/roaming/Code/User/mcp.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/conf"}, "/conf/Code/User/mcp.json"),
        ("claude", "linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("codex", "linux", {"CODEX_HOME": "/x"}, "/x/config.toml"),
        ("codex", "win32", {}, "/me/.codex/config.toml"),
        ("zed", "darwin", {}, "/me/.config/zed/settings.json"),
        ("zed", "win32", {"APPDATA": "/roaming"}, "/roaming/Zed/settings.json"),
        ("opencode", "linux", {"XDG_CONFIG_HOME": "/conf"}, "/conf/opencode/opencode.json"),
        ("cline", "win32", {"APPDATA": "/roaming"}, f"/roaming/Code/User/{CLINE}"),
        ("cline", "darwin", {}, f"/me/Library/Application Support/Code/User/{CLINE}"),
    ],
)
def test_places_that_depend_on_the_surroundings(name: str, system: str, environ: dict[str, str], settings: str) -> None:
    host = next(host for host in HOSTS if host.name == name)
    assert user_places(host, Surroundings("/me", environ, system)).settings.path == settings


@pytest.mark.parametrize("host", [*filter(has_project_settings, HOSTS)], ids=lambda host: host.name)
def test_files_of_a_project_name_no_place_of_a_machine(host: Host) -> None:
    places = project_places(host, "/code")
    targets = (places.settings, *filter(None, [places.skill, places.sub_agent]), *places.marks)
    assert all(target.path.startswith("/code/") for target in targets)


def test_a_host_without_settings_of_a_project_says_so(run: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    ran = run(["install", "windsurf", "--project", "--yes"], tmp_path)
    assert ran.code == 2
    assert "Windsurf has no settings for one project" in ran.err
    assert run(["install", "--project", "--print"], tmp_path).code == 0


def test_a_skill_stays_while_another_host_reads_it(run: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name in ("codex", "amp"):
        assert run(["install", name, "--project", "--yes"], tmp_path).code == 0
    skill = tmp_path / ".agents" / "skills" / "fathom" / "SKILL.md"
    removed = run(["uninstall", "codex", "--project", "--yes"], tmp_path)
    assert removed.code == 0
    assert "the skill stays, because Amp uses it, too" in removed.out
    assert skill.exists()
    assert not (tmp_path / ".codex").exists()
    assert run(["uninstall", "amp", "--project", "--yes"], tmp_path).code == 0
    assert not skill.exists()
