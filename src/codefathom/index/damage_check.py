"""The search for damage in an index, in threads beside the work of a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import Generic, TypeVar

from codefathom.stores.catalog.readers import IndexCatalog
from codefathom.stores.views import Views

_T = TypeVar("_T")


class Checks:
    """The checks of catalogue and views in threads during a run; the files are read once, and nothing is written."""

    def __init__(self, catalog: IndexCatalog, views: Views, *, whole: bool) -> None:
        """Compare both views and, with `whole` or where it has no seal, the catalogue. Needs the writer lock.

        Without `whole`, files of the views that nothing has written since they were compared are not read again.
        """
        self.are_whole = whole
        self._soundness = catalog.soundness
        self._soundness.settle()
        self._views = _Background(partial(views.damage, whole=whole))
        self._catalog = _Background(self._soundness.check if whole or not self._soundness.is_sealed else str)

    def of_views(self) -> dict[str, str]:
        """Wait, and return the damage of each view, by its name."""
        return self._views.result()

    def refuse_damage(self, *, wait: bool = False) -> None:
        """Raise DamagedError when the catalogue was found damaged so far, or, with `wait`, after all of it was read."""
        problem = self._catalog.result() if wait else self._catalog.result_so_far("")
        if problem:
            raise self._soundness.damaged(problem)

    def close(self) -> None:
        """Wait until both threads have ended, whatever they find."""
        self._views.wait()
        self._catalog.wait()


class _Background(Generic[_T]):
    """One call in a thread that does not keep the process alive."""

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self._results: list[_T] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, name="background", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def result(self) -> _T:
        """Wait for the end and return the result. Raises the error of the work."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def result_so_far(self, otherwise: _T) -> _T:
        """Return the result, or `otherwise` while the work is not done. Raises the error of the work."""
        return otherwise if self._thread.is_alive() else self.result()

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:
            self._error = error
