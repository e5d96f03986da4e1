"""The SQLite file in a snapshot is hostile: rows that its own tables forbid, other tables, sizes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_shipped_index import EVIL, all_told, become, copied, one_user, truth
from tests.e2e.test_team_index import checkout, forged, key_pair, parts, project, refused, take, without_sizes, write
from tests.packed_texts import with_text_functions

from codefathom.errors import IndexingError

__all__ = ["checkout", "one_user", "project", "truth"]  # fixtures

Change = Callable[[Path], None]


def run(*statements: str) -> Change:
    """Return a change by statements, each in a connection of its own: the next one sees the tables as they are then."""

    def change(file: Path) -> None:
        for statement in statements:
            with closing(sqlite3.connect(file)) as db:
                with_text_functions(db).executescript(statement)
                db.commit()

    return change


def twice(table: str, index: str, key: str, rule: str, insert: str) -> Change:
    """Return a change that writes rows twice into a table whose key forbids it, with an index that has both."""
    unlock = "PRAGMA writable_schema = ON;"
    return run(
        f"{unlock} UPDATE sqlite_master SET sql = replace(sql, '{rule}', '') WHERE name = '{table}';"
        f"DELETE FROM sqlite_master WHERE name = '{index}'",
        f"CREATE INDEX evil ON {table}({key}); {insert}",
        f"{unlock} UPDATE sqlite_master SET name = '{index}', sql = NULL WHERE name = 'evil';"
        f"UPDATE sqlite_master SET sql = (SELECT sql FROM kept) WHERE name = '{table}'; DROP TABLE kept",
    )


def keeping(table: str, change: Change) -> Change:
    keep = run(f"CREATE TABLE kept AS SELECT sql FROM sqlite_master WHERE name = '{table}'")

    def both(file: Path) -> None:
        keep(file)
        change(file)

    return both


def documents_twice(more: str = "") -> Change:
    index, rule = "sqlite_autoindex_documents_1", " UNIQUE"
    columns = "dir, name, ext, language, fingerprint, size, mtime_ns, module, sub_module, n_lines, parser, chunker"
    insert = (
        f"INSERT INTO documents(id, path, {columns}, problems, generation) "
        f"SELECT id + 1000, path, {columns}, problems, generation FROM documents; {more}"
    )
    return keeping("documents", twice("documents", index, "path", rule, insert))


VECTORS_TWICE = "INSERT INTO embeddings SELECT model, text_hash, zeroblob(length(vector)), generation FROM embeddings"
HOSTILE: dict[str, Change] = {
    "documents twice": documents_twice(),
    "documents twice, with other chunks": documents_twice(
        "INSERT INTO chunks SELECT key + 1000, document_id + 1000, id, kind, symbol, names, start_line, end_line, "
        "start_column, text_hash, generation, checksum, PACKED('evil', '', '') FROM chunks;"
    ),
    "documents twice, hidden from the index": run(
        "CREATE TABLE kept AS SELECT sql FROM sqlite_master WHERE name = 'documents'; PRAGMA writable_schema = ON;"
        "UPDATE sqlite_master SET sql = replace(sql, ' UNIQUE', '') WHERE name = 'documents';"
        "CREATE TABLE roots AS SELECT * FROM sqlite_master WHERE name = 'sqlite_autoindex_documents_1';"
        "DELETE FROM sqlite_master WHERE name = 'sqlite_autoindex_documents_1'",
        "INSERT INTO documents SELECT id + 1000, path, dir, name, ext, 'evil', fingerprint, size, mtime_ns, module, "
        "sub_module, n_lines, parser, chunker, problems, generation, ctime_ns, inode FROM documents",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = (SELECT sql FROM kept) WHERE name = 'documents';"
        "INSERT INTO sqlite_master SELECT * FROM roots; DROP TABLE kept; DROP TABLE roots",
    ),
    "vectors twice": run(
        "CREATE TABLE kept AS SELECT sql FROM sqlite_master WHERE name = 'embeddings_text_hash';"
        "DROP INDEX embeddings_text_hash; CREATE INDEX embeddings_text_hash ON embeddings(model, text_hash);"
        f"{VECTORS_TWICE}",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = (SELECT sql FROM kept) "
        "WHERE name = 'embeddings_text_hash'; DROP TABLE kept",
    ),
    "vectors twice, as in a first run": run(f"DROP INDEX embeddings_text_hash; {VECTORS_TWICE}"),
    "references of no document": run("INSERT INTO refs SELECT -document_id, names, checksum, packed FROM refs"),
    "huge references": run("UPDATE refs SET packed = zeroblob(3000000)"),
    "names of references twice": run(
        "INSERT INTO used_names SELECT name, document_id + 1 FROM used_names WHERE true ON CONFLICT DO NOTHING"
    ),
    "symbols twice": run(copied("symbols", id="NULL")),
    "chunks twice": run(copied("chunks")),
    "numbers of keys twice": run("INSERT INTO sqlite_sequence VALUES ('chunks', 0), ('chunks', 9223372036854775807)"),
    "a table more": run("CREATE TABLE evil(x)"),
    "a table that a library would make": run("CREATE VIRTUAL TABLE evil USING fts5(x)"),
    "statistics of another planner": run("ANALYZE; UPDATE sqlite_stat1 SET stat = '1 1 1'"),
    "a trigger": run("CREATE TRIGGER evil AFTER DELETE ON meta BEGIN UPDATE chunks SET kind = 'evil'; END"),
    "a trigger before": run("CREATE TRIGGER evil BEFORE UPDATE ON documents BEGIN SELECT RAISE(IGNORE); END"),
    "a view as a table": run(
        "ALTER TABLE documents RENAME TO old; CREATE VIEW documents AS SELECT * FROM old",
    ),
    "a view as a list": run("DROP TABLE removed; CREATE VIEW removed AS SELECT 1 AS key, 'evil' AS generation"),
    "a generated column": run("ALTER TABLE chunks ADD COLUMN evil TEXT GENERATED ALWAYS AS (symbol || 'evil') VIRTUAL"),
    "a generated column in the place of a text": run(
        "ALTER TABLE symbols DROP COLUMN qualified_name; "
        "ALTER TABLE symbols ADD COLUMN qualified_name TEXT AS (name || ' evil') VIRTUAL"
    ),
    "an index over an expression": run("CREATE INDEX evil ON chunks(length(packed))"),
    "another index of the same name": run(
        "DROP INDEX symbols_name; CREATE INDEX symbols_name ON symbols(name) WHERE name <> 'evil'"
    ),
    "a check that is never true": run(
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'packed BLOB NOT NULL)', "
        "'packed BLOB NOT NULL, CHECK (0))') WHERE name = 'refs'"
    ),
    "huge vectors": run("UPDATE embeddings SET vector = zeroblob(3000000)"),
    "one huge vector": run("UPDATE embeddings SET vector = zeroblob(30000000) WHERE rowid = 1"),
    "a huge text": run(
        "UPDATE chunks SET packed = PACKED(TEXT_OF(packed) || replace(hex(zeroblob(10000000)), '0', ' '), '', '') "
        "WHERE key = 1"
    ),
    "a huge name": run("UPDATE symbols SET name = hex(zeroblob(10000000)) WHERE id = 1"),
    "a huge note": run("INSERT INTO meta VALUES ('evil', hex(randomblob(2000000)))"),
    "a huge path": run("UPDATE documents SET path = hex(randomblob(500000)) WHERE id = 1"),
    "many lists": run(
        "INSERT INTO failures WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 200000) "
        "SELECT 'evil' || x, 'evil' FROM n"
    ),
    "another page size": run("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM"),
    "another encoding of pages": run("PRAGMA user_version = 2147483647; PRAGMA application_id = 1"),
}
# What is told of these is the truth, since the rows are removed or were never read; all others are refused.
HARMLESS = {
    "references of no document",
    "names of references twice",
    "numbers of keys twice",
    "a huge note",
    "many lists",
    "another page size",
    "another encoding of pages",
    "a huge path",
}


def hostile(path: Path, change: Change, folder: Path, *, packed: bytes = b"") -> Path:
    """Change the SQLite file of a snapshot as somebody does who knows its form."""
    head, database = parts(path)
    file = folder / "hostile.db"
    file.write_bytes(database)
    change(file)
    return forged(folder / "hostile", without_sizes(head), file.read_bytes(), packed=packed)


# What a sample is enough to refuse, a check of all refuses too: only the long form tries both.
@pytest.mark.parametrize(
    ("name", "check"),
    [
        pytest.param(name, check, marks=pytest.mark.long if check == "all" and name not in HARMLESS else ())
        for name in HOSTILE
        for check in ("sample", "all")
    ],
)
def test_a_hostile_file_is_refused_or_tells_the_truth(
    name: str,
    check: str,
    project: Path,
    checkout: Path,
    truth: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = hostile(write(project, tmp_path / "s"), HOSTILE[name], tmp_path)
    become("reader", tmp_path, monkeypatch)
    if name in HARMLESS:
        take(checkout, path, check=check)
    else:
        refused(checkout, path, "was refused", check=check)
    found = all_told(checkout)
    assert found == truth
    assert EVIL not in repr(found)


@pytest.mark.parametrize("name", ["documents twice", "a trigger", "a generated column", "vectors twice"])
def test_also_below_a_signature_of_the_team_the_form_is_checked(
    name: str, project: Path, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the key can still make a broken file: it is refused and not written into."""
    from codefathom.project.stores import snapshot as snapshots

    path = hostile(write(project, tmp_path / "s"), HOSTILE[name], tmp_path)
    _, key = key_pair(tmp_path)
    head, database = parts(path)
    changed = forged(tmp_path / "signed", {**without_sizes(head), "key": key.removesuffix(" ci")}, database)
    monkeypatch.setattr(snapshots, "is_signed", lambda *_: True)
    refused(checkout, changed, "was refused", keys=(key,))


def test_a_file_that_unpacks_to_more_than_it_says_is_refused(project: Path, checkout: Path, tmp_path: Path) -> None:
    path = write(project, tmp_path / "s")
    head, database = parts(path)
    for size in (len(database) - 1, len(database) + 1, 10 * len(database), 1 << 62):
        refused(checkout, forged(tmp_path / "s2", {**without_sizes(head), "n_bytes": size}, database), "was refused")
    with pytest.raises(IndexingError, match="was refused"):
        take(checkout, forged(tmp_path / "s3", without_sizes(head), database + bytes(400_000_000)))
