"""A context never passes its window, shows each line once, and says what it left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.answer.answer_types import Source
from codefathom.answer.budget import CountTokens, Material, Shares, lines_of, merged, pack, shares, shown, too_large
from codefathom.answer.tokens import estimate


def words(text: str) -> int:
    return len(text.split())


def file(path: str, n_lines: int, *spans: tuple[int, int]) -> Material:
    return Material(path, "".join(f"{path}{line}\n" for line in range(1, n_lines + 1)), spans)


def cost(n_lines: int) -> int:
    """Tokens of an excerpt: number and place, and for each line its number and its word."""
    return 2 + 2 * n_lines


@pytest.mark.parametrize(
    ("window", "full", "segment", "expected"),
    [
        (1000, 0.6, 0.35, Shares(600, 350)),
        (1000, 0.9, 0.1, Shares(900, 100)),  # refused where fractions are binary
        (1000, 0.8, 0.2, Shares(800, 200)),
        (1001, 0.9, 0.1, Shares(900, 100)),
        (999, 0.9, 0.1, Shares(899, 99)),
        (1, 0.9, 0.1, Shares(0, 0)),
        (1000, 0.7, 0.3, Shares(700, 300)),
        (1000, 0.9, 0.099, Shares(900, 99)),
        (120_000, 0.6, 0.35, Shares(72_000, 42_000)),
        (7, 0.5, 0.5, Shares(3, 3)),
        (0, 0.6, 0.4, Shares(0, 0)),
        (1000, 0.0, 0.0, Shares(0, 0)),
        (1000, 1.0, 0.0, Shares(1000, 0)),
    ],
)
def test_shares_are_whole_tokens_and_never_above_the_window(
    window: int, full: float, segment: float, expected: Shares
) -> None:
    assert shares(window, full, segment) == expected
    assert sum(expected) <= window


@pytest.mark.parametrize(("full", "segment"), [(0.9, 0.101), (1.1, 0.0), (-0.1, 0.5), (0.5, -0.1)])
def test_shares_that_make_no_sense_are_refused(full: float, segment: float) -> None:
    with pytest.raises(ValueError, match="at most 1"):
        shares(1000, full, segment)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], []),
        ([(5, 6)], [(3, 8)]),
        ([(1, 1)], [(1, 3)]),  # not before the first line
        ([(20, 20)], [(18, 20)]),  # not after the last one
        ([(5, 5), (12, 12)], [(3, 7), (10, 14)]),
        ([(5, 5), (10, 10)], [(3, 12)]),  # the widened ones touch
        ([(5, 5), (11, 11)], [(3, 13)]),  # a gap of one line
        ([(10, 12), (5, 5), (11, 11)], [(3, 14)]),  # in any order, one inside the other
        ([(0, 4), (5, 3), (21, 22), (-3, -1)], []),  # nothing that can be shown
        ([(19, 40)], [(17, 20)]),  # beyond the last line is cut
    ],
)
def test_spans_are_merged(spans: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    assert merged(spans, 20, around=2, gap=1) == expected


def test_a_source_is_shown_with_its_place_and_line_numbers() -> None:
    source = Source(3, "a/b.py", 9, 10, "def f():\n    pass", "f")
    assert shown(source) == "[3] a/b.py:9-10 (f)\n9\tdef f():\n10\t    pass\n"


def test_everything_is_whole_when_everything_fits() -> None:
    found = [file("a", 3, (2, 2)), file("b", 4)]
    packed = pack(found, Shares(cost(3), cost(4)), words)
    assert [(source.number, source.path, source.is_whole) for source in packed.sources] == [
        (1, "a", True),
        (2, "b", True),
    ]
    assert (packed.n_tokens, packed.left_out, packed.cut) == (cost(3) + cost(4), (), ())


@pytest.mark.parametrize(("missing", "n_whole"), [(0, 2), (1, 1)])
def test_the_last_token_decides(missing: int, n_whole: int) -> None:
    packed = pack([file("a", 3), file("b", 4)], Shares(cost(3) + cost(4) - missing, 0), words)
    assert [source.is_whole for source in packed.sources] == [True] * n_whole
    assert packed.left_out == ("b",) * (2 - n_whole)


def test_a_large_file_does_not_keep_small_ones_out() -> None:
    found = [file("large", 500, (100, 102)), file("small", 5)]
    packed = pack(found, Shares(60, 100), words)
    assert [(source.path, source.start_line, source.end_line, source.is_whole) for source in packed.sources] == [
        ("large", 65, 137, False),  # it grew until the window was full
        ("small", 1, 5, True),
    ]
    assert packed.cut == ("large",)
    assert packed.sources[0].text == lines_of(found[0].text, 65, 137)
    assert packed.n_tokens == 160


def test_excerpts_stand_in_line_order_unless_they_are_wanted_as_found() -> None:
    found = [file("a", 300, (200, 200), (50, 50), (210, 210))]
    in_order = pack(found, Shares(0, 110), words)
    as_found = pack(found, Shares(0, 110), words, in_line_order=False)
    assert [source.start_line for source in in_order.sources] == [40, 190]
    assert [source.start_line for source in as_found.sources] == [190, 40]
    assert [source.number for source in as_found.sources] == [1, 2]


def test_the_best_excerpt_is_taken_first_and_cut_when_even_that_is_too_long() -> None:
    found = [file("a", 300, (200, 200), (50, 50))]
    assert [s.start_line for s in pack(found, Shares(0, cost(17)), words).sources] == [192]
    short = pack(found, Shares(0, cost(17) - 1), words)
    assert [(s.start_line, s.end_line) for s in short.sources] == [(193, 208)]  # the hit stays in the middle
    assert [(s.start_line, s.end_line) for s in pack(found, Shares(0, cost(1)), words).sources] == [(200, 200)]
    assert pack(found, Shares(0, 1), words).left_out == ("a",)


def test_a_hit_that_is_too_long_gives_its_beginning_and_a_worse_one_does_not_take_its_place() -> None:
    found = [file("a", 300, (200, 260), (50, 50))]
    assert [(s.start_line, s.end_line) for s in pack(found, Shares(0, cost(30)), words).sources] == [(200, 229)]


def test_no_file_takes_all_from_those_behind_it() -> None:
    found = [file("a", 900, (100, 400)), file("b", 900, (5, 300)), file("c", 900, (5, 300))]
    packed = pack(found, Shares(0, 1_600), words)
    n_lines = {source.path: source.end_line - source.start_line + 1 for source in packed.sources}
    assert n_lines["a"] > n_lines["b"] >= n_lines["c"] > 100
    assert packed.n_tokens > 1_590


def test_a_better_file_is_not_cut_for_a_worse_one_that_is_whole() -> None:
    found = [file("a", 400, (10, 40)), file("b", 400, (10, 40)), *(file(name, 20) for name in "cdefgh")]
    packed = pack(found, Shares(100, 60), words)
    assert [source.path for source in packed.sources][:2] == ["a", "b"][: len(packed.sources)]
    assert not any(source.is_whole for source in packed.sources)


def test_a_long_line_that_does_not_fit_is_left_out() -> None:
    packed = pack([Material("a", "x " * 5_000, ((1, 1),))], Shares(10, 10), words)
    assert (packed.sources, packed.left_out) == ((), ("a",))


@pytest.mark.parametrize(
    ("spans", "is_exact", "expected"),
    [
        (((100, 103), (50, 52)), False, [(42, 60), (92, 111)]),
        (((100, 103), (50, 52)), True, [(50, 52), (100, 103)]),
        (((50, 52), (57, 60)), True, [(50, 60)]),  # four lines between them are shown too
        (((50, 52), (58, 60)), True, [(50, 52), (58, 60)]),
    ],
)
def test_chosen_spans_are_shown_as_they_are(
    spans: tuple[tuple[int, int], ...], is_exact: bool, expected: list[tuple[int, int]]
) -> None:
    found = [file("a", 300, *spans)._replace(is_exact=is_exact)]
    room = sum(cost(end - start + 1) for start, end in expected)
    packed = pack(found, Shares(0, room), words)
    assert [(source.start_line, source.end_line) for source in packed.sources] == expected


@pytest.mark.parametrize(
    ("full", "segment", "expected"),
    [
        (cost(30) + cost(5) + cost(6), 0, []),
        (0, cost(30) + cost(5) + cost(6), []),  # everything fits in both shares together
        (cost(30) + cost(5) + cost(6) - 1, 0, [2]),
        (cost(30) + cost(5), cost(6) - 1, [2]),
        (cost(30), 0, [1, 2]),
        (cost(30) - 1, 0, [0]),  # the large one goes last
        (cost(5) - 1, 70, [0, 1, 2]),
    ],
)
def test_what_is_too_large_is_what_is_not_shown_whole(full: int, segment: int, expected: list[int]) -> None:
    found, budget = [file("a", 30), file("b", 5), file("c", 6)], Shares(full, segment)
    assert too_large(found, budget, words) == expected
    whole = {source.path for source in pack(found, budget, words).sources if source.is_whole}
    assert whole == {item.path for index, item in enumerate(found) if index not in expected}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("价格 = 计算(订单)\n" * 9, estimate),
        ("价格 = 计算(订单)\n" * 9, lambda text: len(text.encode())),
        ("😀 = '👩‍👩‍👧'\n" * 9, estimate),
        ("😀 = '👩‍👩‍👧'\n" * 9, lambda text: len(text.encode("utf-16-le"))),
        ("naïve = 'é'\r\n" * 9, len),
    ],
)
@pytest.mark.parametrize(("spare", "is_whole"), [(0, True), (1, True), (-1, False)])
def test_the_last_token_decides_in_every_script(text: str, count: CountTokens, spare: int, is_whole: bool) -> None:
    # With the widest number, for which room is kept.
    exact = count(shown(Source(9_999, "a.py", 1, 9, text.removesuffix("\n"))))
    packed = pack([Material("a.py", text)], Shares(exact + spare, 0), count)
    assert [source.is_whole for source in packed.sources] == [True] * is_whole
    assert packed.left_out == ("a.py",) * (not is_whole)
    cut = pack([Material("a.py", text)], Shares(0, exact + spare), count)
    assert [source.is_whole for source in cut.sources] == [is_whole]
    assert cut.n_tokens <= exact + spare


SIGNS = st.text(st.sampled_from(["a", " ", "\n", "中", "文", "😀", "\t", "{", "é"]), max_size=200)
SPANS = st.lists(st.tuples(st.integers(-2, 30), st.integers(-2, 30)), max_size=4).map(tuple)
FOUND = st.lists(st.builds(Material, st.sampled_from("abcd"), SIGNS, SPANS, is_exact=st.booleans()), max_size=5)


def by_bytes(text: str) -> int:
    return -(-len(text.encode()) // 3)


@given(FOUND, st.integers(0, 300), st.sampled_from([(0.6, 0.35), (0.9, 0.1), (0.0, 1.0), (1.0, 0.0), (0.3, 0.3)]))
def test_the_window_is_never_passed_and_no_line_is_shown_twice(
    found: list[Material], window: int, ratios: tuple[float, float]
) -> None:
    found = list({item.path: item for item in found}.values())
    budget = shares(window, *ratios)
    packed = pack(found, budget, by_bytes)
    assert (
        sum(by_bytes(shown(source)) for source in packed.sources)
        <= packed.n_tokens
        <= budget.full + budget.segment
        <= window
    )
    assert [source.number for source in packed.sources] == list(range(1, len(packed.sources) + 1))
    text_of = {item.path: item.text for item in found}
    seen: set[tuple[str, int]] = set()
    for source in packed.sources:
        assert source.text == lines_of(text_of[source.path].removesuffix("\n"), source.start_line, source.end_line)
        lines = {(source.path, line) for line in range(source.start_line, source.end_line + 1)}
        assert not seen & lines
        seen |= lines
    assert {source.path for source in packed.sources} | set(packed.left_out) == {item.path for item in found}


def test_a_text_far_above_the_window_is_not_counted_to_its_end() -> None:
    counted: list[int] = []

    def counting(text: str) -> int:
        counted.append(len(text))
        return estimate(text)

    text = "value = compute(value, other)\n" * 20_000
    files = [Material("a.py", text, ((500, 520),)), Material("b.py", text, ((9, 12),))]
    packed = pack(files, Shares(600, 400), counting)
    assert [source.is_whole for source in packed.sources] == [False, False]
    assert sum(counted) < len(text)
