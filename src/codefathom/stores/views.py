"""The lexical and the vector view of one catalogue, kept together.

A view is never trusted further than its generation: one that is behind is caught up from the catalogue's changes, one
that is missing, damaged or ahead of the catalogue is built again. Neither needs a file to be parsed or embedded again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from codefathom.facts.reasons import ENGLISH, INDEX_OF_VECTORS, INDEX_OF_WORDS
from codefathom.stores.base import Fields, LexicalStore, Row, VectorStore
from codefathom.stores.catalog.readers import ViewSource
from codefathom.stores.lexical.fields import fields_of


class Views:
    """The two views that a search reads; `sync` makes both show the catalogue's present generation."""

    def __init__(self, catalog: ViewSource, lexical: LexicalStore, vectors: VectorStore, model: str) -> None:
        self.catalog = catalog
        self.lexical = lexical
        self.vectors = vectors
        self.model = model

    @property
    def current(self) -> bool:
        """True if both views show the catalogue as it is now."""
        return self.lexical.generation == self.catalog.generation == self.vectors.generation

    @property
    def are_made(self) -> bool:
        """True if both views show some generation of the catalogue; False before the end of the first run."""
        return self.lexical.generation >= 0 and self.vectors.generation >= 0

    def damage(self, *, whole: bool = True) -> dict[str, str]:
        """Return the damage of each view, by its name; reads all of both with `whole`. A sound view is left out."""
        problems = {name: view.damage(whole=whole) for name, view in self._named().items()}
        return {name: problem for name, problem in problems.items() if problem}

    def lacking(self) -> list[str]:
        """Return the names of the views that are empty: not made yet, or damaged."""
        return [name for name, view in self._named().items() if view.generation < 0]

    @property
    def is_ahead(self) -> bool:
        """True if a view shows more than the catalogue holds, as after an old catalogue was put back."""
        return self.latest_generation > self.catalog.generation  # which is read last: another process may be writing

    @property
    def latest_generation(self) -> int:
        """The latest generation that a view shows, -1 when none shows any."""
        return max(self.lexical.generation, self.vectors.generation)

    def begin(self, *, full: bool = False, damaged: Collection[str] = ()) -> None:
        """Prepare for a run of `apply` calls: bring both views to the catalogue's generation, or empty them.

        `damaged` are the names of damaged views, as `damage` returns them. Without it, damage is copied into new files.
        """
        for name, view in self._named().items():
            if full or name in damaged or not 0 <= view.generation <= self.catalog.generation:
                view.clear()
        if self.lexical.is_unsettled:
            self.lexical.clear()
        self._catch_up_lexical()
        self._catch_up_vectors()

    def clear(self) -> None:
        """Empty both views; after `commit` they show only the changes that are applied from now on."""
        self.lexical.clear()
        self.vectors.clear()

    def apply(self, added: Iterable[tuple[int, Fields]], rows: Iterable[Row], removed: Sequence[int]) -> None:
        """Apply the changes of one write to the catalogue; they become visible with `commit`."""
        if removed:
            self.vectors.delete(removed)
        self.lexical.update(added, removed)
        self.vectors.upsert(rows)

    def abandon(self) -> None:
        """Drop changes that were applied and not committed: their transaction was rolled back. Then `begin` again."""
        self.lexical.abandon()
        self.vectors.abandon()

    def commit(self) -> None:
        """Make the applied changes visible, as the catalogue's present generation."""
        if self.lexical.is_worn:
            self.lexical.clear()
            self._catch_up_lexical()
            self.catalog.prune(self.catalog.generation)
        self.catalog.flush()  # a view must not survive a power cut that its catalogue did not
        self.lexical.commit(self.catalog.generation)
        self.vectors.commit(self.catalog.generation)

    def sync(self) -> None:
        """Bring both views to the catalogue's generation, from its changes or from nothing."""
        self.begin(damaged=self.damage())
        self.commit()

    def reload(self) -> None:
        """See what another process has committed."""
        self.lexical.reload()
        self.vectors.reload()

    def close(self) -> None:
        """Release both views."""
        self.lexical.close()
        self.vectors.close()

    def _named(self) -> Mapping[str, LexicalStore | VectorStore]:
        return {ENGLISH[INDEX_OF_WORDS]: self.lexical, ENGLISH[INDEX_OF_VECTORS]: self.vectors}

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
