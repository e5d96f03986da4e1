"""Files that say they are SCIP indexes: what is read of whole ones, and plain errors for all others."""

from __future__ import annotations

import gzip
import io
import json
import os
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import scip_files as write

from codefathom.errors import SourceError
from codefathom.source import scip
from codefathom.source.scip import UTF8, Occurrence, ScipDocument, ScipFile

TEXT = "def total(cart):\n    return cart.sum()\n"
MARKS = (write.definition(1, "total", "`pay`/total()."), write.use(2, "sum", "`pay`/Cart#sum()."))
WHOLE = write.index([write.document("pay.py", TEXT, MARKS), write.document("empty.py", "", ())])
READ = (
    Occurrence(1, 4, 9, write.PACKAGE + "`pay`/total().", is_definition=True),
    Occurrence(2, 16, 19, write.PACKAGE + "`pay`/Cart#sum()."),
)


def read(path: Path) -> list[ScipDocument]:
    with closing(ScipFile(str(path))) as file:
        return list(file.documents())


def read_bytes(folder: Path, data: bytes) -> list[ScipDocument]:
    (folder / "index.scip").write_bytes(data)
    return read(folder / "index.scip")


def test_a_whole_index(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, WHOLE) == [ScipDocument("pay.py", READ), ScipDocument("empty.py", ())]
    with closing(ScipFile(str(tmp_path / "index.scip"))) as file:
        assert (file.tool, file.root, file.paths(1)) == ("test-compiler 1.2", "file:///builds/shop", ["pay.py"])


def test_what_an_index_may_also_hold(tmp_path: Path) -> None:
    """Other fields, text and encoding of columns, numbers that are not packed, four numbers for a place on one line."""
    one_by_one = b"".join(write.field(1, number) for number in (0, 4, 9)) + write.field(2, "a") + write.field(9, 7)
    four = write.occurrence((1, 2, 1, 3), "b")
    lines = write.occurrence((1, 2, 3, 3), "over two lines")
    data = write.field(1, "a.py") + b"".join(write.field(2, item) for item in (one_by_one, four, lines))
    data += write.field(5, TEXT) + write.field(6, UTF8) + write.field(77, 5) + b"\x0d1234" + b"\x0912345678"
    whole = write.index([data]) + write.field(3, "external symbols") + write.field(8, 1)
    expected = (Occurrence(1, 4, 9, "a"), Occurrence(2, 2, 3, "b"))
    assert read_bytes(tmp_path, whole) == [ScipDocument("a.py", expected, TEXT, UTF8)]


def zipped() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("index.scip", WHOLE)
    return data.getvalue()


HUGE = (1 << 63) - 1
NO_INDEX = {
    "nothing": b"",
    "text": b"hello, this is a text\n",
    "JSON": json.dumps({"metadata": {}, "documents": []}).encode(),
    "a ZIP file": zipped(),
    "gzip": gzip.compress(WHOLE),
    "zeros": bytes(1_000),
    "a document first": write.field(2, write.document("a.py", TEXT, MARKS)) + WHOLE,
    "no program": write.field(1, write.field(3, "file:///")) + WHOLE,
    "a number without end": WHOLE + b"\xff" * 30,
    "a length without end": WHOLE + b"\x12" + b"\xff" * 30,
    "a huge length": WHOLE + b"\x12" + write.varint(HUGE),
    "a length of four gigabytes": WHOLE + b"\x12" + write.varint(1 << 32) + b"abc",
    "a group": WHOLE + b"\x13\x14",
    "a kind that there is not": WHOLE + b"\x17",
    "a huge length in a document": WHOLE + write.field(2, b"\x12" + write.varint(HUGE) + b"a"),
    "a number without end in a document": WHOLE + write.field(2, b"\x30" + b"\xff" * 30),
    "a huge length in an occurrence": WHOLE + write.field(2, write.field(2, b"\x0a" + write.varint(HUGE))),
    "a place without end": WHOLE + write.field(2, write.field(2, write.field(1, b"\xff" * 12))),
    "a group in a document": WHOLE + write.field(2, b"\x0b" * 1_000),
}


@pytest.mark.parametrize("name", NO_INDEX)
def test_what_is_no_index_is_refused_in_plain_words(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"index\.scip' is not a whole SCIP index: it ") as refused:
        read_bytes(tmp_path, NO_INDEX[name])
    assert "scip-typescript" in refused.value.hint


def test_an_index_that_is_cut_off_anywhere(tmp_path: Path) -> None:
    """At the border of two documents it is a shorter index; nothing tells that."""
    lengths = set()
    for n_bytes in range(1, len(WHOLE)):
        try:
            lengths.add(len(read_bytes(tmp_path, WHOLE[:n_bytes])))
        except SourceError as error:
            assert "is not a whole SCIP index" in str(error)
    assert lengths == {0, 1}


@given(st.binary(max_size=200), st.integers(0, len(WHOLE)), st.integers(0, len(WHOLE)))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, start: int, end: int) -> None:
    folder = tmp_path_factory.getbasetemp()
    for one in (data, WHOLE[:start] + data + WHOLE[end:]):
        try:
            documents = read_bytes(folder, one)
        except SourceError:
            continue
        assert all(0 < item.line <= 1 << 31 for document in documents for item in document.occurrences)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, why in (("pipe", "is not a file"), ("", "is not a file"), ("none", "No such file"), ("a\0b", "null")):
        with pytest.raises(SourceError, match=why):
            ScipFile(f"{tmp_path}/{name}")


def test_limits_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = [write.occurrence((n, 0, 1), "a") for n in range(20)]
    many = write.index([write.field(1, "a.py") + b"".join(write.field(2, mark) for mark in marks)])
    monkeypatch.setattr(scip, "MAX_OCCURRENCES", 19)
    with pytest.raises(SourceError, match="more than 19 occurrences"):
        read_bytes(tmp_path, many)
    monkeypatch.setattr(scip, "MAX_DOCUMENT_BYTES", 100)
    with pytest.raises(SourceError, match="at most 100 are read"):
        read_bytes(tmp_path, many)


def test_more_numbers_than_a_place_has(tmp_path: Path) -> None:
    endless = write.field(2, write.field(2, write.field(1, b"\x01" * 1_000_000) + write.field(2, "a")))
    assert read_bytes(tmp_path, write.index([]) + endless) == [ScipDocument("", ())]
