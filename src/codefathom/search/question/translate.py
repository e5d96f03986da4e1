"""Words of one language → their translations into the other: a small learned dictionary, Chinese and English.

`training/dictionary.py` makes the file: a Chinese word, then English words with how sure each is, parted by tabs and
spaces. It is read when a question needs it.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from codefathom.stores.lexical.terms import terms

DICTIONARY = os.path.join(os.path.dirname(__file__), "dictionary.tsv")
_CHINESE = re.compile("[\u4e00-\u9fff]+")
_LONGEST = 6  # characters of a word
# One of them stands in almost every project that is commented in Chinese.
COMMON = ("返回", "获取", "设置", "参数", "数据", "使用", "如果", "是否", "文件", "用户")
_REVERSED = 0.5  # weight of a Chinese word beside the English word that it translates


def to_english(text: str) -> dict[str, float]:
    """Return the English words for the Chinese ones of a text, each from 0 to 1: 1 for the likeliest of its word."""
    translations: dict[str, float] = {}
    for run in _CHINESE.findall(text):
        for word in _cut(run):
            rows = _dictionary()[word]
            for english, sure in rows:
                translations[english] = max(translations.get(english, 0.0), sure / rows[0][1])
    return translations


def to_chinese(words: Iterable[str]) -> dict[str, float]:
    """Return the terms of the Chinese words for some English ones, as the lexical view holds them."""
    return {term: _REVERSED for word in words for chinese in _reversed().get(word, ()) for term in terms(chinese)}


def _cut(run: str) -> Iterable[str]:
    """Yield the known words of a run of characters, the longest that begins at each place first."""
    words = _dictionary()
    start = 0
    while start < len(run):
        end = next((end for end in range(min(len(run), start + _LONGEST), start, -1) if run[start:end] in words), 0)
        if end:
            yield run[start:end]
        start = end or start + 1


@cache
def _dictionary() -> dict[str, list[tuple[str, float]]]:
    with open(DICTIONARY, encoding="utf-8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        return {word: [_entry(one) for one in english.split(" ")] for word, english in rows}


def _entry(text: str) -> tuple[str, float]:
    word, _, sure = text.partition(":")
    return word, float(sure)


@cache
def _reversed() -> dict[str, list[str]]:
    """Return the Chinese words of which an English one is the likeliest translation."""
    words: dict[str, list[str]] = defaultdict(list)
    for chinese, rows in _dictionary().items():
        if len(chinese) > 1:
            words[rows[0][0]].append(chinese)
    return words
