"""A task of a cluster, without Ray: what it refuses, and what it does not see."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from codefathom.fleet.cluster.code_word import code_word
from codefathom.fleet.cluster.shard_calls import packed
from codefathom.fleet.cluster.shard_task import NoText, ShardTask, UnseenFile, make_shard
from codefathom.fleet.manifest import ListedFile
from codefathom.fleet.shard_store import StoreAddress
from codefathom.fleet.shards import BuiltShard, ShardOrder
from codefathom.project.location import locate
from codefathom.source.changes import FileStat
from codefathom.source.origin import FolderFiles


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ShardTask:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "auth").mkdir()
    (tmp_path / "auth" / "a.py").write_text("def refresh(token):\n    return token\n")
    (tmp_path / "shards").mkdir()
    trees = {"auth": FolderFiles(str(tmp_path / "auth"))}
    status = trees["auth"].stat("a.py")
    assert status is not None
    file = FileStat(f"auth/{status.path}", *status[1:])
    order = ShardOrder(1, [ListedFile(file, b"c" * 20)], trees, None)
    settings = locate(str(tmp_path), is_root=True).settings
    return ShardTask(order, "team", settings, StoreAddress(str(tmp_path / "shards"), b"k" * 32))


def outcome(task: ShardTask) -> object:
    return pickle.loads(make_shard(code_word(), packed(task)))


def test_other_code_gets_the_word_and_nothing_is_unpacked() -> None:
    assert make_shard("0.0.1 (code abc)", b"no pickle") == code_word().encode()


def test_a_shard_is_made_once(task: ShardTask, tmp_path: Path) -> None:
    first = outcome(task)
    assert isinstance(first, BuiltShard)
    assert first.paths == ["auth/a.py"]
    assert outcome(task) == first
    assert list((tmp_path / "cache" / "fleet-tasks").iterdir()) == []


def test_a_file_that_is_another_one_here_is_not_read(task: ShardTask, tmp_path: Path) -> None:
    path = tmp_path / "auth" / "a.py"
    path.write_text("def another():\n    return 0\n")
    assert outcome(task) == UnseenFile(str(path))
    path.unlink()
    assert outcome(task) == UnseenFile(str(path))
    assert list((tmp_path / "shards").iterdir()) == []


def test_a_machine_without_the_folder_of_the_fleet_says_so(task: ShardTask, tmp_path: Path) -> None:
    (tmp_path / "shards").rmdir()
    assert outcome(task) == UnseenFile(str(tmp_path / "shards"))


def test_files_without_text_make_no_shard(task: ShardTask, tmp_path: Path) -> None:
    (tmp_path / "auth" / "a.py").write_text("")
    status = FolderFiles(str(tmp_path / "auth")).stat("a.py")
    assert status is not None
    file = FileStat(f"auth/{status.path}", *status[1:])

    order = task.order._replace(files=[ListedFile(file, b"c" * 20)])
    assert outcome(replace(task, order=order)) == NoText()
