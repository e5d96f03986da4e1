"""`fathom serve --check`: what is missing before a server starts, in words, and whether it can start."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.openid import providing
from tests.proxies import certificate

from codefathom.cli import main
from codefathom.server.http import page
from codefathom.server.http.auth import hash_of

TOKEN = f"team:{hash_of('secret')}"


@pytest.fixture(autouse=True)
def ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Surroundings in which a server can start."""
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "index.html").touch()
    monkeypatch.setattr(page, "STATIC", tmp_path / "static")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FATHOM_SERVER__DATA_DIR", str(tmp_path / "data" / "server"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checks(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, tuple[bool, str, str]]]:
    code = main(["serve", "--check", "--json", "--port", "0", *words])
    shown = json.loads(capsys.readouterr().out)
    assert shown["ok"] == (code == 0)
    return code, {item["name"]: (item["ok"], item["detail"], item["hint"]) for item in shown["checks"]}


def test_a_server_that_can_start_is_told_so_and_nothing_is_written(
    ready: Path, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = checks(capsys, str(shop))
    assert (code, [name for name, (ok, _, _) in found.items() if not ok]) == (0, [])
    wanted = {
        "data folder",
        "projects",
        "address",
        "access",
        "sign-in",
        "HTTPS",
        "root path",
        "proxies",
        "webhooks",
        "page",
        "language model",
        "git",
    }
    assert wanted <= set(found)
    assert not (ready / "data").exists()
    assert main(["serve", "--check", "--port", "0"]) == 0
    assert "ok    data folder" in capsys.readouterr().out


def _no_folder(folder: Path) -> list[str]:
    (folder / "file").touch()
    return ["--set", f"server.data_dir={folder / 'file' / 'data'}"]


def _taken_port(folder: Path) -> list[str]:
    del folder
    return ["--port", str(_HELD.getsockname()[1])]


def _no_page(folder: Path) -> list[str]:
    (folder / "static" / "index.html").unlink()
    return []


def _other_key(folder: Path) -> list[str]:
    pem, key = certificate(folder)[0], certificate(folder, "other")[1]
    return ["--set", f"server.tls_certificate={pem}", "--set", f"server.tls_key={key}"]


def _set(*pairs: str) -> Callable[[Path], list[str]]:
    return lambda _: [word for pair in pairs for word in ("--set", pair)]


_HELD = socket.create_server(("127.0.0.1", 0))


@pytest.mark.parametrize(
    ("words", "failed", "said"),
    [
        (_no_folder, "data folder", "file is not a folder"),
        (_taken_port, "address", "cannot listen on 127.0.0.1"),
        (_no_page, "page", "the web page is not built"),
        (_set("server.host=0.0.0.0"), "access", "there is no token"),
        (_set("server.tls_certificate=/no/such.pem", "server.tls_key=/no/such.key"), "HTTPS", "/no/such.pem"),
        (_other_key, "HTTPS", "does not belong to the certificate"),
        (_set("server.root_path=code"), "root path", "'code'"),
        (_set("server.trusted_proxies=proxy.example"), "proxies", "'proxy.example'"),
        (_set("server.allowed_roots=/no/such/folder"), "projects", "/no/such/folder"),
        (lambda _: ["/no/such/project"], "projects", "/no/such/project"),
        (_set("server.requests_per_minute=-1"), "settings", "server.requests_per_minute"),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(
    words: Callable[[Path], list[str]], failed: str, said: str, ready: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = checks(capsys, *words(ready))
    assert (code, [name for name, (ok, _, _) in found.items() if not ok]) == (1, [failed])
    _, detail, hint = found[failed]
    assert said in detail
    assert hint


def test_a_webhook_secret_that_is_too_short_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEET_WEBHOOK_SECRET", "of-all-the-fleets")
    assert checks(capsys)[1]["webhooks"] == (True, "FLEET_WEBHOOK_SECRET", "")
    monkeypatch.setenv("FLEET_WEBHOOK_SECRET_SHOP", "short")
    code, found = checks(capsys)
    assert (code, found["webhooks"][0]) == (1, False)
    assert found["webhooks"][1].startswith("FLEET_WEBHOOK_SECRET_SHOP has fewer than 16 characters")
    assert "short" not in found["webhooks"][1]
    assert found["webhooks"][2]


def test_all_that_is_missing_is_named_at_once(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*_no_page(ready), *_set("server.host=0.0.0.0", "server.root_path=/search")(ready)]
    code, found = checks(capsys, *words)
    assert (code, {name for name, (ok, _, _) in found.items() if not ok}) == (1, {"page", "access", "root path"})


PEOPLE = ("server.oidc_client_id=fathom", "server.roles=ada@example.org=admin")


@pytest.mark.parametrize(
    ("words", "secret", "said"),
    [
        (("server.oidc_client_id=",), "x", "server.oidc_client_id is empty"),
        ((), "", "no client secret in OIDC_CLIENT_SECRET"),
        (("server.roles=",), "x", "server.roles is empty"),
        (("server.host=0.0.0.0",), "x", "server.hosts is empty"),
        (("server.oidc_issuer=https://id.example.org/?a",), "x", "server.oidc_issuer cannot be"),
        (("server.oidc_issuer={}/",), "x", "calls itself '{}', and server.oidc_issuer is '{}/'"),
        (("server.oidc_issuer={}/nowhere",), "x", "answers 404"),
    ],
)
def test_what_is_missing_for_people_to_sign_in_is_named(
    words: tuple[str, ...],
    secret: str,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OIDC_CLIENT_SECRET", secret)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    with providing() as provider:
        changed = [word.replace("{}", provider.issuer) for word in words]
        pairs = (f"server.oidc_issuer={provider.issuer}", *PEOPLE, *changed)
        code, found = checks(capsys, *_set(*pairs)(Path()))
        assert (code, [name for name, (ok, _, _) in found.items() if not ok]) == (1, ["sign-in"])
        assert said.replace("{}", provider.issuer) in found["sign-in"][1]
        assert found["sign-in"][2]


def test_people_can_sign_in(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OIDC_CLIENT_SECRET", "of the client")
    with providing() as provider:
        words = (f"server.oidc_issuer={provider.issuer}", "server.hosts=code.example.org", "server.root_path=/code")
        code, found = checks(capsys, *_set(*PEOPLE, *words)(Path()))
    assert (code, found["access"][1]) == (0, f"people at {provider.issuer}")
    assert found["sign-in"][1].endswith("to register there: https://code.example.org/code/sign-in/callback")
    # A provider that is away keeps no server from starting.
    code, found = checks(capsys, *_set(*PEOPLE, *words)(Path()))
    assert (code, found["sign-in"][0]) == (0, True)
    assert found["sign-in"][1].startswith("nobody can sign in at the moment: the provider of server.oidc_issuer")
    assert "of the client" not in str(found)


def test_a_server_for_a_team_is_ready(capsys: pytest.CaptureFixture[str]) -> None:
    words = _set(
        "server.host=127.0.0.1",
        f"server.tokens={TOKEN}",
        "server.root_path=/code/",
        "server.trusted_proxies=10.0.0.0/8",
    )
    code, found = checks(capsys, *words(Path()))
    assert code == 0
    shown = {name: found[name][1] for name in ("access", "root path", "proxies")}
    assert shown == {"access": "1 token", "root path": "/code", "proxies": "10.0.0.0/8"}
    assert hash_of("secret") not in str(found)
