"""The web page: its files, and the requests for it that have the same path as a route."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import asdict
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Header, Request, Response
from fastapi import Path as InPath
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from codefathom.server.http.interface import DescribedApi
from codefathom.server.http.problem_json import NotFoundError, Problem

STATIC = Path(__file__).parents[1] / "static"

_PAGES = re.compile(r"/(?:chat(?:/[^/]+)?|project/[^/]+|search|projects|training|monitoring|people)/?")
_OTHER_NAMES = {"/training": "/projects"}  # a page, as users of other services call it
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_PACKED = {".css", ".js", ".json", ".svg"}
# The name of a file holds the hash of its content: what is there once never changes.
_FOR_EVER = "public, max-age=31536000, immutable"
_ASSETS = '="./assets/'  # as the page is built: for any path
_ROOT_PATH = '<meta name="root-path" content="'
_PROBLEM = '<meta name="problem" content="'
_LONGEST_ADDRESS = 2_000
_NOT_BUILT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Codefathom</title>
<body style="font: 16px/1.6 system-ui, sans-serif; max-width: 34em; margin: 12vh auto; padding: 0 1em">
<h1>The server is running, but the web page is not built</h1>
<p>This is a checkout of the source code. Run <code>make web</code> in it, which needs Node.js, and reload this page.
An installed wheel of Codefathom contains the page.</p>
<p>The HTTP interface can do all that the page can: <a href="{root}/docs">/docs</a> describes it.</p>
</body>
</html>
"""

Name: TypeAlias = Annotated[str, InPath(max_length=200)]
AcceptEncoding: TypeAlias = Annotated[str, Header(max_length=1_000)]


class Navigation:
    """Answers a person who opens /projects with the page, and a program that asks for it with the projects."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, as one for the page if it is that."""
        if scope["type"] == "http" and is_navigation(scope["method"], scope["path"], Headers(scope=scope)):
            if other := _OTHER_NAMES.get(scope["path"].rstrip("/")):
                await RedirectResponse(other)(scope, receive, send)
                return
            scope = {**scope, "path": "/"}
        await self._app(scope, receive, send)


def is_navigation(method: str, path: str, headers: Headers) -> bool:
    """Return True if a browser opens one of the pages; requests of the page itself go to paths below /api."""
    return method in {"GET", "HEAD"} and wants_page(headers) and bool(_PAGES.fullmatch(path))


def wants_page(headers: Headers) -> bool:
    """Return True if a browser sent the request, not a program."""
    return "text/html" in headers.get("accept", "")


def is_page_address(address: str) -> bool:
    """Return True for an address of one of our pages below the root path, with its query: no other site, no route."""
    path = re.split(r"[?#]", address, maxsplit=1)[0]
    is_plain = address.isprintable() and "\\" not in address and len(address) <= _LONGEST_ADDRESS
    return is_plain and (path == "/" or bool(_PAGES.fullmatch(path)))


def is_built() -> bool:
    """Return True if there is a page to show."""
    return (STATIC / "index.html").is_file()


def problem_page(root_path: str, problem: Problem) -> HTMLResponse:
    """Return the page with a problem that it shows in the language of the person."""
    written = escape(json.dumps(asdict(problem)))
    shown = page(root_path, problem.status)
    text = bytes(shown.body).decode().replace(_PROBLEM, _PROBLEM + written)
    return HTMLResponse(text, problem.status, {"cache-control": "no-store"})


def page(root_path: str, status: int = 200) -> HTMLResponse:
    """Return the page; which of its views is shown, it takes from the address below `root_path`."""
    index = STATIC / "index.html"
    built = is_built()
    root = escape(root_path)
    text = index.read_text(encoding="utf-8") if built else _NOT_BUILT.replace("{root}", root)
    text = text.replace(_ASSETS, f'="{root}/assets/').replace(_ROOT_PATH, _ROOT_PATH + root)
    return HTMLResponse(text, status if built else 503, {"cache-control": "no-cache"})


def router(api: DescribedApi) -> APIRouter:
    """Return the routes of the page, of its files, and of the description of the interface."""
    routes = APIRouter(include_in_schema=False)

    @routes.api_route("/", methods=["GET", "HEAD"])
    def first(request: Request) -> Response:
        return page(request.state.root_path)

    @routes.get("/openapi.json")
    def document(request: Request) -> Response:
        root = request.state.root_path
        return JSONResponse(api.openapi() | ({"servers": [{"url": root}]} if root else {}))

    @routes.api_route("/docs", methods=["GET", "HEAD"])
    def docs() -> Response:
        return HTMLResponse(api.api_page, headers={"cache-control": "no-cache"})

    @routes.api_route("/assets/{name}", methods=["GET", "HEAD"])
    def asset(name: Name, accept_encoding: AcceptEncoding = "") -> Response:
        path = STATIC / "assets" / name
        # No name with a way out of the folder: it is one of those that lie in it.
        if path.parent != STATIC / "assets" or path.suffix not in _TYPES or not path.is_file():
            raise NotFoundError(f"no such file: {name!r}", hint="reload the page: there is a newer version of it")
        headers = {"cache-control": _FOR_EVER, "vary": "accept-encoding"}
        is_packed = path.suffix in _PACKED and "gzip" in accept_encoding
        if is_packed:
            headers["content-encoding"] = "gzip"
        content = _packed(path, path.stat().st_mtime_ns) if is_packed else path.read_bytes()
        return Response(content, headers=headers, media_type=_TYPES[path.suffix])

    return routes


@lru_cache(maxsize=256)
def _packed(path: Path, _changed: int) -> bytes:
    return gzip.compress(path.read_bytes(), 9, mtime=0)
