"""The map of a project that asks for nothing, and the ranks of all its files: made once, kept, and brought up to date.

A rank depends on all files, so each change could move any of them a little, and all would have to be ranked again. In a
large project few changes move little: there the files keep their places, and those that have changed show the
definitions that they have now. The map says how many these are.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import accumulate
from typing import Any, NamedTuple

from codefathom.facts.limits import LARGE_PROJECT
from codefathom.facts.reasons import MAP_FOLLOWED, Note
from codefathom.search.graph.project_map import (
    MOST_KEPT,
    MapPart,
    MapParts,
    MapRequest,
    MapSymbol,
    RankedProject,
    definitions_in,
    map_symbol,
    ranked_project,
)
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.kept_file import KeptFile
from codefathom.types import Symbol

FOLLOWS_FROM = LARGE_PROJECT  # files: a smaller project is ranked in a few seconds
_MOST_CHANGED = 100  # of so many files one may have changed since they were ranked
_MOST_BEHIND = 50  # generations, after which the file is written again, as it is found by one of the latest only
_VERSION = 5  # of the packed form
_LENGTH = struct.Struct("<q")


class _Ranked(NamedTuple):
    """A map as it was when all files were ranked."""

    generation: int
    parts: MapParts  # the first `MOST_KEPT`
    packed: bytes  # `AllRanks`: read where a map follows changes, or shows other parts
    saved_at: int  # the generation in which it was written last


class AllRanks(NamedTuple):
    """The ranks of all files when they were ranked."""

    n_symbols: Mapping[str, int]  # by path: of `definitions_in`
    files: Mapping[str, float]  # by path
    names: Mapping[str, Sequence[float]]  # by path: what comes to the file because of the name of each definition
    main: tuple[tuple[str, int], ...]  # the main types, as paths and places among the definitions


class _Usual(NamedTuple):
    """The map of a generation, and what it was made of."""

    ranked: _Ranked
    now: MapParts

    @property
    def changed(self) -> tuple[Note, ...]:
        """What to say where files have changed since they were ranked."""
        return self.now.limitations


class RanksNow(NamedTuple):
    """The ranks of all files, and what has changed since they were ranked."""

    then: AllRanks
    changed: frozenset[str]  # paths, new ones among them
    limitations: tuple[Note, ...]


def is_large(paths: Collection[str]) -> bool:
    """Return whether a project of these files is so large that its files are not ranked for each question."""
    return len(paths) >= FOLLOWS_FROM


def is_map_due(catalog: SearchCatalog) -> bool:
    """Return whether the next map of a large project ranks all files anew, which takes long."""
    if not is_large(catalog.languages()):
        return False
    ranked = _loaded(catalog.beside("map", _VERSION))
    return ranked is None or (ranked.generation != catalog.generation and _followed(catalog, ranked) is None)


def usual_parts(catalog: SearchCatalog) -> MapParts:
    """Return the first `MOST_KEPT` parts of a map that asks for nothing; they are made once a generation."""
    return catalog.kept(_usual).now


def ranks_now(catalog: SearchCatalog) -> RanksNow:
    """Return the ranks of all files as the usual map has them; they are read once a generation."""
    return catalog.kept(_ranks_now)


def _ranks_now(catalog: SearchCatalog, _: RanksNow | None) -> RanksNow:
    usual = catalog.kept(_usual)
    changed = frozenset(catalog.paths_since(usual.ranked.generation)) if usual.changed else frozenset[str]()
    return RanksNow(_unpacked_ranks(usual.ranked.packed), changed, usual.changed)


def _usual(catalog: SearchCatalog, before: _Usual | None) -> _Usual:
    file = catalog.beside("map", _VERSION)
    generation = catalog.generation
    ranked = before.ranked if before is not None else _loaded(file)
    if ranked is not None and ranked.generation == generation:
        return _Usual(ranked, ranked.parts)
    if ranked is not None and (now := _followed(catalog, ranked)) is not None:
        if generation - ranked.saved_at > _MOST_BEHIND:
            ranked = ranked._replace(saved_at=generation)
            file.save(_packed(ranked))
        return _Usual(ranked, now)
    project = ranked_project(catalog, MapRequest(), MOST_KEPT)
    ranked = _Ranked(generation, project.parts, _packed_ranks(project), generation)
    file.save(_packed(ranked))
    return _Usual(ranked, project.parts)


def _followed(catalog: SearchCatalog, ranked: _Ranked) -> MapParts | None:
    """Return the map as it is after some changes; None where it is to be made anew."""
    languages = catalog.languages()
    if not is_large(languages):
        return None
    changed = set(catalog.paths_since(ranked.generation))
    n_symbols_then = _unpacked_ranks(ranked.packed).n_symbols
    gone = n_symbols_then.keys() - languages.keys()
    n_changed = len(changed) + len(gone)
    if n_changed * _MOST_CHANGED > len(languages):
        return None
    own = {path: definitions_in(catalog, path) for path in changed}
    parts = list(_parts_now(ranked.parts.parts, own, gone))
    new = sorted(changed - n_symbols_then.keys())
    for rank, path in enumerate(new, start=len(n_symbols_then) + 1):
        parts.append(MapPart(path, languages[path], rank, None))
        parts += (MapPart(path, languages[path], rank, map_symbol(symbol)) for symbol in own[path])
    parts = parts[:MOST_KEPT]
    n_symbols = sum(len(own[path]) if path in own else n_symbols_then.get(path, 0) for path in languages)
    n_files = sum(part.symbol is None for part in parts)
    return MapParts(
        tuple(parts),
        len(languages),
        n_behind=(len(languages) - n_files, n_symbols - (len(parts) - n_files)),
        limitations=(Note(MAP_FOLLOWED, {"count": n_changed}),),
    )


def _parts_now(
    parts: Sequence[MapPart], own: Mapping[str, Sequence[Symbol]], gone: Collection[str]
) -> Iterator[MapPart]:
    """Yield the parts in their order; those of changed files, of which `own` has the definitions, as they are now."""
    waiting = {path: {symbol.qualified_name: symbol for symbol in symbols} for path, symbols in own.items()}
    last: dict[str, int] = {}  # of each changed file, the place of its last part
    shown = defaultdict[str, set[str]](set)
    for place, part in enumerate(parts):
        if part.path in waiting:
            last[part.path] = place
            if part.symbol is not None:
                shown[part.path].add(part.symbol.name)
    for place, part in enumerate(parts):
        if part.path in gone:
            continue
        if part.path not in waiting or part.symbol is None:
            yield part
        elif symbol := waiting[part.path].get(part.symbol.name):
            yield part._replace(symbol=map_symbol(symbol))
        if last.get(part.path) == place:
            new = (symbol for name, symbol in waiting[part.path].items() if name not in shown[part.path])
            yield from (part._replace(symbol=map_symbol(symbol)) for symbol in new)


# ---- the file


def _packed(ranked: _Ranked) -> list[bytes]:
    parts = ranked.parts
    rows = [(part.path, part.language, part.rank, part.symbol and astuple(part.symbol)) for part in parts.parts]
    head = [ranked.generation, ranked.saved_at, parts.n_files, parts.n_behind, rows]
    return [*_with_length(head), ranked.packed]


def _packed_ranks(project: RankedProject) -> bytes:
    ranks, symbols = project.ranks, project.symbols
    number = {path: place for place, path in enumerate(symbols)}
    main = [(number[path], next(n for n, own in enumerate(symbols[path]) if own is one)) for path, one in project.main]
    names = array("f", (ranks.names.get((path, one.name), 0.0) for path, own in symbols.items() for one in own))
    files = array("d", (ranks.files[path] for path in symbols))
    head = [list(symbols), [len(own) for own in symbols.values()], main]
    return b"".join((*_with_length(head), files.tobytes(), names.tobytes()))


def _unpacked_ranks(packed: bytes) -> AllRanks:
    (paths, counts, main), start = _head(packed)
    behind = start + len(paths) * 8
    files, names = array("d", packed[start:behind]), array("f", packed[behind:])
    ends = list(accumulate(counts))
    return AllRanks(
        dict(zip(paths, counts, strict=True)),
        dict(zip(paths, files, strict=True)),
        {path: names[end - n : end] for path, n, end in zip(paths, counts, ends, strict=True)},
        tuple((paths[place], n) for place, n in main),
    )


def _with_length(value: object) -> tuple[bytes, bytes]:
    packed = json.dumps(value, separators=(",", ":")).encode()
    return _LENGTH.pack(len(packed)), packed


def _head(data: bytes) -> tuple[Any, int]:
    """Return the value at the beginning of packed data, and where the rest begins."""
    (length,) = _LENGTH.unpack_from(data)
    end = _LENGTH.size + length
    return json.loads(data[_LENGTH.size : end]), end


def _loaded(file: KeptFile) -> _Ranked | None:
    stored = file.load()
    if stored is None:
        return None
    data = bytes(stored.content)
    (generation, saved_at, n_files, n_behind, rows), end = _head(data)
    parts = (MapPart(path, language, rank, symbol and MapSymbol(*symbol)) for path, language, rank, symbol in rows)
    map_of_then = MapParts(tuple(parts), n_files, n_behind=tuple(n_behind))
    return _Ranked(generation, map_of_then, data[end:], saved_at)
