"""Texts of a caller that are on no disk: which are kept, which stay, and which are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.errors import DamagedError, UsageError
from codefathom.index.kept_texts import (
    MAX_BYTES,
    MAX_TEXTS,
    TextChanges,
    kept_records,
    text_changes,
    texts_made_again,
)
from codefathom.index.plan import FileJob, Recipe
from codefathom.index.prepare import PreparedFile
from codefathom.source.changes import FileStat
from codefathom.stores.catalog.records import Entry

RECIPE = Recipe("/nowhere")
NOTE = "texts://notes/a.md"
TOKEN = "ghp_" + "a1B2" * 9


def changes(texts: dict[str, str | None], entries: dict[str, Entry] | None = None) -> TextChanges:
    return text_changes(texts, entries or {}, RECIPE, 17)


def entry_of(prepared: PreparedFile) -> Entry:
    document = prepared.parsed.document
    made_by = (RECIPE.parser_of(document), RECIPE.chunker_of(document))
    return Entry(1, document.path, document.size, 17, document.fingerprint, *made_by)


def test_a_text_becomes_a_document_with_masks() -> None:
    found = changes({NOTE: f"# Note\n\ntoken = '{TOKEN}'\n"})
    (prepared,) = found.prepared
    document = prepared.parsed.document
    assert (document.path, document.language) == (NOTE, "markdown")
    assert TOKEN not in document.text
    assert (prepared.file.path, prepared.file.mtime_ns) == (NOTE, 17)
    assert prepared.file.size == document.size == len(document.text.encode())
    assert "".join(chunk.text for chunk in prepared.chunks) == document.text
    assert (found.removed, found.unchanged, found.refused) == ((), (), ())


def test_the_same_text_stays_and_another_one_takes_its_place() -> None:
    (prepared,) = changes({NOTE: "# Note\n"}).prepared
    kept = {NOTE: entry_of(prepared)}
    again = changes({NOTE: "# Note\n"}, kept)
    assert (again.prepared, again.unchanged) == ((), (NOTE,))
    other = changes({NOTE: "# Other\n"}, kept)
    assert ([item.file.path for item in other.prepared], other.unchanged) == ([NOTE], ())
    older = changes({NOTE: "# Note\n"}, {NOTE: kept[NOTE]._replace(parser="older")})
    assert len(older.prepared) == 1


def test_none_removes_a_text_that_is_kept() -> None:
    (prepared,) = changes({NOTE: "# Note\n"}).prepared
    found = changes({NOTE: None, "texts://b.md": None}, {NOTE: entry_of(prepared)})
    assert found.removed == (NOTE,)
    assert [(item.path, item.reason) for item in found.refused] == [("texts://b.md", "there is no text of this name")]


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("texts://a.pdf", "text", "its name is that of a PDF"),
        ("texts://a.md", "half \ud800", "half of a surrogate pair"),
        ("texts://a.md", "a\0b", "it holds a NUL"),
        ("texts://a.md", "x" * 4_000_001, "it has 4,000,00"),
        ("texts://a.md", "\x01\x02\x03\x04" * 200, "binary"),
    ],
)
def test_a_text_that_cannot_be_kept_changes_nothing(path: str, text: str, reason: str) -> None:
    found = changes({path: text, NOTE: "# Note\n"})
    (refused,) = found.refused
    assert (refused.path, reason in refused.reason) == (path, True)
    assert [item.file.path for item in found.prepared] == [NOTE]


def test_an_index_keeps_so_many_texts_and_bytes() -> None:
    (prepared,) = changes({NOTE: "# Note\n"}).prepared
    entry = entry_of(prepared)
    full = {f"texts://{n}.md": entry for n in range(MAX_TEXTS)}
    with pytest.raises(UsageError, match=r"at most 10,000 texts, and with these there would be 10,001"):
        changes({NOTE: "# Note\n"}, full)
    assert changes({"texts://0.md": "# Other\n"}, full).prepared  # it takes the place of one
    assert changes({NOTE: "# Note\n", "texts://0.md": None}, full).prepared
    files = {f"{n}.md": entry for n in range(MAX_TEXTS)}
    assert changes({NOTE: "# Note\n"}, files).prepared  # files of the disk do not count
    large = {"texts://large.md": entry._replace(size=MAX_BYTES)}
    with pytest.raises(UsageError, match=r"at most 100,000,000 bytes of texts, and with these there would be\s"):
        changes({NOTE: "# Note\n"}, large)
    assert changes({NOTE: "# Note\n"}, {"texts://large.md": entry._replace(size=MAX_BYTES - 7)}).prepared


def test_secrets_are_kept_where_the_user_says_so() -> None:
    found = text_changes({NOTE: f"token = '{TOKEN}'\n"}, {}, RECIPE._replace(keeps_secrets=True), 17)
    assert TOKEN in found.prepared[0].parsed.document.text


def test_texts_are_made_again_from_what_an_index_keeps_of_them(tmp_path: Path) -> None:
    texts = {f"{n:03}.md": f"# Note {n}\n" for n in range(70)}
    with Engine.open(str(tmp_path), is_root=True) as engine:
        engine.index()
        engine.update(texts={**texts, "secret.md": f"token = '{TOKEN}'\n"})
        catalog, recipe = engine.opened.catalog, engine.opened.recipe
        records = list(kept_records(catalog))
        documents = {item.path: item for item in catalog.documents()}
        jobs = [FileJob(FileStat(path, item.size, item.mtime_ns), "") for path, item in documents.items()]
        batches = list(texts_made_again(jobs, recipe, catalog))
        kept = {path: catalog.text(path) for path in documents}
    assert [len(batch) for batch in batches] == [64, 7]
    for prepared in (item for batch in batches for item in batch):
        document, stored = prepared.parsed.document, documents[prepared.file.path]
        assert document.text == kept[document.path]
        assert (document.fingerprint, document.language) == (stored.fingerprint, "markdown")
        assert (prepared.file.size, prepared.file.mtime_ns) == (stored.size, stored.mtime_ns)
    assert [record.parsed.document.path for record in records] == list(documents)
    for record in records:
        path = record.parsed.document.path
        assert "".join(chunk.text for chunk in record.chunks) == kept[path]
        assert record.text_hashes == ("",) * len(record.chunks)
        assert (record.mtime_ns, record.vectors, record.parser) == (documents[path].mtime_ns, {}, "")


def test_a_text_of_which_nothing_is_left_is_damage(tmp_path: Path) -> None:
    with Engine.open(str(tmp_path), is_root=True) as engine:
        engine.index()
        lost = FileJob(FileStat("texts://lost.md", 7, 17), "")
        with pytest.raises(DamagedError, match=r"the text 'texts://lost.md' differs from what was written"):
            list(texts_made_again([lost], engine.opened.recipe, engine.opened.catalog))
        (empty,), *_ = texts_made_again(
            [FileJob(FileStat("texts://empty.md", 0, 17), "")], RECIPE, engine.opened.catalog
        )
        assert empty.parsed.document.text == ""
