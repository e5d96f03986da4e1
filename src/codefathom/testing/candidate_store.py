"""The contract of stores of other makers: what a vector store keeps, and what they owe their users beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random

from codefathom.errors import StoreError
from codefathom.stores.base import Row
from codefathom.stores.catalog.records import CatalogChanges
from codefathom.stores.folder import folder_at
from codefathom.stores.rescored import RescoredStore, RowsOf
from codefathom.stores.vectors.candidates import CandidateStore, Change, Label, Point, StoreOptions, StoreSetup, Within
from codefathom.stores.vectors.payload import payload_of, point_id
from codefathom.testing.vector_store import VectorStoreContract
from codefathom.types import Chunk

_LANGUAGES = ("python", "go", "rust")


class CandidateStoreContract(VectorStoreContract):
    """The behaviour of every `CandidateStore`, also as the vector view that `RescoredStore` makes of it.

    A test class inherits from it and connects to one.
    """

    options = StoreOptions()

    def connect(self, setup: StoreSetup) -> CandidateStore:
        """Return the store under test. Called again with the same values, also in another process, it is the same."""
        raise NotImplementedError

    def open(self, folder: Path) -> RescoredStore:
        """Return the store as a vector view, over a catalogue of this folder."""
        catalog = CatalogOfRows(folder / "rows.db")
        source = RowsOf(catalog, "model", "owner", "shop", self.dimensions)
        return _ViewOfRows(self.connect(self._setup(folder)), source, catalog)

    def test_ids_are_the_same_after_two_builds(self, tmp_path: Path) -> None:
        """A second build replaces each row by itself, whatever its key is then."""
        store = self.connect(self._setup(tmp_path))
        for keys in (range(1, 31), range(101, 131)):
            store.apply(Change(self._points(dict(zip(keys, range(30), strict=True))), (), True, Label("owner", 1)))
            assert store.count() == 30
            assert sorted(store.keys()) == list(keys)
        store.apply(Change(self._points({7: 3}), (), False, Label("owner", 2)))
        assert store.count() == 30  # row 3 has the key 7 now
        store.apply(Change((), (7, 404), False, Label("owner", 3)))
        assert store.count() == 29
        assert 7 not in set(store.keys())
        assert store.label() == Label("owner", 3)

    def test_fields_of_the_payload_filter_inside(self, tmp_path: Path) -> None:
        """Only rows with such a field are named, however many others are nearer."""
        store = self.connect(self._setup(tmp_path))
        store.apply(Change(self._points({key: key for key in range(300)}), (), True, Label("owner", 1)))
        for languages in (("go",), ("go", "rust"), ("klingon",)):
            within = Within(fields={"language": languages})
            keys = {key for key, _ in store.candidates(bytes([127] * self.dimensions), 400, within)}
            of_languages = {key for key in range(300) if _LANGUAGES[key % 3] in languages}
            assert keys == of_languages if self.least_recall == 1.0 else keys <= of_languages

    def test_dropping_leaves_nothing(self, tmp_path: Path) -> None:
        """No row and no label; dropping twice is no error, and the store can be filled again."""
        store = self.connect(self._setup(tmp_path))
        store.drop()
        for _ in range(2):
            store.apply(Change(self._points({1: 1}), (), True, Label("owner", 1)))
            assert (store.label(), store.count()) == (Label("owner", 1), 1)
            store.drop()
            assert (store.label(), store.count(), list(store.keys())) == (None, 0, [])
            assert store.candidates(bytes([1] * self.dimensions), 5, Within()) == []
            store.drop()

    def test_rows_of_another_length_are_refused(self, tmp_path: Path) -> None:
        """A project whose model has another length is told so with the remedy, and what is there stays."""
        setup = self._setup(tmp_path)
        store = self.connect(setup)
        store.apply(Change(self._points({1: 1, 2: 2}), (), True, Label("owner", 1)))
        store.close()
        other = self.connect(setup._replace(dimensions=self.dimensions + 4))
        point = next(iter(self._points({1: 1})))
        wider = point._replace(vector=point.vector + bytes([1, 2, 3, 4]))
        try:
            other.apply(Change([wider], (), False, Label("another owner", 1)))
        except StoreError as error:
            assert str(self.dimensions) in str(error)
            assert error.hint
        else:
            raise AssertionError("a vector of another length was taken")
        other.close()
        assert self.connect(setup).label() == Label("owner", 1)

    def test_projects_do_not_meet(self, tmp_path: Path) -> None:
        """Two projects in one collection: each finds, counts and drops its own rows."""
        one, two = (self._setup(tmp_path / name, name) for name in ("one", "two"))
        stores = [self.connect(setup) for setup in (one, two)]
        for number, (store, setup) in enumerate(zip(stores, (one, two), strict=True), start=1):
            keys = {number * 100 + row: row for row in range(10 * number)}
            store.apply(Change(self._points(keys, setup.options.project), (), True, Label("owner", number)))
        for number, store in enumerate(stores, start=1):
            assert (store.count(), store.label()) == (10 * number, Label("owner", number))
            assert store.projects()[("one", "two")[number - 1]] == 10 * number
            named = {key for key, _ in store.candidates(bytes([127] * self.dimensions), 50, Within())}
            assert named <= {number * 100 + row for row in range(10 * number)}
            assert named
        stores[0].drop()
        assert (stores[0].count(), stores[1].count()) == (0, 20)
        assert "one" not in stores[0].projects()

    def test_making_it_ready_loses_nothing(self, tmp_path: Path) -> None:
        """Before the first commit and after it; what the store says of itself can be shown."""
        store = self.connect(self._setup(tmp_path))
        assert store.described()
        for _ in range(2):
            store.prepare()
        assert (store.label(), store.count(), dict(store.projects())) == (None, 0, {})
        store.apply(Change(self._points({1: 1}), (), True, Label("owner", 1)))
        store.prepare()
        assert (store.label(), store.count(), dict(store.projects())) == (Label("owner", 1), 1, {"shop": 1})
        assert all(isinstance(value, (str, int, bool)) for value in store.described().values())

    def _setup(self, folder: Path, project: str = "shop") -> StoreSetup:
        folder.mkdir(parents=True, exist_ok=True)
        return StoreSetup(folder_at(str(folder / "store")), self.dimensions, self.options._replace(project=project))

    def _points(self, contents: Mapping[int, int], project: str = "shop") -> Iterator[Point]:
        """Yield points: by their key, the number of their content."""
        for key, number in contents.items():
            chunk = chunk_of(number)
            vector = Random(number).randbytes(self.dimensions - 1) + b"\1"
            yield Point(point_id(project, chunk), key, vector, payload_of(project, chunk))


def chunk_of(number: int) -> Chunk:
    """Return a chunk whose content follows from a number."""
    language = _LANGUAGES[number % 3]
    text = f"line {number}\n"
    return Chunk(f"id-{number}", f"src/file{number}.x", language, "function", "", (), number + 1, number + 1, text)


class CatalogOfRows:
    """The rows of a catalogue, without its documents: any key can have any vector. A file, for several processes."""

    def __init__(self, file: Path) -> None:
        self._file = file
        with closing(self._open()) as db, db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("CREATE TABLE IF NOT EXISTS rows(key INTEGER PRIMARY KEY, vector BLOB, generation INTEGER)")
            db.execute("CREATE TABLE IF NOT EXISTS gone(key INTEGER PRIMARY KEY, generation INTEGER)")
            db.execute("CREATE TABLE IF NOT EXISTS state(generation INTEGER)")

    def write(self, rows: Mapping[int, bytes | None], generation: int, *, is_whole: bool) -> None:
        """Write rows, and remove those that are None."""
        with closing(self._open()) as db, db:
            if is_whole:
                db.execute("DELETE FROM rows")
                db.execute("DELETE FROM gone")
            kept = [(key, vector, generation) for key, vector in rows.items() if vector is not None]
            gone = [(key, generation) for key, vector in rows.items() if vector is None]
            db.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", kept)
            db.executemany("DELETE FROM gone WHERE key = ?", [(key,) for key, _, _ in kept])
            db.executemany("DELETE FROM rows WHERE key = ?", [(key,) for key, _ in gone])
            db.executemany("INSERT OR REPLACE INTO gone VALUES (?, ?)", gone)
            db.execute("DELETE FROM state")
            db.execute("INSERT INTO state VALUES (?)", (generation,))

    @property
    def generation(self) -> int:
        """Generation of the last write, 0 before the first."""
        return next((row[0] for row in self._read("SELECT generation FROM state")), 0)

    def rows(self, model: str, keys: Collection[int]) -> dict[int, bytes]:
        """Return the vectors of keys."""
        chosen = set(keys)
        return {key: vector for key, vector in self._read("SELECT key, vector FROM rows") if key in chosen}

    def vectors(self, model: str, since: int = 0) -> Iterator[Row]:
        """Yield the rows that came after a generation."""
        yield from map(
            Row._make, self._read("SELECT key, vector FROM rows WHERE generation > ? ORDER BY key", (since,))
        )

    def chunks(self, keys: Collection[int]) -> dict[int, Chunk]:
        """Return a chunk for each key."""
        return {key: chunk_of(key) for key in keys}

    def changes(self, since: int) -> CatalogChanges:
        """Return the keys that were removed after a generation."""
        gone = self._read("SELECT key FROM gone WHERE generation > ?", (since,))
        return CatalogChanges(iter(()), [row[0] for row in gone], True)

    def modified_s(self, paths: Collection[str]) -> dict[str, float]:
        """Return nothing: there are no documents."""
        return {}

    def n_rows(self, model: str) -> int:
        """Count the rows."""
        return int(self._read("SELECT count(*) FROM rows")[0][0])

    def rewritten(self, since: int) -> list[int]:
        """Return nothing: there are no documents."""
        return []

    def _read(self, statement: str, parameters: Iterable[object] = ()) -> list[tuple[int, bytes]]:
        with closing(self._open()) as db:
            return db.execute(statement, tuple(parameters)).fetchall()

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._file, timeout=60)


class _ViewOfRows(RescoredStore):
    """The view, which writes to its catalogue first what is committed to it, as an index run does."""

    def __init__(self, store: CandidateStore, source: RowsOf, catalog: CatalogOfRows) -> None:
        super().__init__(store, source)
        self._catalog = catalog
        self._rows: dict[int, bytes | None] = {}

    def upsert(self, rows: Iterable[Row]) -> None:
        """Note rows."""
        rows = list(rows)
        super().upsert(rows)
        self._rows.update(rows)

    def delete(self, keys: Collection[int]) -> None:
        """Note the keys of rows."""
        super().delete(keys)
        self._rows.update(dict.fromkeys(keys))

    def clear(self) -> None:
        """Forget what was noted."""
        super().clear()
        self._rows.clear()

    def abandon(self) -> None:
        """Forget what was noted."""
        super().abandon()
        self._rows.clear()

    def commit(self, generation: int) -> None:
        """Write the catalogue, then the store."""
        self._catalog.write(self._rows, generation, is_whole=self._is_cleared)
        self._rows.clear()
        super().commit(generation)

    def close(self) -> None:
        """Forget what was noted."""
        self._rows.clear()
        super().close()
