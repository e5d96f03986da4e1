from __future__ import annotations

import pytest

from codefathom.search.ranking.copies import copying_files
from codefathom.search.ranking.signals import Candidate
from codefathom.types import Chunk


def body(name: str) -> str:
    return "".join(f"    {name}_total += {name}_part_{n}(self);\n" for n in range(5))


def candidate(path: str, name: str, text: str, n_lines: int) -> Candidate:
    return Candidate(0, Chunk(path + name, path, "c", "function", "", (name,), 1, 6, text), n_lines=n_lines)


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
