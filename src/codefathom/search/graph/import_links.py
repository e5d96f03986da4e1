"""The documents that the imports of a project mean, by document: made once, and brought up to date with what changes.

A text that has changed changes its own links. Those of other documents depend on the paths of the project, in some
languages on the definitions, and on manifests. When a document has come, or a definition, the imports whose text could
mean it are resolved again; when one has gone, those that led to it. After a change of a manifest, or when a file comes
or goes that imports do not name, all links are made again.
"""

from __future__ import annotations

import json
import struct
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from codefathom.search.graph.import_texts import can_tell
from codefathom.search.graph.workspaces import is_manifest
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.stores.catalog.readers import SearchCatalog

if TYPE_CHECKING:
    from codefathom.stores.kept_file import KeptFile

_VERSION = 3  # of the packed form
_MOST_BEHIND = 20  # generations, after which the file is written again
_MOST_CHANGED = 1_000  # documents with other links than in the file, after which it is written again
_FEW_WRITTEN = 20  # changed documents, whose links are found again faster than others are looked for
_MOST_WRITTEN = 2_000  # documents, after which all links are made again
_LENGTH = struct.Struct("<q")
_NUMBER_BYTES = array("I").itemsize
_Targets = Mapping[str, tuple[str, ...]]  # the documents that an import means, by its name
_Lists = Sequence["array[int]"]


class DocumentLinks(NamedTuple):
    """What the imports of a document mean."""

    targets: _Targets = MappingProxyType({})
    foreign: frozenset[str] = frozenset()  # names of imports that mean no document, and lead outside of the project


NO_LINKS = DocumentLinks()


class LinksMaker(Protocol):
    """What finds the links of a catalogue as it is now."""

    @property
    def language_of(self) -> Mapping[str, str]:
        """The language of each document by its path."""
        ...

    @property
    def crowded(self) -> AbstractSet[str]:
        """Names with too many definitions for an import to mean them, as far as this maker has met any."""
        ...

    def documents_of(self, name: str, path: str) -> tuple[str, ...]:
        """Return the documents that an import of this name means in the document `path`."""
        ...

    def is_foreign(self, name: str, path: str) -> bool:
        """Return True if an import that means no document is known to lead outside of the project."""
        ...

    def depends_on_definitions(self, language: str) -> bool:
        """Return True for a language whose imports can mean definitions of others, whatever their files are called."""
        ...

    def forms_leading_to(self, paths: Collection[str], names: AbstractSet[str]) -> Collection[ImportForm]:
        """Return the imports that can mean one of some documents by its path, or a definition by its name."""
        ...


class LinksState(NamedTuple):
    """The state of a catalogue that links were made of."""

    generation: int
    documents: str  # digest of all paths and their languages


class ImportLinks:
    """The links of one generation of a catalogue. They are never changed, so that threads can share them."""

    def __init__(
        self,
        state: LinksState,
        base: PackedLinks,
        changed: Mapping[str, DocumentLinks] = MappingProxyType({}),
        languages: Mapping[str, str] | None = None,
        crowded: AbstractSet[str] = frozenset(),
    ) -> None:
        """`changed` are the documents that have other links now than in `base`; `languages` those of all, if others."""
        self.state = state
        self.base = base
        self.changed = changed
        self.crowded = base.crowded | crowded
        self._languages = languages

    @property
    def languages(self) -> Mapping[str, str]:
        """The language of each document by its path."""
        return self.base.languages if self._languages is None else self._languages

    def of(self, path: str) -> DocumentLinks:
        """Return what the imports of a document mean."""
        return self.changed[path] if path in self.changed else self.base.of(path)

    def targets(self, path: str) -> _Targets:
        """Return the documents that each import of a document means, by its name."""
        return self.of(path).targets

    def sources(self, path: str) -> set[str]:
        """Return the documents with an import that means a document."""
        sources = self.base.sources(path) - self.changed.keys()
        return sources | {
            source for source, own in self.changed.items() if any(path in targets for targets in own.targets.values())
        }

    def merged(self) -> PackedLinks:
        """Return all links as one table."""
        links = {path: self.of(path) for path in self.languages}
        return PackedLinks.made_of(self.state, links, self.languages, self.crowded)


class _Words(NamedTuple):
    """The words of packed links, to which their numbers lead."""

    paths: Sequence[str]  # in order
    names: Sequence[str]  # of imports
    languages: Sequence[str]
    crowded: Sequence[str]


class PackedLinks:
    """Links as numbers: of each document those of its imports, of each import those of its targets, and back."""

    def __init__(self, state: LinksState, words: _Words, lists: _Lists) -> None:
        """Take the eight lists that `made_of` makes."""
        self.state = state
        self.words = words
        self.lists = lists
        self.paths, self.names, _, crowded = words
        self.crowded = frozenset(crowded)

    @classmethod
    def made_of(
        cls,
        state: LinksState,
        links: Mapping[str, DocumentLinks],
        languages: Mapping[str, str],
        crowded: Iterable[str],
    ) -> PackedLinks:
        """Return the table of the links of all documents; see `LinksMaker` for the others."""
        paths = sorted(links)
        number = {path: place for place, path in enumerate(paths)}
        names: dict[str, int] = {}
        firsts, own_names, ends, targets = array("I", [0]), array("I"), array("I"), array("I")
        foreign = array("I")  # imports, by the numbers of all
        sources: list[set[int]] = [set() for _ in paths]
        for place, path in enumerate(paths):
            for name, documents in links[path].targets.items():
                if name in links[path].foreign:
                    foreign.append(len(own_names))
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
        kinds = {language: place for place, language in enumerate(sorted(set(languages.values())))}
        own_kinds = array("I", (kinds[languages[path]] for path in paths))
        lists = (firsts, own_names, ends, targets, source_ends, all_sources, foreign, own_kinds)
        return cls(state, _Words(paths, list(names), list(kinds), sorted(crowded)), lists)

    @cached_property
    def languages(self) -> Mapping[str, str]:
        """The language of each document by its path."""
        return {path: self.words.languages[kind] for path, kind in zip(self.paths, self.lists[-1], strict=True)}

    def of(self, path: str) -> DocumentLinks:
        """Return what the imports of a document mean."""
        place = self._place(path)
        if place is None:
            return NO_LINKS
        firsts, own_names, ends, targets, _, _, foreign, _ = self.lists
        entries = range(firsts[place], firsts[place + 1])
        outside = foreign[bisect_left(foreign, entries.start) : bisect_left(foreign, entries.stop)]
        return DocumentLinks(
            {
                self.names[own_names[entry]]: tuple(
                    self.paths[target] for target in targets[ends[entry - 1] if entry else 0 : ends[entry]]
                )
                for entry in entries
            },
            frozenset(self.names[own_names[entry]] for entry in outside),
        )

    def sources(self, path: str) -> set[str]:
        """Return the documents with an import that means a document."""
        place = self._place(path)
        ends, sources = self.lists[4:6]
        return set() if place is None else {self.paths[one] for one in sources[ends[place] : ends[place + 1]]}

    def packed(self) -> list[bytes]:
        """Return the table as bytes; nothing where a word is empty, or has a NUL."""
        lengths = [len(numbers) for numbers in self.lists]
        words = ["\0".join(own) for own in self.words]
        if any(_split(text) != list(own) for text, own in zip(words, self.words, strict=True)):
            return []
        texts = [text.encode("utf-8", "surrogatepass") for text in words]
        head = json.dumps([self.state, lengths, list(map(len, texts))], separators=(",", ":")).encode()
        return [_LENGTH.pack(len(head)), head, *(numbers.tobytes() for numbers in self.lists), *texts]

    @classmethod
    def unpacked(cls, data: memoryview) -> PackedLinks:
        """Return the table of bytes that `packed` has made on a machine of this kind."""
        (length,) = _LENGTH.unpack_from(data)
        start = _LENGTH.size + length
        state, lengths, sizes = json.loads(bytes(data[_LENGTH.size : start]))
        places = accumulate((*(n * _NUMBER_BYTES for n in lengths), *sizes), initial=start)
        parts = [bytes(data[begin:end]) for begin, end in pairwise(places)]
        words = (str(part, "utf-8", "surrogatepass") for part in parts[len(lengths) :])
        lists = [array("I", part) for part in parts[: len(lengths)]]
        return cls(LinksState(*state), _Words(*map(_split, words)), lists)

    def _place(self, path: str) -> int | None:
        place = bisect_left(self.paths, path)
        return place if place < len(self.paths) and self.paths[place] == path else None


def _split(text: str) -> list[str]:
    return text.split("\0") if text else []


class KeptLinks:
    """The links of one generation of a catalogue, where they are at hand: made before, or in a file."""

    def __init__(self, follow: Callable[[], ImportLinks | None], *, is_near: bool) -> None:
        """`follow` brings earlier ones up to date. With `is_near`, that looks at changed documents alone."""
        self._follow = follow
        self.is_near = is_near

    @cached_property
    def links(self) -> ImportLinks | None:
        """The links, brought up to date when they are first asked for."""
        return self._follow()

    def keep(self, links: ImportLinks) -> None:
        """Have these at hand, which somebody has made."""
        self.links = links
        self.is_near = True


def links_at_hand(catalog: SearchCatalog, before: KeptLinks | None, maker: LinksMaker) -> KeptLinks:
    """Return the links of a catalogue as it is now, where those that may have changed can be told from the others."""
    file = catalog.beside("links", _VERSION)
    state = LinksState(catalog.generation, _digest(maker.language_of))
    earlier = before.links if before is not None else None
    if earlier is None and (stored := file.load()) is not None:
        base = PackedLinks.unpacked(stored.content)
        earlier = ImportLinks(base.state, base)
    if earlier is None:
        return KeptLinks(lambda: None, is_near=False)
    if earlier.state == state:
        return KeptLinks(lambda: earlier, is_near=True)
    change = _Change.since(earlier, state, catalog, maker.language_of)
    if not change.can_be_followed:
        return KeptLinks(lambda: None, is_near=False)

    def follow() -> ImportLinks:
        links = _followed(earlier, change, state, catalog, maker)
        is_late = state.generation - links.base.state.generation > _MOST_BEHIND or len(links.changed) > _MOST_CHANGED
        return _stored(links.merged(), file) if is_late else links

    moved = change.come | change.gone | {path for path in change.written if _defines(path, maker)}
    return KeptLinks(follow, is_near=not moved and len(change.written) <= _FEW_WRITTEN)


def _defines(path: str, maker: LinksMaker) -> bool:
    return maker.depends_on_definitions(maker.language_of.get(path, ""))


class _Change(NamedTuple):
    """The documents that have changed between two states. One that has another language now has gone and come."""

    written: frozenset[str]
    come: frozenset[str]
    gone: frozenset[str]

    @classmethod
    def since(
        cls, earlier: ImportLinks, state: LinksState, catalog: SearchCatalog, languages: Mapping[str, str]
    ) -> _Change:
        """Return what has changed since some links."""
        written = frozenset(catalog.paths_since(earlier.state.generation))
        if state.documents == earlier.state.documents:
            return cls(written, frozenset(), frozenset())
        before = earlier.languages
        come = frozenset(path for path, language in languages.items() if before.get(path) != language)
        gone = frozenset(path for path, language in before.items() if languages.get(path) != language)
        return cls(written | come, come, gone)

    @property
    def can_be_followed(self) -> bool:
        """True where it can be told which imports the change concerns."""
        if len(self.written) + len(self.gone) > _MOST_WRITTEN:
            return False
        return not any(map(is_manifest, self.written | self.gone)) and all(map(can_tell, self.come | self.gone))


def _followed(
    earlier: ImportLinks, change: _Change, state: LinksState, catalog: SearchCatalog, maker: LinksMaker
) -> ImportLinks:
    """Return the links after a change, with those resolved again that it concerns."""
    languages = maker.language_of
    defining = {path for path in change.written if _defines(path, maker)}
    left = {path for path in change.gone if maker.depends_on_definitions(earlier.languages[path])}
    names = {symbol.name for path in defining for symbol in catalog.symbols_of(path)}
    # Where too many files define a name, no import means them, until one less does.
    names |= earlier.crowded if defining or left else set()
    again: dict[str, set[str]] = defaultdict(set)
    forms = maker.forms_leading_to(change.come, names) if change.come or names else ()
    for path, item in catalog.imports(forms) if forms else ():
        again[path].add(item.name)
    for path in change.gone | defining:
        for source in earlier.sources(path):
            again[source].update(name for name, targets in earlier.targets(source).items() if path in targets)
    changed = {**earlier.changed, **dict.fromkeys(change.gone, NO_LINKS)}
    for path in change.written:
        changed[path] = _links_of({item.name for item in catalog.imports_of(path)}, path, maker)
    for path in again.keys() - change.written - change.gone:
        before, own = earlier.of(path), _links_of(again[path], path, maker)
        now = DocumentLinks({**before.targets, **own.targets}, before.foreign - again[path] | own.foreign)
        if now != before:
            changed[path] = now
    return ImportLinks(state, earlier.base, changed, languages, earlier.crowded | maker.crowded)


def _links_of(names: Iterable[str], path: str, maker: LinksMaker) -> DocumentLinks:
    """Return what imports of these names mean in a document."""
    targets = {name: maker.documents_of(name, path) for name in names}
    return DocumentLinks(
        targets,
        frozenset(name for name, documents in targets.items() if not documents and maker.is_foreign(name, path)),
    )


def all_links(catalog: SearchCatalog, maker: LinksMaker) -> ImportLinks:
    """Return the links of a catalogue as it is now, all of them made anew."""
    file, languages = catalog.beside("links", _VERSION), maker.language_of
    state = LinksState(catalog.generation, _digest(languages))
    names: dict[str, dict[str, None]] = {path: {} for path in languages}
    for path, reference in catalog.imports():
        if path in names:
            names[path][reference.name] = None
    links = {path: _links_of(own, path, maker) for path, own in names.items()}
    return _stored(PackedLinks.made_of(state, links, languages, maker.crowded), file)


def _stored(base: PackedLinks, file: KeptFile) -> ImportLinks:
    file.save(base.packed())
    return ImportLinks(base.state, base)


def _digest(languages: Mapping[str, str]) -> str:
    text = "\0".join(chain.from_iterable(languages.items()))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
