"""Questions in words that ask for the history, and those that only sound like it."""

from __future__ import annotations

import pytest

from codefathom.search.question.history_words import asks_for_history

HISTORY = [
    "when was the retry limit introduced",
    "When was the retry limit first introduced?",
    "when were cookies added to the session",
    "when did we drop python 2",
    "when was pricing.py last changed",
    "since when does the client follow redirects",
    "who changed the timeout last",
    "who last touched the parser",
    "who wrote the tokenizer",
    "who introduced the cache",
    "who was the last person to change the scheduler",
    "why was the lock added",
    "why was the retry limit removed?",
    "why did they rename the adapter",
    "which commit removed the old parser",
    "what commits changed the retry limit",
    "in which commit was the header dropped",
    "which pull request introduced streaming",
    "the commit that broke the build",
    "find the commit which renamed Session",
    "please tell me when was the lock added"[len("please ") :],
    "重试限制是什么时候引入的",
    "谁最后修改了解析器",
    "哪个提交删除了旧的解析器",
]
CODE = [
    "when is the cache cleared",
    "why does retry wait",
    "when are items added to the queue",
    "who calls parse_query",
    "who uses the cache",
    "who closes the connection",
    "why is the lock held here",
    "why is a header removed on redirect",
    "when does the client give up",
    "when was",
    "what changed files are found",
    "what happens when a file was deleted",
    "what is done when a key was removed",
    "where are removed files dropped",
    "which files were changed",
    "how are commits parsed",
    "how is a commit message added",
    "how are added lines shown",
    "commit message parsing",
    "commits that are signed",
    "rename a branch",
    "who @@Client changed last",
    "who changed lang:go files",
    "why was the connection closed",
    "when was the response received",
    "in what order are middlewares added",
    "with which options is the parser introduced",
    "什么时候清除缓存",
    "为什么重试要等待",
    "谁调用了 parse_query",
    "",
    "when was " + "x" * 300 + " added",
]


@pytest.mark.parametrize(
    ("text", "is_history"), [*((text, True) for text in HISTORY), *((text, False) for text in CODE)]
)
def test_which_questions_ask_for_the_history(text: str, is_history: bool) -> None:
    assert asks_for_history(text) is is_history
