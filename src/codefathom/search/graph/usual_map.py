"""The map of a project that asks for nothing: made once, kept beside the catalogue, and brought up to date.

A rank depends on all files, so each change could move any of them a little, and all would have to be ranked again. In a
large project few changes move little: there the files keep their places, and those that have changed show the
definitions that they have now. The map says how many these are.
"""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import NamedTuple

from codefathom.facts.reasons import MAP_FOLLOWED, Note
from codefathom.search.graph.project_map import (
    MOST_KEPT,
    MapPart,
    MapParts,
    MapRequest,
    MapSymbol,
    definitions_in,
    first_map_parts,
    map_symbol,
)
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.kept_file import KeptFile
from codefathom.types import Symbol

FOLLOWS_FROM = 2_000  # files: a smaller project is ranked in a few seconds
_MOST_CHANGED = 100  # of so many files one may have changed since they were ranked
_MOST_BEHIND = 50  # generations, after which the file is written again, as it is found by one of the latest only
_VERSION = 4  # of the packed form
_LENGTH = struct.Struct("<q")


class _Ranked(NamedTuple):
    """A map as it was when all files were ranked."""

    generation: int
    parts: MapParts  # the first `MOST_KEPT`
    n_symbols: bytes  # JSON of their number by the path of each file: read when a map follows changes
    saved_at: int  # the generation in which it was written last


class _Usual(NamedTuple):
    """The map of a generation, and what it was made of."""

    ranked: _Ranked
    now: MapParts


def usual_parts(catalog: SearchCatalog) -> MapParts:
    """Return the first `MOST_KEPT` parts of a map that asks for nothing; they are made once a generation."""
    return catalog.kept(_usual).now


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
    parts, symbols = first_map_parts(catalog, MapRequest(), MOST_KEPT)
    ranked = _Ranked(generation, parts, _as_json({path: len(own) for path, own in symbols.items()}), generation)
    file.save(_packed(ranked))
    return _Usual(ranked, parts)


def _followed(catalog: SearchCatalog, ranked: _Ranked) -> MapParts | None:
    """Return the map as it is after some changes; None where it is to be made anew."""
    languages = catalog.languages()
    if len(languages) < FOLLOWS_FROM:
        return None
    changed = set(catalog.paths_since(ranked.generation))
    n_symbols_then: dict[str, int] = json.loads(ranked.n_symbols)
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
    packed = _as_json(head)
    return [_LENGTH.pack(len(packed)), packed, ranked.n_symbols]


def _as_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _loaded(file: KeptFile) -> _Ranked | None:
    stored = file.load()
    if stored is None:
        return None
    data = bytes(stored.content)
    (length,) = _LENGTH.unpack_from(data)
    start = _LENGTH.size
    generation, saved_at, n_files, n_behind, rows = json.loads(data[start : start + length])
    parts = (MapPart(path, language, rank, symbol and MapSymbol(*symbol)) for path, language, rank, symbol in rows)
    map_of_then = MapParts(tuple(parts), n_files, n_behind=tuple(n_behind))
    return _Ranked(generation, map_of_then, data[start + length :], saved_at)
