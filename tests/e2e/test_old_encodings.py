"""Comments in old files, written before UTF-8, are found and shown as they were meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.source.test_charset import JAPANESE, SIMPLIFIED, TRADITIONAL, c_file

from codefathom import Engine


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def project(root: Path, comments: tuple[str, ...], encoding: str) -> Path:
    root.mkdir()
    for number, comment in enumerate(comments):
        (root / f"old{number}.c").write_bytes(c_file(comment, encoding, number))
    (root / "new.py").write_text("# Read the settings\ndef settings():\n    return {}\n")
    return root


def texts(root: Path) -> str:
    with Engine.open(str(root)) as engine:
        engine.index()
        return "".join(engine.opened.catalog.text(document.path) for document in engine.opened.catalog.documents())


@pytest.mark.parametrize(
    ("comments", "encoding"),
    [(SIMPLIFIED, "gbk"), (TRADITIONAL, "big5"), (JAPANESE, "shift_jis"), (SIMPLIFIED, "gb18030")],
)
def test_each_comment_is_found_by_its_words(tmp_path: Path, comments: tuple[str, ...], encoding: str) -> None:
    root = project(tmp_path / "p", comments, encoding)
    with Engine.open(str(root)) as engine:
        for number, comment in enumerate(comments):
            hit = engine.search(comment, mode="lexical").hits[0]
            assert (hit.chunk.path, comment in hit.chunk.text) == (f"old{number}.c", True)
        report = engine.index()
        assert (report.added, report.changed) == ((), ())


def test_a_run_counts_each_old_file_once(tmp_path: Path) -> None:
    root = project(tmp_path / "p", SIMPLIFIED, "gbk")
    with Engine.open(str(root)) as engine:
        report = engine.index()
    assert sorted(report.added) == ["new.py", *(f"old{n}.c" for n in range(len(SIMPLIFIED)))]
    assert report.changed == ()


def test_what_one_file_did_not_tell_the_next_ones_do(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    (root / "first.c").write_bytes("/* 目 */\nint first;\n".encode("gbk") + b"/* caf\xe9 */\n")
    (root / "name.c").write_bytes("/* Müller */\nint name;\n".encode("latin-1"))
    assert "Müller" in texts(root)
    for number, comment in enumerate(SIMPLIFIED):
        (root / f"old{number}.c").write_bytes(c_file(comment, "gbk", number))
    shown = texts(root)
    assert [comment for comment in (*SIMPLIFIED, "Müller") if comment not in shown] == []
    with Engine.open(str(root)) as engine:
        assert engine.index().n_unchanged == len(SIMPLIFIED) + 2


def test_the_setting_overrides_what_the_files_look_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path / "p", ("注释", "文件"), "gbk")
    monkeypatch.setenv("FATHOM_SOURCE__ENCODING", "shift_jis")
    assert "注释" not in texts(root)
    monkeypatch.setenv("FATHOM_SOURCE__ENCODING", "gbk")
    assert "注释" in texts(root)
    assert "文件" in texts(root)
    monkeypatch.delenv("FATHOM_SOURCE__ENCODING")
    assert "# Read the settings" in texts(root)


def test_a_citation_is_compared_with_the_old_file(tmp_path: Path) -> None:
    root = project(tmp_path / "p", SIMPLIFIED, "gbk")
    with Engine.open(str(root)) as engine:
        answer = engine.ask("计算订单的总金额")
        assert "计算订单的总金额" in answer.text
        assert answer.citations


def test_a_killed_run_leaves_no_file_in_the_wrong_encoding(tmp_path: Path) -> None:
    root = project(tmp_path / "p", SIMPLIFIED, "gbk")
    with Engine.open(str(root)) as engine:
        events = engine.index_events()
        for event in events:  # the first pass is over when the first file was stored
            if getattr(event, "n_done", 0):
                break
        events.close()  # type: ignore[attr-defined]
    assert [comment for comment in SIMPLIFIED if comment not in texts(root)] == []
