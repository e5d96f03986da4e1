"""The files of a prompt: whole while they fit, then the lines around the hits, and what was lost is named."""

from __future__ import annotations

from codefathom.answer.budget import Material, Shares
from codefathom.answer.stages.gather import PrintedForm, gather, materials
from codefathom.facts.reasons import verbatim
from codefathom.types import Chunk, Hit, SearchResult


def hit(path: str, start: int, end: int, score: float) -> Hit:
    chunk = Chunk(f"{path}{start}", path, "python", "function", f"f{start}", (), start, end, "x\n")
    return Hit(chunk, score, {}, (verbatim(f"because {start}"),), start, f"f{start}")


def words(text: str) -> int:
    return len(text.split())


PRINTED = PrintedForm("files", words)
# Two words before each file, one between excerpts; 35 lines and 2.
ROOM = Shares(4, 38)
LONG = "".join(f"line{n}\n" for n in range(1, 101))


def test_hits_of_one_file_become_one_material_in_the_order_of_the_best() -> None:
    hits = (hit("b", 5, 9, 0.9), hit("a", 1, 2, 0.8), hit("b", 1, 3, 0.7))
    result = SearchResult("q", hits, "chunk", "hybrid", 0.5, 1)
    assert materials(result, {"a": LONG, "b": LONG}.__getitem__) == [
        Material("b", LONG, ((5, 9), (1, 3)), 0.9, "because 5"),
        Material("a", LONG, ((1, 2),), 0.8, "because 1"),
    ]


def test_what_fits_is_whole_and_the_rest_is_excerpts() -> None:
    found = [Material("long", LONG, ((50, 51), (90, 90))), Material("short", "one\ntwo\n")]
    context = gather("q", found, ROOM, PRINTED, lambda path, start, end: f"{path} {start} {end}")
    long, short = context.files
    assert (short.text, short.spans) == ("one\ntwo\n", ())
    assert long.spans == ((42, 59), (82, 98))
    assert long.text.startswith("line42\n")
    assert "\nline59\n…\nline82\n" in long.text
    assert long.text.endswith("line98\n")
    assert long.symbols == ("long 42 59", "long 82 98")
    assert short.symbols == ()  # all of its definitions are there
    assert (context.truncated, context.absent) == (("long",), ())
    assert context.n_tokens == 42


def test_what_does_not_fit_at_all_is_named() -> None:
    context = gather("q", [Material("a", "word " * 500), Material("b", "b")], Shares(10, 10), PRINTED)
    assert [file.path for file in context.files] == ["b"]
    assert (context.truncated, context.absent) == ((), ("a",))
