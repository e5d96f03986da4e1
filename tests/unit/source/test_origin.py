"""The text of a document at its origin: what it is now, and whether it was indexed like that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codefathom.source.changes import FileStat
from codefathom.source.documents import fingerprint
from codefathom.source.origin import FolderFiles, Original, Originals, Tree, is_inside
from codefathom.source.scan import scan
from codefathom.stores.catalog.records import StoredDocument

TEXT = "first = 1\nsecond = 2\nthird = 3\n"


def remembered(root: Path, path: str, text: str = TEXT) -> StoredDocument:
    """Return what an index remembers of a file that it has just read."""
    stamp = os.stat(root / path)
    return StoredDocument(1, path, "python", fingerprint(text.encode()), stamp.st_size, stamp.st_mtime_ns, 3, ())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text(TEXT)
    return folder


def original(root: Path, document: StoredDocument, max_bytes: int = 1_000) -> Original:
    return Originals(Tree(str(root), max_bytes)).of(document)


def test_an_unchanged_file_is_the_same_without_being_read(root: Path) -> None:
    document = remembered(root, "src/a.py")
    os.chmod(root / "src" / "a.py", 0)  # so that reading it would fail, but for root
    found = original(root, document)
    assert found.state == "same"
    assert "data" not in vars(found)


def test_a_new_time_stamp_alone_is_no_change(root: Path) -> None:
    document = remembered(root, "src/a.py")
    os.utime(root / "src" / "a.py", (1, 1))
    assert original(root, document).state == "same"


def test_other_bytes_are_a_change(root: Path) -> None:
    document = remembered(root, "src/a.py")
    (root / "src" / "a.py").write_text("other\n")
    found = original(root, document)
    assert (found.state, found.text) == ("changed", "other\n")


def test_bytes_of_the_same_size_and_stamp_are_told_when_they_are_compared(root: Path) -> None:
    document = remembered(root, "src/a.py")
    (root / "src" / "a.py").write_text(TEXT.replace("1", "9"))
    os.utime(root / "src" / "a.py", ns=(document.mtime_ns, document.mtime_ns))
    assert original(root, document).state == "same"  # as cheap as it can be
    assert original(root, document).state_by_bytes == "changed"
    # Stamped while the index was made: the stamp says nothing.
    late = Original(document, Tree(str(root), 1_000), indexed_at_ns=document.mtime_ns)
    assert late.state == "changed"


def test_a_file_that_is_gone(root: Path) -> None:
    document = remembered(root, "src/a.py")
    (root / "src" / "a.py").unlink()
    found = original(root, document)
    assert (found.state, found.text, found.lines(1, 2)) == ("gone", None, None)


def test_lines_are_those_of_now(root: Path) -> None:
    found = original(root, remembered(root, "src/a.py"))
    assert found.lines(2, 2) == "second = 2\n"
    assert found.lines(2, 3) == "second = 2\nthird = 3\n"
    assert found.lines(2, 99) == "second = 2\nthird = 3\n"
    assert found.lines(7, 9) == ""


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../secret.txt", "src/../../secret.txt", "src/./a.py", "src//a.py", "", "a\0b", "src/.."]
)
def test_a_path_that_leads_out_is_never_read(root: Path, path: str) -> None:
    (root.parent / "secret.txt").write_text("secret\n")
    document = StoredDocument(1, path, "text", fingerprint(b"secret\n"), 7, 0, 1, ())
    found = original(root, document)
    assert (found.state, found.data) == ("gone", None)
    assert not is_inside(path)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
@pytest.mark.parametrize("link", ["file", "folder", "dangling", "loop"])
def test_a_link_out_of_the_project_is_never_followed(root: Path, link: str) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "key").write_text("secret\n")
    path = "link/key" if link == "folder" else "link"
    targets = {"file": outside / "key", "folder": outside, "dangling": outside / "none", "loop": root / "link"}
    (root / "link").symlink_to(targets[link])
    document = StoredDocument(1, path, "text", fingerprint(b"secret\n"), 1, 1, 1, ())
    found = original(root, document)
    assert found.data is None
    assert found.state != "same"


def test_a_link_inside_the_project_is_followed_where_links_are(root: Path) -> None:
    (root / "again.py").symlink_to(root / "src" / "a.py")
    (root / "source").symlink_to(root / "src")
    for path in ("again.py", "source/a.py"):
        followed = Tree(FolderFiles(str(root), follows=True), 1_000)
        found = Originals(followed).of(remembered(root, path))
        assert (found.state, found.state_by_bytes, found.text) == ("same", "same", TEXT)
        assert original(root, remembered(root, path)).data is None  # unless the settings say so, it is not followed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_not_waited_for(root: Path) -> None:
    document = remembered(root, "src/a.py")
    (root / "src" / "a.py").unlink()
    os.mkfifo(root / "src" / "a.py")
    found = original(root, document)
    assert (found.state, found.text) == ("gone", None)


def test_no_more_than_the_limit_is_read(root: Path) -> None:
    document = remembered(root, "src/a.py")
    (root / "src" / "a.py").write_text("x" * 2_000)
    found = original(root, document, max_bytes=1_999)
    assert (found.state, found.text) == ("changed", None)
    assert original(root, document, max_bytes=2_000).text == "x" * 2_000


def test_a_file_is_opened_once_for_one_question(root: Path) -> None:
    document = remembered(root, "src/a.py")
    originals = Originals(Tree(str(root), 1_000))
    assert originals.of(document).text == TEXT
    (root / "src" / "a.py").write_text("other\n")
    assert originals.of(document).text == TEXT


def test_a_scan_and_its_originals_agree(root: Path) -> None:
    stamp = Tree(str(root), 1_000).stamp("src/a.py")
    assert scan(str(root)).files == (FileStat("src/a.py", *stamp),)
