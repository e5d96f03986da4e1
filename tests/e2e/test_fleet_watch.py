"""A look at the sources of a fleet: what has changed there, without any work on an index; and the following of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tests.code_hosts import Host, Hosted, exhausted, serving_host
from tests.counted import n_calls_of
from tests.fathom import Fathom
from tests.git_over_http import Repositories, allow_http, git
from tests.waiting import comes

from codefathom.cli import main
from codefathom.fleet import remote_looks
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.fleet_clones import FleetClones, RemoteRepository
from codefathom.fleet.look_turns import EVERYTHING, FleetLook
from codefathom.fleet.remote_looks import RemoteLooks
from codefathom.project.location import locate
from codefathom.source.revisions.git_program import start_git
from codefathom.stores.lock import writer_lock

TOKEN = "planted-Token-0123456789"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("GITHUB_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN")):
            monkeypatch.delenv(name)
    return allow_http(tmp_path, monkeypatch)


def looked(fleet: Fleet) -> list[str]:
    """Return the names of the repositories that have changed, "" for what only a whole run brings."""
    look = fleet.look()
    assert look.failures == ()
    return sorted(item.name for item in look.differences)


def stamps(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def work_on_clone(folder: Path, text: str, branch: str = "main") -> None:
    if not folder.exists():
        folder.mkdir(parents=True)
        git(folder, "init", "-q")
    git(folder, "checkout", "-q", "-B", branch)
    (folder / "code.py").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")


def test_a_look_says_what_has_changed_and_touches_nothing(remote: Repositories, address: str, tmp_path: Path) -> None:
    for name in ("auth", "shop"):
        remote.commit(f"team/{name}", code=f"def first_{name}(): pass\n")
    clone, plain = tmp_path / "own" / "tools", tmp_path / "plain"
    work_on_clone(clone, "def first_tool(): pass\n")
    plain.mkdir()
    (plain / "code.py").write_text("def first_plain(): pass\n")
    listed = tmp_path / "list.txt"
    listed.write_text(f"{address}/team/auth.git\n{address}/team/shop.git\n")
    with Fleet.make("company") as fleet:
        fleet.add([str(listed), str(tmp_path / "own"), str(plain)])
        assert looked(fleet) == [EVERYTHING]  # it has no index yet
        fleet.index()
        with writer_lock(fleet.root):  # it needs no lock
            before = stamps(Path(fleet.root))
            assert fleet.look() == FleetLook(4, (), ())
            assert stamps(Path(fleet.root)) == before

        remote.commit("team/shop", code="def second_shop(): pass\n")
        assert looked(fleet) == ["shop"]
        work_on_clone(clone, "def second_tool(): pass\n")
        (plain / "code.py").write_text("def second_plain_one(): pass\n")
        assert looked(fleet) == ["plain", "shop", "tools"]
        fleet.index(only=["plain", "shop", "tools"])
        assert looked(fleet) == []

        work_on_clone(tmp_path / "own" / "new", "def first_new(): pass\n")
        assert looked(fleet) == [EVERYTHING]
        fleet.index()
        listed.write_text(f"{address}/team/shop.git\n")  # auth is gone
        assert looked(fleet) == [EVERYTHING]
        fleet.index()
        assert looked(fleet) == []


def test_an_unchanged_repository_costs_one_process_and_no_fetch(remote: Repositories, address: str) -> None:
    for name in ("auth", "shop", "docs"):
        remote.commit(f"team/{name}", code=f"def first_{name}(): pass\n")
    remote.make("team/empty")  # without a commit there is nothing to take in
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/{name}.git" for name in ("auth", "shop", "docs", "empty")])
        fleet.index()
        n_before = len(remote.sent)
        remote.held = b"command=fetch"  # would never be answered
        assert n_calls_of(remote_looks.remote_heads, lambda: looked(fleet)) == 4
        assert len(remote.sent) - n_before == 8  # two of a process of git: the first finds out how to ask
        assert n_calls_of(start_git, lambda: looked(fleet)) == 0


def test_branches_that_are_read_are_looked_at(remote: Repositories, address: str) -> None:
    bare = remote.commit("team/shop", code="def first_shop(): pass\n")
    git(bare, "branch", "release-1")
    with Fleet.make("company") as fleet:
        (Path(fleet.root) / "fathom.toml").write_text('[source]\nfleet_branches = ["release-*"]\n')
        fleet.add([f"{address}/team/shop.git"])
        fleet.index()
        assert looked(fleet) == []
        git(bare, "branch", "work")  # which nobody reads
        assert looked(fleet) == []
        remote.commit("team/shop", code="def second_shop(): pass\n")
        fleet.index()
        git(bare, "branch", "-f", "release-1", "main")
        assert looked(fleet) == ["shop"]
        # Its branches lie in one clone: two of git at once in it would keep each other out.
        assert n_calls_of(FleetClones.origin_of, lambda: fleet.index(only=["shop"])) == 1
        assert looked(fleet) == []
        git(bare, "branch", "release-2")
        assert looked(fleet) == [EVERYTHING]
        fleet.index()
        assert looked(fleet) == []


def test_a_repository_that_fails_is_told_and_the_others_are_looked_at(remote: Repositories, address: str) -> None:
    for name in ("auth", "shop"):
        remote.commit(f"team/{name}", code=f"def first_{name}(): pass\n")
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/auth.git", f"{address}/team/shop.git"])
        fleet.index()
        shutil.move(remote.folder / "team" / "auth.git", remote.folder / "away.git")
        remote.commit("team/shop", code="def second_shop(): pass\n")
        look = fleet.look()
        assert [failure.path for failure in look.failures] == ["auth"]
        assert "git cannot clone" in str(look.failures[0].reason)
        assert sorted(item.name for item in look.differences) == ["auth", "shop"]
        assert not look.is_blind
        assert [failure.path for failure in fleet.index(only=["auth", "shop"]).failures] == ["auth"]
        assert fleet.look().differences == ()  # that it fails stands where `status` shows it
        shutil.move(remote.folder / "away.git", remote.folder / "team" / "auth.git")
        assert looked(fleet) == ["auth"]
        fleet.index(only=["auth"])
        assert looked(fleet) == []


def test_a_host_that_does_not_answer_is_not_asked_for_all_of_its_repositories(
    remote: Repositories, address: str
) -> None:
    for number in range(9):
        remote.commit(f"team/part-{number}", code=f"def first_{number}(): pass\n")
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/part-{number}.git" for number in range(9)])
        fleet.index()
        remote.status = 503
        n_before = len(remote.sent)
        look = fleet.look()
        assert (look.is_blind, look.differences, len(look.failures)) == (True, (), 9)
        assert len(remote.sent) - n_before < 9
        assert "could not be asked" in look.problem
        remote.status = 0
        assert looked(fleet) == []  # the next look asks again


def test_questions_are_spread_over_time(tmp_path: Path) -> None:
    waits: list[float] = []
    clones = FleetClones(str(tmp_path), locate(str(tmp_path)).settings)
    looks = RemoteLooks(clones, with_branches=False, clock=lambda: 0.0, sleep=waits.append)
    repositories = [RemoteRepository(str(n), f"https://127.0.0.{n}:1/team/shop.git", "shop") for n in range(2, 10)]
    outcomes = looks.heads(repositories)
    assert all(outcome.is_of_host for outcome in outcomes)
    assert sorted(round(wait, 2) for wait in waits) == [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35]


def test_a_code_host_is_asked_for_its_list_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host("gitlab", Repositories(tmp_path / "remote"))
    with serving_host(host) as address:
        monkeypatch.setenv("GITLAB_TOKEN_127_0_0_1", TOKEN)
        host.token = TOKEN
        for number, name in enumerate(("auth", "shop"), start=1):
            host.git.commit(f"acme/{name}", code=f"def first_{name}(): pass\n")
            host.listed.append(Hosted(number, f"acme/{name}"))
        with Fleet.make("company") as fleet:
            fleet.add([f"gitlab:{address}/acme"])
            fleet.index()
            assert looked(fleet) == []
            host.git.commit("acme/shop", code="def second_shop(): pass\n")
            assert looked(fleet) == ["shop"]
            fleet.index(only=["shop"])

            host.git.commit("acme/docs", code="def first_docs(): pass\n")
            host.listed.append(Hosted(3, "acme/docs"))
            assert looked(fleet) == [EVERYTHING]
            fleet.index()
            shutil.move(host.git.folder / "acme" / "docs.git", host.git.folder / "acme" / "pages.git")
            host.listed[-1] = Hosted(3, "acme/pages")
            assert looked(fleet) == [EVERYTHING]
            fleet.index()
            assert looked(fleet) == []

            host.limits.append(exhausted("gitlab", 4_000))  # longer than anybody waits
            look = fleet.look()
            assert (look.is_blind, look.differences, len(look.failures)) == (True, (), 1)
            assert TOKEN not in look.problem
            assert looked(fleet) == []

            host.git.login = "Basic another"
            look = fleet.look()
            assert len(look.failures) == 3
            assert not any(TOKEN in text or "Basic" in text for text in (look.problem, repr(look)))


def test_it_is_followed_at_the_command_line_until_ctrl_c(
    remote: Repositories, address: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("auth", "shop"):
        remote.commit(f"team/{name}", code=f"def first_{name}(): pass\n")
    assert main(["-q", "fleet", "add", "company", f"{address}/team/auth.git", f"{address}/team/shop.git"]) == 0
    monkeypatch.setenv("FATHOM_INDEX__FLEET_WATCH_S", "1")
    words = ["--json", "fleet", "index", "company", "--watch"]
    with Fathom(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert sorted(json.loads(process.stdout.readline())["changed"]) == ["auth", "shop"]
        remote.commit("team/shop", code="def second_shop(): pass\n")
        assert json.loads(process.stdout.readline())["changed"] == ["shop"]
        n_before = len(remote.sent)
        assert comes(lambda: len(remote.sent) >= n_before + 8)  # two more looks, which find nothing
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert "interrupted" in err
    assert main(["fleet", "index", "company", "auth", "--watch"]) != 0
    assert "--watch cannot be used with names of repositories" in capfd.readouterr().err
