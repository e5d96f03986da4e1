"""The documents that the imports of a project mean, by document: made once, and brought up to date with what changes.

A text that has changed changes its own links. The links of other documents depend on the paths of the project, on its
manifests, and in some languages on the definitions: where one of these has changed, all of them are made again.
"""

from __future__ import annotations

import json
import struct
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from codefathom.search.graph.resolve import family
from codefathom.search.graph.workspaces import is_manifest
from codefathom.stores.catalog.readers import SearchCatalog

if TYPE_CHECKING:
    from codefathom.stores.kept_file import KeptFile

_VERSION = 1  # of the packed form
_MOST_BEHIND = 20  # generations, after which the file is written again
_LENGTH = struct.Struct("<q")
_Targets = Mapping[str, tuple[str, ...]]  # the documents that an import means, by its name
_Lists = Sequence["array[int]"]
_Resolve = Callable[[str, str], tuple[str, ...]]


class LinksState(NamedTuple):
    """The state of a catalogue that links were made of."""

    generation: int
    documents: str  # digest of all paths and their languages


class ImportLinks:
    """The links of one generation of a catalogue. They are never changed, so that threads can share them."""

    def __init__(
        self,
        generation: int,
        base: PackedLinks,
        changed: Mapping[str, _Targets] = MappingProxyType({}),
    ) -> None:
        """`changed` are the documents that have other links now than in `base`."""
        self.generation = generation
        self.base = base
        self.changed = changed

    def targets(self, path: str) -> _Targets:
        """Return the documents that each import of a document means, by its name."""
        return self.changed[path] if path in self.changed else self.base.targets(path)

    def sources(self, path: str) -> set[str]:
        """Return the documents with an import that means a document."""
        sources = self.base.sources(path) - self.changed.keys()
        return sources | {
            source for source, own in self.changed.items() if any(path in targets for targets in own.values())
        }

    def merged(self) -> PackedLinks:
        """Return all links as one table."""
        state = self.base.state._replace(generation=self.generation)
        return PackedLinks.of(state, {path: self.targets(path) for path in self.base.paths})


class PackedLinks:
    """Links as numbers: of each document those of its imports, of each import those of its targets, and back."""

    def __init__(self, state: LinksState, paths: Sequence[str], names: Sequence[str], lists: _Lists) -> None:
        """Take sorted paths, the names of imports, and the six lists that `of` makes."""
        self.state = state
        self.paths = paths
        self.names = names
        self.lists = lists

    @classmethod
    def of(cls, state: LinksState, links: Mapping[str, _Targets]) -> PackedLinks:
        """Return the table of the links of all documents."""
        paths = sorted(links)
        number = {path: place for place, path in enumerate(paths)}
        names: dict[str, int] = {}
        firsts, own_names, ends, targets = array("I", [0]), array("I"), array("I"), array("I")
        sources: list[set[int]] = [set() for _ in paths]
        for place, path in enumerate(paths):
            for name, documents in links[path].items():
                own_names.append(names.setdefault(name, len(names)))
                targets.extend(map(number.__getitem__, documents))
                ends.append(len(targets))
                for document in documents:
                    sources[number[document]].add(place)
            firsts.append(len(own_names))
        source_ends, all_sources = array("I", [0]), array("I")
        for own in sources:
            all_sources.extend(sorted(own))
            source_ends.append(len(all_sources))
        return cls(state, paths, list(names), (firsts, own_names, ends, targets, source_ends, all_sources))

    def targets(self, path: str) -> _Targets:
        """Return the documents that each import of a document means, by its name."""
        place = self._place(path)
        if place is None:
            return {}
        firsts, own_names, ends, targets, *_ = self.lists
        return {
            self.names[own_names[entry]]: tuple(
                self.paths[target] for target in targets[ends[entry - 1] if entry else 0 : ends[entry]]
            )
            for entry in range(firsts[place], firsts[place + 1])
        }

    def sources(self, path: str) -> set[str]:
        """Return the documents with an import that means a document."""
        place = self._place(path)
        *_, ends, sources = self.lists
        return set() if place is None else {self.paths[one] for one in sources[ends[place] : ends[place + 1]]}

    def packed(self) -> list[bytes]:
        """Return the table as bytes."""
        lengths = [len(numbers) for numbers in self.lists]
        head = json.dumps([*self.state, self.paths, self.names, lengths], separators=(",", ":")).encode()
        return [_LENGTH.pack(len(head)), head, *(numbers.tobytes() for numbers in self.lists)]

    @classmethod
    def unpacked(cls, data: memoryview) -> PackedLinks:
        """Return the table of bytes that `packed` has made on a machine of this kind."""
        (length,) = _LENGTH.unpack_from(data)
        generation, documents, paths, names, lengths = json.loads(bytes(data[_LENGTH.size : _LENGTH.size + length]))
        numbers, lists, start = array("I", bytes(data[_LENGTH.size + length :])), [], 0
        for n in lengths:
            lists.append(numbers[start : start + n])
            start += n
        return cls(LinksState(generation, documents), paths, names, lists)

    def _place(self, path: str) -> int | None:
        place = bisect_left(self.paths, path)
        return place if place < len(self.paths) and self.paths[place] == path else None


class KeptLinks:
    """The links of one generation of a catalogue, where they are at hand: made before, or in a file."""

    def __init__(self, links: ImportLinks | None) -> None:
        self.links = links


def links_at_hand(
    catalog: SearchCatalog,
    before: KeptLinks | None,
    languages: Mapping[str, str],
    resolve: _Resolve,
    named: Collection[str],
) -> KeptLinks:
    """Return the links of a catalogue as it is now, where few are to be made: those of documents that have changed.

    In these families of languages the links of a document depend on the definitions of others.
    """
    file = catalog.beside("links", _VERSION)
    generation = catalog.generation
    earlier = before.links if before is not None else None
    if earlier is None and (stored := file.load()) is not None:
        base = PackedLinks.unpacked(stored.content)
        earlier = ImportLinks(base.state.generation, base)
    if earlier is None or earlier.base.state.documents != _digest(languages):
        return KeptLinks(None)
    written = catalog.paths_since(earlier.generation)
    if any(is_manifest(path) or family(languages.get(path, "")) in named for path in written):
        return KeptLinks(None)
    own = {path: {item.name: resolve(item.name, path) for item in catalog.imports_of(path)} for path in written}
    links = ImportLinks(generation, earlier.base, {**earlier.changed, **own})
    if generation - links.base.state.generation <= _MOST_BEHIND:
        return KeptLinks(links)
    return KeptLinks(_stored(links.merged(), file))


def all_links(catalog: SearchCatalog, languages: Mapping[str, str], resolve: _Resolve) -> ImportLinks:
    """Return the links of a catalogue as it is now, all of them made anew."""
    file = catalog.beside("links", _VERSION)
    state = LinksState(catalog.generation, _digest(languages))
    by_path: dict[str, dict[str, tuple[str, ...]]] = {path: {} for path in languages}
    for path, reference in catalog.imports():
        if path in by_path and reference.name not in by_path[path]:
            by_path[path][reference.name] = resolve(reference.name, path)
    return _stored(PackedLinks.of(state, by_path), file)


def _stored(base: PackedLinks, file: KeptFile) -> ImportLinks:
    file.save(base.packed())
    return ImportLinks(base.state.generation, base)


def _digest(languages: Mapping[str, str]) -> str:
    text = "\0".join(f"{path}\0{language}" for path, language in languages.items())
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
