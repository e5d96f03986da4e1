"""A question about connections → the chunks that hold them, those of tests last."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from codefathom.search.graph.edge_list import EdgeChoice
from codefathom.search.graph.related import only_path, related
from codefathom.search.graph.unseen_uses import FilesWith
from codefathom.search.graph.written_targets import files_of_module, is_known
from codefathom.search.question.planner import ConnectionQuery, Relation
from codefathom.search.question.query import is_path
from codefathom.search.ranking.places import place_of
from codefathom.search.ranking.rank import Pool
from codefathom.search.ranking.signals import Candidate
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.types import Related

_CHOICES: dict[Relation, EdgeChoice] = {
    "used by": EdgeChoice("callers"),
    "called by": EdgeChoice("callers", ("calls",)),
    "calls": EdgeChoice("callees", ("calls",)),
    "imported by": EdgeChoice("callers", ("imports",)),
    "imports": EdgeChoice("callees", ("imports",)),
}
_ALL_EDGES = 10_000_000  # more than any index has
_NO_TEST = 0.5  # of the score: however often a test uses something, other uses come first
_UNLIKELY = 0.25  # factor of the score: the name may be that of another symbol
# The certainty of an edge. One by name is one of all definitions of the name; but there the name stands, as was asked.
_BY_NAME, _LEAST_CERTAIN = 0.9, 0.25


def connected(
    connection: ConnectionQuery, catalog: SearchCatalog, allowed: Collection[int] | None, files_with: FilesWith
) -> Pool:
    """Return the chunks that hold an edge, scored by the number of edges, with the mean of the edges' certainty.

    Of what uses the target, the pool also says what could not be seen. Raises UsageError for an unknown
    target.
    """
    edges: dict[str, list[Related]] = defaultdict(list)
    choice = _CHOICES[connection.relation]
    result = related(catalog, _target(connection, catalog), limit=_ALL_EDGES, choice=choice, files_with=files_with)
    for edge in result.edges:
        edges[edge.path].append(edge)
    connections = [item for path, own in edges.items() for item in _connections(path, own, catalog, allowed)]
    most = max((item.n_edges for item in connections), default=1)
    return Pool(
        [item.candidate for item in connections],
        {item.candidate.key: _score(item, most) for item in connections},
        {item.candidate.key: {kind: float(n) for kind, n in item.n_of_kind.items()} for item in connections},
        certainty=_mean([value for item in connections for value in item.certainties]),
        notes=result.notes if choice.direction == "callers" else (),
    )


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 3) if values else 0.0


def _certainty(edge: Related) -> float:
    """Return the certainty that an edge leads to the symbol that is meant: 1.0 by scope and imports, less by name."""
    if not edge.likely:
        return _LEAST_CERTAIN
    return 1.0 if edge.certainty != "by-name" else max(_BY_NAME / max(edge.n_definitions, 1), _LEAST_CERTAIN)


def _target(connection: ConnectionQuery, catalog: SearchCatalog) -> str:
    """Return the file or symbol of a name. A name of both, such as a PHP class with its namespace, means the file in a
    question about imports, and else the symbol: nothing calls a file."""
    name = connection.target
    if is_path(name):
        return name
    files = files_of_module(name, catalog)
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
