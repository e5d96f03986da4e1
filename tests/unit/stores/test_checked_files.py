"""A file that was found as it was written is read again only after something has written it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.waiting import comes

from codefathom.stores.base import Row
from codefathom.stores.checked_files import CheckedFiles
from codefathom.stores.folder import File, folder_at
from codefathom.stores.lexical import lexical_view
from codefathom.stores.lexical.lexical_view import LexicalView
from codefathom.stores.vectors.flat_vectors import FlatVectorStore

_TICK_NS = 30_000_000


def grow_old(*files: Path) -> None:
    """Wait until whatever writes one of these files gives it another stamp."""
    last_ns = max(file.stat().st_ctime_ns for file in files)
    assert comes(lambda: time.time_ns() > last_ns + _TICK_NS)


class Reading:
    """What was read, and what is wrong in the files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder_at(str(folder))
        self.read: list[str] = []
        self.wrong: set[str] = set()

    def is_sound(self, file: File) -> bool:
        self.read.append(file.name)
        return file.name not in self.wrong

    def look(self, **checksums: str) -> str:
        """Return the first damaged file."""
        self.read.clear()
        files = [(self.folder.file(name), checksum) for name, checksum in checksums.items()]
        found = CheckedFiles(self.folder).first_damaged(files, self.is_sound)
        return "" if found is None else found.name


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
    grow_old(tmp_path / "one", tmp_path / "two")
    return Reading(tmp_path)


def test_a_file_is_read_once(reading: Reading) -> None:
    assert reading.look(one="1", two="2") == ""
    assert reading.read == ["one", "two"]
    assert reading.look(one="1", two="2") == ""
    assert reading.read == []


def test_a_file_that_something_wrote_is_read_again_also_with_its_times_put_back(
    reading: Reading, tmp_path: Path
) -> None:
    reading.look(one="1", two="2")
    before = (tmp_path / "two").stat()
    (tmp_path / "two").write_text("2wo")
    os.utime(tmp_path / "two", ns=(before.st_atime_ns, before.st_mtime_ns))
    reading.wrong.add("two")
    assert (reading.look(one="1", two="2"), reading.read) == ("two", ["two"])


def test_another_checksum_and_another_file_are_read(reading: Reading, tmp_path: Path) -> None:
    reading.look(one="1", two="2")
    (tmp_path / "two").rename(tmp_path / "three")
    reading.look(one="other", two="2", three="2")
    assert reading.read == ["one", "two", "three"]


def test_what_was_wrong_once_is_not_remembered(reading: Reading) -> None:
    reading.wrong.add("two")
    assert reading.look(one="1", two="2") == "two"
    reading.wrong.clear()
    assert reading.look(one="1", two="2") == ""
    assert reading.read == ["one", "two"]


def test_a_file_that_was_just_written_is_read_again(reading: Reading, tmp_path: Path) -> None:
    future_ns = time.time_ns() + 10**12
    os.utime(tmp_path / "two", ns=(future_ns, future_ns))
    reading.look(one="1", two="2")
    reading.look(one="1", two="2")
    assert reading.read == ["two"]


@pytest.mark.parametrize("content", [b"", b"\n", b"\n0", b"one\n12", b"\xff\n1", b"one 1"])
def test_a_list_with_other_content_is_not_believed(reading: Reading, tmp_path: Path, content: bytes) -> None:
    reading.look(one="1", two="2")
    (tmp_path / "checked").write_bytes(content)
    reading.look(one="1", two="2", missing="3")
    assert reading.read == ["one", "two", "missing"]


def test_rows_of_vectors_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FlatVectorStore(str(tmp_path), 4)
    store.upsert([Row(1, b"\1\2\3\4"), Row(2, b"\5\2\3\4")])
    store.commit(1)
    file = tmp_path / "vectors.bin"
    grow_old(file)
    assert FlatVectorStore(str(tmp_path), 4).damage(whole=False) == ""
    with monkeypatch.context() as patch:
        patch.setattr(FlatVectorStore, "_damage", lambda _: "it was read")
        assert FlatVectorStore(str(tmp_path), 4).damage(whole=False) == ""
        assert FlatVectorStore(str(tmp_path), 4).damage() == "it was read"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert FlatVectorStore(str(tmp_path), 4).damage(whole=False) == "rows differ from what was written"


def test_files_of_words_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = LexicalView.open(str(tmp_path))
    view.update([], [])
    view.clear()
    view.update([(1, ("one.py", "one", "", "alpha beta"))], [])
    view.commit(1)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    grow_old(*files)
    assert view.damage(whole=False) == ""
    read: list[str] = []
    look = lexical_view._look
    monkeypatch.setattr(lexical_view, "_look", lambda folder, name: read.append(name) or look(folder, name))
    assert (view.damage(whole=False), read) == ("", [])
    file = next(tmp_path.rglob("*.term"))
    content = bytearray(file.read_bytes())
    content[0] ^= 1
    file.write_bytes(content)
    assert view.damage(whole=False) == f"{file.name} differs from what was written"
    assert read == [file.name]
