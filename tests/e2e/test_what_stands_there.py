"""What a file holds as the question writes it comes before what is only near in meaning, and its line is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from codefathom import Engine

START = "".join(f"def start_thing_{number}(value):\n    return value + {number}\n\n\n" for number in range(12))
FILES = {
    "docs/operations.md": (
        "# Operations\n\nHow to run it.\n\n## Starting the thing\n\nUse the script.\n\n"
        "## Version 2.0: what's new?\n\nA lot.\n\n"
        "## Installation\n\nYou need a C++ compiler.\n\n## 备份数据库\n\n每天运行脚本。\n"
    ),
    "src/start.py": START,
    "src/numbers.py": "import random\n\n\ndef randint(low, high):\n    return random.randint(low, high)\n",
    "src/encode.py": "def encode(text):\n    return text.encode()\n\n\ndef decode(data):\n    return data.decode()\n",
    "src/dump.py": "def dump(db, data):\n    '''Write a copy of all.'''\n    return list(data)\n",
    "src/parse.py": "def parse(text):\n    return text.split()\n",
    "src/remarks.py": "def other(value):\n    # 解析\n    return value\n",
    "src/ends.py": (
        "def end(value):\n    return value\n"
        "\n\ndef send_end(value):\n    return end(value)\n\n\ndef is_end(value):\n    return not value\n"
    ),
    "src/wide.py": "TABLE = [" + ", ".join(f"'entry {number}'" for number in range(60)) + ", very_last_end]\n",
    "src/accounts.py": (
        "def create_account(name):\n    user = name.strip()\n    log(user)\n    check(user)\n"
        "    # create the user now\n    return user\n"
    ),
}


# Code, and documents with the names of its things as headings.
OF_CODE = {
    "CHANGELOG.md": "# Changelog\n\n## 1.2\n\n### Retry\n\n- Wait longer.\n\n### Security\n\n- None.\n",
    "docs/guide.md": "# Guide\n\n## Cookies\n\nThey are kept.\n\n## Installation\n\nRun it.\n",
    "docs/api/users.md": "# Users\n\n## create_user\n\nAdds one.\n\n## `Session.send()`\n\nSends it.\n",
    "docs/api/combineParts.md": "# Parts\n\n## combineParts\n\nJoins them.\n",
    "docs/redirect.md": "# Addresses\n\n## redirect\n\nAnother place.\n",
    "docs/zh/guide.md": "# 指南\n\n## 登录\n\n输入密码。\n",
    "tests/fixtures/page.md": "# Page\n\n## Create user\n\nNothing.\n",
    "Makefile": "install:\n\tcp app /usr/bin\n",
    "src/cookies.py": "def merge_cookies(jar, others):\n    jar.update(others)\n    return jar\n",
    "src/users.py": "def create_user(name):\n    return {'name': name}\n\n\ndef login(user):\n    return user\n",
    "src/session.py": "class Session:\n    def send(self, request):\n        return request\n",
    "src/combine.ts": "export default function combineParts(parts) {\n  return parts.flat()\n}\n",
    "src/again.py": "def with_retries(call):\n    for _ in range(3):\n        call()\n",
    "docs/options.md": "# Options\n\n## `--retry`\n\nTry again.\n\n## Http2\n\nStreams.\n",
    "src/http2.py": "def frames(data):\n    return list(data)\n",
    "src/urls.py": "def follow_redirect(answer):\n    return answer.headers['location']\n",
}


def opened(root: Path, files: Mapping[str, str]) -> Iterator[Engine]:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    with Engine.open(str(root), is_root=True) as engine:
        engine.index()
        yield engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    yield from opened(tmp_path_factory.mktemp("stands") / "project", FILES)


@pytest.fixture(scope="module")
def of_code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    yield from opened(tmp_path_factory.mktemp("code") / "project", OF_CODE)


@pytest.mark.parametrize(
    ("question", "path", "line"),
    [
        ("Starting the thing", "docs/operations.md", 5),
        ("starting the thing", "docs/operations.md", 5),
        ("Version 2.0: what's new?", "docs/operations.md", 9),
        ("Installation", "docs/operations.md", 13),
        ("备份数据库", "docs/operations.md", 17),
        ("C++ compiler", "docs/operations.md", 15),
        ("create user", "src/accounts.py", 5),
    ],
)
def test_the_passage_with_the_words_is_first(engine: Engine, question: str, path: str, line: int) -> None:
    hit = engine.search(question).hits[0]
    assert (hit.chunk.path, hit.line) == (path, line)


def test_no_passage_without_a_word_comes_before_one_with_all(engine: Engine) -> None:
    for question, held in (("script", "script"), ("compiler", "compil"), ("备份数据库", "备份"), ("split", "split")):
        hits = engine.search(question, limit=50).hits
        holds = [held in f"{hit.chunk.path}\n{hit.chunk.text}".lower() for hit in hits]
        assert True in holds, question
        assert holds == sorted(holds, reverse=True), question


def test_a_definition_keeps_its_place_before_a_comment_with_the_word(engine: Engine) -> None:
    assert engine.search("解析").hits[0].chunk.path == "src/parse.py"


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_a_name_as_a_whole_comes_before_names_with_a_part_of_it(engine: Engine, mode: str) -> None:
    hit = engine.search("very_last_end", mode=mode).hits[0]
    assert (hit.chunk.path, hit.line) == ("src/wide.py", 1)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("cookies", "src/cookies.py"),
        ("retry", "src/again.py"),
        ("redirect", "src/urls.py"),
        ("登录", "src/users.py"),
        ("create user", "src/users.py"),
        ("http2", "src/http2.py"),
        ("create_user", "src/users.py"),
        ("Session.send", "src/session.py"),
        ("Session.send()", "src/session.py"),
        ("combineParts", "src/combine.ts"),
        # As the heading is written, and nothing is defined by that name.
        ("Cookies", "docs/guide.md"),
        ("Retry", "CHANGELOG.md"),
        ("Create user", "tests/fixtures/page.md"),
        ("--retry", "docs/options.md"),
        # Nothing in the code is called so, or a document is asked for.
        ("security", "CHANGELOG.md"),
        ("installation", "docs/guide.md"),
    ],
)
def test_code_with_the_name_comes_before_a_heading_that_is_written_otherwise(
    of_code: Engine, question: str, path: str
) -> None:
    assert of_code.search(question).hits[0].chunk.path == path
