"""The table of imports gives what a look at each import gives: made, read from a file, or followed through changes."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.counted import n_python_calls

from codefathom.stores.catalog import import_table
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.stores.catalog.import_table import NO_IMPORTS, ImportTable
from codefathom.text.file_stems import flattened

WORDS = ["", "a", "A_b", "a-B", "ab.c", "a{b}", "é", "Σ", "\ud800", "a\0b", "\0"]
TEXTS = st.one_of(st.sampled_from(WORDS), st.text(st.sampled_from("aB_.é\0"), max_size=4))
FORMS = st.builds(ImportForm, TEXTS, TEXTS, st.sampled_from(["python", "go", "typescript"]))
SAID = st.dictionaries(st.integers(1, 6), st.lists(FORMS, max_size=4, unique=True), max_size=6)


def made(said: Mapping[int, Sequence[ImportForm]]) -> ImportTable:
    """Return the table of what each document says."""
    return NO_IMPORTS.updated(1, frozenset(), rows(said))


def rows(said: Mapping[int, Sequence[ImportForm]]) -> list[tuple[object, ...]]:
    return [(document, *form) for document, forms in said.items() for form in forms]


def again(table: ImportTable) -> ImportTable:
    return ImportTable.unpacked(memoryview(b"".join(table.packed())))


def check(table: ImportTable, said: Mapping[int, Sequence[ImportForm]]) -> None:
    """Compare all that a table says with a look at each import."""
    forms = {form for own in said.values() for form in own}
    assert (set(table), len(table)) == (forms, len(forms))
    assert table.documents() == {document for document, own in said.items() if own}
    for form in forms:
        assert form in table
        assert table.documents([form]) == {document for document, own in said.items() if form in own}
    assert ImportForm("nowhere", "", "go") not in table
    for word in WORDS:
        joined = {form for form in forms if word in f"{form.name}\0{form.qualifier}"}
        assert joined - set(table.with_word(word)) == set()
        assert "\0" in word or joined == set(table.with_word(word))
        assert {form for form in forms if form.name.startswith(word)} == set(table.beginning(word))
        if "\0" not in word:
            flat = {form for form in forms if flattened(word) in flattened(form.name)}
            assert flat == set(table.with_flat_word(flattened(word)))


@given(SAID, SAID, SAID)
def test_it_is_what_each_import_says(
    said: dict[int, list[ImportForm]], late: dict[int, list[ImportForm]], later: dict[int, list[ImportForm]]
) -> None:
    table = made(said)
    for one in (table, again(table)):
        check(one, said)
        now, own = one, said
        for change in (late, later):
            now, own = now.updated(2, change.keys() | {6}, rows(change)), {**own, 6: [], **change}
            check(now, own)
            check(again(now), own)
            assert again(now).generation == 2


def test_what_has_changed_is_put_together_again_when_it_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_table, "_MOST_APART", 3)
    said = {number: [ImportForm(f"a{number}", "", "go")] for number in range(9)}
    table = made(said)
    for number in range(9):
        said[number] = [ImportForm(f"b{number}", "", "go")]
        table = table.updated(number + 2, {number}, rows({number: said[number]}))
        check(table, said)


@pytest.mark.parametrize("n_forms", [500, 8_000])
def test_no_value_is_made_of_what_nobody_asks_for(n_forms: int) -> None:
    places = {ImportForm(f"pack.part{number}", "", "python"): array("q", [number]) for number in range(n_forms)}
    places[ImportForm("pack.other", "run", "python")] = array("q", [n_forms])
    packed = memoryview(b"".join(ImportTable.of(1, places).packed()))

    def ask() -> None:
        table = ImportTable.unpacked(packed)
        (form,) = table.with_word("run")
        assert table.documents([form]) == {n_forms}

    assert n_python_calls(ask) < 150
