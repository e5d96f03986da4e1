"""A store of other makers as a vector view: it names candidates, and the rows of the catalogue decide.

So every exact store gives the ranking of the `flat` one, and an approximate one differs by what it does not name only.
What the store lacks is taken from the catalogue when it is committed: so nothing is lost while it cannot be used.
Until it can be, the catalogue's rows are looked through; after a pause it is asked again. A store that cannot be
reached, refuses, or answers something else than was written to it is the same here: `problem` says which it is.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import NamedTuple, TypeVar

from codefathom.errors import StoreAwayError, StoreDamagedError, StoreError, StoreSilentError, StoreUntrueError
from codefathom.stores.base import Row
from codefathom.stores.catalog.readers import RowCatalog
from codefathom.stores.vectors.candidates import CandidateStore, Change, Label, Point, Within
from codefathom.stores.vectors.nearest import NO_ROWS, Table, check_length, nearest_rows, table_of
from codefathom.stores.vectors.payload import fields_of_condition, payload_of, point_id
from codefathom.types import Where

MAX_KEYS = 10_000  # of a filter that are sent to the store; a wider one is said in fields, or tested afterwards
MAX_LOOKED_THROUGH = 250_000  # rows that are looked through here while the store cannot be used
_ATTEMPTS = 4
_FIRST_WAIT_S = 0.1  # doubled after each attempt
_PAUSE_S = 15.0  # in which a store that has failed is not asked
_MARGIN = 32  # candidates more than are wanted, so that ties and rounding are decided here
_WIDER = 4
_ROUNDING = 1e-4  # of a similarity in float32
# Differences of similarities that no rounding makes: of whole numbers, and of those that an approximate store rounds.
_FAR_OFF, _FAR_OFF_ROUNDED = 0.02, 0.1
_LEAST_NAMED = 0.8  # share of the rows that are wanted, of an approximate store
_LOOKED_BESIDE = 16  # of the best candidates, whose neighbours in their files are compared
_FILL_ANEW = "`fathom store verify --fix` compares it with the index and fills it again"
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
        self._error: StoreError | None = None  # why the store cannot be used now
        self._pause_ends_at = 0.0
        self._lock = Lock()  # of the next
        self._table = (-1, NO_ROWS)  # generation of the catalogue, its rows

    @property
    def problem(self) -> str:
        """The reason why the store cannot be used now, with the remedy; "" when it can."""
        error = self._error
        return "" if error is None else "; ".join(filter(None, (str(error), error.hint)))

    @property
    def is_exact(self) -> bool:
        """True if the store compares every vector; some cannot, whatever the settings say."""
        return self._store.is_exact

    @property
    def generation(self) -> int:
        """Generation of the catalogue that a search sees; -1 when there is nothing usable, or it was cleared.

        While the store cannot be used, the catalogue itself answers.
        """
        if self._is_cleared:
            return -1
        self._read_label(again=self._error is not None)
        if self._error is not None:
            return self._source.catalog.generation
        return -1 if self._label is None else self._label.generation

    def reload(self) -> None:
        """See what another process has committed."""
        self._read_label(again=self._label is None or self._label.generation != self._source.catalog.generation)

    def damage(self, *, whole: bool = True) -> str:
        """Return a sentence if the store holds more or fewer rows than the catalogue, or its own file is damaged.

        Nothing is known while it cannot be used.
        """
        source = self._source
        self._read_label(again=True)
        try:
            if self._error is not None:
                raise self._error
            if self._label is None or self._label.generation != source.catalog.generation:
                return ""
            n_rows, n_wanted = self._ask(self._store.count), source.catalog.n_rows(source.model)
        except StoreDamagedError as error:
            return str(error)
        except StoreError:
            return ""
        return "" if n_rows == n_wanted else f"the store has {n_rows} rows of this project, the catalogue {n_wanted}"

    def probe(self) -> None:
        """Ask the store for its label, and for the nearest of one row. Raises StoreError if it cannot be used."""
        source, self._pause_ends_at = self._source, 0.0
        self._label = self._own(self._ask(self._store.label))
        row = next(iter(source.catalog.vectors(source.model)), None)
        if self._label is None and row is not None:
            raise _nothing_yet()
        if row is not None and any(row.vector):
            self._named(_Question(row.vector, 1, None), _MARGIN, Within())

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
        """Bring the store from its own generation to this one; while it cannot be used, that waits for the next commit.

        A damaged file of the store is made again.
        """
        if generation == self.generation and not self._is_changed and not isinstance(self._error, StoreDamagedError):
            return
        if isinstance(self._error, StoreDamagedError):
            self._is_cleared, self._pause_ends_at = True, 0.0
        with suppress(StoreError):  # its label stays behind, and so the next commit writes what this one could not
            self._ask(lambda: self._store.apply(self._change(generation)))
        self._is_changed = self._is_cleared = False
        self._read_label(again=True)
        if self._error is None and (self._label is None or self._label.generation != generation):
            self._fail(StoreError("the store does not keep what is written to it", hint=_FILL_ANEW))

    def filled(self, generation: int) -> Iterator[int]:
        """Write all rows of the catalogue in steps; yield how many are there. One that was killed goes on from there.

        The catalogue must not change meanwhile. Raises StoreError.
        """
        source, self._pause_ends_at = self._source, 0.0
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

        Raises StoreError when the store cannot be used and the project is too large to look through its rows here.
        """
        check_length(vector, self._source.dimensions)
        if k < 1 or not any(vector) or (allowed is not None and not allowed):
            return []
        inside = allowed if allowed is None or isinstance(allowed, (set, frozenset)) else set(allowed)
        question = _Question(vector, k, inside)
        try:
            self._read_label(again=self._error is not None)
            if self._error is not None:
                raise _again(self._error)
            if self._label is None:
                self._error = _nothing_yet()
                raise _nothing_yet()
            return self._by_store(question, where)
        except StoreError as error:
            return nearest_rows(self._catalogue_rows(error), vector, k, inside)

    def _by_store(self, question: _Question, where: Where | None) -> list[tuple[int, float]]:
        within = _within(question.allowed, where)
        # An approximate index may name fewer of the allowed rows than there are.
        may_lack = question.allowed is not None and not self._store.is_exact
        if may_lack and within.keys is not None:
            return self._rescored(question, within.keys)
        n = question.k + _MARGIN
        while True:
            listed = self._named(question, n, within)
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

    def _named(self, question: _Question, n: int, within: Within) -> list[tuple[int, float]]:
        """Return the rows that the store names. Raises StoreError if they cannot be those that were written to it."""

        def ask() -> list[tuple[int, float]]:
            listed = self._store.candidates(question.vector, n, within)
            if fault := self._fault(question, n, within, listed):
                raise StoreUntrueError(f"the store does not answer what was written to it: {fault}", hint=_FILL_ANEW)
            return listed

        return self._ask(ask)

    def _fault(self, question: _Question, n: int, within: Within, listed: Sequence[tuple[int, float]]) -> str:
        """Compare the rows that a store names with our own; return the difference as a sentence, "" without one."""
        source, keys = self._source, [key for key, _ in listed]
        if len(set(keys)) < len(keys):
            return "it names a row twice"
        if self._label is None or self._label.generation != source.catalog.generation:
            return ""  # it may hold rows that are gone by now, and lack new ones
        beside = {near for key in keys[:_LOOKED_BESIDE] for near in (key - 1, key + 1)}
        ours = self._similarities(question.vector, beside.union(keys))
        inside = _inside(within.keys)
        fault = _wrong_names(listed, ours, inside, _FAR_OFF if self._store.is_exact else _FAR_OFF_ROUNDED)
        if not fault and len(listed) >= n:
            scope = question.allowed if inside is None else inside
            sample = {key: ours[key] for key in beside if key in ours and (scope is None or key in scope)}
            fault = _left_out(listed, sample, is_exact=self._store.is_exact)
        elif not fault:
            fault = self._too_few(len(listed), n, within)
        return fault if self._label.generation == source.catalog.generation else ""

    def _too_few(self, n_listed: int, n: int, within: Within) -> str:
        source, keys = self._source, within.keys
        if within.fields is not None or (keys is not None and not self._store.is_exact):
            return ""  # what is lacking is looked up
        n_rows = source.catalog.n_rows(source.model) if keys is None else len(source.catalog.rows(source.model, keys))
        most = min(n, n_rows)
        least = most if self._store.is_exact else most * _LEAST_NAMED
        return f"it names {n_listed} rows of {most}" if n_listed < least else ""

    def _similarities(self, vector: bytes, keys: Collection[int]) -> dict[int, float]:
        """Return the similarities of the rows of the catalogue that have a direction."""
        source = self._source
        rows = sorted(source.catalog.rows(source.model, keys).items())
        return dict(nearest_rows(table_of(map(Row._make, rows), source.dimensions), vector, len(rows)))

    def _catalogue_rows(self, error: StoreError) -> Table:
        """Return all rows of the catalogue. Raises the error if there are too many."""
        source = self._source
        with self._lock:
            generation = source.catalog.generation
            if self._table[0] != generation:
                if source.catalog.n_rows(source.model) > MAX_LOOKED_THROUGH:
                    raise error
                self._table = (generation, table_of(source.catalog.vectors(source.model), source.dimensions))
            return self._table[1]

    # ---- the store may fail

    def _read_label(self, *, again: bool) -> None:
        if self._is_label_read and not again:
            return
        try:
            self._label = self._own(self._ask(self._store.label))
            self._is_label_read = True
        except StoreError:
            self._is_label_read = False

    def _own(self, label: Label | None) -> Label | None:
        return label if label is not None and label.owner == self._source.owner else None

    def _ask(self, ask: Callable[[], _T]) -> _T:
        """Ask the store, several times if waiting may mend it. Raises StoreError, at once in the pause that follows."""
        error = self._error
        if error is not None and self._now() < self._pause_ends_at:
            raise _again(error)
        wait_s = _FIRST_WAIT_S
        for attempt in range(1 if error is not None else _ATTEMPTS):
            if attempt:
                self._sleep(wait_s)
                wait_s *= 2
            try:
                answer = ask()
            except StoreSilentError as silent:
                error = silent
                break
            except StoreAwayError as away:
                error = away
                continue
            except StoreError as refusal:
                error = refusal
                break
            self._error, self._pause_ends_at = None, 0.0
            self._table = (-1, NO_ROWS)
            return answer
        assert error is not None
        self._fail(error)
        raise _again(error)

    def _fail(self, error: StoreError) -> None:
        """Do not ask the store for a while."""
        self._error, self._pause_ends_at = error, self._now() + _PAUSE_S


def _nothing_yet() -> StoreError:
    return StoreUntrueError("the store has nothing of this project yet", hint="run `fathom index`")


def _again(error: StoreError) -> StoreError:
    """Return the same error, to be raised by another call."""
    same = type(error)(str(error), hint=error.hint)
    same.__cause__ = error
    return same


def _inside(keys: Sequence[int] | None) -> frozenset[int] | None:
    return None if keys is None else frozenset(keys)


def _wrong_names(
    listed: Sequence[tuple[int, float]], ours: Mapping[int, float], inside: Collection[int] | None, far_off: float
) -> str:
    """Return a sentence about rows that cannot be as a store names them, "" when all can."""
    n_foreign = sum(key not in ours or (inside is not None and key not in inside) for key, _ in listed)
    if n_foreign:
        return f"{n_foreign} of {len(listed)} rows that it names are not in the index, or outside the filter"
    n_differing = sum(not abs(similarity - ours[key]) <= far_off for key, similarity in listed)
    return f"{n_differing} of {len(listed)} rows are not so near as it says" if n_differing else ""


def _left_out(listed: Sequence[tuple[int, float]], sample: Mapping[int, float], *, is_exact: bool) -> str:
    """Return a sentence if rows of a sample are not listed, although they are nearer than the last one that is."""
    last, keys = min(similarity for _, similarity in listed), {key for key, _ in listed}
    near = [key for key, similarity in sample.items() if similarity > last + _FAR_OFF]
    n_left_out = sum(key not in keys for key in near)
    is_wrong = n_left_out > (0 if is_exact else len(near) / 2 + 1)
    return f"it leaves out {n_left_out} rows that are nearer than others that it names" if is_wrong else ""


def _within(allowed: Collection[int] | None, where: Where | None) -> Within:
    if allowed is not None and len(allowed) <= MAX_KEYS:
        return Within(keys=sorted(allowed))
    return Within(fields=fields_of_condition(where))
