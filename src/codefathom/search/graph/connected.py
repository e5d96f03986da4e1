"""A question about connections → the chunks in which they stand, those of tests last."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from codefathom.search.graph.related import dotted_name, modules, only, related
from codefathom.search.question.planner import ConnectionQuery, Relation
from codefathom.search.question.query import is_path
from codefathom.search.ranking.places import place_of
from codefathom.search.ranking.rank import Ranked, by_score_and_place
from codefathom.search.ranking.signals import Candidate
from codefathom.stores.catalog.catalog import Catalog
from codefathom.types import Related

_KINDS: dict[Relation, tuple[str, ...]] = {
    "used by": ("called by", "references", "imported by"),
    "called by": ("called by",),
    "calls": ("calls",),
    "imported by": ("imported by",),
    "imports": ("imports",),
}
_NO_TEST = 0.5  # of the score: however often a test uses something, other uses come first


def is_known(name: str, catalog: Catalog) -> bool:
    """Whether a symbol is defined here under this very name, or a file has this path or ends with it."""
    if is_path(name):
        return any(document.path == name or document.path.endswith(f"/{name}") for document in catalog.documents())
    dotted = dotted_name(name)
    last = dotted.rpartition(".")[2]
    return any(item.symbol.name == last and item.symbol.kind != "section" for item in catalog.symbols_named(dotted))


def is_module(name: str, catalog: Catalog) -> bool:
    """Whether a file is the module of this name."""
    return bool(_files_of(name, catalog))


def _files_of(name: str, catalog: Catalog) -> list[str]:
    return modules(name, (document.path for document in catalog.documents()))


def connected(asked: ConnectionQuery, catalog: Catalog, allowed: Collection[int] | None) -> list[Ranked]:
    """Rank the chunks that hold an edge by how many they hold. Raises UsageError for a target that is not here."""
    target = _target(asked, catalog)
    edges: dict[str, list[Related]] = defaultdict(list)
    for edge in related(catalog, target).edges:
        if edge.kind in _KINDS[asked.relation]:
            edges[edge.path].append(edge)
    found = [item for path, own in edges.items() for item in _held(path, own, catalog, allowed)]
    top = max((item.score for item in found), default=1.0)
    return sorted((item._replace(score=_score(item, top)) for item in found), key=by_score_and_place)


def _target(asked: ConnectionQuery, catalog: Catalog) -> str:
    """Return the file or symbol that is meant. What is both, such as a PHP class with its namespace, is the file where
    imports are asked for, and else the symbol: nothing calls a file."""
    if is_path(asked.target):
        return asked.target
    found = _files_of(asked.target, catalog)
    about_files = asked.relation in ("imports", "imported by") or not is_known(asked.target, catalog)
    return only(asked.target, found) if found and about_files else f"@@{asked.target}"


def _score(item: Ranked, top: float) -> float:
    share = (1 - _NO_TEST) * item.score / top
    return share if place_of(item.candidate.chunk.path).is_test else share + _NO_TEST


def _held(path: str, edges: Sequence[Related], catalog: Catalog, allowed: Collection[int] | None) -> Iterator[Ranked]:
    """Yield the chunks with how many edges each holds."""
    for key, chunk in catalog.chunks_of(path):
        inside = [edge for edge in edges if chunk.start_line <= edge.line <= chunk.end_line]
        if inside and (allowed is None or key in allowed):
            n_of_kind = Counter(edge.kind for edge in inside)
            candidate = Candidate(key, chunk, line=min(edge.line for edge in inside))
            yield Ranked(candidate, float(len(inside)), {kind: float(n) for kind, n in n_of_kind.items()})
