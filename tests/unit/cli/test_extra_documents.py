"""Files and stdin, given with --doc, as texts; pages are in test_web.py."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.documents import pdf, word
from tests.waiting import join

from codefathom.cli.extra_documents import _MAX_BYTES, documents
from codefathom.cli.face import Face
from codefathom.cli.options import Common
from codefathom.errors import SourceError


def read(*paths: str) -> list[tuple[str, str]]:
    return list(documents(paths, (), Face(Common(), io.StringIO(), io.StringIO(), {})))


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"one\ntwo\n", "one\ntwo\n"),
        (b"one\r\ntwo\r", "one\ntwo\n"),
        ("größer".encode(), "größer"),
        ("größer".encode("cp1252"), "größer"),
        ("\ufeffgrößer".encode("utf-16-le"), "größer"),
        (b"\xef\xbb\xbfone", "one"),
    ],
)
def test_a_text_of_any_encoding_is_read(
    data: bytes, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "note").write_bytes(data)
    feed(monkeypatch, data)
    path = str(tmp_path / "note")
    assert read(path, "-") == [(path, text), ("stdin", text)]


def test_each_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "note").write_text("one")
    monkeypatch.chdir(tmp_path)
    feed(monkeypatch, b"two")
    assert read("-", "note", "-", "note") == [("stdin", "two"), ("note", "one")]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "is not text"),
        (b"%PDF-1.7\n", "is not text"),
        (b"text\0text", "is not text"),
        (b"", "contains no text"),
        (b" \n\n", "contains no text"),
        (b"x" * (_MAX_BYTES + 1), "is larger than 8,000,000 bytes, which is too large for any model"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value[:9]),
)
def test_what_is_no_text_is_refused_by_name(
    data: bytes, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "given").write_bytes(data)
    monkeypatch.chdir(tmp_path)
    feed(monkeypatch, data)
    for path, shown in (("given", "'given'"), ("-", "stdin")):
        with pytest.raises(SourceError) as caught:
            read(path)
        assert str(caught.value) == f"{shown} {said}"
        assert caught.value.hint


@pytest.mark.parametrize("path", ["nowhere", ".", "a\0b"])
def test_what_cannot_be_read_is_named(path: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(path)
    assert str(caught.value).startswith(f"cannot read {path!r}: ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes a named pipe")
def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    writer = threading.Thread(target=_write, args=(pipe, ["one\n", "two\n"]))
    writer.start()
    assert read(pipe) == [(pipe, "one\ntwo\n")]
    join(writer)


def _write(path: str, lines: Iterable[str]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            file.write(line)
            file.flush()


def test_a_pdf_or_a_word_document_is_read_as_its_text(tmp_path: Path) -> None:
    paper, design = tmp_path / "paper.pdf", tmp_path / "design.docx"
    paper.write_bytes(pdf(["One"]))
    design.write_bytes(word((1, "Limits")))
    assert [text for _, text in read(str(paper), str(design))] == ["[page 1]\nOne\n", "# Limits\n"]
    paper.write_bytes(b"%PDF-1.4")
    with pytest.raises(SourceError, match="cannot be read: broken PDF"):
        read(str(paper))
