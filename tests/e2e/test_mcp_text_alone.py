"""What a client pays: a host that shows its model both forms of an answer can have the text alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.test_mcp import answers, call, request

from codefathom.engine import Engine


def test_answers_are_text_alone_where_settings_say_so(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(str(shop)) as engine:
        engine.index()
    messages = [request(1, "tools/list"), call(2, "search", query="price"), call(3, "read", path="README.md")]
    usual = answers(shop, *messages)
    monkeypatch.setenv("FATHOM_MCP__STRUCTURED", "never")
    short = answers(shop, *messages)
    assert all("outputSchema" in tool for tool in usual[1]["result"]["tools"])
    assert not any("outputSchema" in tool for tool in short[1]["result"]["tools"])
    for key in (2, 3):
        assert usual[key]["result"]["structuredContent"]
        assert "structuredContent" not in short[key]["result"]
        assert short[key]["result"]["content"] == usual[key]["result"]["content"]


def test_the_settings_file_of_a_user_says_so_and_that_of_a_project_does_not(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "fathom.toml").write_text('[mcp]\nstructured = "never"\n')
    listed = answers(shop, request(1, "tools/list"))[1]["result"]["tools"]
    assert all("outputSchema" in tool for tool in listed), "a repository changes nothing of the list"
    own = tmp_path / "own.toml"
    own.write_text('[mcp]\nstructured = "never"\n')
    monkeypatch.setenv("FATHOM_CONFIG", str(own))
    listed = answers(shop, request(1, "tools/list"))[1]["result"]["tools"]
    assert not any("outputSchema" in tool for tool in listed)
