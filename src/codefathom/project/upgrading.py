"""Vectors of a slow model, made while those of the bundled one answer.

An index run embeds everything with the bundled model, in seconds, and all can be found. Then `fathom index` makes the
vectors of the chosen model, a call after the other: each is kept, so that a run that is killed costs one call, and
other processes search and write in between. Once nearly all are there, questions are embedded with the chosen model.
A model that does not answer ends this, and so does one that refuses too many texts; the reason is kept until all
vectors are there.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from codefathom.errors import LockedError, ProviderError, TextRefusedError
from codefathom.facts.reasons import NOT_EMBEDDED, Note
from codefathom.index.prepare import embedded_text
from codefathom.index.purposes import passed_on
from codefathom.index.tally import ErrorLimit
from codefathom.providers.base import Embedder
from codefathom.providers.batching import BatchLimits, batches
from codefathom.search.retrieve import Sources
from codefathom.stores.cache import Cache
from codefathom.stores.catalog.readers import VectorCatalog
from codefathom.stores.catalog.records import Batch
from codefathom.stores.folder import Folder
from codefathom.stores.lock import writer_lock
from codefathom.stores.vectors.flat_vectors import are_alike, quantise
from codefathom.stores.views import Views
from codefathom.types import Chunk, Failure, IndexReport, Progress

_ENOUGH = 0.9  # share of the chunks that must have a vector; words and names find the others
_FEW = 16  # chunks for which a search that found them changed may wait: a second or two
_SAMPLE = 16  # vectors that are made again where the index was made elsewhere
_SAVE_EVERY_S = 20.0  # a save writes the whole view, and ends what other processes have cached
_WAIT_S = 60.0  # for another writer
_SHORT_WAIT_S = 1.0  # when somebody wants the run to end

# Keys in the catalogue, each followed by the name of a model.
_REASON, _PAUSED = "not embedded ", "embedding paused "

Missing = Sequence[tuple[int, str, Chunk]]  # key, text hash, chunk


@dataclass(slots=True)
class _Run:
    """The texts that the model refused in one run."""

    n_refused: int = 0
    refused: TextRefusedError | None = None


class UpgradedIndex(NamedTuple):
    """The index that the chosen model is added to."""

    catalog: VectorCatalog
    bundled: Views
    folder: Folder


class UpgradeLimits(NamedTuple):
    """Limits for one call of the chosen model, and for the texts that it refuses."""

    batch: BatchLimits
    error: ErrorLimit


class Upgrade:
    """The chosen model beside the bundled one, each with its view of the same catalogue."""

    def __init__(
        self,
        embedder: Embedder,
        views: Views,
        index: UpgradedIndex,
        limits: UpgradeLimits,
    ) -> None:
        self.embedder = embedder
        self._views = views
        self._catalog, self._bundled, self._index_folder = index
        self._limits = limits
        self._counted = (-1, 0)  # generation, chunks without vector then

    def sources(self, bundled: Sources) -> Sources:
        """Return the sources of a search, with a note on the vectors that are missing."""
        self._views.vectors.reload()
        n_chunks, n_missing = self._bundled.lexical.n_chunks, self._n_missing()
        if self._views.vectors.generation < 0:  # not made yet, or lost
            n_missing = n_chunks
        if not n_missing:
            note = ""
        elif n_missing > (1 - _ENOUGH) * n_chunks:
            made = f"{max(n_chunks - n_missing, 0)} of {n_chunks} chunks have a vector of {self.embedder.name}"
            failed = f"; the last run failed: {self._reason}" if self._reason else ""
            note = f"{made}; the bundled model answers until `fathom index` has made the others{failed}"
            return bundled._replace(note=note)
        else:
            note = f"{n_missing} of {n_chunks} chunks have no vector of {self.embedder.name} yet; run `fathom index`"
        return bundled._replace(vectors=self._views.vectors, embedder=self.embedder, note=note)

    def check(self, cache: Cache) -> None:
        """Have no vectors that nobody has checked, since the index was made elsewhere: make a sample of them again.

        Where one of them is another vector, or the model does not answer, all are dropped.
        """
        self._views.vectors.clear()
        catalog, name = self._catalog, self.embedder.name
        sample = catalog.some_vectors(name, _SAMPLE)
        try:
            made = self._vectors([(key, digest, chunk) for key, digest, chunk, _ in sample], cache)
        except ProviderError:
            made = {}
        if any(digest not in made or not are_alike(vector, made[digest]) for _, digest, _, vector in sample):
            catalog.drop_vectors(name)

    def follow(self, cache: Cache) -> None:
        """Let the view of the chosen model follow a run, and embed what is new if that is little. Needs the lock."""
        vectors: dict[str, bytes] = {}
        if self._n_missing() <= _FEW:
            with suppress(ProviderError):  # a search says so, and the next `fathom index` tries again
                vectors = self._vectors(self._missing(), cache)
        elif self._views.vectors.generation < 0:
            return
        self._write(vectors)

    def complete(
        self, events: Generator[Progress | IndexReport, None, None], cache: Cache
    ) -> Generator[Progress | IndexReport, None, None]:
        """Pass on the events of an index run; when it has ended, make what is missing, and complete its report."""
        report = yield from passed_on(events)
        if report is None:
            return
        failures: tuple[Failure, ...] = ()
        if not report.paused:
            yield from self._embed_missing(cache)
            failures = self.failures()
            report = replace(report, paused=self.paused)
        yield replace(
            report,
            failures=(*report.failures, *failures),
            generation=self._catalog.generation,
            store_problem=report.store_problem or self._views.vectors.problem,
        )

    def failures(self) -> tuple[Failure, ...]:
        """Return the files with chunks that the last run could not embed."""
        reason = self._reason
        if not reason:
            return ()
        paths = self._catalog.paths_without_vector(self.embedder.name)
        return tuple(Failure(path, Note(NOT_EMBEDDED, {"error": reason})) for path in paths)

    @property
    def paused(self) -> str:
        """The reason why the last run stopped before all chunks had a vector, "" when it did not."""
        return self._catalog.get_meta(f"{_PAUSED}{self.embedder.name}") if self._n_missing() else ""

    def damage(self) -> dict[str, str]:
        """Return the damage of the view of the chosen model, by its name, or nothing."""
        problem = self._views.vectors.damage()
        return {f"index of vectors of {self.embedder.name}": problem} if problem else {}

    def close(self) -> None:
        """Release the view of the chosen model."""
        self._views.vectors.close()

    # ---- inside

    @property
    def _reason(self) -> str:
        """The error of the last run, "" when there was none."""
        return self._catalog.get_meta(f"{_REASON}{self.embedder.name}")

    def _embed_missing(self, cache: Cache) -> Iterator[Progress]:
        """Embed all that is missing, and keep the reason why something could not be."""
        missing = self._missing()
        run = _Run()
        stopped: ProviderError | LockedError | None = None
        try:
            for n_done in chain([0] if missing else [], self._steps(missing, cache, run)):
                yield Progress("embed", n_done, len(missing), message=f"{n_done} of {len(missing)} chunks")
        except (ProviderError, LockedError) as error:
            stopped = error
        if stopped is None and run.n_refused > self._limits.error.error_share * len(missing):
            stopped = run.refused
        self._keep_reason(stopped or run.refused, is_stopped=stopped is not None)

    def _keep_reason(self, error: ProviderError | LockedError | None, *, is_stopped: bool) -> None:
        name, n_missing = self.embedder.name, self._n_missing()
        remedy = f"; {error.hint}" if error is not None and error.hint else ""
        paused = f"{n_missing} of {self._bundled.lexical.n_chunks} chunks have no vector of {name}: {error}{remedy}"
        meta = {f"{_REASON}{name}": str(error or ""), f"{_PAUSED}{name}": paused if is_stopped else ""}
        if any(self._catalog.get_meta(key) != value for key, value in meta.items()):
            with suppress(LockedError), writer_lock(self._index_folder, wait_s=_WAIT_S):
                self._catalog.write(Batch(meta=meta))
                self._catalog.soundness.settle()

    def _steps(self, missing: Missing, cache: Cache, run: _Run) -> Iterator[int]:
        """Embed all, keeping what is made now and then, and whatever happens; yield how many are done."""
        vectors: dict[str, bytes] = {}
        saved_s, n_done = time.monotonic(), 0
        try:
            for texts in batches((embedded_text(chunk) for _, _, chunk in missing), self._limits.batch):
                batch = missing[n_done : n_done + len(texts)]
                n_done += len(batch)
                try:
                    vectors.update(self._vectors(batch, cache))
                except TextRefusedError as error:
                    run.refused, run.n_refused = error, run.n_refused + len(batch)
                    if self._limits.error.is_exceeded(run.n_refused, n_done):
                        raise
                if time.monotonic() - saved_s > _SAVE_EVERY_S:
                    self._save(vectors, _WAIT_S)
                    vectors, saved_s = {}, time.monotonic()
                yield n_done
        except BaseException:
            with suppress(LockedError):  # the user's cache has them too
                self._save(vectors, _SHORT_WAIT_S)
            raise
        self._save(vectors, _WAIT_S)

    def _vectors(self, missing: Missing, cache: Cache) -> dict[str, bytes]:
        """Return vectors by text hash, from the user's cache where they are known. Raises ProviderError."""
        texts = {digest: embedded_text(chunk) for _, digest, chunk in missing}
        cached = cache.get_vectors(self.embedder.name, list(texts))
        new = [digest for digest in texts if digest not in cached]
        matrix = self.embedder.embed([texts[digest] for digest in new], "document")
        made = dict(zip(new, quantise(matrix), strict=True))
        if made:
            cache.put_vectors(self.embedder.name, made)
        return {**cached, **made}

    def _save(self, vectors: Mapping[str, bytes], wait_s: float) -> None:
        """Write vectors when no other process writes. Raises LockedError when one does so for longer."""
        if not vectors:
            return
        with writer_lock(self._index_folder, wait_s=wait_s):
            self._bundled.reload()
            self._views.vectors.reload()
            self._write(vectors)
            self._catalog.soundness.settle()

    def _write(self, vectors: Mapping[str, bytes]) -> None:
        self._catalog.add_vectors(self.embedder.name, vectors)
        self._views.sync()
        self._bundled.sync()

    def _missing(self) -> Missing:
        return self._catalog.without_vector(self.embedder.name)

    def _n_missing(self) -> int:
        generation = self._catalog.generation
        if self._counted[0] != generation:
            self._counted = (generation, self._catalog.n_without_vector(self.embedder.name))
        return self._counted[1]
