"""Text → terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.stores.lexical import terms as terms_module
from codefathom.stores.lexical.terms import joined_terms, parts, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parseHTTPResponse2", "parsehttpresponse2 parse http response 2"),
        ("get_user_name", "get_user_name get user name"),
        ("__init__", "init"),
        ("_private", "private"),
        ("MAX_SIZE", "max_size max size"),
        ("HTTPServer", "httpserver http server"),
        ("IOError", "ioerror io error"),
        ("utf8", "utf8 utf 8"),
        ("sha256sum", "sha256sum sha 256 sum"),
        ("x", "x"),
        ("the end", "the end"),
        ("a.b->c::d", "a b c d"),
        ("$scope @Override #include", "scope override include"),
        ("3.14 0xFF 1_000", "3 14 0xff 0 x ff 1_000 1 000"),
        ("snake_caseMixed", "snake_casemixed snake case mixed"),
        ("___", ""),
        ("+-*/ \n\t", ""),
        ("", ""),
    ],
)
def test_identifiers_whole_and_split(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("größeÄndern", "größeändern größe ändern"),
        ("ÄndernHTML", "ändernhtml ändern html"),
        ("HTMLÄndern2", "htmländern2 html ändern 2"),
        ("имяПользователя", "имяпользователя имя пользователя"),
        ("größe_alt", "größe_alt größe alt"),
        ("שלום", "שלום"),
        ("文件", "文件"),
        ("读取文件内容", "读取 取文 文件 件内 内容"),
        ("読む", "読む"),
        ("字", "字"),
        ("設定ファイル", "設定 定フ ファ ァイ イル"),
        ("파일열기", "파일 일열 열기"),
        ("load配置File", "load 配置 file"),
        ("parseJson解析x2", "parsejson parse json 解析 x2 x 2"),
    ],
)
def test_other_scripts(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


def test_data_is_no_word() -> None:
    assert terms("a" * 65) == []
    assert terms("a" * 64) == ["a" * 64]
    assert terms("readFile" + "x" * 70) == ["read"]
    assert terms("aB" * 200) == []


def test_the_memory_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms_module, "_MAX_MEMO", 10)
    assert terms(" ".join(f"word{number}" for number in range(50)))[::3] == [f"word{number}" for number in range(50)]
    assert len(terms_module._memo) <= 10


@given(st.text())
def test_any_text_gives_lower_case_terms_without_space(text: str) -> None:
    words = terms(text)
    assert words == joined_terms(text).split()
    assert all(term == term.lower() and 0 < len(term) <= 3 * 64 for term in words)


@given(st.lists(st.sampled_from(["parse", "http", "größe", "42", "имя"]), min_size=2, max_size=5))
def test_the_parts_of_an_identifier_are_found_however_they_are_joined(parts: list[str]) -> None:
    assert terms("_".join(parts))[1:] == parts
    camel = "".join(part.capitalize() for part in parts)
    letters = [part for part in parts if part != "42"]
    assert [term for term in terms(camel)[len(parts) > 1 :] if not term.isdigit()] == letters


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("flat_hash_map", ["flat", "hash", "map"]),
        ("parseHTTP2", ["2", "http", "parse"]),
        ("hash", ["hash"]),
        ("operators.sum_all", ["all", "operators", "sum"]),
        ("数据库", ["据库", "数据"]),
        ("", []),
    ],
)
def test_the_parts_of_a_name_without_the_whole(name: str, expected: list[str]) -> None:
    assert parts(name) == expected
