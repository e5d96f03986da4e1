from __future__ import annotations

from collections.abc import Sequence

from codefathom.search.levels import Cut, cut_to_level
from codefathom.search.ranking.rank import Candidate, RankedCandidate, RankingQuery
from codefathom.stores.catalog.records import DefinitionPlace, LineRange
from codefathom.types import Chunk, Symbol

QUERY = RankingQuery(("save",), symbols=("save",))


class Shelf:
    """The four questions that levels asks of a catalogue."""

    def __init__(self, chunks: list[Chunk], symbols: dict[str, list[Symbol]] | None = None) -> None:
        self._chunks = chunks
        self._symbols = symbols or {}

    def chunks_of(self, path: str) -> list[tuple[int, Chunk]]:
        return [(n, c) for n, c in enumerate(self._chunks) if c.path == path]

    def symbols_of(self, path: str) -> list[Symbol]:
        return self._symbols.get(path, [])

    def kinds_in(self, places: Sequence[LineRange]) -> dict[LineRange, list[tuple[str, str]]]:
        return {
            place: [
                (s.qualified_name, s.kind)
                for s in self.symbols_of(place.path)
                if place.start_line <= s.start_line <= place.end_line
            ]
            for place in places
        }

    def lines(self, path: str, start_line: int, end_line: int) -> str:
        text = "".join(chunk.text for _, chunk in self.chunks_of(path))
        return "".join(text.splitlines(keepends=True)[start_line - 1 : end_line])


def piece(path: str, start: int, end: int, symbol: str = "", *names: str) -> Chunk:
    text = "".join(f"{path} {n}\n" for n in range(start, end + 1))
    return Chunk(f"{path}{start}", path, "python", "function", symbol, names, start, end, text)


def ranked(*chunks: Chunk) -> list[RankedCandidate]:
    return [RankedCandidate(Candidate(n, chunk), 1.0 - n / 10, {}) for n, chunk in enumerate(chunks)]


def spans(items: list) -> list[tuple[str, int, int]]:
    return [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in items]


def test_neighbours_of_one_symbol_are_joined() -> None:
    one, two = piece("a.py", 1, 5, "big", "big"), piece("a.py", 6, 9, "big")
    for order in ((one, two), (two, one)):
        [hit] = cut_to_level(QUERY, ranked(*order), Shelf([one, two]), Cut("chunk", 5)).hits
        assert (hit.chunk.start_line, hit.chunk.end_line, hit.chunk.text) == (1, 9, one.text + two.text)
        assert (hit.chunk.names, hit.score) == (("big",), 1.0)


def test_others_are_not_joined() -> None:
    chunks = [
        piece("a.py", 1, 5, "f"),
        piece("a.py", 7, 9, "f"),  # a gap
        piece("a.py", 10, 12, "g"),  # another symbol
        piece("b.py", 13, 14, "g"),  # another file
        piece("c.py", 1, 2),
        piece("c.py", 3, 4),  # no symbol
    ]
    assert len(cut_to_level(QUERY, ranked(*chunks), Shelf(chunks), Cut("chunk", 10)).hits) == 6


def test_three_neighbours_in_any_order_become_one() -> None:
    one, two, three = piece("a.py", 1, 5, "big"), piece("a.py", 6, 9, "big"), piece("a.py", 10, 12, "big")
    for order in ((one, two, three), (two, three, one), (one, three, two), (three, one, two)):
        result = cut_to_level(QUERY, ranked(*order), Shelf([one, two, three]), Cut("chunk", 5)).hits
        assert spans(result) == [("a.py", 1, 12)]
        assert result[0].chunk.text == one.text + two.text + three.text


def test_a_part_of_a_long_line_is_joined_with_nothing() -> None:
    above, below = piece("a.py", 1, 5, "f"), piece("a.py", 7, 9, "f")
    parts = [Chunk(f"a{column}", "a.py", "", "text", "f", (), 6, 6, "x" * 1000, column) for column in (1, 1001)]
    chunks = [above, *parts, below]
    assert len(cut_to_level(QUERY, ranked(*chunks), Shelf(chunks), Cut("chunk", 10)).hits) == 4


def test_joining_makes_room_for_more() -> None:
    chunks = [piece("a.py", 1, 5, "f"), piece("a.py", 6, 9, "f"), piece("b.py", 1, 2), piece("c.py", 1, 2)]
    assert spans(cut_to_level(QUERY, ranked(*chunks), Shelf(chunks), Cut("chunk", 2)).hits) == [
        ("a.py", 1, 9),
        ("b.py", 1, 2),
    ]


def test_a_file_is_returned_once_and_whole() -> None:
    one, two, other = piece("a.py", 1, 5), piece("a.py", 6, 9), piece("b.py", 1, 3)
    result = cut_to_level(QUERY, ranked(two, other, one), Shelf([one, two, other]), Cut("file", 5)).hits
    assert spans(result) == [("a.py", 1, 9), ("b.py", 1, 3)]
    assert result[0].chunk.text == one.text + two.text
    assert result[0].chunk.kind == "file"
    assert 6 <= result[0].line <= 9  # where the best chunk lies


def test_the_symbol_asked_for_is_returned() -> None:
    chunk = piece("a.py", 1, 9, "", "load", "save")
    symbols = [Symbol("function", "load", "load", 1, 4, 1), Symbol("function", "save", "save", 5, 9, 5)]
    result = cut_to_level(QUERY, ranked(chunk), Shelf([chunk], {"a.py": symbols}), Cut("symbol", 5)).hits
    assert [hit.chunk.symbol for hit in result] == ["save"]
    assert spans(result) == [("a.py", 5, 9)]
    assert result[0].chunk.text.startswith("a.py 5\n")


def test_the_head_of_a_name_comes_before_its_namesakes() -> None:
    chunk = piece("save.cs", 3, 9, "Save", "Save", "Save.Save")
    symbols = [
        Symbol("module", "Save", "Save", 3, 9, 3),
        Symbol("class", "Save", "Save.Save", 1, 9, 4),  # its comment begins in the chunk before
        Symbol("method", "Save", "Save.Save.Save", 5, 6, 5),
    ]
    query = QUERY._replace(heads={"save.cs": (DefinitionPlace("save.cs", "class", "Save", 4),)})
    result = cut_to_level(query, ranked(chunk), Shelf([chunk], {"save.cs": symbols}), Cut("symbol", 5)).hits
    assert [hit.chunk.kind for hit in result] == ["class", "module", "method"]


def test_a_symbol_that_spans_chunks_is_returned_once() -> None:
    chunks = [piece("a.py", 1, 5, "save", "save"), piece("a.py", 6, 9, "save")]
    symbols = [Symbol("function", "save", "save", 1, 9, 1)]
    assert spans(cut_to_level(QUERY, ranked(*chunks), Shelf(chunks, {"a.py": symbols}), Cut("symbol", 5)).hits) == [
        ("a.py", 1, 9)
    ]


def test_a_chunk_without_symbols_is_no_symbol() -> None:
    chunk = piece("a.md", 1, 3)
    assert cut_to_level(QUERY, ranked(chunk), Shelf([chunk]), Cut("symbol", 5)).hits == []


def test_limits_hold() -> None:
    chunks = [piece(f"{n}.py", 1, 3) for n in range(6)]
    for level in ("chunk", "file"):
        assert len(cut_to_level(QUERY, ranked(*chunks), Shelf(chunks), Cut(level, 4)).hits) == 4
