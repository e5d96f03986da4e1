"""The catalogue's file: other formats, damage, several processes and threads, and a writer that is killed."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from tests.older_formats import made_older
from tests.waiting import Started, join

from codefathom.errors import IndexingError
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, DocumentRecord
from codefathom.stores.catalog.schema import FORMAT
from codefathom.types import Chunk, Document, ParsedDocument, Reference, Symbol

WRITE = """
import sys
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, DocumentRecord
from codefathom.types import Chunk, Document, ParsedDocument


def record(name, generation):
    path, text = f"{name}.py", f"{generation}\\n"
    document = Document(path, "python", text * 20, f"{generation}", 1)
    pieces = tuple(Chunk(f"{name}{n}-{generation}", path, "python", "block", "", (), n, n, text) for n in range(1, 21))
    hashes = tuple(f"{name}{n}-{generation}" for n in range(1, 21))
    vectors = {text_hash: b"%d" % generation for text_hash in hashes}
    return DocumentRecord(ParsedDocument(document, (), (), (), "p"), pieces, hashes, 1, "p", "c", vectors, "m")


def write(catalog, count):
    for _ in range(count):
        generation = catalog.generation + 1
        catalog.write(Batch(records=tuple(record(name, generation) for name in "abc"), meta={"last": str(generation)}))
"""
READ = """
def check(catalog):
    for _ in range(200):
        before = catalog.generation
        rows = catalog._read("SELECT DISTINCT TEXT_OF(packed) FROM chunks")  # one statement: one state
        texts = [int(row[0]) for row in rows]
        after = catalog.generation
        assert len(texts) <= 1 and all(before <= text <= after for text in texts), (before, texts, after)
        assert all(text.count("\\n") == 20 for text in map(catalog.text, ("a.py", "b.py", "c.py")) if text)
"""


def start(script: str, path: Path) -> subprocess.Popen[bytes]:
    return Started([sys.executable, "-c", WRITE + READ + script, str(path)], stdout=subprocess.PIPE)


def small(path: Path, text: str = "text\n") -> Catalog:
    catalog = Catalog.open(str(path))
    piece = Chunk("id", "a.py", "python", "block", "", (), 1, 1, text)
    parsed = ParsedDocument(Document("a.py", "python", text, "f", 1), (), (), (), "p")
    catalog.write(Batch(records=(DocumentRecord(parsed, (piece,), ("h",), 1, "p", "c", {}, "m"),)))
    return catalog


def set_format(path: Path, value: str) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'format'", (value,))
    db.close()


# ---- the file of a first run, and older ones that are brought up

LATE = ("chunks_text_hash", "embeddings_text_hash", "symbols_name", "used_names")


def outlined(name: str, *words: str) -> DocumentRecord:
    """Return a document with a symbol and a use of it, and one chunk for each word, with a vector of the word."""
    path = f"{name}.py"
    texts = [f"{word}\n" for word in words]
    document = Document(path, "python", "".join(texts), f"{name} {words}", 1)
    symbols = (Symbol("function", name, name, 1, 1, 1, f"def {name}()", ""),)
    parsed = ParsedDocument(document, symbols, (Reference("call", name, 1),), (), "p")
    pieces = tuple(
        Chunk(f"{name}{line}", path, "python", "block", name, (name,), line, line, text)
        for line, text in enumerate(texts, 1)
    )
    return DocumentRecord(parsed, pieces, words, 1, "p", "c", {word: word.encode() for word in words}, "m")


def indexes(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_master")}


def answers(catalog: Catalog) -> dict[str, object]:
    """Return all that readers ask, by what they read."""
    paths = [item.path for item in catalog.documents()]
    return {
        "texts": {path: (catalog.text(path), catalog.symbols_of(path), catalog.references_of(path)) for path in paths},
        "symbols": (catalog.symbols("step"), catalog.symbols_named("step2"), catalog.similar_names("tep", limit=9)),
        "uses": [catalog.references(f"step{number}") for number in range(6)],
        "without vector": [item[:2] for item in catalog.without_vector("m")],
        "of no model": (catalog.n_without_vector("other"), catalog.paths_without_vector("other")),
        "vectors": (list(catalog.vectors("m")), catalog.n_rows("m"), catalog.vectors_of("m", ["b", "c", "z"])),
        "counts": catalog.counts(),
    }


def write_all(catalog: Catalog) -> None:
    """Write six documents in three batches; two words come in several of them, and one has no vector."""
    for number in range(0, 6, 2):
        some = [outlined(f"step{n}", "a", f"w{n}", "b") for n in (number, number + 1)]
        catalog.write(Batch(records=tuple(some)))
    bare = outlined("bare", "z")._replace(vectors={})
    catalog.write(Batch(records=(bare,)))


def test_a_first_run_makes_large_indexes_at_its_end(tmp_path: Path) -> None:
    plain, path = Catalog.open(str(tmp_path / "plain.db")), tmp_path / "c.db"
    write_all(plain)
    catalog = Catalog.open(str(path))
    catalog.begin_load()
    assert indexes(path).isdisjoint(LATE)
    write_all(catalog)
    with closing(Catalog.open(str(path), read_only=True)) as reader:  # while the run is at work
        shown = answers(reader)
        assert {**shown, "vectors": ()} == {**answers(plain), "vectors": ()}
    catalog.end_load()
    assert indexes(path) >= set(LATE)
    assert answers(catalog) == answers(plain)
    catalog.close()
    with closing(Catalog.open(str(path))) as again:
        assert (again.get_meta("set_aside"), again.soundness.check()) == ("", "")


def test_a_killed_first_run_lacks_its_indexes_until_the_next(tmp_path: Path) -> None:
    script = "import os; c = Catalog.open(sys.argv[1]); c.begin_load(); write(c, 3); os._exit(9)"
    plain = Catalog.open(str(tmp_path / "plain.db"))
    write_all(plain)
    path = tmp_path / "c.db"
    with start(script, path) as killed:
        assert killed.wait() == 9
    with closing(Catalog.open(str(path))) as catalog:
        assert (catalog.get_meta("set_aside"), catalog.get_meta("last")) == ("", "3")
        assert indexes(path).isdisjoint(LATE)
        catalog.begin_load()
        assert indexes(path) >= set(LATE)
        catalog.write(Batch(removed=("a.py", "b.py", "c.py")))
        catalog.prune(catalog.generation)
        write_all(catalog)
        kept = ("texts", "symbols", "uses", "of no model", "counts")
        assert {name: answers(catalog)[name] for name in kept} == {name: answers(plain)[name] for name in kept}


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 35), reason="it drops no columns")
@pytest.mark.parametrize("version", [6, 7, 8, 9, 10, 11])
def test_a_catalogue_of_a_format_before_keeps_its_rows(tmp_path: Path, version: int) -> None:
    path = tmp_path / "c.db"
    catalog = Catalog.open(str(path))
    write_all(catalog)
    before, identity, generation = answers(catalog), catalog.identity, catalog.generation
    catalog.close()
    made_older(path, version)
    with pytest.raises(IndexingError, match=f"its format was {version}, now it is {FORMAT}"):
        Catalog.open(str(path), read_only=True)
    with closing(Catalog.open(str(path))) as catalog:
        assert (catalog.identity, catalog.generation, catalog.get_meta("set_aside")) == (identity, generation, "")
        assert answers(catalog) == before
        assert indexes(path) >= set(LATE)
        catalog.write(Batch(records=(outlined("step0", "a", "b"),)))
        assert catalog.vectors_of("m", ["a", "b"]) == {"a": b"a", "b": b"b"}
    Catalog.open(str(path), read_only=True).close()


def test_a_catalogue_that_was_brought_up_takes_no_more_room(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    small(path, "".join(f"line {number}\n" for number in range(50_000))).close()
    made_older(path, 10)
    n_bytes = path.stat().st_size
    Catalog.open(str(path)).close()
    assert path.stat().st_size < n_bytes
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA freelist_count").fetchone() == (0,)


def test_one_process_waits_while_another_brings_it_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.db"
    small(path).close()
    made_older(path, 10)
    monkeypatch.setattr("codefathom.stores.database._WAIT_S", 0.0)  # of all other transactions
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        ended = threading.Timer(1.0, other.execute, ("COMMIT",))
        ended.start()
        try:
            with closing(Catalog.open(str(path))) as catalog:
                assert catalog.text("a.py") == "text\n"
        finally:
            join(ended)


# ---- other formats and damage


def test_opens_again_with_all_it_had(tmp_path: Path) -> None:
    first = small(tmp_path / "c.db")
    identity = first.identity
    first.close()
    again = Catalog.open(str(tmp_path / "c.db"))
    assert (again.text("a.py"), again.generation, again.identity) == ("text\n", 1, identity)
    again.close()
    with pytest.raises(IndexingError, match="closed"):
        again.entries()


def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    small(tmp_path / "c.db").close()
    set_format(tmp_path / "c.db", str(FORMAT + 1))
    for read_only in (False, True):
        with pytest.raises(IndexingError, match=f"format {FORMAT + 1}") as caught:
            Catalog.open(str(tmp_path / "c.db"), read_only=read_only)
        assert caught.value.hint
    set_format(tmp_path / "c.db", str(FORMAT))
    assert Catalog.open(str(tmp_path / "c.db")).text("a.py") == "text\n"


@pytest.mark.parametrize("value", [str(FORMAT - 1), "", "soup"])
def test_an_older_format_is_set_aside_and_made_again(tmp_path: Path, value: str) -> None:
    old = small(tmp_path / "c.db")
    identity = old.identity
    old.close()
    set_format(tmp_path / "c.db", value)
    with pytest.raises(IndexingError, match="format"):
        Catalog.open(str(tmp_path / "c.db"), read_only=True)
    new = Catalog.open(str(tmp_path / "c.db"))
    assert (new.generation, new.entries(), new.identity != identity) == (0, {}, True)
    # An older format is no damage; a format that was never written is.
    assert ("format" in new.get_meta("set_aside")) == (not value.isdigit())
    assert (tmp_path / "c.db.broken").exists()


@pytest.mark.parametrize("content", [b"no database" * 500, b"SQLite format 3\0" + b"\x01" * 5_000])
def test_a_file_that_is_no_database_is_set_aside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "c.db").write_bytes(content)
    with pytest.raises(IndexingError, match=r"c\.db"):
        Catalog.open(str(tmp_path / "c.db"), read_only=True)
    catalog = small(tmp_path / "c.db")
    assert "damaged" in catalog.get_meta("set_aside")
    assert catalog.text("a.py") == "text\n"
    assert (tmp_path / "c.db.broken").read_bytes() == content


def test_a_foreign_database_is_set_aside(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "c.db") as db:
        db.execute("CREATE TABLE other(x)")
    db.close()
    assert Catalog.open(str(tmp_path / "c.db")).get_meta("set_aside")


def test_damage_is_an_error_first_and_made_good_by_the_next_to_open(tmp_path: Path) -> None:
    source = small(tmp_path / "whole.db", "".join(f"line {n}\n" for n in range(20_000)))
    source.close()
    whole = (tmp_path / "whole.db").read_bytes()
    n_errors = 0
    for place in range(4_096, len(whole), len(whole) // 20):
        for damaged in (whole[:place], whole[:place] + os.urandom(4_096) + whole[place + 4_096 :]):
            (tmp_path / "c.db").write_bytes(damaged)
            catalog = Catalog.open(str(tmp_path / "c.db"))
            try:
                catalog.text("a.py")
                catalog.entries()
                catalog.write(Batch(removed=("a.py",)))
            except IndexingError as error:
                n_errors += 1
                catalog.close()
                assert "damaged" in str(error)
                assert error.hint
                catalog = small(tmp_path / "c.db")
                assert catalog.get_meta("set_aside")
                assert catalog.text("a.py") == "text\n"
                assert catalog.integrity_problem() == ""
            catalog.close()
            for file in tmp_path.glob("c.db*"):
                file.unlink()
    assert n_errors > 10


def test_a_missing_catalogue_is_not_made_by_a_reader(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="no index"):
        Catalog.open(str(tmp_path / "c.db"), read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="missing") as caught:
        Catalog.open(str(tmp_path / "missing" / "c.db"))
    assert caught.value.hint


def test_a_folder_in_its_place_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "c.db" / "with").mkdir(parents=True)
    assert "folder" in small(tmp_path / "c.db").get_meta("set_aside")
    assert (tmp_path / "c.db.broken" / "with").is_dir()


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "odd ?#%20 name"
    folder.mkdir()
    small(folder / "c.db").close()
    before = (folder / "c.db").read_bytes()
    reader = Catalog.open(str(folder / "c.db"), read_only=True)
    assert reader.text("a.py") == "text\n"
    with pytest.raises(IndexingError, match="written"):
        reader.write(Batch(meta={"k": "v"}))
    reader.close()
    assert (folder / "c.db").read_bytes() == before


# ---- several at once


def test_several_processes_may_make_it_at_the_same_time(tmp_path: Path) -> None:
    script = "catalog = Catalog.open(sys.argv[1]); write(catalog, 3); print(catalog.identity)"
    children = [start(script, tmp_path / "c.db") for _ in range(4)]
    answers = [child.communicate()[0] for child in children]
    assert len(set(answers)) == 1
    assert answers[0].strip().decode() == Catalog.open(str(tmp_path / "c.db")).identity


def test_readers_in_other_processes_see_whole_batches_only(tmp_path: Path) -> None:
    catalog = Catalog.open(str(tmp_path / "c.db"))
    space: dict[str, object] = {}
    exec(compile(WRITE, "write", "exec"), space)
    script = "print('go', flush=True); check(Catalog.open(sys.argv[1], read_only={})); print('fine')"
    children = [start(script.format(read_only), tmp_path / "c.db") for read_only in (True, False)]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()
    while any(child.poll() is None for child in children):
        space["write"](catalog, 1)  # type: ignore[operator]
    # Not `communicate`: the line may be in the buffer of `readline` already.
    assert [child.stdout.read().strip() for child in children if child.stdout] == [b"fine", b"fine"]
    assert catalog.generation > 0


def test_threads_read_while_one_writes(tmp_path: Path) -> None:
    catalog = Catalog.open(str(tmp_path / "c.db"))
    space: dict[str, object] = {}
    exec(compile(WRITE + READ, "both", "exec"), space)
    done: list[str] = []

    def read() -> None:
        space["check"](catalog)  # type: ignore[operator]
        done.append("read")

    threads = [threading.Thread(target=read) for _ in range(3)]
    threads.append(threading.Thread(target=lambda: space["write"](catalog, 20)))  # type: ignore[operator]
    for thread in threads:
        thread.start()
    join(*threads)
    assert done == ["read"] * 3
    assert catalog.generation == 20
    catalog.close()


@pytest.mark.parametrize("rounds", [5, pytest.param(60, marks=pytest.mark.long)])
def test_a_killed_writer_leaves_whole_batches(tmp_path: Path, rounds: int) -> None:
    chance = random.Random(3)
    path = tmp_path / "c.db"
    n_written = 0
    for _ in range(rounds):
        child = start("print('go', flush=True); write(Catalog.open(sys.argv[1]), 10**9)", path)
        assert child.stdout is not None
        child.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.02 + chance.random() / 4)
        child.kill()
        child.communicate()
        catalog = Catalog.open(str(path))
        generation = catalog.generation
        assert catalog.get_meta("set_aside") == catalog.integrity_problem() == ""
        if catalog.get_meta("last") == str(generation):
            assert {catalog.text(f"{name}.py") for name in "abc"} == {f"{generation}\n" * 20}
            assert {row.vector for row in catalog.vectors("m")} == {b"%d" % generation}
            assert sum(1 for _ in catalog.vectors("m")) == 60
            n_written += 1
        else:  # killed before its first write
            assert (catalog.documents(), catalog.counts().chunks) == ([], 0)
        catalog.close()
        small(path).close()  # the next run goes on
        catalog = Catalog.open(str(path))
        catalog.write(Batch(removed=("a.py", "b.py", "c.py")))
        catalog.close()
    assert n_written > rounds // 5


def test_flush_and_close_leave_all_in_one_file(tmp_path: Path) -> None:
    catalog = small(tmp_path / "c.db")
    catalog.flush()
    assert catalog.generation == 1
    catalog.close()
    shutil.copy(tmp_path / "c.db", tmp_path / "copy.db")
    assert Catalog.open(str(tmp_path / "copy.db")).text("a.py") == "text\n"
