"""Words of one language → their translations into the other, Chinese and English.

Two lists say what a Chinese word means. `glossary.tsv` is written by hand: Chinese words that mean the same, a tab,
then the English for them, the best first; `-` in its place says that they carry nothing, as 的 and 如何 do.
`dictionary.tsv` is learned (`training/dictionary.py`): a word, a tab, English words with how sure each is. The glossary
goes before it. Both are read when a question needs them.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from codefathom.search.question.simplified import simplified
from codefathom.stores.lexical.terms import terms

GLOSSARY = os.path.join(os.path.dirname(__file__), "glossary.tsv")
DICTIONARY = os.path.join(os.path.dirname(__file__), "dictionary.tsv")
NOTHING = "-"  # in the glossary, in place of the English
MOST = 2_000  # Chinese characters of a text that are translated: a question has twenty
# One of them stands in almost every project that is commented in Chinese.
COMMON = ("返回", "获取", "设置", "参数", "数据", "使用", "如果", "是否", "文件", "用户")
_CHINESE = "[\u4e00-\u9fff]+"  # takes 1 ms to compile
_OTHERWISE = 0.5  # weight of what else a word can mean, beside the best
_REVERSED = 0.5  # weight of a Chinese word beside the English word that it translates
_LONGEST_PHRASE = 3  # English words that one Chinese word stands for
# What a piece of a cut costs: the sum is to be small.
_WRITTEN, _LEARNED, _UNKNOWN = 1.0, 1.1, 3.0  # a word of the glossary, one of the dictionary, a character of neither


class Vocabulary(NamedTuple):
    """Chinese words with the English of their line, which is read when a question holds them."""

    glossary: Mapping[str, str]
    learned: Mapping[str, str]
    longest: int  # characters of a word

    def cost(self, piece: str) -> float:
        """Return the price of a piece in a cut."""
        if piece in self.glossary:
            return _WRITTEN
        return _LEARNED if piece in self.learned else _UNKNOWN * len(piece)


def to_english(text: str) -> dict[str, float]:
    """Return the English words for the Chinese ones of a text, each from 0 to 1: 1 for the best of its word.

    The best come first, in the order of the text, so that words that belong together stand together.
    """
    best: dict[str, float] = {}
    others: dict[str, float] = {}
    for word in words_of(text):
        first, *rest = _translations(word)
        best |= first
        for english in rest:
            others |= english
    return best | {word: weight for word, weight in others.items() if word not in best}


def to_chinese(words: Sequence[str]) -> dict[str, float]:
    """Return the terms of the Chinese words for some English ones, as the lexical view holds them.

    Two or three words in a row may have one Chinese word ("thread pool", 线程池), and a plural that of its singular.
    """
    rows = [words[start:] for start in range(_LONGEST_PHRASE)]
    phrases = [" ".join(row) for n in range(1, _LONGEST_PHRASE + 1) for row in zip(*rows[:n], strict=False)]
    meant = [_reversed().get(one) or _reversed().get(one.removesuffix("s"), ()) for one in phrases]
    return {term: _REVERSED for chinese in meant for word in chinese for term in terms(word)}


def cut(run: str) -> list[str]:
    """Return the known words of a run of Chinese characters: the cut into long words that leaves least unknown.

    Of several cuts into as few words, the one whose first word is longest. Words that carry nothing are among them.
    """
    words = vocabulary()
    costs = [0.0] * (len(run) + 1)
    ends = [0] * len(run)
    for start in range(len(run) - 1, -1, -1):
        longest_first = range(min(len(run), start + words.longest), start, -1)
        costs[start], ends[start] = min(
            ((words.cost(run[start:end]) + costs[end], end) for end in longest_first), key=lambda pair: pair[0]
        )
    return list(_certain(list(_pieces(run, ends)), words))


def _certain(pieces: Sequence[str], words: Vocabulary) -> Iterator[str]:
    """Yield the known pieces, but no single character beside an unknown one: both are an unknown word (面包: bread)."""
    is_known = [True, *(piece in words.glossary or piece in words.learned for piece in pieces), True]
    for piece, before, own, after in zip(pieces, is_known, is_known[1:], is_known[2:], strict=False):
        if own and (len(piece) > 1 or (before and after)):
            yield piece


def _pieces(run: str, ends: Sequence[int]) -> Iterator[str]:
    start = 0
    while start < len(run):
        yield run[start : ends[start]]
        start = ends[start]


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text that can be translated, as far as the text is read (`MOST`)."""
    if text.isascii():
        return
    left = MOST
    for run in re.findall(_CHINESE, simplified(text)):
        yield from (word for word in cut(run[:left]) if vocabulary().glossary.get(word) != NOTHING)
        left -= len(run)
        if left <= 0:
            return


def _translations(word: str) -> list[dict[str, float]]:
    """Return the meanings of a word, the best first: English words with their weights."""
    words = vocabulary()
    if word in words.glossary:
        first, *rest = words.glossary[word].split(", ")
        return [dict.fromkeys(first.split(), 1.0), *(dict.fromkeys(one.split(), _OTHERWISE) for one in rest)]
    entries = [one.partition(":") for one in words.learned[word].split(" ")]
    surest = float(entries[0][2])
    return [{english: float(sure) / surest} for english, _, sure in entries]


@cache
def vocabulary() -> Vocabulary:
    """Return the words of both lists."""
    glossary = {word: english for chinese, english in _lines(GLOSSARY) for word in chinese.split(" ")}
    learned = {word: english for word, english in _lines(DICTIONARY) if word not in glossary}
    return Vocabulary(glossary, learned, max(map(len, (*glossary, *learned))))


def _lines(path: str) -> Iterator[tuple[str, str]]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                chinese, _, english = line.rstrip("\n").partition("\t")
                yield chinese, english


@cache
def _reversed() -> Mapping[str, Sequence[str]]:
    """Return English words, and words in a row, with the Chinese words of which they are the best translation.

    Read from the texts of both lists at once: a process that asks one question needs a few of thousands of lines.
    """
    chinese: dict[str, list[str]] = defaultdict(list)
    for path, best in (GLOSSARY, _BEST_WRITTEN), (DICTIONARY, _BEST_LEARNED):
        with open(path, encoding="utf-8") as file:
            for words, english in re.findall(best, file.read(), re.MULTILINE):
                # Each word once: so the weights of the ranking have been learned.
                key = " ".join(dict.fromkeys(english.split())) if " " in english else english
                chinese[key] += [word for word in words.split(" ") if len(word) > 1]
    del chinese[NOTHING]
    return chinese


_BEST_WRITTEN = r"^([^#\t\n][^\t\n]*)\t([^,\n]+)"
_BEST_LEARNED = r"^([^#\t\n][^\t\n]*)\t([^:\n]+)"
