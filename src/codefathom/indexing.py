"""Stages 4 and 5: what changed → prepare → embed → catalogue → views. Reads in the order in which it happens.

The catalogue is written in one transaction per batch and decides what exists; a run that is killed loses at most a
batch of work, and the next run goes on where it stopped. Views are committed once, at the end of a run.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field

from codefathom.chunk import TARGET_CHARS
from codefathom.errors import ProviderError
from codefathom.memory import give_back
from codefathom.parse import grammars, is_for_model
from codefathom.plan import Plan, Recipe, plan
from codefathom.prepare import Outcome, Prepared, embedded_text, prepare_document, store_parses
from codefathom.providers.base import Embedder
from codefathom.purposes import n_tokens
from codefathom.reparse import ModelParser, Reparsing
from codefathom.source.changes import FileStat
from codefathom.source.documents import fingerprint
from codefathom.source.languages import language_of
from codefathom.stores.base import Row
from codefathom.stores.cache import Cache
from codefathom.stores.catalog import Catalog
from codefathom.stores.records import Batch, DocumentRecord, Entry, Rejected, StoredDocument, Touched
from codefathom.stores.vectors import quantise
from codefathom.stores.views import Views
from codefathom.types import Document, Failure, ForModel, IndexReport, Progress, Skipped
from codefathom.workers import prepare_all

# Of source with a number before each line.
_BYTES_PER_TOKEN = 3
_PROMPT_TOKENS = 400
_MUCH = 1_000_000  # bytes of text after which memory is worth giving back; takes some milliseconds


@dataclass(frozen=True, slots=True)
class Patience:
    """When a run stops early: more than `error_share` of at least `error_minimum` files failed."""

    error_share: float = 0.30
    error_minimum: int = 50


@dataclass(frozen=True, slots=True)
class Stages:
    """Everything an index run works with; chosen by the engine."""

    catalog: Catalog
    views: Views
    embedder: Embedder
    cache: Cache | None
    recipe: Recipe
    n_workers: int = 0
    embed_batch: int = 1_024
    patience: Patience = field(default_factory=Patience)
    model_parser: ModelParser | None = None  # there when the chain of the recipe asks a model


@dataclass(slots=True)
class _Tally:
    """What happened so far in one run."""

    started: float
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    unfinished: list[Failure] = field(default_factory=list)  # indexed, but not by the model; no reason to pause
    sent: list[int] = field(default_factory=list)  # sizes of the files that went to the model
    not_embedded: list[Failure] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    n_touched: int = 0
    n_done: int = 0
    n_chunks: int = 0
    n_bytes: int = 0
    n_told: int = 0  # of failures
    n_told_unfinished: int = 0
    paused: str = ""

    def not_told(self) -> tuple[Failure, ...]:
        """Return what failed since the last call, but for what was not embedded: that is tried again at the end."""
        new = (*self.failures[self.n_told :], *self.unfinished[self.n_told_unfinished :])
        self.n_told, self.n_told_unfinished = len(self.failures), len(self.unfinished)
        return new


def run(stages: Stages, *, full: bool = False, retry: bool = True) -> Generator[Progress | IndexReport, None, None]:
    """Bring the index up to date with the tree, yielding progress; the report comes last. Needs the writer lock.

    With `full`, every file is read, parsed and embedded again, and both views are built anew. Without `retry`, a model
    is not asked again about unchanged files on which it failed.
    """
    reparsing = Reparsing(stages.model_parser, stages.recipe)
    tally = _Tally(time.perf_counter(), unfinished=reparsing.failures, sent=reparsing.sizes)
    yield Progress("scan", 0, 0)
    looked_at_ns = time.time_ns()
    todo = plan(stages.catalog, stages.recipe, full=full)
    jobs = (*todo.jobs, *todo.unfinished) if retry else todo.jobs
    stages.views.begin(full=full)
    _remove(stages, todo.removed, tally)
    for outcomes in reparsing.steps(prepare_all(jobs, stages.recipe, stages.n_workers)):
        _store(stages, outcomes, todo.known, tally)
        path = outcomes[-1].path if outcomes else ""
        yield Progress("index", tally.n_done, len(jobs), path, tally.n_chunks, failures=tally.not_told())
        tally.paused = _reason_to_pause(tally, stages.patience)
        if tally.paused:
            yield Progress("paused", tally.n_done, len(jobs), message=tally.paused)
            break
    yield Progress("write", tally.n_done, len(jobs), n_chunks=tally.n_chunks)
    _finish(stages, todo, tally, looked_at_ns)
    yield _report(stages, todo, tally)


def dry_run(catalog: Catalog, recipe: Recipe, without_purpose: Collection[StoredDocument] | None = None) -> IndexReport:
    """Say what a run would do, from names, sizes and time stamps; `n_chunks` is an estimate from the sizes.

    `without_purpose` are the documents whose purpose is not known; None when no model is asked for purposes.
    """
    started = time.perf_counter()
    todo = plan(catalog, recipe)
    jobs = (*todo.jobs, *todo.unfinished)
    n_bytes = sum(job.file.size for job in jobs)
    return IndexReport(
        added=tuple(job.file.path for job in jobs if job.file.path not in todo.known),
        changed=tuple(job.file.path for job in jobs if job.file.path in todo.known),
        removed=todo.removed,
        n_unchanged=todo.n_unchanged,
        n_touched=0,
        failures=(),
        skipped=todo.scan.skipped,
        n_chunks=n_bytes // TARGET_CHARS + len(jobs),
        n_bytes=n_bytes,
        seconds=time.perf_counter() - started,
        generation=catalog.generation,
        dry_run=True,
        for_model=_for_model(todo, recipe, without_purpose),
    )


def _for_model(todo: Plan, recipe: Recipe, without_purpose: Collection[StoredDocument] | None) -> ForModel:
    """Count what a model would be asked, at most: what the cache knows is not sent."""
    answering = dict.fromkeys(grammars.languages(), "treesitter")
    languages = [(job, language_of(job.file.path)) for job in (*todo.jobs, *todo.unfinished)]
    parsed = _parsed_by_model(
        [
            job.file.size
            for job, language in languages
            if is_for_model(language, answering.get(language, "text"), recipe.chain)
        ]
    )
    if without_purpose is None:
        return parsed
    new = {job.file.path: job.file.size for job in todo.jobs if job.file.size}
    gone = {*new, *todo.removed}
    sizes = [*new.values(), *(document.size for document in without_purpose if document.path not in gone)]
    return ForModel(parsed.n_files, parsed.n_tokens + n_tokens(sizes), len(sizes))


def _parsed_by_model(sizes: Sequence[int]) -> ForModel:
    return ForModel(len(sizes), sum(sizes) // _BYTES_PER_TOKEN + len(sizes) * _PROMPT_TOKENS)


def take_over(stages: Stages, texts: Mapping[str, str]) -> int:
    """Index these texts as they are, and return how many; the next run compares them with the tree."""
    known = stages.catalog.entries()
    tally = _Tally(time.perf_counter())
    reparsing = Reparsing(stages.model_parser, stages.recipe)
    stages.views.begin()
    for path, text in texts.items():
        data = text.encode("utf-8", "replace")
        document = Document(path, language_of(path), text, fingerprint(data), len(data))
        prepared = prepare_document(document, FileStat(path, len(data), 0), stages.recipe)
        _store(stages, reparsing.apply([prepared]), known, tally)
    stages.views.commit()
    return len(texts)


def _remove(stages: Stages, paths: Sequence[str], tally: _Tally) -> None:
    if paths:
        written = stages.catalog.write(Batch(removed=tuple(paths)))
        stages.views.apply((), (), written.removed)
        tally.removed.extend(paths)


def _store(stages: Stages, outcomes: list[Outcome], known: Mapping[str, Entry], tally: _Tally) -> None:
    """Embed one batch, write it to the catalogue in one transaction, and pass the change on to the views."""
    prepared = [item for item in outcomes if isinstance(item, Prepared)]
    vectors = _vectors(stages, prepared, tally)
    fields = {piece.id: row for item in prepared for piece, row in zip(item.chunks, item.fields, strict=True)}
    rejected = [item for item in outcomes if isinstance(item, Rejected)]
    failures = [item for item in outcomes if isinstance(item, Failure)]
    written = stages.catalog.write(
        Batch(
            records=tuple(_record(stages, item, vectors) for item in prepared),
            removed=tuple(
                path for path in [item.path for item in rejected] + [item.path for item in failures] if path in known
            ),
            touched=tuple(item for item in outcomes if isinstance(item, Touched)),
        )
    )
    stages.views.apply(
        [(key, fields[piece.id]) for key, piece, _ in written.added],
        [Row(key, vectors[digest]) for key, _, digest in written.added if digest in vectors],
        written.removed,
    )
    if stages.cache is not None:
        store_parses(outcomes, stages.recipe, stages.cache)
    _count(tally, outcomes, known)


def _record(stages: Stages, item: Prepared, vectors: Mapping[str, bytes]) -> DocumentRecord:
    return DocumentRecord(
        parsed=item.parsed,
        chunks=item.chunks,
        text_hashes=item.text_hashes,
        mtime_ns=item.file.mtime_ns,
        parser=stages.recipe.parser if item.is_finished else stages.recipe.unfinished_parser,
        chunker=stages.recipe.chunker,
        vectors={digest: vectors[digest] for digest in item.text_hashes if digest in vectors},
        model=stages.embedder.name,
    )


def _vectors(stages: Stages, prepared: Sequence[Prepared], tally: _Tally) -> dict[str, bytes]:
    """Return the quantised vector of every text in the batch, from the user's cache where it is known."""
    texts = {
        digest: embedded_text(piece)
        for item in prepared
        for digest, piece in zip(item.text_hashes, item.chunks, strict=True)
    }
    known = stages.cache.get_vectors(stages.embedder.name, list(texts)) if stages.cache else {}
    missing = [digest for digest in texts if digest not in known]
    try:
        fresh = _embed(stages, {digest: texts[digest] for digest in missing})
    except ProviderError as error:
        # Words and names still find these files, so that this is no reason to pause; the next run embeds them.
        tally.not_embedded.extend(Failure(item.parsed.document.path, f"not embedded: {error}") for item in prepared)
        return dict(known)
    if stages.cache is not None and fresh:
        stages.cache.put_vectors(stages.embedder.name, fresh)
    return {**known, **fresh}


def _embed(stages: Stages, texts: Mapping[str, str]) -> dict[str, bytes]:
    digests = list(texts)
    vectors: dict[str, bytes] = {}
    for start in range(0, len(digests), stages.embed_batch):
        batch = digests[start : start + stages.embed_batch]
        matrix = stages.embedder.embed([texts[digest] for digest in batch], "document")
        vectors.update(zip(batch, quantise(matrix), strict=True))
    return vectors


def _count(tally: _Tally, outcomes: list[Outcome], known: Mapping[str, Entry]) -> None:
    tally.n_done += len(outcomes)
    tally.seen.update(item.path for item in outcomes)
    for item in outcomes:
        if isinstance(item, Prepared):
            path = item.parsed.document.path
            (tally.changed if path in known else tally.added).append(path)
            tally.n_chunks += len(item.chunks)
            tally.n_bytes += item.parsed.document.size
        elif isinstance(item, Touched):
            tally.n_touched += 1
        elif isinstance(item, Rejected):
            tally.rejected.append(item)
        else:
            tally.failures.append(item)


def _reason_to_pause(tally: _Tally, patience: Patience) -> str:
    failed = len({failure.path for failure in tally.failures})
    if tally.n_done < patience.error_minimum or failed <= patience.error_share * tally.n_done:
        return ""
    reasons = sorted({failure.reason for failure in tally.failures})
    return f"{failed} of {tally.n_done} files failed ({'; '.join(reasons[:3])})"


def _finish(stages: Stages, todo: Plan, tally: _Tally, looked_at_ns: int) -> None:
    """Embed what earlier runs could not, note what was seen, and make everything visible."""
    if not tally.paused:
        _embed_missing(stages, tally)
    done = {job.file.path for job in todo.jobs}
    there = {file.path for file in todo.scan.files}
    kept = [item for item in stages.catalog.rejected() if item.path in there - done]
    meta = {"paused": tally.paused, "model": stages.embedder.name}
    if not tally.paused:
        meta["indexed_at_ns"] = str(looked_at_ns)
    stages.catalog.write(
        Batch(
            failures=_failures(stages, todo, tally),
            skipped=todo.scan.skipped,
            rejected=(*kept, *tally.rejected),
            meta=meta,
        )
    )
    stages.views.commit()
    if tally.n_bytes >= _MUCH:
        give_back()


def _failures(stages: Stages, todo: Plan, tally: _Tally) -> tuple[Failure, ...]:
    """Return what failed now, and what failed before of the unfinished files that this run left alone."""
    waiting = _waiting(todo, tally)
    before = (failure for failure in stages.catalog.failures() if failure.path in waiting)
    return (*before, *tally.failures, *tally.not_embedded, *tally.unfinished)


def _waiting(todo: Plan, tally: _Tally) -> set[str]:
    return {job.file.path for job in todo.unfinished} - tally.seen


def _embed_missing(stages: Stages, tally: _Tally) -> None:
    """Embed chunks that have no vector of this model: after a change of model, or a provider that was away."""
    missing = stages.catalog.without_vector(stages.embedder.name)
    for start in range(0, len(missing), stages.embed_batch):
        batch = missing[start : start + stages.embed_batch]
        try:
            vectors = _embed(stages, {digest: embedded_text(piece) for _, digest, piece in batch})
        except ProviderError as error:
            paths = dict.fromkeys(piece.path for _, _, piece in missing)
            tally.not_embedded = [Failure(path, f"not embedded: {error}") for path in paths]
            return
        stages.catalog.add_vectors(stages.embedder.name, vectors)
        stages.views.vectors.upsert([Row(key, vectors[digest]) for key, digest, _ in batch])
    tally.not_embedded.clear()


def _report(stages: Stages, todo: Plan, tally: _Tally) -> IndexReport:
    rejected = tuple(Skipped(item.path, item.reason) for item in tally.rejected)
    return IndexReport(
        added=tuple(tally.added),
        changed=tuple(tally.changed),
        removed=tuple(tally.removed),
        n_unchanged=todo.n_unchanged + len(_waiting(todo, tally)),
        n_touched=tally.n_touched,
        failures=(*tally.failures, *tally.not_embedded, *tally.unfinished),
        skipped=(*todo.scan.skipped, *rejected),
        n_chunks=stages.catalog.counts().chunks,
        n_bytes=tally.n_bytes,
        seconds=time.perf_counter() - tally.started,
        generation=stages.catalog.generation,
        paused=tally.paused,
        for_model=_parsed_by_model(tally.sent),
    )
