"""A remedy names what exists on the face where it is shown: routes over HTTP, tools for agents, commands elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_type_hints

import httpx
import pytest
from pydantic import TypeAdapter

from codefathom.answer.answer_types import Answer
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.facts.remedies import for_agents_over_http
from codefathom.mcp.tool_results import head_part, in_words
from codefathom.providers.base import Usage
from codefathom.server.answers.answer_events import details_of
from codefathom.server.app import create_app
from codefathom.server.schemas.search_schemas import NoteOut, Out
from codefathom.server.server_config import ServerConfig
from codefathom.types import SearchResult

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


@pytest.mark.parametrize(
    "path",
    ["/files?folder=nope", "/map?folder=nope", "/map?file=nope.py", "/modules?folder=nope", "/file?path=nope.py"],
)
def test_a_path_that_is_not_there_is_not_found(reading: httpx.Client, path: str) -> None:
    answer = reading.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "source")


@pytest.mark.parametrize("route", ["search", "context", "ask"])
def test_a_filter_that_nothing_passes_is_told(reading: httpx.Client, route: str) -> None:
    told = reading.post(f"/{route}", json={"query": "order", "repository_filter": "zzqqyy"}).json()
    assert "no indexed lines pass the filter" in " ".join([told.get("suggestion", ""), *told["degraded"]])


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


LACKS = Note(say.REPAIRED_BY_INDEX, {"damage": Note(say.PART_MISSING, {"part": Note(say.INDEX_OF_WORDS)})})
WEAK = Note(say.WEAK_REMEDY, {"confidence": "0.10"})
# Sentences beside which the same stands as notes, and which name what is in files: no remedy stands there.
OF_FILES = {"place", "name", "completeness"}


def _models(base: type[Out]) -> Iterator[type[Out]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)


def test_each_sentence_of_the_program_is_told_with_routes(config: ServerConfig) -> None:
    create_app(config)  # which imports the models of all routes
    hints = {model: get_type_hints(model, include_extras=True) for model in set(_models(Out))}
    fields = [
        (model.__name__, name, hints[model][name])
        for model in hints
        for name in model.model_fields
        if name == "degraded" or (f"{name}_parts" in model.model_fields and name not in OF_FILES)
    ]
    assert len(fields) > 20
    told = {
        f"{model}.{name}": TypeAdapter(kind).validate_python([str(LACKS)] if "list" in str(kind) else str(LACKS))
        for model, name, kind in fields
    }
    over = {where for where, text in told.items() if "; POST /projects/ID/index repairs it" not in str(text)}
    assert over == {"HitOut.reason"}


def test_a_text_of_somebody_else_is_told_with_routes_too() -> None:
    note = NoteOut(kind=say.VERBATIM, values={"text": "run `fathom index`"})
    assert note.values == {"text": "send POST /projects/ID/index"}


def test_an_answer_on_its_way_is_told_with_routes() -> None:
    answer = Answer("What?", "Two.", (), (), 1.0, 0.1, "low", "", Usage(0, 0), (), 1, problems=(LACKS, WEAK))
    told = details_of(answer, ["shop"], is_joined=False)["degraded"]
    assert told[0].endswith("; POST /projects/ID/index repairs it")
    assert told[1].endswith('; "anyway": true in POST /ask and POST /context shows the closest matches')


def test_an_agent_of_a_server_is_told_routes() -> None:
    result = SearchResult("q", (), "chunk", "hybrid", 0.0, 1, problems=(LACKS,), advice=Note(say.RUN_INDEX))
    text = head_part(in_words(result, for_agents_over_http)).text
    assert "Nothing found. send POST /projects/ID/index" in text
    assert "; POST /projects/ID/index repairs it" in text


def test_a_question_is_led_to_the_route_that_answers_it(reading: httpx.Client) -> None:
    plan = reading.post("/search", json={"query": "how is the price of an order made?"}).json()["plan"]
    assert plan["why"] == "it is a question; POST /ask answers it in words"
