"""The page at /docs: every route, its parameters and its forms, as HTML without scripts. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_HEAD = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Codefathom: the HTTP interface</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
summary { cursor: pointer; padding: .2em 0 } code, pre { font: 14px/1.5 ui-monospace, monospace }
pre { overflow-x: auto; padding: .6em; border: 1px solid; border-radius: 6px }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .2em .6em .2em 0 }
details > div { padding-left: 1.2em }
</style>
<h1>The HTTP interface</h1>
<p>This page is made from <a href="openapi.json">/openapi.json</a>, which describes the interface for programs. If the
server has tokens, every request needs the header <code>Authorization: Bearer TOKEN</code>.</p>
"""
Schemas = Mapping[str, Mapping[str, Any]]


def api_page(document: Mapping[str, Any]) -> str:
    """Return the page for an OpenAPI document."""
    schemas: Schemas = document["components"]["schemas"]
    by_tag: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            title = f"{method.upper()} {path}"
            by_tag.setdefault(operation["tags"][0], []).append("".join(_operation(title, operation, schemas)))
    sections = (f"<h2>{escape(tag.capitalize())}</h2>\n{''.join(parts)}" for tag, parts in by_tag.items())
    return _HEAD + "".join(sections) + "</html>\n"


def _operation(title: str, operation: Mapping[str, Any], schemas: Schemas) -> Iterator[str]:
    yield f"<details><summary><code>{escape(title)}</code> {escape(operation['summary'])}</summary><div>\n"
    parameters = operation.get("parameters", [])
    if parameters:
        yield _table("Parameters", [_parameter(parameter) for parameter in parameters])
    for content in operation.get("requestBody", {}).get("content", {}).values():
        yield from _form("Request body", content, schemas)
    for status, answer in operation["responses"].items():
        for kind, content in answer.get("content", {}).items() if status.startswith("2") else ():
            yield from _form(f"Response {status}, {kind}", content, schemas)
    yield "</div></details>\n"


def _parameter(parameter: Mapping[str, Any]) -> tuple[str, str, str]:
    is_needed = parameter.get("required")
    default = "required" if is_needed else f"default {json.dumps(parameter['schema'].get('default'))}"
    return parameter["name"], default, parameter.get("description", "")


def _form(title: str, content: Mapping[str, Any], schemas: Schemas) -> Iterator[str]:
    schema = content.get("schema", {})
    named = schemas.get(schema.get("$ref", "").rpartition("/")[2], {})
    needed = named.get("required", ())
    rows = [
        (name, "required" if name in needed else "", part.get("description", ""))
        for name, part in named.get("properties", {}).items()
    ]
    if rows:
        yield _table(title, rows)
    else:
        yield f"<h3>{escape(title)}</h3>\n"
    example = content.get("example", example_of(schema, schemas))
    text = example if isinstance(example, str) else json.dumps(example, ensure_ascii=False, indent=2)
    yield f"<pre>{escape(text.rstrip())}</pre>\n"


def _table(title: str, rows: list[tuple[str, str, str]]) -> str:
    lines = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(need)}</td><td>{escape(text)}</td></tr>\n"
        for name, need, text in rows
    )
    return f"<h3>{escape(title)}</h3>\n<table>\n{lines}</table>\n"


def example_of(schema: Mapping[str, Any], schemas: Schemas) -> Any:
    """Return a value of this form: the example that it names, else one made of those of its parts."""
    if schema.get("examples"):
        return schema["examples"][0]
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0], schemas)
    if schema.get("type") == "array":
        return [example_of(schema["items"], schemas)]
    if "properties" in schema:
        return {name: example_of(part, schemas) for name, part in schema["properties"].items()}
    return schema.get("default", "")
