"""`fathom serve --backup` and `--restore`: what a server keeps, in one file, while it runs, and its way back."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import httpx
import pytest
from tests.server.conftest import Serve
from tests.server.test_projects import add, index
from tests.waiting import Started, comes

from codefathom.cli import main
from codefathom.server.access.browser_sessions import SESSIONS_FILE
from codefathom.server.access.token_table import TokenTable
from codefathom.server.http.user_roles import Grant, Role
from codefathom.server.server_backup import DATABASES
from codefathom.server.server_config import ServerConfig


@pytest.fixture(autouse=True)
def data_of_the_server(config: ServerConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_SERVER__DATA_DIR", config.data_dir)
    monkeypatch.chdir(tmp_path)


def kept(client: httpx.Client) -> dict[str, object]:
    """All that a server says of what it keeps."""
    conversations = [
        client.get(f"/conversations/{item['id']}").json()
        for item in client.get("/conversations").json()["conversations"]
    ]
    jobs = [(job["id"], job["state"]) for job in client.get("/jobs").json()["jobs"]]
    listed = [(item["id"], item["root"]) for item in client.get("/projects").json()["projects"]]
    return {"conversations": conversations, "jobs": jobs, "projects": listed, "tokens": client.get("/tokens").json()}


@contextmanager
def as_admin(config: ServerConfig, serve: Serve, secret: str) -> Iterator[httpx.Client]:
    with serve(config) as client:
        client.headers["authorization"] = f"Bearer {secret}"
        yield client


def test_what_a_server_keeps_comes_back_from_a_backup_made_while_it_runs(
    config: ServerConfig, serve: Serve, shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index(shop)
    with closing(TokenTable(config.data_dir)) as table:
        secret = table.make("root", Grant(Role.ADMIN)).secret
    with as_admin(config, serve, secret) as client:
        add(client, shop)
        client.post("/projects/shop/index", headers={"accept": "application/json"}).raise_for_status()
        # A job that still runs is another one after the restart: it was interrupted.
        assert comes(lambda: [job["state"] for job in client.get("/jobs").json()["jobs"]] == ["done"])
        client.post("/ask", json={"question": "where is a cart priced?", "keep": True}).raise_for_status()
        made = client.post("/tokens", json={"name": "ci", "role": "reader", "projects": ["shop"]}).json()
        assert main(["serve", "--backup", "server.backup"]) == 0
        assert "wrote server.backup: 6 databases" in capsys.readouterr().err
        before = kept(client)
        assert next(event["action"] for event in client.get("/audit").json()["entries"]) == "backup written"
        for item in before["conversations"]:
            client.delete(f"/conversations/{item['id']}").raise_for_status()
        client.delete(f"/tokens/{made['token']['id']}").raise_for_status()
        assert kept(client) != before
        assert main(["serve", "--restore", "server.backup"]) == 2
        assert "a server uses the data folder" in capsys.readouterr().err
    saved = tmp_path / "server.backup"
    assert saved.stat().st_mode & 0o777 == 0o600
    content = saved.read_bytes()
    assert secret.encode() not in content
    assert made["secret"].encode() not in content
    assert main(["serve", "--restore", "server.backup"]) == 0
    with as_admin(config, serve, secret) as client:
        assert kept(client) == before
        client.headers["authorization"] = f"Bearer {made['secret']}"
        assert client.get("/session").json()["name"] == "ci"
    left = {path.name for path in Path(config.data_dir).iterdir()}
    assert [name for name in left if "restored" in name or "damaged" in name] == []
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith("server.")} == {"server.backup"}


def test_all_that_a_server_keeps_is_in_a_backup(config: ServerConfig, serve: Serve) -> None:
    with serve(config) as client:
        client.get("/health").raise_for_status()
    found = {}
    for path in Path(config.data_dir).glob("*.db"):
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
            found[path.name] = frozenset(name for (name,) in rows)
    del found[SESSIONS_FILE]  # people sign in again
    assert found == DATABASES


def test_a_backup_can_be_made_while_others_write(config: ServerConfig, serve: Serve, tmp_path: Path) -> None:
    """A process of its own writes conversations on and on; each backup is sound and holds whole ones."""
    with serve(config) as client:
        client.get("/health").raise_for_status()
    writer = """
import sys
from codefathom.server.answers.conversation_record import ConversationTurn
from codefathom.server.answers.conversations import Conversations
kept = Conversations(sys.argv[1])
while True:
    made = kept.begin(["shop"])
    kept.add(made.id, ConversationTurn("where?", "there " * 500, "done", 1.0))
    print(flush=True)
"""
    path = os.path.join(config.data_dir, "conversations.db")
    with Started([sys.executable, "-c", writer, path], stdout=subprocess.PIPE) as process:
        for _ in range(3):
            assert process.stdout.readline()
            assert main(["serve", "--backup", "server.backup"]) == 0
            with ZipFile(tmp_path / "server.backup") as archive:
                (tmp_path / "copy.db").write_bytes(archive.read("conversations.db"))
            with closing(sqlite3.connect(tmp_path / "copy.db")) as database:
                assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                (n_conversations,), (n_turns,) = database.execute(
                    "SELECT count(*) FROM conversations UNION ALL SELECT count(*) FROM turns"
                ).fetchall()
                assert 0 <= n_conversations - n_turns <= 1
        process.kill()


def changed(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def rewritten(path: Path, name: str, content: bytes, *, kind: int = ZIP_STORED) -> None:
    """Write an archive again with other content for one member, and a note that fits it."""
    import hashlib

    with ZipFile(path) as archive:
        members = {item: archive.read(item) for item in archive.namelist()}
    note = json.loads(members["note.json"])
    members[name] = content
    digest = hashlib.blake2b(content, digest_size=32).hexdigest()
    note["databases"][name] = {"digest": digest, "n_bytes": len(content)}
    members["note.json"] = json.dumps(note).encode()
    with ZipFile(path, "w", kind) as archive:
        for item, text in members.items():
            archive.writestr(item, text)


def with_trigger(path: Path) -> None:
    with closing(sqlite3.connect(path.with_suffix(".db"))) as database:
        database.executescript(
            "CREATE TABLE conversations (x); CREATE TABLE turns (x);"
            "CREATE TRIGGER t AFTER INSERT ON turns BEGIN DELETE FROM turns; END;"
        )
    rewritten(path, "conversations.db", path.with_suffix(".db").read_bytes())


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a text": (lambda path: changed(path, lambda _: b"hello"), "is not a backup of a server"),
    "empty": (lambda path: changed(path, lambda _: b""), "is not a backup of a server"),
    "cut": (lambda path: changed(path, lambda data: data[:-200]), "is not a backup of a server"),
    "one byte": (
        lambda path: changed(path, lambda data: data.replace(b"zanzibar", b"zanzibaR")),
        "is damaged: it differs",
    ),
    "another archive": (lambda path: ZipFile(path, "w").close(), "is not a backup of a server"),
    "a file of another name": (lambda path: rewritten(path, "../evil.db", b"x"), "is not a backup of a server"),
    "compressed": (
        lambda path: rewritten(path, "jobs.db", b"\0" * 1_000_000, kind=ZIP_DEFLATED),
        "is not a backup of a server",
    ),
    "no database": (lambda path: rewritten(path, "jobs.db", b"not SQLite " * 1_000), "is damaged: it differs"),
    "a trigger": (with_trigger, "is damaged: it differs"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_or_foreign_file_changes_nothing(
    damage: str, config: ServerConfig, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(config) as client:
        client.post("/audit")
    with closing(TokenTable(config.data_dir)) as table:
        table.make("zanzibar", Grant(Role.READER))
    assert main(["serve", "--backup", "server.backup"]) == 0
    change, message = DAMAGES[damage]
    change(tmp_path / "server.backup")
    with closing(TokenTable(config.data_dir)) as table:
        table.make("later", Grant(Role.READER))
    capsys.readouterr()
    assert main(["serve", "--restore", "server.backup"]) == 2
    assert message in capsys.readouterr().err
    with closing(TokenTable(config.data_dir)) as table:
        assert [token.name for token in table.listed()] == ["zanzibar", "later"]
    assert not [path for path in Path(config.data_dir).iterdir() if "restored" in path.name]


def test_other_files_are_not_overwritten(config: ServerConfig, serve: Serve, tmp_path: Path) -> None:
    assert main(["serve", "--backup", "server.backup"]) == 2  # nothing is kept yet
    with serve(config) as client:
        client.get("/health").raise_for_status()
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["serve", "--backup", "mine.txt"]) == 2
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert main(["serve", "--backup", "a", "--restore", "b"]) == 2
    assert main(["serve", "--restore", "absent"]) == 2
