"""What the index holds and whether all parts of the installation work: `status` and `doctor`."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable

from codefathom import __version__
from codefathom.errors import FathomError
from codefathom.opening import Opened
from codefathom.parse import available_languages
from codefathom.plan import plan
from codefathom.types import Check, Skipped, Status


def status(opened: Opened) -> Status:
    """Say what the index holds and how far it is from the tree; looks at the tree, writes nothing."""
    catalog = opened.catalog
    counts = catalog.counts()
    found = plan(catalog, opened.recipe)
    rejected = tuple(Skipped(item.path, item.reason) for item in catalog.rejected())
    return Status(
        root=opened.place.root,
        index_dir=opened.place.index_dir,
        generation=catalog.generation,
        n_documents=counts.documents,
        n_chunks=counts.chunks,
        n_symbols=counts.symbols,
        n_bytes=_bytes_below(opened.place.index_dir),
        languages=counts.languages,
        kinds=counts.kinds,
        model=opened.embedder.name,
        n_without_vector=catalog.n_without_vector(opened.embedder.name),
        indexed_at=int(catalog.get_meta("indexed_at_ns", "0")) / 1e9,
        pending=found.n_pending,
        views_current=opened.views.current,
        skipped=tuple(sorted({*found.scan.skipped, *rejected}, key=lambda item: (item.path, item.reason))),
        failures=tuple(catalog.failures()),
        paused=catalog.get_meta("paused", ""),
    )


def doctor(opened: Opened) -> tuple[Check, ...]:
    """Run every check; a check that breaks is a finding, not an error."""
    return tuple(_guarded(name, check, opened) for name, check in _CHECKS.items())


def check_embedding(opened: Opened) -> Check:
    """Ask the embedding model for one vector."""
    return _guarded("embedding model", _model, opened)


def _guarded(name: str, check: Callable[[Opened], Check], opened: Opened) -> Check:
    try:
        return check(opened)
    except (FathomError, OSError, sqlite3.Error, ValueError) as error:
        return Check(name, False, str(error), getattr(error, "hint", "") or "see the message")


def _version(opened: Opened) -> Check:
    return Check("version", True, f"codefathom {__version__}, SQLite {sqlite3.sqlite_version}")


def _folder(opened: Opened) -> Check:
    folder = opened.place.index_dir
    ok = os.access(folder, os.W_OK)
    return Check("index folder", ok, folder, "" if ok else "set FATHOM_INDEX_DIR to a folder that can be written")


def _catalog(opened: Opened) -> Check:
    problem = opened.catalog.integrity_problem()
    hint = "run `fathom index --full`" if problem else ""
    return Check("catalogue", not problem, problem or f"generation {opened.catalog.generation}, sound", hint)


def _views(opened: Opened) -> Check:
    ok = opened.views.current
    detail = f"lexical {opened.views.lexical.generation}, vectors {opened.views.vectors.generation}"
    return Check("views", ok, detail, "" if ok else "the next search or `fathom index` brings them up to date")


def _model(opened: Opened) -> Check:
    started = time.perf_counter()
    matrix = opened.embedder.embed(["read a file"], "query")
    took_ms = (time.perf_counter() - started) * 1000
    ok = matrix.shape == (1, opened.embedder.dimensions)
    detail = f"{opened.embedder.name}, {opened.embedder.dimensions} dimensions, {took_ms:.0f} ms for one query"
    return Check("embedding model", ok, detail, "" if ok else "install the package again")


def _grammars(opened: Opened) -> Check:
    languages, missing = available_languages()
    detail = f"{len(languages)} languages: {', '.join(languages)}"
    if missing:
        return Check("grammars", False, f"no grammar for {', '.join(missing)}", "these files are indexed as text")
    return Check("grammars", True, detail)


def _failures(opened: Opened) -> Check:
    failures = opened.catalog.failures()
    if not failures:
        return Check("failed files", True, "none")
    first = failures[0]
    return Check(
        "failed files", False, f"{len(failures)}; {first.path}: {first.reason}", "they are tried again each run"
    )


_CHECKS: dict[str, Callable[[Opened], Check]] = {
    "version": _version,
    "index folder": _folder,
    "catalogue": _catalog,
    "views": _views,
    "embedding model": _model,
    "grammars": _grammars,
    "failed files": _failures,
}


def _bytes_below(folder: str) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except OSError:  # a file of a view that was replaced in this moment
                continue
    return total
