"""`fathom serve` as a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.waiting import LONG_S, Started

from codefathom.cli import main
from codefathom.server.http.auth import hash_of
from codefathom.server.run import _listening
from codefathom.server.server_config import ServerConfig


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    return kept | {"FATHOM_SERVER__DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path)}


def test_it_says_where_it_listens_answers_and_stops(shop: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "codefathom", "serve", str(shop), "--port", "0", "--set", "server.log=json"]
    with Started(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())
            assert address is not None
            projects = httpx.get(f"{address[0]}/projects", timeout=LONG_S).json()["projects"]
            assert [project["root"] for project in projects] == [str(shop.resolve())]
            server.send_signal(signal.SIGTERM)
            _, said = server.communicate()
        finally:
            server.kill()
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert any("GET /projects" in line["message"] and line["level"] == "info" for line in lines)


def test_a_new_token_is_printed_with_what_the_settings_need(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--new-token", "team"]) == 0
    out, err = capsys.readouterr()
    assert f"team:{hash_of(out.strip())} " in err
    assert main(["serve", "--new-token", "a b"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "0.0.0.0"], "there is no token"),
        (["--port", "70000"], "server.port cannot be"),
        (["/no/such/folder"], "no such folder on the server"),
        (["--host", "256.256.256.256", "--set", f"server.tokens=a:{'0' * 64}"], "cannot listen on"),
    ],
)
def test_what_cannot_be_served_says_why(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATHOM_SERVER__DATA_DIR", str(tmp_path / "data"))
    assert main(["serve", *words]) == 2
    assert said in capsys.readouterr().err


def test_no_part_of_an_answer_waits_in_the_system(tmp_path: Path) -> None:
    """Asyncio switches Nagle's algorithm off for what is named as TCP only, and connections take that name over."""
    with (
        _listening(ServerConfig(data_dir=str(tmp_path), allowed_roots=(), port=0)) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as connection,
    ):
        assert connection.proto == socket.IPPROTO_TCP
