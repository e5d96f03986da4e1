"""Small servers that list repositories as GitHub, GitLab and Gitea do, and refuse what these would refuse.

The paths, parameters, headers and fields are those of the hosts' documents for "list organization repositories", "list
a group's projects" and "list an organization's repos". The repositories are served by real git.
"""

from __future__ import annotations

import json
import re
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from tests.git_over_http import GitRequest, Repositories, serving

PAGE = 2  # a host may give fewer than it is asked for
KINDS = ("github", "gitlab", "gitea")


@dataclass
class Hosted:
    """A repository of a host."""

    number: int
    path: str
    level: str = "public"
    fork: bool = False
    archived: bool = False
    empty: bool = False


@dataclass
class Host:
    """A host of one kind."""

    kind: str
    git: Repositories
    listed: list[Hosted] = field(default_factory=list)
    groups: tuple[str, ...] = ("acme",)
    users: tuple[str, ...] = ()
    token: str = ""  # "": public repositories can be read without
    limits: list[dict[str, str]] = field(default_factory=list)  # headers of refusals before the next answer
    limit_status: int = 429
    has_links: bool = True
    asked: list[str] = field(default_factory=list)

    def require_token(self, token: str) -> None:
        """Let only this token in, over REST and by git."""
        self.token = token
        user = "x-access-token" if self.kind == "github" else "oauth2"
        self.git.login = f"Basic {b64encode(f'{user}:{token}'.encode()).decode()}"


_API = {"github": "/api/v3", "gitlab": "/api/v4", "gitea": "/api/v1"}
_LISTS = {
    "github": r"/(orgs|users)/([^/]+)/repos",
    "gitlab": r"/(groups|users)/([^/]+)/projects",
    "gitea": r"/(orgs|users)/([^/]+)/repos",
}
_ALLOWED = {
    ("github", "orgs"): {
        "type": {"all", "public", "private", "forks", "sources", "member"},
        "sort": {"created", "updated", "pushed", "full_name"},
        "direction": {"asc", "desc"},
    },
    ("github", "users"): {
        "type": {"all", "owner", "member"},
        "sort": {"created", "updated", "pushed", "full_name"},
        "direction": {"asc", "desc"},
    },
    ("gitlab", "groups"): {
        "include_subgroups": {"true", "false"},
        "with_shared": {"true", "false"},
        "order_by": {"id", "name", "path", "created_at", "updated_at", "last_activity_at"},
        "sort": {"asc", "desc"},
    },
    ("gitlab", "users"): {"order_by": {"id", "name", "path", "created_at"}, "sort": {"asc", "desc"}},
    ("gitea", "orgs"): {},
    ("gitea", "users"): {},
}


class HostRequest(GitRequest):
    """A request to a host: REST below its path, else git."""

    host: Host

    def do_GET(self) -> None:
        if self.path.startswith(_API[self.host.kind] + "/"):
            self._rest()
        else:
            self.by_git()

    def _rest(self) -> None:
        host = self.host
        host.asked.append(self.path)
        if host.limits:
            self._answer(host.limit_status, {"message": "API rate limit exceeded"}, host.limits.pop(0))
            return
        authorization = self.headers.get("Authorization", "")
        if authorization not in (f"Bearer {host.token}" if host.token else "", ""):
            self._answer(401, {"message": "Bad credentials"})
            return
        if host.kind == "github" and not self.headers.get("User-Agent"):
            self._answer(403, {"message": "Request forbidden by administrative rules"})
            return
        parts = urlsplit(self.path)
        form = re.fullmatch(_API[host.kind] + _LISTS[host.kind], parts.path)
        if form is None or (host.token and not authorization):
            self._answer(404, {"message": "Not Found"})
            return
        group = next((name for name in (*host.groups, *host.users) if quote(name, safe="") == form[2]), None)
        if group is None or (form[1] == "users") != (group in host.users):
            self._answer(404, {"message": "Not Found"})
            return
        self._list(form[1], group, dict(parse_qsl(parts.query, strict_parsing=True)))

    def _list(self, what: str, group: str, query: dict[str, str]) -> None:
        host, size_name = self.host, "limit" if self.host.kind == "gitea" else "per_page"
        page, size = int(query.pop("page", "1")), int(query.pop(size_name, "30"))
        allowed = _ALLOWED[host.kind, what]
        if page < 1 or not 1 <= size <= 100 or any(value not in allowed.get(name, ()) for name, value in query.items()):
            self._answer(422, {"message": "Validation Failed"})
            return
        deep = host.kind == "gitlab" and query.get("include_subgroups") == "true"
        mine = [
            item
            for item in host.listed
            if item.path.startswith(f"{group}/") and (deep or "/" not in item.path.removeprefix(f"{group}/"))
        ]
        size = min(size, PAGE)
        shown, last = mine[(page - 1) * size : page * size], max(-(-len(mine) // size), 1)
        self._answer(200, [self._shape(item) for item in shown], self._page_headers(page, last, len(mine)))

    def _page_headers(self, page: int, last: int, total: int) -> dict[str, str]:
        if not self.host.has_links:
            return {}
        # A host behind a proxy may name itself wrongly.
        base = "http://wrong.example" + re.sub(r"[?&]page=\d+", "", self.path)
        numbers = {"next": page + 1 if page < last else 0, "last": last}
        links = [f'<{base}&page={number}>; rel="{name}"' for name, number in numbers.items() if number]
        headers = {"Link": ", ".join(links)} if last > 1 or self.host.kind == "gitlab" else {}
        if self.host.kind == "gitlab":
            headers |= {"X-Next-Page": str(numbers["next"] or ""), "X-Total": str(total)}
        return headers | ({"X-Total-Count": str(total)} if self.host.kind == "gitea" else {})

    def _shape(self, item: Hosted) -> dict[str, Any]:
        name = item.path.rpartition("/")[2]
        # Addresses of an answer must not be used: a token would go there.
        elsewhere = f"http://wrong.example/{item.path}.git"
        if self.host.kind == "gitlab":
            fork = {"forked_from_project": {"id": 1}} if item.fork else {}
            return {
                "id": item.number,
                "path": name,
                "path_with_namespace": item.path,
                "visibility": item.level,
                "archived": item.archived,
                "empty_repo": item.empty,
                "default_branch": None if item.empty else "main",
                "http_url_to_repo": elsewhere,
                **fork,
            }
        shape = {
            "id": item.number,
            "name": name,
            "full_name": item.path,
            "private": item.level == "private",
            "fork": item.fork,
            "archived": item.archived,
            "default_branch": "main",
            "clone_url": elsewhere,
        }
        if self.host.kind == "github":
            return shape | {"visibility": item.level}
        return shape | {"internal": item.level == "internal", "empty": item.empty}

    def _answer(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def exhausted(kind: str, wait_s: int) -> dict[str, str]:
    """The headers with which a host of a kind refuses a call, and says how long to wait."""
    reset = str(int(time.time()) + wait_s)
    if kind == "github":
        return {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    if kind == "gitlab":
        return {"RateLimit-Remaining": "0", "RateLimit-Reset": reset, "Retry-After": str(wait_s)}
    return {"Retry-After": str(wait_s)}


@contextmanager
def serving_host(host: Host) -> Iterator[str]:
    """Serve a host inside the block; give its address."""
    host.git.folder.mkdir(parents=True, exist_ok=True)
    with serving(type("Request", (HostRequest,), {"host": host, "repositories": host.git})) as address:
        yield address
