"""`fathom bench here`: questions of the reader's own tree, and what it finds and costs beside a search for words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.fathom import run_fathom

from codefathom.errors import UsageError
from codefathom.mcp.measured_tools import of_words, word_tool
from codefathom.mcp.tree_questions import (
    AnswerPlace,
    TreeQuestion,
    documented,
    without_comments,
    written_questions,
)
from codefathom.types import FoundSymbol, Symbol

FILES = {
    "src/store.py": '''class Rows:
    """Keeps what customers have bought until the end of the day.

    Much more is said here.
    """

    def clear(self):
        """clear forgets all of it at once, please."""
        self.rows = []


def settle(total):
    # nothing
    """Moves money between the two accounts of a shop."""
    return total
''',
    "src/pay.go": "package pay\n\n// Sends the bill to whoever has asked for it.\nfunc Charge() int {\n\treturn 1\n}\n",
    "tests/test_store.py": 'def test_rows():\n    """Checks that rows are kept for all of the day."""\n',
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    (tmp_path / "tmp").mkdir()
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR"):
        folder = tmp_path / ("tmp" if name == "TMPDIR" else name)
        monkeypatch.setenv(name, str(folder))
    return tmp_path / "shop"


def bench(project: Path, *words: str, **options: Any) -> dict[str, Any]:
    done = run_fathom("bench", "here", "--json", *words, cwd=project, **options)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_it_asks_the_first_sentences_and_leaves_the_tree_alone(project: Path, tmp_path: Path) -> None:
    before = {name: (project / name).read_text() for name in FILES}
    result = bench(project)
    assert {question["question"]: question["places"] for question in result["questions"]} == {
        "Keeps what customers have bought until the end of the day": ["src/store.py:1-9"],
        "Moves money between the two accounts of a shop": ["src/store.py:12-15"],
        "Sends the bill to whoever has asked for it": ["src/pay.go:3-6"],
    }
    names = [row["tool"] for row in result["tools"]]
    assert names[0] == "fathom mcp: search"
    assert [name.partition(": ")[2] for name in names[1:]] == [
        "words of the question",
        "name of the answer, known before",
    ]
    rows = {row["tool"]: row for row in result["tools"]}
    assert rows[names[2]]["found"] == 3
    # The words stand nowhere any more: what is found, is found by the code.
    assert rows[names[1]]["found"] < 3
    for name, row in rows.items():
        answers = [question["tools"][name] for question in result["questions"]]
        assert row["found"] == sum(answer["found"] for answer in answers)
        n_tokens = sum(answer["tokens"] for answer in answers)
        assert row["tokens_with_tool_list"] == n_tokens + row["tool_list_tokens"]
        assert bool(row["tool_list_tokens"]) == (name == names[0])
    assert {name: (project / name).read_text() for name in FILES} == before
    assert list((tmp_path / "tmp").iterdir()) == []
    assert "saved" not in json.dumps(result["tools"])


def test_two_runs_ask_the_same_and_a_limit_takes_the_first(project: Path) -> None:
    asked = [question["question"] for question in bench(project)["questions"]]
    assert [question["question"] for question in bench(project, "-n", "2")["questions"]] == asked[:2]


def test_a_person_brings_questions(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.tsv"
    file.write_text("# mine\nsrc/store.py:12-15\twhere is money moved between accounts\nsrc/pay.go\twho sends bills\n")
    result = bench(project, "--questions", str(file))
    assert [(one["question"], one["places"]) for one in result["questions"]] == [
        ("where is money moved between accounts", ["src/store.py:12-15"]),
        ("who sends bills", ["src/pay.go"]),
    ]
    assert [row["found"] for row in result["tools"]] == [2, 2]  # comments are there, so words find them, too


def test_the_table_says_what_was_counted(project: Path) -> None:
    done = run_fathom("bench", "here", cwd=project, text=True)
    assert done.returncode == 0, done.stderr
    assert "3 questions: first sentences of comments" in done.stdout
    assert "of 3" in done.stdout
    assert "the list of tools (" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--questions", "nowhere.tsv"], "'nowhere.tsv' cannot be read: No such file"),
        (["--questions", "src/pay.go"], "line 1 of the questions has no tab"),
        (["-n", "0"], "--limit"),
    ],
)
def test_what_cannot_be_measured_says_why(project: Path, words: list[str], said: str) -> None:
    done = run_fathom("bench", "here", *words, cwd=project, text=True)
    assert done.returncode == 2
    assert said in done.stderr


def test_without_comments_there_is_no_question(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def plain():\n    return 1\n")
    done = run_fathom("bench", "here", cwd=tmp_path, text=True)
    assert done.returncode == 1
    assert "no definition has a comment that can be a question" in done.stderr


def test_each_tool_for_words_gives_the_same(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    question = TreeQuestion("Moves money between the accounts", (AnswerPlace("src/store.py", 12, 15),), "settle")
    measures = []
    for programs in (("rg", "grep"), ("grep",), ()):
        folder = tmp_path / "-".join(("bin", *programs))
        folder.mkdir()
        for name in programs:
            if program := shutil.which(name):
                (folder / name).symlink_to(program)
        with monkeypatch.context() as patch:
            patch.setenv("PATH", str(folder))
            tool = word_tool()
            one = of_words(tool, str(project), frozenset(FILES), question)
        measures.append((one.is_found, one.n_tokens))
    assert measures == [measures[0]] * 3
    assert measures[0][0]


def symbol(doc: str, name: str = "f", path: str = "a.py") -> FoundSymbol:
    return FoundSymbol(path, "python", Symbol("function", name, name, 2, 5, 2, "", doc))


@pytest.mark.parametrize(
    ("doc", "question"),
    [
        ("Gives back one of the rows. More.", "Gives back one of the rows"),
        ("Gives back one\n   of the rows", "Gives back one of the rows"),
        ("Too short.", ""),
        ("load gives back one of the rows.", ""),  # says the name
        ("Deprecated: use the other one of them instead.", ""),
        ("See https://example.org for all of the rest.", ""),
        ("", ""),
    ],
)
def test_what_can_be_a_question(doc: str, question: str) -> None:
    assert [one.text for one, _ in documented([symbol(doc, "load")], 9)] == [question] * bool(question)
    assert documented([symbol(doc, "load", "tests/test_a.py")], 9) == []
    assert documented([symbol(doc, "load"), symbol(doc, "load", "b.py")], 9) == []  # two answers


def test_comments_go_and_lines_stay() -> None:
    lines = ["# Gives one of the rows.", "def f():", '    """Gives one of the rows."""', "    return Gives"]
    assert without_comments(lines, [symbol("Gives one of the rows.")]) == [
        "# ",
        "def f():",
        '    """"""',
        "    return Gives",
    ]


def test_a_file_of_questions_may_name_several_places() -> None:
    (question,) = written_questions("a.py:1-2\twhere\r\nb.py\twhere\n\n")
    assert question.places == (AnswerPlace("a.py", 1, 2), AnswerPlace("b.py", 0, 0))
    with pytest.raises(UsageError, match="line 2"):
        written_questions("a.py\twhere\nb.py where\n")
