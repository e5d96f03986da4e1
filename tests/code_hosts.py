"""Small servers that list repositories, and who may read them, as GitHub, GitLab and Gitea do.

They refuse what these would refuse. The paths, parameters, headers and fields are those of the hosts' documents for
"list organization repositories", "list a group's projects" and "list an organization's repos", and for "list repository
collaborators", "list all members of a project including inherited ones", "list a repository's collaborators", "list a
repository's teams" and "list a team's members". The repositories are served by real git.
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
# Somebody who reads the code by himself or by a group, and somebody who sees the repository and not its code.
ACCESS = ("own", "group", "guest")


@dataclass
class Hosted:
    """A repository of a host."""

    number: int
    path: str
    level: str = "public"
    fork: bool = False
    archived: bool = False
    empty: bool = False
    active: str = "2024-05-06T07:08:09Z"  # when it was last active
    people: dict[str, str] = field(default_factory=dict)  # a login, and how it has access: one of ACCESS
    people_status: int = 0  # of a refusal to say so
    is_private: bool = False  # whatever its level is
    code_level: str = ""  # of GitLab: who may read the code, where that is not who may see the project


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
    odd_people: list[object] = field(default_factory=list)  # these, and no others, are said to have access
    is_endless: bool = False  # its lists of people have no end
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


_PEOPLE = {
    "github": r"/repos/(?P<path>[^/]+/[^/]+)/(?P<what>collaborators)",
    "gitlab": r"/projects/(?P<path>[^/]+)/(?P<what>members/all)",
    "gitea": r"(?:/repos/(?P<path>[^/]+/[^/]+)/(?P<what>collaborators|teams)|/teams/(?P<team>\d+)/members)",
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
        query = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
        if people := re.fullmatch(_API[host.kind] + _PEOPLE[host.kind], parts.path):
            self._list_people(people, query, is_known=bool(authorization))
            return
        form = re.fullmatch(_API[host.kind] + _LISTS[host.kind], parts.path)
        if form is None or (host.token and not authorization):
            self._answer(404, {"message": "Not Found"})
            return
        group = next((name for name in (*host.groups, *host.users) if quote(name, safe="") == form[2]), None)
        if group is None or (form[1] == "users") != (group in host.users):
            self._answer(404, {"message": "Not Found"})
            return
        self._list(form[1], group, query)

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

    def _list_people(self, form: re.Match[str], query: dict[str, str], *, is_known: bool) -> None:
        host, what = self.host, form["what"]
        number = int(form.groupdict().get("team") or 0) // 10
        item = next(
            (
                each
                for each in host.listed
                if quote(each.path, safe=self._safe()) == form["path"] or each.number == number
            ),
            None,
        )
        if not is_known:
            self._answer(401, {"message": "Requires authentication"})
        elif item is None:
            self._answer(404, {"message": "Not Found"})
        elif item.people_status:
            self._answer(item.people_status, {"message": f"Must have push access to {item.path}\x1b[2J"})
        elif what == "teams":
            self._teams(item)
        else:
            shown = item.people
            if host.kind == "gitea":
                role = {0: "own", 1: "group", 2: "guest"}[int(form["team"] or 0) % 10]
                shown = {login: access for login, access in shown.items() if access == role}
            self._page_of_people([self._person(login, access) for login, access in shown.items()], query)

    def _safe(self) -> str:
        return "" if self.host.kind == "gitlab" else "/"

    def _page_of_people(self, people: list[object], query: dict[str, str]) -> None:
        host = self.host
        page, size = int(query.pop("page", "1")), int(query.pop("limit" if host.kind == "gitea" else "per_page", "30"))
        allowed = {"affiliation": {"outside", "direct", "all"}} if host.kind == "github" else {}
        if page < 1 or not 1 <= size <= 100 or any(value not in allowed.get(name, ()) for name, value in query.items()):
            self._answer(422, {"message": "Validation Failed"})
            return
        if query.get("affiliation", "all") != "all":
            people = []
        people, size = host.odd_people or people, len(host.odd_people) or min(size, PAGE)
        last = max(-(-len(people) // size), 1)
        if host.is_endless:
            page, last = 1, 2
        self._answer(200, people[(page - 1) * size : page * size], self._page_headers(page, last, len(people)))

    def _person(self, login: str, access: str) -> dict[str, Any]:
        if self.host.kind == "gitlab":
            state, level = ("blocked", 40) if access == "blocked" else ("active", 10 if access == "guest" else 20)
            return {"id": 1, "username": login, "name": "Somebody", "state": state, "access_level": level}
        person = {"id": 1, "login": login, "email": "elsewhere@example.org"}
        if self.host.kind == "github":
            rights = dict.fromkeys(("admin", "maintain", "push", "triage"), False)
            return person | {"type": "User", "role_name": "read", "permissions": {**rights, "pull": access != "guest"}}
        return person | {"username": login}

    def _teams(self, item: Hosted) -> None:
        """Answer with all teams of an organisation that have access, whatever page is asked for."""
        if item.path.partition("/")[0] in self.host.users:
            self._answer(405, {"message": "repo is not owned by an organization"})
            return
        units = {1: {"repo.code": "read", "repo.wiki": "none"}, 2: {"repo.code": "none", "repo.issues": "write"}}
        teams = [
            {"id": 10 * item.number + number, "name": "t", "permission": "read", "units_map": right}
            for number, right in units.items()
        ]
        self._answer(200, teams)

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
                "last_activity_at": item.active,
                "repository_access_level": item.code_level or ("private" if item.is_private else "enabled"),
                **fork,
            }
        shape = {
            "id": item.number,
            "name": name,
            "full_name": item.path,
            "private": item.is_private or item.level == "private",
            "fork": item.fork,
            "archived": item.archived,
            "default_branch": "main",
            "clone_url": elsewhere,
        }
        if self.host.kind == "github":
            return shape | {"visibility": item.level, "pushed_at": item.active}
        return shape | {"updated_at": item.active, "internal": item.level == "internal", "empty": item.empty}

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
