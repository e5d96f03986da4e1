"""The words in the signatures of types by the name of these: the types above one are among them.

They are read for many names at a time, and kept, also beside the catalogue: a member with a usual name belongs to
thousands of types, of each of which those above it are wanted. After a change only the types of changed documents are
read again.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.types import TYPE_KINDS, FoundSymbol

if TYPE_CHECKING:
    from codefathom.stores.kept_file import Kept

_ABSTRACT = frozenset({"interface", "trait", "type"})
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST_STEPS = 6  # between a type and one above it
_MOST_ABOVE = 500  # words in the signatures of the types above one; many types with as many would take for ever
_MOST_TOGETHER = 50_000  # names that are read ahead for some types
_MOST_WRITTEN = 1_000  # documents; after more changes nothing that was known before is looked through
_ENOUGH = 500  # names that were read since the file was written; fewer are read again as fast
_VERSION = 1  # of the packed form


class _NamedTypes(NamedTuple):
    """What is known of all types of one name."""

    words: frozenset[str] = frozenset()
    is_abstract: bool = False
    paths: frozenset[str] = frozenset()


_NO_TYPES = _NamedTypes()


class TypeWords:
    """The types of one generation of a catalogue, as far as they were asked for. Threads can share them: each reads
    the same."""

    def __init__(self, catalog: SearchCatalog) -> None:
        self._catalog = catalog
        self._file = catalog.beside("types", _VERSION)
        self._generation = catalog.generation  # before all that is read: a later write is seen as one
        self._types: dict[str, _NamedTypes] = {}
        self._above: dict[str, frozenset[str]] = {}
        self._n_saved = 0

    @classmethod
    def of(cls, catalog: SearchCatalog, before: TypeWords | None, paths: AbstractSet[str]) -> TypeWords:
        """Return what is known of the types of a catalogue as it is now, with these documents: all but what changed
        documents have, or had."""
        types = cls(catalog)
        stored = types._file.load() if before is None else None
        earlier = _Stored(before._generation, dict(before._types), before._n_saved) if before else _unpacked(stored)
        written = catalog.paths_since(earlier.generation) if earlier else []
        if earlier is None or len(written) > _MOST_WRITTEN:
            return types
        changed = {item.name for path in written for item in catalog.symbols_of(path) if item.kind in TYPE_KINDS}
        present = paths - set(written)
        for name, own in earlier.types.items():
            if own.paths <= present and name not in changed:
                types._types[name] = own
        types._n_saved = min(earlier.n_saved, len(types._types))
        return types

    def save(self) -> None:
        """Write what is known to the file, where that is much more than what lies there."""
        types = dict(self._types)  # another thread may add some meanwhile
        if len(types) - self._n_saved >= _ENOUGH:
            self._n_saved = len(types)
            self._file.save([_packed(self._generation, types)])

    def is_abstract(self, name: str) -> bool:
        """Return True if a type of a name can be one that a value fits without naming it."""
        self._read([name])
        return self._types[name].is_abstract

    def above(self, name: str) -> frozenset[str]:
        """Return the names that the signature of a type mentions, those that these mention, and so on."""
        if name not in self._above:
            self._above[name] = self._find_above(name)
        return self._above[name]

    def read_above(self, names: Iterable[str]) -> None:
        """Read the types above many at a time."""
        names_read: set[str] = set()
        front = set(names) - {""}
        for _ in range(_MOST_STEPS):
            names_read |= front
            if not front or len(names_read) > _MOST_TOGETHER:
                break
            self._read(front)
            front = self._mentioned(front) - names_read

    def _find_above(self, name: str) -> frozenset[str]:
        names: set[str] = set()
        front = {name} - {""}
        for _ in range(_MOST_STEPS):
            self._read(front)
            front = self._mentioned(front) - names - {name}
            if not front or len(names) + len(front) > _MOST_ABOVE:
                break
            names |= front
        return frozenset(names)

    def _mentioned(self, names: Iterable[str]) -> set[str]:
        types = self._types
        return set[str]().union(*(words for name in names if (words := types[name].words)))  # most are no type

    def _read(self, names: Collection[str]) -> None:
        """Read the types of these names that were not read before; most are the name of no type."""
        missing = set(names).difference(self._types)
        if not missing:
            return
        by_name: dict[str, list[FoundSymbol]] = defaultdict(list)
        for item in self._catalog.types_named(missing):
            by_name[item.symbol.name].append(item)
        for name in missing:
            self._types[name] = _of(by_name[name]) if name in by_name else _NO_TYPES


class _Stored(NamedTuple):
    """What was known in an earlier generation, and how many names of it lie in the file."""

    generation: int
    types: Mapping[str, _NamedTypes]
    n_saved: int


def _packed(generation: int, types: Mapping[str, _NamedTypes]) -> bytes:
    listed = sorted(types.items())
    names = [name for name, own in listed if not own.paths]
    own_names = [[name, own.is_abstract, sorted(own.words), sorted(own.paths)] for name, own in listed if own.paths]
    return json.dumps([generation, names, own_names], separators=(",", ":")).encode()


def _unpacked(stored: Kept | None) -> _Stored | None:
    if stored is None:
        return None
    generation, names, own_names = json.loads(bytes(stored.content))
    listed = ((name, _NamedTypes(frozenset(words), is_it, frozenset(own))) for name, is_it, words, own in own_names)
    types = dict(chain(dict.fromkeys(names, _NO_TYPES).items(), listed))
    return _Stored(generation, types, len(types))


def _of(types: Collection[FoundSymbol]) -> _NamedTypes:
    words = frozenset(word for item in types for word in _WORD.findall(item.symbol.signature))
    is_abstract = any(item.symbol.kind in _ABSTRACT or "Protocol" in item.symbol.signature for item in types)
    return _NamedTypes(words, is_abstract, frozenset(item.path for item in types))
