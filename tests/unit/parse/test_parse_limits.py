"""A file that is not what its name says costs seconds, not minutes, and what can be found in it is found."""

from __future__ import annotations

import json
import random

import pytest

from codefathom.parse.treesitter import parse
from codefathom.types import Document, ParsedDocument


def parsed(language: str, text: str) -> ParsedDocument:
    document = parse(Document(f"src/a.{language}", language, text, "f1", len(text.encode())))
    assert document is not None
    return document


@pytest.mark.parametrize(("language", "sign"), [("bash", "("), ("scala", "`"), ("csharp", "x<"), ("haskell", "\\\n")])
def test_a_file_of_one_sign_is_not_parsed(language: str, sign: str) -> None:
    assert list(map(str, parsed(language, sign * 100_000).problems)) == ["repeats itself too much to be code"]


@pytest.mark.parametrize("language", ["lua", "kotlin"])
def test_data_under_the_name_of_code_is_given_up(language: str) -> None:
    text = json.dumps([{f"a{number}": [number, str(number)]} for number in range(14_000)], indent=1)
    assert list(map(str, parsed(language, text).problems)) == ["too broken to be parsed in time"]


@pytest.mark.parametrize(("language", "text"), [("powershell", "->" * 2_000), ("javascript", "->" * 3_500)])
def test_a_few_kilobytes_that_take_seconds_are_given_up_after_so_many_steps(language: str, text: str) -> None:
    assert list(map(str, parsed(language, text).problems)) == ["too broken to be parsed in time"]


def test_one_broken_place_in_a_large_file_hides_nothing_behind_it() -> None:
    chance = random.Random(3)
    names = [f"f{chance.getrandbits(64):x}" for _ in range(1_200)]
    parts = [f"def {name}(a):\n    return {chance.getrandbits(200)} + a\n\n" for name in names]
    document = parsed("python", "".join([*parts[:600], "x = = )\n", *parts[600:]]))
    assert len(document.document.text) > 64_000  # parsed by the clock
    assert {symbol.name for symbol in document.symbols} >= {*names[:599], *names[602:]}
    assert list(map(str, document.problems)) == ["syntax error at line 1801"]


def test_a_command_with_thousands_of_words_is_read_at_once() -> None:
    chance = random.Random(3)
    words = " ".join(f"w{chance.getrandbits(64):x}" for _ in range(3_000))
    document = parsed("powershell", f"using {words}\nusing module ./a.psm1\nfunction b {{ }}\n")
    assert [symbol.name for symbol in document.symbols] == ["b"]
    assert [item.name for item in document.references if item.kind == "import"] == ["./a.psm1"]
