from __future__ import annotations

import pytest

from codefathom.search.ranking.copies import copying_files
from codefathom.search.ranking.signals import Candidate
from codefathom.types import Chunk


def body(name: str) -> str:
    return "".join(f"    {name}_total += {name}_part_{n}(self);\n" for n in range(5))


def candidate(path: str, name: str, text: str, n_lines: int) -> Candidate:
    return Candidate(0, Chunk(path + name, path, "c", "function", "", (name,), 1, 6, text), n_lines=n_lines)


def section(path: str, name: str, text: str, n_lines: int) -> Candidate:
    return Candidate(0, Chunk(path + name, path, "rst", "section", "", (name,), 1, 6, text), n_lines=n_lines)


def lines(n: int) -> str:
    """Return so many lines of 16 letters and signs, the fewest that count."""
    return "".join(f"    total_{k:02} = part;\n" for k in range(n))


def both(path: str = "all.c", n_lines: int = 1600) -> list[Candidate]:
    return [candidate(path, name, f"/* gathered */\n{body(name)}", n_lines) for name in ("lift", "turn")]


def small(*names: str, folder: str = "src", text: str = "") -> list[Candidate]:
    return [candidate(f"{folder}/{name}.c", name, text or body(name), 40) for name in names]


@pytest.mark.parametrize(
    ("candidates", "copies"),
    [
        ([*both(), *small("lift", "turn")], {"all.c"}),
        ([*small("lift", "turn"), *both("x/y.h")], {"x/y.h"}),
        ([*both(), *small("lift")], set()),  # one function that two files have
        ([*both(n_lines=100), *small("lift", "turn")], set()),  # not much larger
        ([*both(), *small("lift", "turn", folder="tests")], set()),  # a test repeats the code
        ([*both(), *small("lift", "turn", text="    return something_else(self);\n" * 5)], set()),  # namesakes
        ([*both(), *small("lift", "turn", text="// comment about this function\n" * 5)], set()),
        ([], set()),
    ],
)
def test_a_file_with_whole_chunks_of_smaller_files_is_made_of_them(
    candidates: list[Candidate], copies: set[str]
) -> None:
    assert copying_files(candidates) == copies


@pytest.mark.parametrize(
    ("n_large", "n_small", "is_copy"),
    [(1_500, 500, True), (1_499, 40, False), (1_500, 501, False), (1_500, 1, True), (1_500, 0, False)],
)
def test_a_copy_is_large_and_three_times_as_large_as_each_original(n_large: int, n_small: int, is_copy: bool) -> None:
    originals = [candidate(f"src/{name}.c", name, body(name), n_small) for name in ("lift", "turn")]
    assert copying_files([*both(n_lines=n_large), *originals]) == ({"all.c"} if is_copy else set())


def whole(text_of_small: str, text_of_large: str) -> bool:
    """Return True if a file that has two chunks with this text is taken for a copy of files that have the other one."""
    large = [candidate("all.c", name, text_of_large, 1_600) for name in ("lift", "turn")]
    return bool(copying_files([*large, *small("lift", "turn", text=text_of_small)]))


def test_a_copy_has_nearly_all_long_lines() -> None:
    assert whole(lines(3), lines(3))
    assert not whole(lines(2), lines(2))  # too few tell nothing
    assert not whole("    x = part_1;\n" * 1 + "    y = 1;\n" * 8, "    x = part_1;\n    y = 1;\n")
    assert whole(lines(5), lines(4))  # four of five
    assert not whole(lines(4), lines(3))  # three of four
    assert whole("x = 1;\n" + lines(3), lines(3))  # short lines do not count
    assert whole("// a comment of the small file\n" + lines(3), lines(3))


def test_names_are_compared_by_their_last_part_and_headings_never() -> None:
    large = [candidate("all.c", f"shop.{name}", body(name), 1_600) for name in ("lift", "turn")]
    originals = [candidate(f"src/{name}.c", f"Part.{name}", body(name), 40) for name in ("lift", "turn")]
    assert copying_files([*large, *originals]) == {"all.c"}
    headings = [section("all.rst", name, body(name), 1_600) for name in ("lift", "turn")]
    assert copying_files([*headings, *small("lift", "turn")]) == set()
    quoted = [section(f"doc/{name}.rst", name, body(name), 40) for name in ("lift", "turn")]
    assert copying_files([*both(), *quoted]) == set()
    assert copying_files([*both(), *quoted, *small("lift", "turn")]) == {"all.c"}  # these hide no others


def test_a_name_that_many_places_of_large_files_define_tells_nothing() -> None:
    def namesakes(n: int) -> list[Candidate]:
        return [candidate(f"big{k}.c", name, body(name), 1_600) for name in ("lift", "turn") for k in range(n)]

    assert len(copying_files([*namesakes(8), *small("lift", "turn")])) == 8
    assert copying_files([*namesakes(9), *small("lift", "turn")]) == set()


def test_two_places_of_one_small_file_are_one_original() -> None:
    twice = [candidate("src/a.c", name, body(name), 40) for name in ("lift", "turn")]
    assert copying_files([*both(), *twice]) == set()
    assert copying_files([*both(), *twice, *small("turn")]) == {"all.c"}
