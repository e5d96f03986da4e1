from __future__ import annotations

import re

import pytest

from codefathom.search.question.translate import DICTIONARY, to_chinese, to_english
from codefathom.stores.lexical.terms import terms


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("缓存", "cache"),
        ("中间件", "middleware"),
        ("请求超时", "timeout"),
        ("数据库连接", "connection"),
        ("路由", "route"),
    ],
)
def test_a_chinese_word_brings_english_ones(chinese: str, english: str) -> None:
    assert to_english(chinese)[english] > 0.5


def test_the_likeliest_counts_1_and_no_other_more() -> None:
    translations = to_english("注册")
    assert max(translations.values()) == 1.0
    assert all(0 < value <= 1 for value in translations.values())


def test_the_longest_known_word_is_taken() -> None:
    assert "database" in to_english("数据库")
    assert "data" not in to_english("数据库")


@pytest.mark.parametrize("text", ["", "plain English", "龘龘龘", "Router 123"])
def test_what_is_not_known_brings_nothing(text: str) -> None:
    assert to_english(text) == {}


def test_an_english_word_brings_the_terms_that_the_lexical_view_holds() -> None:
    translations = to_chinese(["database"])
    assert set(terms("数据库")) <= set(translations)
    assert all(0 < value < 1 for value in translations.values())
    assert to_chinese(["nosuchword"]) == {}


def test_the_file_is_sorted_and_well_formed() -> None:
    with open(DICTIONARY, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert len(lines) > 3_000
    assert lines == sorted(lines, key=lambda line: line.partition("\t")[0])
    entry = re.compile(r"[\u4e00-\u9fff]+\t[a-z]+:[01]\.\d\d(?: [a-z]+:[01]\.\d\d){0,3}")
    assert [line for line in lines if not entry.fullmatch(line)] == []
