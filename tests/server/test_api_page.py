"""The page at /docs and its OpenAPI document: every route and field is described, and nothing is loaded."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from tests.server.conftest import Serve
from tests.waiting import LONG_S

from codefathom.server.app import create_app
from codefathom.server.http.api_page import api_page
from codefathom.server.http.field_texts import TEXTS
from codefathom.server.server_config import ServerConfig, token_of

METHODS = {"get", "post", "put", "patch", "delete"}


class Tags(HTMLParser):
    """Collects the elements of a page, with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(page)
    return parser.seen


@pytest.fixture
def document(config: ServerConfig) -> dict:
    return create_app(config).openapi()


def test_each_operation_has_a_summary_and_each_parameter_a_description(document: dict) -> None:
    operations = [
        (f"{method} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    ]
    assert len(operations) > 50
    assert [name for name, operation in operations if not operation.get("summary")] == []
    assert [
        (name, parameter["name"])
        for name, operation in operations
        for parameter in operation.get("parameters", ())
        if not parameter.get("description")
    ] == []


def test_each_field_has_a_description(document: dict) -> None:
    fields = [
        (f"{name}.{field}", part)
        for name, schema in document["components"]["schemas"].items()
        for field, part in schema.get("properties", {}).items()
    ]
    assert len(fields) > 500
    assert [name for name, part in fields if not part.get("description")] == []


def test_each_text_of_a_field_is_used(document: dict) -> None:
    fields = {
        f"{name}.{field}": part.get("description")
        for name, schema in document["components"]["schemas"].items()
        for field, part in schema.get("properties", {}).items()
    }
    used = {(name if name in TEXTS else name.partition(".")[2]) for name in fields}
    used |= {
        parameter["name"]
        for methods in document["paths"].values()
        for operation in methods.values()
        for parameter in operation.get("parameters", ())
    }
    assert set(TEXTS) - used == set()


def test_the_page_shows_every_route_and_loads_nothing(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, tokens=(token_of("me:" + "0" * 64),))) as client:
        answer = client.get("/docs")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    for path, methods in create_app(config).openapi()["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in answer.text
    seen = tags(answer.text)
    assert {tag for tag, _ in seen} & {"script", "img", "iframe", "object", "embed", "form", "base"} == set()
    assert [tag for tag, attributes in seen for name in attributes if name == "src" or name.startswith("on")] == []
    assert {attributes["href"] for _, attributes in seen if "href" in attributes} == {"openapi.json"}


def test_text_of_a_description_is_not_read_as_html() -> None:
    evil = "<script>alert(1)</script>\"'&"
    document = {
        "components": {"schemas": {"A": {"properties": {evil: {"type": "string", "description": evil}}}}},
        "paths": {
            f"/{evil}": {
                "post": {
                    "summary": evil,
                    "tags": [evil],
                    "parameters": [{"name": evil, "description": evil, "schema": {"default": evil}}],
                    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}},
                    "responses": {"200": {"content": {evil: {"example": evil, "schema": {}}}}},
                }
            }
        },
    }
    page = api_page(document)
    assert "script" not in {tag for tag, _ in tags(page)}
    assert page.count("&lt;script&gt;") >= 8


def test_the_document_can_be_printed_without_a_server(server: httpx.Client) -> None:
    page = (Path(__file__).parents[2] / "docs" / "http-api.md").read_text(encoding="utf-8")
    code = re.findall(r'python -c "(.*?)"', page)[0]
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, capture_output=True, timeout=LONG_S, check=True).stdout
    assert json.loads(printed) == server.get("/openapi.json").json()
