from __future__ import annotations

import pytest

from codefathom.search.question.query import parse_query
from codefathom.search.question.ranking_query import LONG, RankingQuery, analyse, focused, without_project

ISSUE = """Router drops the trailing slash

When a route is registered with a slash at its end, requests without it are redirected. We expected a plain match, as
the documentation of the matcher says. Steps: create an application, register the handler below, send a request with
curl and look at the headers of the response; then do the same without redirects. The handler is never called there.
"""


def of(question: str, *, in_chinese: bool = False) -> RankingQuery:
    return analyse(parse_query(question), in_chinese=in_chinese)


def test_stop_words_are_left_out_unless_nothing_else_is_there() -> None:
    assert of("how is the token parsed").terms == ("token", "parsed")
    assert of("how is it").terms == ("how", "is", "it")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("URLs, IDs and APIs", "url id api"),
        ("TeX on iOS, LaTeX", "tex ios latex"),
        ("the user's x in v2 of HTTP/2", "user v2 http"),
        ("parseURLs", "parseurls parse ur ls"),
        ("error 404", "error 404"),
        ("x", "x"),
        ("2", "2"),
    ],
)
def test_letters_and_digits_are_no_terms_and_acronyms_have_a_plural(question: str, words: str) -> None:
    assert " ".join(of(question).terms) == words


def test_of_a_long_text_words_that_stand_nowhere_take_no_place() -> None:
    query = of(ISSUE)
    query = query._replace(rarity=dict.fromkeys(query.terms, 1.0) | {"slash": 9.0})
    assert "slash" in focused(query).terms
    few = focused(query, nowhere={"slash"})
    assert ("slash" in few.terms, "slash" in few.minor_terms, len(few.terms)) == (False, True, LONG)


def test_a_word_stands_once() -> None:
    assert of("token of a token").terms == ("token",)


@pytest.mark.parametrize(
    ("question", "symbols"),
    [
        ("parse_config", ("parse_config",)),
        ("where is parse_config called", ("parse_config",)),
        ("HttpClient and httpClient", ("HttpClient", "httpClient")),
        ("absl::StrCat for strings", ("absl::StrCat",)),
        ("@@Order.price", ("Order.price",)),
        ("how are chunks cut", ()),
    ],
)
def test_symbols_are_what_no_english_word_looks_like(question: str, symbols: tuple[str, ...]) -> None:
    assert of(question).symbols == symbols


def test_chinese_words_bring_their_english_ones() -> None:
    query = of("中间件如何注册")
    assert {"middleware", "register"} <= set(query.terms)
    assert query.weights["middleware"] == query.weights["register"] == 1.0
    assert 0 < query.weights["registration"] < 1
    assert "middleware register" in query.meaning
    assert "registration" not in query.meaning  # the best say what is meant, the others only find
    assert "中间" in query.terms  # the code may be commented in Chinese
    assert query.depth == of("middleware").depth == 1


def test_a_stop_word_is_none_in_a_translation_either() -> None:
    assert set(of("端到端").weights) & {"end", "to"} == {"end"}


@pytest.mark.parametrize(
    ("question", "tests", "prose"),
    [
        ("单元测试怎么写", True, False),
        ("安装说明", False, True),
        ("在文档里引用其他文件", False, False),  # 文档 is a document first, documentation only among others
        ("缓存", False, False),
    ],
)
def test_only_the_best_translations_say_what_a_question_is_about(question: str, tests: bool, prose: bool) -> None:
    query = of(question)
    assert (query.about_tests, query.about_prose) == (tests, prose)


def test_english_words_bring_chinese_ones_where_the_code_is_commented_so() -> None:
    assert "缓存" in of("cache", in_chinese=True).terms
    assert all(term.isascii() for term in of("cache").terms)


def test_runs_are_words_in_a_row_as_one() -> None:
    runs = of("Flat hash-map, catalog").runs
    assert {"flat", "flathash", "flathashmap", "hashmap", "catalog"} <= runs
    assert "log" not in runs


def test_of_a_long_text_the_rare_words_and_those_of_the_title_remain() -> None:
    long = of(ISSUE)
    assert len(long.terms) > LONG
    query = focused(long._replace(rarity=dict.fromkeys(long.terms, 1.0)))
    assert len(query.terms) == LONG
    assert {"router", "trailing", "slash"} <= set(query.terms)
    assert set(query.minor_terms) == set(long.terms) - set(query.terms)
    assert query.weights["slash"] == 1.0 > query.weights["router"] > max(query.minor_terms.values())
    assert not query.about_prose  # an issue that mentions the documentation is not about it


def test_a_short_question_stays_as_it_is() -> None:
    short = of("trailing slash")
    assert focused(short) is short


def test_words_that_say_nothing_are_left_out_unless_nothing_else_is_there() -> None:
    query = of("中间件如何注册")
    rarity = {term: float(term.isascii()) for term in query.terms}
    assert {"middleware", "register"} <= set(focused(query._replace(rarity=rarity)).terms)
    assert all(term.isascii() for term in focused(query._replace(rarity=rarity)).terms)
    assert focused(query._replace(rarity=dict.fromkeys(query.terms, 0.0))).terms == query.terms


@pytest.mark.parametrize(
    ("question", "project", "dropped"),
    [
        ("how does gin recover from a panic", "gin", {"gin"}),
        ("Gin: recover from a panic", "gin", {"gin"}),
        ("recover from a panic in telescope", "telescope.nvim", {"telescope"}),
        ("recover from a panic in absl", "abseil-cpp", set()),
        ("gin panic", "gin", set()),  # too little would be left
        ("gin", "gin", set()),
        ("@@gin recover panic", "gin", set()),  # a symbol, not the project
        ("how does the search engine rank", "search-engine", set()),  # this may well be what is asked about
        ("how does gin recover from a panic", "", set()),
        ("how does gin recover from a panic", "lib", set()),
        (" ".join(["gin", *(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]), "gin", set()),  # a long text
    ],
)
def test_the_name_of_the_project_says_nothing_in_a_question_about_it(
    question: str, project: str, dropped: set[str]
) -> None:
    asked = of(question)
    assert set(asked.terms) - set(without_project(asked, project).terms) == dropped
