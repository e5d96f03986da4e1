"""The forecast of an index run, from names, sizes and time stamps alone."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from codefathom.facts.languages import is_extracted, language_of
from codefathom.index.chunk import TARGET_CHARS
from codefathom.index.plan import IndexPlan, Recipe, plan, refuse_to_empty
from codefathom.index.purposes import n_tokens
from codefathom.parse import is_for_model
from codefathom.providers.base import BYTES_PER_TOKEN
from codefathom.source.changes import FileStat
from codefathom.stores.catalog.readers import IndexState
from codefathom.stores.catalog.records import StoredDocument
from codefathom.types import Forecast, ForModel, IndexReport

# Of a run over 713 files (4 MB) with the bundled model on two processors, where no earlier run tells more.
_BYTES_PER_SECOND = 450_000
_INDEX_BYTES_PER_BYTE = 5  # of the same run
# Of source with a number before each line.
_BYTES_PER_TOKEN = 3
_PROMPT_TOKENS = 400
_HEAD_TOKENS = 30  # of the path and the names before each chunk that is embedded


def expected(report: IndexReport, bytes_per_second: float, embedding_model: str) -> Forecast:
    """Return the expected time and size of the run of a report; `embedding_model` is one that takes long, or "".

    The speed is that of the last long run here, 0 where there was none.
    """
    speed = bytes_per_second or _BYTES_PER_SECOND
    n_tokens = report.forecast.embedding_tokens if embedding_model and report.forecast else 0
    return Forecast(report.n_bytes / speed, _INDEX_BYTES_PER_BYTE * report.n_bytes, embedding_model, n_tokens)


def dry_run(
    catalog: IndexState,
    recipe: Recipe,
    without_purpose: Collection[StoredDocument] | None = None,
    *,
    is_known: bool = True,
) -> IndexReport:
    """Return the report of a run that is not made; `n_chunks` is an estimate from the sizes.

    Of the forecast it holds the tokens that are embedded; `expected` makes it whole.

    For an index that is not known, the report names all files of the tree: all would be read.

    `without_purpose` are the documents without a purpose; None when no model is asked for purposes.
    """
    started = time.perf_counter()
    todo = plan(catalog, recipe, is_known=is_known)
    refuse_to_empty(todo, recipe)
    jobs = (*todo.jobs, *todo.unfinished)
    n_bytes = sum(job.file.size for job in jobs)
    embedded = [job.file.size for job in jobs if _is_embedded(job.file, recipe)]
    return IndexReport(
        added=tuple(job.file.path for job in jobs if job.file.path not in todo.entries),
        changed=tuple(job.file.path for job in jobs if job.file.path in todo.entries),
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
        n_by_text=len(jobs) - len(embedded),
        forecast=Forecast(0.0, 0, embedding_tokens=_embedding_tokens(embedded)),
    )


def _is_embedded(file: FileStat, recipe: Recipe) -> bool:
    """Return True for a size within the limits, and for a file whose text is taken out of it and has another size."""
    return is_extracted(file.path) or not recipe.tokens.verdict(file.size // BYTES_PER_TOKEN)


def _embedding_tokens(sizes: Sequence[int]) -> int:
    n_chunks = sum(sizes) // TARGET_CHARS + len(sizes)
    return sum(sizes) // BYTES_PER_TOKEN + n_chunks * _HEAD_TOKENS


def _for_model(todo: IndexPlan, recipe: Recipe, without_purpose: Collection[StoredDocument] | None) -> ForModel:
    """Count the files and tokens that a model would be sent, at most: files in the cache are not sent."""
    from codefathom.parse import grammars

    answering = dict.fromkeys(grammars.languages(), "treesitter")
    languages = [(job, language_of(job.file.path)) for job in (*todo.jobs, *todo.unfinished)]
    parsed = parsed_by_model(
        [
            job.file.size
            for job, language in languages
            if is_for_model(job.file.path, language, answering.get(language, "text"), recipe.chain)
        ]
    )
    if without_purpose is None:
        return parsed
    new = {job.file.path: job.file.size for job in todo.jobs if job.file.size}
    changed_paths = {*new, *todo.removed}
    sizes = [*new.values(), *(document.size for document in without_purpose if document.path not in changed_paths)]
    return ForModel(parsed.n_files, parsed.n_tokens + n_tokens(sizes), len(sizes))


def parsed_by_model(sizes: Sequence[int]) -> ForModel:
    """Return the number of files, and of tokens sent, for a model that parses files of these sizes in bytes."""
    return ForModel(len(sizes), sum(sizes) // _BYTES_PER_TOKEN + len(sizes) * _PROMPT_TOKENS)
