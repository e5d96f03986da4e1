"""Tokens for programs: made, listed, revoked, expiring; and people whom a trusted proxy names."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from tests.server.conftest import Serve, serving
from tests.waiting import LONG_S, comes

from codefathom.cli import main
from codefathom.config.settings import ServerSettings
from codefathom.engine import Engine
from codefathom.errors import SettingsError, UsageError
from codefathom.server.access.audit_list import AuditEntry, AuditList
from codefathom.server.access.credential_watch import CredentialWatch
from codefathom.server.access.credentials import SignInRules
from codefathom.server.access.token_table import TokenTable
from codefathom.server.app import create_app
from codefathom.server.http.auth import Caller, Token, hash_of
from codefathom.server.http.client_address import network_of
from codefathom.server.http.problem_json import ConflictError, NotFoundError
from codefathom.server.http.user_roles import Grant, Role, rule_of
from codefathom.server.projects.project_table import Projects
from codefathom.server.server_config import ServerConfig, config_of

ROOT = Token("root", hash_of("of-root"))
AS_ROOT = {"authorization": "Bearer of-root"}
READER = Grant(Role.READER, ("shop",))


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


# ---- the table


def test_a_token_is_valid_until_it_expires_or_is_revoked(tmp_path: Path) -> None:
    now = [1_000.0]
    table = TokenTable(str(tmp_path), lambda: now[0])
    assert not table.is_used
    made = table.make("ci", READER, days=1)
    words = frozenset({"token:ci"})
    assert table.find(made.secret) == Caller("ci", (READER,), "token", f"token:{made.token.id}", words=words)
    assert table.find(made.secret[:-1]) is table.find("") is table.find(made.token.hash) is None
    with pytest.raises(ConflictError):
        table.make("ci", READER)
    now[0] += 86_400
    assert table.find(made.secret) is None
    again = table.make("ci", READER, days=0)
    now[0] += 1e9
    assert table.find(again.secret) is not None
    assert table.revoke("ci").id == again.token.id
    assert table.find(again.secret) is None
    with pytest.raises(NotFoundError):
        table.revoke("ci")
    assert table.is_used
    table.close()


def test_only_the_hash_is_stored(tmp_path: Path) -> None:
    table = TokenTable(str(tmp_path))
    secret = table.make("ci", READER).secret
    table.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret.encode() not in stored
    assert hash_of(secret).encode() in stored


@pytest.mark.parametrize(
    ("name", "projects", "days"), [("", (), 1), ("a b", (), 1), ("a", ("x/y",), 1), ("a", ("a+b",), 1), ("a", (), -1)]
)
def test_what_cannot_be_a_token_is_refused(tmp_path: Path, name: str, projects: tuple[str, ...], days: int) -> None:
    table = TokenTable(str(tmp_path))
    with pytest.raises(UsageError):
        table.make(name, Grant(Role.READER, projects), days)
    table.close()


# ---- over HTTP


def test_an_administrator_makes_lists_and_revokes_a_token(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, tokens=(ROOT,))) as client:
        body = {"name": "ci", "role": "maintainer", "projects": ["shop"], "days": 7}
        made = client.post("/tokens", json=body, headers=AS_ROOT)
        assert made.status_code == 201
        secret, token = made.json()["secret"], made.json()["token"]
        session = client.get("/session", headers=bearer(secret)).json()
        said = (session["name"], session["kind"], session["role"], session["may_manage"])
        assert said == ("ci", "token", "none", False)
        listed = client.get("/tokens", headers=AS_ROOT)
        assert [(item["name"], item["origin"], item["state"]) for item in listed.json()["tokens"]] == [
            ("root", "settings", "valid"),
            ("ci", "server", "valid"),
        ]
        assert secret not in listed.text and hash_of(secret) not in listed.text
        assert client.get("/tokens", headers=bearer(secret)).status_code == 403
        assert client.delete(f"/tokens/{token['id']}", headers=AS_ROOT).status_code == 204
        assert client.get("/session", headers=bearer(secret)).status_code == 401
        audit = client.get("/audit", headers=AS_ROOT).json()["entries"]
    assert [(item["who"], item["kind"], item["action"], item["details"]) for item in audit] == [
        ("root", "token", "token revoked", "ci"),
        ("root", "token", "token made", "ci: maintainer in shop"),
    ]


def test_a_server_without_tokens_makes_none_over_http(server: httpx.Client) -> None:
    answer = server.post("/tokens", json={"name": "ci"})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert server.get("/tokens").json() == {"tokens": []}


def test_once_a_token_was_made_the_server_demands_one(serve: Serve, config: ServerConfig) -> None:
    table = TokenTable(config.data_dir)
    with serve(config) as client:
        assert client.get("/session").json()["kind"] == "nobody"
        table.make("ci", READER)
        assert client.get("/session").status_code == 401
        table.revoke("ci")
        assert client.get("/session").status_code == 401
    table.close()


@pytest.mark.parametrize("how", ["revoked", "kept"])
def test_a_stream_ends_when_its_token_is_revoked(serve: Serve, config: ServerConfig, shop: Path, how: str) -> None:
    """Revoked by another process, as `fathom tokens revoke` does it; the stream of another token goes on."""
    table = TokenTable(config.data_dir)
    secret = table.make("ci", Grant(Role.ADMIN)).secret
    other = secret if how == "revoked" else "of-root"
    with (
        serve(replace(config, tokens=(ROOT,))) as client,
        Engine.open(str(shop)) as engine,
        closing(engine.index_events()) as writing,
    ):
        next(writing)  # holds the lock of the index, so that the job waits, and its stream goes on
        client.post("/projects", json={"path": str(shop)}, headers=AS_ROOT).raise_for_status()
        job = client.post("/projects/shop/index", headers={**AS_ROOT, "accept": "application/json"}).json()["id"]
        with client.stream("GET", f"/jobs/{job}/events", headers=bearer(other)) as stream:
            lines = stream.iter_lines()
            assert any('"phase": "waiting"' in line for line in lines)
            table.revoke("ci")
            if how == "kept":
                assert comes(lambda: client.get("/session", headers=bearer(secret)).status_code == 401)
                client.post(f"/jobs/{job}/cancel", headers=AS_ROOT).raise_for_status()
            rest = list(lines)  # ends; else the client waits in vain for the next line
        assert any("cancelled" in line for line in rest) is (how == "kept")
        client.post(f"/jobs/{job}/cancel", headers=AS_ROOT)
    table.close()


# ---- people by a header


PROXY = (network_of("127.0.0.1"),)
PEOPLE = SignInRules(
    roles=tuple(map(rule_of, ("ada=admin", "@shops=maintainer:shop"))),
    user_header="X-Forwarded-User",
    groups_header="X-Forwarded-Groups",
)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("x-forwarded-user", "ada")], ("ada", "admin")),
        ([("x-forwarded-user", "ben"), ("x-forwarded-groups", "all, shops")], ("ben", "none")),
        ([("x-forwarded-user", "eve")], ("eve", "none")),
        ([("x-forwarded-user", "eve"), ("x-forwarded-user", "ada")], None),
        ([("x-forwarded-user", "eve, ada")], None),
        ([("x-forwarded-user", "")], None),
        ([("x-forwarded-user", "a" * 300)], None),
        ([("x_forwarded_user", "ada")], None),
        ([], None),
    ],
)
def test_a_trusted_proxy_names_a_person(
    serve: Serve, config: ServerConfig, headers: list[tuple[str, str]], expected: tuple[str, str] | None
) -> None:
    with serve(replace(config, trusted_proxies=PROXY, sign_in=PEOPLE)) as client:
        answer = client.get("/session", headers=headers)
        if expected is None:
            assert answer.status_code == 401
        else:
            assert (answer.json()["name"], answer.json()["role"], answer.json()["kind"]) == (*expected, "person")


def test_nobody_else_may_name_a_person(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, trusted_proxies=(network_of("10.0.0.1"),), sign_in=PEOPLE)) as client:
        assert client.get("/session", headers={"x-forwarded-user": "ada"}).status_code == 401


def test_a_header_without_a_trusted_proxy_is_a_mistake() -> None:
    with pytest.raises(SettingsError, match="no proxy is trusted"):
        config_of(ServerSettings(user_header="X-Forwarded-User"), {})


def test_a_person_does_not_see_the_conversations_of_a_token_of_the_same_name(
    serve: Serve, config: ServerConfig, shop: Path
) -> None:
    tokens = (Token("ada", hash_of("of-ada")),)
    with serve(replace(config, tokens=tokens, trusted_proxies=PROXY, sign_in=PEOPLE)) as client:
        client.post("/projects", json={"path": str(shop)}, headers=bearer("of-ada")).raise_for_status()
        person, token = {"x-forwarded-user": "ada"}, bearer("of-ada")
        for headers in (person, token):
            assert client.post("/conversations", json={"project_ids": ["shop"]}, headers=headers).status_code == 201
        ids = [client.get("/conversations", headers=headers).json()["conversations"] for headers in (person, token)]
        assert [len(listed) for listed in ids] == [1, 1]
        other = ids[1][0]["id"]
        assert client.get(f"/conversations/{other}", headers=person).status_code == 404


# ---- who did what


def test_what_is_kept_of_an_entry_has_no_secret_and_an_end(tmp_path: Path) -> None:
    now = [1_000.0]
    audit = AuditList(str(tmp_path), lambda: 10, lambda: now[0])
    key = "sk-" + "abcdefghij0123456789" * 2
    audit.add(AuditEntry("ada", "person", "project changed", "shop", f"OPENAI_API_KEY={key}"))
    assert key not in audit.listed(10)[0].details
    now[0] += 10 * 86_400 + 1
    assert (audit.listed(10), audit.count()) == ((), 0)
    audit.add(AuditEntry("ben", "token", "index removed", "shop"))
    assert [entry.who for entry in audit.listed(10)] == ["ben"]
    audit.close()


def test_the_list_says_what_was_changed(serve: Serve, config: ServerConfig, shop: Path) -> None:
    with serve(replace(config, tokens=(ROOT,))) as client:
        client.post("/projects", json={"path": str(shop)}, headers=AS_ROOT).raise_for_status()
        changed = {"name": "Shop", "settings": {"context.window": 9_000}}
        client.patch("/projects/shop", json=changed, headers=AS_ROOT).raise_for_status()
        client.delete("/projects/shop", headers=AS_ROOT).raise_for_status()
        listed = client.get("/audit", headers=AS_ROOT).json()["entries"]
    assert [(item["action"], item["project"], item["details"]) for item in listed] == [
        ("project removed", "shop", ""),
        ("project changed", "shop", "name, context.window"),
        ("project added", "", str(shop)),
    ]


def test_an_entry_is_written_before_the_answer_leaves(
    config: ServerConfig, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = []
    write = AuditList.add

    def add(self: AuditList, entry: AuditEntry) -> None:
        write(self, entry)
        order.append(entry.action)

    class Seen:
        def __init__(self, app: ASGIApp) -> None:
            self.app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            async def sent(message: Message) -> None:
                if message["type"] == "http.response.start":
                    order.append("answer")
                await send(message)

            await self.app(scope, receive, sent)

    monkeypatch.setattr(AuditList, "add", add)
    app = create_app(config)
    app.add_middleware(Seen)
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        client.post("/projects", json={"path": str(shop)}).raise_for_status()
    assert order == ["project added", "answer"]


def test_a_change_that_cannot_be_listed_is_answered_all_the_same(
    serve: Serve, config: ServerConfig, shop: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(self: AuditList, entry: AuditEntry) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(AuditList, "add", full)
    with serve(config) as client:
        client.post("/projects", json={"path": str(shop)}).raise_for_status()
        assert [project["root"] for project in client.get("/projects").json()["projects"]] == [str(shop)]
    assert "the audit list could not be written" in caplog.text


def test_a_change_of_a_sender_who_loses_access_meanwhile_is_listed(
    serve: Serve, config: ServerConfig, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, look, is_cut_off = Projects.add, CredentialWatch._look, Event()

    def looked(self: CredentialWatch) -> None:
        look(self)
        if any(scope.cancel_called for scope in self._held):
            is_cut_off.set()

    with serve(replace(config, tokens=(ROOT,))) as client:

        def added(self: Projects, *arguments: Any) -> Any:
            project = add(self, *arguments)
            client.delete("/tokens/eve", headers=AS_ROOT).raise_for_status()
            assert is_cut_off.wait(LONG_S)
            return project

        made = client.post("/tokens", json={"name": "eve", "role": "admin", "days": 1}, headers=AS_ROOT)
        monkeypatch.setattr(CredentialWatch, "_look", looked)
        monkeypatch.setattr(Projects, "add", added)
        as_eve = bearer(made.raise_for_status().json()["secret"])
        assert client.post("/projects", json={"path": str(shop)}, headers=as_eve).status_code == 401
        entries = client.get("/audit", headers=AS_ROOT).json()["entries"]
    listed = {(item["who"], item["action"]): item["details"] for item in entries}
    assert "the change may have been made" in listed["eve", "project added"]


def test_a_refused_request_is_not_listed(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, tokens=(ROOT,))) as client:
        assert client.delete("/projects/none", headers=AS_ROOT).status_code == 404
        assert client.get("/audit", headers=AS_ROOT).json()["entries"] == []


# ---- by command


def test_the_command_makes_lists_and_revokes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATHOM_SERVER__DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    assert main(["tokens", "list"]) == 0
    assert capsys.readouterr().out == "there is no token; `fathom tokens new NAME` makes one\n"
    assert main(["tokens", "new", "ci", "--role", "indexer", "-p", "shop", "-p", "pay-*", "--days", "0"]) == 0
    secret, err = capsys.readouterr()
    assert "not shown again" in err
    assert main(["tokens", "list"]) == 0
    assert capsys.readouterr().out == "ci  indexer in shop, pay-*  never expires\n"
    table = TokenTable(str(tmp_path / "data"))
    assert (found := table.find(secret.strip())) is not None
    assert found.grants == (Grant(Role.INDEXER, ("shop", "pay-*")),)
    assert main(["tokens", "revoke", "ci", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "ci"
    assert table.find(secret.strip()) is None
    table.close()
    with sqlite3.connect(tmp_path / "data" / "access.db") as database:
        actions = database.execute("SELECT kind, action, details FROM audit ORDER BY number").fetchall()
    assert actions == [("command", "token made", "ci: indexer in shop, pay-*"), ("command", "token revoked", "ci")]


@pytest.mark.parametrize("words", [["new"], ["revoke"], ["list", "x"], ["new", "a b"], ["revoke", "none"]])
def test_a_wrong_command_says_what_to_do(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATHOM_SERVER__DATA_DIR", str(tmp_path / "data"))
    assert main(["tokens", *words]) == 2 or words[0] == "revoke"
    assert "fathom tokens" in capsys.readouterr().err or words[-1] == "a b"
