"""The settings of each host with something in them: before, after `fathom install`, and again before."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from codefathom.cli.options import HOST_NAMES
from codefathom.hosts.host_list import HOSTS, Surroundings, project_places, user_places

from .conftest import Run

GOLDEN = Path(__file__).parent / "host_settings"
SKILL = Path(__file__).parents[2] / "src" / "codefathom" / "hosts" / "plugin" / "skills" / "fathom" / "SKILL.md"
OF_USERS = {
    "claude": (".claude.json", ".claude/skills"),
    "codex": (".codex/config.toml", ".agents/skills"),
    "cursor": (".cursor/mcp.json", ".cursor/skills"),
    "vscode": (".config/Code/User/mcp.json", ".copilot/skills"),
    "gemini": (".gemini/settings.json", ".gemini/skills"),
}
OF_PROJECTS = {
    "claude": (".mcp.json", ".claude/skills"),
    "codex": (".codex/config.toml", ".agents/skills"),
    "cursor": (".cursor/mcp.json", ".cursor/skills"),
    "vscode": (".vscode/mcp.json", ".github/skills"),
    "gemini": (".gemini/settings.json", ".gemini/skills"),
}


def test_the_options_name_all_hosts() -> None:
    assert tuple(host.name for host in HOSTS) == HOST_NAMES


@pytest.fixture
def home(run: Run, quiet_surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which no variable moves the settings of a host elsewhere."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return quiet_surroundings


@pytest.mark.skipif(sys.platform != "linux", reason="the places of VS Code differ")
@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("name", HOST_NAMES)
def test_existing_settings_stay(run: Run, home: Path, tmp_path: Path, name: str, scope: str) -> None:
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
    assert (base / skills / "fathom" / "SKILL.md").read_bytes() == SKILL.read_bytes()

    assert "is already set up" in run(["install", name, *options], tmp_path / "project").out
    assert run(["uninstall", name, *options], tmp_path / "project").code == 0
    assert path.read_bytes() == before.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o640
    assert not (base / skills).exists()


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
    ],
)
def test_places_that_depend_on_the_surroundings(name: str, system: str, environ: dict[str, str], settings: str) -> None:
    host = next(host for host in HOSTS if host.name == name)
    assert user_places(host, Surroundings("/me", environ, system)).settings.path == settings


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_files_of_a_project_name_no_place_of_a_machine(host: object) -> None:
    places = project_places(host, "/code")  # type: ignore[arg-type]
    assert all(target.path.startswith("/code/") for target in (places.settings, places.skill, *places.marks))
