"""A question in words about the history: commits answer it where they are indexed; where not, one line says how."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_session import McpSession

from codefathom import Engine
from codefathom.askers.joined import JoinedProjects
from codefathom.cli import main
from codefathom.facts.reasons import MARKS_OF_COMMITS, MOVED_TO_COMMITS, Note
from codefathom.question.asker import result_of
from codefathom.question.question import Question

from .test_commits import repository  # noqa: F401  a fixture

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

WHEN = "when was the limit of three attempts introduced"
HINT = "--commits (over HTTP"
MOVED = str(Note(MOVED_TO_COMMITS))
Captured = pytest.CaptureFixture[str]


def run(root: Path, capsys: Captured, *words: str) -> tuple[Any, str]:
    """Run a command, and return its JSON and what it says beside it."""
    capsys.readouterr()
    assert main([*words, "-C", str(root)]) in (0, 1)
    out, err = capsys.readouterr()
    return (json.loads(out) if "--json" in words else out), err


@pytest.mark.parametrize("mark", ["author:ann", 'author:"Ann Bee"', "-changed:7d", "changed:>2026-01"])
def test_marks_of_commits_in_a_search_of_files_are_told(
    repository: Path,  # noqa: F811
    capsys: Captured,
    mark: str,
) -> None:
    for command in ("search", "ask"):
        _, said = run(repository, capsys, command, f"send letter {mark}", "--anyway")
        assert said.count(str(Note(MARKS_OF_COMMITS))) == 1
    found, _ = run(repository, capsys, "search", f"send letter {mark}", "--anyway", "--json")
    assert "author: and changed: choose commits" in json.dumps(found)
    _, said = run(repository, capsys, "search", "--commits", f"send letter {mark}", "--anyway")
    assert "choose commits" not in said


@pytest.mark.parametrize("text", ["author: send", "changed:never send", "the author:", "unchanged:7d send"])
def test_words_that_are_no_marks_are_not_told(repository: Path, capsys: Captured, text: str) -> None:  # noqa: F811
    _, said = run(repository, capsys, "search", text, "--anyway")
    assert "choose commits" not in said


def test_commits_answer_where_they_are_indexed(repository: Path, capsys: Captured) -> None:  # noqa: F811
    first, _ = run(repository, capsys, "search", WHEN, "--json", "--anyway")
    assert "commit/" not in json.dumps(first["hits"])
    assert HINT in json.dumps(first, ensure_ascii=False).replace('\\"', '"')
    for command in ("search", "ask"):
        _, said = run(repository, capsys, command, WHEN, "--anyway")
        assert said.count(HINT) == 1

    run(repository, capsys, "search", "--commits", "mailer")  # makes their index
    found, _ = run(repository, capsys, "search", WHEN, "--json")
    assert found["hits"][0]["commit"]["subject"] == "Give up after three attempts (#41)"
    assert found["plan"]["why"] == "it asks for the history; these are commits of git"
    _, said = run(repository, capsys, "search", WHEN)
    assert said.count(MOVED) == 1
    assert HINT not in said
    answered, said = run(repository, capsys, "ask", WHEN)
    assert "commit/" in answered
    assert said.count(MOVED) == 1

    for words in (("--mode", "hybrid"), ("--lang", "python"), ("--set", "search.mode=lexical")):
        other, said = run(repository, capsys, "search", WHEN, "--json", "--anyway", *words)
        assert "commit/" not in json.dumps(other["hits"]), words
    told, said = run(repository, capsys, "search", "--commits", WHEN, "--json")
    assert MOVED not in json.dumps(told) + said  # somebody who chose the commits knows
    usual, _ = run(repository, capsys, "search", "when is a letter posted", "--json", "--anyway")
    assert "commit/" not in json.dumps(usual["hits"])


def test_what_the_sentence_says_leads_back_to_the_files(repository: Path, capsys: Captured) -> None:  # noqa: F811
    run(repository, capsys, "search", "--commits", "mailer")
    assert "path:*" in MOVED
    for command in ("search", "ask"):
        moved, _ = run(repository, capsys, command, WHEN, "--json")
        assert moved["degraded"].count(MOVED) == 1
        stayed, said = run(repository, capsys, command, f"path:* {WHEN}", "--json", "--anyway")
        text = json.dumps(stayed)
        assert "mail.py" in text
        assert "commit/" not in text
        assert MOVED not in text + said


def test_where_there_are_no_commits_nothing_is_said(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / ".fathom").mkdir()
    (tmp_path / "mail.py").write_text("def send(letter):\n    retry_limit = 3\n")
    shape, said = run(tmp_path, capsys, "search", "when was the retry limit introduced", "--json", "--anyway")
    assert HINT not in json.dumps(shape).replace('\\"', '"') + said


def test_a_question_to_several_projects_stays_with_their_files(repository: Path, tmp_path: Path) -> None:  # noqa: F811
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("limit = 3\n")
    asked = Question(WHEN, or_commits=True)
    with Engine.open(str(repository)) as one, Engine.open(str(other), is_root=True) as two:
        one.search("mailer", commits=True)
        assert result_of(one, asked).hits[0].chunk.path.startswith("commit/")
        assert not any(hit.commit for hit in one.search(WHEN).hits)  # a program says what it wants
        both = JoinedProjects({"one": one, "two": two})
        assert not any(hit.commit for hit in result_of(both, asked).hits)


def test_agents_get_commits_too(repository: Path) -> None:  # noqa: F811
    with Engine.open(str(repository)) as engine:
        engine.index()
    with McpSession(repository) as session:
        text = json.dumps(session.call("search", query=WHEN))
        assert "commit/" not in text
        assert "no commit is indexed yet" in text
        session.call("search", query="mailer", commits=True)
        text = json.dumps(session.call("search", query=WHEN))
        assert "Give up after three attempts" in text
        assert MOVED in text
