"""All that the catalogue can be asked for, over the same three small documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, DocumentRecord, LineRange
from codefathom.types import Chunk, Document, Failure, Filter, ParsedDocument, Reference, Skipped, Symbol

CART = (
    Symbol("class", "Cart", "Cart", 1, 4, 1),
    Symbol("method", "total", "Cart.total", 2, 3, 2),
    Symbol("variable", "kind", "Cart.kind", 4, 4, 4),
)
PAY = (
    Symbol("function", "pay", "pay", 1, 2, 1),
    Symbol("function", "Total", "Total", 3, 4, 3),
    Symbol("class", "total", "total", 5, 5, 5),
)
USES = (
    Reference("import", "shop.cart", 1),
    Reference("call", "total", 2, "pay", 2, "cart"),
    Reference("type", "Cart", 2, "pay"),
)


def record(
    path: str, language: str, symbols: tuple[Symbol, ...], references: tuple[Reference, ...], *pieces: str
) -> DocumentRecord:
    chunks, line = [], 1
    for piece in pieces:
        end = line + piece.count("\n") - 1
        names = tuple(symbol.qualified_name for symbol in symbols if line <= symbol.start_line <= end)
        kind = "function" if names else "block"
        chunks.append(Chunk(f"{path}:{line}", path, language, kind, "", names, line, end, piece))
        line = end + 1
    document = Document(path, language, "", f"print of {path}", sum(map(len, pieces)))
    hashes = tuple(f"hash {path} {chunk.start_line}" for chunk in chunks)
    vectors = {digest: digest[-4:].encode().ljust(8, b"\0") for digest in hashes[:1]}
    parsed = ParsedDocument(document, symbols, references, (), "p/1", ())
    return DocumentRecord(parsed, tuple(chunks), hashes, 2_500_000_000, "p/1", "c/1", vectors, "m")


RECORDS = (
    record("shop/cart.py", "python", CART, (), "class Cart:\n", "  def total():\n    ...\n  kind = 1\n"),
    record("shop/pay.py", "python", PAY, USES, "def pay():\n  ...\n", "def Total():\n  ...\nclass total: ...\n"),
    record("web/README.md", "markdown", (), (), "# Shop\n"),
)
DOCUMENTS = [one.parsed.document for one in RECORDS]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    catalog = Catalog.open(str(tmp_path_factory.mktemp("reads") / "catalog.db"))
    catalog.write(Batch(records=RECORDS[:1]))
    catalog.write(
        Batch(
            records=RECORDS[1:],
            failures=(Failure("z.py", "away"), Failure("b.py", "away")),
            skipped=(Skipped("z.bin", "binary"), Skipped("a.min.js", "minified")),
        )
    )
    yield catalog
    catalog.close()


def key_of(catalog: Catalog, path: str, line: int) -> int:
    (key,) = [key for key, chunk in catalog.chunks_of(path) if chunk.start_line == line]
    return key


def places(catalog: Catalog, keys: Collection[int]) -> list[str]:
    return sorted(f"{chunk.path}:{chunk.start_line}" for chunk in catalog.chunks(keys).values())


def names(symbols: Any) -> list[str]:
    return [f"{item.path} {item.symbol.qualified_name}" for item in symbols]


READS: list[tuple[Callable[[Catalog], Any], Any]] = [
    # symbols: the same name first, then what begins with it, then what contains it
    (lambda it: names(it.symbols("total")), ["shop/cart.py Cart.total", "shop/pay.py Total", "shop/pay.py total"]),
    (lambda it: names(it.symbols("tot")), ["shop/cart.py Cart.total", "shop/pay.py Total", "shop/pay.py total"]),
    (
        lambda it: names(it.symbols("a")),
        ["shop/cart.py Cart", "shop/cart.py Cart.total", "shop/pay.py pay", "shop/pay.py Total", "shop/pay.py total"],
    ),
    (lambda it: names(it.symbols("cart.tot")), ["shop/cart.py Cart.total"]),
    (lambda it: names(it.symbols("%")), []),
    (lambda it: names(it.symbols(path="shop/pay.py")), [f"shop/pay.py {name}" for name in ("pay", "Total", "total")]),
    (lambda it: names(it.symbols(kind="class")), ["shop/cart.py Cart", "shop/pay.py total"]),
    (lambda it: names(it.symbols(path="sho")), []),
    (lambda it: names(it.symbols(limit=2, offset=1)), ["shop/cart.py Cart.total", "shop/cart.py Cart.kind"]),
    (lambda it: len(it.symbols()), 6),
    (lambda it: (it.n_symbols(), it.n_symbols("total"), it.n_symbols("cart.tot")), (6, 3, 1)),
    (lambda it: (it.n_symbols(path="shop"), it.n_symbols(path="web"), it.n_symbols("a", kind="class")), (6, 0, 2)),
    (
        lambda it: names(it.symbols_named("TOTAL")),
        ["shop/cart.py Cart.total", "shop/pay.py Total", "shop/pay.py total"],
    ),
    (lambda it: names(it.symbols_named("Cart.total")), ["shop/cart.py Cart.total"]),
    (lambda it: names(it.symbols_named("art.total")), []),
    (lambda it: names(it.types_named(["Cart", "Total", "none"])), ["shop/cart.py Cart"]),
    (
        lambda it: [(place.path, place.kind, place.name, place.line) for place in it.definitions("total", limit=9)],
        [
            ("shop/pay.py", "class", "total", 5),
            ("shop/cart.py", "method", "total", 2),
            ("shop/pay.py", "function", "Total", 3),
        ],
    ),
    (lambda it: len(it.definitions("total", limit=2)), 2),
    (lambda it: [symbol.name for symbol in it.symbols_of("shop/cart.py")], ["Cart", "total", "kind"]),
    (
        lambda it: it.kinds_in([LineRange("shop/pay.py", *lines) for lines in ((3, 5), (2, 2), (5, 9), (3, 5))]),
        {
            ("shop/pay.py", 3, 5): [("Total", "function"), ("total", "class")],
            ("shop/pay.py", 2, 2): [],
            ("shop/pay.py", 5, 9): [("total", "class")],
        },
    ),
    (lambda it: it.kinds_in([]), {}),
    (lambda it: [name.lower() for name in it.similar_names("t", limit=2)], ["cart", "total"]),
    (lambda it: it.similar_names("_", limit=9), []),
    # references
    (lambda it: [(path, item.line) for path, item in it.references("total")], [("shop/pay.py", 2)]),
    (lambda it: [item.kind for _, item in it.references("Cart")], ["type"]),
    (lambda it: it.references("shop.cart"), []),
    (lambda it: [item.name for item in it.imports_of("shop/pay.py")], ["shop.cart"]),
    (lambda it: it.references_of("shop/pay.py"), list(USES)),
    (lambda it: it.mentions_of("shop/pay.py"), {(None, "shop.cart"), ("pay", "total"), ("pay", "Cart")}),
    (lambda it: it.mentions_of("shop/cart.py"), frozenset()),
    (lambda it: it.imports_of("shop/pay.py"), list(USES[:1])),
    (lambda it: it.imports_of("shop/cart.py"), []),
    (lambda it: list(it.imports()), [("shop/pay.py", USES[0])]),
    (lambda it: it.languages_with_uses(["markdown", "python", "rust"]), {"python"}),
    # documents
    (lambda it: [item.path for item in it.documents()], ["shop/cart.py", "shop/pay.py", "web/README.md"]),
    (
        lambda it: {item.path for item in it.documents_at(["web/README.md", "gone", "shop/pay.py"])},
        {"web/README.md", "shop/pay.py"},
    ),
    (lambda it: it.document("gone"), None),
    (lambda it: it.modified_s(["shop/pay.py", "gone"]), {"shop/pay.py": 2.5}),
    (lambda it: it.entries()["shop/cart.py"].fingerprint, "print of shop/cart.py"),
    (lambda it: it.failures(), [Failure("b.py", "away"), Failure("z.py", "away")]),
    (lambda it: it.skipped(), [Skipped("a.min.js", Note(say.MINIFIED)), Skipped("z.bin", Note(say.BINARY))]),
    (lambda it: it.rejected(), []),
    (lambda it: it.n_by_text(), 0),
    # lines and chunks
    (lambda it: it.lines("shop/cart.py", 1, 2), "class Cart:\n  def total():\n"),
    (lambda it: it.lines("shop/cart.py", 3, 99), "    ...\n  kind = 1\n"),
    (lambda it: it.lines("gone", 1, 2), ""),
    (lambda it: it.text("web/README.md"), "# Shop\n"),
    (lambda it: it.n_chunks(), 5),
    (lambda it: [path for _, path in it.chunks_at("pay.py", 5)], ["shop/pay.py"]),
    (lambda it: it.chunks_at("pay.py", 6), []),
    (lambda it: places(it, it.chunks_defining("TOTAL", partial=False, limit=9)), ["shop/cart.py:2", "shop/pay.py:3"]),
    (lambda it: it.chunks_defining("ota", partial=False, limit=9), []),
    (lambda it: len(it.chunks_defining("ota", partial=True, limit=9)), 2),
    (lambda it: len(it.chunks_defining("ota", partial=True, limit=1)), 1),
    (lambda it: set(it.keys_of(["shop/pay.py"]).values()), {"shop/pay.py"}),
    (lambda it: places(it, it.matching(Filter("language", "eq", "markdown"))), ["web/README.md:1"]),
    (lambda it: [n for _, n in it.placed([key_of(it, "shop/pay.py", 3), -7]).values()], [5]),
    (lambda it: places(it, it.matching(Filter("kind", "eq", "variable"), "symbol")), ["shop/cart.py:2"]),
    (lambda it: places(it, it.rewritten(1)), ["shop/pay.py:1", "shop/pay.py:3", "web/README.md:1"]),
    (lambda it: len(it.rewritten(0)), 5),
    # vectors
    (lambda it: (it.n_rows("m"), it.n_rows("other"), it.dimensions_of("other")), (3, 0, 0)),
    (lambda it: it.dimensions_of("m"), 8),
    (lambda it: (it.n_without_vector("m"), it.n_without_vector("other")), (2, 5)),
    (lambda it: it.paths_without_vector("m"), ["shop/cart.py", "shop/pay.py"]),
    (lambda it: [chunk.start_line for _, _, chunk in it.without_vector("m")], [2, 3]),
    (lambda it: it.vectors_of("m", ["hash shop/pay.py 1", "gone"]), {"hash shop/pay.py 1": b"py 1\0\0\0\0"}),
    (lambda it: it.vectors_of("other", ["hash shop/pay.py 1"]), {}),
    (lambda it: list(it.rows("m", it.keys_of(["shop/pay.py"])).values()), [b"py 1\0\0\0\0"]),
    (lambda it: sorted(chunk.path for _, _, chunk, _ in it.some_vectors("m", 9)), [one.path for one in DOCUMENTS]),
    (lambda it: len(it.some_vectors("m", 2)), 2),
    # the whole
    (lambda it: it.counts()[:3], (3, 5, 6)),
    (lambda it: it.counts().languages, {"python": 2, "markdown": 1}),
    (lambda it: list(it.counts().kinds.items()), [("function", 4), ("block", 1)]),
    (lambda it: it.integrity_problem(), ""),
    (lambda it: (it.get_meta("nothing"), it.get_meta("nothing", "7")), ("", "7")),
    (lambda it: it.generation, 2),
]


@pytest.mark.parametrize("number", range(len(READS)))
def test_what_is_written_is_what_is_read(catalog: Catalog, number: int) -> None:
    read, expected = READS[number]
    assert read(catalog) == expected


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog.open(str(tmp_path / "catalog.db"))
    catalog.write(Batch(records=RECORDS))
    yield catalog
    catalog.close()


def test_vectors_of_a_model_can_be_dropped(own: Catalog) -> None:
    own.add_vectors("other", {"hash shop/pay.py 1": b"\0" * 4})
    own.drop_vectors("m")
    assert (own.n_rows("m"), own.n_rows("other")) == (0, 1)


def test_documents_are_read_again_after_a_change(own: Catalog) -> None:
    (before,) = own.documents_at(["shop/pay.py"])
    own.write(Batch(records=(record("shop/pay.py", "ruby", (), (), "x\n"),)))
    (after,) = own.documents_at(["shop/pay.py"])
    assert (before.language, after.language) == ("python", "ruby")
    own.write(Batch(removed=("shop/pay.py",)))
    assert own.documents_at(["shop/pay.py"]) == []


def test_an_index_is_known_by_a_word(own: Catalog) -> None:
    assert not own.is_marked_with("here")
    own.mark("here")
    assert own.is_marked_with("here")
    assert not own.is_marked_with("there")


def test_removals_are_kept_as_long_as_a_view_needs_them(own: Catalog) -> None:
    first = own.generation
    own.write(Batch(removed=("web/README.md",)))
    changes = own.changes(first)
    assert (len(changes.removed), list(changes.added), changes.complete) == (1, [], True)
    own.prune(own.generation)
    assert own.changes(own.generation).complete
    late = own.changes(first)
    assert (late.removed, late.complete) == ([], False)
    assert own.changes(0).complete
    assert own.vectors_of("m", ["hash web/README.md 1", "hash shop/pay.py 1"]).keys() == {"hash shop/pay.py 1"}
    own.flush()
    assert own.get_meta("flushed") == str(own.generation)


def test_lines_of_a_chunk_are_read_again_after_they_have_moved(own: Catalog) -> None:
    (key,) = [key for key, chunk in own.chunks_of("web/README.md")]
    assert own.chunks([key])[key].start_line == 1
    (moved,) = (chunk for _, chunk in own.chunks_of("web/README.md"))
    before = RECORDS[2]
    own.write(Batch(records=(before._replace(chunks=(replace(moved, start_line=4, end_line=4),)),)))
    assert own.chunks([key])[key].start_line == 4


def test_some_vectors_come_with_their_chunk_and_hash(own: Catalog) -> None:
    for key, digest, chunk, vector in own.some_vectors("m", 9):
        assert own.chunks([key])[key] == chunk
        assert own.vectors_of("m", [digest]) == {digest: vector}
