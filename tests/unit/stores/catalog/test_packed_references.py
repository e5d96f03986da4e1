"""References as one value a document: they are read as they were written, and a name leads to its documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.counted import counting

from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.packed_references import (
    imports_in,
    inflated,
    number_of,
    numbers_in,
    packed,
    unpacked,
    used_names,
    uses_in,
)
from codefathom.stores.catalog.records import Batch, DocumentRecord
from codefathom.stores.database import Database
from codefathom.types import Document, ParsedDocument, Reference

_TEXTS = st.text(max_size=6)  # also signs of control and halves of pairs
_REFERENCES = st.lists(
    st.builds(
        Reference,
        st.sampled_from(["import", "call", "type"]),
        _TEXTS,
        st.integers(1, 9),
        _TEXTS,
        st.integers(1, 3),
        _TEXTS,
    ),
    max_size=12,
)
ONE, OTHER = "plumless", "buckeroo"  # words of one number


@given(_REFERENCES)
def test_what_was_packed_is_read_by_line(references: list[Reference]) -> None:
    content = inflated(packed(references))
    by_line = sorted(references, key=lambda item: item.line)  # those of one line as they came
    assert unpacked(content) == by_line
    assert imports_in(content) == [item for item in by_line if item.kind == "import"]
    for name in {item.name for item in references} | {"else"}:
        assert uses_in(content, {name}) == [item for item in by_line if item.kind != "import" and item.name == name]
    names = {item.name for item in references if item.kind != "import"}
    assert list(numbers_in(used_names(references))) == sorted({number_of(name) for name in names})


@pytest.mark.parametrize("data", [b"", b"\xff", packed([Reference("call", "a", 1)])[:9], b"x" * 40])
def test_bytes_that_are_not_whole_say_nothing(data: bytes) -> None:
    assert inflated(data) == b"" or inflated(data) != inflated(packed([Reference("call", "a", 1)]))


def document(path: str, *names: str) -> DocumentRecord:
    uses = tuple(Reference("call", name, line) for line, name in enumerate(names, 1))
    parsed = ParsedDocument(Document(path, "python", "", f"{path} {names}", 1), (), uses, (), "p")
    return DocumentRecord(parsed, (), (), 1, "p", "c", {}, "m")


def users(catalog: Catalog, name: str) -> list[str]:
    return [path for path, _ in catalog.references(name)]


@pytest.mark.parametrize("is_first_run", [False, True])
def test_a_name_leads_to_the_documents_that_use_it_now(tmp_path: Path, is_first_run: bool) -> None:
    catalog = Catalog.open(str(tmp_path / "c.db"))
    if is_first_run:
        catalog.begin_load()
    catalog.write(Batch(records=(document("b.py", "go", ONE), document("a.py", "go", "go"), document("c.py", OTHER))))
    assert (users(catalog, "go"), users(catalog, ONE)) == (["a.py", "a.py", "b.py"], ["b.py"])
    assert number_of(ONE) == number_of(OTHER)
    assert (users(catalog, OTHER), users(catalog, "Go"), users(catalog, "")) == (["c.py"], [], [])
    catalog.write(Batch(records=(document("a.py", "stop"),), removed=("c.py",)))
    assert [users(catalog, name) for name in ("go", "stop", ONE, OTHER)] == [["b.py"], ["a.py"], ["b.py"], []]
    catalog.write(Batch(records=(document("b.py"), document("c.py", "go"))))
    catalog.end_load()
    assert [users(catalog, name) for name in ("go", "stop", ONE, OTHER)] == [["c.py"], ["a.py"], [], []]
    assert catalog.soundness.check() == ""
    catalog.close()


def test_a_changed_file_writes_its_own_names_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps_of = []
    for n_files in (20, 400):
        with counting(monkeypatch) as steps:
            catalog = Catalog.open(str(tmp_path / f"{n_files}.db"))
            catalog.write(Batch(records=tuple(document(f"f{n}.py", "go", f"own{n}") for n in range(n_files))))
            before = steps.n_steps
            catalog.write(Batch(records=(document("f3.py", "go", "other"),)))
            assert (len(users(catalog, "other")), len(users(catalog, "own3"))) == (1, 0)
            steps_of.append(steps.n_steps - before)
            catalog.close()
    assert steps_of[1] - steps_of[0] <= 20, f"{steps_of} steps"


def test_a_first_run_may_begin_while_a_name_is_looked_for(tmp_path: Path) -> None:
    path = str(tmp_path / "c.db")
    database = Database(path)
    reading, writing = Catalog(database), Catalog.open(path)
    n_looks = []

    def begin_before_the_second_look(statement: str) -> None:
        if statement.startswith("SELECT"):
            n_looks.append(statement)
            if len(n_looks) == 2:
                writing.begin_load()

    assert users(reading, "go") == []
    database.connection().set_trace_callback(begin_before_the_second_look)
    assert users(reading, "go") == []
    assert len(n_looks) >= 2
    reading.close()
    writing.close()
