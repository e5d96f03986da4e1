"""DuckDB keeps the contract, without network and without an extension."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import duckdb
import pytest
from tests.contracts.candidate_stores import StoreContract
from tests.waiting import comes, join

from codefathom.errors import StoreError
from codefathom.stores.base import Row
from codefathom.stores.vectors.candidates import CandidateStore, StoreSetup
from codefathom.stores.vectors.duckdb_vectors import DuckdbStore


class TestDuckdb(StoreContract):
    n_rounds = 8

    def connect(self, setup: StoreSetup) -> CandidateStore:
        return DuckdbStore(setup)


def test_the_table_is_that_of_the_document_and_plain_duckdb_reads_it(tmp_path: Path) -> None:
    contract = TestDuckdb()
    view = contract.open(tmp_path)
    view.upsert([Row(4, b"\x7f" + bytes(7))])
    view.commit(1)
    (file,) = (tmp_path / "store").glob("*.duckdb")
    with duckdb.connect(str(file), read_only=True) as db:
        rows = db.execute("SELECT file_path, content, raw_content, vector, mtime, key FROM rag").fetchall()
    assert rows == [("src/file4.x", "line 4\n", "line 4\n", (1.0, *[0.0] * 7), 0.0, 4)]


def test_a_file_of_the_store_reads_and_fetches_nothing_else(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    contract = TestDuckdb()
    store = contract.connect(contract._setup(tmp_path))
    contract.open(tmp_path).commit(1)
    (file,) = (tmp_path / "store").glob("*.duckdb")
    file.chmod(0o600)
    with duckdb.connect(str(file)) as db:
        db.execute("DROP TABLE rag")
        db.execute(f"CREATE VIEW rag AS SELECT length(content) AS key FROM read_text('{secret}')")
    with pytest.raises(StoreError, match="disabled"):
        store.keys()


def test_damage_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    contract = TestDuckdb()
    contract.open(tmp_path).commit(1)
    (file,) = (tmp_path / "store").glob("*.duckdb")
    file.write_bytes(b"rubbish" * 1_000)
    with pytest.raises(StoreError, match="cannot read") as error:
        contract.connect(contract._setup(tmp_path)).count()
    assert "run `fathom index`" in error.value.hint
    (tmp_path / "store" / "duckdb.json").write_text('{"file": "../../secret", "owner": "", "generation": 1}')
    assert contract.connect(contract._setup(tmp_path)).label() is None


def test_it_is_closed_while_another_thread_reads(tmp_path: Path) -> None:
    contract = TestDuckdb()
    contract.open(tmp_path).commit(1)
    store, outcomes = DuckdbStore(contract._setup(tmp_path)), list[object]()

    def read() -> None:
        try:
            outcomes.extend(store._rows("SELECT sum(sqrt(a.range * b.range)) FROM range(30000) a, range(30000) b"))
        except StoreError as error:
            outcomes.append(str(error))

    reader = Thread(target=read)
    reader.start()
    assert comes(lambda: store._used or outcomes)
    store.close()
    join(reader)
    assert len(outcomes) == 1
    assert isinstance(outcomes[0], tuple) or "was closed while it was read" in str(outcomes[0])
    (file,) = (tmp_path / "store").glob("*.duckdb")
    file.chmod(0o600)
    with duckdb.connect(str(file)) as db:  # which needs the file for itself
        assert db.execute("SELECT count(*) FROM rag").fetchone() == (0,)
    assert store.count() == 0
