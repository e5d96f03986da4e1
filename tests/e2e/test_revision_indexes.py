"""Indexes of revisions that were not used for long go by themselves; no other index, and none that is in use."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.test_revisions import everything, git, own_folders, repository
from tests.removing import remove_folder
from tests.waiting import Started

from codefathom import Engine
from codefathom.cli import main
from codefathom.config.settings import IndexSettings, Settings
from codefathom.errors import SourceError
from codefathom.project.stores.revision_indexes import RevisionIndex
from codefathom.stores.folder import Folder
from codefathom.stores.lock import UseLock, unused, used_at, writer_lock

__all__ = ["own_folders", "repository"]  # fixtures

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

TWO = Settings(index=IndexSettings(kept_revisions=2))
USER = """
import sys
from codefathom import Engine
with Engine.open(sys.argv[1], revision=sys.argv[2]) as engine:
    engine.search("price")
    print("in use", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def tagged(repository: Path) -> Path:
    """The repository with four commits, each with a tag."""
    for number in range(1, 5):
        (repository / f"file{number}.py").write_text(f"def price_number_{number}():\n    return {number}\n")
        git(repository, "add", "--all")
        git(repository, "commit", "-q", "-m", "next")
        git(repository, "tag", f"t{number}")
    return repository


def make(root: Path, *revisions: str, settings: Settings = TWO) -> list[str]:
    """Index revisions, each a moment later than the one before, and return what was said."""
    notes: list[str] = []
    for number, revision in enumerate(revisions, len(kept(root))):
        with Engine.open(str(root), revision=revision, settings=settings, on_wait=notes.append) as engine:
            engine.index()
            os.utime(Path(engine.index_dir) / "use.lock", (1_700_000_000 + number, 1_700_000_000 + number))
    return notes


def listed(root: Path) -> tuple[RevisionIndex, ...]:
    with Engine.open(str(root)) as engine:
        return engine.revisions


def kept(root: Path) -> list[str]:
    return [item.revision for item in listed(root)]


def folders(tmp_path: Path) -> int:
    return len(list((tmp_path / "cache" / "indexes").iterdir()))


def test_the_indexes_used_last_stay(tagged: Path, tmp_path: Path) -> None:
    assert make(tagged, "t1", "t2") == []
    with Engine.open(str(tagged), revision="t1") as engine:  # which uses it again
        engine.search("price")
    (note,) = make(tagged, "t3")
    assert note == "the index of the revision 't2' was removed: index.kept_revisions keeps the 2 used last"
    assert set(kept(tagged)) == {"t1", "t3"}
    assert folders(tmp_path) == 2
    with Engine.open(str(tagged), revision="t2") as engine:
        assert engine.search("price_number_2").hits[0].chunk.path == "file2.py"


def test_without_a_limit_none_goes(tagged: Path) -> None:
    no_limit = Settings(index=IndexSettings(kept_revisions=0))
    assert make(tagged, "t1", "t2", "t3", settings=no_limit) == []
    assert kept(tagged) == ["t3", "t2", "t1"]
    assert len(make(tagged, "t4")) == 2
    assert kept(tagged) == ["t4", "t3"]


def test_those_used_last_stay_within_a_number_of_bytes(tagged: Path) -> None:
    assert make(tagged, "t1", "t2", "t3", settings=Settings()) == []
    sizes = {item.revision: item.n_bytes for item in listed(tagged)}

    def limited(n_bytes: int) -> Settings:
        return Settings(index=IndexSettings(kept_revision_bytes=n_bytes))

    assert make(tagged, "t3", settings=limited(sum(sizes.values()))) == []
    (note,) = make(tagged, "t3", settings=limited(sizes["t3"] + sizes["t2"]))
    assert note.startswith(
        "the index of the revision 't1' was removed: index.kept_revision_bytes keeps those used last"
    )
    assert kept(tagged) == ["t3", "t2"]
    assert len(make(tagged, "t3", settings=limited(1))) == 1
    assert kept(tagged) == ["t3"]  # the last one stays, whatever its size


def test_one_in_use_stays(tagged: Path) -> None:
    make(tagged, "t1", "t2")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with Started([sys.executable, "-c", USER, str(tagged), "t1"], **pipes) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == "in use\n"
        with Engine.open(str(tagged), revision="t1") as engine:
            os.utime(Path(engine.index_dir) / "use.lock", (1_600_000_000, 1_600_000_000))
        assert make(tagged, "t3") == []
        assert kept(tagged) == ["t3", "t2", "t1"]
        user.communicate("")
    assert len(make(tagged, "t4")) == 2
    assert kept(tagged) == ["t4", "t3"]


def test_one_that_is_written_stays(tagged: Path) -> None:
    make(tagged, "t1", "t2")
    oldest = next(item for item in listed(tagged) if item.revision == "t1")
    with writer_lock(oldest.index_dir):
        assert make(tagged, "t3") == []
    assert kept(tagged) == ["t3", "t2", "t1"]


def test_nothing_foreign_goes(tagged: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "shop"
    shutil.copytree(tagged, other)
    make(other, "t1")
    make(tagged, "t1")
    indexes = tmp_path / "cache" / "indexes"
    (first,) = listed(tagged)
    copied = indexes / "shop-at-0123456789ab"
    shutil.copytree(first.index_dir, copied)  # of another user, or from a clone: no list knows it
    strange = Path(first.index_dir) / "strange.txt"
    strange.write_text("not ours")
    with Engine.open(str(tagged)) as engine:
        engine.index()
    untouched = {path: everything(path) for path in (copied, tagged / ".fathom", Path(listed(other)[0].index_dir))}
    assert len(make(tagged, "t2", "t3", "t4")) == 2
    assert kept(tagged) == ["t4", "t3"]
    assert {path: everything(path) for path in untouched} == untouched
    assert [path.name for path in strange.parent.iterdir()] == ["strange.txt"]
    assert kept(other) == ["t1"]


def test_a_folder_whose_name_looks_like_a_revision_stays(
    tagged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_INDEX_DIR", str(tmp_path / "indexes"))
    plain = tmp_path / "shop-at"
    shutil.copytree(tagged, plain)
    with Engine.open(str(plain)) as engine:
        engine.index()
        place = Path(engine.index_dir)
    assert kept(plain) == []
    make(plain, "t1", "t2", "t3")
    assert len(kept(plain)) == 2
    assert (place / "catalog.db").exists()


def test_the_index_of_the_server_stays(tagged: Path) -> None:
    with Engine.open(str(tagged), revision="t1", settings=TWO) as engine:
        place = engine.place
    with Engine(replace(place, is_kept=True)) as engine:
        engine.index()
    make(tagged, "t2", "t3", "t4")
    assert set(kept(tagged)) == {"t1", "t3", "t4"}
    with Engine.open(str(tagged)) as engine:
        assert engine.remove_revision("t1") > 0
    assert set(kept(tagged)) == {"t3", "t4"}


def test_a_command_removes_one_also_of_a_branch_that_is_gone(tagged: Path, capfd: pytest.CaptureFixture[str]) -> None:
    git(tagged, "branch", "feature")
    make(tagged, "feature", "t1")
    git(tagged, "branch", "-D", "feature")
    for name, code in (("feature", 0), ("feature", 2), ("t1", 0), ("t1", 1), ("no-such", 2)):
        assert main(["index", "-C", str(tagged), "--remove", "--rev", name]) == code
    said = capfd.readouterr().err
    assert "removed the index of the revision 'feature'" in said
    assert "there is no index of the revision 't1'" in said
    assert kept(tagged) == []
    with Engine.open(str(tagged)) as engine, pytest.raises(SourceError, match="no revision 'no-such'"):
        engine.remove_revision("no-such")


def test_sizes_are_told(tagged: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make(tagged, "t1", "t2")
    assert main(["status", "-C", str(tagged)]) == 0
    lines = [
        line.split(maxsplit=2)[2] for line in capfd.readouterr().out.splitlines() if line.startswith("at revision")
    ]
    assert [line.split("(")[0] for line in lines] == ["t2 has an index ", "t1 has an index "]
    assert all("used 2023-11-1" in line for line in lines)
    assert main(["status", "-C", str(tagged), "--json"]) == 0
    items = json.loads(capfd.readouterr().out)["revisions"]
    assert [item["n_bytes"] > 0 for item in items] == [True, True]
    assert main(["doctor", "-C", str(tagged), "--json"]) in {0, 1}
    checks = {check["name"]: check["detail"] for check in json.loads(capfd.readouterr().out)["checks"]}
    assert checks["revisions"].startswith("2 indexes, ")
    assert "index.kept_revisions keeps 10, index.kept_revision_bytes " in checks["revisions"]


def test_a_removed_index_is_made_again_by_who_begins_to_use_it(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path / "index"))
    first, second = UseLock(folder), UseLock(folder)
    assert first.acquire() and second.acquire()
    with unused(folder) as is_unused:
        assert not is_unused
    first.release()
    second.release()
    assert used_at(folder) > 0
    with unused(folder) as is_unused:
        assert is_unused
        remove_folder(Path(folder.path))
    assert used_at(folder) == 0
    assert first.acquire()
    assert (Path(folder.path) / "use.lock").exists()
    first.release()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_an_index_that_cannot_be_written_is_used_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir(mode=0o500)
    assert not UseLock(Folder(str(tmp_path / "index"))).acquire()
