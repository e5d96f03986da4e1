"""The search for damage in an index, in threads beside the work of a run."""

from __future__ import annotations

from codefathom.stores.catalog.readers import IndexCatalog
from codefathom.stores.views import Views
from codefathom.system.background import Background


class Checks:
    """The checks of catalogue and views in threads during a run; the files are read once, and nothing is written."""

    def __init__(self, catalog: IndexCatalog, views: Views, *, whole: bool) -> None:
        """Compare both views and, with `whole` or where it has no seal, the catalogue. Needs the writer lock."""
        self._soundness = catalog.soundness
        self._soundness.settle()
        self._views = Background(views.damage)
        self._catalog = Background(self._soundness.check if whole or not self._soundness.is_sealed else str)

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
