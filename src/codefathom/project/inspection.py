"""`status` and `doctor`, the contents of the index and a check of each part, and the forecast of a run."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from codefathom import __version__
from codefathom.config.model_names import is_on_disk, shown_model
from codefathom.errors import FathomError
from codefathom.facts import reasons as say
from codefathom.facts.parse_problems import is_complete, n_without_syntax
from codefathom.facts.reasons import Note
from codefathom.index.forecast import dry_run, expected
from codefathom.index.plan import assumed_encodings, incompleteness, plan
from codefathom.index.plan_again import plan_again
from codefathom.parse import available_languages
from codefathom.project.damage import damage_of
from codefathom.project.kept_rules import kept_rules
from codefathom.project.opening import OpenedProject, index_model, is_slow
from codefathom.project.originals import Lines
from codefathom.project.store_choice import shown_store
from codefathom.project.stores.desk import StoreDesk
from codefathom.project.stores.history_place import known_commits
from codefathom.project.stores.revision_indexes import revision_indexes
from codefathom.source.masks import MASK
from codefathom.source.secrets import find
from codefathom.stores.catalog.catalog import Catalog
from codefathom.system.extras import EXTRAS, install_line
from codefathom.text.printable import size
from codefathom.types import Check, CompilerFiles, Failure, Filter, Forecast, IndexReport, SecretPlace, Skipped, Status


def status(opened: OpenedProject) -> Status:
    """Return the contents of the index and the number of files that changed; looks at the tree, writes nothing."""
    catalog = opened.catalog
    if not opened.is_known:
        return _unknown(opened)
    counts = catalog.counts()
    changes = plan_again(catalog, opened.recipe, opened.tree)
    partial = [item for item in catalog.documents() if item.problems]
    by_head = [n for item in partial if (n := n_without_syntax(item.problems))]
    rejected = tuple(Skipped(item.path, item.why) for item in catalog.rejected())
    return Status(
        root=opened.place.root,
        index_dir=opened.place.index_dir,
        generation=catalog.generation,
        n_documents=counts.documents,
        n_chunks=counts.chunks,
        n_symbols=counts.symbols,
        n_bytes=opened.place.index_folder.n_bytes(),
        languages=counts.languages,
        kinds=counts.kinds,
        model=opened.embedder.name,
        n_without_vector=catalog.n_without_vector(opened.embedder.name),
        indexed_at=int(catalog.get_meta("indexed_at_ns", "0")) / 1e9,
        pending=changes.n_pending,
        views_current=opened.views.current,
        skipped=tuple(sorted({*changes.scan.skipped, *rejected}, key=lambda item: (item.path, item.reason))),
        failures=opened.failures(),
        broken=tuple(
            Failure(item.path, Note(say.ALL_OF, {"notes": item.problems}))
            for item in partial
            if not is_complete(item.problems)
        ),
        paused=opened.paused,
        damages=damage_of(opened),
        required_exts=opened.recipe.rules.required_exts,
        ignore=opened.recipe.rules.ignore,
        kept=tuple(f"source.{name}" for name in kept_rules(catalog)),
        first_run=incompleteness(catalog, changes),
        revision=_revision(opened),
        n_by_text=catalog.n_by_text(),
        store_problem=StoreDesk(opened).problem(),
        encodings=assumed_encodings(catalog.entries().values()),
        n_by_head=sum(by_head),
        n_files_by_head=len(by_head),
        compilers=tuple(CompilerFiles(*row) for row in catalog.compiler_counts()),
        commits=known_commits(opened.place),
    )


def _unknown(opened: OpenedProject) -> Status:
    """Return the status of an index that is not checked yet: nothing that stands in it is believed."""
    changes = plan(opened.catalog, opened.recipe, is_known=False)
    return Status(
        root=opened.place.root,
        index_dir=opened.place.index_dir,
        generation=0,
        n_documents=0,
        n_chunks=0,
        n_symbols=0,
        n_bytes=opened.place.index_folder.n_bytes(),
        languages={},
        kinds={},
        model=opened.embedder.name,
        n_without_vector=0,
        indexed_at=0.0,
        pending=changes.n_pending,
        views_current=False,
        skipped=changes.scan.skipped,
        failures=(),
        doubt=_DOUBT,
        revision=_revision(opened),
    )


def _revision(opened: OpenedProject) -> str:
    return "" if opened.place.revision is None else opened.place.revision.name


def planned(opened: OpenedProject) -> IndexReport:
    """Return the report that a run would give now; nothing is changed."""
    report = dry_run(
        opened.catalog,
        opened.recipe,
        opened.without_purpose() if opened.is_known else None,
        is_known=opened.is_known,
    )
    return replace(report, forecast=forecast(opened, report))


def forecast(opened: OpenedProject, report: IndexReport) -> Forecast:
    """Return the expected time, size and cost of the run of a dry run's report."""
    settings = opened.place.settings
    name = settings.embed.model if is_slow(settings) else ""
    # An index that is not known may say anything.
    speed = float(opened.catalog.get_meta("bytes_per_second", "0")) if opened.is_known else 0.0
    run = expected(report, speed, shown_model(name))
    # The common prices are those of language models: an embedding model has a price only by its name.
    by_name = settings.llm._replace(prompt_price=0.0, completion_price=0.0)
    sent = [(by_name.prices_of(name), run.embedding_tokens)] if name and not is_on_disk(name) else []
    sent += [(settings.llm.prices_of(index_model(settings)), report.for_model.n_tokens)]
    costs = [prices.cost((n_tokens, 0)) for prices, n_tokens in sent if n_tokens]
    sums = [cost for cost in costs if cost is not None]
    return replace(run, cost=sum(sums) if sums and len(sums) == len(costs) else None)


_DOUBT = "it was not made here and has not been compared with the files yet"


def secret_places(opened: OpenedProject) -> Iterator[SecretPlace]:
    """Yield the places of secrets in the indexed versions of the files, by path and line.

    The kind is told by the file; where that has changed, it is only "secret".
    """
    lines = Lines(opened)
    for path in _paths(opened.catalog, with_masks=not opened.recipe.keeps_secrets):
        shown = lines.shown(path)
        if shown.is_whole:
            yield from (SecretPlace(path, *place) for place in _by_line(shown.text, find(shown.text, path)))
        else:
            lines_with_masks = (number for number, line in enumerate(shown.text.split("\n"), 1) if MASK in line)
            yield from (SecretPlace(path, number, "secret") for number in lines_with_masks)


def _paths(catalog: Catalog, *, with_masks: bool) -> list[str]:
    if not with_masks:
        return [document.path for document in catalog.documents()]
    chunks = catalog.chunks(catalog.matching(Filter("text", "contains_cased", MASK)))
    return sorted({chunk.path for chunk in chunks.values()})


def _by_line(text: str, spans: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, str]]:
    """Yield (line, kind) of places in order."""
    line, counted = 1, 0
    for start, _, kind in spans:
        line += text.count("\n", counted, start)
        counted = start
        yield line, kind


def doctor(opened: OpenedProject) -> tuple[Check, ...]:
    """Run every check; a check that breaks is a finding, not an error. Of an unknown index nothing is told."""
    checks = _CHECKS
    if not opened.is_known:
        checks = {name: check for name, check in _CHECKS.items() if check not in (_catalog, _views, _failures)}
        checks["catalogue"] = _not_compared
    return (*(_guarded(name, check, opened) for name, check in checks.items()), *map(check_extra, EXTRAS))


def general_checks(opened: OpenedProject) -> tuple[Check, ...]:
    """Run the checks that are about no catalogue."""
    checks = {name: check for name, check in _CHECKS.items() if check in (_version, _folder, _model, _grammars)}
    return (*(_guarded(name, check, opened) for name, check in checks.items()), *map(check_extra, EXTRAS))


def check_embedding(opened: OpenedProject) -> Check:
    """Ask the embedding model for one vector."""
    return _guarded("embedding model", _model, opened)


def _guarded(name: str, check: Callable[[OpenedProject], Check], opened: OpenedProject) -> Check:
    try:
        return check(opened)
    except (FathomError, OSError, sqlite3.Error, ValueError) as error:
        return Check(name, False, str(error), getattr(error, "hint", "") or "see the message")


def _version(opened: OpenedProject) -> Check:
    return Check("version", True, f"codefathom {__version__}, SQLite {sqlite3.sqlite_version}")


def _folder(opened: OpenedProject) -> Check:
    folder, problem = opened.place.index_dir, opened.unwritable
    if problem is not None:
        return Check("index folder", False, str(problem), problem.hint)
    ok = os.access(folder, os.W_OK)
    return Check("index folder", ok, folder, "" if ok else "set FATHOM_INDEX_DIR to a folder that can be written")


def _catalog(opened: OpenedProject) -> Check:
    catalog = opened.catalog
    problem = catalog.integrity_problem() or catalog.soundness.damage() or catalog.get_meta("set_aside")
    if problem:
        return Check("catalogue", False, problem, _REPAIR)
    return Check("catalogue", True, f"generation {catalog.generation}, sound")


def _not_compared(opened: OpenedProject) -> Check:
    return Check("catalogue", False, _DOUBT, "run `fathom index`, which compares them and corrects the index")


def _views(opened: OpenedProject) -> Check:
    damage = {name: problem for name, problem in opened.damage_of_files().items() if name != "catalogue"}
    if damage:
        return Check("views", False, "; ".join(f"{name}: {problem}" for name, problem in damage.items()), _REPAIR)
    ok = opened.views.current
    detail = f"lexical {opened.views.lexical.generation}, vectors {opened.views.vectors.generation}"
    return Check("views", ok, detail, "" if ok else "the next search or `fathom index` brings them up to date")


def _revisions(opened: OpenedProject) -> Check:
    listed, limits = revision_indexes(opened.place), opened.place.settings.index
    most, most_bytes = limits.kept_revisions, limits.kept_revision_bytes
    limit = f"index.kept_revisions keeps {most}" if most else "index.kept_revisions sets no limit"
    limit += f", index.kept_revision_bytes {size(most_bytes)}" if most_bytes else ""
    return Check("revisions", True, f"{len(listed)} indexes, {size(sum(item.n_bytes for item in listed))}; {limit}")


def _store(opened: OpenedProject) -> Check:
    if problem := StoreDesk(opened).problem():
        detail = f"{problem}; meanwhile the vectors of the catalogue answer"
        return Check("vector store", False, detail, "`fathom store test` asks it again")
    return Check("vector store", True, shown_store(opened.store))


_REPAIR = "run `fathom doctor --fix` or `fathom index`: the damaged parts are made again"


def _model(opened: OpenedProject) -> Check:
    started = time.perf_counter()
    matrix = opened.embedder.embed(["read a file"], "query")
    took_ms = (time.perf_counter() - started) * 1000
    ok = matrix.shape == (1, opened.embedder.dimensions)
    detail = f"{opened.embedder.name}, {opened.embedder.dimensions} dimensions, {took_ms:.0f} ms for one query"
    return Check("embedding model", ok, detail, "" if ok else "install the package again")


def _grammars(opened: OpenedProject) -> Check:
    languages, missing = available_languages(_used_languages(opened))
    detail = f"{len(languages)} languages: {', '.join(languages)}"
    if missing:
        return Check("grammars", False, f"no grammar for {', '.join(missing)}", "these files are indexed as text")
    return Check("grammars", True, detail)


def _used_languages(opened: OpenedProject) -> Collection[str]:
    try:
        return opened.catalog.counts().languages.keys() if opened.is_known else ()
    except (FathomError, sqlite3.Error):  # the check of the catalogue says so
        return ()


def _failures(opened: OpenedProject) -> Check:
    failures = opened.failures()
    if not failures:
        return Check("failed files", True, "none")
    first = failures[0]
    return Check(
        "failed files", False, f"{len(failures)}; {first.path}: {first.reason}", "they are tried again each run"
    )


def check_extra(name: str) -> Check:
    """Say whether an extra of the package is installed; nothing needs one."""
    extra = EXTRAS[name]
    missing = extra.missing()
    if not missing:
        return Check(f"extra {name}", True, f"installed: {extra.gives}")
    return Check(f"extra {name}", True, f"not installed: {extra.gives}; {install_line(name)}")


_CHECKS: dict[str, Callable[[OpenedProject], Check]] = {
    "version": _version,
    "index folder": _folder,
    "catalogue": _catalog,
    "views": _views,
    "vector store": _store,
    "embedding model": _model,
    "grammars": _grammars,
    "failed files": _failures,
    "revisions": _revisions,
}
