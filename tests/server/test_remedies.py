"""A remedy names what exists on the face where it is shown: routes over HTTP, tools for agents, commands elsewhere."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from .agents import call, post

REFUSED: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "/file?path=nope.py", None),
    ("GET", "/symbols?path=nope.py", None),
    ("GET", "/related?target=@@zzqqyy", None),
    ("GET", "/map?folder=nope", None),
    ("GET", "/map?file=nope.py", None),
    ("GET", "/modules?folder=nope", None),
    ("POST", "/search", {"query": " "}),
    ("POST", "/search", {"query": "@nope.py price"}),
    ("POST", "/search", {"query": "@@zzqqyy price"}),
    ("POST", "/search", {"query": "price", "language_filter": "nope"}),
    ("POST", "/context", {"query": "@nope.py price"}),
    ("POST", "/ask", {"query": "price", "pinned": ["nope.py"]}),
    ("POST", "/projects/shop/store/remove", {"project": "nope"}),
]


@pytest.mark.parametrize(("method", "path", "body"), REFUSED, ids=[f"{path} {body or ''}" for _, path, body in REFUSED])
def test_over_http_a_remedy_names_no_command(
    reading: httpx.Client, method: str, path: str, body: dict[str, Any] | None
) -> None:
    answer = reading.request(method, path, json=body)
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.json()["hint"]
    assert "fathom " not in answer.json()["hint"]


def test_a_route_that_a_remedy_names_is_there(reading: httpx.Client) -> None:
    hint = reading.get("/file?path=nope.py").json()["hint"]
    assert hint.endswith("; GET /projects/ID/status lists what is left out")
    assert "skipped" in reading.get("/projects/shop/status").json()


def test_an_unknown_field_gets_the_name_that_may_be_meant(reading: httpx.Client) -> None:
    told = reading.post("/search", json={"query": "price", "project": "shop"}).json()
    assert told["detail"] == "body.project is not a field of this request"
    assert told["hint"] == "did you mean project_id?"
    told = reading.post("/context", json={"query": "price", "zzqqyy": 1}).json()
    assert told["hint"].startswith("this request takes anyway, changed_after, ")
    assert "hint" in reading.post("/projects/shop/index", json={"fulll": True}).json()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "price", "lang": "nope"}),
        ("search", {"query": "@@zzqqyy price"}),
        ("search", {"query": "@nope.py price"}),
        ("read", {"path": "/nope/zz.zz"}),
        ("related", {"target": "@@zzqqyy"}),
        ("map", {"paths": ["nope"]}),
    ],
)
def test_for_an_agent_a_remedy_names_no_command(reading: httpx.Client, tool: str, arguments: dict[str, Any]) -> None:
    result = post(reading, call(tool, **arguments)).json()["result"]
    text = result["content"][0]["text"]
    assert result["isError"]
    assert "Remedy: " in text
    assert "fathom " not in text
