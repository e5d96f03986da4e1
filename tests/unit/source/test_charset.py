"""Old files are read in the encoding that they declare, or in the one that a project's old files share."""

from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.config.settings import declared_settings
from codefathom.source.charset import decode, known_encoding, likely_encoding, read_as, undecodable_lines
from codefathom.types import USUAL_ENCODING

SIMPLIFIED = (
    "计算订单的总金额，不含税",
    "打开配置文件并检查版本号",
    "如果缓存已经过期，就重新读取",
    "返回值：成功为零，失败为负数",
    "释放内存，避免泄漏",
    "用户登录失败三次以后锁定账号",
    "把字符串转换成小写字母",
    "等待所有线程结束",
)
TRADITIONAL = (
    "計算訂單的總金額，不含稅",
    "開啟設定檔並檢查版本編號",
    "如果快取已經過期，就重新讀取",
    "傳回值：成功為零，失敗為負數",
    "釋放記憶體，避免洩漏",
    "使用者登入失敗三次以後鎖定帳號",
    "把字串轉換成小寫字母",
    "等待所有執行緒結束",
)
JAPANESE = (
    "注文の合計金額を計算する",
    "設定ファイルを開いてバージョンを確認する",
    "キャッシュの有効期限が切れたら読み直す",
    "戻り値：成功は０、失敗は負の数",
    "メモリを解放する",
    "ログインに三回失敗したらアカウントをロックする",
    "文字列を小文字に変換する",
    "すべてのスレッドの終了を待つ",
)
KOREAN = (
    "주문의 합계 금액을 계산한다",
    "설정 파일을 열고 버전을 확인한다",
    "캐시가 만료되면 다시 읽는다",
    "메모리를 해제한다",
)
RUSSIAN = ("Вычислить сумму заказа без налога", "Открыть файл настроек и проверить версию", "Освободить память")
GERMAN = ("Berechnet die Summe der Aufträge für den Käufer", "Öffnet die Datei und prüft ihre Größe", "Jürgen Müller")
FRENCH = (
    "Calcule le total de la commande à payer",
    "Vérifie que le fichier a été créé",
    "René et François, mémoire libérée",
)

OLD = [
    (SIMPLIFIED, "gbk", "gb18030"),
    (TRADITIONAL, "big5", "big5hkscs"),
    (JAPANESE, "shift_jis", "cp932"),
    (JAPANESE, "euc_jp", "euc_jis_2004"),
    (KOREAN, "euc_kr", "cp949"),
    (RUSSIAN, "cp1251", "cp1251"),
    (RUSSIAN, "koi8_r", "koi8_r"),
    (GERMAN, "latin-1", USUAL_ENCODING),
    (FRENCH, "cp1252", USUAL_ENCODING),
]


def c_file(comment: str, encoding: str, number: int = 0) -> bytes:
    return f"#include <stdio.h>\n\n/* {comment} */\nint step_{number}(int a)\n{{\n    return a;\n}}\n".encode(encoding)


@pytest.mark.parametrize(("comments", "written", "read"), OLD)
def test_old_files_together_tell_their_encoding(comments: tuple[str, ...], written: str, read: str) -> None:
    files = [c_file(comment, written) for comment in comments]
    assert likely_encoding(map(undecodable_lines, files)) == read
    for comment, data in zip(comments, files, strict=True):
        text, is_assumed = decode(data, read)
        assert comment in text
        assert is_assumed


@pytest.mark.parametrize("line", ["# café", "// © 2004 Example", "/* 10 µs */", "// £5", "# Author: Jürgen Müller"])
@pytest.mark.parametrize("times", [1, 40])
def test_a_sign_here_and_there_is_no_other_alphabet(line: str, times: int) -> None:
    files = [f"{line}\nint a = {n};\n".encode("cp1252") for n in range(times)]
    assert likely_encoding(map(undecodable_lines, files)) == USUAL_ENCODING


def test_nothing_undecodable_tells_nothing() -> None:
    assert likely_encoding([]) == likely_encoding([b"", undecodable_lines("计算".encode())]) == USUAL_ENCODING


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("# -*- coding: gbk -*-\n", "gbk"),
        ("#!/usr/bin/env python\n# vim: set fileencoding=gb2312 :\n", "gbk"),
        ("# encoding: Shift_JIS\n", "shift_jis"),
        ("// -*- coding: big5 -*-\n", "big5"),
        ('<?xml version="1.0" encoding="GB2312"?>\n', "gbk"),
        ('<html><head>\n<meta http-equiv="Content-Type" content="text/html; charset=EUC-JP">\n', "euc_jp"),
        ("<!DOCTYPE html>\n<meta charset='windows-1251'>\n", "cp1251"),
        ('@charset "Shift_JIS";\n', "shift_jis"),
        ("# coding: iso-2022-jp\n", "iso2022_jp"),
    ],
)
def test_what_a_file_declares_comes_first(head: str, encoding: str) -> None:
    comments = {"gbk": SIMPLIFIED, "big5": TRADITIONAL, "cp1251": RUSSIAN}.get(encoding, JAPANESE)
    text = head + "\n".join(comments)
    assert decode(text.encode(encoding), "koi8_r") == (text, False)


@pytest.mark.parametrize(
    "name", ["rot13", "zlib", "hex", "base64", "unicode_escape", "utf-7", "idna", "punycode", "os", "../x", "undefined"]
)
def test_a_declaration_cannot_choose_what_is_no_character_set(name: str) -> None:
    data = f"# coding: {name}\n# 计算总和\n".encode()
    assert known_encoding(name) == ""
    assert decode(data) == (data.decode(), False)


def test_utf_8_beats_a_wrong_declaration() -> None:
    text = '<meta charset="gb2312">\n计算订单的总金额\n'
    assert decode(text.encode()) == (text, False)


def test_two_bytes_that_are_also_utf_8_are_what_the_file_declares() -> None:
    text = "# coding: gbk\n# 目\n"
    assert "目".encode("gbk").decode() != "目"
    assert decode(text.encode("gbk")) == (text, False)


def test_one_broken_byte_spoils_no_file() -> None:
    text = "\n".join(SIMPLIFIED)
    broken = text.encode().replace("释放".encode(), b"\xff" + "释放".encode())
    assert decode(broken) == (text.replace("释放", "\ufffd释放"), False)
    old = text.encode("gbk") + b"\n\xff\n"
    assert "用户登录失败三次以后锁定账号" in decode(old, "gb18030")[0]


def test_a_file_of_another_encoding_than_the_rest_is_read_as_ever() -> None:
    assert decode("# café \n".encode("latin-1"), "gb18030") == ("# café \n", True)


@given(st.binary(max_size=300), st.sampled_from([encoding for _, _, encoding in OLD]))
def test_any_bytes_are_decoded(data: bytes, assumed: str) -> None:
    text, _ = decode(data, assumed)
    text.encode("utf-8")  # no half characters that a database would refuse
    undecodable_lines(data).decode("latin-1")


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_any_bytes_look_like_something(samples: list[bytes]) -> None:
    codecs.lookup(likely_encoding(samples))


def test_every_setting_names_an_encoding() -> None:
    choices = next(known.rule.choices for known in declared_settings() if known.key == "source.encoding")
    assert [name for name in choices if name != "auto" and not known_encoding(name)] == []


def test_the_lines_that_are_looked_at_are_few() -> None:
    words = random.Random(1)
    data = "\n".join(words.choice(SIMPLIFIED) for _ in range(50_000)).encode("gbk")
    assert len(undecodable_lines(data)) <= 4_000


EAST_ASIA = [
    ("gb18030", SIMPLIFIED),
    ("big5hkscs", TRADITIONAL),
    ("cp932", JAPANESE),
    ("euc_jis_2004", JAPANESE),
    ("cp949", KOREAN),
]


@pytest.mark.parametrize(("written", "comments"), EAST_ASIA)
@pytest.mark.parametrize("assumed", [name for name, _ in EAST_ASIA])
def test_a_file_with_letters_enough_is_read_as_what_it_looks_like(
    written: str, comments: tuple[str, ...], assumed: str
) -> None:
    text = "".join(f"/* {comment} */\nint a;\n" for comment in comments)
    assert decode(text.encode(written), assumed) == (text, True)
    assert read_as(text.encode(written), assumed) == (assumed if assumed == written else f"{assumed}/{written}")


def test_files_in_several_encodings_together_are_each_read_in_their_own() -> None:
    files = {name: "".join(f"// {comment}\n" for comment in comments).encode(name) for name, comments in EAST_ASIA}
    assumed = likely_encoding(map(undecodable_lines, files.values()))
    assert {name: decode(data, assumed)[0] for name, data in files.items()} == {
        name: data.decode(name) for name, data in files.items()
    }


def test_one_short_line_is_read_as_the_others_of_its_project() -> None:
    line = "// 打开\n"
    assert decode(line.encode("gb18030"), "gb18030") == (line, True)
