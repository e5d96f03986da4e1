"""The plan of a run that begins with the tree that the catalogue was equal to last: only what differs is compared.

That tree counts for one state of the catalogue, of the settings and of the ignore files outside of the root; in another
state all of the tree is listed and compared.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from hashlib import blake2b
from typing import Protocol

from codefathom import __version__
from codefathom.index.plan import (
    INODES,
    MASKED,
    FileJob,
    IndexPlan,
    Recipe,
    compared,
    fingerprint_of,
    indexed_stats,
    is_assumed,
    missing_languages,
    plan,
    reading_of_documents,
    rejected_now,
    with_found_encoding,
)
from codefathom.source.changes import Scan
from codefathom.source.scan import FixedTree
from codefathom.source.stamped_tree import StampedTree
from codefathom.source.stamped_walk import outer_rules, walk_again, walk_stamped
from codefathom.stores.catalog.readers import IndexState
from codefathom.stores.catalog.writing import WRITTEN


class TreeMemory(Protocol):
    """The tree that an index was last equal to."""

    def load(self, key: bytes) -> StampedTree | None:
        """Return the tree that was saved with this key of 32 bytes; None where there is none."""
        ...

    def save(self, key: bytes, tree: StampedTree) -> None:
        """Keep a tree, where that is possible."""
        ...


def plan_again(catalog: IndexState, recipe: Recipe, memory: TreeMemory, earlier: IndexPlan | None = None) -> IndexPlan:
    """Compare the tree with the catalogue, as `plan` does; its cost is that of one look at each file and folder.

    The plan of an earlier look that was made for the same question is given back where it still holds.
    """
    looked_at_ns = time.time_ns()
    if isinstance(recipe.tree, FixedTree):
        return _planned_once(catalog, recipe, earlier, looked_at_ns)
    if not isinstance(recipe.tree, str):
        return plan(catalog, recipe)._replace(looked_at_ns=looked_at_ns)
    outer = outer_rules(recipe.root, recipe.rules.user_exclude)
    state = _state(catalog, recipe, outer)
    if earlier is not None and earlier.state == state:
        return earlier
    return _planned(catalog, recipe, memory.load(state))._replace(outer=outer, state=state, looked_at_ns=looked_at_ns)


def _planned_once(catalog: IndexState, recipe: Recipe, earlier: IndexPlan | None, looked_at_ns: int) -> IndexPlan:
    state = _state(catalog, recipe, (repr(recipe.tree),))
    if earlier is not None and earlier.state == state:
        return earlier
    return plan(catalog, recipe)._replace(state=state, looked_at_ns=looked_at_ns)


def _planned(catalog: IndexState, recipe: Recipe, before: StampedTree | None) -> IndexPlan:
    now = None if before is None else walk_again(recipe.root, recipe.rules, before)
    if before is not None and now is before:
        return IndexPlan(now.scan, (), (), len(now.files), {}, gone=frozenset(), tree=now)
    if before is not None and now is not None and now.files:
        return _partial(catalog, with_found_encoding(recipe, catalog), before, now)
    stamps = walk_stamped(recipe.root, recipe.rules)
    return plan(catalog, recipe, tree=stamps and stamps.scan)._replace(tree=stamps)


def _partial(catalog: IndexState, recipe: Recipe, before: StampedTree, now: StampedTree) -> IndexPlan:
    others, gone = now.files.since(before.files)
    paths = [file.path for file in others]
    entries = catalog.entries_at([*paths, *gone])
    stats = indexed_stats(entries, rejected_now(catalog, recipe, lambda: catalog.rejected_at(paths)))
    changes, suspects = compared(catalog, stats, Scan(others, ()), recipe)
    jobs = tuple(
        FileJob(file, fingerprint_of(entries.get(file.path), recipe)) for file in others if file.path in suspects
    )
    return IndexPlan(
        now.scan,
        jobs,
        tuple(sorted(gone & entries.keys())),
        len(now.files) - len(jobs),
        entries,
        unrecorded={file.path: file for file in changes.unrecorded},
        renumbered=frozenset(file.path for file in changes.renumbered),
        gone=gone,
        tree=now,
    )


def remember(memory: TreeMemory, catalog: IndexState, recipe: Recipe, todo: IndexPlan) -> None:
    """Keep the tree of a plan without work as what the catalogue was equal to when it was made.

    Another process may have written the catalogue since. Nothing is kept where the next plan must find what no stamp
    tells: documents that a model is to parse, or that lack a grammar or an encoding.
    """
    _keep(memory, catalog, recipe, todo)


def remember_written(
    memory: TreeMemory, catalog: IndexState, recipe: Recipe, todo: IndexPlan, others: Collection[str]
) -> None:
    """Keep the tree of a plan, whose work is done but for these other files, as what the catalogue is equal to now.

    Needs the writer lock. The rules from outside are those of the plan: they may be others by now.
    """
    _keep(memory, catalog, recipe, todo._replace(state=_state(catalog, recipe, todo.outer)), others)


def _keep(
    memory: TreeMemory, catalog: IndexState, recipe: Recipe, todo: IndexPlan, others: Collection[str] = ()
) -> None:
    if todo.tree is None or todo.unfinished or not int(catalog.get_meta("indexed_at_ns", "0")):
        return
    if catalog.get_meta(MASKED) != recipe.secrets:  # values that were kept before are still to be removed
        return
    last = memory.load(todo.state)
    if last is todo.tree:
        return
    examples = {entry.parser: entry for entry in todo.entries.values()}.values()
    recipe = with_found_encoding(recipe, catalog)
    if any(map(missing_languages, examples)) or (not recipe.found_encoding and any(map(is_assumed, examples))):
        return
    tree = todo.tree.sure(others)
    if last is None or tree != last._replace(looked_at_ns=tree.looked_at_ns):
        memory.save(todo.state, tree)


def _state(catalog: IndexState, recipe: Recipe, outer: tuple[str, ...]) -> bytes:
    """Return a digest of all that decides, beside the tree, what a plan finds."""
    recipe = with_found_encoding(recipe, catalog)
    reading = reading_of_documents()
    values = (
        *(__version__, catalog.identity, catalog.generation, recipe.root, recipe.rules),
        *(recipe.parser, recipe.chunker, recipe.assumed_encoding),
        # The last write and run: an older catalogue that was put back comes to the same number of writes again.
        *(reading, *(catalog.get_meta(key) for key in (*reading, INODES, MASKED, WRITTEN, "indexed_at_ns"))),
        outer,
    )
    return blake2b(repr(values).encode("utf-8", "surrogateescape"), digest_size=32).digest()
