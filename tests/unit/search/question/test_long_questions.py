"""Whatever a question of the greatest length holds, it is taken apart in time that grows with its length."""

from __future__ import annotations

import time

import pytest

from codefathom.errors import UsageError
from codefathom.search.question.frames import MAX_FRAMES, Frame, frames
from codefathom.search.question.planner import overruled, plan
from codefathom.search.question.query import MAX_QUESTION, check_length, parse_query
from codefathom.search.question.ranking_query import analyse

# A hundred times what it takes; one that is read again from each of its characters takes minutes.
LIMIT_S = 60.0
CHINESE = "".join(map(chr, range(0x4E00, 0x4E00 + 5_000)))
PASTED = "\n" * 8

PIECES = {
    "Chinese": CHINESE,
    "known Chinese words": "返回获取设置参数数据使用如果是否文件用户",
    "Chinese and Latin": "a漢",
    "one word": "a",
    "one number": "1",
    "words": " ".join(f"w{n}" for n in range(20_000)),
    "words that are pasted": PASTED + " ".join(f"w{n}" for n in range(20_000)),
    "capitals": "aB",
    "underscores": "_",
    "dots": ".",
    "parts of a name": "a.b",
    "slashes": "a/",
    "backslashes": "a\\",
    "colons": "a::",
    "quotes": '"',
    "phrases": '"a" ',
    "open quotes in words": 'a"b',
    "brackets": "(",
    "square brackets": "[",
    "braces": "{",
    "a place and its lines": ":1",
    "a path mark with lines": "@a" + ":1" * 49_990 + "/",
    "a path mark and dots": "@a/" + "." * 99_000 + "x",
    "a path mark and stops": "@a/b" + ".," * 49_000 + "x",
    "path marks": "@src/a.py ",
    "different path marks": " ".join(f"@src/f{n}.py" for n in range(8_000)),
    "symbol marks": " ".join(f"@@f{n}" for n in range(10_000)),
    "filters": "lang:go ",
    "different filters": " ".join(f"lang:go{n}" for n in range(8_000)),
    "filters of lines": "lines:1..2 ",
    "a filter with braces": "path:" + "{a," * 33_000,
    "a filter with brackets": "path:" + "[a" * 49_000,
    "a filter with stars": "path:" + "**/" * 33_000,
    "a path mark with stars": "@a/" + "*" * 99_000,
    "places of a trace": "a/b.py:3 ",
    "no places of a trace": ".a",
    "lines of a trace": "\n at x(x:",
    "one line of a trace": "  at " + "x(x:" * 24_000,
    "files of a trace": 'File "a", line ',
    "an open file of a trace": 'File "' + "a" * 90_000,
    "blank lines": " \n",
    "fences": PASTED + "```\n",
    "comments": PASTED + "<!--",
    "a form": PASTED + "**a**",
    "marks of an expression": "[a-z",
    "alternatives": "(a|",
}


@pytest.mark.parametrize("name", PIECES)
def test_time_grows_with_length(name: str) -> None:
    piece = PIECES[name]
    text = (piece * (MAX_QUESTION // len(piece) + 1))[:MAX_QUESTION]
    began = time.thread_time()
    query = parse_query(text)
    plan(query, lambda _: False)
    overruled("graph", query)
    analyse(query, in_chinese=True)
    frames(text)
    assert time.thread_time() - began < LIMIT_S


def test_what_is_longer_is_refused_with_both_numbers_and_a_remedy() -> None:
    check_length("a" * MAX_QUESTION)
    for ask in (check_length, parse_query):
        with pytest.raises(UsageError) as caught:
            ask("返" * 1_000_000)
        assert str(caught.value) == "the question has 1,000,000 characters, at most 100,000 are allowed"
        assert "shorten it" in caught.value.hint


# ---- places of a trace, read in one pass


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("C:\\app\\main.cs:line 7", [("C:/app/main.cs", 7)]),
        ("at f (/x/y.js:3:5)", [("/x/y.js", 3)]),
        ("a.py:3.b:4", [("a.py", 3), (".b", 4)]),
        ("foo_:12.py:3", [("12.py", 3)]),
        ("x.C:4 C:/y.py:5", [("x.C", 4), ("C:/y.py", 5)]),
        ('xFile "a b.py", line 3', [("a b.py", 3)]),
        ("a.php on line 3 b.php(4) (B.java:5)", [("a.php", 3), ("b.php", 4), ("B.java", 5)]),
        ("a.b-c:3 a.1:3 a.abcdefghijkl:3 .:3 a:3", []),
        (f"a.py:{'9' * 5_000} b.py:3", [("b.py", 3)]),
        (f'File "a.py", line {"9" * 5_000}', []),
    ],
)
def test_places(text: str, places: list[tuple[str, int]]) -> None:
    assert frames(text) == [Frame(*place) for place in places]
    assert len(places) <= MAX_FRAMES
