"""docs/deployment.md and the files of `deploy/`: settings are taken, commands exist, programs read their files."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.fathom import run_fathom
from tests.proxies import DEPLOY, settings_of
from tests.waiting import LONG_S

from codefathom.config.configuration import load_settings
from codefathom.config.settings import declared_settings
from codefathom.errors import SettingsError
from codefathom.server.access.openid_client import SECRET_VARIABLE
from codefathom.server.server_config import config_of

from .test_guide import FENCED, surroundings

PAGE = DEPLOY.parent / "docs" / "deployment.md"
TOKEN = "ada:" + "0" * 64
VARIABLES = {f"FATHOM_{setting.key.upper().replace('.', '__')}" for setting in declared_settings()}
TOML = [match[2] for match in FENCED.finditer(PAGE.read_text(encoding="utf-8")) if match[1] == "toml"]
COMMANDS = [
    line
    for match in FENCED.finditer(PAGE.read_text(encoding="utf-8"))
    if match[1] == "sh"
    for line in match[2].splitlines()
]


@pytest.mark.parametrize("settings", TOML)
def test_the_settings_of_the_page_are_taken(settings: str, tmp_path: Path) -> None:
    (tmp_path / "user.toml").write_text(settings.replace("ada:HASH", TOKEN), encoding="utf-8")
    server = load_settings(str(tmp_path), user_file=str(tmp_path / "user.toml")).server
    config = config_of(server, {"HOME": str(tmp_path), SECRET_VARIABLE: "secret"})
    assert config.tokens or config.sign_in.user_header or config.sign_in.openid
    assert (config.root_path == "/code") == ("root_path" in settings)
    assert (config.tls.key == "/etc/fathom/server.key") == ("tls_key" in settings)


@pytest.mark.parametrize("command", [line for line in COMMANDS if "--" in line])
def test_the_commands_of_the_page_run(command: str, tmp_path: Path) -> None:
    environ = surroundings(tmp_path) | {"FATHOM_SERVER__PORT": "0"}
    ran = run_fathom(*command.split()[1:], cwd=tmp_path, env=environ)
    assert ran.returncode == 0 or b"make web" in ran.stdout, ran.stderr
    assert ran.stdout


def test_every_file_of_the_folder_is_named_on_the_page() -> None:
    named = set(re.findall(r"\.\./deploy/([\w.]+)", PAGE.read_text(encoding="utf-8")))
    assert named == {path.name for path in DEPLOY.iterdir()}


COMPOSE = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")


def _of_containers() -> dict[str, str]:
    """Return the settings of the server in compose.yaml, beside those of its file."""
    return dict(re.findall(r"(?m)^ +(FATHOM_SERVER__\w+): (\S+)$", COMPOSE))


def test_every_setting_of_the_recipes_exists(tmp_path: Path) -> None:
    of_unit = settings_of(DEPLOY / "fathom.service")
    of_file = settings_of(DEPLOY / "fathom.env")
    others = {"FATHOM_INDEX_DIR", "FATHOM_CACHE_DIR"}
    assert {*of_unit, *of_file, *_of_containers()} - others <= VARIABLES
    for extra in (of_unit, _of_containers()):
        variables = {**of_file, **extra, "HOME": str(tmp_path), "FATHOM_SERVER__TOKENS": TOKEN}
        config = config_of(load_settings(str(tmp_path), environ=variables).server, variables)
        assert (config.root_path, config.hosts, len(config.trusted_proxies)) == ("/code", ("code.example.org",), 1)


def test_no_server_starts_with_the_recipe_before_it_has_a_token(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"server\.tokens"):
        load_settings(str(tmp_path), environ=settings_of(DEPLOY / "fathom.env"))


def test_the_proxy_of_the_containers_is_the_one_that_is_trusted() -> None:
    assert re.findall(r"- subnet: (\S+)", COMPOSE) == [_of_containers()["FATHOM_SERVER__TRUSTED_PROXIES"]]
    server, _, caddy = COMPOSE.partition("\n  caddy:\n")
    assert "ports:" not in server
    used = set(re.findall(r"{\$(\w+):", (DEPLOY / "Caddyfile").read_text(encoding="utf-8")))
    assert used == set(re.findall(r"(?m)^ +(FATHOM_\w+):", caddy))
    assert "- ./Caddyfile:/etc/caddy/Caddyfile:ro" in caddy


def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd is not installed")
    text = (DEPLOY / "fathom.service").read_text(encoding="utf-8")
    unit = tmp_path / "fathom.service"
    unit.write_text(text.replace("/opt/fathom/bin/fathom", "/bin/true"), encoding="utf-8")
    words = [program, "verify", "--man=no", str(unit)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=LONG_S, check=False)
    assert [line for line in ran.stderr.splitlines() if str(unit) in line] == []
