"""The contract of vector stores, and of stores of other makers behind one."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from operator import mul
from pathlib import Path
from random import Random
from typing import NamedTuple

from codefathom.errors import MismatchError
from codefathom.stores.base import Row, VectorStore


class VectorStoreContract:
    """The behaviour of every `VectorStore`. A test class inherits from it and opens one in a folder."""

    dimensions = 8
    n_rounds = 25
    n_many = 3_000  # rows where a store might take a shorter way; fewer for one that is slow by nature
    least_recall = 1.0  # below it for an approximate store: share of the nearest that each question must find

    def open(self, folder: Path) -> VectorStore:
        """Return the store under test, in this folder; called again, it finds what was committed."""
        raise NotImplementedError

    def test_begins_empty(self, tmp_path: Path) -> None:
        """Nothing is there, and it says so."""
        store = self.open(tmp_path)
        assert store.generation == -1
        assert store.nearest(self._query(Random(1)), 5) == []

    def test_nearest_equals_brute_force(self, tmp_path: Path) -> None:
        """After any sequence of changes, for any k and filter, and for a second reader too."""
        random = Random(20)
        store = self.open(tmp_path)
        rows: dict[int, bytes] = {}
        for generation in range(1, self.n_rounds + 1):
            self._change(store, rows, random)
            store.commit(generation)
            for reader in (store, self.open(tmp_path)):
                assert reader.generation == generation
                self._compare(reader, rows, random)

    def test_abandoned_changes_do_not_come(self, tmp_path: Path) -> None:
        """Abandoned changes do not come with the next commit; a rebuild that was begun still happens."""
        random = Random(23)
        store = self.open(tmp_path)
        first, second, query = self._vector(random), self._vector(random), self._query(random)
        store.upsert([Row(1, first)])
        store.commit(1)
        store.upsert([Row(2, second)])
        store.delete([1])
        store.abandon()
        store.upsert([Row(3, second)])
        store.commit(2)
        assert {key for key, _ in store.nearest(query, 5)} == {1, 3}
        store.clear()
        store.upsert([Row(4, first)])
        store.abandon()
        assert store.generation == -1
        store.upsert([Row(5, first)])
        store.commit(3)
        assert {key for key, _ in store.nearest(query, 5)} == {5}

    def test_nearest_equals_brute_force_among_many(self, tmp_path: Path) -> None:
        """Also where a store would take a shorter way: many rows, small and large filters, many ties."""
        random = Random(21)
        vectors = [self._vector(random) for _ in range(self.n_many * 3 // 10)]
        rows = {key: random.choice(vectors) for key in random.sample(range(100_000), self.n_many)}
        store = self.open(tmp_path)
        store.upsert(Row(*item) for item in rows.items())
        store.commit(1)
        for _ in range(8):
            self._compare(store, rows, random)

    def test_a_filter_never_empties_the_result(self, tmp_path: Path) -> None:
        """Only the far rows are allowed: they are found, however many are nearer."""
        store = self.open(tmp_path)
        near, far = bytes([127] * self.dimensions), bytes([127] * (self.dimensions - 1) + [0])
        store.upsert([Row(key, near) for key in range(1_000)] + [Row(key, far) for key in range(1_000, 1_300)])
        store.commit(1)
        for allowed in ({1_000}, {1_001, 1_299, 77_777}, set(range(1_000, 1_300))):
            neighbours = [key for key, _ in store.nearest(near, 3, allowed)]
            inside = sorted(allowed & set(range(1_300)))
            # All of them are equally near: an approximate store may name any.
            assert neighbours == inside[:3] if self.least_recall == 1.0 else set(neighbours) <= set(inside)
            assert len(neighbours) == len(inside[:3])
        assert store.nearest(near, 3, {77_777}) == store.nearest(near, 3, set()) == store.nearest(near, 0) == []

    def test_changes_show_after_commit_only(self, tmp_path: Path) -> None:
        """Neither here nor elsewhere; and what was not committed is gone with the store."""
        random = Random(22)
        store = self.open(tmp_path)
        query, kept = self._query(random), {key: self._vector(random) for key in range(5)}
        store.upsert(Row(*item) for item in kept.items())
        store.commit(7)
        before = store.nearest(query, 10)
        store.upsert([Row(1, query), Row(9, query)])
        store.delete([0, 2])
        assert store.nearest(query, 10) == self.open(tmp_path).nearest(query, 10) == before
        store.clear()
        assert store.nearest(query, 10) == before
        store.close()
        assert self.open(tmp_path).nearest(query, 10) == before
        assert self.open(tmp_path).generation == 7

    def test_another_reader_sees_a_commit_once_it_reloads(self, tmp_path: Path) -> None:
        """Also one that was opened before there was anything."""
        random = Random(25)
        reader, writer = self.open(tmp_path), self.open(tmp_path)
        rows: dict[int, bytes] = {}
        for generation in (1, 2, 3):
            self._change(writer, rows, random)
            writer.commit(generation)
            reader.reload()
            assert reader.generation == generation
            self._compare(reader, rows, random)

    def test_the_last_change_of_a_key_counts(self, tmp_path: Path) -> None:
        """Unknown keys may be deleted, known ones written again, all in one commit."""
        random = Random(23)
        one, other = self._vector(random), self._vector(random)
        store = self.open(tmp_path)
        store.delete([404])
        store.upsert([Row(1, one), Row(1, other), Row(2, one)])
        store.delete({2})
        store.delete([3])
        store.upsert([Row(3, one)])
        store.commit(1)
        self._compare(store, {1: other, 3: one}, random)

    def test_clear_begins_again(self, tmp_path: Path) -> None:
        """From clear to commit there is no generation to go on from; afterwards only the new rows are there."""
        random = Random(24)
        store = self.open(tmp_path)
        store.upsert([Row(key, self._vector(random)) for key in range(20)])
        store.commit(3)
        store.clear()
        assert store.generation == -1
        row = Row(30, self._vector(random))
        store.upsert([row])
        store.commit(2)
        assert store.generation == 2
        self._compare(self.open(tmp_path), {30: row.vector}, random)

    def test_an_empty_view_has_a_generation(self, tmp_path: Path) -> None:
        """A project without any text is up to date, not broken."""
        self.open(tmp_path).commit(4)
        store = self.open(tmp_path)
        assert (store.generation, store.nearest(self._query(Random(2)), 3)) == (4, [])

    def test_zeros_are_near_to_nothing(self, tmp_path: Path) -> None:
        """A row without direction has similarity 0; a query without one finds nothing."""
        store = self.open(tmp_path)
        store.upsert([Row(1, bytes(self.dimensions)), Row(2, b"\x7f" * self.dimensions)])
        store.commit(1)
        assert store.nearest(bytes(self.dimensions), 2) == []
        (first, best), (second, none) = store.nearest(b"\x01" * self.dimensions, 2)
        assert (first, second, none) == (2, 1, 0.0)
        assert abs(best - 1) < _TOLERANCE

    def test_refuses_another_length(self, tmp_path: Path) -> None:
        """Vectors of another model never get in, and never find anything."""
        store = self.open(tmp_path)
        for attempt in (lambda: store.upsert([Row(1, b"\1")]), lambda: store.nearest(b"\1", 1)):
            try:
                attempt()
            except MismatchError:
                continue
            raise AssertionError("a vector of another length was taken")

    def _change(self, store: VectorStore, rows: dict[int, bytes], random: Random) -> None:
        if random.random() < 0.1:
            store.clear()
            rows.clear()
        for _ in range(random.randrange(4)):
            gone = random.sample(range(80), random.randrange(20))
            store.delete(gone)
            for key in gone:
                rows.pop(key, None)
            added = {random.randrange(80): self._vector(random) for _ in range(random.randrange(30))}
            store.upsert(Row(*item) for item in added.items())
            rows.update(added)

    def _compare(self, store: VectorStore, rows: Mapping[int, bytes], random: Random) -> None:
        keys = sorted(rows)
        for allowed in (None, set(keys[::2]), random.sample(keys, len(keys) // 70), [*keys[:1], -5], frozenset(keys)):
            query, k = self._query(random), random.choice([1, 2, 10, 70, 5_000])
            _check(store.nearest(query, k, allowed), _Question(query, rows, k, allowed), self.least_recall)

    def _vector(self, random: Random) -> bytes:
        return bytes(random.choice((0, 1, 60, 127, 129, 255)) for _ in range(self.dimensions))

    def _query(self, random: Random) -> bytes:
        return bytes([127, *(random.randrange(256) for _ in range(self.dimensions - 1))])


_TOLERANCE = 1e-5


class _Question(NamedTuple):
    query: bytes
    rows: Mapping[int, bytes]
    k: int
    allowed: Collection[int] | None


def _check(neighbours: list[tuple[int, float]], question: _Question, least_recall: float) -> None:
    """Compare with a plain computation; which of two rows is the nearer one may be decided by rounding only."""
    query, rows, k, allowed = question
    similar = {key: _cosine(query, row) for key, row in rows.items() if allowed is None or key in allowed}
    best = sorted(similar.values(), reverse=True)[:k]
    assert len({key for key, _ in neighbours}) == len(neighbours)
    assert all(abs(similar[key] - value) < _TOLERANCE for key, value in neighbours)
    assert neighbours == sorted(neighbours, key=lambda item: (-item[1], item[0]))
    if least_recall == 1.0:
        assert len(neighbours) == len(best)
        assert all(
            abs(value - similarity) < _TOLERANCE for (_, value), similarity in zip(neighbours, best, strict=True)
        )
    elif best:
        n_good = sum(value > best[-1] - _TOLERANCE for _, value in neighbours)
        assert n_good >= math.floor(least_recall * len(best))


def _cosine(one: bytes, other: bytes) -> float:
    first, second = memoryview(one).cast("b").tolist(), memoryview(other).cast("b").tolist()
    length = math.hypot(*first) * math.hypot(*second)
    return sum(map(mul, first, second)) / length if length else 0.0
