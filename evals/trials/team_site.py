"""The site of a team: `fathom serve` behind Caddy below /code, a real provider of OpenID Connect, a scripted model."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import httpx
from tests.protocols.server import serving as serving_model
from tests.proxies import proxy
from tests.waiting import LONG_S, Started, comes
from tests.web.conftest import replied

from evals.run import REPOSITORY

PROVIDER = REPOSITORY / "tests" / "server" / "openid"
PROJECTS = ("shop", "depot")
QUESTION = "where is the total of a cart priced?"
ANSWER = (
    "The total is the **sum of all prices** [shop/pricing.py:6-8].\n\n"
    "Large orders get a discount [shop/pricing.py:11-13], others nothing [shop/nowhere.py:1-2].\n"
)
_SECRET = "a secret: with + and %"


@dataclass(frozen=True)
class Site:
    """A server of a team, as its people reach it."""

    address: str  # behind the proxy
    issuer: str
    folder: Path
    log: Path  # of the server
    environment: dict[str, str]

    def project(self, name: str) -> Path:
        """Return the folder of a project."""
        return self.folder / "code" / name

    def fathom(self, *words: str) -> str:
        """Run a command with the settings of the server, and return what it prints."""
        command = [sys.executable, "-P", "-m", "codefathom", *words]
        done = subprocess.run(
            command, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=LONG_S, check=False
        )
        if done.returncode:
            raise RuntimeError(f"fathom {' '.join(words)}: {done.returncode}: {done.stderr}")
        return done.stdout + done.stderr


@contextmanager
def team_site(folder: Path, node: str, roles: Sequence[str]) -> Iterator[Site]:
    """Run all of it for the time of the block; the projects lie there, and nobody has added them."""
    for name in PROJECTS:
        shutil.copytree(REPOSITORY / "tests" / "repos" / name, folder / "code" / name)
        (folder / "code" / name / "fathom.toml").touch()
    of_server, of_provider = _free_port(), _free_port()
    issuer, log = f"http://127.0.0.1:{of_provider}", folder / "log.txt"
    with (
        proxy("caddy", f"http://127.0.0.1:{of_server}", folder / "proxy") as address,
        _provider(node, f"{address}/sign-in/callback", of_provider),
        serving_model(replied(ANSWER)) as model,
    ):
        environment = _environment(folder, of_server, issuer, roles, f"{model.base_url}/v1")
        site = Site(address, issuer, folder, log, environment)
        with log.open("wb") as said, _server(site, said) as server:
            try:
                yield site
            finally:
                server.terminate()


def sign_in(site: Site, client: httpx.Client, name: str) -> None:
    """Sign in at the provider without a browser, by its forms."""
    sheet = client.get(f"{site.address}/sign-in?next=/projects")
    consent = _filled(client, sheet, login=name, password="any")
    page = _filled(client, consent)
    if page.status_code != httpx.codes.OK:
        raise RuntimeError(f"{name} cannot sign in: {page.status_code} {page.text[:500]}")


def _filled(client: httpx.Client, page: httpx.Response, **fields: str) -> httpx.Response:
    form = re.search(r'<form[^>]*action="([^"]+)"', page.text)
    if form is None:
        raise RuntimeError(f"{page.url} has no form: {page.text[:500]}")
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)"', page.text)
    return client.post(unescape(form[1]), data={**dict(hidden), **fields})


def _environment(folder: Path, port: int, issuer: str, roles: Sequence[str], model: str) -> dict[str, str]:
    settings = {
        "SERVER__PORT": str(port),
        "SERVER__ROOT_PATH": "/code",
        "SERVER__TRUSTED_PROXIES": "127.0.0.1",
        "SERVER__ALLOWED_ROOTS": str(folder / "code"),
        "SERVER__DATA_DIR": str(folder / "data"),
        "SERVER__OIDC_ISSUER": issuer,
        "SERVER__OIDC_CLIENT_ID": "fathom",
        "SERVER__OIDC_SCOPES": "email,groups",
        "SERVER__OIDC_GROUPS_CLAIM": "groups",
        "SERVER__ROLES": ",".join(roles),
        "LLM__MODEL": f"openai:scripted@{model}",
        "SELECT__FILTER_LEVEL": "0",
        "ANSWER__LEAST_CONFIDENCE": "0",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "XDG_"))}
    own = {"HOME": str(folder), "OIDC_CLIENT_SECRET": _SECRET}
    return kept | own | {f"FATHOM_{name}": value for name, value in settings.items()}


@contextmanager
def _provider(node: str, redirect: str, port: int) -> Iterator[None]:
    words = [node, "provider.mjs", redirect, _SECRET, str(port)]
    with Started(words, cwd=PROVIDER, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        if process.stdout is None or process.stdout.readline() != "listening\n":
            raise RuntimeError("the provider does not start")
        try:
            yield
        finally:
            process.terminate()


@contextmanager
def _server(site: Site, log: object) -> Iterator[Started[str]]:
    command = [sys.executable, "-P", "-m", "codefathom", "serve"]
    # In the home folder, whose project is not added.
    environment, home = site.environment, site.folder
    with Started[str](command, env=environment, cwd=home, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as server:
        if not comes(lambda: server.poll() is not None or "serving http" in site.log.read_text(errors="replace")):
            raise RuntimeError("the server does not start in time")
        if server.poll() is not None:
            raise RuntimeError(f"the server does not start: {site.log.read_text(errors='replace')}")
        yield server


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port
