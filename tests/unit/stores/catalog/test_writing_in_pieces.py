"""A document that is too large to be held is written piece by piece, in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom.errors import IndexingError
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, DocumentRecord
from codefathom.types import Chunk, Document, ParsedDocument, Reference, Symbol

PATH = "big/dump.sql"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog.open(str(tmp_path / "catalog.db"))
    yield catalog
    catalog.close()


def record(*texts: str, symbols: tuple[Symbol, ...] = (), fingerprint: str = "f1", size: int = 9) -> DocumentRecord:
    document = Document(PATH, "sql", "", fingerprint, size)
    references = (Reference("call", "f", 1),) if symbols else ()
    parsed = ParsedDocument(document, symbols, references, (), "text/1", ("too large",))
    pieces = chunks(*texts)
    return DocumentRecord(parsed, pieces, hashes(pieces), 17, "parser/1", "chunker/1", {}, "m")


def chunks(*texts: str, start: int = 1) -> tuple[Chunk, ...]:
    return tuple(
        Chunk(f"{text}{line}", PATH, "sql", "block", "", (), line, line, text, "head", "doc")
        for line, text in enumerate(texts, start=start)
    )


def hashes(pieces: tuple[Chunk, ...]) -> tuple[str, ...]:
    return tuple(f"hash {piece.text}" for piece in pieces)


def test_pieces_join_up_to_the_document(catalog: Catalog) -> None:
    before = catalog.generation
    first, second = chunks("a\n", "b\n"), chunks("c\n", start=3)
    with catalog.writing(record()) as writing:
        added = [
            *writing.add(first, hashes(first), {"hash a\n": b"\0" * 8}),
            *writing.add(second, hashes(second), {"hash c\n": b"\1" * 8}),
        ]
        assert writing.removed == []
        writing.finish(3, "text/2")
    assert [(chunk, digest) for _, chunk, digest in added] == [
        (chunk, f"hash {chunk.text}") for chunk in (*first, *second)
    ]
    assert catalog.text(PATH) == "a\nb\nc\n"
    assert dict(catalog.chunks_of(PATH)) == {key: chunk for key, chunk, _ in added}
    assert catalog.generation == before + 1
    document = catalog.document(PATH)
    assert document is not None
    assert (document.language, document.fingerprint, document.size, document.n_lines) == ("sql", "f1", 9, 3)
    assert catalog.entries()[PATH].parser == "text/2"
    keys = [key for key, _, _ in added]
    assert catalog.rows("m", keys) == {keys[0]: b"\0" * 8, keys[2]: b"\1" * 8}


def test_what_was_there_before_is_replaced_with_its_symbols(catalog: Catalog) -> None:
    symbol = Symbol("function", "f", "f", 1, 1, 1)
    catalog.write(Batch(records=(record("old\n", "older\n", symbols=(symbol,)),)))
    old = [key for key, _ in catalog.chunks_of(PATH)]
    assert catalog.symbols("f")
    before = catalog.generation
    piece = chunks("new\n")
    with catalog.writing(record(fingerprint="f2", size=4)) as writing:
        assert writing.removed == old
        writing.add(piece, hashes(piece), {})
        writing.finish(1, "text/2")
    assert (catalog.text(PATH), catalog.generation) == ("new\n", before + 1)
    assert not catalog.symbols("f")
    assert not catalog.references_of(PATH)
    assert not catalog.references("f")
    document = catalog.document(PATH)
    assert document is not None
    assert (document.fingerprint, document.size, document.n_lines) == ("f2", 4, 1)
    changes = catalog.changes(before)
    assert sorted(changes.removed) == sorted(old)
    assert [row[1].text for row in changes.added] == ["new\n"]


def test_a_document_that_could_not_be_written_to_its_end_stays_as_it_was(catalog: Catalog) -> None:
    catalog.write(Batch(records=(record("old\n"),)))
    before = catalog.generation
    piece = chunks("new\n")
    with pytest.raises(IndexingError, match="the disk is gone"), catalog.writing(record(fingerprint="f2")) as writing:
        writing.add(piece, hashes(piece), {"hash new\n": b"\0" * 8})
        raise OSError("the disk is gone")
    assert (catalog.text(PATH), catalog.generation) == ("old\n", before)


def test_each_piece_has_its_hash(catalog: Catalog) -> None:
    with pytest.raises(ValueError, match="zip"), catalog.writing(record()) as writing:
        writing.add(chunks("a\n", "b\n"), ("one",), {})
