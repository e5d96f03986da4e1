"""Questions in Chinese about code in English, and the reverse."""

from __future__ import annotations

import pytest

from codefathom import Engine

FILES = {
    "cache.py": '"""Values that are kept."""\n\ndef evict_expired(entries):\n    """Remove expired cache entries."""\n',
    "python_loader.py": '"""Loads python files."""\n\ndef load_python(path):\n    """Run a python file."""\n',
    "escapes.py": '"""Escapes."""\n\ndef backslash(text):\n    """Double each backslash."""\n',
    "pool.py": '"""Threads."""\n\nclass ThreadPool:\n    """Limits how many threads run."""\n',
    "orders.py": '"""订单。"""\n\ndef f1(rows):\n    # 回滚数据库事务\n    return rows\n',
    "mails.py": '"""邮件。"""\n\ndef f2(rows):\n    # 发送邮件附件\n    return rows\n',
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    root = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    engine = Engine.open(str(root))
    engine.index()
    return engine


@pytest.mark.parametrize(
    ("question", "path", "said"),
    [
        ("缓存中过期的条目在哪里删除", "cache.py", "cache"),
        ("过期的缓存是怎么清理的", "cache.py", "cache"),
        ("限制线程池里的线程数量", "pool.py", "ThreadPool"),
        ("限制執行緒池的執行緒數量", "pool.py", "ThreadPool"),
        ("反斜杠在哪里转义", "escapes.py", "backslash"),
    ],
)
def test_the_reason_names_a_translation_of_what_was_asked(engine: Engine, question: str, path: str, said: str) -> None:
    hits = engine.search(question).hits
    assert hits[0].chunk.path == path
    assert said in hits[0].reason
    assert all("python" not in hit.reason for hit in hits)


@pytest.mark.parametrize("question", ["在的中", "这个是什么的", "反的中在"])
def test_a_question_without_a_word_that_means_something_claims_no_match(engine: Engine, question: str) -> None:
    reasons = [hit.reason for hit in engine.search(question).hits]
    assert all("python" not in reason and "backslash" not in reason for reason in reasons)


@pytest.mark.parametrize(
    ("question", "path"), [("roll back database transactions", "orders.py"), ("attachments", "mails.py")]
)
def test_an_english_question_finds_code_that_is_commented_in_chinese(engine: Engine, question: str, path: str) -> None:
    assert engine.search(question).hits[0].chunk.path == path


@pytest.mark.parametrize(("question", "path"), [("怎么回滚事务", "orders.py"), ("邮件的附件在哪里发送", "mails.py")])
def test_a_chinese_question_finds_chinese_comments(engine: Engine, question: str, path: str) -> None:
    assert engine.search(question).hits[0].chunk.path == path
