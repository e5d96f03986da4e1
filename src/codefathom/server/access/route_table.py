"""The one table of who may do what: each route and each tool for agents, with the role that it needs.

The guard reads it before a route is reached, and the application does not start with a route that has no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from re import Pattern
from typing import Any, Literal, TypeAlias

from starlette.routing import compile_path

from codefathom.errors import FathomError
from codefathom.server.access.audit_list import AuditAction
from codefathom.server.http.user_roles import Role

# open: without signing in. own: all who have signed in, each sees what is his own. project: the role in the project.
# server: administrators of all projects.
Scope: TypeAlias = Literal["open", "own", "project", "server"]


@dataclass(frozen=True, slots=True)
class RouteRule:
    """What a caller needs for a route."""

    scope: Scope
    role: Role = Role.NONE  # in the project
    unnamed: Scope = "project"  # without a project in the query
    action: AuditAction | Literal[""] = ""  # as the audit list names it; "": it is not listed


_OPEN, _OWN, _SERVER = RouteRule("open"), RouteRule("own"), RouteRule("server")
_READER = RouteRule("project", Role.READER)
_INDEXER = RouteRule("project", Role.INDEXER)
# With the name of a project all who may read it, without it administrators.
_READER_OR_SERVER = RouteRule("project", Role.READER, unnamed="server")


def _maintainer(action: AuditAction | Literal[""] = "") -> RouteRule:
    return RouteRule("project", Role.MAINTAINER, action=action)


def _admin(action: AuditAction) -> RouteRule:
    return RouteRule("project", Role.ADMIN, action=action)


def _server(action: AuditAction) -> RouteRule:
    return RouteRule("server", action=action)


ROUTE_RULES: Mapping[str, RouteRule] = {
    "GET /": _OPEN,
    "GET /docs": _OPEN,
    "GET /assets/{name}": _OPEN,
    "GET /health": _OPEN,
    "GET /readyz": _OPEN,
    "GET /version": _OPEN,
    "GET /sign-in": _OPEN,
    "GET /sign-in/callback": _OPEN,  # writes "signed in" into the audit list itself: its answer is a redirect
    # ---- what each sees of its own
    "GET /openapi.json": _OWN,
    "GET /session": _OWN,
    "POST /hooks/{project_id}": _OPEN,  # the body is signed
    "POST /sign-out": RouteRule("own", action="signed out"),
    "GET /signals": _OWN,
    "GET /projects": _OWN,
    "GET /projects/indexed": _OWN,
    "GET /jobs": _OWN,
    "GET /v1/models": _OWN,
    "GET /conversations": _OWN,
    "GET /conversations/{conversation_id}": _OWN,
    "PATCH /conversations/{conversation_id}": _OWN,
    "DELETE /conversations/{conversation_id}": _OWN,
    "GET /conversations/{conversation_id}/export": _OWN,
    "GET /conversations/{conversation_id}/cited": _OWN,
    "PUT /conversations/{conversation_id}/ratings/{answer_id}": _OWN,
    "DELETE /conversations/{conversation_id}/ratings/{answer_id}": _OWN,
    "GET /answers/{answer_id}/events": _OWN,
    "POST /answers/{answer_id}/stop": _OWN,
    "POST /mcp": _OWN,  # its tools: see TOOL_NEEDS
    "DELETE /mcp": _OWN,
    # ---- asking and reading
    "GET /projects/{project_id}": _READER,
    "GET /projects/{project_id}/status": _READER,
    "GET /projects/{project_id}/watch": _READER,
    "GET /projects/{project_id}/index": _READER,
    "GET /jobs/{job_id}": _READER,
    "GET /jobs/{job_id}/events": _READER,
    "POST /search": _READER,
    "POST /federated/search": _READER,
    "POST /context": _READER,
    "POST /projects/{project_id}/impact": _READER,
    "GET /files": _READER,
    "GET /file": _READER,
    "GET /file-tree": _READER,
    "GET /picture": _READER,
    "GET /symbols": _READER,
    "GET /related": _READER,
    "GET /history": _maintainer(),  # it shows what was removed since
    "GET /blame": _maintainer(),  # it shows messages of commits
    "GET /commits": _maintainer(),  # it shows them, too
    "GET /name-at": _READER,
    "GET /glance": _READER,
    "GET /tour": _READER,
    "GET /modules": _READER,
    "GET /map": _READER,
    "GET /federated/symbols": _READER,
    "GET /federated/related": _READER,
    "GET /federated/map": _READER,
    "POST /ask": _READER,
    "POST /ask/stream": _READER,
    "POST /ask/agent": _READER,
    "POST /query": _READER,
    "POST /conversations": _READER,
    "POST /v1/chat/completions": _READER,
    "GET /config": _READER_OR_SERVER,
    "GET /monitoring/services": _READER_OR_SERVER,
    # ---- indexing
    "POST /projects/{project_id}/index": RouteRule("project", Role.INDEXER, action="index started"),
    "POST /projects/{project_id}/files": _INDEXER,
    "POST /jobs/{job_id}/cancel": RouteRule("project", Role.INDEXER, action="job cancelled"),
    # ---- a project: its settings, its index, watching
    "PATCH /projects/{project_id}": _maintainer("project changed"),
    "POST /projects/{project_id}/test": _maintainer(),
    "POST /projects/{project_id}/watch": _maintainer("watching started"),
    "DELETE /projects/{project_id}/watch": _maintainer("watching stopped"),
    "DELETE /projects/{project_id}/index": _maintainer("index removed"),
    # ---- a project as a whole; a store may be shared with other projects
    "DELETE /projects/{project_id}": _admin("project removed"),
    "GET /projects/{project_id}/store": _SERVER,
    "POST /projects/{project_id}/store/init": _server("store prepared"),
    "POST /projects/{project_id}/store/verify": _server("store compared"),
    "POST /projects/{project_id}/store/move": _server("vectors moved"),
    "POST /projects/{project_id}/store/remove": _server("vectors removed"),
    # ---- the whole server
    "GET /monitoring/stats": _SERVER,
    "GET /monitoring/store": _SERVER,
    "GET /monitoring/history": _SERVER,
    "GET /metrics": _SERVER,
    "GET /tokens": _SERVER,
    "POST /tokens": _server("token made"),
    "DELETE /tokens/{token_id}": _server("token revoked"),
    "GET /audit": _SERVER,
    "GET /ratings": _SERVER,
    "POST /projects/plan": _SERVER,
    "POST /projects/validate-path": _SERVER,
    "POST /validate-path": _SERVER,
    "POST /projects": _server("project added"),
    "POST /index": _server("project added and indexed"),
}

# The tools of agents, at /mcp; each shows those projects only in which the caller has the role.
TOOL_NEEDS: Mapping[str, Role] = dict.fromkeys(("search", "read", "related", "map", "ask"), Role.READER)


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """A route, its row, and the parts of a path that it names."""

    name: str  # such as GET /projects/{project_id}
    rule: RouteRule
    parts: Mapping[str, str]


def match_route(method: str, path: str) -> RouteMatch | None:
    """Return the row for a request, None where there is no route: the router says that in its own words."""
    name = f"{'GET' if method == 'HEAD' else method} {path}"
    if name in ROUTE_RULES and "{" not in path:
        return RouteMatch(name, ROUTE_RULES[name], {})
    for pattern, its_method, template in _PATTERNS:
        if its_method == name.partition(" ")[0] and (match := pattern.match(path)):
            return RouteMatch(template, ROUTE_RULES[template], match.groupdict())
    return None


def check_complete(app: Any) -> None:
    """Raise FathomError for a route of an application that has no row here, and for a row without a route."""
    routes = set(routes_in(app.routes))
    if routes != set(ROUTE_RULES):
        missing, spare = sorted(routes - set(ROUTE_RULES)), sorted(set(ROUTE_RULES) - routes)
        raise FathomError(
            f"the table of rights and the routes differ: without a row: {', '.join(missing) or 'none'}; "
            f"without a route: {', '.join(spare) or 'none'}",
            hint="write the row in access/route_table.py",
        )


def routes_in(routes: Iterable[Any]) -> Iterator[str]:
    """Yield all routes of an application, each as METHOD /path; those that the documents leave out, too."""
    for route in routes:
        for one in getattr(getattr(route, "original_router", None), "routes", [route]):
            yield from (f"{method} {one.path}" for method in one.methods or () if method != "HEAD")


def _patterns() -> Iterator[tuple[Pattern[str], str, str]]:
    for name in ROUTE_RULES:
        method, _, path = name.partition(" ")
        if "{" in path:
            yield compile_path(path)[0], method, name


_PATTERNS = tuple(_patterns())
