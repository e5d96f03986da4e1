"""What the recipe finds in a file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from training.comments import definitions
from training.mine import document_pairs, first_sentence

from codefathom.types import Document


def document(path: str, language: str, text: str) -> Document:
    return Document(path, language, text, "1:0", len(text))


GO = """package cache

// Evict removes the oldest entry. It holds the lock.
func (c *Cache) Evict(n int) error {
	for i := 0; i < n; i++ {
		c.drop(i)
	}
	return nil
}
"""
RUST = """/// Opens the log for appending.
#[inline]
pub fn open_log(path: &Path) -> Result<File> {
    File::options().append(true).open(path)
}
"""
JAVA = """class A {
    /**
     * 获取用户的名称。
     * @param id the id
     */
    public String nameOf(long id) {
        return users.get(id).name();
    }
}
"""


@pytest.mark.parametrize(
    ("language", "text", "name", "doc", "lines"),
    [
        ("go", GO, "Evict", "Evict removes the oldest entry. It holds the lock.", (3, 9)),
        ("rust", RUST, "open_log", "Opens the log for appending.", (1, 5)),
        ("java", JAVA, "nameOf", "获取用户的名称。", (2, 8)),
    ],
)
def test_documented_definitions_are_found(
    language: str, text: str, name: str, doc: str, lines: tuple[int, int]
) -> None:
    (symbol,) = definitions(document("a/b", language, text))
    assert (symbol.name, symbol.doc, (symbol.start_line, symbol.end_line)) == (name, doc, lines)


def test_python_methods_have_their_class_in_the_name() -> None:
    text = 'class Store:\n    """Keeps rows."""\n    def get(self):\n        """Return the row."""\n        return 1\n'
    found = definitions(document("s.py", "python", text))
    assert [(symbol.qualified_name, symbol.doc) for symbol in found] == [
        ("Store", "Keeps rows."),
        ("Store.get", "Return the row."),
    ]


def test_broken_python_gives_nothing() -> None:
    assert definitions(document("s.py", "python", "def (:")) == []


def test_the_answer_does_not_hold_the_question() -> None:
    (pair,) = [pair for pair in document_pairs(document("pkg/log.rs", "rust", RUST)) if pair.kind == "doc"]
    assert pair.query == "Opens the log for appending."
    assert "appending" not in pair.document
    assert pair.document.startswith("pkg/log.rs\npkg\nopen_log\npub fn open_log")
    assert "append(true)" in pair.document


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Return the sum. Not more.", "Return the sum."),
        ("读取配置文件的内容。返回字典。", "读取配置文件的内容。"),
        ("Wraps {@link Foo} in <b>bold</b> text\n\nmore", "Wraps Foo in bold text"),
        ("short text", ""),
        ("", ""),
    ],
)
def test_first_sentence(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_a_type_on_a_line_of_its_own_belongs_to_the_function() -> None:
    text = "/* Opens the log. */\nstatic struct log *\nopen_log(const char *path)\n{\n\treturn find(path);\n}\n"
    (symbol,) = definitions(document("log.c", "c", text))
    assert (symbol.name, symbol.doc, symbol.end_line) == ("open_log", "Opens the log.", 6)


def test_functions_without_comments_are_asked_for_by_name() -> None:
    body = "".join(f"  total += step({i});\n" for i in range(12))
    names = [f"sum{letter}" for letter in "ABCDEFGHIJKLMNOP"]
    text = "".join(f"function {name}(step) {{\n  let total = 0;\n{body}  return total;\n}}\n" for name in names)
    found = list(document_pairs(document("a/sum.js", "javascript", text)))
    assert {pair.kind for pair in found if pair.kind != "file"} == {"name"}  # one in four, by a hash of the text
    assert all(pair.query in names and pair.query not in pair.document for pair in found)
