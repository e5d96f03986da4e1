"""Every command of docs/http-api.md works against a server, in the order of the page."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import httpx
from tests.server.conftest import Serve

from codefathom.server.server_config import ServerConfig

PAGE = Path(__file__).parents[2] / "docs" / "http-api.md"
FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
THEIR_FOLDER, THEIR_SERVER = "/home/ann/code/shop", "localhost:8900"


def commands() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return [line for block in FENCED.findall(text) for line in block.splitlines()]


def request_of(command: str, folder: Path) -> tuple[str, str, dict[str, str], bytes | None]:
    """Read a command as curl does: method, address behind the server, headers and body."""
    words = shlex.split(command)
    assert words[0] == "curl"
    method, path, body = "", "", None
    headers: dict[str, str] = {}
    words = words[1:]
    while words:
        word = words.pop(0)
        if word in {"-X", "-H", "-d"}:
            value = words.pop(0)
            if word == "-X":
                method = value
            elif word == "-H":
                name, _, text = value.partition(": ")
                headers[name] = text
            else:
                body = value.replace(THEIR_FOLDER, str(folder)).encode()
        elif not word.startswith("-"):
            assert word.startswith(f"{THEIR_SERVER}/"), command
            path = word.removeprefix(THEIR_SERVER)
        else:
            assert word in {"-s", "-sN"}, word
    return method or ("POST" if body else "GET"), path, headers, body


def test_each_command_of_the_page_works(serve: Serve, config: ServerConfig, shop: Path) -> None:
    answers: dict[str, str] = {}
    with serve(config) as client:
        for command in commands():
            method, path, headers, body = request_of(command, shop)
            answer = client.request(method, path, headers=headers, content=body)
            assert answer.status_code in {200, 201, 202}, (command, answer.text)
            answers[path.partition("?")[0]] = answer.text
    assert "/search" in answers
    assert json.loads(answers["/search"])["hits"][0]["path"] == "shop/orders.py"
    assert len(json.loads(answers["/files"])["files"]) == 3
    assert json.loads(answers["/file"])["start_line"] == 1
    assert '"type": "done"' in answers["/projects/shop/index"] or '"type":"done"' in answers["/projects/shop/index"]
    assert '"phase": "searching"' in answers["/ask/stream"]
    assert len(answers) >= 12


def test_the_page_is_short_and_its_table_has_the_codes_of_the_server(server: httpx.Client) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 170
    answer = server.get("/nothing").json()
    assert f"`{answer['code']}`" in text
