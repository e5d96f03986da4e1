"""Files that somebody names, or brings texts of → the index; all others stay as they are."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from codefathom.errors import UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.index.indexing import Stages, prepared_jobs, rejected_since, store, store_large, without_result
from codefathom.index.kept_texts import text_changes
from codefathom.index.plan import FileJob, IndexPlan, note_of_grammars, with_found_encoding
from codefathom.index.plan_again import plan_again, remember_written
from codefathom.index.prepare import Outcome, PreparedFile, prepare, with_masks
from codefathom.index.reparse import ModelReparse
from codefathom.index.tally import Tally
from codefathom.source.documents import is_read_whole
from codefathom.source.origin import tree_of
from codefathom.source.scan import scan
from codefathom.source.secrets import blank
from codefathom.stores.catalog.records import Batch, Entry
from codefathom.text.kept_names import is_kept_text, kept_place
from codefathom.text.printable import is_text
from codefathom.types import Document, Filter, FilterGroup, PathReport, Skipped, Where


def places_of(root: str, paths: Iterable[str]) -> list[str]:
    """Return paths as the index writes them; each is relative to the root or absolute, and "" is the root.

    `texts://NAME` is a text that is on no disk, `texts://` stands for all of them. Links and `..` are resolved first.
    Raises UsageError for a path that leads out of the root, and for none at all.
    """
    top = os.path.realpath(root)
    places = []
    for path in paths:
        if is_kept_text(path):
            places.append(kept_place(path))
            continue
        place = os.path.realpath(os.path.join(top, path)) if is_text(path) else ""
        if place != top and not place.startswith(os.path.join(top, "")):
            raise UsageError(f"{path!r} is outside the project", hint=f"give a path below {root}")
        relative = os.path.relpath(place, top).replace(os.sep, "/")
        places.append("" if relative == "." else relative)
    if not places:
        raise UsageError("no path is named", hint="name files or folders of the project")
    return list(dict.fromkeys(places))


def below_one_of(places: Sequence[str]) -> Where | None:
    """Return the condition that a file is one of these, or lies below one; None when one is the root."""
    if "" in places:
        return None
    files = Filter("path", "in_cased", tuple(places))
    folders = (Filter("path", "starts_with_cased", f"{place}/") for place in places)
    return FilterGroup("OR", (files, *folders))


def take_in(stages: Stages, paths: Sequence[str], texts: Mapping[str, str | None] = MappingProxyType({})) -> PathReport:
    """Bring the index up to date with these files, with the files of these folders, and with texts that are on no disk.

    Paths are relative to the root, as in the index; "" is the root. The texts have their paths in the index as keys;
    None removes one. All is one transaction; a file of more than 4 MB has one of its own. Needs the writer lock. Raises
    UsageError, with nothing done, where the texts are too many or too large together.
    """
    tally = Tally(time.perf_counter())
    todo = plan_again(stages.catalog, stages.recipe, stages.memory)
    files = {file.path for file in todo.scan.files if _is_below(file.path, paths)}
    kept = set(stages.catalog.kept_texts())
    # A plan that begins with the tree of before has the entries of what differs.
    entries = {**todo.entries, **stages.catalog.entries_at([*files, *kept, *texts])}
    chosen = {path for path in {*files, *entries} if _is_below(path, paths)} - texts.keys()
    changes = text_changes(texts, entries, stages.recipe, time.time_ns())
    gone = chosen - files - kept
    work = _NamedWork(
        entries,
        [job for job in (*todo.jobs, *todo.unfinished) if job.file.path in chosen],
        changes.prepared,
        sorted((*gone, *changes.removed)),
    )
    stages.views.begin(damaged=stages.views.damage(whole=False))
    _store_named(stages, work, tally)
    _keep_lists(stages, todo._replace(jobs=tuple(work.jobs), unrecorded={}), tally)
    stages.views.commit()
    stages.catalog.soundness.settle()
    _remember(stages, todo, work, tally)
    failed = [Skipped(item.path, item.why) for item in tally.rejected]
    failed += [Skipped(item.path, item.why) for item in tally.failures]
    done = {*tally.added, *tally.changed, *(item.path for item in failed)}
    named = {*chosen, *texts}
    unknown = [path for path in paths if not any(_is_below(one, [path]) for one in named)]
    return PathReport(
        added=tuple(sorted(tally.added)),
        changed=tuple(sorted(tally.changed)),
        removed=tuple(work.gone),
        unchanged=tuple(sorted({*((chosen - gone) & entries.keys()), *changes.unchanged} - done)),
        refused=(*failed, *changes.refused, *_refused(stages, todo, unknown)),
    )


def _remember(stages: Stages, todo: IndexPlan, work: _NamedWork, tally: Tally) -> None:
    """Keep the tree of the plan for the next look, which finds what was not taken in now."""
    is_as_told = not tally.missing_grammars and stages.model_parser is None
    if is_as_told and set(todo.removed) <= set(work.gone):
        others = without_result(todo, tally) | todo.unrecorded.keys()
        remember_written(stages.memory, stages.catalog, stages.recipe, todo, others)


def _is_below(path: str, places: Iterable[str]) -> bool:
    return any(place in ("", path) or path.startswith(f"{place}/") for place in places)


class _NamedWork(NamedTuple):
    """The part of a plan that an update does."""

    entries: Mapping[str, Entry]
    jobs: list[FileJob]
    texts: tuple[PreparedFile, ...]
    gone: list[str]


def _store_named(stages: Stages, work: _NamedWork, tally: Tally) -> None:
    recipe = with_found_encoding(stages.recipe, stages.catalog)
    reparsing = ModelReparse(stages.model_parser, stages.recipe)
    texts: list[Outcome] = [*work.texts]
    prepared = reparsing.steps(chain(prepared_jobs(stages, recipe, work.jobs), [texts]))
    store(stages, [outcome for step in prepared for outcome in step], work.entries, tally, work.gone)
    for job in work.jobs:
        if not is_read_whole(job.file):
            for _ in store_large(stages, job, work.entries, tally):
                pass


def _keep_lists(stages: Stages, todo: IndexPlan, tally: Tally) -> None:
    """Keep what is known of other files that were left out or failed."""
    tried = {job.file.path for job in todo.jobs}
    catalog = stages.catalog
    stages.catalog.write(
        Batch(
            failures=(*(item for item in catalog.failures() if item.path not in tried), *tally.failures),
            rejected=rejected_since(catalog, todo, tally),
            meta=note_of_grammars(catalog, tally.missing_grammars),
        )
    )


def _refused(stages: Stages, todo: IndexPlan, paths: Sequence[str]) -> list[Skipped]:
    """Return the reason for each path that names no file of the index."""
    tree = tree_of(stages.recipe.tree, stages.recipe.rules)
    reasons = {item.path: item.why for item in todo.scan.skipped}
    reasons |= {item.path: item.why for item in stages.catalog.rejected()}
    reasons |= {
        path: Note(say.LEFT_OUT_BY_RULE) for path in paths if path not in reasons and tree.stamp(path) is not None
    }
    folders = [path for path in paths if path not in reasons and os.path.isdir(os.path.join(stages.recipe.root, path))]
    reasons |= dict.fromkeys(folders, Note(say.NO_FILE_OF_FOLDER))
    reasons |= {path: Note(say.NO_SUCH_TEXT) for path in paths if is_kept_text(f"{path}/")}
    return [Skipped(path, reasons.get(path, Note(say.NO_SUCH_FILE))) for path in paths]


def take_over(stages: Stages, texts: Mapping[str, str]) -> int:
    """Index the texts that are equal to their files in the tree, and return their number."""
    entries = stages.catalog.entries()
    tally = Tally(time.perf_counter())
    reparsing = ModelReparse(stages.model_parser, stages.recipe)
    stages.views.begin(damaged=stages.views.damage(whole=False))
    recipe = with_found_encoding(stages.recipe, stages.catalog)
    files = [file for file in scan(recipe.tree, recipe.rules).files if file.path in texts and is_read_whole(file)]
    for file in files:
        outcome = prepare(FileJob(file, ""), recipe)
        if isinstance(outcome, PreparedFile) and _is_same(outcome.parsed.document, texts[file.path]):
            store(stages, reparsing.apply([outcome]), entries, tally)
    stages.views.commit()
    return tally.n_done


def _is_same(document: Document, text: str) -> bool:
    """Return True if a text is that of a document; either may have masks in the place of secrets."""
    return document.text == text or with_masks(document).text == blank(text, document.path)
