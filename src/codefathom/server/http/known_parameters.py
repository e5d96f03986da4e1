"""A parameter in the address that its route does not know is an error, as an unknown field of a body is one.

Else a filter with a wrong name would be left out in silence, and the answer taken for the filtered one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any

from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.params import Query
from fastapi.routing import APIRoute

from codefathom.text.near_names import near_names

UNKNOWN_PARAMETER = "unknown_parameter"
UNKNOWN_FIELD = "extra_forbidden"  # so pydantic calls it
_TOP = 2  # parts of the place of a field of the body itself
_MOST_SHOWN = 100  # characters of a name
_OF_A_PROVIDER = "/sign-in/callback"  # an OpenID provider may add parameters of its own


def parameter_check() -> Callable[[Request], Awaitable[None]]:
    """Return what raises RequestValidationError for parameters that the route of a request does not know.

    A route without any takes all: addresses of health and of lists may carry a number against caches.
    """
    names_of: dict[str, frozenset[str]] = {}  # by the name of the route

    async def check(request: Request) -> None:
        route = request.scope.get("route")
        if not request.query_params or not isinstance(route, APIRoute) or route.path == _OF_A_PROVIDER:
            return
        if (names := names_of.get(route.unique_id)) is None:
            fields = get_flat_params(route.dependant)
            names = names_of[route.unique_id] = frozenset(
                field.alias for field in fields if isinstance(field.field_info, Query)
            )
        wrong = [name for name in request.query_params if name not in names] if names else []
        if wrong:
            raise RequestValidationError([_unknown(name, names) for name in wrong])

    return check


def remedy_for_field(request: Request, errors: Iterable[Mapping[str, Any]]) -> str:
    """Return what may be meant by the first field that the body of a request does not have; "" where all are known."""
    name = next(
        (str(item["loc"][1]) for item in errors if item["type"] == UNKNOWN_FIELD and len(item["loc"]) == _TOP), ""
    )
    body = getattr(request.scope.get("route"), "body_field", None)
    fields = getattr(body.field_info.annotation, "model_fields", None) if body else None
    return _remedy(name, fields, "this request") if name and fields else ""


def _unknown(name: str, names: Collection[str]) -> dict[str, object]:
    hint = _remedy(name, names, "this route")
    return {"type": UNKNOWN_PARAMETER, "loc": ("query", name[:_MOST_SHOWN]), "ctx": {"hint": hint}}


def _remedy(name: str, names: Collection[str], what: str) -> str:
    near = near_names(name, names, most=1)
    return f"did you mean {near[0]}?" if near else f"{what} takes {', '.join(sorted(names))}"
