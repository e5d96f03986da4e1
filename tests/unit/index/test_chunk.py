"""Chunks join up to the document, stay within their limits, and know their symbols."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codefathom.index.chunk import ChunkLimits, chunk, chunk_id, split_lines
from codefathom.types import Break, Document, ParsedDocument, Symbol


def parsed(text: str, symbols: tuple[Symbol, ...] = (), breaks: tuple[Break, ...] = ()) -> ParsedDocument:
    document = Document("pkg/module.py", "python", text, "1:0", len(text))
    return ParsedDocument(document, symbols, (), breaks, "test/1")


def symbol(kind: str, name: str, start: int, end: int) -> Symbol:
    short = name.rsplit(".", 1)[-1]
    return Symbol(kind, short, name, start, end, start, signature=f"{kind} {short}", doc=f"About {short}.")


def spans(chunks: tuple) -> list[tuple[int, int]]:
    return [(item.start_line, item.end_line) for item in chunks]


def body(count: int, width: int = 20) -> str:
    return "".join(f"{'x' * width}\n" for _ in range(count))


@st.composite
def documents(draw: st.DrawFn) -> ParsedDocument:
    """Any text, with any symbols and breaks, nested or crossing, in or outside the file."""
    text = draw(st.text(alphabet="ab \t\n\r\x0c  é漢", max_size=400))
    lines = st.integers(1, max(1, len(split_lines(text))) + 2)
    pairs = draw(st.lists(st.tuples(lines, lines), max_size=8))
    symbols = tuple(symbol("function", f"f{i}", *sorted(pair)) for i, pair in enumerate(pairs))
    ordered = tuple(sorted(symbols, key=lambda item: (item.start_line, -item.end_line)))
    breaks = tuple(
        Break(line, depth) for line, depth in draw(st.lists(st.tuples(lines, st.integers(0, 5)), max_size=8))
    )
    return parsed(text, ordered, breaks)


@given(documents(), st.integers(1, 60), st.integers(1, 9))
def test_chunks_join_up_to_the_document(item: ParsedDocument, target: int, max_lines: int) -> None:
    chunks = chunk(item, ChunkLimits(target, max_lines))
    assert "".join(piece.text for piece in chunks) == item.document.text
    line, column = 1, 1
    for piece in chunks:
        assert (piece.start_line, piece.column) == (line, column)
        assert piece.end_line >= piece.start_line
        if piece.text.endswith("\n"):
            line, column = piece.end_line + 1, 1
        else:
            line, column = piece.end_line, piece.column + len(piece.text)
    assert line + (column > 1) == len(split_lines(item.document.text)) + 1


@given(documents(), st.integers(1, 60), st.integers(1, 9))
def test_only_a_single_line_may_be_too_large(item: ParsedDocument, target: int, max_lines: int) -> None:
    limits = ChunkLimits(target, max_lines)
    for piece in chunk(item, limits):
        n_lines = piece.end_line - piece.start_line + 1
        # A quarter more where a scrap stays with its lines.
        assert n_lines == 1 or (len(piece.text) <= 1.25 * target and n_lines <= max_lines)
        assert n_lines > 1 or len(piece.text.encode()) <= max(limits.max_line_bytes, 5 * target)


@given(st.binary(max_size=300))
def test_arbitrary_bytes_join_up(data: bytes) -> None:
    text = data.decode("latin-1")
    assert "".join(piece.text for piece in chunk(parsed(text), ChunkLimits(20, 3))) == text


@given(documents())
def test_ids_are_unique_in_a_document(item: ParsedDocument) -> None:
    ids = [piece.id for piece in chunk(item, ChunkLimits(10, 2))]
    assert len(ids) == len(set(ids))


def test_an_empty_document_has_no_chunks() -> None:
    assert chunk(parsed("")) == ()


def test_small_neighbours_are_grouped() -> None:
    item = parsed(body(6), (symbol("function", "a", 1, 3), symbol("function", "b", 4, 6)))
    (only,) = chunk(item)
    assert only.names == ("a", "b")
    assert only.symbol == ""
    assert only.kind == "function"
    assert only.signature == "function a\nfunction b"


def test_definitions_that_do_not_fit_together_are_parted_between_them() -> None:
    item = parsed(body(40), (symbol("function", "a", 1, 19), symbol("function", "b", 20, 40)))
    first, second = chunk(item, ChunkLimits(500, 60))
    assert spans((first, second)) == [(1, 19), (20, 40)]
    assert (first.symbol, second.symbol) == ("a", "b")


def test_a_large_class_is_cut_between_its_methods() -> None:
    methods = (symbol("method", "C.m", 2, 15), symbol("method", "C.n", 16, 30))
    pieces = chunk(parsed(body(30), (symbol("class", "C", 1, 30), *methods)), ChunkLimits(330, 60))
    assert spans(pieces) == [(1, 15), (16, 30)]
    assert pieces[0].names == ("C", "C.m")
    assert pieces[0].symbol == "C"
    assert pieces[1].symbol == "C.n"
    assert pieces[1].kind == "method"


def test_a_large_function_is_cut_at_its_outermost_statements() -> None:
    breaks = (Break(4, 3), Break(10, 2), Break(12, 5))
    pieces = chunk(parsed(body(20), (symbol("function", "f", 1, 20),), breaks), ChunkLimits(240, 60))
    assert spans(pieces) == [(1, 9), (10, 20)]
    assert [piece.symbol for piece in pieces] == ["f", "f"]
    assert pieces[1].names == ()
    assert pieces[1].signature == "function f"


def test_the_head_and_the_end_of_a_definition_stay_with_its_body() -> None:
    function = symbol("function", "f", 1, 20)
    pieces = chunk(parsed(body(20), (function,), (Break(2, 2), Break(11, 3), Break(20, 2))), ChunkLimits(240, 60))
    # A cut above the body leaves a line alone, and so does one below it.
    assert spans(pieces) == [(1, 10), (11, 20)]


def test_a_short_definition_of_its_own_is_no_scrap() -> None:
    functions = (symbol("function", "f", 1, 2), symbol("function", "g", 3, 14))
    assert spans(chunk(parsed(body(14), functions), ChunkLimits(250, 60))) == [(1, 2), (3, 14)]


def test_lines_with_nothing_in_them_stay_with_those_above() -> None:
    functions = (symbol("function", "f", 1, 10), symbol("function", "g", 13, 22))
    text = body(10) + "\n  \n" + body(10)
    assert spans(chunk(parsed(text, functions), ChunkLimits(210, 60))) == [(1, 12), (13, 22)]
    many = body(10) + "\n" * 200 + body(10)
    assert max(len(piece.text) for piece in chunk(parsed(many, functions[:1]), ChunkLimits(210, 60))) <= 1.25 * 210


def test_without_syntax_a_blank_line_is_the_place_to_cut() -> None:
    text = body(5) + "\n" + body(6)
    assert spans(chunk(parsed(text), ChunkLimits(150, 60))) == [(1, 6), (7, 12)]


def test_moved_lines_keep_their_id_and_repeated_text_does_not_share_one() -> None:
    before = chunk(parsed("def f():\n" + body(3)))
    after = chunk(parsed("\n" * 40 + "def f():\n" + body(3)), ChunkLimits(200, 4))
    assert before[0].id in {piece.id for piece in after}
    assert chunk_id("a.py", "x", 1) != chunk_id("a.py", "x", 2)
    assert chunk_id("a.py", "x", 1) != chunk_id("b.py", "x", 1)


def test_long_documentation_is_shortened() -> None:
    long = Symbol("function", "f", "f", 1, 3, 1, signature="f()", doc="d" * 1000)
    (only,) = chunk(parsed(body(3), (long,)))
    assert 0 < len(only.doc) < 300


def test_a_long_line_is_cut_between_words() -> None:
    words = "".join(f"word{number:04}, " for number in range(3_000))
    before, *parts, after = chunk(parsed(f"first = 1\n{words}\nlast = 2\n"))
    assert (before.text, after.text) == ("first = 1\n", "last = 2\n")
    assert {(part.start_line, part.end_line) for part in parts} == {(2, 2)}
    assert "".join(part.text for part in parts) == f"{words}\n"
    assert all(part.text.startswith((" word", "word")) for part in parts)
    assert max(len(part.text) for part in parts) <= 1_250
    assert after.start_line == 3


def test_a_line_without_words_is_cut_anywhere() -> None:
    parts = chunk(parsed("x" * 300_000))
    assert len(parts) == 300
    assert parts[7].column == 7_001


def test_a_definition_is_named_in_the_part_that_holds_it() -> None:
    line = f"function first(){{{'a();' * 2_000}}} function second(){{{'b();' * 2_000}}}\n"
    parts = chunk(parsed(line, (symbol("function", "first", 1, 1), symbol("function", "second", 1, 1))))
    assert [part.names for part in parts if part.names] == [("first",), ("second",)]


def test_equal_parts_of_several_windows_have_ids_of_their_own() -> None:
    windows = [chunk(parsed("y" * 9_000 + "\n"), lines_before=number) for number in range(3)]
    ids = [part.id for window in windows for part in window]
    assert len(ids) == len(set(ids))


def test_a_chunk_knows_the_path_and_language_of_its_document() -> None:
    (piece,) = chunk(parsed("x = 1\n"))
    assert (piece.path, piece.language, piece.kind, piece.symbol) == ("pkg/module.py", "python", "block", "")


SHORT = ChunkLimits(20, 9)
PIECES = [
    "alpha beta gamma ",
    "delta epsilon zeta ",
    "eta theta iota kappa",
    " lambda mu nu xi ",
    "omicron pi rho sigma\n",
]


def test_a_long_line_is_cut_behind_the_last_end_of_a_word_that_has_room() -> None:
    text = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma\n"
    pieces = [piece.text for piece in chunk(parsed(text), SHORT)]
    assert "".join(pieces) == text
    # A piece is never shorter than three quarters of what it may have.
    assert pieces == PIECES
    whole = [piece.text for piece in chunk(parsed("x" * 90), SHORT)]
    assert whole == [*["x" * 20] * 4, "x" * 10]


def test_identities_are_the_same_in_every_version() -> None:
    assert chunk_id("a.py", "x = 1\n", 1) == "f6186a1eb58a09d27a2ceb86655519c9"
    assert chunk_id("a.py", "x = 1\n", 2) == "3d3f5c86951023c7dd1c9b398dcb1489"
    assert len(chunk_id("gr\udce4.py", "\ud800", 1)) == 32


def test_symbols_that_begin_in_one_line_are_named_from_outside_in() -> None:
    outer, inner = symbol("class", "Outer", 1, 4), symbol("function", "Outer.inner", 1, 2)
    (piece,) = chunk(parsed(body(4), (inner, outer)))
    assert piece.names == ("Outer", "Outer.inner")
