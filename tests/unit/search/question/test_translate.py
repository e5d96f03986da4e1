from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.search.question import translate
from codefathom.search.question.ranking_query import STOP_WORDS
from codefathom.search.question.simplified import simplified
from codefathom.search.question.translate import (
    DICTIONARY,
    GLOSSARY,
    MOST,
    NOTHING,
    cut,
    to_chinese,
    to_english,
    vocabulary,
    words_of,
)
from codefathom.stores.lexical.terms import terms

NOTHING_SAID = (
    *("的", "中", "在", "了", "吗", "呢", "是", "和", "与", "把", "被", "使用", "一个", "哪些"),
    *("怎么", "怎样", "如何", "哪里", "什么", "为什么", "是否"),
)
HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=60)


def lines_of(path: str) -> list[str]:
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def glossary_rows() -> list[tuple[list[str], str]]:
    rows = (line.split("\t") for line in lines_of(GLOSSARY) if not line.startswith("#"))
    return [(chinese.split(" "), english) for chinese, english in rows]


@pytest.mark.parametrize(
    ("chinese", "words"),
    [
        ("连接池的默认参数", ["连接池", "的", "默认参数"]),
        ("线程池怎么关闭", ["线程池", "怎么", "关闭"]),
        ("正则表达式", ["正则表达式"]),
        ("确定有限自动机的搜索", ["确定有限自动机", "的", "搜索"]),
        ("在中间件里记录日志", ["在", "中间件", "里", "记录日志"[:2], "日志"]),
        ("龘龘缓存龘", ["缓存"]),
        ("如何烤面包", ["如何"]),  # 包 is a package, but 面包 is bread
        ("解析包头", ["解析"]),
        ("删除包", ["删除", "包"]),
        ("", []),
    ],
)
def test_a_run_is_cut_into_long_words(chinese: str, words: list[str]) -> None:
    assert cut(chinese) == words


def test_fewer_words_count_more_than_the_first_long_one() -> None:
    # 静态文 and 文件名 would both begin well; 静态文件 + 名 leaves a character, 静态 + 文件名 leaves none.
    assert cut("静态文件名") == ["静态", "文件名"]


@given(HAN)
def test_a_cut_holds_known_words_in_the_order_of_the_text(run: str) -> None:
    words = vocabulary()
    place = 0
    for word in cut(run):
        assert word in words.glossary or word in words.learned
        place = run.index(word, place) + len(word)


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("缓存", ["cache"]),
        ("中间件", ["middleware"]),
        ("请求超时", ["request", "timeout"]),
        ("数据库连接", ["database", "connection"]),
        ("连接池", ["connection", "pool"]),
        ("反转链表", ["reverse", "linked", "list"]),
        ("跨站请求伪造", ["csrf"]),
        ("正则", ["regex"]),
        ("环境变量", ["environment", "variable"]),
    ],
)
def test_chinese_words_bring_the_best_english_ones_in_their_order(chinese: str, english: list[str]) -> None:
    best = [word for word, weight in to_english(chinese).items() if weight == 1.0]
    assert best == english


@pytest.mark.parametrize(
    ("chinese", "others"),
    [("删除", ["remove"]), ("语法树", ["ast"]), ("数据库", ["db"]), ("函数", ["func"]), ("异步", ["async"])],
)
def test_synonyms_and_abbreviations_count_less(chinese: str, others: list[str]) -> None:
    translations = to_english(chinese)
    assert max(translations.values()) == 1.0
    assert all(0 < translations[other] < 1 for other in others)
    assert list(translations.values()) == sorted(translations.values(), reverse=True)


@pytest.mark.parametrize("word", NOTHING_SAID)
def test_words_that_carry_nothing_are_never_translated(word: str) -> None:
    assert to_english(word) == {}
    assert to_english(f"{word}缓存{word}") == to_english("缓存")


@pytest.mark.parametrize("question", ["在的中反", "这个的作用是什么", "反斜杠在哪里处理", "在哪里用到了它"])
def test_no_word_means_python_and_a_reversal_is_no_backslash(question: str) -> None:
    assert "python" not in to_english(question)
    assert ("backslash" in to_english(question)) == ("反斜杠" in question)


@pytest.mark.parametrize("text", ["", "plain English", "龘龘龘", "Router 123", "naïve café", "カタカナ", "한국어"])
def test_what_is_not_known_brings_nothing(text: str) -> None:
    assert to_english(text) == {}


@pytest.mark.parametrize(
    ("mixed", "plain"),
    [
        ("HTTP请求的headers怎么解析", "请求怎么解析"),
        ("用 asyncio 实现任务队列", "实现 任务队列"),
        ("缓存（LRU）", "缓存"),
        ("缓存。\n\n队列", "缓存队列"),
    ],
)
def test_what_stands_between_chinese_words_changes_nothing(mixed: str, plain: str) -> None:
    assert to_english(mixed) == to_english(plain)


@pytest.mark.parametrize(
    ("traditional", "same"),
    [
        ("資料庫連線池", "数据库连接池"),
        ("執行緒", "线程"),
        ("非同步迴圈", "异步循环"),
        ("設定檔", "配置文件"),
        ("拋出例外", "抛出异常"),
        ("繼承", "继承"),
    ],
)
def test_traditional_characters_and_taiwanese_words_mean_the_same(traditional: str, same: str) -> None:
    best = [word for word, weight in to_english(traditional).items() if weight == 1.0]
    assert best == [word for word, weight in to_english(same).items() if weight == 1.0]


@given(st.text(max_size=80))
def test_a_text_keeps_its_length_and_simplified_characters_stay(text: str) -> None:
    assert len(simplified(text)) == len(text)
    assert simplified(simplified(text)) == simplified(text)
    assert not text.isascii() or simplified(text) == text


@pytest.mark.parametrize("piece", ["缓存", "线", "龘", "的", "缓x", "確定有限自動機"])
def test_a_very_long_text_is_cut_only_at_its_beginning(piece: str) -> None:
    assert to_english(piece * 50_000) == to_english(piece * MOST)
    assert len(list(words_of(piece * 50_000))) <= MOST


def test_what_comes_after_the_limit_is_not_translated() -> None:
    assert "cache" in to_english("龘" * (MOST - 2) + "缓存")
    assert "cache" not in to_english("龘" * MOST + "缓存")
    assert "cache" not in to_english("龘 " * MOST + "缓存")


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        (["database"], "数据库"),
        (["delete"], "删除"),
        (["how", "thread", "pool", "closes"], "线程池"),
        (["deadlock"], "死锁"),
        (["thread", "pools"], "线程池"),
        (["process"], "进程"),
        (["abstract", "syntax", "tree"], "语法树"),
    ],
)
def test_english_words_bring_the_terms_that_the_lexical_view_holds(english: list[str], chinese: str) -> None:
    translations = to_chinese(english)
    assert set(terms(chinese)) <= set(translations)
    assert all(0 < value < 1 for value in translations.values())


def test_every_chinese_word_is_brought_by_its_best_translation() -> None:
    words = vocabulary()
    for word in (*words.glossary, *words.learned):
        best = next(iter(to_english(word)), "")
        if len(word) > 1 and words.glossary.get(word) != NOTHING and cut(word) == [word] and best:
            first = [english for english, value in to_english(word).items() if value == 1.0]
            if len(set(first)) == 1:
                assert set(terms(word)) <= set(to_chinese(first)), (word, first)


def test_an_english_question_does_not_read_what_each_chinese_word_means() -> None:
    for kept in (vocabulary, translate._reversed):
        kept.cache_clear()
    assert to_chinese(["database"])
    assert vocabulary.cache_info().currsize == 0


@pytest.mark.parametrize("words", [[], ["nosuchword"], ["pool", "thread"][:0], ["-"], ["的"]])
def test_english_that_no_chinese_word_means_brings_nothing(words: list[str]) -> None:
    assert to_chinese(words) == {}


def test_the_glossary_is_large_and_well_formed() -> None:
    rows = glossary_rows()
    english = re.compile(r"-|[a-z0-9]+(?: [a-z0-9]+)*(?:, [a-z0-9]+(?: [a-z0-9]+)*)*")
    assert [row for row in rows if not english.fullmatch(row[1])] == []
    words = Counter(word for chinese, _ in rows for word in chinese)
    assert [word for word, n in words.items() if n > 1 or not re.fullmatch("[\u4e00-\u9fff]+", word)] == []
    assert sum(len(chinese) for chinese, english in rows if english != NOTHING) >= 2_500


def test_each_english_of_the_glossary_says_something_once() -> None:
    for chinese, english in glossary_rows():
        meanings = english.split(", ")
        assert len(set(meanings)) == len(meanings), chinese
        assert english == NOTHING or not any(set(one.split()) <= STOP_WORDS for one in meanings), chinese


def test_each_word_is_written_as_it_is_looked_up() -> None:
    assert [word for word in vocabulary().glossary if simplified(word) != word] == []


def test_the_dictionary_is_sorted_and_adds_to_the_glossary() -> None:
    lines = lines_of(DICTIONARY)
    assert len(lines) > 500
    assert lines == sorted(lines, key=lambda line: line.partition("\t")[0])
    entry = re.compile(r"[\u4e00-\u9fff]{2,}\t[a-z]+:[01]\.\d\d(?: [a-z]+:[01]\.\d\d){0,3}")
    assert [line for line in lines if not entry.fullmatch(line)] == []
    assert {line.partition("\t")[0] for line in lines}.isdisjoint(vocabulary().glossary)
