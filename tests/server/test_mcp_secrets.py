"""What /mcp answers goes to the model of an agent: no tool shows it a secret."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.planted_secrets import CALLS, IN_ARGUMENT, IN_PATH, plant, shown
from tests.protocols.server import Turn

from codefathom.errors import FathomError
from codefathom.server.server_config import ServerConfig

from .agents import ERAS, Era
from .test_mcp_ask import asked_of
from .test_mcp_calls import ask, shops
from .test_routes_ask import spoken


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    plant(root)
    return root


async def _results(client: Any) -> list[Any]:
    return [await client.call_tool(tool, arguments) for tool, arguments, _ in CALLS]


def as_json(result: Any) -> str:
    return json.dumps(result.model_dump(mode="json"), ensure_ascii=False)


@pytest.mark.parametrize("era", ERAS)
def test_no_tool_shows_a_secret(config: ServerConfig, vault: Path, era: Era) -> None:
    with shops(config, vault) as (address, _):
        results = ask(address, era, _results)
    for (tool, arguments, words), result in zip(CALLS, results, strict=True):
        assert words in as_json(result), (tool, arguments, result)
        assert shown(as_json(result)) == [], (tool, arguments)
    read = next(result for call, result in zip(CALLS, results, strict=True) if call[1] == {"path": "paying.py"})
    assert read.structured_content["masked"] == 1
    assert "1 value is masked" in read.content[0].text


def test_no_tool_shows_a_secret_of_several_projects(config: ServerConfig, vault: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "main.py").write_text("def main():\n    return 1\n")

    async def talk(client: Any) -> list[Any]:
        names = {"projects": ["vault", "other"]}
        return [await client.call_tool(tool, {**names, **arguments}) for tool, arguments, _ in CALLS]

    with shops(config, vault, other) as (address, _):
        results = ask(address, "2026-07-28", talk)
    for (tool, arguments, _), result in zip(CALLS, results, strict=True):
        assert shown(as_json(result)) == [], (tool, arguments)


def test_the_server_decides_whether_they_are_shown(config: ServerConfig, vault: Path) -> None:
    async def talk(client: Any) -> Any:
        return await client.call_tool("read", {"path": "paying.py"})

    variables = {**config.variables, "FATHOM_MCP__SECRETS": "show"}
    with shops(replace(config, variables=variables), vault) as (address, state):
        assert shown(as_json(ask(address, "2026-07-28", talk)))
        with pytest.raises(FathomError, match=r"mcp\.secrets cannot be set"):
            state.projects.change("vault", None, {"mcp.secrets": "mask"})


def test_an_answer_shows_no_secret(config: ServerConfig, vault: Path) -> None:
    def repeated(body: dict[str, Any]) -> bytes:
        return b"".join(spoken(json.dumps(body["messages"], ensure_ascii=False)).pieces)

    async def talk(client: Any) -> list[Any]:
        question = {"question": "how is the price of an order signed with the KEY", "max_tokens": 20_000}
        mistake = {"question": "how", "projects": [IN_ARGUMENT]}
        return [await client.call_tool("ask", question), await client.call_tool("ask", mistake)]

    with asked_of(config, Turn(reply=repeated), folders=(vault,)) as (address, _, model):
        for result in ask(address, "2026-07-28", talk):
            assert shown(as_json(result)) == []
    assert model.asked
    bodies = json.dumps([one.body for one in model.asked], ensure_ascii=False)
    assert set(shown(bodies)) <= {IN_PATH}  # names of files are masked on their way to the agent only
