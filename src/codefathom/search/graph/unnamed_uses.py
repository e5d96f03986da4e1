"""Uses of a method that do not have its name: who makes a value calls its constructor, a sign may call an operator."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.facts.unnamed_calls import OWN_TYPE, is_constructor, sign_of
from codefathom.search.graph.reference_graph import MAX_DEFINING_FILES, NameUse
from codefathom.search.graph.resolve import family
from codefathom.search.graph.resolved_graph import ResolvedGraph, ResolvedUse, UseTargets
from codefathom.text.code_only import code_only
from codefathom.types import Symbol

_MOST_TEXTS = 200  # that are read for the sign of one operator
_MOST_OPERATORS = 5  # of one answer
_MOST_SHOWN = 3  # files with a sign


class Method(NamedTuple):
    """A method, by the file and the qualified name of its definition."""

    path: str
    qualified_name: str


def constructions(graph: ResolvedGraph, method: Method) -> Iterator[ResolvedUse]:
    """Yield the calls of the type of a constructor; none for another method."""
    if not is_constructor_of(graph, method):
        return
    owner = method.qualified_name.rpartition(".")[0]
    language = graph.family_of(method.path)
    for use, targets in graph.resolved_uses(owner.rpartition(".")[2], language):
        if targets.means(method.path, owner) and _is_made(graph, use):
            yield ResolvedUse(NameUse(use.path, replace(use.reference, kind="call")), targets)
    own = graph.definitions(owner.rpartition(".")[2], language)
    for reference in graph.references_of(method.path):
        is_own = reference.name in OWN_TYPE and f"{reference.container}.".startswith(f"{owner}.")
        if is_own and reference.kind == "call" and not reference.qualifier:
            yield ResolvedUse(NameUse(method.path, reference), UseTargets(own))


def common_constructors(graph: ResolvedGraph, methods: Iterable[Method]) -> tuple[str, ...]:
    """Return the names of constructors of which there are too many among some methods to look for each."""
    constructors = [method for method in methods if is_constructor_of(graph, method)]
    if len(constructors) <= MAX_DEFINING_FILES:
        return ()
    return tuple(sorted({method.qualified_name.rpartition(".")[2] for method in constructors}))


def is_constructor_of(graph: ResolvedGraph, method: Method) -> bool:
    """Return True for a constructor that has another name than its type."""
    return is_constructor(method.qualified_name, graph.resolver.language_of.get(method.path, ""))


def _is_made(graph: ResolvedGraph, use: NameUse) -> bool:
    """Return True for a use of a type that makes a value of it."""
    reference = use.reference
    if graph.resolver.language_of.get(use.path) != "ruby":
        return reference.kind == "call"
    return reference.kind == "type" and any(
        other.name == "new"
        and other.container == reference.container
        and other.qualifier.rpartition(".")[2].rpartition("::")[2] == reference.name
        for other in graph.references_of(use.path)
    )


# ---- operators


def operator_notes(graph: ResolvedGraph, methods: Sequence[Method]) -> Iterator[Note]:
    """Yield for methods that a sign calls in how many files it may do so: their uses are in no list."""
    told: set[tuple[str, str]] = set()
    for method, sign in _signs_of(graph, methods):
        owner, _, name = method.qualified_name.rpartition(".")
        if (owner, name) not in told and len(told) < _MOST_OPERATORS:
            told.add((owner, name))
            yield _note(name, owner.rpartition(".")[2], sign, _files_with(graph, method, sign))


def _signs_of(graph: ResolvedGraph, methods: Iterable[Method]) -> Iterator[tuple[Method, str]]:
    by_path: dict[str, list[str]] = defaultdict(list)
    for method in methods:
        by_path[method.path].append(method.qualified_name)
    for path, names in by_path.items():
        language = graph.resolver.language_of.get(path, "")
        symbols: dict[str, list[Symbol]] = defaultdict(list)
        for item in graph.symbols_of(path):
            symbols[item.qualified_name].append(item)
        for name in names:
            for item in symbols[name]:
                owners = symbols[name.rpartition(".")[0]]
                nth = bisect_right(owners, item.start_line, key=lambda owner: owner.start_line)
                if sign := sign_of(item.name, item.signature, owners[nth - 1].signature if nth else "", language):
                    yield Method(path, name), sign


def _files_with(graph: ResolvedGraph, method: Method, sign: str) -> list[str]:
    """Return the files that use the type of a method, or are of its language, and have a sign; those not read, too."""
    owner = method.qualified_name.rpartition(".")[0].rpartition(".")[2]
    language_of = graph.resolver.language_of
    own = family(language_of.get(method.path, ""))
    using = {use.path for use in graph.uses(owner, own)} if owner else set(language_of)
    near = sorted(path for path in using if family(language_of.get(path, "")) == own and path != method.path)
    around = r"\w" if sign[0].isalpha() else "" if sign[0] in '[({."' else r"[-+*/%<>=!&|^~@.:?$]"
    stands = re.compile(rf"(?<!{around}){re.escape(sign)}(?!{around})" if around else re.escape(sign))
    texts = graph.catalog.texts(near[:_MOST_TEXTS])
    there = [text.path for text in texts if stands.search(code_only(text.text, language_of.get(text.path, "")))]
    return sorted(there) + near[_MOST_TEXTS:]


def _note(name: str, owner: str, sign: str, paths: Sequence[str]) -> Note:
    values = {"name": f"{owner}.{name}" if owner else name, "sign": sign}
    if not paths:
        return Note(say.CALLED_BY_SIGN, values)
    shown, more = tuple(paths[:_MOST_SHOWN]), len(paths) - _MOST_SHOWN
    if more <= 0:
        return Note(say.CALLED_BY_SIGN_THERE, {**values, "count": len(paths), "places": shown})
    return Note(say.CALLED_BY_SIGN_THERE_TOO, {**values, "count": len(paths), "places": shown, "more": more})
