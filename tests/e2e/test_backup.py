"""A backup while others read and write, and its way back: nothing false comes in, and a failure costs nothing."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.test_store_command import shop
from tests.waiting import LONG_S, Started, comes, join

from codefathom import Engine
from codefathom.cli import main
from codefathom.config.configuration import load_settings
from codefathom.errors import IndexingError, LockedError, SourceError, UsageError
from codefathom.project.damage import damage_of, state_of
from codefathom.stores.lock import writer_lock

if sys.platform == "win32":
    pytest.skip("needs limits of POSIX", allow_module_level=True)

__all__ = ["shop"]  # a fixture
QUERY = "price of the cart"
NOT_MADE_YET = ("a part of the index is being made again", "the index was restored from a backup")


def hits(engine: Engine) -> list[object]:
    result = engine.search(QUERY, limit=30)
    assert result.degraded == ()
    return [(hit.chunk.path, hit.chunk.start_line, hit.score) for hit in result.hits]


def test_what_was_indexed_comes_back_without_being_read(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine:
        before, n_documents = hits(engine), engine.status().n_documents
        made = engine.backup(str(tmp_path / "b"))
        assert (made.root, made.n_documents) == (str(shop), n_documents)
        engine.remove_index()
        restored = engine.restore(str(tmp_path / "b"))
        assert restored == made
        report = engine.index()
        assert (report.n_unchanged, report.added, report.changed) == (n_documents, (), ())
        assert hits(engine) == before
        assert [check.name for check in engine.doctor() if not check.ok] == []
    assert {path.name for path in (shop / ".fathom").iterdir() if path.name.startswith("catalog.")} == {
        "catalog.db",
        "catalog.db.seal",
    }


def test_what_is_not_made_yet_is_not_called_damaged(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.backup(str(tmp_path / "b"))
    with Engine.open(str(shop), settings=load_settings(str(shop), overrides={"search.refresh": "never"})) as engine:
        engine.restore(str(tmp_path / "b"))
        result = engine.search("price")
        assert result.hits
        assert [note.startswith(NOT_MADE_YET) for note in result.degraded] == [True]
        assert engine.damage == engine.status().damage == ()
        engine.index()
        assert engine.search("price").degraded == ()
        (shop / ".fathom" / "lexical" / "state").unlink()
    with Engine.open(str(shop), settings=load_settings(str(shop), overrides={"search.refresh": "never"})) as engine:
        assert engine.damage == ("the index of words is missing or damaged; `fathom index` repairs it",)


def test_an_index_that_another_has_replaced_is_not_damaged(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine, Engine.open(str(shop)) as other:
        opened = engine.opened
        other.backup(str(tmp_path / "b"))
        other.restore(str(tmp_path / "b"))
        other.index()
        opened.views.reload()
        assert damage_of(opened) == ()
        assert [note.startswith(NOT_MADE_YET) for note in map(str, state_of(opened))] == [True]


def test_no_change_is_missed_where_the_number_of_writes_comes_again(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.index()
        engine.backup(str(tmp_path / "b"))
        (shop / "zoo.py").write_text("def feed_kangaroo():\n    return 'grass'\n")
        (shop / "pond.py").write_text("def feed_duck():\n    return 'bread'\n")
        probe, before_ns = tmp_path / "probe", (shop / "pond.py").stat().st_ctime_ns
        # Until the clock of the disk has gone on, and nothing could change without another stamp.
        assert comes(lambda: probe.write_text("") == 0 and probe.stat().st_ctime_ns > before_ns + 30_000_000)
        engine.index()
        generation = engine.generation
        engine.restore(str(tmp_path / "b"))
        engine.update(["zoo.py"])
        assert engine.generation == generation
        assert engine.index().added == ("pond.py",)


def test_changes_since_then_are_taken_in(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.backup(str(tmp_path / "b"))
        (shop / "zoo.py").write_text("def feed_kangaroo():\n    return 'grass'\n")
        engine.index()
        engine.restore(str(tmp_path / "b"))
        assert engine.search("feed_kangaroo").hits[0].chunk.path == "zoo.py"


def test_others_search_on_while_it_is_made_and_restored(shop: Path, tmp_path: Path) -> None:
    problems: list[BaseException] = []
    is_over = threading.Event()

    def search() -> None:
        try:
            with Engine.open(str(shop)) as engine:
                while not is_over.is_set():
                    result = engine.search(QUERY, limit=30)
                    assert result.hits
                    # No search waits for the run that makes the views again; the answer says so.
                    assert [note for note in result.degraded if not note.startswith(NOT_MADE_YET)] == []
        except BaseException as error:
            problems.append(error)

    searching = [threading.Thread(target=search) for _ in range(2)]
    for thread in searching:
        thread.start()
    with Engine.open(str(shop)) as engine:
        for _ in range(5):
            engine.backup(str(tmp_path / "b"))
            engine.restore(str(tmp_path / "b"))
            engine.index()
    is_over.set()
    join(*searching)
    assert problems == []


def test_another_process_sees_what_was_restored(shop: Path, tmp_path: Path) -> None:
    reading = (
        "import sys; from codefathom import Engine\n"
        "with Engine.open(sys.argv[1]) as engine:\n"
        "    for line in sys.stdin:\n"
        "        print(len(engine.search(line.strip()).hits), engine.status().n_documents, flush=True)\n"
    )
    with (
        Engine.open(str(shop)) as engine,
        Started([sys.executable, "-c", reading, str(shop)], stdin=-1, stdout=-1, text=True) as other,
    ):
        assert other.stdin is not None
        assert other.stdout is not None

        def answer() -> list[int]:
            other.stdin.write(f"{QUERY}\n")
            other.stdin.flush()
            return [int(word) for word in other.stdout.readline().split()]

        first = answer()
        engine.backup(str(tmp_path / "b"))
        engine.restore(str(tmp_path / "b"))
        assert answer() == first
        other.stdin.close()


def test_a_backup_is_made_while_another_process_writes(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine, writer_lock(str(shop / ".fathom")):
        made = engine.backup(str(tmp_path / "b"))
        assert made.n_documents == engine.status().n_documents
        with pytest.raises(LockedError):
            engine.restore(str(tmp_path / "b"), wait_s=0)


def test_one_of_another_user_is_compared_with_the_files(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine.open(str(shop)) as engine:
        expected = hits(engine)
    (shop / "shop" / "pricing.py").rename(tmp_path / "kept.py")
    (shop / "shop" / "pricing.py").write_text("def planted():\n    return 'price of the cart'\n")
    with Engine.open(str(shop)) as engine:
        engine.index()
        engine.backup(str(tmp_path / "b"))
    stamp = os.stat(tmp_path / "kept.py")
    (tmp_path / "kept.py").replace(shop / "shop" / "pricing.py")
    os.utime(shop / "shop" / "pricing.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "other"))
    notes: list[str] = []
    with Engine.open(str(shop), on_wait=notes.append) as engine:
        engine.restore(str(tmp_path / "b"))
        assert "was not made by you for this folder" in notes[0]
        with pytest.raises(IndexingError, match="not made here"):
            engine.backup(str(tmp_path / "c"))
        assert hits(engine) == expected


def test_one_of_another_folder_is_compared_too(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.backup(str(tmp_path / "b"))
    moved = tmp_path / "moved"
    moved.mkdir()
    (moved / "fathom.toml").touch()
    (moved / "zoo.py").write_text("def feed_kangaroo():\n    return 'grass'\n")
    with Engine.open(str(moved)) as engine:
        engine.restore(str(tmp_path / "b"))
        assert {hit.chunk.path for hit in engine.search("price", limit=50).hits} <= {"zoo.py", "fathom.toml"}


def cut(content: bytes) -> bytes:
    return content[:-1_000]


def changed(content: bytes) -> bytes:
    return content[:9_000] + bytes([content[9_000] ^ 1]) + content[9_001:]


def other_note(content: bytes) -> bytes:
    return content.replace(b'"n_chunks": ', b'"n_chunks": -', 1)


def long_note(content: bytes) -> bytes:
    return content[:-24] + (1 << 60).to_bytes(8, "big") + content[-16:]


def not_a_catalogue(content: bytes) -> bytes:
    return b"print('no')\n" * 100


@pytest.mark.parametrize("spoil", [cut, changed, other_note, long_note, not_a_catalogue])
def test_a_spoiled_backup_changes_nothing(shop: Path, tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    with Engine.open(str(shop)) as engine:
        before, generation = hits(engine), engine.generation
        engine.backup(str(tmp_path / "b"))
        (tmp_path / "b").write_bytes(spoil((tmp_path / "b").read_bytes()))
        with pytest.raises(IndexingError, match=r"is damaged|is not a backup"):
            engine.restore(str(tmp_path / "b"))
        assert (hits(engine), engine.generation) == (before, generation)
    assert not list((shop / ".fathom").glob("catalog.restored*"))


def test_a_claimed_number_makes_it_foreign(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.backup(str(tmp_path / "b"))
    content = (tmp_path / "b").read_bytes()
    (tmp_path / "b").write_bytes(content.replace(b'"made_at_ns": 1', b'"made_at_ns": 2', 1))
    notes: list[str] = []
    with Engine.open(str(shop), on_wait=notes.append) as engine:
        engine.restore(str(tmp_path / "b"))
    assert notes


def test_a_file_of_the_user_is_not_written_over(shop: Path) -> None:
    before = (shop / "shop" / "pricing.py").read_bytes()
    with Engine.open(str(shop)) as engine, pytest.raises(UsageError, match="already exists and is not a backup"):
        engine.backup(str(shop / "shop" / "pricing.py"))
    assert (shop / "shop" / "pricing.py").read_bytes() == before


def test_without_an_index_there_is_nothing_to_back_up(tmp_path: Path, shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.remove_index()
        with pytest.raises(IndexingError, match="there is no index yet"):
            engine.backup(str(tmp_path / "b"))
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("name", ["missing/b", "."])
def test_a_place_that_cannot_be_written_is_an_error(shop: Path, tmp_path: Path, name: str) -> None:
    with Engine.open(str(shop)) as engine:
        with pytest.raises(SourceError, match="cannot write"):
            engine.backup(str(tmp_path / name))
        with pytest.raises(SourceError, match="cannot read"):
            engine.restore(str(tmp_path / name))


def on_a_full_disk(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command that can write no file of more than 60,000 bytes."""
    return subprocess.run(
        [sys.executable, "-m", "codefathom", *words],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)),
        timeout=LONG_S,
    )


def test_a_full_disk_leaves_the_backup_before(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.backup(str(tmp_path / "b"))
    before = (tmp_path / "b").read_bytes()
    run = on_a_full_disk("backup", "-C", str(shop), str(tmp_path / "b"))
    assert run.returncode == 2
    assert "cannot write" in run.stderr
    assert (tmp_path / "b").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("b")] == ["b"]


def test_a_full_disk_leaves_the_index_before(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine:
        before = hits(engine)
        engine.backup(str(tmp_path / "b"))
    run = on_a_full_disk("restore", "-C", str(shop), str(tmp_path / "b"))
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    with Engine.open(str(shop)) as engine:
        assert engine.index().added == ()
        assert hits(engine) == before
    assert not list((shop / ".fathom").glob("catalog.restored*"))


def test_a_backup_is_for_its_owner_only(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.backup(str(tmp_path / "b"))
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "state" / "signing-key").stat().st_mode & 0o777 == 0o600


def test_nothing_that_was_paid_for_is_asked_again(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.e2e.test_remote_embeddings import said
    from tests.protocols.server import Turn, serving

    with serving(Turn(reply=said)) as served:
        settings = load_settings(
            str(shop), overrides={"embed.model": "ollama:m", "embed.base_url": served.base_url, "limits.attempts": 1}
        )
        with Engine.open(str(shop), settings=settings) as engine:
            engine.index()
            engine.backup(str(tmp_path / "b"))
            n_calls = len(served.asked)
            assert n_calls
            engine.remove_index()
            monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "new cache"))
        with Engine.open(str(shop), settings=settings) as engine:
            engine.restore(str(tmp_path / "b"))
            engine.index()
            assert engine.status().n_without_vector == 0
            assert len(served.asked) == n_calls


def test_the_commands_say_what_they_did(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backup", "-C", str(shop), str(tmp_path / "b")]) == 0
    assert f"wrote {tmp_path / 'b'}: " in capsys.readouterr().err
    assert main(["restore", "-C", str(shop), str(tmp_path / "b")]) == 0
    out, err = capsys.readouterr()
    assert f"restored the index of {shop}, made " in err
    assert " unchanged" in out
    assert main(["backup", "--json", "-C", str(shop), str(tmp_path / "b")]) == 0
    assert json.loads(capsys.readouterr().out)["root"] == str(shop)


def test_the_store_of_the_vectors_is_filled_again(shop: Path, tmp_path: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.stores.move("faiss")
        before = hits(engine)
        engine.backup(str(tmp_path / "b"))
        engine.remove_index()
        engine.restore(str(tmp_path / "b"))
        engine.index()
        assert hits(engine) == before
        assert engine.stores.in_force.vectors == "faiss"
        assert engine.stores.verify().problem == ""
