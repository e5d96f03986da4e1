"""Who may read which repository of a fleet: two persons over HTTP and MCP, and what neither learns of the other's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.agents import call, post
from tests.server.conftest import Serve

from codefathom.cli import main
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.readers_file import READERS
from codefathom.server.access.credentials import SignInRules
from codefathom.server.access.route_table import TOOL_NEEDS
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.client_address import network_of
from codefathom.server.http.user_roles import Role, rule_of
from codefathom.server.server_config import ServerConfig

HIDDEN, ABSENT = "quokka", "wombat"  # a repository that bob may not see, and one that is not there
RULES = """
[[rule]]
repositories = ["QUOK*"]
readers = ["ada", "token:bob"]
[[rule]]
repositories = ["beta"]
readers = ["@crew", "token:ci"]
"""
SAME = "def parse_same_header(line):\n    return line.split(':')\n"  # a file that both repositories have
PEOPLE = SignInRules(
    roles=tuple(map(rule_of, ("root=admin", "*=maintainer"))),
    user_header="X-Forwarded-User",
    groups_header="X-Forwarded-Groups",
)


def repository(folder: Path, name: str) -> str:
    """Make a repository with words of its own; the hidden one has many of a word that all have."""
    place = folder / name
    place.mkdir(parents=True)
    body = f"def refresh_token_{name}(user):\n    return user.token_{name}\n\n\ndef call_{name}(user):\n"
    (place / "code.py").write_text(f"{body}    return refresh_token_{name}(user)\n")
    if name != "gamma":
        (place / "same.py").write_text(SAME)
    if name == HIDDEN:
        for number in range(20):
            (place / f"more_{number}.py").write_text(f"def token_of_{name}_{number}(token):\n    return token\n")
    return str(place)


@pytest.fixture
def fleets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """The fleet `team` of three repositories, and `only`, which has those that bob may see."""
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    made = {name: repository(tmp_path / "clones", name) for name in (HIDDEN, "beta", "gamma")}
    assert main(["-q", "fleet", "add", "team", *made.values()]) == 0
    assert main(["-q", "fleet", "add", "only", made["beta"], made["gamma"]]) == 0
    with Fleet.open("only") as only, Fleet.open("team") as team:
        only.index()
        (Path(team.root) / READERS).write_text(RULES)
        team.index()
        yield team


@pytest.fixture
def client(fleets: Fleet, config: ServerConfig, serve: Serve) -> Iterator[httpx.Client]:
    tokens = tuple(Token(name, hash_of(name), role=Role.READER) for name in ("ci", "bob"))
    people = replace(config, trusted_proxies=(network_of("127.0.0.1"),), sign_in=PEOPLE, tokens=tokens)
    with serve(people) as client:
        for root in (fleets.root, fleets.root.replace("team", "only")):
            client.post("/projects", json={"path": root}, headers=of("root")).raise_for_status()
        yield client


def of(name: str) -> dict[str, str]:
    return {"x-forwarded-user": name, **({"x-forwarded-groups": "crew"} if name == "bob" else {})}


def answer_of(client: httpx.Client, name: str, method: str, path: str, body: Any = None) -> httpx.Response:
    return client.request(method, path, json=body, headers=of(name))


def plain(text: str) -> str:
    """Return an answer without what is another one each time."""
    text = re.sub(r"[0-9a-f]{32}", "ID", re.sub(r"\d+ ms|generation \d+, \d+ shards", "", text))
    return re.sub(r'"(id|created|\w+_(s|ms|at))": ?("[^"]*"|[\d.]+)', r'"\1":0', text)


WORDS = {"query": "refresh token", "question": "how are tokens refreshed"}
# What of a fleet asks for no name.
GENERAL: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/projects/{0}", None),
    ("GET", "/projects/{0}/status", None),
    ("GET", "/files?project_id={0}", None),
    ("GET", "/file-tree?project_id={0}", None),
    ("GET", "/symbols?project_id={0}", None),
    ("GET", "/symbols?project_id={0}&query=refresh", None),
    ("GET", "/related?project_id={0}&target=@@parse_same_header", None),
    ("GET", "/map?project_id={0}", None),
    ("GET", "/monitoring/services?project_id={0}", None),
    ("GET", "/config?project_id={0}", None),
    ("GET", "/projects/{0}/watch", None),
    ("GET", "/name-at?project_id={0}&path=beta/code.py&line=6&name=refresh_token_beta", None),
    ("POST", "/search", {"query": "refresh token", "project_ids": ["{0}"], "explain": True}),
    ("POST", "/search", {"query": "header parsing fork:no", "project_ids": ["{0}"], "explain": True}),
    ("POST", "/search", {"query": "-repo:gamma token", "project_ids": ["{0}"], "explain": True}),
    ("POST", "/search", {"query": "/tok[e]n/", "project_ids": ["{0}"]}),
    ("POST", "/context", {"query": "refresh token", "project_ids": ["{0}"]}),
    ("POST", "/ask", {"query": "how are tokens refreshed", "project_ids": ["{0}"]}),
)
# What names a repository, a file or a symbol.
NAMED: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/files?project_id={1}&folder={0}", None),
    ("GET", "/file?project_id={1}&path={0}/code.py", None),
    ("GET", "/file?project_id={1}&path={0}/cod.py", None),
    ("GET", "/file-tree?project_id={1}&folder={0}", None),
    ("GET", "/symbols?project_id={1}&path={0}/code.py", None),
    ("GET", "/symbols?project_id={1}&query=refresh_token_{0}", None),
    ("GET", "/related?project_id={1}&target={0}/code.py", None),
    ("GET", "/related?project_id={1}&target=@@refresh_token_{0}", None),
    ("GET", "/map?project_id={1}&folder={0}", None),
    ("GET", "/map?project_id={1}&file={0}/code.py", None),
    ("GET", "/map?project_id={1}&query=refresh_token_{0}", None),
    ("GET", "/name-at?project_id={1}&path={0}/code.py&line=6&name=refresh_token_{0}", None),
    ("GET", "/blame?project_id={1}&path={0}/code.py", None),
    ("GET", "/history?project_id={1}&place={0}/code.py:1-2", None),
    ("GET", "/federated/symbols?project_id={1}&query=refresh_token_{0}", None),
    ("GET", "/federated/related?project_id={1}&target=@@refresh_token_{0}", None),
    ("GET", "/federated/map?project_id={1}&query=refresh_token_{0}", None),
    ("POST", "/search", {"query": "token repo:{0}", "project_ids": ["{1}"]}),
    ("POST", "/search", {"query": "token -repo:{0}", "project_ids": ["{1}"]}),
    ("POST", "/search", {"query": "refresh_token_{0}", "project_ids": ["{1}"], "explain": True}),
    ("POST", "/search", {"query": "token path:{0}/*", "project_ids": ["{1}"]}),
    ("POST", "/search", {"query": "token", "project_ids": ["{1}"], "files": ["{0}/code.py"]}),
    ("POST", "/search", {"query": "token", "paths": ["{2}/{1}/{0}/code.py"]}),
    ("POST", "/federated/search", {"query": "token repo:{0}", "project_ids": ["{1}"]}),
    ("POST", "/context", {"query": "token", "project_ids": ["{1}"], "files": ["{0}/code.py"]}),
    ("POST", "/ask", {"query": "what does {0}/code.py do", "project_ids": ["{1}"]}),
    ("POST", "/ask/agent", {"query": "what does refresh_token_{0} do", "project_ids": ["{1}"]}),
    ("POST", "/query", {"query": "what does refresh_token_{0} do", "project_ids": ["{1}"]}),
    ("POST", "/v1/chat/completions", {"model": "{1}", "messages": [{"role": "user", "content": "refresh_token_{0}"}]}),
    ("POST", "/projects/{1}/files", {"paths": ["{0}/code.py"]}),
    (
        "POST",
        "/projects/{1}/impact",
        {"diff": "--- a/{0}/code.py\n+++ b/{0}/code.py\n@@ -1,1 +1,1 @@\n-def refresh_token_{0}(user):\n+def x(u):\n"},
    ),
)
TOOLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("search", {"query": "refresh_token_{0}"}),
    ("search", {"query": "token repo:{0}"}),
    ("related", {"target": "@@refresh_token_{0}"}),
    ("related", {"target": "{0}/code.py"}),
    ("map", {"query": "refresh_token_{0}"}),
    ("read", {"path": "{0}/code.py"}),
    ("ask", {"question": "what does {0}/code.py do"}),
)


def filled(value: Any, name: str, fleet: str = "", above: str = "") -> Any:
    text = json.dumps(value).replace("{0}", name).replace("{1}", fleet).replace("{2}", above)
    return json.loads(text)


def check_same(ask: Callable[[str], httpx.Response], numbers: str, path: str) -> httpx.Response:
    """Check that two fleets answer bob alike, but for these numbers; return the answer of `team`."""
    team, only = ask("team"), ask("only")
    assert team.status_code == only.status_code < 500, (path, team.text)
    texts = [re.sub(rf'"({numbers})":\d+', "", plain(answer.text)) for answer in (team, only)]
    assert texts[0].replace("team", "only") == texts[1].replace("team", "only"), path
    return team


def check_general(client: httpx.Client) -> None:
    """Check that bob is answered without a name as by a fleet of his repositories."""
    for method, path, body in GENERAL:

        def ask(fleet: str, method: str = method, path: str = path, body: Any = body) -> httpx.Response:
            return answer_of(client, "bob", method, path.replace("{0}", fleet), filled(body, fleet))

        # Runs are counted for the whole fleet; a shard for each class of readers has more files than one for all.
        team = check_same(ask, "n_bytes|generation", path)
        assert (team.status_code, HIDDEN in team.text) == (200, False), (path, team.text)


def check_named(client: httpx.Client, above: str) -> None:
    """Check that bob is answered about a hidden repository as by a fleet without it; `above` holds both fleets."""
    for method, path, body in NAMED:

        def ask(
            fleet: str, name: str = HIDDEN, method: str = method, path: str = path, body: Any = body
        ) -> httpx.Response:
            return answer_of(client, "bob", method, filled(path, name, fleet), filled(body, name, fleet, above))

        team = check_same(ask, "generation", path)
        assert team.status_code == ask("team", ABSENT).status_code, (path, team.text)


def test_a_reader_is_answered_as_by_a_fleet_of_his_repositories(client: httpx.Client) -> None:
    check_general(client)
    for method, path, body in GENERAL:
        admin = answer_of(client, "root", method, path.replace("{0}", "team"), filled(body, "team"))
        assert HIDDEN in admin.text or method == "GET" or "gamma" in str(body) or admin.status_code == 200


def test_a_hidden_repository_is_as_one_that_is_not_there(client: httpx.Client, fleets: Fleet) -> None:
    check_named(client, str(Path(fleets.root).parent))


@pytest.mark.parametrize(("who", "sees"), [("ada", {HIDDEN, "gamma"}), ("bob", {"beta", "gamma"}), ("eve", {"gamma"})])
def test_each_sees_his_own(client: httpx.Client, who: str, sees: set[str]) -> None:
    files = answer_of(client, who, "GET", "/files?project_id=team").json()["files"]
    assert {file["path"].partition("/")[0] for file in files} == sees
    hits = answer_of(client, who, "POST", "/search", {"query": "token", "project_ids": ["team"], "limit": 50}).json()
    assert {hit["path"].partition("/")[0] for hit in hits["hits"]} == sees
    same = answer_of(client, who, "POST", "/search", {"query": "parse_same_header", "project_ids": ["team"]})
    assert ("same.py" in same.text) == (who != "eve")
    assert "also in" not in same.text


def test_no_tool_of_agents_tells_more(client: httpx.Client) -> None:
    assert {name for name, _ in TOOLS} == set(TOOL_NEEDS)
    for name, arguments in TOOLS:
        team, only = (
            post(client, call(name, projects=[fleet], **filled(arguments, HIDDEN)), **of("bob")).text
            for fleet in ("team", "only")
        )
        assert plain(team).replace("team", "only") == plain(only), name
    found = post(client, call("search", query="refresh token", projects=["team"]), **of("bob")).text
    assert ("beta/code.py" in found, HIDDEN in found) == (True, False)
    found = post(client, call("search", query="refresh token", projects=["team"]), **of("ada")).text
    assert ("beta/code.py" in found, HIDDEN in found) == (False, True)


def test_a_token_is_no_person_of_its_name(client: httpx.Client) -> None:
    for name, sees in (("ci", {"beta", "gamma"}), ("bob", {HIDDEN, "gamma"})):
        files = client.get("/files?project_id=team", headers={"authorization": f"Bearer {name}"}).json()["files"]
        assert {file["path"].partition("/")[0] for file in files} == sees
    odd = {"x-forwarded-user": "token:ci", "x-forwarded-groups": ""}
    assert "beta" not in client.get("/files?project_id=team", headers=odd).text


def test_a_change_of_the_rules_holds_at_the_next_question(client: httpx.Client, fleets: Fleet) -> None:
    search = {"query": "refresh token", "project_ids": ["team"]}
    assert HIDDEN in answer_of(client, "ada", "POST", "/search", search).text
    file = Path(fleets.root) / READERS
    file.write_text(RULES.replace('"ada"', '"eve"'))
    for method, path, body in (*GENERAL, ("POST", "/search", search)):
        answer = answer_of(client, "ada", method, path.replace("{0}", "team"), filled(body, "team"))
        assert HIDDEN not in answer.text, path
    assert HIDDEN in answer_of(client, "eve", "POST", "/search", search).text
    file.write_text("rule = 1")
    refused = answer_of(client, "ada", "POST", "/search", search)
    assert (refused.status_code, "may see what" in refused.text, READERS in refused.text) == (403, True, False)
    assert answer_of(client, "root", "POST", "/search", search).json()["hits"]


def test_what_shows_all_of_a_fleet_is_refused(client: httpx.Client) -> None:
    answer_of(client, "root", "POST", "/projects/team/index", {})
    job = answer_of(client, "root", "GET", "/jobs?project_id=team").json()["jobs"][0]["id"]
    assert answer_of(client, "bob", "GET", "/jobs").json()["jobs"] == []
    for path in (f"/jobs/{job}", f"/jobs/{job}/events"):
        assert answer_of(client, "bob", "GET", path).status_code == 404
    assert answer_of(client, "bob", "POST", f"/jobs/{job}/cancel", {}).status_code == 404
    for method in ("POST", "GET", "DELETE"):
        refused = answer_of(client, "bob", method, "/projects/team/index", {} if method == "POST" else None)
        assert (refused.status_code, "may see some of them only" in refused.text) == (403, True)
    assert answer_of(client, "root", "GET", f"/jobs/{job}").status_code == 200


def test_a_shared_conversation_is_for_those_who_see_all(client: httpx.Client) -> None:
    made = answer_of(client, "ada", "POST", "/conversations", {"project_ids": ["team"], "title": "T"}).json()
    body = {"question": "refresh token", "conversation_id": made["id"]}
    assert HIDDEN in answer_of(client, "ada", "POST", "/ask", body).text
    address = f"/conversations/{made['id']}"
    answer_of(client, "ada", "PATCH", address, {"shared": True}).raise_for_status()
    assert answer_of(client, "ada", "GET", address).status_code == 200
    for path in (address, f"{address}/export", f"{address}/cited"):
        assert answer_of(client, "bob", "GET", path).status_code == 404
    assert answer_of(client, "bob", "GET", "/conversations?shared=true").json()["conversations"] == []
    assert answer_of(client, "root", "GET", address).status_code == 200
