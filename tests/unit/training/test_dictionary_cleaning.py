from __future__ import annotations

import pytest
from training.dictionary import SUREST, cleaned, present, projects

from codefathom.search.question.translate import DICTIONARY, vocabulary


@pytest.mark.parametrize(
    ("word", "rows", "kept"),
    [
        ("缓冲区", [("buffer", 0.6), ("buffers", 0.2)], [("buffer", 0.6), ("buffers", 0.2)]),
        ("的", [("buffer", 0.9)], None),  # a single character
        ("缓存", [("buffer", 0.9)], None),  # the glossary knows it
        ("说法", [("python", 0.5)], None),  # the project of the texts
        ("说法", [("python", 0.5), ("saying", SUREST)], [("saying", SUREST)]),
        ("说法", [("saying", SUREST - 0.01)], None),
        ("说法", [], None),
    ],
)
def test_what_is_likelier_an_accident_is_left_out(
    word: str, rows: list[tuple[str, float]], kept: list[tuple[str, float]] | None
) -> None:
    assert cleaned({word: rows}, {"缓存"}, {"python"}).get(word) == kept


def test_the_file_of_the_package_is_clean() -> None:
    words = present()
    assert words
    assert cleaned(words, vocabulary().glossary, projects()) == words, f"run --clean over {DICTIONARY}"
    assert "python" in projects()
