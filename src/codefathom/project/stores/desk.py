"""Moving the vectors of a project to another store, comparing a store with the index, and removing what it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

from codefathom.config.settings import StoreSettings
from codefathom.errors import IndexingError, MismatchError, SettingsError, StoreError, StoreUntrueError, UsageError
from codefathom.project.location import Location
from codefathom.project.opening import OpenedProject
from codefathom.project.store_choice import is_chosen, keep_store, shown_store, store_named
from codefathom.remote.vector_stores import store_project
from codefathom.stores.base import VectorStore
from codefathom.stores.lock import held_lock
from codefathom.stores.rescored import RescoredStore
from codefathom.stores.vectors.nearest import nearest_rows, table_of
from codefathom.types import Progress, StoreReport, StoreState

_SAMPLE, _NEAREST = 20, 10  # vectors that are asked for, and their neighbours that are compared
_ENOUGH = 0.8  # share of neighbours that an approximate store must find


class StoreDesk:
    """The stores of one opened project. The index itself is only read."""

    def __init__(self, opened: OpenedProject, on_progress: Callable[[Progress], None] = lambda _: None) -> None:
        self._opened = opened
        self._on_progress = on_progress

    @property
    def in_force(self) -> StoreSettings:
        """The store in which searches look."""
        return self._opened.store

    @property
    def in_use(self) -> str:
        """That store as a user writes it."""
        return shown_store(self._opened.store)

    def problem(self) -> str:
        """Ask that store, and return the reason why it cannot be used, with the remedy; "" when it can."""
        if self._opened.store.vectors == "flat":
            return ""  # a file beside the index is never away
        with closing(self._opened.vector_store(self._opened.store)) as store:
            if isinstance(store, RescoredStore):
                try:
                    store.probe()
                except StoreError as error:
                    return "; ".join(filter(None, (str(error), error.hint)))
        return ""

    def move(self, target: str) -> StoreReport:
        """Carry out `move_events`, and return the report."""
        for event in self.move_events(target):
            if isinstance(event, StoreReport):
                return event
            self._on_progress(event)
        raise AssertionError("a move ends with a report")

    def move_events(self, target: str) -> Iterator[Progress | StoreReport]:
        """Copy the vectors from the catalogue to a store, compare, and switch to it; the old store stays as it is.

        The report comes last. A move that was killed goes on where it stopped. Raises as `check_move`, and
        LockedError, MismatchError, StoreError.
        """
        opened, chosen = self._opened, self.check_move(target)
        with held_lock(opened.lock()), closing(opened.vector_store(chosen)) as store:
            if chosen.vectors != "flat":
                opened.catalog.store_made()
            yield from self._fill(store)
            report = _compared(store, chosen, opened)
            if report.problem:
                raise MismatchError(
                    f"{report.store} does not give the vectors of the index: {report.problem}",
                    hint="nothing was switched; try again, or choose another store",
                )
            keep_store(opened.catalog, chosen)
            store.commit(opened.catalog.generation)
            yield report

    def check_move(self, target: str) -> StoreSettings:
        """Return the store that a move would choose, which is not asked.

        Raises UsageError for the one in force, SettingsError where settings choose the store.
        """
        opened, settings = self._opened, self._opened.place.settings
        chosen = store_named(target, opened.store)
        if (chosen.vectors, chosen.url) == (opened.store.vectors, opened.store.url):
            raise UsageError(f"the vectors are in {shown_store(chosen)} already", hint="name another store")
        if is_chosen(settings):
            raise SettingsError(
                f"store.vectors is set to {settings.store.vectors!r} ({settings.origins['store.vectors']}), "
                "which a move does not change",
                hint="remove this setting, then move; or change it, and run `fathom index`",
            )
        return chosen

    def verify(self, target: str = "", *, repair: bool = False) -> StoreReport:
        """Compare a store with the index: number of rows, and what some queries find. Raises StoreError.

        With `repair`, a store that differs is filled anew.
        """
        opened = self._opened
        chosen = store_named(target, opened.store)
        with closing(opened.vector_store(chosen)) as store:
            report = _compared(store, chosen, opened)
            if not report.problem or not repair:
                return report
            with held_lock(opened.lock()):
                store.clear()
                for progress in self._fill(store):
                    self._on_progress(progress)
            return _compared(store, chosen, opened)

    def state(self, target: str = "", *, prepare: bool = False) -> StoreState:
        """Ask a store what it is and which projects it holds. Raises StoreError, StoreAwayError.

        With `prepare`, its collection or table is made first, where it is missing.
        """
        opened = self._opened
        chosen = store_named(target, opened.store)
        project = store_project(opened.place.root, chosen)
        with closing(opened.vector_store(chosen)) as store:
            if isinstance(store, RescoredStore):
                if prepare:
                    store.prepare()
                return StoreState(shown_store(chosen), project, store.described(), store.projects())
            n_rows = opened.catalog.n_rows(opened.embedder.name) if store.generation >= 0 else 0
            return StoreState(shown_store(chosen), project, {"points": n_rows}, {project: n_rows} if n_rows else {})

    def remove(self, target: str, project: str = "") -> str:
        """Remove what a store has of this project, or of another one, and return the name of the store.

        Raises UsageError for this project in the store in force.
        """
        opened = self._opened
        chosen = store_named(target, opened.store)
        own = store_project(opened.place.root, chosen)
        if project and project != own:
            if project not in self.state(target).projects:
                raise UsageError(
                    f"{shown_store(chosen)} has no project {project!r}", hint="`fathom store list` shows its projects"
                )
            chosen = chosen._replace(project=project)
        elif (chosen.vectors, chosen.url) == (opened.store.vectors, opened.store.url):
            raise UsageError(
                f"{shown_store(chosen)} is the store in which searches look",
                hint="`fathom store move` to another store first, or remove the index with `fathom index --remove`",
            )
        with held_lock(opened.lock()), closing(opened.vector_store(chosen)) as store:
            store.drop()
        return shown_store(chosen)

    def _fill(self, store: VectorStore) -> Iterator[Progress]:
        """Write all rows of the catalogue to a store. Needs the writer lock."""
        catalog, model = self._opened.catalog, self._opened.embedder.name
        n_rows = catalog.n_rows(model)
        yield Progress("move", 0, n_rows)
        if isinstance(store, RescoredStore):
            for n_done in store.filled(catalog.generation):
                yield Progress("move", n_done, n_rows)
            return
        store.clear()
        store.upsert(catalog.vectors(model))
        store.commit(catalog.generation)


def _compared(store: VectorStore, chosen: StoreSettings, opened: OpenedProject) -> StoreReport:
    """Return the comparison of a store with the rows of the catalogue."""
    catalog, model = opened.catalog, opened.embedder.name
    name, n_rows = shown_store(chosen), catalog.n_rows(model)
    if isinstance(store, RescoredStore):
        try:
            store.probe()
        except StoreUntrueError as error:
            return StoreReport(name, n_rows, 0.0, str(error))
    store.reload()
    if store.generation != catalog.generation:
        problem = store.problem or f"it shows generation {store.generation}, the index is at {catalog.generation}"
        return StoreReport(name, n_rows, 0.0, problem)
    if damage := store.damage():
        return StoreReport(name, n_rows, 0.0, damage)
    share = _share_of_nearest(store, opened)
    is_exact = not isinstance(store, RescoredStore) or store.is_exact
    is_enough = share == 1.0 if is_exact else share >= _ENOUGH
    return StoreReport(
        name, n_rows, share, "" if is_enough else f"it finds {share:.0%} of the nearest vectors of a sample"
    )


def _share_of_nearest(store: VectorStore, opened: OpenedProject) -> float:
    """Return the share of the nearest rows of some rows, in the catalogue, that the store finds."""
    catalog, model = opened.catalog, opened.embedder.name
    table = table_of(catalog.vectors(model), opened.embedder.dimensions)
    n_same = n_all = 0
    for _, _, _, vector in catalog.some_vectors(model, _SAMPLE):
        nearest = {key for key, _ in nearest_rows(table, vector, _NEAREST)}
        n_all += len(nearest)
        n_same += len(nearest & {key for key, _ in store.nearest(vector, _NEAREST)})
    return n_same / n_all if n_all else 1.0


def leave_store(place: Location, on_wait: Callable[[str], None]) -> None:
    """Remove what a store of other makers has of a project; one that cannot be used keeps it, which is told."""
    try:
        project = OpenedProject(place, on_wait)
    except IndexingError:  # it cannot be read any more, so that nobody knows where its vectors are
        return
    with closing(project) as opened:
        if opened.store.vectors != "flat":
            try:
                with closing(opened.vector_store(opened.store)) as store:
                    store.drop()
            except StoreError as error:  # the index can be removed all the same
                on_wait(f"{error}: what it has of this project stays there")
