"""A store of other makers as a vector view: it names candidates, and the rows of the catalogue decide.

So every exact store gives the ranking of the `flat` one, and an approximate one differs by what it does not name only.
What the store lacks is taken from the catalogue when it is committed: so nothing is lost while it cannot be reached.
Until it can be, the catalogue's rows are looked through; after a pause it is asked again.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from threading import Lock
from typing import NamedTuple, TypeVar

from codefathom.errors import StoreAwayError
from codefathom.stores.base import Row
from codefathom.stores.catalog.readers import RowCatalog
from codefathom.stores.vectors.candidates import CandidateStore, Change, Label, Point, Within
from codefathom.stores.vectors.nearest import NO_ROWS, Table, check_length, nearest_rows, table_of
from codefathom.stores.vectors.payload import fields_of_condition, payload_of, point_id
from codefathom.types import Where

MAX_KEYS = 10_000  # of a filter that are sent to the store; a wider one is said in fields, or tested afterwards
MAX_LOOKED_THROUGH = 250_000  # rows that are looked through here while the store is away
_ATTEMPTS = 4
_FIRST_WAIT_S = 0.1  # doubled after each attempt
_PAUSE_S = 15.0  # in which a store that is away is not asked
_MARGIN = 32  # candidates more than are wanted, so that ties and rounding are decided here
_WIDER = 4
_ROUNDING = 1e-4  # of a similarity in float32
_PAGE = 1_000
_STEP = 20_000  # rows of a move that are written, and kept, at a time

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RowsOf:
    """The rows of a catalogue that a store holds a copy of."""

    catalog: RowCatalog
    model: str
    owner: str  # of the label: catalogue and model
    project: str
    dimensions: int


class _Question(NamedTuple):
    """One question to the store."""

    vector: bytes
    k: int
    allowed: Collection[int] | None


class RescoredStore:
    """A vector view over a store of other makers. Safe to search from several threads."""

    def __init__(
        self,
        store: CandidateStore,
        source: RowsOf,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._source = source
        self._sleep = sleep
        self._now = now
        self._label: Label | None = None
        self._is_label_read = False
        self._is_cleared = False
        self._is_changed = False
        self._problem = ""
        self._pause_ends_at = 0.0
        self._lock = Lock()  # of the next
        self._table = (-1, NO_ROWS)  # generation of the catalogue, its rows

    @property
    def problem(self) -> str:
        """The reason why the store cannot be asked now, "" when it can."""
        return self._problem

    @property
    def is_exact(self) -> bool:
        """True if the store compares every vector; some cannot, whatever the settings say."""
        return self._store.is_exact

    @property
    def generation(self) -> int:
        """Generation of the catalogue that a search sees; -1 when there is nothing usable, or it was cleared.

        While the store is away, the catalogue itself answers.
        """
        if self._is_cleared:
            return -1
        self._read_label(again=bool(self._problem))
        if self._problem:
            return self._source.catalog.generation
        return -1 if self._label is None else self._label.generation

    def reload(self) -> None:
        """See what another process has committed."""
        self._read_label(again=self._label is None or self._label.generation != self._source.catalog.generation)

    def damage(self) -> str:
        """Return a sentence if the store holds more or fewer rows than the catalogue; nothing while it is away."""
        source = self._source
        self._read_label(again=True)
        if self._problem or self._label is None or self._label.generation != source.catalog.generation:
            return ""
        try:
            n_rows, n_wanted = self._ask(self._store.count), source.catalog.n_rows(source.model)
        except StoreAwayError:
            return ""
        return "" if n_rows == n_wanted else f"the store has {n_rows} rows of this project, the catalogue {n_wanted}"

    def drop(self) -> None:
        """Remove all that the store has of the project. Raises StoreError."""
        self._ask(self._store.drop)
        self._label, self._is_label_read = None, False

    def projects(self) -> Mapping[str, int]:
        """Return the projects whose rows lie in the same place, with their numbers of rows. Raises StoreError."""
        return self._ask(self._store.projects)

    def described(self) -> Mapping[str, str | int | bool]:
        """Return address, version and settings as the store says them. Raises StoreError."""
        return self._ask(self._store.described)

    def prepare(self) -> None:
        """Make the collection or table with its indexes, where it is missing. Raises StoreError."""
        self._ask(self._store.prepare)

    # ---- write

    def upsert(self, rows: Iterable[Row]) -> None:
        """Check rows, which are in the catalogue by now. Visible after `commit`."""
        for _, vector in rows:
            check_length(vector, self._source.dimensions)
            self._is_changed = True

    def delete(self, keys: Collection[int]) -> None:
        """Note that rows are gone from the catalogue. Visible after `commit`."""
        self._is_changed = self._is_changed or bool(keys)

    def clear(self) -> None:
        """Drop all rows, to be built again. Visible after `commit`."""
        self._is_cleared = True

    def abandon(self) -> None:
        """Drop uncommitted changes; after `clear` the rows must still be built anew."""
        self._is_changed = False

    def commit(self, generation: int) -> None:
        """Bring the store from its own generation to this one; while it is away, this waits for the next commit."""
        if generation == self.generation and not self._is_changed:
            return
        with suppress(StoreAwayError):  # its label stays behind, and so the next commit writes what this one could not
            self._ask(lambda: self._store.apply(self._change(generation)))
        self._is_changed = self._is_cleared = False
        self._read_label(again=True)

    def filled(self, generation: int) -> Iterator[int]:
        """Write all rows of the catalogue in steps; yield how many are there. One that was killed goes on from there.

        The catalogue must not change meanwhile. Raises StoreError.
        """
        source = self._source
        keys = [row.key for row in source.catalog.vectors(source.model)]
        label = self._ask(self._store.label)
        begin = f"{source.owner} up to "
        n_done, is_begun = 0, label is not None and label.owner.startswith(begin) and label.generation == generation
        if label is not None and is_begun:
            n_done = bisect_right(keys, int(label.owner.removeprefix(begin)))
            yield n_done
        while n_done < len(keys):
            step = keys[n_done : n_done + _STEP]
            self._write_step(step, Label(f"{begin}{step[-1]}", generation), is_first=not is_begun)
            n_done, is_begun = n_done + len(step), True
            yield n_done
        self._ask(lambda: self._store.apply(Change((), (), not keys, Label(source.owner, generation))))
        self._is_label_read = self._is_cleared = False

    def _write_step(self, keys: Sequence[int], label: Label, *, is_first: bool) -> None:
        self._ask(lambda: self._store.apply(Change(self._points(keys), (), is_first, label)))

    def close(self) -> None:
        """Release files and connections. Uncommitted changes are dropped."""
        self._store.close()
        self._is_changed = self._is_cleared = self._is_label_read = False
        self._label, self._table = None, (-1, NO_ROWS)

    def _change(self, generation: int) -> Change:
        source, since = self._source, 0
        label = self._own(self._store.label())
        if label is not None and not self._is_cleared:
            since = label.generation
        changes = source.catalog.changes(since)
        is_whole = since == 0 or not changes.complete
        if is_whole:
            keys: Iterable[int] = (row.key for row in source.catalog.vectors(source.model))
        else:
            added = {row.key for row in source.catalog.vectors(source.model, since)}
            keys = sorted(added.union(source.catalog.rewritten(since)))  # lines in the payload may have moved
        removed = () if is_whole else changes.removed
        return Change(self._points(keys), removed, is_whole, Label(source.owner, generation))

    def _points(self, keys: Iterable[int]) -> Iterator[Point]:
        source, left = self._source, iter(keys)
        while page := list(islice(left, _PAGE)):
            rows, chunks = source.catalog.rows(source.model, page), source.catalog.chunks(page)
            modified_s = source.catalog.modified_s({chunk.path for chunk in chunks.values()})
            for key in page:
                if key in rows and key in chunks:
                    chunk = chunks[key]
                    payload = payload_of(source.project, chunk, modified_s.get(chunk.path, 0.0))
                    yield Point(point_id(source.project, chunk), key, rows[key], payload)

    # ---- search

    def nearest(
        self, vector: bytes, k: int, allowed: Collection[int] | None = None, where: Where | None = None
    ) -> list[tuple[int, float]]:
        """Return the k nearest by cosine similarity as (key, similarity), best first, ties by key.

        Raises StoreAwayError when the store is away and the project too large to look through its rows here.
        """
        check_length(vector, self._source.dimensions)
        if k < 1 or not any(vector) or (allowed is not None and not allowed):
            return []
        inside = allowed if allowed is None or isinstance(allowed, (set, frozenset)) else set(allowed)
        question = _Question(vector, k, inside)
        try:
            self._read_label(again=bool(self._problem))
            if self._problem:
                raise StoreAwayError(self._problem)
            return [] if self._label is None else self._by_store(question, where)
        except StoreAwayError as error:
            return nearest_rows(self._catalogue_rows(error), vector, k, inside)

    def _by_store(self, question: _Question, where: Where | None) -> list[tuple[int, float]]:
        within = _within(question.allowed, where)
        # An approximate index may name fewer of the allowed rows than there are.
        may_lack = question.allowed is not None and not self._store.is_exact
        if may_lack and within.keys is not None:
            return self._rescored(question, within.keys)
        n = question.k + _MARGIN
        while True:
            listed = self._ask(partial(self._store.candidates, question.vector, n, within))
            best = self._rescored(question, [key for key, _ in listed])
            if may_lack and len(listed) < n and len(best) < question.k:
                return self._rescored(question, question.allowed or ())
            if len(listed) < n or self._is_settled(question, best, listed[-1][1]):
                return best
            n *= _WIDER
            if question.allowed is not None and within.keys is None and n > MAX_KEYS:
                return self._rescored(question, question.allowed)

    def _is_settled(self, question: _Question, best: Sequence[tuple[int, float]], furthest: float) -> bool:
        """Return True if no candidate behind the furthest one listed can be among the best."""
        if len(best) < question.k:
            return False
        return not self._store.is_exact or furthest < best[-1][1] - _ROUNDING

    def _rescored(self, question: _Question, keys: Collection[int]) -> list[tuple[int, float]]:
        source = self._source
        inside = keys if question.allowed is None else [key for key in keys if key in question.allowed]
        rows = source.catalog.rows(source.model, inside)
        return nearest_rows(
            table_of(map(Row._make, sorted(rows.items())), source.dimensions), question.vector, question.k
        )

    def _catalogue_rows(self, error: StoreAwayError) -> Table:
        """Return all rows of the catalogue. Raises the error if there are too many."""
        source = self._source
        with self._lock:
            generation = source.catalog.generation
            if self._table[0] != generation:
                if source.catalog.n_rows(source.model) > MAX_LOOKED_THROUGH:
                    raise error
                self._table = (generation, table_of(source.catalog.vectors(source.model), source.dimensions))
            return self._table[1]

    # ---- the store may be away

    def _read_label(self, *, again: bool) -> None:
        if self._is_label_read and not again:
            return
        try:
            self._label = self._own(self._ask(self._store.label))
            self._is_label_read = True
        except StoreAwayError:
            self._is_label_read = False

    def _own(self, label: Label | None) -> Label | None:
        return label if label is not None and label.owner == self._source.owner else None

    def _ask(self, ask: Callable[[], _T]) -> _T:
        """Ask the store, several times if need be. Raises StoreAwayError, at once in the pause that follows it."""
        if self._now() < self._pause_ends_at:
            raise StoreAwayError(self._problem)
        wait_s = _FIRST_WAIT_S
        for attempt in range(1 if self._problem else _ATTEMPTS):
            if attempt:
                self._sleep(wait_s)
                wait_s *= 2
            try:
                answer = ask()
            except StoreAwayError as error:
                problem = error
                continue
            self._problem, self._pause_ends_at = "", 0.0
            self._table = (-1, NO_ROWS)
            return answer
        self._problem, self._pause_ends_at = str(problem), self._now() + _PAUSE_S
        raise problem


def _within(allowed: Collection[int] | None, where: Where | None) -> Within:
    if allowed is not None and len(allowed) <= MAX_KEYS:
        return Within(keys=sorted(allowed))
    return Within(fields=fields_of_condition(where))
