"""The check of a snapshot that no key of the team has signed: what it says must agree with the files here.

Every document must have the text of its file, part by part and line by line. All that is made of the text takes as long
to compare as to make; so documents and vectors chosen here, by chance, are made again. One that differs is enough to
refuse the snapshot: whoever plants a few rows is found with a probability that SECURITY.md names, or by a whole check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import SystemRandom
from typing import NamedTuple

from codefathom.index.plan import FileJob, Recipe, with_found_encoding
from codefathom.index.prepare import PreparedFile, as_kept, embedded_text, text_hash
from codefathom.index.workers import prepare_all
from codefathom.providers.base import Embedder
from codefathom.providers.batching import BatchLimits, batches
from codefathom.source.changes import FileStat
from codefathom.source.documents import is_read_whole, read
from codefathom.source.scan import scan
from codefathom.stores.cache import Cache
from codefathom.stores.catalog.foreign import Comparison
from codefathom.stores.catalog.readers import ForeignCatalog
from codefathom.stores.catalog.records import DocumentRecord
from codefathom.stores.vectors.flat_vectors import are_alike, are_near, quantise
from codefathom.types import Chunk, Skipped

_DOCUMENTS_AT_ONCE = 64


class CheckedModel(NamedTuple):
    """A model of vectors, and how many of its vectors are made again; None: all."""

    embedder: Embedder
    limits: BatchLimits
    is_exact: bool  # it gives nearly the same vector on each machine
    n_vectors: int | None


class SnapshotSample(NamedTuple):
    """The documents and vectors that are made again."""

    n_documents: int | None  # None: all
    models: tuple[CheckedModel, ...]
    n_workers: int = 0


class SnapshotComparison(NamedTuple):
    """The agreement of a snapshot with the files of a project."""

    paths: tuple[str, ...] = ()  # documents whose files are the same here
    n_documents: int = 0  # that were made again
    n_vectors: int = 0
    problem: str = ""  # the first thing that is not true


def compare_snapshot(
    catalog: ForeignCatalog, recipe: Recipe, cache: Cache, sample: SnapshotSample
) -> SnapshotComparison:
    """Compare the documents of a snapshot with the files; those whose files differ here are left to the next run.

    Raises ProviderError when a model does not answer.
    """
    recipe = with_found_encoding(recipe, catalog)
    comparison = catalog.comparison()
    try:
        files, problem = _same_files(catalog, recipe, comparison)
        if problem:
            return SnapshotComparison(problem=problem)
        check = _Check(catalog, cache, sample)
        chosen = _some(files, sample.n_documents)
        for prepared in _prepared(chosen, recipe, sample.n_workers):
            check.compare(comparison, [_record(item, recipe) for item in prepared])
        check.check_some_vectors()
        paths = tuple(file.path for file in files)
        return SnapshotComparison(paths, len(chosen), check.n_vectors, check.problem)
    finally:
        comparison.close()


class _Check:
    def __init__(self, catalog: ForeignCatalog, cache: Cache, sample: SnapshotSample) -> None:
        self._catalog, self._cache, self._models = catalog, cache, sample.models
        self._checked: set[tuple[str, str]] = set()  # model, text hash
        self.problem = ""

    @property
    def n_vectors(self) -> int:
        """Number of vectors that were made again."""
        return len(self._checked)

    def compare(self, comparison: Comparison, records: Sequence[DocumentRecord]) -> None:
        """Compare documents with their rows, and their vectors where these are cheap or a whole check is made."""
        if self.problem or not records:
            return
        differing = comparison.compare(records).differing
        if differing:
            self.problem = f"what it says of {min(differing)!r} is not what fathom makes of this file"
        texts = {
            digest: piece
            for record in records
            for digest, piece in zip(record.text_hashes, record.chunks, strict=True)
            if digest
        }
        for model in self._models:
            if model.is_exact or model.n_vectors is None:
                self._check_vectors(model, texts, self._catalog.vectors_of(model.embedder.name, list(texts)))

    def check_some_vectors(self) -> None:
        """Check vectors that nobody could foresee."""
        for model in self._models:
            if model.n_vectors is not None and not self.problem:
                rows = self._catalog.some_vectors(model.embedder.name, model.n_vectors)
                wrong = [chunk.path for _, digest, chunk, _ in rows if text_hash(embedded_text(chunk)) != digest]
                if wrong:
                    self.problem = f"a vector in {min(wrong)!r} is that of another text"
                texts = {digest: chunk for _, digest, chunk, _ in rows}
                self._check_vectors(model, texts, {digest: vector for _, digest, _, vector in rows})

    def _check_vectors(self, model: CheckedModel, texts: Mapping[str, Chunk], stored: Mapping[str, bytes]) -> None:
        if self.problem:
            return
        name = model.embedder.name
        made = self._vectors(model, {digest: texts[digest] for digest in stored if (name, digest) not in self._checked})
        self._checked.update((name, digest) for digest in made)
        are_same = are_near if model.is_exact else are_alike
        for digest, vector in made.items():
            if not are_same(stored[digest], vector):
                self.problem = f"a vector of {texts[digest].path!r} is not what {model.embedder.name} makes of its text"

    def _vectors(self, model: CheckedModel, texts: Mapping[str, Chunk]) -> Mapping[str, bytes]:
        """Return vectors by text hash, from the user's cache where they are known. Raises ProviderError."""
        name = model.embedder.name
        vectors = dict(self._cache.get_vectors(name, list(texts)))
        new = [digest for digest in texts if digest not in vectors]
        n_done = 0
        for batch in batches((embedded_text(texts[digest]) for digest in new), model.limits):
            rows = quantise(model.embedder.embed(batch, "document"))
            made = dict(zip(new[n_done : n_done + len(batch)], rows, strict=True))
            n_done += len(batch)
            self._cache.put_vectors(name, made)
            vectors |= made
        return vectors


def _same_files(catalog: ForeignCatalog, recipe: Recipe, comparison: Comparison) -> tuple[list[FileStat], str]:
    """Return the files that the snapshot has in this version, made in this way, and the first wrong text."""
    entries = catalog.entries()
    files = []
    for file in scan(recipe.tree, recipe.rules).files:
        entry = entries.get(file.path)
        if entry is None or not recipe.makes(entry.chunker) or not is_read_whole(file):
            continue
        document = read(
            recipe.tree, file, include_generated=recipe.rules.include_generated, assumed=recipe.assumed_encoding
        )
        if isinstance(document, Skipped) or document.fingerprint != entry.fingerprint:
            continue
        if entry.parser != recipe.parser_of(document):
            continue
        if not comparison.holds_text(as_kept(document, recipe)):
            return [], f"the text of {file.path!r} in it is not that of the file"
        files.append(file)
    return files, ""


def _some(files: Sequence[FileStat], number: int | None) -> Sequence[FileStat]:
    return files if number is None or number >= len(files) else SystemRandom().sample(files, number)


def _prepared(files: Sequence[FileStat], recipe: Recipe, n_workers: int) -> Iterable[list[PreparedFile]]:
    jobs = [FileJob(file, "") for file in files]
    for outcomes in prepare_all(jobs, recipe, n_workers):
        prepared = [item for item in outcomes if isinstance(item, PreparedFile)]
        for start in range(0, len(prepared), _DOCUMENTS_AT_ONCE):
            yield prepared[start : start + _DOCUMENTS_AT_ONCE]


def _record(item: PreparedFile, recipe: Recipe) -> DocumentRecord:
    document = item.parsed.document
    parser, chunker = recipe.parser_of(document, is_finished=item.is_finished), recipe.chunker_of(document)
    return DocumentRecord(item.parsed, item.chunks, item.text_hashes, item.file.mtime_ns, parser, chunker, {}, "")
