"""Rows of the catalogue that differ from what was written: they are not shown, and the catalogue says so."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packed_texts import replaced_text, with_text_functions

from codefathom.errors import DamagedError, IndexingError
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, CompilerRecord, CompilerUse, DocumentRecord
from codefathom.stores.catalog.schema import FORMAT
from codefathom.types import Chunk, Document, ParsedDocument, Reference, Symbol


def record(path: str, *texts: str) -> DocumentRecord:
    document = Document(path, "python", "".join(texts), f"print of {path}", 1)
    pieces = tuple(
        Chunk(f"{path}{n}", path, "python", "function", f"f{n}", (f"f{n}",), 2 * n - 1, 2 * n, text, "sig", "doc")
        for n, text in enumerate(texts, 1)
    )
    symbols = tuple(
        Symbol("function", f"f{n}", f"f{n}", 2 * n - 1, 2 * n, 2 * n - 1, f"def f{n}()", "what it is for")
        for n in range(1, len(texts) + 1)
    )
    uses = (Reference("call", "f1", 4, "f2"), Reference("import", "os", 1))
    parsed = ParsedDocument(document, symbols, uses, (), "p")
    return DocumentRecord(parsed, pieces, tuple(f"h{path}{n}" for n in range(len(texts))), 1, "p", "c", {}, "m")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    catalog = Catalog.open(str(tmp_path / "c.db"))
    texts = ("def f1():\n    pass\n", "def f2():\n    f1()\n", "def f3():\n    pass\n")
    catalog.write(Batch(records=(record("a.py", *texts), record("b.py", *texts))))
    catalog.close()
    return tmp_path / "c.db"


def change(path: Path, statement: str) -> None:
    """Change rows without the program."""
    with with_text_functions(sqlite3.connect(path)) as db:
        assert db.execute(statement).rowcount
    db.close()


@pytest.mark.parametrize(
    "damage",
    [
        "packed = WITH_TEXT(packed, replace(TEXT_OF(packed), 'f1', 'g1'))",
        "start_line = 4",
        "end_line = 3",
        "packed = PACKED(TEXT_OF(packed), 'other', '')",
        "packed = substr(packed, 1, 9)",
        "packed = X''",
        "names = 'x'",
        "symbol = 'x'",
        "kind = 'class'",
        "id = 'x'",
        "packed = X'ff'",
        "packed = 'text'",
        "packed = 7",
        "names = 0.5",
        "document_id = (SELECT id FROM documents WHERE path = 'b.py')",
    ],
)
def test_a_chunk_that_differs_is_not_shown(path: Path, damage: str) -> None:
    catalog = Catalog.open(str(path))
    key = catalog.chunks_of("a.py")[1][0]
    sound = catalog.chunks_of("a.py")[0][0]
    assert catalog.soundness.damaged_paths == set()
    catalog.close()
    change(path, f"UPDATE chunks SET {damage} WHERE key = {key}")
    catalog = Catalog.open(str(path))
    assert list(catalog.chunks([key, sound])) == [sound]
    assert catalog.soundness.damaged_paths
    # What is left does not join up to the text: lines would be counted wrongly.
    assert (catalog.chunks_of("a.py"), catalog.text("a.py"), catalog.lines("a.py", 3, 4)) == ([], "", "")
    assert catalog.lines("a.py", 1, 2) == "def f1():\n    pass\n"
    catalog.close()
    again = Catalog.open(str(path))
    assert (again.get_meta("set_aside"), again.documents()) == ("it was damaged", [])
    again.close()


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_document_that_lacks_a_chunk_is_not_shown(path: Path, which: int) -> None:
    catalog = Catalog.open(str(path))
    change(path, f"DELETE FROM chunks WHERE key = {catalog.chunks_of('a.py')[which][0]}")
    assert (catalog.text("a.py"), catalog.chunks_of("a.py"), catalog.lines("a.py", 1, 6)) == ("", [], "")
    assert catalog.soundness.damaged_paths == {"a.py"}
    assert catalog.text("b.py")
    catalog.close()


@pytest.mark.parametrize("damage", ["start_line = 2", "name = 'f9'", "qualified_name = 'x'", "place = 2", "place = ''"])
def test_a_symbol_that_differs_is_not_shown(path: Path, damage: str) -> None:
    change(path, f"UPDATE symbols SET {damage} WHERE name = 'f2' AND document_id = 1")
    catalog = Catalog.open(str(path))
    assert [symbol.name for symbol in catalog.symbols_of("a.py")] == ["f1", "f3"]
    assert {item.path for item in (*catalog.symbols("f2"), *catalog.symbols_named("f2"))} == {"b.py"}
    assert catalog.soundness.damaged_paths == {"a.py"}
    catalog.close()


@pytest.mark.parametrize(
    "damage",
    [
        *("packed = X''", "packed = 'text'", "packed = 7", "packed = substr(packed, 1, 12)", "packed = zeroblob(40)"),
        *("document_id = 7", f"packed = X'{zlib.compress(bytes(200_000_000)).hex()}'"),
        *(f"packed = X'{zlib.compress(text).hex()}'" for text in (b"[1, 2]", b'["sig"]', b"{}", b"[" * 100_000)),
    ],
)
def test_texts_of_symbols_that_differ_are_not_shown(path: Path, damage: str) -> None:
    change(path, f"UPDATE outlines SET {damage} WHERE document_id = 1")
    catalog = Catalog.open(str(path))
    assert catalog.symbols_of("a.py") == []
    assert {item.path for item in (*catalog.symbols("f2"), *catalog.symbols_named("f2"))} == {"b.py"}
    assert catalog.soundness.damaged_paths == {"a.py"}
    assert "'a.py'" in catalog.soundness.check()
    catalog.close()


@pytest.mark.parametrize(
    "damage",
    [
        *("packed = X''", "packed = 'text'", "packed = 7", "packed = substr(packed, 1, 20)", "packed = zeroblob(40)"),
        "packed = substr(packed, 1, 30) || X'00' || substr(packed, 32)",
        *("checksum = checksum + 1", "checksum = 'many'"),
    ],
)
def test_references_that_differ_are_not_shown(path: Path, damage: str) -> None:
    change(path, f"UPDATE refs SET {damage} WHERE document_id = 1")
    catalog = Catalog.open(str(path))
    assert [path for path, _ in catalog.references("f1")] == ["b.py"]
    assert (catalog.references_of("a.py"), catalog.imports_of("a.py")) == ([], [])
    assert [use.name for use in catalog.references_of("b.py")] == ["os", "f1"]
    assert catalog.soundness.damaged_paths == {"a.py"}
    assert catalog.soundness.check()
    catalog.close()


def test_references_of_another_document_are_not_shown(path: Path) -> None:
    change(path, "DELETE FROM refs WHERE document_id = 2")
    change(path, "UPDATE refs SET document_id = 2")
    catalog = Catalog.open(str(path))
    assert (catalog.references("f1"), catalog.references_of("a.py"), catalog.references_of("b.py")) == ([], [], [])
    assert catalog.soundness.damaged_paths == {"b.py"}
    catalog.close()


@pytest.mark.parametrize(
    "damage",
    [
        *("DELETE FROM used_names WHERE document_id = 1", "UPDATE used_names SET name = name + 1"),
        *("INSERT INTO used_names VALUES (7, 1)", "UPDATE refs SET names = X''", "UPDATE refs SET names = 'abcd'"),
    ],
)
def test_names_that_lead_to_other_documents_are_found_by_a_check(path: Path, damage: str) -> None:
    catalog = Catalog.open(str(path))
    assert catalog.soundness.check() == ""
    catalog.close()
    change(path, damage)
    path.with_name("c.db.seal").unlink(missing_ok=True)
    catalog = Catalog.open(str(path))
    assert "names that" in catalog.soundness.check()
    catalog.close()


@pytest.mark.parametrize("damage", ["uses = 'text'", "uses = 7", "uses = X''", "checksum = 'x'", "target_id = 2"])
def test_a_use_of_a_compiler_that_differs_is_not_shown(path: Path, damage: str) -> None:
    catalog = Catalog.open(str(path))
    uses = {"a.py": frozenset({CompilerUse(4, "f1", "f1", "call")})}
    catalog.put_compiler_uses([CompilerRecord("a.py", "print of a.py", "compiler 1", uses)])
    assert [item.uses for item in catalog.compiler_uses_in("a.py")] == [tuple(uses["a.py"])]
    assert catalog.soundness.check() == ""
    catalog.close()
    change(path, f"UPDATE compiler_uses SET {damage}")
    catalog = Catalog.open(str(path))
    assert catalog.compiler_uses_in("a.py") == []
    assert catalog.soundness.damaged_paths == {"a.py"}
    assert catalog.soundness.check()
    catalog.close()


@pytest.mark.parametrize(
    ("table", "column", "ask"),
    [
        ("chunks", "symbol", lambda catalog: catalog.text("a.py")),
        ("documents", "fingerprint", lambda catalog: catalog.documents()),
        ("symbols", "qualified_name", lambda catalog: catalog.symbols_of("a.py")),
        ("meta", "value", lambda catalog: catalog.generation),
    ],
)
def test_bytes_that_are_not_utf_8_are_damage(
    path: Path, table: str, column: str, ask: Callable[[Catalog], object]
) -> None:
    change(path, f"UPDATE {table} SET {column} = CAST(X'66ff66' AS TEXT)")
    catalog = Catalog.open(str(path)) if table != "meta" else None
    if catalog is None:
        # What has no format is no catalogue of ours.
        assert Catalog.open(str(path)).get_meta("set_aside")
        return
    with pytest.raises(DamagedError, match="damaged") as caught:
        ask(catalog)
    assert "fathom index" in caught.value.hint
    catalog.close()
    assert Catalog.open(str(path)).get_meta("set_aside") == "it was damaged"


@pytest.mark.parametrize("format_", ["x", str(FORMAT + 1)])
def test_a_format_that_was_never_written_is_damage(path: Path, format_: str) -> None:
    catalog = Catalog.open(str(path))
    assert catalog.soundness.check() == ""
    catalog.close()
    change(path, f"UPDATE meta SET value = '{format_}' WHERE key = 'format'")
    catalog = Catalog.open(str(path))
    assert catalog.get_meta("set_aside")
    catalog.close()


def test_a_number_that_is_none_is_damage(path: Path) -> None:
    catalog = Catalog.open(str(path))
    change(path, "UPDATE meta SET value = 'x' WHERE key = 'generation'")
    with pytest.raises(DamagedError, match="'x'"):
        _ = catalog.generation
    catalog.close()
    assert Catalog.open(str(path)).get_meta("set_aside")


def test_a_view_is_not_made_of_rows_that_differ(path: Path) -> None:
    change(path, replaced_text("f1", "g1", "document_id = 1"))
    catalog = Catalog.open(str(path))
    with pytest.raises(DamagedError, match=r"a\.py"):
        list(catalog.changes(0).added)
    with pytest.raises(DamagedError, match=r"a\.py"):
        catalog.without_vector("m")
    catalog.close()


def test_lines_that_moved_have_their_checksum(path: Path) -> None:
    catalog = Catalog.open(str(path))
    keys = [key for key, _ in catalog.chunks_of("a.py")]
    moved = record("a.py", "def f0():\n    pass\n", "def f1():\n    pass\n", "def f2():\n    f1()\n")
    pieces = tuple(
        piece if n == 1 else Chunk(f"a.py{n - 1}", "a.py", "python", "function", f"f{n - 1}", (f"f{n - 1}",),
                                   piece.start_line, piece.end_line, piece.text, "sig", "doc")
        for n, piece in enumerate(moved.chunks, 1)
    )  # fmt: skip
    catalog.write(Batch(records=(moved._replace(chunks=pieces, text_hashes=("new", "ha.py0", "ha.py1")),)))
    assert [key in keys for key, _ in catalog.chunks_of("a.py")] == [False, True, True]
    assert catalog.text("a.py").startswith("def f0():\n    pass\ndef f1")
    assert catalog.soundness.damaged_paths == set()
    catalog.close()


def test_a_reader_of_a_damaged_catalogue_is_told_so(path: Path) -> None:
    Catalog.open(str(path)).close()
    path.with_name("c.db.damaged").touch()
    with pytest.raises(DamagedError):
        Catalog.open(str(path), read_only=True)
    path.with_name("c.db.damaged").unlink()
    content = path.read_bytes()
    path.write_bytes(content[:100] + bytes(len(content) - 100))
    with pytest.raises(IndexingError):
        Catalog.open(str(path), read_only=True)
