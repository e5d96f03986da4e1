"""The lexical and the vector view of one catalogue, kept together.

A view is never trusted further than its generation: one that is behind is caught up from the catalogue's changes, one
that is missing, damaged or ahead of the catalogue is built again. Neither needs a file to be parsed or embedded again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codefathom.stores.base import Row, VectorStore
from codefathom.stores.catalog import Catalog
from codefathom.stores.lexical import Fields, LexicalView, fields_of


class Views:
    """What a search reads; `sync` makes both show the catalogue's present generation."""

    def __init__(self, catalog: Catalog, lexical: LexicalView, vectors: VectorStore, model: str) -> None:
        self.catalog = catalog
        self.lexical = lexical
        self.vectors = vectors
        self.model = model

    @property
    def current(self) -> bool:
        """Whether both views show the catalogue as it is now."""
        return self.lexical.generation == self.catalog.generation == self.vectors.generation

    def begin(self, *, full: bool = False) -> None:
        """Prepare for a run of `apply` calls: bring both views to the catalogue's generation, or empty them."""
        for view in (self.lexical, self.vectors):
            if full or not 0 <= view.generation <= self.catalog.generation:
                view.clear()
        self._catch_up_lexical()
        self._catch_up_vectors()

    def apply(self, added: Iterable[tuple[int, Fields]], rows: Iterable[Row], removed: Sequence[int]) -> None:
        """Pass on what one write to the catalogue changed; becomes visible with `commit`."""
        if removed:
            self.vectors.delete(removed)
        self.lexical.update(added, removed)
        self.vectors.upsert(rows)

    def commit(self) -> None:
        """Make what was applied visible, as the catalogue's present generation."""
        if self.lexical.is_worn:
            self.lexical.clear()
            self._catch_up_lexical()
            self.catalog.prune(self.catalog.generation)
        self.catalog.flush()  # a view must not survive a power cut that its catalogue did not
        self.lexical.commit(self.catalog.generation)
        self.vectors.commit(self.catalog.generation)

    def sync(self) -> None:
        """Bring both views to the catalogue's generation, from its changes or from nothing."""
        self.begin()
        self.commit()

    def reload(self) -> None:
        """See what another process has committed."""
        self.lexical.reload()
        self.vectors.reload()

    def close(self) -> None:
        """Release both views."""
        self.lexical.close()
        self.vectors.close()

    def _catch_up_lexical(self) -> None:
        since = self.lexical.generation
        if since == self.catalog.generation:
            return
        changes = self.catalog.changes(max(since, 0))
        if not changes.complete:
            self.lexical.clear()
            changes = self.catalog.changes(0)
        self.lexical.update(((key, fields_of(chunk)) for key, chunk, _ in changes.added), changes.removed)

    def _catch_up_vectors(self) -> None:
        since = self.vectors.generation
        if since == self.catalog.generation:
            return
        if since > 0:
            changes = self.catalog.changes(since)
            if changes.complete:
                self.vectors.delete(changes.removed)
            else:
                self.vectors.clear()
                since = 0
        self.vectors.upsert(self.catalog.vectors(self.model, max(since, 0)))
