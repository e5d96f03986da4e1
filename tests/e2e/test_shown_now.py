"""What is shown of a file are its bytes of now, also where the index has not yet taken in a change."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from tests.mcp_session import McpSession
from tests.waiting import comes

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import SourceError, UsageError
from codefathom.project import asking
from codefathom.project.opening import OpenedProject

SHOP = Path(__file__).parents[1] / "repos" / "shop"
PATH = "shop/pricing.py"
NEW = "# the price is free today\n\n\ndef total_cents(items):\n    return 0\n"


def notebook(text: str) -> str:
    cell = {"cell_type": "markdown", "metadata": {}, "source": [text]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """An indexed project in which no question looks for changes: so it is while a watcher has not yet come."""
    root = tmp_path / "shop"
    shutil.copytree(SHOP, root)
    (root / "fathom.toml").write_text('[search]\nrefresh = "never"\n')
    (root / "plan.ipynb").write_text(notebook("the plan of yesterday"))
    (root / "old.py").write_bytes("# gr\xf6\xdfe von gestern\n".encode("cp1252"))
    (root / "empty.py").write_text("")
    with Engine.open(str(root)) as engine:
        engine.index()
    return root


@pytest.fixture
def engine(shop: Path) -> Iterator[Engine]:
    with Engine.open(str(shop)) as engine:
        yield engine


@pytest.mark.parametrize(
    ("path", "data", "shown"),
    [
        (PATH, NEW.encode(), NEW),
        (PATH, NEW.replace("\n", "\r\n").encode(), NEW.replace("\n", "\r\n")),
        (PATH, b"no line end", "no line end"),
        (PATH, b"", ""),
        ("empty.py", b"a = 1\n", "a = 1\n"),
        ("old.py", "# gr\xf6\xdfe von heute\n".encode("cp1252"), "# gr\xf6\xdfe von heute\n"),
        ("old.py", "# gr\xf6\xdfe von heute\n".encode(), "# gr\xf6\xdfe von heute\n"),
    ],
)
def test_lines_of_a_changed_file_are_those_of_now(
    engine: Engine, shop: Path, path: str, data: bytes, shown: str
) -> None:
    before = engine.files.lines(path)
    assert not before.stale
    (shop / path).write_bytes(data)
    now = engine.files.lines(path)
    assert (now.text, now.stale) == (shown, True)
    assert now.file.size == len(data)
    assert engine.files.lines(path).file.n_lines == now.end_line


def test_a_file_with_the_size_and_time_of_before_is_read(engine: Engine, shop: Path) -> None:
    file = shop / PATH
    status, text = file.stat(), file.read_text()
    file.write_text(text.replace("return sum", "return max"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.stat().st_size == status.st_size
    assert "return max" in engine.files.lines(PATH).text


def test_a_changed_notebook_is_shown_as_a_text(engine: Engine, shop: Path) -> None:
    (shop / "plan.ipynb").write_text(notebook("the plan of today"))
    text = engine.files.lines("plan.ipynb").text
    assert "the plan of today" in text
    assert "cell_type" not in text


def test_files_that_one_program_holds_show_each_change(engine: Engine, shop: Path) -> None:
    files = engine.files
    for number in range(3):
        (shop / PATH).write_text(f"a = {number}\n")
        assert files.lines(PATH).text == f"a = {number}\n"


def test_a_range_is_one_of_the_file_as_it_is_now(engine: Engine, shop: Path) -> None:
    (shop / PATH).write_text(NEW)
    assert engine.files.lines(PATH, 4, 99).text == "def total_cents(items):\n    return 0\n"
    with pytest.raises(UsageError) as caught:
        engine.files.lines(PATH, 12, 13)
    assert caught.value.hint == "it has 5 lines"


def test_what_cannot_be_shown_any_more_is_said(engine: Engine, shop: Path, tmp_path: Path) -> None:
    (shop / PATH).unlink()
    with pytest.raises(SourceError, match="was indexed, and is not there any more"):
        engine.files.lines(PATH)
    (tmp_path / "outside.py").write_text("key = 1\n")
    (shop / PATH).symlink_to(tmp_path / "outside.py")
    with pytest.raises(SourceError, match="is not there any more"):
        engine.files.lines(PATH)
    (shop / PATH).unlink()
    (shop / PATH).write_bytes(bytes(range(256)) * 8)
    with pytest.raises(SourceError, match="now it is not text"):
        engine.files.lines(PATH)


def test_a_kept_text_is_what_it_is(engine: Engine) -> None:
    engine.update(texts={"note.md": "what was agreed on\n"})
    shown = engine.files.lines("texts://note.md")
    assert (shown.text, shown.stale) == ("what was agreed on\n", False)


def test_a_hit_of_before_is_no_hit_of_now_where_a_run_ends_meanwhile(
    engine: Engine, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text that was found is that of before; the catalogue that it is compared with is that of now."""
    settings = engine.settings
    engine = engine.with_settings(settings._replace(search=settings.search._replace(refresh="never")))
    (shop / PATH).write_text(NEW)

    def not_yet(_: OpenedProject) -> bool:
        with Engine.open(str(shop)) as other:
            assert other.index().changed == (PATH,)
        return False

    monkeypatch.setattr(asking, "made_meanwhile", not_yet)  # a run that ends in the moment after this was looked at
    hits = engine.search("total_cents").hits
    assert [hit.stale for hit in hits if hit.chunk.path == PATH] == [True]
    assert {hit.stale for hit in hits if hit.chunk.path != PATH} <= {False}
    monkeypatch.undo()
    assert not engine.search("total_cents").hits[0].stale


def test_an_agent_reads_the_bytes_of_now(shop: Path) -> None:
    with McpSession(shop) as session:
        assert "return sum" in session.content("read", path=PATH)["text"]
        (shop / PATH).write_text(NEW)
        assert session.content("read", path=PATH)["text"] == NEW.removesuffix("\n")
        assert session.content("read", path=f"{PATH}:4-5")["text"] == "def total_cents(items):\n    return 0"

        def is_found() -> bool:
            hits = session.content("search", query="total_cents", paths=[PATH])["hits"]
            assert all(hit["stale"] or "return 0" in hit["text"] for hit in hits)
            return hits != []

        assert comes(is_found)  # while a run brings the index up to date, the file may be in none of its views
        (shop / PATH).unlink()
        refusal = session.refusal("read", path=PATH)  # the session may have noticed it already
        assert "is not there any more" in refusal or "no such file in the index" in refusal


def test_a_context_holds_the_bytes_of_now(shop: Path, engine: Engine) -> None:
    question = "total_cents of pricing"
    assert any(file.path == PATH and "return sum" in file.text for file in engine.context(question).files)
    (shop / PATH).write_text(NEW)
    context = engine.context(question)
    assert [file.text for file in context.files if file.path == PATH] == [NEW]
    assert any(note.startswith("changed since it was indexed") and PATH in note for note in context.degraded)
    (shop / PATH).unlink()
    context = engine.context(question)
    assert PATH not in {file.path for file in context.files}
    assert f"gone since it was indexed: {PATH}" in context.degraded
    out = StringIO()
    with chdir(shop), redirect_stdout(out), redirect_stderr(StringIO()):
        main(["context", "-p", ".", question])
    assert "return sum" not in out.getvalue()
