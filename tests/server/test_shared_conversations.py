"""Conversations that somebody shares: read by those who may see their projects, and by nobody else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.conftest import Serve
from tests.server.test_git import git
from tests.server.test_projects import index

from codefathom.server.answers.conversation_export import markdown
from codefathom.server.answers.conversation_record import ConversationTurn
from codefathom.server.answers.conversations import Conversations
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.problem_json import RequestError
from codefathom.server.http.user_roles import Role
from codefathom.server.server_config import ServerConfig

TOKENS = (
    Token("root", hash_of("root")),
    Token("ann", hash_of("ann"), frozenset({"mine", "other"}), Role.READER),
    Token("eve", hash_of("eve"), frozenset({"mine", "other"}), Role.READER),
    Token("ben", hash_of("ben"), frozenset({"mine"}), Role.READER),
    Token("dan", hash_of("dan"), frozenset({"other"}), Role.ADMIN),
)


@pytest.fixture
def team(config: ServerConfig, serve: Serve, tmp_path: Path) -> Iterator[httpx.Client]:
    """Two projects; ann and eve may see both, ben only the first one, dan only the second one."""
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fathom.toml").touch()
        (tmp_path / name / f"{name}_prices.py").write_text(f"def {name}_price():\n    return 1\n")
        index(tmp_path / name)
    with serve(replace(config, tokens=TOKENS)) as client:
        for name in ("mine", "other"):
            said(client, "root", "POST", "/projects", {"path": str(tmp_path / name)}).raise_for_status()
        yield client


def said(client: httpx.Client, name: str, method: str, path: str, body: Any = None) -> httpx.Response:
    return client.request(method, path, json=body, headers={"authorization": f"Bearer {name}"})


def begun(client: httpx.Client, *projects: str, asks: str = "") -> str:
    """A conversation of ann about these projects, in which she asks another one, too, if that is named."""
    made = said(client, "ann", "POST", "/conversations", {"project_ids": projects, "title": "Prices"}).json()
    body = {"question": "where is the price?", "conversation_id": made["id"], "project_ids": [asks] if asks else []}
    said(client, "ann", "POST", "/ask", body).raise_for_status()
    return f"/conversations/{made['id']}"


def listed(client: httpx.Client, name: str, query: str = "shared=true") -> list[str]:
    answer = said(client, name, "GET", f"/conversations?{query}").raise_for_status().json()
    assert answer["n_more"] == 0 if "n_more" in answer else True
    return [f"/conversations/{item['id']}" for item in answer["conversations"]]


def test_a_shared_conversation_is_read_by_those_who_may_see_its_projects(team: httpx.Client) -> None:
    address = begun(team, "mine")
    assert said(team, "ben", "GET", address).status_code == 404
    shared = said(team, "ann", "PATCH", address, {"shared": True}).raise_for_status().json()
    assert (shared["shared_by"], shared["is_own"], shared["title"]) == ("ann", True, "Prices")
    read = said(team, "ben", "GET", address).raise_for_status().json()
    assert (read["shared_by"], read["is_own"], read["answering"]) == ("ann", False, [])
    own = said(team, "ann", "GET", address).json()
    assert read["turns"] == own["turns"]
    details = read["turns"][0]["details"]
    assert {"confidence", "label", "dropped_citations", "model", "cost", "degraded"} <= set(details)
    assert read["turns"][0]["asked_at"] > 0
    exported = said(team, "ben", "GET", f"{address}/export").raise_for_status().text
    assert exported == said(team, "ann", "GET", f"{address}/export").text
    assert "Model: none, the answer consists of excerpts" in exported
    assert f"Confidence: {details['label']}, {details['confidence']:.2f}" in exported
    assert listed(team, "ben") == listed(team, "ann") == listed(team, "root") == [address]
    assert listed(team, "ben", "shared=false") == []


def cited(client: httpx.Client, name: str, address: str) -> set[tuple[str, int, str]]:
    answer = said(client, name, "GET", f"{address}/cited").raise_for_status().json()
    assert answer["n_left_out"] == 0
    return {(lines["path"], lines["start_line"], lines["state"]) for lines in answer["lines"]}


def test_readers_are_told_which_cited_lines_have_changed_since(team: httpx.Client, tmp_path: Path) -> None:
    git(tmp_path / "mine", "init", "-b", "main")
    git(tmp_path / "mine", "add", "-A")
    git(tmp_path / "mine", "commit", "-m", "Prices")
    address = begun(team, "mine", asks="")
    said(team, "ann", "PATCH", address, {"shared": True}).raise_for_status()
    turn = said(team, "ben", "GET", address).json()["turns"][0]
    place = turn["details"]["citations"][0]
    assert "cited" not in turn["details"]
    assert turn["details"]["commits"] == {"mine": (tmp_path / "mine/.git/refs/heads/main").read_text().strip()}
    assert place["path"] == "mine_prices.py"
    where = (place["path"], place["start_line"])
    assert (*where, "same") in cited(team, "ben", address)
    file = tmp_path / "mine" / "mine_prices.py"
    before = file.read_text()
    file.write_text(before.replace("return 1", "return 2"))
    assert (*where, "changed") in cited(team, "ben", address)
    file.write_text(before)
    assert (*where, "same") in cited(team, "ben", address)
    file.unlink()
    index(tmp_path / "mine")
    assert (*where, "gone") in cited(team, "ben", address)
    assert said(team, "dan", "GET", f"{address}/cited").status_code == 404
    said(team, "root", "DELETE", "/projects/mine").raise_for_status()
    assert (*where, "unknown") in cited(team, "ann", address)


def test_readers_can_only_read(team: httpx.Client) -> None:
    address = begun(team, "mine")
    said(team, "ann", "PATCH", address, {"shared": True}).raise_for_status()
    for method, body in (("PATCH", {"title": "x"}), ("PATCH", {"shared": False}), ("DELETE", None)):
        assert said(team, "ben", method, address, body).status_code == 404
    question = {"question": "where?", "conversation_id": address.rpartition("/")[2], "project_ids": ["mine"]}
    assert said(team, "ben", "POST", "/ask", question).status_code == 404
    assert len(said(team, "ann", "GET", address).json()["turns"]) == 1
    said(team, "ann", "PATCH", address, {"shared": False}).raise_for_status()
    assert said(team, "ben", "GET", address).status_code == 404
    assert listed(team, "ben") == []
    assert said(team, "ann", "PATCH", address, {"title": "Other"}).json()["shared_by"] is None


@pytest.mark.parametrize(
    ("projects", "asks", "readers"),
    [
        (("mine",), "", {"ann", "eve", "ben", "root"}),
        (("mine", "other"), "", {"ann", "eve", "root"}),
        # What was asked beside the projects of the conversation counts, too: its lines are in the answer.
        (("mine",), "other", {"ann", "eve", "root"}),
        (("other",), "mine", {"ann", "eve", "root"}),
        (("other",), "", {"ann", "eve", "dan", "root"}),
    ],
)
def test_nothing_of_it_reaches_who_may_not_see_one_of_its_projects(
    team: httpx.Client, projects: tuple[str, ...], asks: str, readers: set[str]
) -> None:
    """The answers are those for a conversation that was never there, to the letter."""
    address = begun(team, *projects, asks=asks)
    before = {name: listed_all(team, name) for name in ("ben", "dan")}
    said(team, "ann", "PATCH", address, {"shared": True}).raise_for_status()
    absent = "/conversations/0123456789abcdef"
    for name in ("ann", "eve", "ben", "dan", "root"):
        assert (address in listed(team, name)) == (name in readers)
        for path in (address, f"{address}/export", f"{address}/cited"):
            answer = said(team, name, "GET", path)
            assert (answer.status_code == 200) == (name in readers)
            if name not in readers:
                none = said(team, name, "GET", path.replace(address, absent))
                assert answer.text.replace(address[-16:], absent[-16:]) == none.text
                assert answer.status_code == none.status_code == 404
    for name in {"ben", "dan"} - readers:
        assert listed_all(team, name) == before[name]


def listed_all(client: httpx.Client, name: str) -> list[str]:
    queries = ("shared=true", "shared=true&project_id=mine", "shared=true&project_id=other", "shared=true&limit=1")
    return [said(client, name, "GET", f"/conversations?{query}").text for query in queries]


def test_a_later_question_about_another_project_ends_the_access(team: httpx.Client) -> None:
    address = begun(team, "mine")
    said(team, "ann", "PATCH", address, {"shared": True}).raise_for_status()
    assert said(team, "ben", "GET", address).status_code == 200
    question = {"question": "the price?", "conversation_id": address.rpartition("/")[2], "project_ids": ["other"]}
    said(team, "ann", "POST", "/ask", question).raise_for_status()
    assert said(team, "ben", "GET", address).status_code == 404
    assert said(team, "eve", "GET", address).status_code == 200


def test_who_loses_the_right_to_a_project_loses_what_was_answered_about_it(team: httpx.Client, tmp_path: Path) -> None:
    """Also in a conversation about another project, in which only one question has named it."""
    address, kept = begun(team, "mine", asks="other"), begun(team, "mine")
    assert set(listed(team, "ann", "")) == {address, kept}
    with closing(sqlite3.connect(tmp_path / "data" / "conversations.db")) as database, database:
        database.execute("UPDATE conversations SET owner = 'ben'")  # who has the rights that ann is left with
    assert said(team, "ben", "GET", kept).status_code == 200
    assert listed(team, "ben", "") == [kept]
    for method, place, body in (("GET", "", None), ("GET", "/export", None), ("PATCH", "", {"title": "x"})):
        assert said(team, "ben", method, f"{address}{place}", body).status_code == 404


def test_a_conversation_of_a_removed_project_is_read_by_its_owner_only(team: httpx.Client) -> None:
    address = begun(team, "mine")
    said(team, "ann", "PATCH", address, {"shared": True}).raise_for_status()
    said(team, "root", "DELETE", "/projects/mine").raise_for_status()
    assert [said(team, name, "GET", address).status_code for name in ("ann", "eve", "root")] == [200, 404, 404]


def test_conversations_of_an_older_version_are_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE conversations (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL,"
            " projects TEXT NOT NULL, owner TEXT NOT NULL, created_at REAL NOT NULL, changed_at REAL NOT NULL);"
            "CREATE TABLE turns (number INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, question TEXT NOT NULL,"
            " answer TEXT NOT NULL, state TEXT NOT NULL, details TEXT NOT NULL, asked_at REAL NOT NULL);"
            "INSERT INTO conversations VALUES (1, 'old', 'Old', '[\"mine\"]', 'ann', 1, 1);"
            "INSERT INTO turns VALUES (1, 1, 'where?', 'There.', 'done', '{}', 1);"
        )
    with closing(Conversations(str(path))) as kept:
        old = kept.get("old", "ann")
        assert (old.shared_by, old.scope, len(old.turns)) == (None, frozenset({"mine"}), 1)
        # Nobody knows which projects this answer is about.
        with pytest.raises(RequestError, match="cannot be shared"):
            kept.share("old", "Ann", "ann")
        made = kept.begin(["mine"], "ann")
        assert kept.share(made.id, "Ann", "ann").shared_by == "Ann"


def test_an_export_says_what_a_reader_sees(tmp_path: Path) -> None:
    details = {
        "model": "openai:small@http://localhost/v1",
        "confidence": 0.25,
        "label": "low",
        "weak": True,
        "dropped_citations": [{"text": "[a.py:1-2]", "reason": "no source has this path"}],
        "degraded": ["one citation was removed"],
    }
    with closing(Conversations(str(tmp_path / "kept.db"))) as kept:
        made = kept.begin(["mine"])
        kept.add(made.id, ConversationTurn("where?", "There.", "done", 86_400.0, details))
        text = markdown(kept.get(made.id))
    assert text.endswith(
        "There.\n\nAsked: 1970-01-02 00:00 UTC  \nModel: openai:small  \nConfidence: low, 0.25\n\n"
        "Most likely nothing in the index answers this question.\n\n"
        "Removed:\n\n- `[a.py:1-2]`: no source has this path\n\nProblems:\n\n- one citation was removed\n"
    )
