"""The catalogue: what goes in comes out, chunks keep their keys, and views learn what changed."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.errors import UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import LACKS_GRAMMAR, SYNTAX_ERROR, Note
from codefathom.stores.base import Row
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, DefinitionPlace, DocumentRecord, RejectedFile, TouchedFile
from codefathom.types import (
    Chunk,
    Document,
    Failure,
    Filter,
    FilterGroup,
    FoundSymbol,
    ParsedDocument,
    Reference,
    Skipped,
    Symbol,
)

MODEL = "m/1"
EVERYTHING = FilterGroup("AND", ())


def digest(*parts: object) -> str:
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def record(
    path: str,
    pieces: list[str],
    symbols: tuple[Symbol, ...] = (),
    references: tuple[Reference, ...] = (),
    *,
    with_vectors: bool = True,
    **chunk_values: object,
) -> DocumentRecord:
    text = "".join(pieces)
    chunks, line = [], 1
    for number, piece in enumerate(pieces):
        end = line + piece.count("\n") - piece.endswith("\n")
        values = {"kind": "block", "symbol": "", "names": (), **chunk_values}
        identity = digest(path, piece, pieces[:number].count(piece))
        chunks.append(Chunk(identity, path, "python", start_line=line, end_line=end, text=piece, **values))  # type: ignore[arg-type]
        line = end + 1
    hashes = tuple(digest(piece) for piece in pieces)
    document = Document(path, "python", text, digest(text), len(text))
    return DocumentRecord(
        ParsedDocument(document, symbols, references, (), "treesitter/1", ()),
        *(tuple(chunks), hashes, 17, "parser/1", "chunker/1"),
        {key: key.encode()[:4] for key in hashes} if with_vectors else {},
        MODEL,
    )


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog.open(str(tmp_path / "catalog.db"))
    yield catalog
    catalog.close()


def texts(catalog: Catalog, path: str) -> dict[int, str]:
    return {key: chunk.text for key, chunk in catalog.chunks_of(path)}


def test_a_new_catalogue_is_empty(catalog: Catalog) -> None:
    assert (catalog.generation, catalog.entries(), catalog.documents()) == (0, {}, [])
    assert (catalog.text("a.py"), catalog.document("a.py"), catalog.lines("a.py", 1, 9)) == ("", None, "")
    assert (catalog.chunks([1, 2]), catalog.chunks([]), catalog.matching(EVERYTHING)) == ({}, {}, set())
    assert (catalog.counts().documents, catalog.get_meta("x"), catalog.get_meta("x", "y")) == (0, "", "y")
    assert (catalog.get_meta("set_aside"), catalog.integrity_problem()) == ("", "")


def test_a_document_comes_back_as_it_was(catalog: Catalog) -> None:
    pieces = ["# ä 文\n", "def f():\n    pass\n", "\0end"]
    item = record(
        "pkg/sub/deep/Mod.PY", pieces, kind="function", symbol="f", names=("f", "f.g"), signature="s", doc="d"
    )
    problems = (
        Note(SYNTAX_ERROR, {"line": 3}),
        Note(LACKS_GRAMMAR, {"language": "c", "error": "a\nb"}),
    )
    item = item._replace(parsed=ParsedDocument(item.parsed.document, (), (), (), "p", problems))
    written = catalog.write(Batch(records=(item,), meta={"model": MODEL}))
    assert (written.generation, written.removed, catalog.generation) == (1, [], 1)
    assert [(chunk, text_hash) for _, chunk, text_hash in written.added] == list(
        zip(item.chunks, item.text_hashes, strict=True)
    )
    keys = [key for key, _, _ in written.added]
    assert catalog.chunks([*keys, 999]) == dict(zip(keys, item.chunks, strict=True))
    assert catalog.chunks_of("pkg/sub/deep/Mod.PY") == list(zip(keys, item.chunks, strict=True))
    assert catalog.text("pkg/sub/deep/Mod.PY") == "".join(pieces)
    (stored,) = catalog.documents()
    assert stored == catalog.document("pkg/sub/deep/Mod.PY")
    assert (stored.n_lines, stored.problems, stored.fingerprint) == (
        4,
        problems,
        item.parsed.document.fingerprint,
    )
    (entry,) = catalog.entries().values()
    assert entry[1:] == (stored.path, stored.size, 17, stored.fingerprint, "parser/1", "chunker/1", 0, 0)
    assert catalog.get_meta("model") == MODEL
    assert list(catalog.vectors(MODEL)) == [
        Row(key, text_hash.encode()[:4]) for key, text_hash in zip(keys, item.text_hashes, strict=True)
    ]


@pytest.mark.parametrize(
    ("path", "columns"),
    [
        ("a.py", ("", "a.py", ".py", "", "")),
        ("src/b.TXT", ("src", "b.TXT", ".txt", "src", "")),
        ("src/lib/c/d.e.f", ("src/lib/c", "d.e.f", ".f", "src", "lib")),
        ("x/.env", ("x", ".env", "", "x", "")),
        ("Makefile", ("", "Makefile", "", "", "")),
    ],
)
def test_the_columns_that_filters_use(catalog: Catalog, path: str, columns: tuple[str, ...]) -> None:
    catalog.write(Batch(records=(record(path, ["x\n"]), record("other/else/y.z", ["y\n"]))))
    names = ("dir", "name", "ext", "module", "sub_module")
    values = zip(names, columns, strict=True)
    same = [Filter(name, "eq", value) if value else Filter(name, "not_contains", "") for name, value in values]
    assert catalog.matching(FilterGroup("AND", tuple(same))) == {key for key, _ in catalog.chunks_of(path)}


def test_conditions_see_chunks_and_regular_expressions(catalog: Catalog) -> None:
    catalog.write(Batch(records=(record("a.py", ["one\n", "Two\n"], kind="class"), record("b.py", ["three\n"]))))
    one, two = texts(catalog, "a.py")
    (three,) = texts(catalog, "b.py")
    assert catalog.matching(Filter("text", "regex", "^t")) == {two, three}
    first_class = FilterGroup("AND", (Filter("kind", "eq", "class"), Filter("start_line", "lt", 2)))
    assert catalog.matching(first_class) == {one}
    assert catalog.matching(Filter("path", "regex", "b")) == {three}
    with pytest.raises(UsageError, match="not a regular expression"):
        catalog.matching(Filter("text", "regex", "("))


def test_an_unchanged_chunk_keeps_its_key_when_lines_move(catalog: Catalog) -> None:
    catalog.write(Batch(records=(record("a.py", ["a\n", "b\n", "c\n"]),)))
    before = {text: key for key, text in texts(catalog, "a.py").items()}
    written = catalog.write(Batch(records=(record("a.py", ["new\nlines\n", "a\n", "c\n"]),)))
    after = {text: key for key, text in texts(catalog, "a.py").items()}
    assert (after["a\n"], after["c\n"]) == (before["a\n"], before["c\n"])
    assert [(chunk.text, key) for key, chunk, _ in written.added] == [("new\nlines\n", after["new\nlines\n"])]
    assert after["new\nlines\n"] > max(before.values())
    assert (written.removed, written.generation) == ([before["b\n"]], 2)
    assert [chunk.start_line for _, chunk in catalog.chunks_of("a.py")] == [1, 3, 4]


@pytest.mark.parametrize(
    "change", [{"kind": "class"}, {"symbol": "S"}, {"names": ("n",)}, {"signature": "s"}, {"doc": "d"}]
)
def test_a_chunk_with_other_words_is_a_new_one(catalog: Catalog, change: dict[str, object]) -> None:
    old = catalog.write(Batch(records=(record("a.py", ["a\n"]),)))
    new = catalog.write(Batch(records=(record("a.py", ["a\n"], **change),)))  # type: ignore[arg-type]
    assert (len(new.added), new.removed) == (1, [old.added[0][0]])


def test_keys_are_never_used_twice(catalog: Catalog) -> None:
    seen: set[int] = set()
    for round_number in range(5):
        written = catalog.write(Batch(records=(record("a.py", [f"{round_number}\n", "x\n"]),)))
        assert not seen & {key for key, _, _ in written.added}
        seen |= {key for key, _, _ in written.added}
        assert catalog.write(Batch(removed=("a.py", "unknown.py"))).removed
    assert catalog.counts().chunks == catalog.counts().symbols == 0
    assert {row.path for row in catalog.documents()} == set()


def test_paths_by_their_stems_are_those_of_the_newest_generation(catalog: Catalog) -> None:
    catalog.write(Batch((record("a/time.py", ["a\n"]), record("b/Time.go", ["b\n"]))))
    assert dict(catalog.paths_by_stem()) == {"time": ["a/time.py", "b/Time.go"]}
    assert catalog.paths_by_stem() is catalog.paths_by_stem()
    catalog.write(Batch((), removed=("a/time.py",)))
    assert dict(catalog.paths_by_stem()) == {"time": ["b/Time.go"]}


def test_keys_of_a_few_documents_are_in_the_order_of_their_lines(catalog: Catalog) -> None:
    catalog.write(Batch((record("b.py", ["b\n", "c\n"]), record("a.py", ["a\n"]), record("other.py", ["o\n"]))))
    keys = catalog.keys_of(["b.py", "a.py", "none.py"])
    assert list(keys.values()) == ["a.py", "b.py", "b.py"]
    assert list(keys) == [*texts(catalog, "a.py"), *texts(catalog, "b.py")]
    assert catalog.keys_of([]) == {}


def test_imports_of_a_document_are_told_from_its_calls(catalog: Catalog) -> None:
    references = (Reference("import", "os.path", 1, qualifier="join"), Reference("call", "join", 2))
    catalog.write(Batch((record("a.py", ["a\n"], references=references), record("b.py", ["b\n"]))))
    assert catalog.imports_of("a.py") == [references[0]]
    assert catalog.imports_of("b.py") == []


def test_documents_are_told_by_a_part_of_their_version(catalog: Catalog) -> None:
    others = record("b.py", ["x"])._replace(parser="parser/1 read as cp1252")
    catalog.write(Batch(records=(record("a.py", ["x"]), others)))
    assert catalog.paths_parsed_by(" read as ") == ["b.py"]
    assert sorted(catalog.paths_parsed_by("parser/1")) == ["a.py", "b.py"]


def test_what_changes_nothing_is_no_generation(catalog: Catalog) -> None:
    catalog.write(Batch(records=(record("a.py", ["a\n"]),)))
    batch = Batch(removed=("unknown.py",), touched=(TouchedFile("a.py", 99, 5),), failures=(), meta={"k": "v"})
    assert catalog.write(batch) == (1, [], [])
    assert (catalog.entries()["a.py"].size, catalog.entries()["a.py"].mtime_ns, catalog.generation) == (99, 5, 1)


def test_a_new_time_stamp_is_seen_by_who_has_read_the_document_before(catalog: Catalog) -> None:
    catalog.write(Batch(records=(record("a.py", ["a\n"]),)))
    before = catalog.stamps
    assert [document.mtime_ns for document in catalog.documents_at({"a.py"})] != [5]
    catalog.write(Batch(touched=(TouchedFile("a.py", 99, 5),)))
    assert [document.mtime_ns for document in catalog.documents_at({"a.py"})] == [5]
    after = catalog.stamps
    catalog.write(Batch(meta={"k": "v"}))
    assert before != after == catalog.stamps


def test_a_path_named_twice_is_written_once(catalog: Catalog) -> None:
    written = catalog.write(Batch(records=(record("a.py", ["old\n"]), record("a.py", ["new\n"])), removed=("a.py",)))
    assert [chunk.text for _, chunk, _ in written.added] == ["new\n"]
    assert catalog.text("a.py") == "new\n"


def test_a_batch_that_fails_leaves_nothing(catalog: Catalog) -> None:
    catalog.write(Batch(records=(record("a.py", ["a\n"]),)))
    bad = record("b.py", ["b\n"])._replace(text_hashes=())
    with pytest.raises(ValueError, match="zip"):
        catalog.write(Batch(records=(record("a.py", ["changed\n"]), bad), meta={"k": "v"}))
    assert (catalog.text("a.py"), catalog.generation, catalog.get_meta("k")) == ("a\n", 1, "")
    assert catalog.write(Batch(records=(record("b.py", ["b\n"]),))).generation == 2


def test_lines_are_those_of_the_document(catalog: Catalog) -> None:
    text = ["one\n", "two\x0cstill two\r\nthree\n", "four\u2028still four\n", "five"]
    catalog.write(Batch(records=(record("a.py", text),)))
    whole = "".join(text).split("\n")
    for start in range(1, 7):
        for end in range(start, 8):
            expected = "\n".join(whole[start - 1 : end]) + ("\n" if end < 5 and start <= 5 else "")
            assert catalog.lines("a.py", start, end) == expected


def test_lists_are_replaced_or_left(catalog: Catalog) -> None:
    failure, skip = Failure("b.py", "it broke"), Skipped("z\udcff.bin", Note(say.BINARY))
    rejected = RejectedFile("c.min.js", Note(say.MANY_PAGES, {"count": 3}), 9, 4)
    catalog.write(Batch(failures=(failure, Failure("a.py", "x")), skipped=(skip,), rejected=(rejected, rejected)))
    catalog.write(Batch(meta={"k": "v"}))
    assert catalog.failures() == [Failure("a.py", "x"), failure]
    assert catalog.skipped() == [Skipped("z\\udcff.bin", Note(say.BINARY))]
    assert catalog.rejected() == [rejected]
    catalog.write(Batch(failures=(), rejected=()))
    assert (catalog.failures(), catalog.rejected(), len(catalog.skipped())) == ([], [], 1)


# ---- symbols and references


def symbol(qualified_name: str, line: int = 1, kind: str = "function", end: int = 0) -> Symbol:
    name = qualified_name.rpartition(".")[2]
    return Symbol(kind, name, qualified_name, line, end or line, line, f"def {name}", "doc")


@pytest.fixture
def outline(catalog: Catalog) -> Catalog:
    first = (symbol("Parser", 1, "class", 3), symbol("Parser.parse", 2, "method"), symbol("parse_all", 4))
    second = (symbol("Other.parse", 1, "method"), symbol("PARSE", 2, "constant"), symbol("reparse", 3))
    uses = (Reference("call", "parse", 3, "run", 2), Reference("import", "a", 1), Reference("type", "Parser", 2))
    catalog.write(
        Batch(
            records=(
                record("a.py", ["1\n2\n", "3\n4\n"], first),
                record("lib/b.py", ["1\n2\n3\n"], second, uses),
            )
        )
    )
    return catalog


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        ("parse", {}, "Parser.parse Other.parse PARSE Parser parse_all reparse"),
        ("Parser.parse", {}, "Parser.parse"),
        ("parser.PAR", {}, "Parser.parse"),
        ("parse", {"limit": 2}, "Parser.parse Other.parse"),
        ("parse", {"path": "lib/b.py"}, "Other.parse PARSE reparse"),
        ("parse", {"kind": "method"}, "Parser.parse Other.parse"),
        ("", {"path": "a.py"}, "Parser Parser.parse parse_all"),
        ("parse_", {}, "parse_all"),
        ("%", {}, ""),
        ("\\", {}, ""),
    ],
)
def test_symbols_by_part_of_their_name(outline: Catalog, query: str, options: dict[str, object], expected: str) -> None:
    names = [item.symbol.qualified_name for item in outline.symbols(query, **options)]  # type: ignore[arg-type]
    assert names == expected.split()


def test_symbols_by_name(outline: Catalog) -> None:
    assert outline.symbols_named("Parser") == [FoundSymbol("a.py", "python", symbol("Parser", 1, "class", 3))]
    named = {item.symbol.qualified_name for item in outline.symbols_named("parse")}
    assert named == {"Parser.parse", "Other.parse", "PARSE"}
    assert [item.path for item in outline.symbols_named("Other.parse")] == ["lib/b.py"]
    assert outline.symbols_named("er.parse") == outline.symbols_named("par%") == []
    assert [item.name for item in outline.symbols_of("a.py")] == ["Parser", "parse", "parse_all"]
    assert outline.similar_names("pars", limit=2) == ["parse", "Parser"]
    assert outline.counts().symbols == 6


def test_places_by_what_they_define(outline: Catalog) -> None:
    places = outline.definitions("parse", limit=9)
    assert [(one.path, one.name) for one in places] == [("a.py", "parse"), ("lib/b.py", "parse"), ("lib/b.py", "PARSE")]
    assert outline.definitions("Parser", limit=9) == [DefinitionPlace("a.py", "class", "Parser", 1)]
    assert outline.definitions("parse", limit=1) == places[:1]
    assert [one.name for one in outline.definitions("PARSE", limit=9)] == ["PARSE", "parse", "parse"]
    assert outline.definitions("par%", limit=9) == []


def test_chunks_by_what_they_define(outline: Catalog) -> None:
    first, second = texts(outline, "a.py")
    (other,) = texts(outline, "lib/b.py")
    assert outline.chunks_defining("parse", partial=False, limit=9) == [first, other]
    assert outline.chunks_defining("parse_all", partial=False, limit=9) == [second]
    assert outline.chunks_defining("PARS", partial=True, limit=9) == [first, second, other]
    assert outline.chunks_defining("parse", partial=True, limit=1) == [first]


def test_references(outline: Catalog) -> None:
    call, imported, used = (
        Reference("call", "parse", 3, "run", 2),
        Reference("import", "a", 1),
        Reference("type", "Parser", 2),
    )
    assert outline.references("parse") == [("lib/b.py", call)]
    assert outline.references("a") == []
    assert outline.references("Parser") == [("lib/b.py", used)]
    assert outline.references_of("lib/b.py") == [imported, used, call]
    assert list(outline.imports()) == [("lib/b.py", imported)]
    outline.write(Batch(records=(record("lib/b.py", ["1\n"]),)))
    assert outline.references_of("lib/b.py") == outline.symbols_of("lib/b.py") == []


# ---- what views are made from


def test_vectors_that_come_later_reach_a_view_that_is_up_to_date(catalog: Catalog) -> None:
    item = record("a.py", ["a\n", "b\n"], with_vectors=False)
    written = catalog.write(Batch(records=(item,)))
    assert [(key, text_hash) for key, text_hash, _ in catalog.without_vector(MODEL)] == [
        (key, text_hash) for key, _, text_hash in written.added
    ]
    assert catalog.add_vectors(MODEL, {item.text_hashes[1]: b"late"}) == catalog.generation == 2
    late = Row(written.added[1][0], b"late")
    assert list(catalog.vectors(MODEL, since=1)) == list(catalog.vectors(MODEL)) == [late]
    assert (list(catalog.vectors(MODEL, since=2)), list(catalog.vectors("other"))) == ([], [])
    assert (catalog.n_without_vector(MODEL), catalog.n_without_vector("other")) == (1, 2)
    assert catalog.add_vectors(MODEL, {}) == 2


def test_a_vector_is_shared_by_equal_texts_and_replaced_by_another(catalog: Catalog) -> None:
    one, two = record("a.py", ["same\n"]), record("b.py", ["same\n"], with_vectors=False)
    catalog.write(Batch(records=(one,)))
    catalog.write(Batch(records=(two,)))
    assert [row.vector for row in catalog.vectors(MODEL, since=1)] == [one.text_hashes[0].encode()[:4]]
    catalog.write(Batch(records=(one._replace(vectors={one.text_hashes[0]: b"else"}),)))
    assert [row.vector for row in catalog.vectors(MODEL, since=2)] == [b"else", b"else"]


def test_pruning_drops_what_nobody_needs_and_says_which_views_are_too_old(catalog: Catalog) -> None:
    catalog.write(Batch(records=(record("a.py", ["a\n"]), record("b.py", ["b\n"]))))
    catalog.add_vectors("old model", {digest("a\n"): b"1234"})
    catalog.write(Batch(removed=("b.py",)))
    catalog.write(Batch(removed=("a.py",), records=(record("c.py", ["a\n"]),)))
    assert [catalog.changes(since).complete for since in range(5)] == [True] * 5
    catalog.prune(oldest_view=3)
    assert [catalog.changes(since).complete for since in range(5)] == [True, False, False, True, True]
    assert len(catalog.changes(3).removed) == 1
    assert [row.vector for row in catalog.vectors("old model")] == [b"1234"]
    catalog.write(Batch(records=(record("b.py", ["b\n"], with_vectors=False),)))
    assert catalog.n_without_vector(MODEL) == 1


paths = st.sampled_from(["a.py", "b.py", "c/d.py"])
batches = st.lists(
    st.tuples(
        st.dictionaries(paths, st.lists(st.sampled_from(["a\n", "b\n", "c\nd\n", "e\n"]), max_size=4), max_size=3),
        st.sets(paths, max_size=2),
    ),
    max_size=6,
)


@settings(max_examples=50, deadline=None)
@given(batches)
def test_equals_a_dictionary_and_any_view_can_catch_up(
    tmp_path_factory: pytest.TempPathFactory, batches: list[tuple[dict[str, list[str]], set[str]]]
) -> None:
    catalog = Catalog.open(str(tmp_path_factory.mktemp("catalog") / "catalog.db"))
    model: dict[str, list[str]] = {}
    views: list[dict[int, str]] = [{}]  # what a view of each generation shows: text by key
    for documents, removed in batches:
        written = catalog.write(
            Batch(records=tuple(record(*item) for item in documents.items()), removed=tuple(removed))
        )
        model = {path: pieces for path, pieces in model.items() if path not in removed} | documents
        shown = {key: text for key, text in views[-1].items() if key not in written.removed}
        shown |= {key: chunk.text for key, chunk, _ in written.added}
        if written.generation == len(views):
            views.append(shown)
        assert catalog.generation == len(views) - 1
        assert {item.path: catalog.text(item.path) for item in catalog.documents()} == {
            path: "".join(pieces) for path, pieces in model.items()
        }
        present = {key: chunk.text for path in model for key, chunk in catalog.chunks_of(path)}
        assert present == shown == views[-1]
        assert sorted(present) == sorted(catalog.matching(EVERYTHING)) == [row.key for row in catalog.vectors(MODEL)]
    for generation, view in enumerate(views):
        changes = catalog.changes(generation)
        caught_up = {key: text for key, text in view.items() if key not in changes.removed}
        caught_up |= {key: chunk.text for key, chunk, _ in changes.added}
        assert changes.complete
        assert caught_up == views[-1]
    assert catalog.integrity_problem() == ""
    catalog.close()
