"""The uses of what a file defines, from other files: those that are certain, in files that import it, of rare names.

Names that everything uses have a hundred thousand uses. Most are refused by what is cheap to know: the language, the
imports and the names before a use, then the types above those around it. Only for the rest texts are read, together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from codefathom.search.graph.compiler_graph import CompilerGraph
from codefathom.search.graph.reference_graph import MAX_DEFINING_FILES, owner_name
from codefathom.search.graph.resolved_graph import ResolvedUse, UseTargets


def uses_from(
    graph: CompilerGraph,
    path: str,
    names: Iterable[str],
    importers: AbstractSet[str],
    within: AbstractSet[str] | None = None,
) -> Iterator[ResolvedUse]:
    """Yield the uses of names of a file in others: the certain ones, those of rare names, and all in some files.

    With `within`, only those in these files.
    """

    def is_wanted(item: ResolvedUse) -> bool:
        files = item.targets.definitions.paths
        if item.use.path == path or path not in files:
            return False
        return item.targets.certainty != "by-name" or item.use.path in importers or len(files) <= MAX_DEFINING_FILES

    ordered = sorted(set(names))
    if graph.has_compiled:
        language = graph.family_of(path)
        uses = (item for name in ordered for item in graph.resolved_uses(name, language))
        yield from (item for item in uses if is_wanted(item) and (within is None or item.use.path in within))
        return
    candidates = _candidates(graph, path, ordered, within)
    open_uses = [item for item in candidates if item.resolved.depends_on_value and not is_wanted(item.resolved)]
    refused = _refused(graph, open_uses)
    left = [item.resolved for item in candidates if id(item) not in refused]
    graph.receivers.read_ahead(item.use for item in left if item.depends_on_value)
    for use, targets in left:
        item = ResolvedUse(use, graph.narrowed(targets, use))
        if is_wanted(item):
            yield item


class _Candidate(NamedTuple):
    """A use that can mean a definition in the file, as far as names and imports tell."""

    resolved: ResolvedUse
    owners: frozenset[str]  # the types to which definitions of the name in the file belong


def _candidates(
    graph: CompilerGraph, path: str, names: Sequence[str], within: AbstractSet[str] | None
) -> list[_Candidate]:
    language = graph.family_of(path)
    locals_of = {name: graph.local_names(name, language) for name in names}
    uses_of = graph.uses_of({local for some in locals_of.values() for local in some}, language, within)
    candidates = []
    for name in names:
        owners = frozenset(owner_name(item) for item in graph.definitions(name, language).items if item.path == path)
        for use in (use for local in locals_of[name] for use in uses_of.get(local, ())):
            targets = graph.broad_targets(use, name) if use.path != path else UseTargets()
            if path in targets.definitions.paths:
                candidates.append(_Candidate(ResolvedUse(use, targets), owners))
    return candidates


def _refused(graph: CompilerGraph, candidates: Sequence[_Candidate]) -> set[int]:
    """Return those of many definitions of which the value before the name leaves none of the file, or too many."""
    receivers = graph.receivers
    receivers.read_types_around(item.resolved.use for item in candidates)
    possible = [item for item in candidates if receivers.may_choose(item.resolved.use, item.owners)]
    receivers.read_ahead(item.resolved.use for item in possible)
    receivers.read_types_of(item.resolved.use for item in possible)
    left = {id(item) for item in possible if receivers.may_choose_by_value(item.resolved.use, item.owners)}
    return {id(item) for item in candidates} - left
