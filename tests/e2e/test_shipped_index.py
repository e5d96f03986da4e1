"""An index that came with a clone: whoever made it may have written anything into it, and nothing of that is shown."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.fathom import run_fathom
from tests.packed_texts import deflated, new_text, replaced_text, with_text_functions
from tests.removing import remove_folder

from codefathom import Engine
from codefathom.config.settings import SearchSettings, Settings
from codefathom.errors import FathomError, IndexingError
from codefathom.stores.catalog import checksums, packed_outlines, packed_references
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.compiler_uses import packed
from codefathom.stores.catalog.records import CompilerUse
from codefathom.stores.catalog.soundness import (
    CHUNK,
    FROM_CHUNKS,
    FROM_SYMBOLS,
    SYMBOL,
    with_texts,
)
from codefathom.stores.vectors.flat_vectors import FlatVectorStore
from codefathom.types import FilterGroup, Hit, Reference

EVIL = "evil"
FILES = {
    "auth/session.py": (
        '"""Sessions of signed-in users."""\n\n\nclass SessionStore:\n    """Keeps sessions in memory."""\n\n'
        "    def refresh_token(self, user):\n"
        '        """Give the user a new token before the old one expires."""\n'
        "        return self.issue(user, ttl=3600)\n\n    def issue(self, user, ttl):\n        return (user, ttl)\n"
    ),
    "auth/routes.py": (
        "from auth.session import SessionStore\n\n\ndef login(request):\n"
        "    return SessionStore().refresh_token(request.user)\n"
    ),
    "web/retry.ts": (
        "export function retryWithBackoff(attempts: number): number {\n"
        "  // wait twice as long after each failure\n  return 2 ** attempts;\n}\n"
    ),
    "docs/guide.md": "# Guide\n\nHow to deploy the application to the production cluster.\n",
    "pay/invoice.py": "def charge_invoice(amount):\n    return amount * 100\n",
}
QUERIES = ("refresh the token", "retry with backoff", "deploy", "charge_invoice", "/issue/", "@@login")
COLUMNS = {
    "documents": "id path dir name ext language fingerprint size mtime_ns module sub_module n_lines parser chunker "
    "problems generation ctime_ns inode",
    "chunks": "key document_id id kind symbol names start_line end_line start_column text_hash generation "
    "checksum packed",
    "symbols": "id document_id kind name qualified_name start_line end_line name_line place checksum",
}


def copied(table: str, condition: str = "1", **values: str) -> str:
    """Return the statement that adds copies of rows, with other values, which are SQL."""
    shown = ", ".join(values.get(name, "NULL" if name == "key" else name) for name in COLUMNS[table].split())
    return f"INSERT INTO {table} SELECT {shown} FROM {table} WHERE {condition};"


def document(number: int, path: str) -> str:
    """Return the statements that add a document with a chunk and a symbol."""
    n = str(number)
    is_invoice, evil = "TEXT_OF(packed) LIKE '%charge_invoice%'", "PACKED('evil token', '', '')"
    text = copied("chunks", is_invoice, document_id=n, id=f"CAST('evil{n}' AS BLOB)", packed=evil)
    symbol = copied("symbols", "id = 1", id="NULL", document_id=n, name="'evil_login'")
    outline = f"INSERT INTO outlines SELECT {n}, OUTLINE(packed, 'evil') FROM outlines LIMIT 1;"
    return copied("documents", "path = 'pay/invoice.py'", id=n, path=path) + text + symbol + outline


EVIL_REFERENCE = Reference("call", "SessionStore", 77, "evil")
EVIL_REFERENCES = (
    f"packed = x'{packed_references.packed([EVIL_REFERENCE]).hex()}', "
    f"names = x'{packed_references.used_names([EVIL_REFERENCE]).hex()}'"
)
EVIL_USES = f"x'{packed([CompilerUse(1, 'evil', 'login', 'call')]).hex()}', 0"
NEVER_ENDING = "AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"
NO_UTF8 = deflated(bytes(8) + b"evil\xff")
EVIL_TEXT = new_text("'evil'")
# What whoever made the index wrote into it.
ATTACKS = {
    "other text": replaced_text("return", "evil()"),
    "other text of the same length": replaced_text("3600", "evil"),
    "other line numbers": "UPDATE chunks SET start_line = start_line + 7, end_line = end_line + 7",
    "other number of lines": "UPDATE documents SET n_lines = 999",
    "swapped chunks": "UPDATE chunks SET document_id = 6 - document_id",
    "a chunk twice": copied("chunks", id="x'00'"),
    "a chunk less": "DELETE FROM chunks WHERE TEXT_OF(packed) LIKE '%charge_invoice%'",
    "other signature": "UPDATE chunks SET packed = PACKED(TEXT_OF(packed), 'evil', 'evil'), names = 'evil'",
    "other doc comment": "UPDATE chunks SET packed = PACKED(TEXT_OF(packed), '', 'evil'), symbol = 'evil'",
    "other symbols": "UPDATE symbols SET name = 'evil_' || name, qualified_name = 'evil';"
    "UPDATE outlines SET packed = OUTLINE(packed, 'evil()')",
    "other texts of symbols": "UPDATE outlines SET packed = OUTLINE(packed, 'evil')",
    "other places of texts": "UPDATE symbols SET place = place + 1",
    "places that are no places": "UPDATE symbols SET place = 'evil' WHERE id = 1; UPDATE symbols SET place = -1",
    "texts of symbols that are no texts": "UPDATE outlines SET packed = x'ff'",
    "texts of symbols in words": "UPDATE outlines SET packed = 'evil'",
    "texts of symbols that are numbers": f"UPDATE outlines SET packed = x'{zlib.compress(b'[1,{},[]]').hex()}'",
    "very many texts of symbols": f"UPDATE outlines SET packed = x'{zlib.compress(bytes(50_000_000)).hex()}'",
    "deep texts of symbols": f"UPDATE outlines SET packed = x'{zlib.compress(b'[' * 1_000_000).hex()}'",
    "no texts of symbols": "DELETE FROM outlines",
    "other places of symbols": "UPDATE symbols SET start_line = 1, end_line = 1, name_line = 1",
    "symbols more": copied("symbols", id="NULL", name="'login'", qualified_name="'evil.login'", start_line="2"),
    "no symbols": "DELETE FROM symbols",
    "other references": f"UPDATE refs SET {EVIL_REFERENCES}",
    "other names of references": "UPDATE refs SET names = x'0000000000000001'",
    "names of no references": "UPDATE refs SET names = x'00'; INSERT INTO used_names SELECT 7, id FROM documents",
    "names that lead nowhere": "DELETE FROM used_names",
    "no table of names": "DROP TABLE used_names",
    "references that are no references": "UPDATE refs SET packed = x'ff'",
    "very many references": f"UPDATE refs SET packed = x'{zlib.compress(bytes(50_000_000)).hex()}'",
    "no references": "DELETE FROM refs",
    "edges of a compiler": "INSERT INTO compilers SELECT id, fingerprint, 'evil' FROM documents;"
    f"INSERT INTO compiler_uses SELECT a.id, b.id, {EVIL_USES} FROM documents a, documents b",
    "edges of a compiler that are no edges": "INSERT INTO compilers SELECT id, fingerprint, x'ff' FROM documents;"
    "INSERT INTO compiler_uses SELECT id, 0, 'evil', 'evil' FROM documents",
    "absolute path": document(77, "'/etc/passwd'"),
    "path outwards": document(78, "'../evil.txt'"),
    "path over a link": document(79, "'link/evil.txt'"),
    "no such file": document(80, "'auth/evil.py'"),
    "path that is no text": document(81, "x'00ff'"),
    "other path": "UPDATE documents SET path = 'auth/evil.py' WHERE path = 'pay/invoice.py'",
    "other language": "UPDATE documents SET language = 'evil', ext = '.evil', module = 'evil', dir = 'evil'",
    "problems": "UPDATE documents SET problems = 'evil'",
    "other parser": EVIL_TEXT + "UPDATE documents SET parser = parser || ' evil', chunker = 'evil'",
    "huge generation": "UPDATE meta SET value = '99999999999999' WHERE key = 'generation'",
    "impossible generation": f"{EVIL_TEXT} UPDATE meta SET value = '{'9' * 5_000}' WHERE key = 'generation'",
    "generation of words": EVIL_TEXT + "UPDATE meta SET value = 'evil' WHERE key = 'generation'",
    "no generation": EVIL_TEXT + "DELETE FROM meta WHERE key = 'generation'",
    "generation of rows": "UPDATE chunks SET generation = 9223372036854775807; UPDATE embeddings SET generation = -5",
    "identity": EVIL_TEXT + "UPDATE meta SET value = '../../evil' WHERE key = 'identity'",
    "indexed later": "UPDATE meta SET value = '99999999999999999999' WHERE key = 'indexed_at_ns'",
    "indexed never": "UPDATE meta SET value = 'evil' WHERE key IN ('indexed_at_ns', 'oldest_change', 'flushed')",
    "paused": "INSERT OR REPLACE INTO meta VALUES ('paused', 'evil')",
    "failures": "INSERT INTO failures VALUES ('evil\x1b]0;title\x07', 'evil')",
    "skipped": "INSERT INTO skipped VALUES ('../evil', 'evil\x1b[2J')",
    "rejected": "INSERT INTO rejected SELECT path, 'evil', size, mtime_ns, ctime_ns, inode FROM documents "
    "WHERE path LIKE 'auth%';"
    "DELETE FROM documents WHERE path LIKE 'auth%'",
    "removed": "INSERT INTO removed SELECT key, 99999999 FROM chunks",
    "swapped vectors": "CREATE TEMP TABLE v AS SELECT rowid AS n, vector FROM embeddings;"
    "UPDATE embeddings SET vector = (SELECT vector FROM v WHERE n = 1 + (SELECT max(n) FROM v) - embeddings.rowid)",
    "short vectors": "UPDATE embeddings SET vector = x'01'",
    "no vectors": "DELETE FROM embeddings",
    "vectors of text": "UPDATE embeddings SET vector = 'evil'",
    "vectors of another model": "INSERT INTO models VALUES (9, 'evil');"
    "INSERT INTO embeddings SELECT 9, text_hash, vector, generation FROM embeddings",
    "vectors of no model": "DELETE FROM models",
    "models by other names": "UPDATE models SET name = name || ' evil'; INSERT INTO models VALUES (-7, x'00')",
    "ids of words": "UPDATE chunks SET id = 'evil' || key",
    "other hashes": "UPDATE chunks SET text_hash = 'evil'",
    "lines of words": "UPDATE chunks SET start_line = 'evil'",
    "text of bytes": "UPDATE chunks SET packed = x'6576696cff'",
    "no UTF-8": "UPDATE chunks SET packed = CAST(x'6576696cff' AS TEXT)",
    "packed text that is no UTF-8": f"UPDATE chunks SET packed = x'{NO_UTF8.hex()}'",
    "very long packed texts": f"UPDATE chunks SET packed = x'{deflated(bytes(50_000_000)).hex()}'",
    "names that are no UTF-8": "UPDATE symbols SET name = CAST(x'6576696cff' AS TEXT)",
    "languages that are no UTF-8": "UPDATE documents SET language = CAST(x'6576696cff' AS TEXT)",
    "huge keys": "UPDATE chunks SET key = 9223372036854775807 - key",
    "negative keys": "UPDATE chunks SET key = -key",
    "no more keys": "UPDATE sqlite_sequence SET seq = 9223372036854775807",
    "rows of no document": copied(
        "chunks", document_id="999", id="CAST('evil' || key AS BLOB)", packed="PACKED('evil', '', '')"
    ),
    "a trigger": EVIL_TEXT + "CREATE TRIGGER evil AFTER INSERT ON chunks BEGIN UPDATE chunks SET kind = 'evil'; END",
    "a view": f"{EVIL_TEXT} DROP TABLE failures;CREATE VIEW failures {NEVER_ENDING} 'evil' AS path, x AS reason FROM c",
    "a view that never ends": "ALTER TABLE meta RENAME TO old;"
    f"CREATE VIEW meta {NEVER_ENDING} 'format' AS key, x AS value FROM c WHERE x < 0",
    "one table more": EVIL_TEXT + "CREATE TABLE evil(x)",
    "other columns": EVIL_TEXT + "ALTER TABLE chunks ADD COLUMN evil TEXT",
    "an index of another table": "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage ="
    "(SELECT rootpage FROM sqlite_master WHERE name = 'refs_document') WHERE name = 'symbols_document'",
}


@pytest.fixture(autouse=True)
def one_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    become("author", tmp_path, monkeypatch)


def become(user: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(folder / user / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(folder / user / "state"))


def author(root: Path) -> None:
    """Make a project with an honest index."""
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    (root / "fathom.toml").write_text("")
    (root.parent / "evil.txt").write_text("evil secret\n")
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, (1_600_000_000, 1_600_000_000))
    (root / "link").symlink_to(root.parent)
    with Engine.open(str(root)) as engine:
        engine.index()
        engine.opened.catalog.store_made()  # as indexes of other stores have them, and those of earlier versions


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    author(root)
    return root


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What an index says that was made on the spot."""
    folder = tmp_path_factory.mktemp("truth")
    with pytest.MonkeyPatch.context() as patch:
        become("reader", folder, patch)
        author(folder / "project")
        return all_told(folder / "project")


REFERENCES = "r.rowid, d.path, r.packed, r.checksum FROM refs r JOIN documents d ON d.id = r.document_id"


SYMBOLS = f"s.rowid, o.packed, {SYMBOL} {FROM_SYMBOLS} LEFT JOIN outlines o ON o.document_id = d.id"


def of_symbol_with_texts(row: list[Any]) -> int:
    """Return the checksum of a row of `SYMBOL` after the outline of its document."""
    outline, *values, place = row
    texts = packed_outlines.unpacked(outline) if isinstance(outline, bytes) else ()
    return checksums.of_symbol((*values, *packed_outlines.texts_at(texts, place)))


def of_packed_chunk(row: list[Any]) -> int:
    """Return the checksum of a row of `CHUNK`."""
    return checksums.of_chunk(with_texts((0, *row))[1:])


def attack(root: Path, statements: str) -> None:
    """Change an index as somebody does who knows how it is made: all checksums are right again afterwards."""
    with closing(sqlite3.connect(root / ".fathom" / "catalog.db")) as db:
        with_text_functions(db).executescript(statements)
        db.text_factory = lambda data: data.decode("utf-8", "replace")
        with suppress(sqlite3.Error):  # a table is another one now
            tables: list[tuple[str, str, Callable[[list[Any]], int]]] = [
                ("chunks", f"c.rowid, {CHUNK}, c.checksum {FROM_CHUNKS}", of_packed_chunk),
                ("symbols", SYMBOLS, of_symbol_with_texts),
                (
                    "refs",
                    REFERENCES,
                    lambda row: packed_references.checksum(row[0], packed_references.inflated(row[1])),
                ),
            ]
            for table, columns, checksum_of in tables:
                rows = [(checksum_of(row), key) for key, *row, _ in db.execute(f"SELECT {columns}")]
                db.executemany(f"UPDATE {table} SET checksum = ? WHERE rowid = ?", rows)
        db.commit()
    (root / ".fathom" / "catalog.db.seal").unlink(missing_ok=True)


def views_of_the_catalogue(root: Path) -> None:
    """Make the views again from what the catalogue says, as whoever ships a false index would."""
    with Engine.open(str(root), settings=Settings(search=SearchSettings(refresh="never"))) as engine:
        views = engine.opened.views
        views.begin(full=True)
        views.commit()


def hits(engine: Engine) -> list[object]:
    # Hits that are equally good rank by their keys, which are others after a part was made again.
    return [(query, sorted(map(place, engine.search(query).hits))) for query in QUERIES]


def place(hit: Hit) -> tuple[object, ...]:
    chunk = hit.chunk
    return (chunk.path, chunk.start_line, chunk.end_line, chunk.text, hit.line, hit.name)


def answers(engine: Engine) -> list[object]:
    found = []
    for query in QUERIES[:3]:
        answer = engine.ask(query)
        sources = sorted((source.path, source.start_line, source.end_line, source.text) for source in answer.sources)
        found.append((sorted(answer.text.split("\n")), sources, len(answer.citations), answer.dropped))
    return found


def status(engine: Engine) -> object:
    told = engine.status()
    return (
        (
            told.n_documents,
            told.n_chunks,
            told.n_symbols,
            dict(told.languages),
            dict(told.kinds),
            told.n_without_vector,
        ),
        (told.pending, told.views_current, told.skipped, told.failures, told.paused),
    )


def files(engine: Engine) -> object:
    held = engine.files
    return [(file, held.lines(file.path).text, held.outline(file.path)) for file in held.listed()]


# What can be asked first of an index; each of these compares it with the tree.
FIRST: dict[str, Callable[[Engine], object]] = {
    "search": hits,
    "symbols": lambda engine: engine.symbols(""),
    "related": lambda engine: (engine.related("auth/session.py"), engine.related("@@refresh_token", depth=2)),
    "context": lambda engine: [
        sorted((file.path, file.text, file.spans, file.symbols) for file in engine.context(query).files)
        for query in QUERIES[:3]
    ],
    "ask": answers,
    "export": lambda engine: (list(engine.export("jsonl")), list(engine.export("index-json"))),
}
LATER: dict[str, Callable[[Engine], object]] = {
    **FIRST,
    "status": status,
    "doctor": lambda engine: [(check.name, check.ok) for check in engine.doctor()],
    "files": files,
}


def all_told(root: Path) -> dict[str, Any]:
    with Engine.open(str(root)) as engine:
        return {name: tell(engine) for name, tell in LATER.items()}


def told_first(root: Path, name: str) -> object:
    with Engine.open(str(root)) as engine:
        return FIRST[name](engine)


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_false_is_shown(
    name: str, shipped: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack(shipped, ATTACKS[name])
    become("reader", tmp_path, monkeypatch)
    first = list(FIRST)[list(ATTACKS).index(name) % len(FIRST)]
    assert told_first(shipped, first) == truth[first]
    found = all_told(shipped)
    assert found == truth
    assert EVIL not in repr(found)


@pytest.mark.parametrize("name", ["swapped vectors", "no vectors"])
def test_vectors_that_another_store_needs_are_compared(
    name: str, shipped: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_STORE__VECTORS", "faiss")
    attack(shipped, ATTACKS[name])
    become("reader", tmp_path, monkeypatch)
    assert told_first(shipped, "search") == truth["search"]


@pytest.mark.parametrize("first", FIRST)
def test_whatever_is_asked_first(
    first: str, shipped: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack(shipped, ATTACKS["other text"] + ";" + ATTACKS["other symbols"] + ";" + ATTACKS["other references"])
    views_of_the_catalogue(shipped)
    become("reader", tmp_path, monkeypatch)
    assert told_first(shipped, first) == truth[first]


def test_views_that_show_something_else(
    shipped: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The catalogue is as it should be; words and vectors lead to other places."""
    honest = tmp_path / "honest.db"
    shutil.copy(shipped / ".fathom" / "catalog.db", honest)
    attack(
        shipped,
        "UPDATE chunks SET packed = WITH_TEXT(packed, 'evil token backoff deploy'), names = 'evil';"
        + ATTACKS["swapped vectors"],
    )
    views_of_the_catalogue(shipped)
    shutil.copy(honest, shipped / ".fathom" / "catalog.db")
    become("reader", tmp_path, monkeypatch)
    assert all_told(shipped) == truth


def test_a_vector_file_alone_is_swapped(
    shipped: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder,) = (shipped / ".fathom").glob("vectors-*")
    with closing(Catalog.open(str(shipped / ".fathom" / "catalog.db"))) as catalog:
        rows = list(catalog.vectors(catalog.get_meta("model")))
        generation = catalog.generation
        store = FlatVectorStore(str(folder), len(rows[0].vector), catalog.identity)
        store.upsert(row._replace(vector=other.vector) for row, other in zip(rows, reversed(rows), strict=True))
        store.commit(generation + 1)
        store.commit(generation)
    become("reader", tmp_path, monkeypatch)
    assert all_told(shipped) == truth


def test_an_empty_catalogue_with_full_views(
    shipped: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack(shipped, "UPDATE meta SET value = '0' WHERE key = 'generation'")
    attack(shipped, new_text("'evil token backoff deploy'"))
    views_of_the_catalogue(shipped)
    tables = ("documents", "chunks", "symbols", "refs", "embeddings", "removed", "failures", "skipped", "rejected")
    attack(shipped, ";".join(f"DELETE FROM {table}" for table in (*tables, "sqlite_sequence")))
    attack(shipped, "DELETE FROM meta WHERE key NOT IN ('format', 'identity', 'generation')")
    become("reader", tmp_path, monkeypatch)
    assert all_told(shipped) == truth


@pytest.mark.parametrize("is_empty", [False, True])
def test_choices_of_whoever_made_it_do_not_hold(
    is_empty: bool, shipped: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither which files are indexed, nor where the vectors go."""
    tables = ("documents", "chunks", "symbols", "refs", "embeddings", "removed", "failures", "skipped", "rejected")
    if is_empty:
        attack(shipped, ";".join(f"DELETE FROM {table}" for table in (*tables, "sqlite_sequence")))
        attack(shipped, "DELETE FROM meta WHERE key NOT IN ('format', 'identity')")
    rules = '{"required_exts": [".nothing"], "ignore": ["auth/"]}'
    attack(shipped, f"INSERT OR REPLACE INTO meta VALUES ('kept rules', '{rules}')")
    attack(shipped, "INSERT OR REPLACE INTO meta VALUES ('store', 'faiss http://127.0.0.1:1/')")
    become("reader", tmp_path, monkeypatch)
    assert all_told(shipped) == truth
    with Engine.open(str(shipped)) as engine:
        assert engine.stores.in_force == Settings().store


def test_before_it_is_compared_nothing_of_it_is_told(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack(shipped, ";".join([*(ATTACKS[name] for name in ("failures", "skipped", "paused", "no such file"))]))
    become("reader", tmp_path, monkeypatch)
    with Engine.open(str(shipped)) as engine:
        told = engine.status()
        assert (told.generation, told.n_documents, told.n_chunks, told.languages) == (0, 0, 0, {})
        assert "not made here" in told.doubt
        assert EVIL not in repr(told)
        checks = {check.name: check for check in engine.doctor()}
        assert not checks["catalogue"].ok
        assert "fathom index" in checks["catalogue"].hint
        assert not {"views", "failed files"} & checks.keys()
        assert "sound" not in repr(checks)
        assert engine.generation == 0
        with pytest.raises(IndexingError, match="not made here"):
            engine.files.listed()
        plan = engine.plan()
        assert set(plan.added) >= set(FILES)
        assert EVIL not in repr(plan)


def test_it_is_said_that_something_was_wrong(shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attack(shipped, new_text("'evil'", "TEXT_OF(packed) LIKE '%charge_invoice%'"))
    become("reader", tmp_path, monkeypatch)
    notes: list[str] = []
    with Engine.open(str(shipped), on_wait=notes.append) as engine:
        result = engine.search("deploy")
        assert "1 files" in result.degraded[0]
        assert list(result.degraded) == notes
        assert engine.search("deploy").degraded == ()
    with Engine.open(str(shipped)) as engine:
        assert engine.search("deploy").degraded == ()


@pytest.mark.parametrize("seal", ["stays", "is gone"])
def test_an_index_that_was_changed_by_hand_is_made_again(
    seal: str, shipped: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its checksums are wrong too, so that it is damaged for whoever made it; nobody here ever knew it."""
    with closing(sqlite3.connect(shipped / ".fathom" / "catalog.db")) as db:
        with_text_functions(db).executescript(EVIL_TEXT + "UPDATE symbols SET name = 'evil'")
        db.commit()
    if seal == "is gone":
        (shipped / ".fathom" / "catalog.db.seal").unlink()
    become("reader", tmp_path, monkeypatch)
    notes: list[str] = []
    with Engine.open(str(shipped), on_wait=notes.append) as engine:
        assert hits(engine) == truth["search"]
    assert len(notes) == 1
    assert "made again" in notes[0]
    assert all_told(shipped) == truth


def test_an_honest_index_stays_as_it_is(shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user, or a container, on the same folder: nobody has to index again, however often they take turns."""
    with closing(Catalog.open(str(shipped / ".fathom" / "catalog.db"))) as catalog:
        before = (catalog.identity, catalog.generation, sorted(catalog.matching(FilterGroup("AND", ()))))
    for user in ("reader", "container", "author", "reader"):
        become(user, tmp_path, monkeypatch)
        with Engine.open(str(shipped)) as engine:
            result = engine.search("retry with backoff")
            assert (result.degraded, result.stale, result.hits[0].chunk.path) == ((), False, "web/retry.ts")
            catalog = engine.opened.catalog
            assert (catalog.identity, catalog.generation, sorted(catalog.matching(FilterGroup("AND", ())))) == before


def test_a_checked_index_is_not_checked_again(shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    become("reader", tmp_path, monkeypatch)
    for is_known in (False, True, True):
        with Engine.open(str(shipped)) as engine:
            assert engine.opened.is_known == is_known
            engine.search("deploy")
    remove_folder(tmp_path / "reader" / "state")  # costs one check, never a result
    for is_known in (False, True):
        with Engine.open(str(shipped)) as engine:
            assert engine.opened.is_known == is_known
            assert engine.search("deploy").hits[0].chunk.path == "docs/guide.md"


@pytest.mark.parametrize("how", ["moved", "copied", "rewritten"])
def test_another_index_at_a_known_place_is_not_known(
    how: str, shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = shipped / ".fathom"
    later = tmp_path / "later"
    if how == "rewritten":  # by the next version of a repository, which brings the index that it came with
        shutil.copytree(index, later)
        become("reader", tmp_path, monkeypatch)
        with Engine.open(str(shipped)) as engine:
            engine.search("deploy")
        for path in later.rglob("*"):
            if path.is_file():
                (index / path.relative_to(later)).parent.mkdir(exist_ok=True)
                (index / path.relative_to(later)).write_bytes(path.read_bytes())
    elif how == "moved":
        shipped = shipped.rename(tmp_path / "elsewhere")
    else:
        shutil.copytree(index, later)
        remove_folder(index)
        later.rename(index)
    with Engine.open(str(shipped)) as engine:
        assert not engine.opened.is_known


def test_files_that_changed_since_are_no_reason_to_complain(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    become("reader", tmp_path, monkeypatch)
    (shipped / "pay" / "invoice.py").write_text("def refund_invoice(amount):\n    return -amount\n")
    (shipped / "web" / "retry.ts").unlink()
    with Engine.open(str(shipped)) as engine:
        report = engine.index()
        assert (report.mended, report.changed, report.removed) == ((), ("pay/invoice.py",), ("web/retry.ts",))
        assert engine.search("refund_invoice").hits[0].chunk.path == "pay/invoice.py"


def test_a_check_that_was_cut_off_begins_again(shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attack(shipped, ATTACKS["other text"])
    become("reader", tmp_path, monkeypatch)
    with Engine.open(str(shipped)) as engine:
        events = engine.index_events()
        next(events)
        events.close()
        assert not engine.opened.is_known
        assert EVIL not in repr(hits(engine))


def test_where_nothing_can_be_remembered_each_command_checks_and_says_so(
    shipped: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    become("reader", tmp_path, monkeypatch)
    (tmp_path / "reader").mkdir()
    (tmp_path / "reader" / "state").write_text("no folder")
    for _ in range(2):
        notes: list[str] = []
        with Engine.open(str(shipped), on_wait=notes.append) as engine:
            assert hits(engine) == truth["search"]
        assert len(notes) == 1
        assert "cannot write into" in notes[0]


OLD = "# 计算发票的总金额并且加上税款\n# 用户登录以后刷新令牌\ndef total_of(invoice):\n    return invoice\n"


@pytest.mark.parametrize("encoding", ["as it is", "big5hkscs", "rot13", "evil", "\x1b]0;evil"])
def test_old_encodings_are_no_reason_to_complain(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    (root / "old").mkdir(parents=True)
    for number in range(30):
        (root / "old" / f"part{number}.py").write_bytes(OLD.replace("total", f"total{number}").encode("gb18030"))
    author(root)
    if encoding != "as it is":
        attack(root, f"UPDATE meta SET value = '{encoding}' WHERE key = 'encoding'")
    become("reader", tmp_path, monkeypatch)
    with Engine.open(str(root)) as engine:
        result = engine.search("total7_of")
        found = result.hits[0].chunk
        assert (found.path, "计算发票" in found.text) == ("old/part7.py", True)
        assert result.degraded == () or encoding != "as it is"
        assert engine.opened.catalog.get_meta("encoding") == "gb18030"


@pytest.fixture
def fathom(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return run_fathom(*words, cwd=root, text=True)

    return run


def test_on_the_command_line(shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fathom) -> None:
    attack(shipped, ATTACKS["other text"])
    become("reader", tmp_path, monkeypatch)
    ran = fathom(shipped, "status")
    assert "not made here" in ran.stdout
    assert fathom(shipped, "doctor").returncode == 1
    ran = fathom(shipped, "search", "--json", "charge_invoice")
    assert "return amount * 100" in json.loads(ran.stdout)["hits"][0]["content"]
    assert ran.stderr.count("was not made here") == 1
    assert fathom(shipped, "doctor").returncode == 0
    assert "was not made here" not in fathom(shipped, "search", "charge_invoice").stderr


def test_an_import_takes_what_stands_in_the_files(shipped: Path, tmp_path: Path) -> None:
    with Engine.open(str(shipped)) as engine:
        lines = list(engine.export("jsonl"))
        texts = engine.search("deploy").hits
    false = [line.replace("return", "evil()") for line in lines]
    more = json.loads(lines[0]) | {"relative_path": "auth/evil.py"}
    notes: list[str] = []
    settings = Settings(search=SearchSettings(refresh="never"))
    with Engine.open(str(shipped), settings=settings, on_wait=notes.append) as engine:
        n_false = sum(line != other for line, other in zip(lines, false, strict=True))
        assert engine.import_index(iter([*false, json.dumps(more)]), "jsonl") == len(lines) - n_false
        assert f"{n_false + 1} documents" in notes[0]
        assert EVIL not in repr(engine.symbols("")) + repr(hits(engine))
        assert engine.search("deploy").hits == texts


def test_views_of_other_models_do_not_stay(shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would be believed when that model is chosen later."""
    (folder,) = (shipped / ".fathom").glob("vectors-*")
    shutil.copytree(folder, shipped / ".fathom" / "vectors-00000000")
    become("reader", tmp_path, monkeypatch)
    with Engine.open(str(shipped)) as engine:
        engine.search("deploy")
    assert list((shipped / ".fathom").glob("vectors-*")) == [folder]


@pytest.mark.parametrize("path", ["/etc/passwd", "../evil.txt", "a/../../evil.txt", "a\0b", ""])
def test_an_import_never_leads_out(path: str, shipped: Path) -> None:
    line = json.dumps({"relative_path": path, "content": [{"source_code": "evil secret\n"}]})
    with Engine.open(str(shipped)) as engine, pytest.raises(FathomError, match="outside"):
        engine.import_index(iter([line]), "jsonl")
    listed = json.dumps({path: {"md5": "x"}})
    with Engine.open(str(shipped)) as engine, pytest.raises(FathomError, match="outside"):
        engine.import_index(iter([listed]), "index-json")


def test_an_import_does_not_follow_a_link_out(shipped: Path) -> None:
    import hashlib

    digest = hashlib.md5(b"evil secret\n").hexdigest()
    with Engine.open(str(shipped)) as engine:
        assert engine.import_index(iter([json.dumps({"link/evil.txt": {"md5": digest}})]), "index-json") == 0


@pytest.mark.parametrize("speed", ["junk", "nan", "1e-300"])
def test_a_forecast_is_not_made_from_what_a_shipped_index_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speed: str
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("def f(): pass\n")
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "theirs"))
    with Engine.open(str(root)) as engine:
        engine.index()
    with closing(sqlite3.connect(root / ".fathom" / "catalog.db")) as database:
        database.execute("INSERT OR REPLACE INTO meta VALUES ('bytes_per_second', ?)", (speed,))
        database.commit()
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "ours"))
    (root / "b.py").write_text("def g(): pass\n")
    with Engine.open(str(root)) as engine:
        forecast = engine.plan().forecast
    assert forecast is not None
    assert 0 < forecast.seconds < 1


def test_what_was_made_of_a_shipped_catalogue_is_not_believed(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine.open(str(shipped)) as engine:
        made = engine.opened.catalog.beside("links", 1)
        made.save([bytes(1 << 17)])
        assert made.load() is not None
    become("reader", tmp_path, monkeypatch)
    with Engine.open(str(shipped)) as engine:
        engine.search("refresh the token")
        assert engine.opened.catalog.beside("links", 1).load() is None
