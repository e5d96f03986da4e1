"""A fleet of repositories elsewhere, by their addresses: real git on both sides, over HTTP."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.git_over_http import Repositories, allow_http, git

from codefathom import Engine
from codefathom.cli import main
from codefathom.clones import git_copies
from codefathom.errors import UsageError
from codefathom.fleet.fleet import Fleet


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return allow_http(tmp_path, monkeypatch, "ssh")


def clones(fleet: Fleet) -> list[Path]:
    return sorted(Path(fleet.root, "clones").iterdir())


def names(fleet: Fleet) -> list[str]:
    return [item.name for item in fleet.status().repositories]


def first(fleet: Fleet, question: str) -> str:
    with Engine.open(fleet.root) as engine:
        return engine.search(question).hits[0].chunk.path


def test_a_list_of_addresses_is_cloned_and_brought_up_to_date(
    remote: Repositories, address: str, tmp_path: Path
) -> None:
    remote.commit("team/auth", tokens="def refresh_token(): pass\n")
    remote.commit("team/shop", price="def first_price(): pass\n")
    remote.commit("other/shop", basket="def fill_basket(): pass\n")
    listed = tmp_path / "list.txt"
    listed.write_text(f"# ours\n{address}/team/auth.git\n\n{address}/team/shop\n{address}/other/shop.git\n")
    with Fleet.make("company") as fleet:
        fleet.add([str(listed)])
        report = fleet.index()
        assert report.failures == ()
        assert names(fleet) == ["auth", "other-shop", "shop"]
        assert first(fleet, "refresh_token") == "auth/tokens.py"
        for clone in clones(fleet):
            assert git(clone, "rev-parse", "--is-bare-repository") == "true"
            assert not (clone / "hooks").exists()
        assert fleet.status().n_bytes_clones > 0

        remote.commit("team/shop", price="def second_price(): pass\n")
        assert fleet.index().changed == ("shop",)
        assert first(fleet, "second_price") == "shop/price.py"
        assert fleet.index().changed == ()

        listed.write_text(f"{address}/team/shop\n")
        report = fleet.index()
        assert sorted(report.changed) == ["auth", "other-shop"]
        assert "auth is gone, or no source names it" in report.notes
        assert len(clones(fleet)) == 1


def test_one_repository_is_brought_up_alone(
    remote: Repositories, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("auth", "shop"):
        remote.commit(f"team/{name}", code=f"def first_{name}(): pass\n")
    here = tmp_path / "here"
    here.mkdir()
    (here / "code.py").write_text("def first_here(): pass\n")
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/auth.git", f"{address}/team/shop.git", str(here)])
        fleet.index()
        for name in ("auth", "shop"):
            remote.commit(f"team/{name}", code=f"def second_{name}(): pass\n")
        (here / "code.py").write_text("def second_here(): pass\n")
        remote.sent.clear()
        assert fleet.index(only=["shop"]).changed == ("shop",)
        n_alone = len(remote.sent)
        assert first(fleet, "second_shop") == "shop/code.py"
        assert names(fleet) == ["auth", "here", "shop"]
        assert len(clones(fleet)) == 2
        assert fleet.index(only=["here", "shop"]).changed == ("here",)
        assert first(fleet, "second_here") == "here/code.py"
        remote.sent.clear()
        assert fleet.index().changed == ("auth",)
        assert len(remote.sent) > n_alone  # both were fetched
        shutil.rmtree(remote.folder / "team" / "auth.git")
        (failure,) = fleet.index(only=["auth"]).failures
        assert failure.path == "auth"
        assert first(fleet, "second_auth") == "auth/code.py"
        with pytest.raises(UsageError, match="no repository 'shap'") as caught:
            fleet.index(only=["shap"])
        assert "did you mean shop" in str(caught.value.hint)
    remote.commit("team/shop", code="def third_shop(): pass\n")
    assert main(["fleet", "index", "company", "shop"]) == 0
    assert "1 repository changed" in capsys.readouterr().out


def test_the_default_branch_is_followed(remote: Repositories, address: str) -> None:
    bare = remote.commit("team/shop", price="def on_main(): pass\n")
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/shop.git"])
        fleet.index()
        work = remote.folder.parent / "remote-work" / "team" / "shop"
        git(work, "checkout", "-q", "-b", "next")
        remote.commit("team/shop", price="def on_next(): pass\n")
        assert fleet.index().changed == ()
        git(bare, "symbolic-ref", "HEAD", "refs/heads/next")
        assert fleet.index().changed == ("shop",)
        assert first(fleet, "on_next") == "shop/price.py"


def test_large_files_and_history_are_not_fetched(
    remote: Repositories, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "small.toml"))
    (tmp_path / "small.toml").write_text(
        '[server]\ngit_schemes = ["http"]\n[source]\nmax_file_bytes = 1000\nmax_document_bytes = 1000\n'
    )
    remote.commit("team/shop", price="def old_price(): pass\n")
    bare = remote.commit("team/shop", price="def new_price(): pass\n", large="x = 1\n" * 1_000)
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/shop.git"])
        assert fleet.index().failures == ()
        assert first(fleet, "new_price") == "shop/price.py"
        (clone,) = clones(fleet)
        assert git(clone, "rev-list", "--count", "HEAD") == "1"
        large = git(bare, "rev-parse", "HEAD:large.py")
        assert f"?{large}" in git(clone, "rev-list", "--objects", "--missing=print", "HEAD^{tree}")


def test_what_cannot_be_fetched_stays_as_it_was_and_is_named(remote: Repositories, address: str) -> None:
    remote.commit("team/shop", price="def first_price(): pass\n")
    bare = remote.commit("team/auth", tokens="def refresh_token(): pass\n")
    remote.make("team/empty")
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/{name}.git" for name in ("shop", "auth", "empty", "none")])
        report = fleet.index()
        assert [failure.path for failure in report.failures] == ["none"]
        assert report.notes == (f"{address}/team/empty.git has no commit yet",)
        assert names(fleet) == ["auth", "none", "shop"]

        shutil.move(bare, bare.with_suffix(".away"))
        report = fleet.index()
        assert [failure.path for failure in report.failures] == ["auth", "none"]
        assert "git cannot clone" in str(report.failures[0].reason)
        assert first(fleet, "refresh_token") == "auth/tokens.py"
        assert [item.name for item in fleet.status().failed] == ["auth", "none"]

        shutil.move(bare.with_suffix(".away"), bare)
        remote.commit("team/empty", late="def late_words(): pass\n")
        report = fleet.index()
        assert [failure.path for failure in report.failures] == ["none"]
        assert first(fleet, "late_words") == "empty/late.py"
        assert [item.name for item in fleet.status().failed] == ["none"]


def test_many_fetches_are_packed_together_and_locks_of_a_killed_git_go(
    remote: Repositories, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_copies, "_MOST_PACKS", 2)
    remote.commit("team/shop", price="def price_0(): pass\n")
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/shop.git"])
        fleet.index()
        (clone,) = clones(fleet)
        before = git(clone, "rev-parse", "HEAD")
        for number in range(1, 4):
            (clone / "shallow.lock").touch()
            remote.commit("team/shop", price=f"def price_{number}(): pass\n")
            assert fleet.index().failures == ()
        assert len(list((clone / "objects" / "pack").glob("*.pack"))) <= 2
        assert git(clone, "cat-file", "-t", before) == "commit"  # a reader may still need it
        assert first(fleet, "price_3") == "shop/price.py"


@pytest.mark.parametrize(
    "said", [b"Counting objects: 100% (" + b"9" * 5_000 + b"/1)\n", b"\x1b[31m\xff\0\r" * 6_000, b"words\n" * 9_000]
)
def test_what_a_server_says_ends_no_run(remote: Repositories, address: str, said: bytes) -> None:
    remote.said = said
    remote.commit("team/shop", price="def first_price(): pass\n")
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/shop.git"])
        assert fleet.index().failures == ()
        assert first(fleet, "first_price") == "shop/price.py"


@pytest.mark.parametrize("damage", ["empty HEAD", "half a pack", "no folder"])
def test_a_damaged_clone_is_made_again(remote: Repositories, address: str, damage: str) -> None:
    bare = remote.commit("team/shop", price="def first_price(): pass\n")
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/shop.git"])
        fleet.index()
        (clone,) = clones(fleet)
        if damage == "empty HEAD":
            (clone / "HEAD").write_bytes(b"")
        elif damage == "half a pack":
            (pack,) = (clone / "objects" / "pack").glob("*.pack")
            pack.chmod(0o600)
            os.truncate(pack, pack.stat().st_size // 2)
        else:
            shutil.rmtree(clone)
            clone.touch()
        shutil.move(bare, bare.with_suffix(".away"))
        assert [failure.path for failure in fleet.index().failures] == ["shop"]
        assert clones(fleet) == [clone]

        shutil.move(bare.with_suffix(".away"), bare)
        assert fleet.index().failures == ()
        assert git(clone, "cat-file", "-p", "HEAD:price.py") == "def first_price(): pass"
        assert clones(fleet) == [clone]


def test_too_many_files_are_refused_before_they_are_read(
    remote: Repositories, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "few.toml").write_text('[server]\ngit_schemes = ["http"]\nclone_max_files = 2\n')
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "few.toml"))
    remote.commit("team/shop", a="a = 1\n", b="b = 2\n", c="c = 3\n")
    with Fleet.make("company") as fleet:
        fleet.add([f"{address}/team/shop.git"])
        (failure,) = fleet.index().failures
        assert "more than 2 files" in str(failure.reason)
        assert clones(fleet) == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("https://user:secret@host.example/group/name", "contains a login"),
        ("file:///etc", "does not clone from"),
        ("ext::sh -c touch", "is not there"),
        ("ssh://-oProxyCommand=touch/name.git", "is not the address"),
    ],
)
def test_addresses_that_are_refused(source: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Fleet.make("company") as fleet, pytest.raises(UsageError, match=said):
        fleet.add([source])
    assert main(["fleet", "add", "new", source]) == 2
    said_on_screen = capsys.readouterr().err
    assert said in said_on_screen
    assert "secret" not in said_on_screen
    assert main(["fleet", "--json"]) == 0
    assert [item["name"] for item in json.loads(capsys.readouterr().out)] == ["company"]


def test_on_the_command_line(remote: Repositories, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("auth", "shop"):
        remote.commit(f"team/{name}", code=f"def of_{name}(): pass\n")
    remote.make("team/empty")
    sources = [f"{address}/team/{name}.git" for name in ("auth", "shop", "empty")]
    assert main(["fleet", "add", "company", *sources]) == 0
    assert main(["fleet", "index", "company"]) == 0
    assert f"{address}/team/empty.git has no commit yet" in capsys.readouterr().err
    assert main(["fleet", "status", "company"]) == 0
    assert "; clones " in capsys.readouterr().out
    assert main(["search", "-p", "company", "of_shop"]) == 0
    assert "shop/code.py" in capsys.readouterr().out
    assert main(["fleet", "remove", "company", sources[0]]) == 0
    assert main(["fleet", "index", "company", "--json"]) == 0
    report = json.loads(capsys.readouterr().out.split("\n", 1)[1])
    assert (report["changed"], report["repositories"]) == (["auth"], 1)
    assert main(["fleet", "remove", "company"]) == 0
