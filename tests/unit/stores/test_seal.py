"""The seal of the catalogue finds every change that we did not make, and none that we made."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packed_texts import with_text_functions
from tests.waiting import LONG_S, Started

from codefathom.errors import DamagedError
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, DocumentRecord
from codefathom.stores.folder import file_at
from codefathom.stores.lock import writer_lock
from codefathom.stores.seal import new_seal, read_seal
from codefathom.types import Chunk, Document, ParsedDocument, Reference, Symbol

NAMES = [f"d{number}.py" for number in range(12)]


def record(path: str, text: str) -> DocumentRecord:
    document = Document(path, "python", text, f"f{hash(text)}", len(text))
    lines = text.splitlines(keepends=True)
    pieces = tuple(
        Chunk(f"{path}{n}{hash(line)}", path, "python", "function", f"f{n}", (f"f{n}",), n, n, line)
        for n, line in enumerate(lines, 1)
    )
    symbols = tuple(Symbol("function", f"f{n}", f"f{n}", n, n, n) for n in range(1, len(lines) + 1))
    uses = tuple(Reference("call", f"g{n}", n, f"f{n}") for n in range(1, len(lines) + 1))
    parsed = ParsedDocument(document, symbols, uses, (), "p")
    hashes = tuple(f"{path}{n}{hash(line)}" for n, line in enumerate(lines, 1))
    return DocumentRecord(parsed, pieces, hashes, 1, "p", "c", {each: os.urandom(64) for each in hashes}, "m")


def text_of(chance: random.Random) -> str:
    return "".join(f"{chance.random()} " * chance.randrange(1, 60) + "\n" for _ in range(chance.randrange(1, 30)))


def filled(path: Path, seed: int = 1) -> Catalog:
    """A catalogue with a seal."""
    chance = random.Random(seed)
    catalog = Catalog.open(str(path))
    assert catalog.soundness.check() == ""
    catalog.write(Batch(records=tuple(record(name, text_of(chance)) for name in NAMES)))
    catalog.soundness.settle()
    assert catalog.soundness.is_sealed
    return catalog


def changed_byte(path: Path, place: int) -> None:
    status = path.stat()
    with open(path, "r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["write", "remove", "vectors", "open", "long", "check"]), max_size=12), st.integers())
def test_what_we_write_is_never_taken_for_damage(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], seed: int
) -> None:
    chance = random.Random(seed)
    path = tmp_path_factory.mktemp("catalogue") / "c.db"
    catalog = filled(path)
    for step in steps:
        if step == "write":
            names = chance.sample(NAMES, 3)
            catalog.write(Batch(records=tuple(record(name, text_of(chance)) for name in names)))
        elif step == "remove":
            catalog.write(Batch(removed=tuple(chance.sample(NAMES, 4))))
        elif step == "vectors":
            catalog.add_vectors("m", {str(chance.random()): os.urandom(3_000) for _ in range(50)})
            catalog.prune(0)
        elif step == "open":
            catalog.close()
            catalog = Catalog.open(str(path))
        elif step == "long":
            catalog.soundness.settle()
            with open(path, "rb") as file:
                assert read_seal(file_at(f"{path}.seal")) == new_seal(file.fileno())
        assert catalog.soundness.is_sealed
        assert catalog.soundness.damage() == ""
    catalog.soundness.settle()
    assert catalog.soundness.check() == catalog.integrity_problem() == ""
    assert not path.with_name("c.db-wal").stat().st_size
    catalog.close()


@pytest.mark.parametrize("seed", range(5))
def test_every_changed_byte_is_found(tmp_path: Path, seed: int) -> None:
    filled(tmp_path / "c.db").close()
    chance = random.Random(seed)
    whole = (tmp_path / "c.db").read_bytes()
    catalog = Catalog.open(str(tmp_path / "c.db"), read_only=True)
    for _ in range(30):
        changed_byte(tmp_path / "c.db", chance.randrange(len(whole)))
        assert "differ" in catalog.soundness.damage()
        (tmp_path / "c.db").write_bytes(whole)
    swapped = whole[:4_096] + whole[8_192:12_288] + whole[4_096:8_192] + whole[12_288:]
    for other in (whole + b"\0", whole[:-4_096], swapped, b""):
        (tmp_path / "c.db").write_bytes(other)
        assert "differ" in catalog.soundness.damage()
    (tmp_path / "c.db").write_bytes(whole)
    assert catalog.soundness.damage() == ""
    catalog.close()


def test_damage_is_not_sealed_by_a_write(tmp_path: Path) -> None:
    """A write to a page takes along what is wrong on it: such a page must not become what is right."""
    path = tmp_path / "c.db"
    catalog = filled(path)
    catalog.close()
    whole = path.read_bytes()
    place = whole.rindex(b"d3.py") + 1  # somewhere in a row of the document that is written again
    changed_byte(path, place)
    catalog = Catalog.open(str(path))
    catalog.write(Batch(records=tuple(record(name, "new\n") for name in NAMES)))
    with pytest.raises(DamagedError, match="damaged"):
        catalog.soundness.settle()
    assert "differ" in catalog.soundness.damage()
    catalog.close()
    again = Catalog.open(str(path))
    assert (again.get_meta("set_aside"), again.generation) == ("it was damaged", 0)
    again.close()


KILLED = """
import os, signal, sys
from codefathom.stores.catalog.catalog import Batch, Catalog
catalog = Catalog.open(sys.argv[1])
catalog.write(Batch(removed=("d1.py", "d2.py"), meta={"mark": "x" * 10_000}))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("read_only", [True, False])
def test_what_a_killed_writer_left_is_no_damage(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "c.db"
    filled(path).close()
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, timeout=LONG_S)
    assert path.with_name("c.db-wal").stat().st_size > 0
    # Readers come and go; the last one to close a file moves the log into it.
    for mode in (read_only, True, False):
        reader = Catalog.open(str(path), read_only=mode)
        assert len(reader.documents()) == len(NAMES) - 2
        assert reader.soundness.damage() == ""
        reader.close()
    catalog = Catalog.open(str(path))
    assert catalog.soundness.is_sealed
    assert catalog.soundness.check() == ""
    catalog.close()


def test_a_file_without_seal_is_looked_at_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    filled(path).close()
    path.with_name("c.db.seal").unlink()
    with with_text_functions(sqlite3.connect(path)) as db:
        changed = "WITH_TEXT(packed, replace(TEXT_OF(packed), '0', '1'))"
        db.execute(f"UPDATE chunks SET packed = {changed} WHERE id LIKE 'd5.py%'")
    db.close()
    catalog = Catalog.open(str(path))
    assert catalog.soundness.damage() == ""  # cannot be told
    assert "d5.py" in catalog.soundness.check()
    assert not catalog.soundness.is_sealed
    catalog.close()


def test_a_sound_file_without_seal_is_sealed(tmp_path: Path) -> None:
    filled(tmp_path / "c.db").close()
    for content in (None, b"", b"soup", (tmp_path / "c.db.seal").read_bytes()[:-1]):
        (tmp_path / "c.db.seal").unlink()
        if content is not None:
            (tmp_path / "c.db.seal").write_bytes(content)
        catalog = Catalog.open(str(tmp_path / "c.db"))
        assert not catalog.soundness.is_sealed
        assert catalog.soundness.check() == ""
        assert catalog.soundness.is_sealed
        catalog.close()


def test_a_check_beside_a_writer_finds_nothing(tmp_path: Path) -> None:
    """The file stands still, or the check says nothing: it needs no lock."""
    path = tmp_path / "c.db"
    filled(path).close()
    script = (
        "import sys\nfrom codefathom.stores.catalog.catalog import Catalog\n"
        "print('go', flush=True)\nfound = set()\n"
        "for _ in range(200):\n"
        "    catalog = Catalog.open(sys.argv[1], read_only=True)\n"
        "    found.add(catalog.soundness.damage())\n"
        "    catalog.close()\n"
        "print(found)"
    )
    child = Started([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    chance = random.Random(9)
    catalog = Catalog.open(str(path))
    while child.poll() is None:
        catalog.write(Batch(records=(record(chance.choice(NAMES), text_of(chance)),)))
        catalog.soundness.settle()
    assert child.stdout.read().strip() == b"{''}"
    child.stdout.close()
    assert catalog.soundness.damage() == ""
    catalog.close()


def test_comparing_takes_no_lock_from_sqlite(tmp_path: Path) -> None:
    """POSIX drops the locks of a process when it closes any descriptor of the file: another one would end the log."""
    path = tmp_path / "c.db"
    first, other = filled(path), Catalog.open(str(path))
    script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT * FROM meta'); db.close()"
    with writer_lock(str(tmp_path)), first.soundness.held():
        first.write(Batch(removed=("d1.py",)))
        assert other.soundness.damage() == ""
        other.close()
        subprocess.run([sys.executable, "-c", script, str(path)], check=True, timeout=LONG_S)
        assert path.with_name("c.db-wal").stat().st_size > 0  # the last one to close a file removes its log
    assert first.soundness.damage() == ""
    first.close()


@pytest.mark.parametrize("n_bytes", [0, 1, 2, 3, 4, 100])
def test_another_file_with_a_checksum_is_no_seal(tmp_path: Path, n_bytes: int) -> None:
    body = b"the stamps of a tree" + bytes(n_bytes)
    (tmp_path / "seal").write_bytes(body + crc32(body).to_bytes(4, "little"))
    assert read_seal(file_at(tmp_path / "seal")) is None
