"""The contract of stores of shards: a folder, and a bucket of a server that speaks S3."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.contracts.breaking_proxy import breaking_proxy
from tests.contracts.s3_server import S3Server, s3_server

from codefathom.errors import DamagedError, IndexingError, SettingsError
from codefathom.fleet.manifest import Shard
from codefathom.fleet.shard_parts import RECORD, digest_of, parts_of, wrong_content
from codefathom.fleet.shard_store import ShardStore, StoreAddress
from codefathom.fleet.shard_stores import open_store
from codefathom.fleet.shards import BuiltShard
from codefathom.stores.folder import File, Folder

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
NAME = "00001-0123456789abcdef0123"
N_SHARDS = 12  # more than a page of the server of moto, see `s3_server`


class Opened(NamedTuple):
    """A store, and how its files are changed by somebody else."""

    address: str
    put: Any  # (name, content)
    delete: Any
    has_digests: bool  # in the names of files

    def place(self, built: BuiltShard, name: str) -> str:
        """Return the name of a file of a shard in the store."""
        return f"{NAME}/{digest_of(built.parts)}/{name}" if self.has_digests else f"{NAME}/{name}"

    def store(self, key: bytes = KEY) -> ShardStore:
        return open_store(StoreAddress(self.address, key))


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture(params=["folder", "s3"])
def opened(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    if request.param == "folder":
        folder = tmp_path / "store"
        folder.mkdir()

        def put(name: str, content: bytes) -> None:
            (folder / name).write_bytes(content)

        return Opened(str(folder), put, lambda name: (folder / name).unlink(), has_digests=False)
    server = request.getfixturevalue("bucket_server")
    for name, value in server.variables.items():
        monkeypatch.setenv(name, value)
    bucket = server.new_bucket()
    return Opened(
        f"s3://{bucket}/fleets/one",
        lambda name, content: server.put(bucket, f"fleets/one/{name}", content),
        lambda name: server.delete(bucket, f"fleets/one/{name}"),
        has_digests=True,
    )


@pytest.fixture
def source(tmp_path: Path) -> Folder:
    folder = tmp_path / "made"
    (folder / "lexical" / "a").mkdir(parents=True)
    (folder / "catalog.db").write_bytes(os.urandom(3_000_000))
    (folder / "lexical" / "a" / "meta.json").write_bytes(b"{}")
    (folder / "lexical" / "empty").write_bytes(b"")
    return Folder(str(folder))


@pytest.fixture
def built(source: Folder) -> BuiltShard:
    parts = parts_of(source)
    shard = Shard(1, NAME, "identity", digest_of(parts), 2, 30, 4, 3_000_002)
    return BuiltShard(shard, b"\x00names\xff", ["auth/a.py", "auth/\udcff.py"], parts)


def test_what_was_put_is_found_and_brought(opened: Opened, built: BuiltShard, source: Folder, tmp_path: Path) -> None:
    store = opened.store()
    assert store.find(NAME) is None
    assert store.names() == set()
    assert store.put(built, source) == built
    assert store.find(NAME) == built
    assert store.names() == {NAME}
    target = Folder(str(tmp_path / "node"))
    store.bring(NAME, built.parts, target)
    assert wrong_content(target.below(NAME), built.parts) is None
    assert target.names() == [NAME]


def test_the_first_one_stays(opened: Opened, built: BuiltShard, source: Folder) -> None:
    """A task that is made twice gives the files of the first one, which may be read already."""
    store = opened.store()
    store.put(built, source)
    Path(source.path, "catalog.db").write_bytes(b"another one")
    second = built._replace(parts=parts_of(source))
    assert store.put(second, source) == built


def test_a_shard_that_was_not_written_to_its_end_is_none(opened: Opened, built: BuiltShard, source: Folder) -> None:
    store = opened.store()
    store.put(built, source)
    opened.delete(f"{NAME}/{RECORD}")
    assert store.find(NAME) is None
    assert store.names() == set()
    assert store.put(built, source) == built
    assert store.find(NAME) == built


def test_a_record_that_another_key_has_signed_is_none(opened: Opened, built: BuiltShard, source: Folder) -> None:
    opened.store(OTHER_KEY).put(built, source)
    assert opened.store().find(NAME) is None


@pytest.mark.parametrize("name", ["catalog.db", "lexical/a/meta.json"])
@pytest.mark.parametrize("change", ["other", "longer", "gone"])
def test_a_damaged_file_is_refused_on_arrival(
    opened: Opened, built: BuiltShard, source: Folder, tmp_path: Path, name: str, change: str
) -> None:
    store, target = opened.store(), Folder(str(tmp_path / "node"))
    store.put(built, source)
    content = Path(source.path, name).read_bytes()
    if change == "gone":
        opened.delete(opened.place(built, name))
    else:
        opened.put(opened.place(built, name), bytes(len(content)) + (b"more" if change == "longer" else b""))
    with pytest.raises(DamagedError, match=f"the shard {NAME} is damaged: its file {name}"):
        store.bring(NAME, built.parts, target)
    assert target.names() == []


def test_a_shard_that_is_removed_is_gone(opened: Opened, built: BuiltShard, source: Folder, tmp_path: Path) -> None:
    store = opened.store()
    store.put(built, source)
    store.remove(NAME)
    store.remove(NAME)
    assert store.find(NAME) is None
    with pytest.raises(DamagedError):
        store.bring(NAME, built.parts, Folder(str(tmp_path / "node")))


def test_whoever_has_put_a_shard_first_stays_whole(
    opened: Opened, built: BuiltShard, source: Folder, tmp_path: Path
) -> None:
    """Two machines make one shard at the same time, such as after one that was taken for lost."""
    other = tmp_path / "other"
    shutil.copytree(source.path, other)
    (other / "catalog.db").write_bytes(os.urandom(1_000_000))
    parts = parts_of(Folder(str(other)))
    faster = BuiltShard(built.shard._replace(checksum=digest_of(parts)), built.names, built.paths, parts)

    class Interrupted(Folder):
        """A folder whose first file is read when another machine puts its shard there."""

        def file(self, name: str) -> File:
            if not store.names():
                assert opened.store().put(faster, Folder(str(other))) == faster
            return super().file(name)

    store = opened.store()
    assert store.put(built, Interrupted(source.path)) == faster
    assert store.find(NAME) == faster
    store.bring(NAME, faster.parts, Folder(str(tmp_path / "node")))


def test_a_store_lists_many_shards_and_keeps_large_files(
    opened: Opened, built: BuiltShard, source: Folder, tmp_path: Path
) -> None:
    store = opened.store()
    Path(source.path, "catalog.db").write_bytes(os.urandom(12_000_000))  # a bucket gets it in several parts
    parts = parts_of(source)
    names = {f"{number:05}-0123456789abcdef0123" for number in range(1, N_SHARDS + 1)}
    for name in sorted(names):
        shard = built.shard._replace(folder=name, checksum=digest_of(parts if name == NAME else parts[1:]))
        assert store.put(BuiltShard(shard, b"", [], parts if name == NAME else parts[1:]), source)
    assert store.names() == names
    store.bring(NAME, parts, Folder(str(tmp_path / "node")))
    store.remove(NAME)
    assert store.names() == names - {NAME}


def test_keys_that_a_bucket_does_not_know_are_named(
    bucket_server: S3Server, built: BuiltShard, source: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not bucket_server.is_service:
        pytest.skip("moto takes all keys")
    for name, value in {**bucket_server.variables, "AWS_SECRET_ACCESS_KEY": "another"}.items():
        monkeypatch.setenv(name, value)
    store = open_store(StoreAddress(f"s3://{bucket_server.new_bucket()}/one", KEY))
    for ask in (store.names, lambda: store.find(NAME), lambda: store.put(built, source), lambda: store.remove(NAME)):
        with pytest.raises(IndexingError, match="the store of shards") as raised:
            ask()
        assert "another" not in str(raised.value)


def test_a_connection_that_breaks_off_costs_an_attempt(
    bucket_server: S3Server, built: BuiltShard, source: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with breaking_proxy(bucket_server.endpoint) as proxy:
        for name, value in {**bucket_server.variables, "AWS_ENDPOINT_URL": proxy.endpoint}.items():
            monkeypatch.setenv(name, value)
        store = open_store(StoreAddress(f"s3://{bucket_server.new_bucket()}/one", KEY))
        proxy.limits += [100_000, 200_000]
        assert store.put(built, source) == built
        assert proxy.limits == []
        proxy.limits += [1_000_000, 500_000]
        store.bring(NAME, built.parts, Folder(str(tmp_path / "node")))
        assert proxy.limits == []


def test_a_bucket_that_is_not_there_is_named(bucket_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in bucket_server.variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(IndexingError, match=r"404 Not Found$") as raised:
        open_store(StoreAddress("s3://shards-of-nobody/one", KEY)).names()
    assert "see that the bucket is there" in str(raised.value.hint)


def test_a_bucket_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    for name, value in {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ALLOW_HTTP": "true"}.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    store = open_store(StoreAddress("s3://shards/one", KEY))
    with pytest.raises(IndexingError, match="the store of shards 's3://shards/one'"):
        store.find(NAME)


def test_without_its_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore", None)
    with pytest.raises(SettingsError, match="needs the library 'obstore'") as raised:
        open_store(StoreAddress("s3://shards/one", KEY))
    assert "pip install 'codefathom[s3]'" in raised.value.hint


def test_what_is_no_address_of_a_store_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"search\.fleet_store cannot be 'ftp://shards'"):
        open_store(StoreAddress("ftp://shards", KEY))


def test_a_copy_stays_in_its_folder(built: BuiltShard, source: Folder, tmp_path: Path) -> None:
    store = open_store(StoreAddress(str(tmp_path / "store"), KEY))
    store.put(built, source)
    part = built.parts[0]._replace(name="../outside")
    with pytest.raises((DamagedError, IndexingError, ValueError)):
        store.bring(NAME, [part], Folder(str(tmp_path / "node")))
    assert not (tmp_path / "node" / "outside").exists()
    shutil.rmtree(tmp_path / "store")
