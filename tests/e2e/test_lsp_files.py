"""The files of one request of an editor."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.lsp.callers import Callers
from codefathom.lsp.editor_answers import EditorAnswers
from codefathom.lsp.shown_files import ShownFiles
from codefathom.project.browsing import Files


def test_each_file_of_a_request_is_read_once(
    tmp_path: Path, own_folders: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.py").write_text("def price():\n    return 1\n")
    callers = "".join(f"def total_{n}():\n    return price() + {n}\n\n\n" for n in range(12))
    (tmp_path / "orders.py").write_text(f"from shop import price\n\n\n{callers}")
    read: list[str] = []
    outlined: list[str] = []
    lines, outline = Files.lines, Files.outline
    monkeypatch.setattr(Files, "lines", lambda files, path: read.append(path) or lines(files, path))
    monkeypatch.setattr(Files, "outline", lambda files, path: outlined.append(path) or outline(files, path))
    with Engine.open(str(tmp_path)) as engine:
        engine.index()
        files = ShownFiles(engine, {}, "utf-16")
        calls = Callers(EditorAnswers(engine, files), files).incoming("shop.py @@price")
    assert [call.from_.name for call in calls] == [f"total_{n}" for n in range(12)]
    assert (read, outlined) == (["orders.py"], ["orders.py"])
