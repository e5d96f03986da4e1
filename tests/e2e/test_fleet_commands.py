"""Commands in the folder of a fleet: those that it answers, and what is said for those that it cannot."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import SourceError, UsageError
from codefathom.fleet.fleet import Fleet


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """A fleet with a clone of git, in a folder that is not called like it."""
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    clone = tmp_path / "auth"
    clone.mkdir()
    (clone / "tokens.py").write_text("def refresh_token(user):\n    return user.token\n")
    git = ("git", "-C", str(clone), "-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        subprocess.run([*git, *words], check=True, capture_output=True, timeout=60)
    with Fleet.make("team", str(tmp_path / "elsewhere")) as fleet:
        fleet.add([str(clone)])
        fleet.index()
        assert main(["-q", "fleet", "add", "team", str(clone)]) == 0
        yield fleet


@pytest.mark.parametrize(
    "command",
    ("search refresh_token", "ask who refreshes tokens", "context refresh_token", "symbols", "map", "files", "status"),
)
def test_a_question_in_its_folder_is_answered(team: Fleet, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-C", team.root, *command.split()]) == 0
    said = capsys.readouterr()
    assert said.out
    assert "working tree" not in said.err
    assert "--rev" not in said.err


INDEX, GIT = "run `fathom fleet index team`", "run this in the folder of one of its repositories"


@pytest.mark.parametrize(
    ("command", "remedy"),
    (
        ("index", INDEX),
        ("index --full", INDEX),
        ("index --dry-run", INDEX),
        ("index --watch", INDEX),
        ("index --only auth/tokens.py", INDEX),
        ("index --remove-scip", INDEX),
        ("index --remove", "run `fathom fleet remove team`"),
        ("backup saved", INDEX),
        ("restore saved", INDEX),
        ("import saved --as jsonl", INDEX),
        ("export --snapshot saved", INDEX),
        ("store verify", "run `fathom fleet verify team`"),
        ("impact HEAD~1", GIT),
        ("search --commits refresh", GIT),
    ),
)
def test_what_a_fleet_cannot_do_says_what_to_do(
    team: Fleet,
    command: str,
    remedy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saved").write_text("{}\n")
    if command.startswith(("backup", "export")):
        (tmp_path / "saved").unlink()
    assert main(["-C", team.root, *shlex.split(command)]) == 2
    said = capsys.readouterr().err
    assert "'team' is a fleet, which" in said
    assert remedy in said
    assert "working tree" not in said
    assert team.verify() == ()
    with Engine.open(team.root) as engine:
        assert engine.search("refresh_token").hits


def test_lines_have_the_history_of_their_repository(team: Fleet, tmp_path: Path) -> None:
    """A fleet reads one commit of each repository; the commits before it are in the clone."""
    clone = tmp_path / "auth"
    git = ("git", "-C", str(clone), "-c", "user.name=Bea", "-c", "user.email=b@example.org")
    (clone / "CODEOWNERS").write_text("*.py @keys\n")
    (clone / "tokens.py").write_text("def renew_token(user):\n    return user.token\n")
    for words in (("add", "-A"), ("commit", "-q", "-m", "second")):
        subprocess.run([*git, *words], check=True, capture_output=True, timeout=60)
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "loose.py").write_text("def loose():\n    return 1\n")
    team.add([str(plain)])
    team.index()
    (clone / "tokens.py").unlink()  # what is not committed is not seen
    with Engine.open(team.root) as engine:
        for target in ("auth/tokens.py:1", "@@renew_token"):
            history = engine.history(target)
            assert [step.commit.subject for step in history.steps] == ["second", "first"]
            assert {step.path for step in history.steps} == {"auth/tokens.py"} == {history.path}
        assert history.code_owners == ("@keys",)
        assert sorted((owner.name, owner.n_commits) for owner in history.changed_by) == [("A", 1), ("Bea", 1)]
        blamed = engine.blame("auth/tokens.py", 1, 2)
        assert [(part.start_line, part.commit and part.commit.subject) for part in blamed] == [
            (1, "second"),
            (2, "first"),
        ]
        with pytest.raises(SourceError, match="'plain' is a folder without commits in this fleet"):
            engine.history("plain/loose.py:1")
        with pytest.raises(SourceError, match="'plain' is a folder without commits in this fleet"):
            engine.blame("plain/loose.py", 1, 1)
        with pytest.raises(UsageError, match="'team' is a fleet, which has no commits of its own"):
            engine.recent_commits(3)


def test_an_empty_fleet_is_called_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    with Fleet.make("team", str(tmp_path / "elsewhere")) as fleet, Engine.open(fleet.root) as engine:
        with pytest.raises(UsageError, match="'team'") as caught:
            engine.remove_index()
        assert "fathom fleet remove team" in str(caught.value.hint)
