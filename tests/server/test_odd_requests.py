"""Whatever is sent, the answer is an answer or a problem, and never an error of the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# Text as JSON may hold it: half characters, the character 0, marks of a query.
ODD = [
    "\ud800",
    "\0",
    "@",
    "@@x",
    "lang:",
    '"',
    "{}",
    '{"query": 1}',
    "-",
    "shop",
    "a/b",
    "cart price",
    "lines > 3",
    "in:x",
]
TEXT = st.sampled_from(ODD) | st.text(max_size=12)
SCALAR = TEXT | st.integers() | st.none() | st.booleans() | st.floats()
ROLES = st.sampled_from(["user", "assistant", "system", "x"])
TURNS = st.lists(st.fixed_dictionaries({"role": ROLES, "content": TEXT}), max_size=3)
PROJECT = st.sampled_from(["shop", "shop:agent", "none", ""])
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "codebase_path": TEXT,
    "conversation_id": TEXT,
    "filter": TEXT,
    "full": st.booleans(),
    "history": TURNS,
    "keep": st.booleans(),
    "max_iterations": st.integers(-1, 200),
    "messages": TURNS,
    "model": PROJECT,
    "n": st.integers(0, 2),
    "pinned": st.lists(TEXT, max_size=2),
    "project_id": PROJECT,
    "project_ids": st.lists(PROJECT, max_size=2),
    "question": TEXT,
    "stream": st.booleans(),
    "title": TEXT,
    "top_k": st.integers(-1, 100),
}
ROUTES = {
    "/ask": ("question", "project_id", "pinned", "filter", "conversation_id", "keep", "history", "top_k"),
    "/ask/stream": ("question", "project_ids", "filter"),
    "/query": ("question", "project_id", "model", "max_iterations"),
    "/conversations": ("project_ids", "title"),
    "/index": ("codebase_path", "full"),
    "/projects/shop/index": ("full",),
    "/v1/chat/completions": ("model", "messages", "stream", "n"),
}
ADDRESSES = ["/jobs/{}", "/jobs/{}/events", "/answers/{}/events", "/conversations/{}", "/projects/{}/index"]


def bodies(route: str) -> st.SearchStrategy[dict[str, Any]]:
    """What a client may send: mostly the right kinds of values, some left out."""
    required, *optional = ROUTES[route]
    return st.fixed_dictionaries(
        {required: FIELDS[required]}, optional={name: FIELDS[name] | SCALAR for name in optional}
    )


@pytest.fixture
def plain(server: httpx.Client, shop: Path) -> httpx.Client:
    server.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
    return server


@pytest.mark.parametrize("route", ROUTES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_bodies(plain: httpx.Client, route: str, data: st.DataObject) -> None:
    body = data.draw(bodies(route))
    response = plain.post(route, content=json.dumps(body), headers={"content-type": "application/json"})
    assert response.status_code < 500, (body, response.text)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.text(min_size=1, max_size=8).filter(lambda text: text.strip("./")),
    route=st.sampled_from(ADDRESSES),
    last_event_id=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=8),
)
def test_addresses(server: httpx.Client, place: str, route: str, last_event_id: str) -> None:
    address, headers = route.format(quote(place, safe="")), {"last-event-id": last_event_id.strip()}
    response = server.get(address, headers=headers, follow_redirects=True)
    assert 400 <= response.status_code < 500


@pytest.mark.parametrize(
    ("address", "named", "hint"),
    [
        ("/file?project_id=shop&path=cart.py&start=3", "query.start", "did you mean start_line?"),
        ("/map?project_id=shop&max_token=100", "query.max_token", "did you mean max_tokens?"),
        ("/symbols?project=shop", "query.project", "did you mean project_id?"),
        ("/blame?path=cart.py&zzzzzzzz=1", "query.zzzzzzzz", "this route takes end_line, filePath, file_path, path, "),
    ],
)
def test_a_parameter_that_a_route_does_not_know_is_named(
    plain: httpx.Client, address: str, named: str, hint: str
) -> None:
    """It was left out in silence, so that the answer was taken for the filtered one."""
    answer = plain.get(address)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), answer.text
    assert answer.json()["detail"] == f"{named} is not a parameter of this route"
    assert answer.json()["hint"].startswith(hint)


def test_a_route_without_parameters_takes_a_number_against_caches(plain: httpx.Client) -> None:
    assert plain.get("/health?_=17").status_code == 200
