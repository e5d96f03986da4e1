"""Every error of a route as problem+json, below /v1 in OpenAI's envelope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from codefathom.errors import FathomError
from codefathom.server.http.answer_json import sound
from codefathom.server.http.known_parameters import UNKNOWN_FIELD, UNKNOWN_PARAMETER, remedy_for_field
from codefathom.server.http.page import page, wants_page
from codefathom.server.http.problem_json import MEDIA_TYPE, Problem, problem, problem_of, retry_after

PROBLEM: dict[str, Any] = {  # as OpenAPI describes every error
    "description": "What is wrong",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemOut"}}},
}

_NO_ROUTE, _OTHER_METHOD = 404, 405
_CODES = {
    _NO_ROUTE: "not_found",
    _OTHER_METHOD: "method_not_allowed",
    408: "timeout",
    413: "too_large",
    415: "unsupported_media_type",
}
OPENAI_PATH = "/v1/"
_OF_SERVER = 500
_MAX_PATH = 200  # characters of a path that an answer repeats
_NO_OBJECT = {"model_attributes_type", "dict_type", "model_type"}
_WORDS = {
    "missing": "is missing",
    UNKNOWN_FIELD: "is not a field of this request",
    UNKNOWN_PARAMETER: "is not a parameter of this route",
}
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def install(app: FastAPI) -> None:
    """Answer the errors of this application."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(FathomError, _failed)  # all else is the guard's, which logs it


def response_of(failure: Problem, path: str) -> JSONResponse:
    """Return the answer to a request that failed, below /v1 in the form that clients of OpenAI read."""
    if path.startswith(OPENAI_PATH):
        return JSONResponse(openai_error(failure), status_code=failure.status)
    content = {"type": failure.type, **{key: sound(value) for key, value in asdict(failure).items()}}
    return JSONResponse(content, status_code=failure.status, media_type=MEDIA_TYPE)


def openai_error(failure: Problem) -> dict[str, object]:
    """Return a problem in OpenAI's envelope; its clients show the message only, so that it contains the hint."""
    detail, hint = str(sound(failure.detail)), str(sound(failure.hint))
    kind = _OPENAI_TYPES.get(failure.status, "invalid_request_error" if failure.status < _OF_SERVER else "server_error")
    message = f"{detail} ({hint})" if hint else detail
    return {"error": {"message": message, "type": kind, "param": None, "code": failure.code}}


async def _failed(request: Request, error: Exception) -> JSONResponse:
    failure = request.state.problem = problem_of(error)  # for the measures
    response = response_of(failure, request.url.path)
    response.headers.update(retry_after(error))
    return response


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == _NO_ROUTE and request.method == "GET" and wants_page(request.headers):
        return page(request.state.root_path, _NO_ROUTE)  # it says so in the person's language, and leads back
    detail, hint = _sentences(request, error)
    failure = problem(error.status_code, detail, _CODES.get(error.status_code, "refused"), hint=hint)
    response = response_of(failure, request.url.path)
    response.headers.update(error.headers or {})
    return response


def _sentences(request: Request, error: HTTPException) -> tuple[str, str]:
    """Return the problem and its remedy: the framework's own words name neither the path nor the method."""
    path = request.url.path[:_MAX_PATH]
    if error.status_code == _NO_ROUTE and error.detail == "Not Found":
        return f"no such route: {request.method} {path}", "GET /openapi.json lists the routes"
    if error.status_code == _OTHER_METHOD:
        allowed = (error.headers or {}).get("Allow", "")
        return f"{path} does not take {request.method}", f"use {allowed}" if allowed else ""
    return str(error.detail), ""


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """Return the names of wrong values, and not the values themselves: one may be a secret."""
    assert isinstance(error, RequestValidationError)
    wrong = [_wrong_value(item) for item in error.errors()]
    is_long = any(item["type"] == "string_too_long" for item in error.errors())
    told = next((item["ctx"]["hint"] for item in error.errors() if item["type"] == UNKNOWN_PARAMETER), "")
    told = told or remedy_for_field(request, error.errors())
    hint = told or ("send a shorter text" if is_long else "/openapi.json has the form of each request")
    return response_of(problem(422, "; ".join(wrong[:5]), "invalid", hint=hint), request.url.path)


def _wrong_value(item: Mapping[str, Any]) -> str:
    """Return a sentence about one wrong value: a plain one for the mistakes that are made most."""
    name = ".".join(str(part) for part in item["loc"])
    if item["type"] == "json_invalid":
        return "the body is not valid JSON"
    if item["type"] in _NO_OBJECT and name == "body":
        return "the body must be a JSON object, sent with the header content-type: application/json"
    if words := _WORDS.get(item["type"]):
        return f"{name} {words}"
    return f"{name}: {item['msg']}"
