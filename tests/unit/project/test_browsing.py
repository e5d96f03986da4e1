"""Looking around in an index: folders, lines as they are now, outlines, imports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.errors import SourceError, UsageError
from codefathom.project.browsing import Files, imports, index_summary
from codefathom.project.originals import Lines
from codefathom.stores.folder import index_folder

FILES = {
    "README.md": "# Shop\n",
    "shop/cart.py": (
        "import os.path\nfrom decimal import Decimal\n\n\nclass Cart:\n    def total(self):\n        return 1\n"
    ),
    "shop/web/page.ts": "import { Cart } from './cart'\nexport function page() { return 1 }\n",
    "shop/web/style.css": "a { color: red }\n",
    "tools/run.py": "import os\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("browsed")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(str(root), is_root=True) as engine:
        engine.index()
        yield engine


@pytest.fixture
def files(engine: Engine) -> Files:
    return Files(engine.opened.catalog, Lines(engine.opened))


@pytest.mark.parametrize(
    ("folder", "paths"),
    [
        ("", list(FILES)),
        (".", list(FILES)),
        ("shop", ["shop/cart.py", "shop/web/page.ts", "shop/web/style.css"]),
        ("/shop/web/", ["shop/web/page.ts", "shop/web/style.css"]),
        ("sho", []),
        ("gone", []),
    ],
)
def test_the_files_below_a_folder(files: Files, folder: str, paths: list[str]) -> None:
    assert [file.path for file in files.listed(folder)] == paths


def test_a_file_has_its_language_and_its_size(files: Files) -> None:
    (readme, *_) = files.listed()
    assert (readme.path, readme.language, readme.size, readme.n_lines) == ("README.md", "markdown", 7, 1)


@pytest.mark.parametrize(
    ("folder", "entries"),
    [
        ("", [("shop", "shop", 3), ("tools", "tools", 1), ("README.md", "README.md", 1)]),
        ("shop", [("web", "shop/web", 2), ("cart.py", "shop/cart.py", 1)]),
        ("shop/web/", [("page.ts", "shop/web/page.ts", 1), ("style.css", "shop/web/style.css", 1)]),
    ],
)
def test_the_entries_of_a_folder_are_folders_first(
    files: Files, folder: str, entries: list[tuple[str, str, int]]
) -> None:
    found = files.entries(folder)
    assert [(entry.name, entry.path, entry.n_files) for entry in found] == entries
    assert [entry.file is None for entry in found] == ["." not in entry.name for entry in found]


def test_a_folder_that_is_not_there_is_refused(files: Files) -> None:
    with pytest.raises(SourceError) as refused:
        files.entries("gone")
    assert str(refused.value) == "no such folder in the index: 'gone'"
    assert refused.value.hint == 'use "" for the root of the project'


def test_folders_that_a_search_is_kept_to_must_be_there(files: Files) -> None:
    files.check_folders(["shop", "SHOP/web/", "", "**/*.zz", "tools"])
    with pytest.raises(UsageError) as refused:
        files.check_folders(["shop", "sho"])
    assert (str(refused.value), refused.value.hint) == (
        "no folder in the index is called 'sho'",
        "the folders here are shop, tools",
    )


@pytest.mark.parametrize(
    ("start", "end", "first", "last", "text"),
    [
        (1, 0, 1, 7, FILES["shop/cart.py"]),
        (5, 6, 5, 6, "class Cart:\n    def total(self):\n"),
        (7, 99, 7, 7, "        return 1\n"),
        (2, 2, 2, 2, "from decimal import Decimal\n"),
    ],
)
def test_lines_of_a_file(files: Files, start: int, end: int, first: int, last: int, text: str) -> None:
    lines = files.lines("shop/cart.py", start, end)
    assert (lines.start_line, lines.end_line, lines.text, lines.stale) == (first, last, text, False)
    assert lines.file.n_lines == 7


@pytest.mark.parametrize(
    ("start", "end", "named"), [(8, 9, "8 to 9"), (0, 2, "0 to 2"), (5, 4, "5 to 4"), (9, 0, "9 to the last")]
)
def test_lines_that_a_file_does_not_have_are_refused(files: Files, start: int, end: int, named: str) -> None:
    with pytest.raises(UsageError) as refused:
        files.lines("shop/cart.py", start, end)
    assert (str(refused.value), refused.value.hint) == (f"shop/cart.py has no lines {named}", "it has 7 lines")


@pytest.mark.parametrize("path", ["gone.py", "shop", "", "a\ud800"])
def test_a_file_that_is_not_indexed_is_refused(files: Files, path: str) -> None:
    for ask in (files.lines, files.outline):
        with pytest.raises(SourceError) as refused:
            ask(path)
        assert str(refused.value) == f"no such file in the index: {path!r}"
        assert "fathom status --skipped" in refused.value.hint


def test_an_outline_is_outer_before_inner(files: Files) -> None:
    outline = files.outline("shop/cart.py")
    assert [item.symbol.qualified_name for item in outline] == ["Cart", "Cart.total"]
    assert {(item.path, item.language) for item in outline} == {("shop/cart.py", "python")}
    assert files.outline("README.md")[0].symbol.name == "Shop"


def test_a_file_is_shown_as_it_is_now(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with Engine.open(str(tmp_path), is_root=True) as engine:
        engine.index()
        (tmp_path / "a.py").write_text("x = 1\ny = 2\nz = 3")
        files = Files(engine.opened.catalog, Lines(engine.opened))
        lines = files.lines("a.py", 2)
        assert (lines.text, lines.stale, lines.end_line) == ("y = 2\nz = 3", True, 3)
        assert (lines.file.n_lines, lines.file.size) == (3, 17)
        (tmp_path / "a.py").unlink()
        with pytest.raises(SourceError, match="is not there any more"):
            Files(engine.opened.catalog, Lines(engine.opened)).lines("a.py")


@pytest.mark.parametrize(
    ("query", "path", "found"),
    [
        ("os", "", ["tools/run.py os", "shop/cart.py os.path"]),  # the very name first, then what begins with it
        ("PATH", "", ["shop/cart.py os.path"]),
        ("", "shop/cart.py", ["shop/cart.py os.path", "shop/cart.py decimal.Decimal"]),
        ("", "tools", ["tools/run.py os"]),
        ("", "tool", []),
        ("cart", "", ["shop/web/page.ts ./cart"]),
        ("de", "", ["shop/cart.py decimal.Decimal"]),
        ("a", "", ["shop/cart.py os.path", "shop/cart.py decimal.Decimal", "shop/web/page.ts ./cart"]),
        ("p", "", ["shop/cart.py os.path"]),
        ("zebra", "", []),
    ],
)
def test_imports_by_name(engine: Engine, query: str, path: str, found: list[str]) -> None:
    listed = imports(engine.opened.catalog, query, path)
    assert [f"{item.path} {item.symbol.qualified_name}" for item in listed] == found
    assert all(item.symbol.kind == "import" and item.language for item in listed)


def test_an_import_is_named_by_its_last_part(engine: Engine) -> None:
    (item,) = imports(engine.opened.catalog, "os.path", "")
    assert (item.symbol.name, item.symbol.start_line, item.symbol.end_line, item.language) == ("path", 1, 1, "python")


def test_texts_that_are_on_no_disk_are_one_folder(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with Engine.open(str(tmp_path), is_root=True) as engine:
        engine.index()
        engine.update(texts={"notes/a.md": "# A\n", "b.md": "# B\n"})
        files = Files(engine.opened.catalog, Lines(engine.opened))
        assert [(entry.name, entry.n_files) for entry in files.entries()] == [("texts://", 2), ("a.py", 1)]
        assert [file.path for file in files.listed("texts://")] == ["texts://b.md", "texts://notes/a.md"]
        assert files.lines("texts://b.md").text == "# B\n"


def test_the_summary_of_an_index_is_read_without_its_views(engine: Engine) -> None:
    folder, catalog = engine.opened.place.index_folder, engine.opened.catalog
    word = "this machine"
    assert index_summary(folder, word) is None  # it is known by another word
    catalog.mark(word)
    summary = index_summary(folder, word)
    assert summary is not None
    assert (summary.generation, summary.n_documents, summary.n_symbols) == (
        catalog.generation,
        5,
        catalog.n_symbols(),
    )
    assert summary.n_chunks == catalog.n_chunks()
    assert summary.languages["python"] == 2
    assert sum(summary.kinds.values()) == summary.n_chunks
    assert summary.indexed_at == int(catalog.get_meta("indexed_at_ns")) / 1e9 > 1.6e9
    assert index_summary(folder, word, summary) is summary
    other = summary._replace(indexed_at=1.0)
    assert index_summary(folder, word, other) == summary


def test_an_index_that_is_not_there_has_no_summary(tmp_path: Path) -> None:
    assert index_summary(index_folder(str(tmp_path / "gone"), str(tmp_path)), "word") is None
