"""For tests of code that uses or extends Codefathom: contracts of the protocols, and stand-ins that need no model."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import mul
from pathlib import Path
from random import Random
from threading import Lock
from typing import Literal, cast
from zlib import crc32

from codefathom.errors import FathomError, MismatchError
from codefathom.providers.base import Ask, Delta, Embedder, Reply
from codefathom.stores.base import Row, VectorStore
from codefathom.types import Matrix

KINDS: tuple[Literal["document"], Literal["query"]] = ("document", "query")
_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"\S+|\s+")


class FakeEmbedder:
    """A deterministic embedder for tests: each word falls on one of a few axes. It knows nothing of meaning."""

    def __init__(self, dimensions: int = 16) -> None:
        self._dimensions = dimensions

    @property
    def name(self) -> str:
        """Model and revision; stored with the index."""
        return f"fake-1:{self._dimensions}"

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        """Return float32 unit rows; the same words in any order and case give the same row."""
        rows = array("f", (value for text in texts for value in self._row(text)))
        return _matrix(rows, len(texts), self._dimensions)

    def _row(self, text: str) -> list[float]:
        row = [0.0] * self._dimensions
        for word in _WORD.findall(text.lower()):
            row[crc32(word.encode("utf-8", "surrogatepass")) % self._dimensions] += 1.0
        length = math.hypot(*row)
        return [value / length for value in row] if length else row


class ScriptedChat:
    """A chat model for tests: gives the replies it was given, one after another, and remembers what it was asked.

    A reply may be an error, which is raised, or a function of what is asked.
    """

    name = "scripted:model"

    def __init__(self, replies: Sequence[Reply | FathomError | Callable[[Ask], Reply]]) -> None:
        self._replies = list(replies)
        self._lock = Lock()
        self.asks: list[Ask] = []

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        """See `ChatModel`; the text comes word by word."""
        with self._lock:
            self.asks.append(ask)
            if not self._replies:
                raise AssertionError(f"there is no reply left for {ask.messages[-1].content[:200]!r}")
            reply = self._replies.pop(0)
        if isinstance(reply, FathomError):
            raise reply
        given = reply if isinstance(reply, Reply) else reply(ask)
        yield from (Delta(piece) for piece in _PIECE.findall(given.text))
        yield given


class EmbedderContract:
    """What every `Embedder` does. A test class inherits from it and says how to make one."""

    def make(self) -> Embedder:
        """Return the embedder under test."""
        raise NotImplementedError

    def test_names_itself_the_same_every_time(self) -> None:
        """The name is the key under which vectors are kept."""
        assert self.make().name == self.make().name
        assert self.make().name.strip()

    def test_gives_one_row_for_each_text(self) -> None:
        """Shape and type are those the stores expect."""
        embedder = self.make()
        for kind in KINDS:
            matrix = embedder.embed(["read a file", "write a file", "read a file"], kind)
            assert (matrix.shape, matrix.format, matrix.c_contiguous) == ((3, embedder.dimensions), "f", True)
            rows = rows_of(matrix)
            assert rows[0] == rows[2] != rows[1]

    def test_takes_no_texts(self) -> None:
        """Nothing in, nothing out."""
        assert all(len(self.make().embed([], kind)) == 0 for kind in KINDS)

    def test_rows_have_unit_length(self) -> None:
        """The dot product of two rows is their cosine."""
        for kind in KINDS:
            for row in rows_of(self.make().embed(["parse the configuration", "open_socket()"], kind)):
                assert abs(math.hypot(*row) - 1) < 1e-5

    def test_a_text_without_words_gives_zeros(self) -> None:
        """Nothing known is near to nothing, and never not-a-number."""
        for kind in KINDS:
            rows = rows_of(self.make().embed(["", "  \n", "parse", "{}();"], kind))
            assert [any(row) for row in rows] == [False, False, True, False]

    def test_gives_the_same_bits_again(self) -> None:
        """Also from another instance."""
        texts = ["def parse(text): return text.split()", "SELECT name FROM users"]
        for kind in KINDS:
            assert self.make().embed(texts, kind).tobytes() == self.make().embed(texts, kind).tobytes()

    def test_a_row_does_not_depend_on_its_neighbours(self) -> None:
        """A cached vector equals one made in any batch."""
        embedder = self.make()
        texts = [
            f"read {word} from the {word} of number {n}" for n, word in enumerate(["file", "socket", "cache"] * 60)
        ]
        together = rows_of(embedder.embed(texts, "document"))
        assert together[::20] == [rows_of(embedder.embed([text], "document"))[0] for text in texts[::20]]

    def test_a_question_lies_near_its_answer(self) -> None:
        """Both kinds of text live in one space."""
        embedder = self.make()
        question = rows_of(embedder.embed(["parse json text"], "query"))[0]
        near, far = rows_of(embedder.embed(["parse json text quickly", "socket listens"], "document"))
        assert sum(map(mul, question, near)) > sum(map(mul, question, far))


def rows_of(matrix: Matrix) -> list[list[float]]:
    """Return the rows of a matrix as plain numbers."""
    return cast(list[list[float]], matrix.tolist())


def _matrix(values: array[float], n_rows: int, dimensions: int) -> Matrix:
    flat = memoryview(values)
    return cast(Matrix, flat.cast("B").cast("f", (n_rows, dimensions)) if n_rows else flat)


class VectorStoreContract:
    """What every `VectorStore` does. A test class inherits from it and says how to open one in a folder."""

    dimensions = 8
    n_rounds = 25

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

    def test_nearest_equals_brute_force_among_many(self, tmp_path: Path) -> None:
        """Also where a store would take a shorter way: many rows, small and large filters, many ties."""
        random = Random(21)
        vectors = [self._vector(random) for _ in range(900)]
        rows = {key: random.choice(vectors) for key in random.sample(range(100_000), 3_000)}
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
            found = [key for key, _ in store.nearest(near, 3, allowed)]
            assert found == sorted(allowed & set(range(1_300)))[:3]
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
            _check(store.nearest(query, k, allowed), query, rows, k, allowed)

    def _vector(self, random: Random) -> bytes:
        return bytes(random.choice((0, 1, 60, 127, 129, 255)) for _ in range(self.dimensions))

    def _query(self, random: Random) -> bytes:
        return bytes([127, *(random.randrange(256) for _ in range(self.dimensions - 1))])


_TOLERANCE = 1e-5


def _check(
    found: list[tuple[int, float]], query: bytes, rows: Mapping[int, bytes], k: int, allowed: Collection[int] | None
) -> None:
    """Compare with a plain computation; which of two rows is the nearer one may be decided by rounding only."""
    similar = {key: _cosine(query, row) for key, row in rows.items() if allowed is None or key in allowed}
    best = sorted(similar.values(), reverse=True)[:k]
    assert len({key for key, _ in found}) == len(found) == len(best)
    assert all(abs(similar[key] - value) < _TOLERANCE for key, value in found)
    assert all(abs(value - wanted) < _TOLERANCE for (_, value), wanted in zip(found, best, strict=True))
    assert found == sorted(found, key=lambda item: (-item[1], item[0]))


def _cosine(one: bytes, other: bytes) -> float:
    first, second = memoryview(one).cast("b").tolist(), memoryview(other).cast("b").tolist()
    length = math.hypot(*first) * math.hypot(*second)
    return sum(map(mul, first, second)) / length if length else 0.0
