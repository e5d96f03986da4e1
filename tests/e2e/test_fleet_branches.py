"""Several branches of the repositories of a fleet: read as settings say, equal files once, asked with `branch:`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.git_over_http import Repositories, serving_git

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import UsageError
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.manifest import Manifest
from codefathom.fleet.readers_file import READERS, reader_rules
from codefathom.project.location import locate
from codefathom.project.repository_sight import sight_of, words_of_person
from codefathom.question.question import Kind, Question
from codefathom.types import SearchResult

SAME = "def shared_token(user):\n    return user.token\n"
OLD = "def rotate_token(user):\n    return user.renew(1)\n"
NEW = "def rotate_token(user, days):\n    return user.renew(days)\n"
LEGACY = "def legacy_token(user):\n    return user.old_token\n"


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    (tmp_path / "own.toml").write_text('[server]\ngit_schemes = ["https", "http"]\n')
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "own.toml"))


def git(folder: Path, *words: str) -> str:
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", "-C", str(folder), *person, *words], check=True, capture_output=True, timeout=60)
    return done.stdout.decode()


def commit(folder: Path, **files: str | None) -> None:
    """Make one commit of files on the branch of now; None removes a file."""
    for name, text in files.items():
        if text is None:
            (folder / f"{name}.py").unlink()
        else:
            (folder / f"{name}.py").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "next")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with three branches: `release-2` has one file more and one changed, `work/me` is nobody's."""
    folder = tmp_path / "clones" / "shop"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    commit(folder, same=SAME, rotate=OLD, legacy=LEGACY)
    git(folder, "branch", "release-2")
    commit(folder, rotate=NEW, legacy=None)
    git(folder, "checkout", "-q", "-b", "work/me")
    commit(folder, wip="def work_in_progress_token():\n    return 0\n")
    git(folder, "checkout", "-q", "main")
    return folder


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    folder = tmp_path / "clones" / "tool"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "trunk")
    commit(folder, tool="def tool_token(user):\n    return user.tool\n")
    git(folder, "branch", "release/3")
    return folder


@pytest.fixture
def team(shop: Path, tool: Path) -> Iterator[Fleet]:
    assert main(["-q", "fleet", "add", "team", str(shop.parent)]) == 0
    with Fleet.open("team") as fleet:
        choose(fleet, "release*")
        assert fleet.index().failures == ()
        yield fleet


def choose(fleet: Fleet, *patterns: str) -> None:
    (Path(fleet.root) / "fathom.toml").write_text(f"[source]\nfleet_branches = {json.dumps(patterns)}\n")


def ask(fleet: Fleet, question: str, reader: str = "") -> SearchResult:
    sight = sight_of(reader_rules(fleet.root) or (), words_of_person(reader, ())) if reader else None
    with Engine(replace(locate(fleet.root, is_root=True), sight=sight)) as engine:
        return engine.search(question, limit=50)


def paths(result: SearchResult) -> set[str]:
    return {hit.chunk.path for hit in result.hits}


def reasons(result: SearchResult) -> dict[str, str]:
    return {hit.chunk.path: hit.reason for hit in result.hits}


MAIN = {"shop/same.py", "shop/rotate.py", "tool/tool.py"}


def test_a_branch_is_asked_only_where_the_question_says_so(team: Fleet) -> None:
    usual = ask(team, "token of a user")
    assert (usual.branches, paths(usual)) == ("default", MAIN)
    assert "in the branches main, release-2" in reasons(usual)["shop/same.py"]
    assert "only in the branch main" in reasons(usual)["shop/rotate.py"]
    assert "in the branches trunk, release/3" in reasons(usual)["tool/tool.py"]

    older = ask(team, "token of a user branch:release-2")
    only_there = {"shop@release-2/rotate.py", "shop@release-2/legacy.py"}
    assert (older.branches, paths(older)) == ("all", only_there | {"shop/same.py"})
    assert "only in the branch release-2" in reasons(older)["shop@release-2/legacy.py"]
    assert "in the branches main, release-2" in reasons(older)["shop/same.py"]

    assert paths(ask(team, "token branch:release*")) == only_there | {"shop/same.py", "tool/tool.py"}
    assert paths(ask(team, "token branch:main")) == MAIN - {"tool/tool.py"}
    assert paths(ask(team, "token branch:*")) == MAIN | only_there
    assert paths(ask(team, "token branch:* -branch:release-2")) == MAIN
    assert paths(ask(team, "token branch:* repo:shop")) == only_there | MAIN - {"tool/tool.py"}
    assert paths(ask(team, "token repo:shop")) == MAIN - {"tool/tool.py"}
    assert ask(team, "token repo:shop@release-2").branches == "all"
    with pytest.raises(UsageError, match="no branch 'work/me'") as error:
        ask(team, "token branch:work/me")
    assert "main, release-2, release/3, trunk" in str(error.value.hint)


def test_lists_are_kept_to_a_branch(team: Fleet, shop: Path) -> None:
    """`branch:` means the same in a list of symbols, in connections and in a map as in a search."""
    git(shop, "checkout", "-q", "release-2")
    commit(shop, uses="from legacy import legacy_token\n\n\ndef in_old_shop(user):\n    return legacy_token(user)\n")
    git(shop, "checkout", "-q", "main")
    commit(shop, uses="from same import shared_token\n\n\ndef in_new_shop(user):\n    return shared_token(user)\n")
    team.index()
    own = {"shop@release-2/rotate.py", "shop@release-2/legacy.py", "shop@release-2/uses.py"}
    with Engine(locate(team.root, is_root=True)) as engine:

        def answer(kind: Kind, text: str, **options: Any) -> Any:
            return list(engine.answer(Question(text, kind, **options)))[-1]

        def symbols(text: str, **options: Any) -> list[str]:
            page = answer("symbols", text, **options)
            assert options or page.n_symbols == len(page.symbols)
            return [item.path for item in page.symbols]

        assert set(symbols("token")) == MAIN
        assert set(symbols("token branch:release-2")) == own - {"shop@release-2/uses.py"} | {"shop/same.py"}
        assert symbols("branch:release-2 in_", limit=1) == ["shop@release-2/uses.py"]
        assert engine.n_symbols("branch:release-2 token") == len(symbols("token branch:release-2"))
        assert symbols("rotate_token branch:main") == ["shop/rotate.py"]
        assert set(symbols("legacy branch:release-2", symbol_kind="import")) == {"shop@release-2/uses.py"}

        edges = answer("related", "@@legacy_token branch:release-2")
        assert {edge.path for edge in edges.edges} == {"shop@release-2/uses.py"}
        assert {edge.path for edge in answer("related", "@@shared_token branch:main").edges} == {"shop/uses.py"}
        with pytest.raises(UsageError, match="no symbol is called 'legacy_token'"):
            answer("related", "@@legacy_token branch:main")

        parts = answer("map", "branch:release-2", as_parts=True)
        assert {part.path for part in parts.parts} == own | {"shop/same.py"}
        assert parts.n_files == len(own) + 1
        asked = answer("map", "legacy token branch:release-2", as_parts=True)
        assert {part.path for part in asked.parts} == own | {"shop/same.py"}
        for kind in ("symbols", "related", "map"):
            with pytest.raises(UsageError, match="no branch 'work/me'"):
                answer(kind, "token branch:work/me")


def test_branches_cost_the_manifest_no_look_for_each_file_or_repository(
    team: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def n_reads(question: Question) -> int:
        """Return how often an engine that has just answered another question reads the manifest."""
        reads: list[str] = []
        with Engine(locate(team.root, is_root=True)) as engine, monkeypatch.context() as patch:
            list(engine.answer(replace(question, text=question.text.replace("release-2", "*"))))
            read = Manifest.read

            def counted(manifest: Manifest, sql: str, values: Any = ()) -> Any:
                reads.append(sql)
                return read(manifest, sql, values)

            patch.setattr(Manifest, "read", counted)
            list(engine.answer(question))
        return len(reads)

    def all_reads() -> list[int]:
        questions = (
            Question("token branch:release-2", "symbols"),
            Question("@@shared_token branch:release-2", "related"),
            Question("branch:release-2", "map"),
            Question("token branch:release-2", limit=1),
        )
        return list(map(n_reads, questions))

    few = all_reads()
    for number in range(4):
        folder = tmp_path / "clones" / f"more{number}"
        folder.mkdir()
        git(folder, "init", "-q", "-b", "main")
        commit(folder, same=SAME, **{f"f{name}": f"def token_{name}_{number}(): pass\n" for name in range(5)})
        git(folder, "branch", "release-2")
    team.index()
    assert all_reads() == few


def test_equal_files_are_indexed_once_and_cost_no_frequency(team: Fleet, shop: Path, tool: Path) -> None:
    status = team.status()
    assert sum(shard.n_files for shard in status.shards) == 5
    assert status.n_bytes_distinct == len(SAME + NEW + OLD + LEGACY) + (tool / "tool.py").stat().st_size
    assert [item.name for item in status.repositories if item.is_branch] == ["shop@release-2", "tool@release-3"]
    assert status.forks == ()
    with Fleet.make("plain") as plain:  # the same without branches
        plain.add([str(shop.parent)])
        plain.index()
        for question in ("token of a user", "rotate_token", "who calls renew"):
            expected, result = ask(plain, question), ask(team, question)
            assert [(hit.chunk.path, hit.score) for hit in result.hits] == [
                (hit.chunk.path, hit.score) for hit in expected.hits
            ]
            assert result.confidence == expected.confidence
            assert expected.branches is None
        with Engine.open(plain.root) as one, Engine.open(team.root) as many:
            assert many.symbols("") == one.symbols("")
            assert many.status().n_documents == one.status().n_documents
    assert ask(team, "token branch:release-2").generation == 1


def test_a_file_of_a_branch_can_be_read(team: Fleet) -> None:
    with Engine.open(team.root) as engine:
        for path in ("shop@release-2/legacy.py", "shop@release-2/same.py"):
            lines = list(engine.answer(Question(path, kind="lines")))[-1]
            assert lines.text.startswith(LEGACY[:10] if "legacy" in path else SAME[:10])
        outline = list(engine.answer(Question(kind="outlines", files=("shop@release-2/legacy.py",))))[-1]
        assert [symbol.name for symbol in outline[0].symbols] == ["legacy_token"]
        assert paths(engine.search("@shop@release-2/ token")) == {
            "shop@release-2/legacy.py",
            "shop@release-2/rotate.py",
        }


def test_branches_that_move_come_and_go(team: Fleet, shop: Path) -> None:
    git(shop, "checkout", "-q", "release-2")
    commit(shop, patch="def patched_token():\n    return 2\n")
    git(shop, "checkout", "-q", "main")
    assert team.index(only=["shop"]).changed == ("shop@release-2",)
    assert "shop@release-2/patch.py" in paths(ask(team, "token branch:release-2"))
    git(shop, "branch", "release-3", "work/me")
    assert team.index().changed == ("shop@release-3",)
    assert "shop@release-3/wip.py" in paths(ask(team, "token branch:release-3"))
    git(shop, "branch", "-q", "-D", "release-2")
    report = team.index()
    assert report.notes == ("shop@release-2 is gone, or no source names it",)
    with pytest.raises(UsageError, match="no branch"):
        ask(team, "token branch:release-2")
    # Another default branch: what only it has is now found without a word.
    git(shop, "checkout", "-q", "release-3")
    assert team.index().failures == ()
    assert "shop/wip.py" in paths(ask(team, "token"))
    choose(team)
    assert [item.name for item in (team.index(), team.status())[1].repositories] == ["shop", "tool"]
    assert ask(team, "token").branches is None


def test_too_many_branches_are_told(team: Fleet, shop: Path) -> None:
    for number in range(21):
        git(shop, "branch", f"release-9{number:02}")
    assert team.index().notes == (
        "shop has more than 20 branches that source.fleet_branches names; the first 20 by name are read",
    )
    assert sum(item.name.startswith("shop@") for item in team.status().repositories) == 20


def test_a_rule_about_a_repository_holds_for_its_branches(team: Fleet) -> None:
    (Path(team.root) / READERS).write_text('[[rule]]\nrepositories = ["shop"]\nreaders = ["ada"]\n')
    team.index()
    assert team.status().mixed == ()
    assert paths(ask(team, "token branch:*", reader="ben")) == {"tool/tool.py"}
    assert paths(ask(team, "token", reader="ada")) == MAIN
    assert "shop@release-2/legacy.py" in paths(ask(team, "token branch:release-2", reader="ada"))
    with pytest.raises(UsageError, match="no branch 'release-2'") as error:
        ask(team, "token branch:release-2", reader="ben")
    assert "main" not in str(error.value.hint)


def test_a_project_has_no_branches_to_ask(shop: Path) -> None:
    with Engine.open(str(shop), is_root=True) as engine:
        engine.index()
        with pytest.raises(UsageError, match="only a fleet knows the branches"):
            engine.search("token branch:main")
        for kind in ("symbols", "related", "map"):
            with pytest.raises(UsageError, match="only a fleet knows the branches"):
                list(engine.answer(Question("rotate_token branch:main", kind)))


def test_branches_of_an_address(tmp_path: Path) -> None:
    repositories = Repositories(tmp_path / "remote")
    bare = repositories.commit("team/shop", same=SAME, rotate=OLD)
    git(bare, "branch", "release-2")
    git(bare, "branch", "work")
    repositories.commit("team/shop", rotate=NEW)
    with serving_git(repositories) as address, Fleet.make("team") as fleet:
        fleet.add([f"{address}/team/shop.git"])
        choose(fleet, "release-*")
        assert fleet.index().failures == ()
        place = fleet.status().repositories[0].place
        names = git(Path(place), "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        default = git(Path(place), "symbolic-ref", "--short", "HEAD").strip()
        assert sorted(names) == sorted([default, "release-2"])
        assert paths(ask(fleet, "token")) == {"shop/same.py", "shop/rotate.py"}
        assert paths(ask(fleet, "token branch:release-2")) == {"shop/same.py", "shop@release-2/rotate.py"}
        repositories.commit("team/shop", more=LEGACY)
        git(bare, "update-ref", "-d", "refs/heads/release-2")
        git(bare, "branch", "release-2/hot", "work")  # which cannot lie beside a branch of the name before the slash
        assert fleet.index().failures == ()
        assert "shop/more.py" in paths(ask(fleet, "token"))
        assert paths(ask(fleet, "token branch:release-2/hot")) == {"shop/same.py", "shop@release-2-hot/rotate.py"}
        with closing(Manifest(fleet.root)) as manifest:
            assert [item.branch for item in manifest.repositories()] == [default, "release-2/hot"]


def test_the_manifest_of_an_earlier_version_learns_branches(shop: Path) -> None:
    with Fleet.make("old") as fleet:
        fleet.add([str(shop)])
        fleet.index()
        with closing(Manifest(fleet.root)) as manifest, manifest.transaction():
            manifest.write("ALTER TABLE repositories DROP COLUMN branch", [()])
            manifest.put_meta({"format": "1"})
        assert paths(ask(fleet, "token")) == MAIN - {"tool/tool.py"}
        root = fleet.root
    with Fleet.open("old") as fleet:
        assert fleet.index().changed == ()
        assert paths(ask(fleet, "token branch:main")) == MAIN - {"tool/tool.py"}
        choose(fleet, "release-2")
    with Fleet.open("old") as fleet:
        assert fleet.index().changed == ("shop@release-2",)
        assert fleet.root == root
    assert main(["-q", "fleet", "status", "old"]) == 0
