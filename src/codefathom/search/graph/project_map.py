"""A map of a project: its most central files, each with the signatures that others use, within a budget of tokens.

The rank decides what is in the map; the path decides where it stands, so that a small change of the project changes
few lines of the map, and a prompt that begins with it can be kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop
from math import sqrt
from typing import NamedTuple, Protocol

from codefathom.errors import UnindexedPathError, UsageError
from codefathom.facts.reasons import MAP_RANKED, PARTIAL, Note
from codefathom.search.graph.centrality import USUALLY_FOLLOWED, Link, Ranks, ranked
from codefathom.search.graph.main_types import ASIDE_WEIGHT, main_types, public_types, stands_aside
from codefathom.search.graph.reference_graph import MAX_DEFINING_FILES, ReferenceGraph
from codefathom.search.graph.resolve import family
from codefathom.search.graph.written_targets import dotted_name
from codefathom.search.verdict import Verdict, of_several
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.text.packing import n_that_fit
from codefathom.text.printable import show_line, show_name
from codefathom.types import VALUE_KINDS, Hit, Symbol

_IMPORT_WEIGHT = 1.0
_PRIVATE_WEIGHT = 0.2  # of a name that begins with "_": it is made for its own file
FOLLOWED_FROM_START = 0.5  # who has a question stays nearer to its hits than the reader of a whole project
QUESTION_SHARE = 0.9  # of the readers, where a question names files; the rest begins anywhere
_NEXT_SYMBOL = 0.7  # weight of each symbol of a file, relative to the one before: few files whole would tell less
# Of a use where no import tells whose name it is. In many languages a folder is a package and needs no import; further
# away such a use is seldom what its name says: `text.split(…)` is not the `split` of this project.
_NEIGHBOUR_WEIGHT, _STRANGER_WEIGHT = 0.5, 0.02
_MAIN_SHARE = 1.0  # without a question: lines of main types for each other line, as long as there are any
_MIN_NAME_CHARS = 3
_MOST_TOKENS = 1_000_000
MOST_KEPT = 20_000  # parts of a map that asks for nothing; each has at least one token
_LEAST_TRUST = 0.01  # of a project whose hits are most likely no answer, so that it keeps a place
_SIGNATURE_CHARS = 120
_LIMITATIONS = (Note(MAP_RANKED, {"count": MAX_DEFINING_FILES}),)


@dataclass(frozen=True, slots=True)
class MapSymbol:
    """A definition in a map."""

    kind: str
    name: str  # qualified
    line: int
    signature: str  # one line; the kind and the name where the language has none


@dataclass(frozen=True, slots=True)
class MapFile:
    """A file in a map, with the symbols that fit."""

    path: str
    language: str
    rank: int  # 1 is the most central of the project
    symbols: tuple[MapSymbol, ...]  # in the order of their lines


@dataclass(frozen=True, slots=True)
class ProjectMap:
    """The most central files of a project, ordered by path."""

    query: str
    files: tuple[MapFile, ...]
    n_files: int  # of the project, or of the folders that the map is kept to
    n_tokens: int  # of the map as text
    limitations: tuple[Note, ...]
    n_left_out: int = 0  # files behind those of this page
    n_symbols_left_out: int = 0  # symbols behind it, also those of files that are shown
    next_offset: int | None = None  # of the page behind this one, in files and symbols; None: there is none
    verdict: Verdict | None = None  # on the question; unanswerable: the map is the one without it

    @property
    def completeness(self) -> str:
        """The limitations in English."""
        return " ".join(map(str, self.limitations))

    @property
    def missing(self) -> str:
        """The part of a fleet that was not looked at, in English; "" for nothing."""
        return " ".join(str(note) for note in self.limitations if note.kind == PARTIAL)


class MapRequest(NamedTuple):
    """Limits and preferences of a map."""

    hits: Sequence[Hit] = ()  # of the question
    files: tuple[str, ...] = ()  # that somebody works on
    folders: tuple[str, ...] = ()  # that it is kept to; none: all


class Definers(Protocol):
    """The documents with a definition of a name, by family of languages and name, and whether that is outer."""

    def get(self, key: tuple[str, str], default: Mapping[str, bool], /) -> Mapping[str, bool]:
        """Return those of one name."""
        ...


class MapPart(NamedTuple):
    """A file, or a symbol of a file that is in the map already."""

    path: str
    language: str
    rank: int  # of the file: 1 is the most central of the project
    symbol: MapSymbol | None


class MapParts(NamedTuple):
    """The files and symbols of a project, those first that a map shows first."""

    parts: tuple[MapPart, ...]
    n_files: int
    verdict: Verdict | None = None  # on the question, where there is one
    offset: int = 0  # parts that earlier pages have shown
    n_behind: tuple[int, int] = (0, 0)  # files and symbols behind these parts
    limitations: tuple[Note, ...] = ()  # what was not looked at

    def first(self, most: int) -> MapParts:
        """Return at most so many parts; those behind them are counted."""
        behind = self.parts[most:]
        n_files = sum(part.symbol is None for part in behind)
        n_behind = (self.n_behind[0] + n_files, self.n_behind[1] + len(behind) - n_files)
        return self._replace(parts=self.parts[:most], n_behind=n_behind)

    def of_files(self, is_kept: Callable[[str], bool]) -> MapParts:
        """Return the parts of some files; there must be none behind these."""
        parts = tuple(part for part in self.parts if is_kept(part.path))
        return self._replace(parts=parts, n_files=sum(part.symbol is None for part in parts))

    def behind(self, offset: int) -> MapParts:
        """Return the parts behind the first ones. Raises UsageError where there are none."""
        if offset and offset >= len(self.parts):
            raise UsageError(
                f"offset cannot be {offset}: the map has {len(self.parts)} files and symbols", hint="begin without it"
            )
        return self._replace(parts=self.parts[offset:], offset=offset)


class RankedProject(NamedTuple):
    """A map, and what it was made of."""

    parts: MapParts
    symbols: Mapping[str, Sequence[Symbol]]  # the definitions of all files by path
    ranks: Ranks
    main: Sequence[tuple[str, Symbol]]  # the main types with their files; none where a question is asked


def map_parts(catalog: SearchCatalog, request: MapRequest) -> MapParts:
    """Return the parts of a map, for a reader who begins at the hits of a question, and at files in work.

    Without them all files that are no tests and no prose count alike. Raises UnindexedPathError for such a file, or a
    folder, that is not in the index.
    """
    return ranked_project(catalog, request, None).parts


def ranked_project(catalog: SearchCatalog, request: MapRequest, most: int | None) -> RankedProject:
    """Return the first parts of such a map, and what it was made of: all files of the project are looked at."""
    graph = ReferenceGraph(catalog)
    languages = graph.resolver.language_of
    check_request(request, languages)
    symbols = {path: definitions_in(catalog, path) for path in languages}
    preference = preferred(request)
    followed = FOLLOWED_FROM_START if preference else USUALLY_FOLLOWED
    aside = {path for path in symbols if stands_aside(path)}
    links = _links(graph, symbols, aside, only_imported=not preference)
    ranks = ranked(_start(symbols, aside, preference), links, followed)
    order = ordered(inside(symbols, request.folders), ranks)
    pieces = first_pieces(order, symbols.__getitem__, ranks)
    main = [] if preference else main_types(catalog, order, symbols, links, aside)
    pieces = with_main_types(pieces, main, order)
    behind = [] if most is None else pieces[most:]
    n_files = sum(piece.symbol is None for piece in behind)
    parts = MapParts(shown(pieces[:most], languages), len(order), n_behind=(n_files, len(behind) - n_files))
    return RankedProject(parts, symbols, ranks, main)


def fitted(query: str, content: MapParts, max_tokens: int, count: Callable[[str], int]) -> ProjectMap:
    """Return the map with as many parts as a number of tokens takes. Raises UsageError for no such number."""
    if not 1 <= max_tokens <= _MOST_TOKENS:
        raise UsageError(f"max_tokens cannot be {max_tokens}", hint=f"give a number from 1 to {_MOST_TOKENS}")
    most = min(len(content.parts), max_tokens)  # each has at least one token
    n = n_that_fit(most, lambda n: count(map_text(_files(content.parts[:n]))) <= max_tokens)
    return first_parts(query, content, n, count)


def first_parts(query: str, content: MapParts, n: int, count: Callable[[str], int]) -> ProjectMap:
    """Return the map of the first `n` parts."""
    files, n_behind = _files(content.parts[:n]), content.first(n).n_behind
    return ProjectMap(
        query,
        files,
        content.n_files,
        count(map_text(files)),
        (*content.limitations, *_LIMITATIONS),
        *n_behind,
        content.offset + n if n and any(n_behind) else None,
        content.verdict,
    )


def joined(projects: Mapping[str, MapParts]) -> MapParts:
    """Return the parts of several projects, whose paths then begin with the name of their project.

    The projects take turns, so that each is told in the same room as long as it has something to tell. One whose hits
    answer the question half as surely as those of another has every second turn.
    """
    turns = [
        ((turn + 1) / _trust(content), part._replace(path=f"{name}/{part.path}"))
        for name, content in projects.items()
        for turn, part in enumerate(content.parts)
    ]
    ordered = tuple(part for _, part in sorted(turns, key=lambda item: item[0]))
    n_files = sum(content.n_files for content in projects.values())
    verdicts = [content.verdict for content in projects.values() if content.verdict]
    n_behind = tuple(map(sum, zip(*(content.n_behind for content in projects.values()), strict=True))) or (0, 0)
    return MapParts(
        ordered,
        n_files,
        of_several(verdicts) if verdicts else None,
        n_behind=(n_behind[0], n_behind[1]),
        limitations=tuple(dict.fromkeys(note for content in projects.values() for note in content.limitations)),
    )


def _trust(content: MapParts) -> float:
    return max(content.verdict.confidence if content.verdict else 1.0, _LEAST_TRUST)


def map_text(files: Iterable[MapFile]) -> str:
    """Return a map as text: a line for each file, and below it a line for each symbol, with its line number."""
    lines: list[str] = []
    for file in files:
        lines.append(show_name(file.path))
        lines += [f"  {symbol.line}: {show_line(symbol.signature)}" for symbol in file.symbols]
    return "".join(line + "\n" for line in lines)


# ---- what is asked for


def check_request(request: MapRequest, paths: Collection[str]) -> None:
    """Raise UnindexedPathError for a file or a folder of a request that is not in the index."""
    for path in request.files:
        if path not in paths:
            raise UnindexedPathError(f"{path!r} is not in the index", hint="`fathom files` lists the indexed files")
    for folder in request.folders:
        if not any(True for _ in inside(paths, (folder,))):
            raise UnindexedPathError(
                f"there is no indexed file below {folder!r}", hint="`fathom files` lists the indexed files"
            )


def inside(paths: Iterable[str], folders: Collection[str]) -> Iterator[str]:
    """Yield the paths that are at or below some folders; no folders: all."""
    starts = tuple("" if folder in ("", ".") else folder.rstrip("/") + "/" for folder in folders)
    return (path for path in paths if not folders or f"{path}/".startswith(starts))


# ---- the graph


def definitions_in(catalog: SearchCatalog, path: str) -> list[Symbol]:
    """Return the symbols of a file, the first of each name, without fields of types, whose names are too usual."""
    chosen = {
        symbol.qualified_name: symbol
        for symbol in reversed(catalog.symbols_of(path))
        if symbol.kind not in VALUE_KINDS or _is_outer(symbol)
    }
    return list(reversed(chosen.values()))


def preferred(request: MapRequest) -> dict[str, float]:
    """Return weights of files: those of hits, the first most, and the same again for the files in work."""
    weights: dict[str, float] = defaultdict(float)
    for rank, hit in enumerate(request.hits, start=1):
        weights[hit.chunk.path] += 1 / rank
    share = sum(weights.values()) or 1.0
    for path in request.files:
        weights[path] += share / len(request.files)
    return dict(weights)


def _start(paths: Iterable[str], aside: Collection[str], preference: Mapping[str, float]) -> dict[str, float]:
    usual = {path: ASIDE_WEIGHT if path in aside else 1.0 for path in paths}
    total = sum(weight for path, weight in preference.items() if path in usual)
    if not total:
        return usual
    everything = sum(usual.values())
    anywhere = (1 - QUESTION_SHARE) / everything
    return {
        path: weight * anywhere + QUESTION_SHARE * preference.get(path, 0.0) / total for path, weight in usual.items()
    }


def _links(
    graph: ReferenceGraph, symbols: Mapping[str, Sequence[Symbol]], aside: Collection[str], *, only_imported: bool
) -> list[Link]:
    defining: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)  # by family of languages and name
    for path, own in symbols.items():
        outer = {symbol.name for symbol in own if _is_outer(symbol)}
        family_of_path = _family_of(graph, path)
        for name in dict.fromkeys(symbol.name for symbol in own):
            defining[family_of_path, name][path] = name in outer
    return [
        link
        for path in symbols
        for link in links_of(graph, path, defining, ASIDE_WEIGHT if path in aside else 1.0, only_imported=only_imported)
    ]


def _family_of(graph: ReferenceGraph, path: str) -> str:
    return family(graph.resolver.language_of[path])


def links_of(
    graph: ReferenceGraph,
    path: str,
    defining: Definers,
    weight: float,
    *,
    only_imported: bool,
) -> Iterator[Link]:
    """Yield the links of one document, whose uses count so much.

    `defining` has the documents with a definition, and whether that is outer.
    With `only_imported` a name that very many documents define leads to the imported ones alone.
    """
    own_family = _family_of(graph, path)
    means = graph.links.targets(path)
    imported: set[str] = set()
    foreign: set[str] = set()
    uses: Counter[str] = Counter()
    for reference in graph.catalog.references_of(path):
        if reference.kind != "import":
            uses[reference.name] += reference.count
            continue
        targets = means.get(reference.name, ())
        imported.update(targets)
        if not targets:
            foreign.add(dotted_name(reference.name).rpartition(".")[2])
        for target in targets:
            yield Link(path, target, "", weight * _IMPORT_WEIGHT / len(targets))
    for name, count in uses.items():
        places = defining.get((own_family, name), {})
        if len(name) < _MIN_NAME_CHARS or name in foreign or path in places or not places:
            continue
        if len(places) > MAX_DEFINING_FILES:
            # Names that very many documents define are left out before each of these is looked at.
            if places.keys().isdisjoint(imported):
                continue
            if only_imported:
                places = {place: places[place] for place in sorted(imported) if place in places}
        near = {place: _nearness(place, is_outer, path, imported) for place, is_outer in places.items()}
        share = weight * sqrt(count) * (_PRIVATE_WEIGHT if name.startswith("_") else 1.0) / sum(near.values())
        nearest = max(near.values())
        for place, nearness in near.items():
            yield Link(path, place, name, share * nearness * nearest)


def _nearness(place: str, is_outer: bool, path: str, imported: Collection[str]) -> float:
    if place in imported:
        return 1.0
    if _folder(place) == _folder(path):
        return _NEIGHBOUR_WEIGHT
    return _STRANGER_WEIGHT if is_outer else _STRANGER_WEIGHT / 10


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


# ---- what is in the map


class MapPiece(NamedTuple):
    """A file, or a symbol of a file that is in the map already."""

    path: str
    rank: int
    symbol: Symbol | None


def ordered(paths: Iterable[str], ranks: Ranks) -> list[str]:
    """Return paths, the most central first."""
    return sorted(paths, key=lambda path: (-ranks.files.get(path, 0.0), path))


def first_pieces(
    order: Sequence[str], symbols_of: Callable[[str], Sequence[Symbol]], ranks: Ranks, most: int | None = None
) -> list[MapPiece]:
    """Return files and their symbols, the most central first, at least `most`; a file stands before its symbols.

    No symbol has more weight than its file. So no further file is looked at when `most` stand before the next one.
    """
    weighted: list[tuple[float, int, Symbol | None]] = []
    heaviest: list[float] = []  # the `most` largest weights, as a heap
    for place, path in enumerate(order):
        weight = ranks.files.get(path, 0.0)
        if most is not None and len(heaviest) >= most and heaviest[0] >= weight:
            break
        own = [(weight, place, None), *_weighted_symbols(path, place, symbols_of(path), ranks)]
        weighted += own
        if most is not None:
            for item in own:
                (heappush if len(heaviest) < most else heappushpop)(heaviest, item[0])
    weighted.sort(key=lambda item: (-item[0], item[1]))
    return [MapPiece(order[place], place + 1, chosen) for _, place, chosen in weighted]


def _weighted_symbols(
    path: str, place: int, symbols: Sequence[Symbol], ranks: Ranks
) -> Iterator[tuple[float, int, Symbol | None]]:
    weight = ranks.files.get(path, 0.0)
    for symbol in _by_importance(path, symbols, ranks):
        weight *= _NEXT_SYMBOL
        yield weight, place, symbol


def shown(pieces: Iterable[MapPiece], languages: Mapping[str, str]) -> tuple[MapPart, ...]:
    """Return the parts of a map that show some files and symbols."""
    return tuple(
        MapPart(piece.path, languages[piece.path], piece.rank, map_symbol(piece.symbol) if piece.symbol else None)
        for piece in pieces
    )


def _by_importance(path: str, symbols: Sequence[Symbol], ranks: Ranks) -> list[Symbol]:
    """Return the symbols of a file, those first that others use most, but its most used type before all."""
    ordered = sorted(symbols, key=lambda symbol: _importance(path, symbol, ranks))
    main = {symbol.qualified_name for symbol in public_types(symbols) if (path, symbol.name) in ranks.names}
    first = next((symbol for symbol in ordered if symbol.qualified_name in main), None)
    return ordered if first is None else [first, *(symbol for symbol in ordered if symbol is not first)]


def _importance(path: str, symbol: Symbol, ranks: Ranks) -> tuple[float, bool, bool, int]:
    used = ranks.names.get((path, symbol.name), 0.0)
    return -used, not _is_outer(symbol), symbol.name.startswith("_"), symbol.name_line


def with_main_types(
    pieces: Sequence[MapPiece], main: Iterable[tuple[str, Symbol]], order: Sequence[str]
) -> list[MapPiece]:
    """Return the pieces with main types moved to the front, `_MAIN_SHARE` lines of them for each other one."""
    rank = {path: place for place, path in enumerate(order, start=1)}
    waiting = iter(main)
    moved: dict[tuple[str, int], MapPiece] = {}  # by path, and identity of the symbol
    due = 0.0
    for piece in pieces:
        if _placed(piece, moved):
            due += _MAIN_SHARE
        while due >= 1 and (following := next(waiting, None)):
            path, symbol = following
            due -= _placed(MapPiece(path, rank[path], None), moved) + _placed(MapPiece(path, rank[path], symbol), moved)
    return list(moved.values())


def _placed(piece: MapPiece, ordered: dict[tuple[str, int], MapPiece]) -> bool:
    """Put a piece behind the others; return False for one that is there already."""
    key = (piece.path, id(piece.symbol))
    is_new = key not in ordered
    ordered.setdefault(key, piece)
    return is_new


def _is_outer(symbol: Symbol) -> bool:
    return symbol.qualified_name == symbol.name


def _files(parts: Iterable[MapPart]) -> tuple[MapFile, ...]:
    files: dict[str, MapPart] = {}
    symbols: dict[str, list[MapSymbol]] = defaultdict(list)
    for part in parts:
        files.setdefault(part.path, part)
        if part.symbol is not None:
            symbols[part.path].append(part.symbol)
    return tuple(
        MapFile(path, file.language, file.rank, tuple(sorted(symbols[path], key=lambda symbol: symbol.line)))
        for path, file in sorted(files.items())
    )


def map_symbol(symbol: Symbol) -> MapSymbol:
    """Return a definition as a map shows it."""
    signature = symbol.signature or symbol.kind
    if symbol.name not in signature:  # as in C, where the name of a type can stand behind its body
        signature = f"{signature} {symbol.name}"
    short = signature if len(signature) <= _SIGNATURE_CHARS else f"{signature[:_SIGNATURE_CHARS]}…"
    return MapSymbol(symbol.kind, symbol.qualified_name, symbol.name_line, short)
