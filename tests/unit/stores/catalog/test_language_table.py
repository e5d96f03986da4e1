"""The languages of documents in a file give what a query gives, also after changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codefathom.stores.catalog.language_table import LanguageTable

LANGUAGES = st.sampled_from(["python", "go", "text"])
PATHS = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=5)
DOCUMENTS = st.dictionaries(PATHS, LANGUAGES, max_size=8)


def ordered(languages: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(languages.items())


def table_of(languages: dict[str, str]) -> LanguageTable:
    return LanguageTable(3, dict(ordered(languages)), {"python": True, "go": False})


def again(table: LanguageTable) -> LanguageTable:
    return LanguageTable.unpacked(memoryview(b"".join(table.packed())))


@given(DOCUMENTS, DOCUMENTS)
def test_it_is_the_same_whether_made_read_or_brought_up_to_date(now: dict[str, str], late: dict[str, str]) -> None:
    table = table_of(now)
    for one in (table, again(table)) if now else (table,):
        assert (one.generation, list(one.languages.items()), one.has_uses) == (3, ordered(now), table.has_uses)
        later = one.later(4, len({**now, **late}), late)
        assert later is not None
        assert (later.generation, list(later.languages.items())) == (4, ordered({**now, **late}))
        touched = {own.get(path, "") for path in late for own in (now, late)}
        assert later.has_uses.keys() == {"python", "go"} - touched


def test_paths_that_are_gone_need_a_whole_table() -> None:
    table = table_of({"a.py": "python", "b.go": "go", "c.txt": "text"})
    assert table.later(4, 2, {}) is None
    assert table.later(4, 3, {"d.py": "python"}) is None
    whole = table.replaced(4, {"a.py": "python", "c.txt": "text"}, ["c.txt"])
    assert (whole.generation, whole.languages, whole.has_uses) == (
        4,
        {"a.py": "python", "c.txt": "text"},
        {"python": True},  # a file of Go is gone, which could have been the only one with a use
    )


def test_a_path_that_cannot_be_packed_is_not() -> None:
    assert table_of({"a\0b.py": "python", "c.py": "python"}).packed() == []
    assert table_of({}).packed() == []
