"""The check of an index that was not made here, or is not registered any more: each row is compared with the files.

Every document is read and prepared again and compared with its rows, so that a check takes as long as indexing. What
is equal stays, and so does the identity of the index: another user, or a container, that shares the folder goes on
with it. Vectors of the bundled model are all made again; of another one a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from codefathom.source.charset import known_encoding
from codefathom.stores.catalog.readers import ForeignCatalog
from codefathom.stores.catalog.records import Batch, DocumentRecord, Entry
from codefathom.stores.vectors.flat_vectors import are_near
from codefathom.stores.views import Views


class FileComparison(NamedTuple):
    """The result of comparing some documents with the index."""

    differing: frozenset[str]  # paths of documents that must be written
    mended: tuple[str, ...]  # paths of documents for which the index claimed the right version and held other rows
    keys: Mapping[str, int]  # of the chunks that stay as they are, by chunk id


class Doubt:
    """One check of one index, along with a run that reads all files. Needs the writer lock."""

    def __init__(
        self, catalog: ForeignCatalog, views: Views, models: Collection[str], check_others: Callable[[], None]
    ) -> None:
        """`models` are the embedding models of the settings: vectors of others cannot be checked, and are dropped.

        `check_others` checks the embeddings that this run does not make, and removes views of other models.
        """
        self._catalog = catalog
        self._views = views
        self._models = frozenset(models)
        self._check_others = check_others
        self._entries: Mapping[str, Entry] = {}
        self._comparison = catalog.comparison()

    def begin(self) -> None:
        """Remove all that cannot be compared with files, and empty the views."""
        # Two values that save work where they are true; this run finds out both again, and corrects them.
        encoding, masks = known_encoding(self._catalog.get_meta("encoding")), self._catalog.get_meta("masked")
        self._catalog.cleanse(self._models)
        meta = {name: value for name, value in (("encoding", encoding), ("masked", masks)) if value}
        self._catalog.write(Batch(meta=meta))
        self._entries = self._catalog.entries()
        self._views.clear()
        self._check_others()

    def compare(self, records: Sequence[DocumentRecord]) -> FileComparison:
        """Compare documents with the stored ones; remove those that differ, mend vectors."""
        differing, keys = self._comparison.compare(records)
        stored_paths = tuple(path for path in differing if path in self._entries)
        if stored_paths:
            written = self._catalog.write(Batch(removed=stored_paths))
            self._views.apply((), (), written.removed)
        mended = [record.parsed.document.path for record in records if self._claims(record)]
        same = [record for record in records if record.parsed.document.path not in differing]
        vectors = self._wrong_vectors(records)
        if vectors:
            self._catalog.add_vectors(records[0].model, vectors)
        paths = {record.parsed.document.path for record in same if not vectors.keys().isdisjoint(record.text_hashes)}
        return FileComparison(differing, tuple(path for path in mended if path in differing or path in paths), keys)

    def end(self, left_over: Collection[str]) -> None:
        """Remove the documents that were not compared, when the run stopped early."""
        if left_over:
            self._catalog.write(Batch(removed=tuple(left_over)))
        self._comparison.close()

    def _claims(self, record: DocumentRecord) -> bool:
        """Return True if the index claims to hold this version of a document, made in the same way."""
        entry = self._entries.get(record.parsed.document.path)
        now = (record.parsed.document.fingerprint, record.parser, record.chunker)
        return entry is not None and (entry.fingerprint, entry.parser, entry.chunker) == now

    def _wrong_vectors(self, records: Sequence[DocumentRecord]) -> dict[str, bytes]:
        """Return the right vectors of texts that are stored with a wrong vector; texts without one are left out."""
        vectors = {digest: vector for record in records for digest, vector in record.vectors.items()}
        stored = self._catalog.vectors_of(records[0].model, list(vectors)) if vectors else {}
        return {digest: vectors[digest] for digest, vector in stored.items() if not are_near(vector, vectors[digest])}
