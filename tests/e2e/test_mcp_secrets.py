"""What `fathom mcp` answers goes to the model of an agent: no tool shows it a secret, and each says what is masked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_mcp_ask import sse, surroundings
from tests.mcp_session import McpSession
from tests.planted_secrets import CALLS, FILES, IN_CODE, IN_PATH, KEY, PAYING, SECRETS, SIGNING, plant, shown
from tests.protocols.server import Turn, serving

from codefathom import Engine
from codefathom.answer.tokens import estimate
from codefathom.project.location import locate
from codefathom.stores.lock import writer_lock

MARK = "«masked: secret»"


@pytest.fixture
def vault(tmp_path: Path, own_folders: None) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    plant(root)
    with Engine.open(str(root)) as engine:
        engine.index()
    return root


@pytest.fixture
def session(vault: Path) -> Iterator[McpSession]:
    with McpSession(vault) as session:
        yield session


def as_json(result: dict[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False)


def test_no_tool_shows_a_secret(session: McpSession) -> None:
    for tool, arguments, words in CALLS:
        result = session.call(tool, **arguments)
        assert words in as_json(result), (tool, arguments, result)
        assert shown(as_json(result)) == [], (tool, arguments)


def test_no_tool_shows_a_secret_of_several_projects(vault: Path) -> None:
    with McpSession(vault) as session:
        for tool, arguments, _ in CALLS:
            result = session.call(tool, **{"projects": [str(vault)], **arguments})
            assert shown(as_json(result)) == [], (tool, arguments)


def test_what_is_masked_is_said_and_lines_stay(session: McpSession) -> None:
    result = session.call("read", path="signing.py", max_tokens=20_000)
    content, text = result["structuredContent"], result["content"][0]["text"]
    expected = SIGNING
    for secret in SECRETS:
        expected = expected.replace(secret, MARK)
    assert content["text"] == expected.removesuffix("\n")
    assert content["masked"] == content["text"].count(MARK) == len(KEY) + 3
    assert f"{content['masked']} values are masked" in text
    assert "do not write" in text
    middle = session.content("read", path="signing.py:8-9")
    assert middle["text"] == f"{MARK}\n{MARK}"
    assert middle["masked"] == 2
    one = session.call("read", path="paying.py:4")
    assert "1 value is masked" in one["content"][0]["text"]
    plain = session.call("read", path="README.md")
    assert plain["structuredContent"].get("masked", 0) == 0
    assert "mask" not in plain["content"][0]["text"]


def test_a_file_of_now_is_masked_before_it_is_indexed(vault: Path) -> None:
    """Its lines may be those of the index or those of now: there is no secret in either."""
    with McpSession(vault, environment={**os.environ, "FATHOM_SEARCH__REFRESH": "never"}) as session:
        assert session.content("read", path="signing.py:8-9")["masked"] == 2
        (vault / "signing.py").write_text(f'# new\nOTHER = "{IN_CODE}"\n{SIGNING}')
        for path in ("signing.py", "signing.py:2", "signing.py:8-12", "paying.py"):
            assert shown(as_json(session.call("read", path=path, max_tokens=20_000))) == []
        assert shown(as_json(session.call("search", query="how is the price of an order signed"))) == []


def test_signs_that_look_like_the_masks_of_an_index_stay(vault: Path) -> None:
    bar = 'BAR = "████████"\n'
    (vault / "bars.py").write_text(f'{bar}TOKEN = "{IN_CODE}"\n')
    with McpSession(vault) as session:
        content = session.content("read", path="bars.py")
        assert content["text"] == f'{bar}TOKEN = "{MARK}"'
        assert content["masked"] == 1


@pytest.mark.parametrize("most", [200, 300, 500, 2_000])
def test_the_note_has_room_in_the_budget(session: McpSession, most: int) -> None:
    for tool, arguments, _ in CALLS:
        result = session.call(tool, **{**arguments, "max_tokens": most})
        assert estimate(result["content"][0]["text"]) <= most
        assert estimate(as_json(result.get("structuredContent", {}))) <= most


def test_before_there_is_an_index(tmp_path: Path, own_folders: None) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    plant(root)
    with Engine.open(str(root)) as engine:
        assert engine.opened.catalog.generation == 0
    with ExitStack() as lock, McpSession(root) as session:
        lock.enter_context(writer_lock(locate(str(root)).index_folder, wait_s=0.0))
        calls = [(tool, arguments) for tool, arguments, _ in CALLS if tool in ("search", "read")]
        keys = [session.begin(tool, arguments) for tool, arguments in calls]  # each waits a while for the index
        for key, (tool, arguments) in zip(keys, calls, strict=True):
            assert shown(as_json(session.response(key)["result"])) == [], (tool, arguments)
        assert session.content("read", path="paying.py")["masked"] == 1
        assert session.content("read", path="paying.py")["text"].split("\n")[3].count(MARK) == 1
        hits = session.content("search", query="old access key", max_tokens=4_000)
        assert MARK in as_json(hits)
        assert "█" not in as_json(hits)
        lock.close()


def test_an_index_that_keeps_secrets_shows_none(vault: Path) -> None:
    with McpSession(vault, environment={**os.environ, "FATHOM_SOURCE__SECRETS": "keep"}) as session:
        for tool, arguments, _ in CALLS:
            assert shown(as_json(session.call(tool, **arguments))) == [], (tool, arguments)
        assert session.content("read", path="signing.py:8-9")["masked"] == 2


def test_the_user_may_have_them_shown_and_a_project_may_not(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "user.toml").write_text('[mcp]\nsecrets = "show"\n')
    environment = {**os.environ, "FATHOM_CONFIG": str(tmp_path / "user.toml")}
    with McpSession(vault, environment=environment) as session:
        content = session.content("read", path="paying.py")
        assert content["text"] == PAYING.removesuffix("\n")
        assert "masked" not in content
        (vault / "fathom.toml").write_text('[mcp]\nsecrets = "mask"\n')
    with McpSession(vault, environment=environment) as session:
        assert session.content("read", path="paying.py")["masked"] == 1
    (vault / "fathom.toml").write_text('[mcp]\nsecrets = "show"\n')
    with McpSession(vault) as session:
        assert shown(as_json(session.call("read", path="paying.py"))) == []


def test_an_answer_is_made_of_masked_texts_also_by_a_model_of_this_machine(vault: Path) -> None:
    def repeated(body: dict[str, Any]) -> bytes:
        return sse(json.dumps(body["messages"], ensure_ascii=False))

    with (
        serving(Turn(reply=repeated)) as served,
        McpSession(vault, environment=surroundings(vault, served)) as session,
    ):
        result = session.call("ask", question="how is the price of an order signed with the KEY", max_tokens=20_000)
        assert shown(as_json(result)) == []
        assert served.asked
        bodies = json.dumps([asked.body for asked in served.asked], ensure_ascii=False)
        assert set(shown(bodies)) <= {IN_PATH}  # names of files are masked on their way to the agent only


def test_every_planted_file_is_read_whole(session: McpSession) -> None:
    for path, text in FILES.items():
        content = session.content("read", path=path, max_tokens=20_000)
        assert content["text"].count("\n") == text.count("\n") - 1
