"""A question about connections → the chunks that hold them, those of tests last."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from codefathom.search.graph.reference_graph import dotted_name
from codefathom.search.graph.related import modules, only_path, related
from codefathom.search.question.planner import ConnectionQuery, Relation
from codefathom.search.question.query import is_path
from codefathom.search.ranking.places import place_of
from codefathom.search.ranking.rank import Pool
from codefathom.search.ranking.signals import Candidate
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.text.file_stems import flat_stem
from codefathom.text.path_spelling import paths_named
from codefathom.types import TYPE_KINDS, Related

_KINDS: dict[Relation, tuple[str, ...]] = {
    "used by": ("called by", "references", "imported by"),
    "called by": ("called by",),
    "calls": ("calls",),
    "imported by": ("imported by",),
    "imports": ("imports",),
}
_ALL_EDGES = 10_000_000  # more than any index has
_NO_TEST = 0.5  # of the score: however often a test uses something, other uses come first
_UNLIKELY = 0.25  # factor of the score: the name may be that of another symbol
# The certainty of an edge. One by name is one of all definitions of the name; but there the name stands, as was asked.
_BY_NAME, _LEAST_CERTAIN = 0.9, 0.25


def is_known(name: str, catalog: SearchCatalog) -> bool:
    """Return True if a symbol is defined here under this very name, or one file has this path or ends with it."""
    if is_path(name):
        return len(paths_named(name, _with_stem(name.replace("\\", "/").rpartition("/")[2], catalog))) == 1
    return any(kind != "section" for kind in _kinds_of(name, catalog))


def is_type(name: str, catalog: SearchCatalog) -> bool:
    """Return True if a class or another type with members has this very name."""
    return any(kind in TYPE_KINDS for kind in _kinds_of(name, catalog))


def _kinds_of(name: str, catalog: SearchCatalog) -> Iterator[str]:
    """Yield the kinds of the symbols with this very name."""
    dotted = dotted_name(name)
    last = dotted.rpartition(".")[2]
    return (item.symbol.kind for item in catalog.symbols_named(dotted) if item.symbol.name == last)


def is_module(name: str, catalog: SearchCatalog) -> bool:
    """Return True if a file is the module of this name."""
    return bool(_files_of(name, catalog))


def _files_of(name: str, catalog: SearchCatalog) -> list[str]:
    return modules(name, _with_stem(dotted_name(name).rpartition(".")[2], catalog))


def _with_stem(name: str, catalog: SearchCatalog) -> Sequence[str]:
    return catalog.paths_by_stem().get(flat_stem(name), ())


def connected(connection: ConnectionQuery, catalog: SearchCatalog, allowed: Collection[int] | None) -> Pool:
    """Return the chunks that hold an edge, scored by the number of edges, with the mean of the edges' certainty.

    Raises UsageError for an unknown target.
    """
    edges: dict[str, list[Related]] = defaultdict(list)
    needed = _KINDS[connection.relation]
    for edge in related(catalog, _target(connection, catalog), limit=_ALL_EDGES, needed=needed).edges:
        if edge.kind in needed:
            edges[edge.path].append(edge)
    connections = [item for path, own in edges.items() for item in _connections(path, own, catalog, allowed)]
    most = max((item.n_edges for item in connections), default=1)
    return Pool(
        [item.candidate for item in connections],
        {item.candidate.key: _score(item, most) for item in connections},
        {item.candidate.key: {kind: float(n) for kind, n in item.n_of_kind.items()} for item in connections},
        certainty=_mean([value for item in connections for value in item.certainties]),
    )


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 3) if values else 0.0


def _certainty(edge: Related) -> float:
    """Return the certainty that an edge leads to the symbol that is meant: 1.0 by scope and imports, less by name."""
    if not edge.likely:
        return _LEAST_CERTAIN
    return 1.0 if edge.certainty == "exact" else max(_BY_NAME / max(edge.n_definitions, 1), _LEAST_CERTAIN)


def _target(connection: ConnectionQuery, catalog: SearchCatalog) -> str:
    """Return the file or symbol of a name. A name of both, such as a PHP class with its namespace, means the file in a
    question about imports, and else the symbol: nothing calls a file."""
    name = connection.target
    if is_path(name):
        return name
    files = _files_of(name, catalog)
    about_files = connection.relation in ("imports", "imported by") or not is_known(name, catalog)
    return only_path(name, files) if files and about_files else f"@@{name}"


class _Connection(NamedTuple):
    """A chunk that holds edges."""

    candidate: Candidate
    n_of_kind: Counter[str]
    is_likely: bool  # one of them at least
    certainties: tuple[float, ...]  # of each

    @property
    def n_edges(self) -> int:
        return self.n_of_kind.total()


def _score(item: _Connection, most: int) -> float:
    share = (1 - _NO_TEST) * item.n_edges / most
    score = share if place_of(item.candidate.chunk.path).is_aside else share + _NO_TEST
    return score if item.is_likely else _UNLIKELY * score


def _connections(
    path: str, edges: Sequence[Related], catalog: SearchCatalog, allowed: Collection[int] | None
) -> Iterator[_Connection]:
    """Yield the chunks of a document that hold some of these edges."""
    for key, chunk in catalog.chunks_of(path):
        inside = [edge for edge in edges if chunk.start_line <= edge.line <= chunk.end_line]
        if inside and (allowed is None or key in allowed):
            candidate = Candidate(key, chunk, line=min(edge.line for edge in inside))
            yield _Connection(
                candidate,
                Counter(edge.kind for edge in inside),
                any(edge.likely for edge in inside),
                tuple(map(_certainty, inside)),
            )
