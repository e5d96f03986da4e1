"""Sessions of `fathom mcp` that `fathom serve` holds: the same answers, one engine, and nothing lost when it ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fathom import Fathom, run_fathom
from tests.mcp_session import McpSession
from tests.waiting import LONG_S, Started, comes

from codefathom.config.user_places import user_data_dir
from codefathom.mcp.shared_session import LineReader, difference, greeting, sessions_folder
from codefathom.system.local_socket import connect, is_of_this_user, listen

SHOP = Path(__file__).parents[1] / "repos" / "shop"
AS_INSTALLED = (sys.executable, "-c", "from codefathom.cli import main; main()")  # what the command is a script for
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "where are rows kept"}),
    ("search", {"query": "retry with backoff", "max_tokens": 4_000}),
    ("search", {"query": "anything", "projects": ["nobody"]}),
    ("read", {"path": "shop/store/database.py:1-20"}),
    ("read", {"path": "../../etc/passwd"}),
    ("read", {"path": "/etc/passwd"}),
    ("related", {"target": "shop/store/database.py"}),
    ("map", {}),
    ("search", {}),
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "XDG_"))}
    return kept | {"HOME": str(home), "XDG_DATA_HOME": str(home / "data")}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    root = tmp_path_factory.mktemp("projects") / "shop"
    shutil.copytree(SHOP, root)
    assert run_fathom("index", "-q", cwd=root, env=environment).returncode == 0
    return root


@contextmanager
def serving(environment: dict[str, str], cwd: Path, *words: str) -> Iterator[tuple[Started, list[str]]]:
    """Run `fathom serve`; yield it, and what it has said."""
    words = ("serve", "--port", "0", *words)
    with Fathom(words, cwd=cwd, env=environment, text=True, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        said = []
        while not said or "serving http" not in said[-1]:
            said.append(server.stderr.readline())
            assert said[-1], said
        try:
            yield server, said
        finally:
            server.kill()


def children_of(number: int) -> list[int]:
    return [int(word) for path in Path(f"/proc/{number}/task").glob("*/children") for word in path.read_text().split()]


def holders_of(server: Started) -> list[int]:
    """The processes beside a server that hold sessions."""
    lines = {number: Path(f"/proc/{number}/cmdline").read_bytes() for number in children_of(server.pid)}
    return [number for number, line in lines.items() if b"held_sessions" in line]


def has_engine(number: int) -> bool:
    """Return whether a process has opened an index."""
    return any("/.fathom/" in os.readlink(path) for path in Path(f"/proc/{number}/fd").iterdir() if path.is_symlink())


def results(session: McpSession) -> list[Any]:
    return [session.call(tool, **arguments) for tool, arguments in CALLS]


def without_seconds(value: Any) -> Any:
    return json.loads(re.sub(r'"(took_ms|seconds)": ?[\d.]+', '"seconds": 0', json.dumps(value)))


def test_the_answers_are_those_of_a_session_that_is_alone(environment: dict[str, str], project: Path) -> None:
    with McpSession(project, "--alone", environment=environment) as session:
        listed, alone = session.ask("tools/list"), results(session)
    with serving(environment, project.parent) as (server, _):
        for words, folder in (((), project), (("-C", "shop"), project.parent), ((), project / "shop")):
            with McpSession(folder, *words, environment=environment) as session:
                assert session.ask("tools/list")["result"] == listed["result"]
                assert without_seconds(results(session)) == without_seconds(alone)
                assert not has_engine(session.process.pid)
                assert session.ask("ping")["result"] == {}
        assert len(holders_of(server)) == 1


@pytest.mark.parametrize("n_sessions", [4, pytest.param(20, marks=pytest.mark.long)])
def test_many_sessions_have_one_engine(environment: dict[str, str], project: Path, n_sessions: int) -> None:
    with serving(environment, project) as (server, _):
        sessions = [Started([*AS_INSTALLED, "mcp"], cwd=project, env=environment, **_PIPES) for _ in range(n_sessions)]
        for session in sessions:
            assert session.stdin is not None
            assert session.stdout is not None
            params = {"name": "search", "arguments": {"query": "where are rows kept"}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            session.stdin.write(json.dumps(message).encode() + b"\n")
            session.stdin.flush()
            assert b"database.py" in session.stdout.readline()
        holders = holders_of(server)
        assert len(holders) == 1
        assert [has_engine(session.pid) for session in sessions] == [False] * n_sessions
        assert has_engine(holders[0])
        processes = [*(session.pid for session in sessions), *holders]
        if n_sessions == 20:
            assert sum(map(kilobytes, processes)) <= 150 * 1024
        for session in sessions:
            session.communicate()
            assert session.returncode == 0


_PIPES: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)


def kilobytes(number: int) -> int:
    """What a process holds, with its share of what several hold."""
    lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


@pytest.mark.parametrize("victim", ["holder", "server"])
def test_a_session_goes_on_alone_when_the_other_end_is_lost(
    environment: dict[str, str], project: Path, victim: str
) -> None:
    with serving(environment, project) as (server, _), McpSession(project, environment=environment) as session:
        before = session.content("search", query="where are rows kept")
        (holder,) = holders_of(server)
        os.kill(holder, signal.SIGSTOP)  # what is asked now is not answered before the end
        keys = [session.begin("search", {"query": "where are rows kept"}, progressToken=1), *_cancelled(session)]
        os.kill(holder if victim == "holder" else server.pid, signal.SIGKILL)
        if victim == "server":
            os.kill(holder, signal.SIGCONT)
        assert session.response(keys[0])["result"]["structuredContent"] == before
        assert comes(lambda: not Path(f"/proc/{holder}/maps").exists() or not is_running(holder))
        assert session.content("read", path="shop/store/database.py:1-3")["start_line"] == 1
        assert has_engine(session.process.pid)
        assert session.end() == 0
        assert not [message for message in session.sent if message.get("id") in keys[1:]]


def _cancelled(session: McpSession) -> list[int]:
    key = session.begin("search", {"query": "what nobody waits for"})
    session.cancel(key)
    return [key]


def is_running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_call_that_is_cancelled_or_left_ends(environment: dict[str, str], project: Path) -> None:
    """A session that is killed takes what it has asked for with it, and others go on."""
    with serving(environment, project) as (server, _):
        with McpSession(project, environment=environment) as session:
            session.content("search", query="rows")
            session.cancel(session.begin("search", {"query": "what nobody waits for"}))
            assert session.content("read", path="shop/store/database.py:1-3")["start_line"] == 1
            session.begin("search", {"query": "what nobody hears"})
            session.process.kill()
            session.process.wait()
        with McpSession(project, environment=environment) as session:
            assert session.content("search", query="rows")["hits"]
            assert not has_engine(session.process.pid)
        assert len(holders_of(server)) == 1


@pytest.mark.parametrize(
    ("of_server", "of_session", "words"),
    [
        (("--set", "server.sessions=false"), {}, ()),
        ((), {}, ("--alone",)),
        ((), {"FATHOM_SEARCH__LIMIT": "3"}, ()),
        ((), {}, ("-p", "shop")),  # a folder here, which is another one there
    ],
)
def test_who_wants_to_be_alone_is(
    environment: dict[str, str],
    project: Path,
    of_server: tuple[str, ...],
    of_session: dict[str, str],
    words: tuple[str, ...],
) -> None:
    with serving(environment, project, *of_server) as (server, _):
        with McpSession(project, *words, environment=environment | of_session) as session:
            assert session.content("search", query="rows")["hits"]
            assert has_engine(session.process.pid)
        assert len(holders_of(server)) == (1 if of_session else 0)


def test_doctor_says_whether_sessions_are_held_and_why_not(environment: dict[str, str], project: Path) -> None:
    def sessions(**variables: str) -> list[Any]:
        checks = json.loads(run_fathom("doctor", "--json", cwd=project, env=environment | variables).stdout)
        return [check for check in checks["checks"] if check["name"] == "sessions"]

    with serving(environment, project):
        assert [check["ok"] for check in sessions()] == [True]
        (check,) = sessions(FATHOM_SEARCH__LIMIT="3")
        assert not check["ok"]
        assert "other values of these variables: FATHOM_SEARCH__LIMIT" in check["detail"]
        assert "start `fathom serve` again" in check["hint"]


def test_the_second_server_leaves_the_socket_to_the_first(
    environment: dict[str, str], project: Path, tmp_path: Path
) -> None:
    elsewhere = ("--set", f"server.data_dir={tmp_path}")
    with serving(environment, project) as (first, _), serving(environment, project, *elsewhere) as (second, _):
        with McpSession(project, environment=environment) as session:
            assert session.content("search", query="rows")["hits"]
        assert (len(holders_of(first)), len(holders_of(second))) == (1, 0)


def test_only_this_user_may_enter_the_folder(environment: dict[str, str], project: Path) -> None:
    folder = Path(sessions_folder(environment))
    assert str(folder).startswith(environment["HOME"] + os.sep)
    with serving(environment, project):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    with serving(environment, project) as (server, said):
        assert any("each `fathom mcp` is alone" in line and "other users may enter" in line for line in said), said
        with McpSession(project, environment=environment) as session:
            assert session.content("search", query="rows")["hits"]
            assert has_engine(session.process.pid)
        assert holders_of(server) == []
    folder.chmod(0o700)


def test_a_folder_that_is_a_link_or_open_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 40) / "sessions"
    own = listen(str(folder))
    assert own is not None
    assert listen(str(folder)) is None  # as another process listens
    connection = connect(str(folder), LONG_S)
    assert connection is not None
    connection.close()
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert connect(str(link), LONG_S) is None
    folder.chmod(0o711)
    assert connect(str(folder), LONG_S) is None
    folder.chmod(0o700)
    own.close()
    assert connect(str(folder), LONG_S) is None
    again = listen(str(folder))
    assert again is not None
    again.close()


def test_a_process_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert is_of_this_user(ours)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert not is_of_this_user(ours)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"version": "99.0"}, "and `fathom mcp` is version 99.0"),
        ({"version": None}, "and `fathom mcp` is version None"),
        ({"place": ["/usr/bin/python3", "/elsewhere"]}, "another installation"),
        ({"environment": None}, "other values"),
        ({"environment": {"HOME": "/nowhere"}}, "HOME"),
    ],
)
def test_a_session_of_another_kind_is_told_why_it_is_alone(changes: dict[str, Any], said: str) -> None:
    ours = greeting(["mcp"], {"HOME": "/home/a", "FATHOM_SERVER__PORT": "1"})
    reason = difference({**ours, **changes}, {"HOME": "/home/a"})
    assert said in reason
    assert bool(said) == bool(reason)


def test_garbage_at_the_socket_ends_nothing(environment: dict[str, str], project: Path) -> None:
    with serving(environment, project):
        for sent in (b"\n", b"[]\n", b"{\n", b"[" * 100_000 + b"\n", b"x" * 1_200_000, b""):
            connection = connect(sessions_folder(environment), LONG_S)
            assert connection is not None
            with connection:
                try:
                    connection.sendall(sent)
                    connection.shutdown(socket.SHUT_WR)
                    reply = connection.recv(1_000)
                except ConnectionError:
                    reply = b""
                assert reply == b"" or "refusal" in json.loads(reply)
        with McpSession(project, environment=environment) as session:
            assert session.content("search", query="rows")["hits"]
            assert not has_engine(session.process.pid)


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ((b"a\nb", b"c\n", b""), [b"a\n", b"bc\n"]),
        ((b"a", b"b", b""), [b"ab\n"]),
        ((b"0123456789", b"0123\nb\n", b""), [b"too long\n", b"b\n"]),
        ((b"0123456789", b"0123456789", b""), [b"too long\n"]),
        ((b"", b""), []),
    ],
)
def test_lines_are_whole_or_refused(pieces: tuple[bytes, ...], lines: list[bytes]) -> None:
    reader = LineReader(10)
    assert [line for piece in pieces for line in reader.feed(piece)] == lines


def test_the_place_is_that_of_the_users_data(environment: dict[str, str]) -> None:
    assert os.path.dirname(sessions_folder(environment)) == user_data_dir(environment)
