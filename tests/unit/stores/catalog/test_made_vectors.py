"""Vectors that the catalogue makes of the texts of chunks, and those that it stores all the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.packed_texts import with_text_functions

from codefathom.errors import DamagedError
from codefathom.stores.base import Row
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, DocumentRecord, MadeVectors
from codefathom.stores.folder import file_at
from codefathom.stores.sqlite import connect
from codefathom.types import Chunk, Document, ParsedDocument

TEXTS = ("one\n", "two\n", "three\n")


def vectors_of(chunks: Sequence[Chunk]) -> list[bytes]:
    return [chunk.text.encode()[:4] for chunk in chunks]


def record(path: str, texts: Sequence[str], vectors: dict[str, bytes] | None = None) -> DocumentRecord:
    document = Document(path, "python", "".join(texts), f"print of {path}", 1)
    pieces = tuple(Chunk(f"{path}{n}", path, "python", "block", "", (), n, n, text) for n, text in enumerate(texts, 1))
    hashes = tuple("" if text == "three\n" else f"hash of {text}" for text in texts)
    return DocumentRecord(ParsedDocument(document, (), (), (), "p"), pieces, hashes, 1, "p", "c", vectors or {}, "m")


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog.open(str(tmp_path / "c.db"))
    catalog.make_vectors(MadeVectors("m", vectors_of, are_stored=False))
    catalog.write(Batch(records=(record("a.py", TEXTS),)))
    catalog.write(Batch(records=(record("b.py", TEXTS[:2]),)))
    yield catalog
    catalog.close()


def stored(tmp_path: Path) -> int:
    db = connect(file_at(str(tmp_path / "c.db")), wait_s=1.0, read_only=True)
    (number,) = db.execute("SELECT count(*) FROM embeddings").fetchone()
    db.close()
    return int(number)


def test_each_embedded_chunk_has_one(catalog: Catalog) -> None:
    rows = [Row(1, b"one\n"), Row(2, b"two\n"), Row(4, b"one\n"), Row(5, b"two\n")]
    assert list(catalog.vectors("m")) == rows
    assert list(catalog.vectors("m", since=1)) == rows[2:]
    assert catalog.rows("m", [2, 3, 5, 99]) == {2: b"two\n", 5: b"two\n"}
    assert (catalog.n_rows("m"), catalog.n_without_vector("m"), catalog.paths_without_vector("m")) == (4, 0, [])
    assert (catalog.without_vector("m"), catalog.vectors_of("m", ["hash of one\n"])) == ([], {})
    assert sorted(vector for *_, vector in catalog.some_vectors("m", 9)) == [b"one\n", b"two\n"]
    assert catalog.makes_vectors("m")


def test_those_of_another_model_are_stored(catalog: Catalog) -> None:
    assert (catalog.makes_vectors("n"), list(catalog.vectors("n")), catalog.n_without_vector("n")) == (False, [], 4)
    catalog.add_vectors("n", {"hash of one\n": b"else"})
    assert list(catalog.vectors("n")) == [Row(1, b"else"), Row(4, b"else")]
    assert not catalog.drop_made()


def test_they_are_stored_for_a_store_that_needs_them(catalog: Catalog, tmp_path: Path) -> None:
    made, generation = list(catalog.vectors("m")), catalog.generation
    catalog.store_made()
    assert (stored(tmp_path), catalog.generation, catalog.makes_vectors("m")) == (2, generation, False)
    assert list(catalog.vectors("m")) == made
    assert catalog.without_vector("m") == []


def test_what_is_not_stored_yet_is_made_all_the_same(catalog: Catalog) -> None:
    made = list(catalog.vectors("m"))
    catalog.make_vectors(MadeVectors("m", vectors_of, are_stored=True))
    catalog.add_vectors("m", {"hash of one\n": b"kept"})
    assert list(catalog.vectors("m")) == [row._replace(vector=b"kept") if row.key in (1, 4) else row for row in made]
    assert catalog.rows("m", [1, 2, 3]) == {1: b"kept", 2: b"two\n"}
    assert [key for key, *_ in catalog.without_vector("m")] == [2, 5]
    assert (catalog.n_rows("m"), catalog.n_without_vector("m")) == (4, 0)


def test_stored_ones_of_an_earlier_version_are_not_read_and_dropped(tmp_path: Path) -> None:
    catalog = Catalog.open(str(tmp_path / "c.db"))
    catalog.write(Batch(records=(record("a.py", TEXTS, {"hash of one\n": b"old!"}),)))
    catalog.make_vectors(MadeVectors("m", vectors_of, are_stored=False))
    assert list(catalog.vectors("m")) == [Row(1, b"one\n"), Row(2, b"two\n")]
    assert (catalog.drop_made(), stored(tmp_path), catalog.drop_made()) == (True, 0, False)
    catalog.close()


def test_none_is_made_of_a_damaged_text(catalog: Catalog, tmp_path: Path) -> None:
    with with_text_functions(connect(file_at(str(tmp_path / "c.db")), wait_s=1.0)) as db:
        db.execute("UPDATE chunks SET packed = WITH_TEXT(packed, 'evil') WHERE key = 2")
    db.close()
    with pytest.raises(DamagedError, match=r"a\.py"):
        list(catalog.vectors("m"))
