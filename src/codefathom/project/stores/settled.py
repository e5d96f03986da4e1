"""After an index run, the store is brought to settings that are others than in the run before."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, suppress
from dataclasses import replace

from codefathom.errors import LockedError, StoreError
from codefathom.index.purposes import passed_on
from codefathom.project.opening import OpenedProject
from codefathom.project.store_choice import shown_store
from codefathom.stores.catalog.records import Batch
from codefathom.stores.lock import writer_lock
from codefathom.stores.rescored import RescoredStore
from codefathom.types import IndexReport, Progress

_SETTLED = "store settled"  # key in the catalogue: the store, and its `store.exact`
_WAIT_S = 10.0  # for another writer, who settles the store as well


def with_settled_store(
    events: Generator[Progress | IndexReport, None, None], opened: OpenedProject
) -> Generator[Progress | IndexReport, None, None]:
    """Pass on the events of an index run; its report says what another value of `store.exact` has changed."""
    report = yield from passed_on(events)
    if report is None:
        return
    change = ""
    if opened.store.vectors != "flat" and not (report.dry_run or report.paused or report.store_problem):
        with suppress(LockedError, StoreError):  # the next run does it
            change = _settle(opened)
    yield replace(report, store_change=change)


def _settle(opened: OpenedProject) -> str:
    """Return a sentence about the change, "" without one. Raises LockedError, StoreError."""
    store, catalog = opened.store, opened.catalog
    place, exact = f"{shown_store(store)} {store.collection}", "exact" if store.exact else "approximate"
    was_place, _, was = catalog.get_meta(_SETTLED).rpartition(" ")
    if (was_place, was) == (place, exact):
        return ""
    is_changed = was_place == place
    with writer_lock(opened.place.index_folder, wait_s=_WAIT_S):
        if is_changed:
            with closing(opened.vector_store(store)) as vectors:
                if isinstance(vectors, RescoredStore):
                    vectors.prepare()
        catalog.write(Batch(meta={_SETTLED: f"{place} {exact}"}))
        catalog.soundness.settle()
    return _CHANGES[exact] if is_changed else ""


_CHANGES = {
    "exact": "store.exact is true now: the store compares every vector, if it can",
    "approximate": "store.exact is false now: the store looks in an approximate index, if it has one",
}
