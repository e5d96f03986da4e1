"""Stages 4 and 5: changed files → prepare → embed → catalogue → views. Reads in the order in which it happens.

The catalogue is written in one transaction per batch and decides what exists; a run that is killed loses at most a
batch of work, and the next run goes on where it stopped. Views are committed once, at the end of a run.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from codefathom.errors import ProviderError, SourceError
from codefathom.facts.parse_problems import missing_grammars
from codefathom.facts.reasons import NOT_EMBEDDED, Note
from codefathom.index.damage_check import Checks
from codefathom.index.doubt import Doubt
from codefathom.index.forecast import parsed_by_model
from codefathom.index.kept_texts import texts_made_again
from codefathom.index.plan import (
    INODES,
    MASKED,
    UNSTABLE,
    FileJob,
    IndexPlan,
    Recipe,
    assumed_paths,
    is_assumed,
    note_of_grammars,
    plan,
    reading_of_documents,
    refuse_to_empty,
    taking_of_generated,
    with_found_encoding,
    without_grammar,
)
from codefathom.index.plan_again import TreeMemory, plan_again, remember_written
from codefathom.index.prepare import (
    Outcome,
    PreparedFile,
    document_of,
    embedded_text,
    failure_of,
    look_into,
    outcome_of_skipped,
    store_parses,
    unparsed,
)
from codefathom.index.reparse import ModelParser, ModelReparse
from codefathom.index.tally import ErrorLimit, Tally
from codefathom.index.workers import prepare_all, prepare_windows
from codefathom.providers.base import Embedder
from codefathom.source.charset import likely_encoding
from codefathom.source.documents import is_read_whole, undecodable_lines_of
from codefathom.source.large import Survey, Window, opened, windows
from codefathom.stores.base import Row
from codefathom.stores.cache import Cache
from codefathom.stores.catalog.readers import IndexCatalog
from codefathom.stores.catalog.records import (
    Batch,
    DocumentRecord,
    Entry,
    RejectedChanges,
    RejectedFile,
    TouchedFile,
)
from codefathom.stores.catalog.schema import EMBEDDED, LOST_TEXTS, RESTORED, UNKNOWN
from codefathom.stores.vectors.flat_vectors import quantise
from codefathom.stores.views import Views
from codefathom.system.memory import give_back
from codefathom.system.real_paths import refuse_moved
from codefathom.text.kept_names import is_kept_text
from codefathom.types import Extent, Failure, IndexReport, Progress, Skipped

_FILES_FOR_ENCODING = 300  # files of which some lines are read to tell the encoding of all
_MANY_INODES = 50  # new ones of files with the same bytes and time of change: this disk makes them up
_MUCH = 1_000_000  # bytes of text after which memory is worth giving back at the end; takes some milliseconds
# Bytes of text after which it is given back on the way: the index of words frees sixty megabytes at a time, between
# what stays, and the C library keeps them. With 58,000 files it kept a hundred megabytes so.
_VERY_MUCH = 16_000_000


@dataclass(frozen=True, slots=True)
class Stages:
    """Everything an index run works with; chosen by the engine."""

    catalog: IndexCatalog
    views: Views
    embedder: Embedder
    cache: Cache | None
    recipe: Recipe
    memory: TreeMemory
    n_workers: int = 0
    embed_batch: int = 1_024
    error_limit: ErrorLimit = field(default_factory=ErrorLimit)
    model_parser: ModelParser | None = None  # set when the chain of the recipe asks a model
    doubt: Doubt | None = None  # set when the index was made elsewhere: all of it is compared with the files
    keeps_vectors: bool = True  # in the cache; False for a model that is nearly as fast as the cache is
    takes_stored: bool = True  # of a changed file: the vectors that its unchanged chunks have in the catalogue


def run(
    stages: Stages, *, full: bool = False, retry: bool = True, check: bool = True, earlier: IndexPlan | None = None
) -> Generator[Progress | IndexReport, None, None]:
    """Bring the index up to date with the tree, yielding progress; the report comes last. Needs the writer lock.

    With `full`, every file is read, parsed and embedded again, and both views are built anew. Without `retry`, a model
    is not asked again about unchanged files on which it failed. With `check`, all of the catalogue is compared with
    what was written, beside the other work. A damaged view is built again; DamagedError when the catalogue is damaged.
    A plan that an `earlier` look made for this run is worked off where it still holds, without another look.
    An index in doubt is compared with the tree, file by file; files that differ are written anew, equal ones stay, and
    the views are made again.
    """
    # Whoever closes these events may close the index next: nothing may be reading it then.
    with closing(Checks(stages.catalog, stages.views, whole=check)) as checks:
        chosen = replace(stages, takes_stored=not full and stages.doubt is None)
        yield from _run(chosen, checks, full=full, retry=retry, earlier=earlier)


def _run(
    stages: Stages, checks: Checks, *, full: bool, retry: bool, earlier: IndexPlan | None
) -> Generator[Progress | IndexReport, None, None]:
    reparsing = ModelReparse(stages.model_parser, stages.recipe)
    tally = Tally(time.perf_counter(), unfinished=reparsing.failures, model_sizes=reparsing.sizes)
    yield Progress("scan", 0, 0)
    looked_at_ns = time.time_ns()
    doubt = stages.doubt
    if doubt is not None:
        doubt.begin()
    if full or doubt is not None:
        stages.catalog.forget_beside()
        todo = plan(stages.catalog, stages.recipe, full=True)
    else:
        todo = plan_again(stages.catalog, stages.recipe, stages.memory, earlier)
        looked_at_ns = todo.looked_at_ns
    refuse_to_empty(todo, stages.recipe)
    jobs = (*todo.jobs, *todo.unfinished) if retry else todo.jobs
    yield Progress("index", 0, len(jobs), extent=Extent(len(todo.scan.files), len(jobs), len(todo.removed)))
    damage = checks.of_views()
    tally.n_lost_texts = stages.catalog.get_meta(LOST_TEXTS)
    tally.repaired += ["catalogue"] if stages.catalog.get_meta("set_aside") else [*damage]
    stages.catalog.begin_load()
    if doubt is None:
        stages.views.begin(full=full, damaged=damage)
    _remove(stages, todo.removed, tally)
    for event in _work_off(stages, jobs, todo.entries, reparsing, tally):
        checks.refuse_damage()
        yield event
    if not tally.paused and _has_found_encoding(stages, todo.entries, tally.n_assumed):
        # Some files were read as another encoding than all of them together turn out to have: read those again.
        again = plan(stages.catalog, stages.recipe)
        tally.n_done -= len(again.jobs)
        yield from _work_off(stages, again.jobs, todo.entries, reparsing, tally)
    yield Progress("write", tally.n_done, len(jobs), n_chunks=tally.n_chunks)
    checks.refuse_damage(wait=True)
    if doubt is not None:
        doubt.end(set(todo.entries) - tally.seen - set(tally.removed))
    kept_before = not tally.paused and bool(todo.entries) and _is_masked_otherwise(stages)
    if kept_before and doubt is None:  # else they are made anew already
        stages.views.begin(full=True)
    _finish(stages, todo, tally, looked_at_ns)
    if checks.are_whole and stages.catalog.drop_made():  # an earlier version has stored them
        stages.catalog.scrub()
    _forget_values(stages, kept_before)
    if not (tally.paused or tally.unfinished or tally.missing_grammars):
        remember_written(stages.memory, stages.catalog, stages.recipe, todo, without_result(todo, tally))
    yield _report(stages, todo, tally)


def without_result(todo: IndexPlan, tally: Tally) -> set[str]:
    """Return the paths of files without a result: the next run tries them again."""
    failed = {failure.path for failure in tally.failures}  # also of those that were read again for their encoding
    return failed.union(job.file.path for job in todo.jobs if job.file.path not in tally.seen)


def _work_off(
    stages: Stages, jobs: Sequence[FileJob], entries: Mapping[str, Entry], reparsing: ModelReparse, tally: Tally
) -> Iterator[Progress]:
    """Prepare and store files, batch by batch, until too many of them fail."""
    n_jobs = tally.n_done + len(jobs)
    n_bytes = tally.n_bytes  # when memory was given back last
    recipe = with_found_encoding(stages.recipe, stages.catalog)
    for step in reparsing.steps(prepared_jobs(stages, recipe, jobs)):
        refuse_moved(recipe.root)  # else its files would seem to be unreadable, and leave the index
        outcomes = step if stages.doubt is None else _compared(stages, stages.doubt, step, tally)
        store(stages, outcomes, entries, tally)
        if tally.n_bytes - n_bytes > _VERY_MUCH:
            n_bytes = tally.n_bytes
            give_back()
        path = outcomes[-1].path if outcomes else ""
        yield Progress("index", tally.n_done, n_jobs, path, tally.n_chunks, failures=tally.new_failures())
        tally.paused = tally.reason_to_pause(stages.error_limit)
        if tally.paused:
            yield Progress("paused", tally.n_done, n_jobs, message=tally.paused)
            return
    for job in jobs:
        if not is_read_whole(job.file):
            for n_chunks in store_large(replace(stages, recipe=recipe), job, entries, tally):
                yield Progress("index", tally.n_done, n_jobs, job.file.path, n_chunks, failures=tally.new_failures())


def prepared_jobs(stages: Stages, recipe: Recipe, jobs: Sequence[FileJob]) -> Iterator[list[Outcome]]:
    """Prepare files that are read whole, and kept texts, in batches."""
    small = [job for job in jobs if is_read_whole(job.file) and not is_kept_text(job.file.path)]
    yield from prepare_all(small, recipe, stages.n_workers)
    texts = [job for job in jobs if is_kept_text(job.file.path)]
    for batch in texts_made_again(texts, recipe, stages.catalog):
        yield list(batch)


def _has_found_encoding(stages: Stages, entries: Mapping[str, Entry], n_new: int) -> bool:
    """Store the likely encoding of files that are not UTF-8 and declare none; return True if it has changed.

    `n_new` is the number of these files in this run. A run that was killed may have left some among `entries`.
    """
    recipe = with_found_encoding(stages.recipe, stages.catalog)
    has_more = n_new or (not recipe.found_encoding and any(map(is_assumed, entries.values())))
    if recipe.encoding or not has_more:
        return False
    paths = sorted(assumed_paths(stages.catalog))
    paths = paths[:: len(paths) // _FILES_FOR_ENCODING + 1]
    encoding = likely_encoding(undecodable_lines_of(recipe.tree, path) for path in paths)
    stages.catalog.write(Batch(meta={"encoding": encoding}))
    return encoding != recipe.assumed_encoding


def _is_masked_otherwise(stages: Stages) -> bool:
    """Return True if the documents were written with other masks, or with none."""
    return stages.catalog.get_meta(MASKED, "") != stages.recipe.secrets


def _forget_values(stages: Stages, kept_before: bool) -> None:
    """Remove from the disk all secret values that were kept before and are masked now."""
    is_done = True
    if kept_before and not stages.recipe.keeps_secrets:
        stages.catalog.prune(stages.catalog.generation)
        is_done = stages.catalog.scrub()
        if stages.cache is not None:
            stages.cache.scrub(stages.recipe.secrets)
    if is_done and stages.catalog.get_meta(MASKED, "") != stages.recipe.secrets:
        stages.catalog.write(Batch(meta={MASKED: stages.recipe.secrets}))


def _remove(stages: Stages, paths: Sequence[str], tally: Tally) -> None:
    if paths:
        written = stages.catalog.write(Batch(removed=tuple(paths)))
        stages.views.apply((), (), written.removed)
        tally.removed.extend(paths)


def store(
    stages: Stages, outcomes: list[Outcome], entries: Mapping[str, Entry], tally: Tally, gone: Sequence[str] = ()
) -> None:
    """Embed one batch, write it to the catalogue in one transaction, and pass the change on to the views.

    The documents of the paths `gone` are removed in the same transaction. A file with a value that no database takes
    fails alone.
    """
    try:
        _store(stages, outcomes, entries, tally, gone)
    except (OverflowError, UnicodeError) as error:
        if len(outcomes) == 1 and isinstance(outcomes[0], PreparedFile | TouchedFile | RejectedFile):
            return store(stages, [failure_of(outcomes[0].path, error)], entries, tally, gone)
        if len(outcomes) < 2:
            raise
        for item in outcomes:
            store(stages, [item], entries, tally)
        store(stages, [], entries, tally, gone)


def _store(
    stages: Stages, outcomes: list[Outcome], entries: Mapping[str, Entry], tally: Tally, gone: Sequence[str]
) -> None:
    prepared = [item for item in outcomes if isinstance(item, PreparedFile)]
    are_made = stages.catalog.makes_vectors(stages.embedder.name)
    stored = _stored_vectors(stages, prepared, entries) if stages.takes_stored and not are_made else {}
    vectors = {} if are_made else _vectors(stages, prepared, tally, stored)
    fields = {piece.id: row for item in prepared for piece, row in zip(item.chunks, item.fields, strict=True)}
    rejected = [item for item in outcomes if isinstance(item, RejectedFile)]
    failures = [item for item in outcomes if isinstance(item, Failure)]
    written = stages.catalog.write(
        Batch(
            records=tuple(_record(stages, item, vectors) for item in prepared),
            removed=tuple(
                path
                for path in (*gone, *(item.path for item in rejected), *(item.path for item in failures))
                if path in entries
            ),
            touched=tuple(item for item in outcomes if isinstance(item, TouchedFile)),
        )
    )
    if are_made:  # of the new chunks only; the view has the others
        vectors = _embed(stages, {digest: embedded_text(piece) for _, piece, digest in written.added if digest})
    stages.views.apply(
        [(key, fields[piece.id]) for key, piece, _ in written.added],
        [Row(key, vectors[digest]) for key, _, digest in written.added if digest in vectors],
        written.removed,
    )
    if stages.cache is not None:
        store_parses(outcomes, stages.recipe, stages.cache)
    _count(tally, outcomes, entries)


def store_large(stages: Stages, job: FileJob, entries: Mapping[str, Entry], tally: Tally) -> Iterator[int]:
    """Store a file that is too large for memory; yield the number of chunks of the run so far."""
    try:
        yield from _store_large(stages, job, entries, tally)
    except Exception as error:
        store(stages, [failure_of(job.file.path, error)], entries, tally)


def _store_large(stages: Stages, job: FileJob, entries: Mapping[str, Entry], tally: Tally) -> Iterator[int]:
    with opened(stages.recipe.tree, job.file) as stream:
        if isinstance(stream, Skipped):
            return store(stages, [outcome_of_skipped(stream, job)], entries, tally)
        survey = look_into(stream, job, stages.recipe)
        if not isinstance(survey, Survey):
            return store(stages, [survey], entries, tally)
        n_before = tally.n_chunks
        try:
            whole = yield from _store_windows(stages, survey, windows(stream, survey), tally)
        except Exception as error:
            path = job.file.path
            failure = Failure(path, str(error)) if isinstance(error, SourceError) else failure_of(path, error)
            tally.n_chunks = n_before
            stages.views.begin(full=stages.doubt is not None)
            store(stages, [failure], entries, tally)
        else:
            _count(tally, [whole], entries)


def _store_windows(
    stages: Stages, survey: Survey, parts: Iterator[Window], tally: Tally
) -> Generator[int, None, PreparedFile]:
    """Store each window as `_store` stores a batch, all in one transaction. Raises SourceError."""
    whole = PreparedFile(survey.file, unparsed(document_of(survey)), (), (), (), b"")
    n_lines = 0
    try:
        with stages.catalog.writing(_record(stages, whole, {})) as writing:
            stages.views.apply((), (), writing.removed)
            for part in prepare_windows(parts, stages.recipe, stages.n_workers):
                if isinstance(part, Failure):
                    raise SourceError(str(part.why))
                vectors = _vectors(stages, [part], tally)
                are_made = stages.catalog.makes_vectors(stages.embedder.name)
                added = writing.add(part.chunks, part.text_hashes, {} if are_made else vectors)
                rows = [Row(key, vectors[digest]) for key, _, digest in added if digest in vectors]
                stages.views.apply(
                    [(key, fields) for (key, _, _), fields in zip(added, part.fields, strict=True)], rows, ()
                )
                n_lines = part.chunks[-1].end_line
                if part.parsed.document.encoding:
                    whole = whole._replace(parsed=part.parsed)
                tally.n_chunks += len(part.chunks)
                yield tally.n_chunks
            writing.finish(n_lines, stages.recipe.parser_of(whole.parsed.document))
    except BaseException:
        stages.views.abandon()
        raise
    return whole


def _compared(stages: Stages, doubt: Doubt, outcomes: list[Outcome], tally: Tally) -> list[Outcome]:
    """Compare files with an index in doubt. Those that are equal only get a new time stamp, and go to the views."""
    prepared = [item for item in outcomes if isinstance(item, PreparedFile)]
    vectors = _vectors(stages, prepared, tally)
    comparison = doubt.compare([_record(stages, item, vectors) for item in prepared])
    tally.mended.extend(comparison.mended)
    same = [item for item in prepared if item.path not in comparison.differing]
    key_of = comparison.keys
    pieces = [row for item in same for row in zip(item.chunks, item.text_hashes, item.fields, strict=True)]
    stages.views.apply(
        [(key_of[piece.id], fields) for piece, _, fields in pieces],
        [Row(key_of[piece.id], vectors[digest]) for piece, digest, _ in pieces if digest in vectors],
        (),
    )
    touched = {item.path: TouchedFile(*item.file) for item in same}
    return [touched.get(item.path, item) for item in outcomes]


def _record(stages: Stages, item: PreparedFile, vectors: Mapping[str, bytes]) -> DocumentRecord:
    return DocumentRecord(
        parsed=item.parsed,
        chunks=item.chunks,
        text_hashes=item.text_hashes,
        mtime_ns=item.file.mtime_ns,
        parser=stages.recipe.parser_of(
            item.parsed.document, is_finished=item.is_finished, lacks=missing_grammars(item.parsed.problems)
        ),
        chunker=stages.recipe.chunker_of(item.parsed.document),
        ctime_ns=item.file.ctime_ns,
        inode=item.file.inode,
        vectors={digest: vectors[digest] for digest in item.text_hashes if digest in vectors},
        model=stages.embedder.name,
    )


def _stored_vectors(
    stages: Stages, prepared: Sequence[PreparedFile], entries: Mapping[str, Entry]
) -> Mapping[str, bytes]:
    """Return the vectors that the catalogue has of texts of files which are in it already."""
    texts = {digest for item in prepared if item.path in entries for digest in item.text_hashes if digest}
    return stages.catalog.vectors_of(stages.embedder.name, list(texts)) if texts else {}


def _vectors(
    stages: Stages, prepared: Sequence[PreparedFile], tally: Tally, stored: Mapping[str, bytes] = MappingProxyType({})
) -> dict[str, bytes]:
    """Return the quantised vector of every text in the batch, from the user's cache where it is kept there.

    Those that are stored already are not made again.
    """
    texts = {
        digest: embedded_text(piece)
        for item in prepared
        for digest, piece in zip(item.text_hashes, item.chunks, strict=True)
        if digest
    }
    cache = stages.cache if stages.keeps_vectors else None
    unknown = [digest for digest in texts if digest not in stored]
    vectors = {**stored, **(cache.get_vectors(stages.embedder.name, unknown) if cache is not None else {})}
    missing = [digest for digest in texts if digest not in vectors]
    try:
        fresh = _embed(stages, {digest: texts[digest] for digest in missing})
    except ProviderError as error:
        # Words and names still find these files, so that this is no reason to pause; the next run embeds them.
        tally.not_embedded.extend(Failure(item.parsed.document.path, _not_embedded(error)) for item in prepared)
        return dict(vectors)
    if cache is not None and fresh:
        cache.put_vectors(stages.embedder.name, fresh)
    return {**vectors, **fresh}


def _embed(stages: Stages, texts: Mapping[str, str]) -> dict[str, bytes]:
    digests = list(texts)
    vectors: dict[str, bytes] = {}
    for start in range(0, len(digests), stages.embed_batch):
        batch = digests[start : start + stages.embed_batch]
        matrix = stages.embedder.embed([texts[digest] for digest in batch], "document")
        vectors.update(zip(batch, quantise(matrix), strict=True))
    return vectors


def _count(tally: Tally, outcomes: list[Outcome], entries: Mapping[str, Entry]) -> None:
    tally.n_done += len(outcomes)
    counted = tally.seen & {item.path for item in outcomes}
    tally.seen.update(item.path for item in outcomes)
    for item in outcomes:
        if isinstance(item, PreparedFile):
            tally.n_assumed += bool(item.parsed.document.encoding)
            tally.missing_grammars |= missing_grammars(item.parsed.problems)
            if item.path in counted:
                continue
            path = item.parsed.document.path
            (tally.changed if path in entries else tally.added).append(path)
            tally.n_chunks += len(item.chunks)
            tally.n_bytes += item.parsed.document.size
        elif isinstance(item, TouchedFile):
            tally.n_touched += 1
        elif isinstance(item, RejectedFile):
            tally.rejected.append(item)
        else:
            tally.failures.append(item)


def _finish(stages: Stages, todo: IndexPlan, tally: Tally, looked_at_ns: int) -> None:
    """Embed chunks that earlier runs could not embed, store the lists of this run, and make everything visible."""
    stages.catalog.end_load()
    if not tally.paused:
        _embed_missing(stages, tally)
    meta = {"paused": tally.paused, "model": stages.embedder.name, RESTORED: ""}
    if not (tally.paused or tally.not_embedded or stages.catalog.makes_vectors(stages.embedder.name)):
        meta[EMBEDDED] = f"{stages.catalog.generation} {stages.embedder.name}"
    if not tally.paused:
        meta |= {"indexed_at_ns": str(looked_at_ns), "set_aside": "", LOST_TEXTS: ""}
        meta |= {**reading_of_documents(), **taking_of_generated(stages.recipe)}
    if tally.n_bytes >= _MUCH:
        meta["bytes_per_second"] = f"{tally.n_bytes / (time.perf_counter() - tally.started):.0f}"
    if len(todo.renumbered) >= _MANY_INODES and todo.renumbered.isdisjoint(tally.changed):
        meta[INODES] = UNSTABLE
    meta |= note_of_grammars(stages.catalog, tally.missing_grammars)
    stages.catalog.write(
        Batch(
            failures=_failures(stages, todo, tally),
            skipped=todo.scan.skipped,
            rejected=rejected_since(stages.catalog, todo, tally),
            touched=tuple(TouchedFile(*file) for file in todo.unrecorded.values()),
            meta=meta,
        )
    )
    if tally.n_bytes >= _MUCH:
        give_back()  # the commit of the words needs the most of all
    stages.views.commit()
    stages.catalog.soundness.settle()
    if tally.n_bytes >= _MUCH:
        give_back()


def rejected_since(catalog: IndexCatalog, todo: IndexPlan, tally: Tally) -> tuple[RejectedFile, ...] | RejectedChanges:
    """Return the files that this run left out because of their content, with older ones that it did not try.

    Where the plan began with the tree of before, only what differs: there may be very many of them.
    """
    tried = {job.file.path for job in todo.jobs}
    if todo.gone is not None:
        stamped = catalog.rejected_at(list(todo.unrecorded.keys() - tried))
        return RejectedChanges(todo.gone | tried, (*_stamped(stamped, todo), *tally.rejected))
    there = {file.path for file in todo.scan.files}
    before = (item for item in catalog.rejected() if item.path in there and item.path not in tried)
    return (*_stamped(before, todo), *tally.rejected)


def _stamped(items: Iterable[RejectedFile], todo: IndexPlan) -> Iterator[RejectedFile]:
    """Yield files with the stamps that the plan records."""
    for item in items:
        file = todo.unrecorded.get(item.path)
        yield item._replace(ctime_ns=file.ctime_ns, inode=file.inode) if file else item


def _failures(stages: Stages, todo: IndexPlan, tally: Tally) -> tuple[Failure, ...]:
    """Return the failures of this run, and older ones of unfinished files that this run did not try."""
    waiting = _waiting(todo, tally)
    before = (failure for failure in stages.catalog.failures() if failure.path in waiting)
    return (*before, *tally.failures, *tally.not_embedded, *tally.unfinished)


def _waiting(todo: IndexPlan, tally: Tally) -> set[str]:
    return {job.file.path for job in todo.unfinished} - tally.seen


def _embed_missing(stages: Stages, tally: Tally) -> None:
    """Embed chunks that have no vector of this model: after a change of model, or a provider that was away."""
    generation, _, model = stages.catalog.get_meta(EMBEDDED).partition(" ")
    since = int(generation) if model == stages.embedder.name and generation.isdecimal() else -1
    missing = stages.catalog.without_vector(stages.embedder.name, since)
    for start in range(0, len(missing), stages.embed_batch):
        batch = missing[start : start + stages.embed_batch]
        try:
            vectors = _embed(stages, {digest: embedded_text(piece) for _, digest, piece in batch})
        except ProviderError as error:
            paths = dict.fromkeys(piece.path for _, _, piece in missing)
            tally.not_embedded = [Failure(path, _not_embedded(error)) for path in paths]
            return
        stages.catalog.add_vectors(stages.embedder.name, vectors)
        stages.views.vectors.upsert([Row(key, vectors[digest]) for key, digest, _ in batch])
    tally.not_embedded.clear()


def _not_embedded(error: ProviderError) -> Note:
    return Note(NOT_EMBEDDED, {"error": str(error)})


def _report(stages: Stages, todo: IndexPlan, tally: Tally) -> IndexReport:
    rejected = tuple(Skipped(item.path, item.why) for item in tally.rejected)
    return IndexReport(
        added=tuple(tally.added),
        changed=tuple(tally.changed),
        removed=tuple(tally.removed),
        n_unchanged=todo.n_unchanged + len(_waiting(todo, tally)),
        n_touched=tally.n_touched,
        failures=(*tally.failures, *tally.not_embedded, *tally.unfinished),
        skipped=(*todo.scan.skipped, *rejected),
        n_chunks=stages.catalog.n_chunks(),
        n_bytes=tally.n_bytes,
        seconds=time.perf_counter() - tally.started,
        generation=stages.catalog.generation,
        paused=tally.paused,
        for_model=parsed_by_model(tally.model_sizes),
        repaired=tuple(tally.repaired),
        mended=tuple(tally.mended),
        n_by_text=stages.catalog.n_by_text() if any(stages.recipe.tokens) or tally.paused else 0,
        lost=_loss(tally.n_lost_texts),
        store_problem=stages.views.vectors.problem,
        unloaded=without_grammar(stages.catalog),
    )


def _loss(n_texts: str) -> str:
    if n_texts == UNKNOWN:
        return "texts that were on no disk are lost, if the index had any; hand them in again"
    return f"{n_texts} texts that were on no disk are lost; hand them in again" if n_texts else ""
