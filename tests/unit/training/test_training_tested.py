"""Which function a test is about."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from training.mine import pairs_of_tests
from training.tested import Case, cases_of, matched

from codefathom.types import Document

PYTHON = """def test_evicts_the_oldest_entry():
    cache = Cache(2)
    cache.evict_oldest()
    assert not cache.entries

def test_opens_it_again_later():
    run()
"""


def document(path: str, language: str, text: str) -> Document:
    return Document(path, language, text, "1:0", len(text))


def test_a_python_test_has_a_title_in_words_and_what_it_calls() -> None:
    assert list(cases_of(PYTHON)) == [
        Case("evicts the oldest entry", ("Cache", "evict_oldest", "entries")),
        Case("opens again later", ("run",)),
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ('  it("keeps the order of rows", () => {', "keeps the order of rows"),
        ('test "keeps the order of rows" do', "keeps the order of rows"),
        ('@test "keeps the order of rows" {', "keeps the order of rows"),
        ("    fun `keeps the order of rows`() {", "keeps the order of rows"),
        ("func TestKeepsOrderOfRows(t *testing.T) {", "keeps order of rows"),
        ("    public void ShouldKeepOrderOfRows()", "keep order of rows"),
    ],
)
def test_titles_of_other_languages(line: str, title: str) -> None:
    (test,) = cases_of(f"{line}\n  sortRows(x)\n")
    assert test == Case(title, ("sortRows",))


def test_lines_that_only_mention_tests_have_no_title() -> None:
    assert list(cases_of("it is a test of rows (see below)\nemit('test failed again')\n")) == []


def test_the_function_with_most_words_of_the_title_is_the_one_tested() -> None:
    tests = [Case("evict the oldest entry", ("Cache", "oldest", "evict_oldest", "evict_the_oldest_entry"))]
    known = {"Cache", "oldest", "evict_oldest"}
    assert list(matched(tests, known.__contains__)) == [("evict the oldest entry", "evict_oldest")]


def test_of_equal_names_the_one_that_few_tests_call_is_taken() -> None:
    tests = [Case("open a big file", ("open", "reopen_open")), *[Case("other things here", ("open",))] * 3]
    assert list(matched(tests, {"open", "reopen_open"}.__contains__)) == [("open a big file", "reopen_open")]


def test_a_title_without_a_word_of_a_known_name_gives_nothing() -> None:
    assert list(matched([Case("does what it says", ("run", "go"))], lambda _: True)) == []


def test_a_test_and_its_function_in_another_file_are_a_pair() -> None:
    code = 'def evict_oldest(self):\n    """Drop one."""\n    self.entries.pop(0)\n    self.count -= 1\n'
    documents = [document("cache/store.py", "python", code), document("tests/test_store.py", "python", PYTHON)]
    (pair,) = pairs_of_tests(documents)
    assert (pair.kind, pair.query) == ("tested", "evicts the oldest entry")
    assert pair.document.startswith("cache/store.py\ncache\nevict_oldest\n")
    assert "Drop one" not in pair.document


def test_a_name_defined_twice_is_not_taken() -> None:
    code = "def evict_oldest(self):\n    self.entries.pop(0)\n    self.count -= 1\n"
    paths = ("a.py", "b.py")
    documents = [document(path, "python", code) for path in paths] + [document("test_a.py", "python", PYTHON)]
    assert list(pairs_of_tests(documents)) == []
