"""The references of a project as a graph: which documents an import means, who uses a name, who defines it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, cached_property, lru_cache, partial
from typing import NamedTuple, Self

from codefathom.facts.languages import CODE
from codefathom.facts.paths import folders_of
from codefathom.search.graph.import_links import (
    NO_LINKS,
    DocumentLinks,
    ImportLinks,
    KeptLinks,
    all_links,
    links_at_hand,
)
from codefathom.search.graph.import_texts import ImportTexts, can_tell, last_parts
from codefathom.search.graph.imports import written_out
from codefathom.search.graph.kept_uses import KeptUses
from codefathom.search.graph.manifests import MAX_MANIFEST_CHARS, go_replacements, path_in
from codefathom.search.graph.read_sets import NAME, Reads
from codefathom.search.graph.resolve import Resolver, family, languages_of
from codefathom.search.graph.type_words import TypeWords
from codefathom.search.graph.value_types import ValueTypes
from codefathom.search.graph.workspaces import GO_MANIFESTS, Workspaces
from codefathom.search.graph.written_targets import dotted_name
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.catalog.records import StoredDocument
from codefathom.types import FoundSymbol, Reference, Symbol

# A name that more files define does not tell which file a use belongs to.
MAX_DEFINING_FILES = 3
# In these languages an import names a definition, whose file may be called anything.
NAMED_IMPORTS = frozenset({"java", "kotlin", "scala", "groovy", "csharp", "php", "elixir"})
NAMED_FAMILIES = frozenset(map(family, NAMED_IMPORTS))
_MOST_MANIFEST_LINES = 10_000
_MANIFESTS_AT_ONCE = 64
_FEW_IMPORTS = 200  # are resolved in the time in which links follow a change
_MOST_PARTS = 50  # of one type in one file
# Packages of the standard libraries are not in the project, though one of their names may be.
_STANDARD = frozenset({"java", "javax", "kotlin", "kotlinx", "scala", "android", "system"})


class NameUse(NamedTuple):
    """A reference and its document."""

    path: str
    reference: Reference


class Definitions:
    """Definitions of one name, arranged once for all lookups: thousands of them can share a name.

    Whoever looks up the same gets the same object, so that what was found out about it can be kept.
    """

    def __init__(self, items: Iterable[FoundSymbol] = ()) -> None:
        self.items = tuple(items)
        self._groups: dict[tuple[Hashable, ...], Mapping[Hashable, Definitions]] = {}

    def __len__(self) -> int:
        return len(self.items)

    def by(self, key: Callable[..., Hashable], *arguments: Hashable) -> Mapping[Hashable, Definitions]:
        """Return the definitions grouped by a function of each one and of further arguments."""
        groups = self._groups.get((key, *arguments))
        if groups is None:
            lists: dict[Hashable, list[FoundSymbol]] = defaultdict(list)
            for item in self.items:
                lists[key(item, *arguments)].append(item)
            is_whole = len(lists) == 1
            groups = {name: self if is_whole else Definitions(items) for name, items in lists.items()}
            self._groups[key, *arguments] = groups
        return groups

    def of(self, names: AbstractSet[Hashable], key: Callable[..., Hashable], *arguments: Hashable) -> Definitions:
        """Return the definitions for which the function gives one of some names."""
        groups = self.by(key, *arguments)
        less, more = (names, groups.keys()) if len(names) < len(groups) else (groups.keys(), names)
        return self.union(groups[name] for name in less if name in more)

    def union(self, groups: Iterable[Definitions]) -> Definitions:
        """Return the definitions of some groups of these, each once."""
        parts = [group for group in groups if group]
        if len(parts) < 2:
            return parts[0] if parts else NO_DEFINITIONS
        places = {self._places[id(item)] for part in parts for item in part.items}
        return Definitions(self.items[place] for place in sorted(places))

    @cached_property
    def _places(self) -> Mapping[int, int]:
        return {id(item): place for place, item in enumerate(self.items)}

    @cached_property
    def names(self) -> frozenset[tuple[str, str]]:
        """The path and qualified name of each; overloads in one file are one."""
        return frozenset((item.path, item.symbol.qualified_name) for item in self.items)

    @property
    def paths(self) -> AbstractSet[Hashable]:
        """The files that hold them."""
        return self.by(path_of).keys()

    def nearest(self, path: str, other_than: Symbol | None = None) -> FoundSymbol | None:
        """Return the first definition in `path`, but for one; else the first in the nearest other file.

        Files are as near as `Resolver.nearest` has it.
        """
        for item in self.by(path_of).get(path, NO_DEFINITIONS).items:
            if item.symbol != other_than:
                return item
        for folder in folders_of(path):
            for other in self._nearest_below.get(folder, ()):
                if other != path:
                    return self.by(path_of)[other].items[0]
        return None

    @cached_property
    def _nearest_below(self) -> Mapping[str, Sequence[str]]:
        """The two files below each folder that come first for whoever is not nearer to another one."""
        first: dict[str, list[str]] = defaultdict(list)
        for path in sorted(map(str, self.paths), key=lambda path: (path.count("/"), path)):
            for folder in folders_of(path):
                if len(first[folder]) < 2:
                    first[folder].append(path)
        return first


NO_DEFINITIONS = Definitions()


def joined(groups: Iterable[Definitions]) -> Definitions:
    """Return the definitions of some groups in the order of these, each once; one group alone as it is."""
    parts = [group for group in dict.fromkeys(groups) if group]
    if len(parts) == 1:
        return parts[0]
    return Definitions({id(item): item for part in parts for item in part.items}.values())


def path_of(item: FoundSymbol) -> str:
    """Return the path of a definition."""
    return item.path


def owner_of(item: FoundSymbol) -> str:
    """Return the qualified name of what a definition belongs to, "" for nothing."""
    return item.symbol.qualified_name.rpartition(".")[0]


def owner_name(item: FoundSymbol) -> str:
    """Return the name of what a definition belongs to, "" for nothing."""
    return owner_of(item).rpartition(".")[2]


def outward(container: str) -> Iterator[str]:
    """Yield the qualified name of a symbol and of all around it, the innermost first."""
    while container:
        yield container
        container = container.rpartition(".")[0]


class ReferenceGraph:
    """The catalogue, with the lookups that are needed more than once."""

    has_links = True  # the links of documents are what `resolve` finds

    def __init__(self, catalog: SearchCatalog) -> None:
        self.catalog = catalog
        self.reads = Reads()  # of other files than that of a use, while uses are resolved
        self._references: dict[str, Sequence[Reference]] = {}  # of the documents with uses
        self._imports: dict[str, Sequence[Reference]] = {}
        self._uses: dict[tuple[str, str], Sequence[NameUse]] = {}  # by name and family of languages, "" for all
        self._symbols: dict[str, Sequence[Symbol]] = {}
        self._by_qualified_name: dict[str, Mapping[str, Sequence[Symbol]]] = {}
        self._mentions: dict[str, frozenset[tuple[str | None, str]]] = {}
        self._is_mentioned: dict[tuple[str, str, str], bool] = {}
        self._defined: dict[str, Sequence[FoundSymbol]] = {}
        self._definitions: dict[tuple[str, str], Definitions] = {}
        self._defining: dict[tuple[str, str], Sequence[str]] = {}
        self._crowded: set[str] = set()  # names that too many files define for an import to mean them
        self._n_resolved = 0
        self._means: dict[str, DocumentLinks] = {}  # by document: what its imports mean
        self._resolve = cache(self._known_documents)
        self._importers: dict[str, Mapping[str, Sequence[NameUse]]] = {}  # by family of languages
        self.resolver = catalog.kept(_resolver)

    @property
    def n_rows(self) -> int:
        """The number of references and symbols that are kept, which tells how much memory all that is kept takes."""
        kept = (self._references, self._imports, self._uses, self._symbols, self._defined)
        n_apart = sum(len(items) for (name, _), items in self._definitions.items() if name not in self._defined)
        return len(self._is_mentioned) + n_apart + sum(sum(map(len, rows.values())) for rows in kept)

    def resolve(self, name: str, path: str) -> tuple[str, ...]:
        """Return the documents that an import means."""
        return self._resolve(name, path)

    def _known_documents(self, name: str, path: str) -> tuple[str, ...]:
        """Return the same by the links of the project where they are at hand, which takes less from some imports on."""
        documents = self._links_of(path).targets.get(name)
        return self._find_documents(name, path) if documents is None else documents

    def is_foreign(self, name: str, path: str) -> bool:
        """Return True if an import that means no document is known to lead outside of the project."""
        own = self._links_of(path)
        return name in own.foreign if name in own.targets else self.resolver.is_foreign(name, path)

    def _links_of(self, path: str) -> DocumentLinks:
        """Return what the imports of a document mean where the links of the project are at hand; else nothing.

        Links that have to follow a change of paths or definitions are for many imports.
        """
        self._n_resolved += 1
        if path not in self._means:
            kept = self.catalog.kept(_kept_links)
            if not kept.is_near and self._n_resolved < _FEW_IMPORTS:
                return NO_LINKS
            self._means[path] = NO_LINKS if kept.links is None else kept.links.of(path)
        return self._means[path]

    def family_of(self, path: str) -> str:
        """Return the family of the language of a document."""
        return family(self.resolver.language_of.get(path, ""))

    def imports_of(self, path: str) -> Sequence[Reference]:
        """Return the imports of one document, which are read once; its uses are not read for them."""
        if path not in self._imports:
            self._imports[path] = self.catalog.imports_of(path)
        return self._imports[path]

    def imports(self, forms: Collection[ImportForm] | None = None) -> Iterator[NameUse]:
        """Yield the imports of the project that say one of these, or all."""
        return (NameUse(*item) for item in self.catalog.imports(forms))

    def imports_with(self, words: Iterable[str], is_wanted: Callable[[ImportForm], object]) -> Iterator[NameUse]:
        """Yield the imports that contain one of some words, and for which a function is true."""
        forms = {form for word in words for form in self._import_texts.with_word(word) if is_wanted(form)}
        return self.imports(forms)

    def imports_leading_to(
        self, paths: Sequence[str], is_wanted: Callable[[ImportForm], object] = lambda form: True
    ) -> Iterator[NameUse]:
        """Yield the imports that mean one of some documents, as far as their text tells that they could."""
        targets = set(paths)
        if self.has_links and not all(map(can_tell, paths)):
            yield from self._linked(targets, is_wanted)
            return
        kept = self.catalog.kept(_kept_links)
        if self.has_links and kept.is_near and kept.links is not None:
            yield from (use for use in self._linked(targets, is_wanted) if self._tells(use.reference.name, paths))
            return
        forms = [form for form in self._import_texts.leading_to(paths, self._definable(paths)) if is_wanted(form)]
        for use in self.imports(forms):
            if not targets.isdisjoint(self.resolve(use.reference.name, use.path)):
                yield use

    def _tells(self, name: str, paths: Sequence[str]) -> bool:
        """Return True if the name of an import tells that it could mean one of some documents."""
        if any(self.resolver.may_mean(name, path) for path in paths):
            return True
        names = self._definable(paths)
        return bool(names) and not names.isdisjoint(last_parts(name))

    def _definable(self, paths: Iterable[str]) -> AbstractSet[str]:
        """Return the names in documents that an import can name, whatever their files are called."""
        languages = self.resolver.language_of
        named = (path for path in paths if languages.get(path) in NAMED_IMPORTS)
        return {symbol.name for path in named for symbol in self.symbols_of(path)}

    def importers(self, path: str) -> list[NameUse]:
        """Return the imports that mean a document, in order, also those whose text cannot tell."""
        if not self.resolver.is_meant_silently(path):
            return list(self.imports_leading_to([path]))
        own = family(self.resolver.language_of[path])
        others = self.imports_leading_to([path], lambda form: family(form.language) != own)
        if self.has_links:
            near = list(self._linked({path}, lambda form: family(form.language) == own))
            return sorted((*others, *near), key=lambda use: use.path)
        if own not in self._importers:
            self._importers[own] = self._importers_in(own)
        return sorted((*others, *self._importers[own].get(path, ())), key=lambda use: use.path)

    def _linked(self, targets: AbstractSet[str], is_wanted: Callable[[ImportForm], object]) -> Iterator[NameUse]:
        """Yield the imports that mean one of some documents."""
        for path in sorted({source for target in targets for source in self.links.sources(target)}):
            means, language = self.links.targets(path), self.resolver.language_of.get(path, "")
            for item in self.catalog.imports_of(path):
                is_meant = not targets.isdisjoint(means.get(item.name, ()))
                if is_meant and is_wanted(ImportForm(item.name, item.qualifier, language)):
                    yield NameUse(path, item)

    @cached_property
    def links(self) -> ImportLinks:
        """The documents that the imports of the project mean, as our parser sees it."""
        kept = self.catalog.kept(_kept_links)
        if kept.links is not None:
            return kept.links
        links = all_links(self.catalog, _OwnLinks(self.catalog))
        if not self.catalog.has_left_out:
            kept.keep(links)
        return links

    @cached_property
    def type_words(self) -> TypeWords:
        """The types of the project by their names; of a fleet those that this graph has read, or all questions before.

        A question that leaves out shards drops its graph, and with it what it has read.
        """
        return _type_words(self.catalog, None) if self.catalog.may_leave_out else self.catalog.kept(_type_words)

    @cached_property
    def value_types(self) -> ValueTypes:
        """What texts tell of values; of a fleet as far as this graph has read it, or all questions before."""
        return _value_types(self.catalog, None) if self.catalog.may_leave_out else self.catalog.kept(_value_types)

    @cached_property
    def kept_uses(self) -> KeptUses:
        """What uses of names mean, where it took long to find out."""
        return self.catalog.kept(_kept_uses)

    def save(self) -> None:
        """Write beside the catalogue what was found out about many types, values and uses, where that is new."""
        if "type_words" in vars(self):
            self.type_words.save()
        if "value_types" in vars(self):
            self.value_types.save()
        if "kept_uses" in vars(self):
            self.kept_uses.save()

    def _importers_in(self, own: str) -> Mapping[str, Sequence[NameUse]]:
        """Return the imports of a family of languages by each document that they mean."""
        importers: dict[str, list[NameUse]] = defaultdict(list)
        for use in self.imports([form for form in self.catalog.import_forms() if family(form.language) == own]):
            for target in self.resolve(use.reference.name, use.path):
                importers[target].append(use)
        return importers

    @property
    def _import_texts(self) -> ImportTexts:
        return self.catalog.kept(import_texts)

    def uses(self, name: str, language: str = "") -> Sequence[NameUse]:
        """Return the calls and type uses of a name, with `language` those in a family; they are read once."""
        self.read_uses([name], language)
        return self._uses[name, language]

    def read_uses(self, names: Iterable[str], language: str = "") -> None:
        """Read the uses of many names together: a document that has several of them is read once."""
        missing = {name for name in names if (name, language) not in self._uses}
        if not missing:
            return
        by_name: dict[str, list[NameUse]] = {name: [] for name in missing}
        for path, item in self.catalog.references_to(missing, languages_of(language) if language else None):
            by_name[item.name].append(NameUse(path, item))
        self._uses.update({(name, language): uses for name, uses in by_name.items()})

    def uses_of(
        self, names: Collection[str], language: str, within: AbstractSet[str] | None = None
    ) -> Mapping[str, Sequence[NameUse]]:
        """Return the uses of many names in a family of languages by name; with `within`, only those in these files."""
        if within is None:
            self.read_uses(names, language)
            return {name: self._uses[name, language] for name in names}
        by_name: dict[str, list[NameUse]] = defaultdict(list)
        for path in sorted(path for path in within if self.family_of(path) == language):
            for item in self.references_of(path):
                if item.kind != "import" and item.name in names:
                    by_name[item.name].append(NameUse(path, item))
        return by_name

    def defined(self, name: str) -> Sequence[FoundSymbol]:
        """Return the definitions of exactly this name."""
        self.reads.add(NAME, "", name)
        if name not in self._defined:
            self._defined[name] = [item for item in self.catalog.symbols_named(name) if item.symbol.name == name]
        return self._defined[name]

    def definitions(self, name: str, language: str) -> Definitions:
        """Return the definitions of exactly this name in languages of one family."""
        self.reads.add(NAME, language, name)
        key = name, language
        if key not in self._definitions:
            if name in self._defined:
                items = [item for item in self._defined[name] if self.family_of(item.path) == language]
            else:  # of a usual name most are of other languages
                symbols = self.catalog.symbols_named(name, languages_of(language))
                items = [item for item in symbols if item.symbol.name == name]
            self._definitions[key] = Definitions(items)
        return self._definitions[key]

    def symbols_of(self, path: str) -> Sequence[Symbol]:
        """Return the symbols of one document; each is read once."""
        if path not in self._symbols:
            self._symbols[path] = self.catalog.symbols_of(path)
        return self._symbols[path]

    def symbols_around(self, use: NameUse) -> Iterator[Symbol]:
        """Yield the symbols in which a use stands, the innermost first. Several can share a name, such as the parts of
        a type; of many only the one around the line counts."""
        if use.path not in self._by_qualified_name:
            symbols: dict[str, list[Symbol]] = defaultdict(list)
            for item in self.symbols_of(use.path):
                symbols[item.qualified_name].append(item)
            self._by_qualified_name[use.path] = symbols
        line = use.reference.line
        for name in outward(use.reference.container):
            parts = self._by_qualified_name[use.path].get(name, ())
            if len(parts) > _MOST_PARTS:
                last = bisect_right(parts, line, key=lambda part: part.start_line)
                parts = [part for part in parts[max(last - 1, 0) : last] if line <= part.end_line]
            yield from parts

    def mentions(self, path: str, name: str, container: str) -> bool:
        """Return True if an import of a document, or a use inside of one of its symbols, has this last name."""
        key = path, name, container
        if key not in self._is_mentioned:
            if path not in self._mentions:
                mentions = self.catalog.mentions_of(path)
                self._mentions[path] = frozenset((around, _last_name(own)) for around, own in mentions)
            self._is_mentioned[key] = not self._mentions[path].isdisjoint(((None, name), (container, name)))
        return self._is_mentioned[key]

    def without_rows(self) -> Self:
        """Return a graph that has what was found out of names, but no row of a document."""
        light = type(self)(self.catalog)
        light._is_mentioned, light._defined, light._definitions = self._is_mentioned, self._defined, self._definitions
        return light

    def _find_documents(self, name: str, path: str) -> tuple[str, ...]:
        """Return the documents an import means: by its path, else as the one place where that name is defined."""
        documents = self.resolver.resolve(name, path)
        if documents or "/" in name or self.resolver.language_of.get(path) not in NAMED_IMPORTS:
            return documents
        return tuple(sorted({place for one in written_out(name) for place in self._defining_files(one, path)} - {path}))

    def is_unfollowed(self, name: str, path: str) -> bool:
        """Return True if it is not known whether an import means a document of the project."""
        return not self.resolve(name, path) and not self.is_foreign(name, path)

    def _defining_files(self, name: str, path: str) -> Sequence[str]:
        """Return the few files that define a name in a folder called like one of its last packages."""
        dotted = "." + dotted_name(name.rpartition(" ")[2])
        if dotted.count(".") < 2 or dotted.split(".")[1].lower() in _STANDARD:
            return ()
        key = dotted, family(self.resolver.language_of.get(path, ""))
        if key not in self._defining:
            last = dotted.rpartition(".")[2]
            paths = {item.path for item in self.definitions(last, key[1]).items if _is_in(item, dotted)}
            self._defining[key] = sorted(paths) if len(paths) <= MAX_DEFINING_FILES else ()
            if len(paths) > MAX_DEFINING_FILES:
                self._crowded.add(last)
        return self._defining[key]

    def references_of(self, path: str) -> Sequence[Reference]:
        """Return the imports and uses in one document; each is read once."""
        if path not in self._references:
            self._references[path] = self.catalog.references_of(path)
        return self._references[path]

    def unseen_languages(self) -> list[str]:
        """Return the languages of code in the project of which no use was seen in any file."""
        return self.catalog.kept(_unseen_languages)


class _OwnLinks:
    """See `LinksMaker`: what imports mean as our parser sees it."""

    def __init__(self, catalog: SearchCatalog) -> None:
        self._graph = ReferenceGraph(catalog)
        self.language_of = self._graph.resolver.language_of
        self.crowded = self._graph._crowded
        self.documents_of = self._graph._find_documents
        self.is_foreign = self._graph.resolver.is_foreign

    def depends_on_definitions(self, language: str) -> bool:
        """See `LinksMaker`."""
        return family(language) in NAMED_FAMILIES

    def forms_leading_to(self, paths: Collection[str], names: AbstractSet[str]) -> Collection[ImportForm]:
        """See `LinksMaker`."""
        graph = self._graph
        forms = graph._import_texts.leading_to(paths, names)
        silent = {family(self.language_of[path]) for path in paths if graph.resolver.is_meant_silently(path)}
        if not silent:
            return forms
        return {*forms, *(form for form in graph.catalog.import_forms() if family(form.language) in silent)}


@lru_cache(10_000)
def _last_name(name: str) -> str:
    return dotted_name(name).rpartition(".")[2]


def _is_in(item: FoundSymbol, dotted: str) -> bool:
    """Return True if a definition ends as a dotted name does, in a folder called like one of its last packages."""
    qualified = "." + dotted_name(item.symbol.qualified_name)
    packages = dotted[: -len(qualified)].lower().split(".")[1:][-2:]
    folders = item.path.lower().split("/")[:-1]
    return dotted.endswith(qualified) and (not packages or any(package in folders for package in packages))


def _resolver(catalog: SearchCatalog, _: Resolver | None) -> Resolver:
    languages = catalog.languages()
    workspaces = Workspaces(languages, partial(_manifests, catalog))
    return Resolver(languages.items(), _go_modules(catalog, languages), workspaces)


def make_links(catalog: SearchCatalog) -> None:
    """Make what all questions about connections share, where it is not at hand."""
    catalog.import_forms()
    if not catalog.kept(_kept_links).is_near:
        _ = ReferenceGraph(catalog).links


def import_texts(catalog: SearchCatalog, _: ImportTexts | None) -> ImportTexts:
    """Return the texts of all imports of a catalogue, to be kept with it."""
    return ImportTexts(catalog.import_forms(), catalog.kept(_resolver))


def _kept_links(catalog: SearchCatalog, before: KeptLinks | None) -> KeptLinks:
    return links_at_hand(catalog, before, _OwnLinks(catalog))


def _type_words(catalog: SearchCatalog, before: TypeWords | None) -> TypeWords:
    return TypeWords.of(catalog, before, catalog.kept(_resolver).language_of.keys())


def _value_types(catalog: SearchCatalog, before: ValueTypes | None) -> ValueTypes:
    return ValueTypes.of(catalog, before, catalog.kept(_resolver).language_of)


def _kept_uses(catalog: SearchCatalog, before: KeptUses | None) -> KeptUses:
    return KeptUses.of(catalog, before)


def _unseen_languages(catalog: SearchCatalog, _: list[str] | None) -> list[str]:
    languages = CODE.intersection(catalog.kept(_resolver).language_of.values())
    return sorted(languages - catalog.languages_with_uses(languages))


def _manifests(catalog: SearchCatalog, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield manifests with their texts: many at a time, as they are small."""
    for start in range(0, len(paths), _MANIFESTS_AT_ONCE):
        part = paths[start : start + _MANIFESTS_AT_ONCE]
        small = [item.path for item in catalog.documents_at(part) if _is_small(item)]
        texts = {item.path: item.text for item in catalog.texts(sorted(small))}
        for path in part:
            # A question to a fleet may not read all in time; but these are kept for others.
            yield path, texts[path] if path in texts else _manifest(catalog, path)


def _is_small(item: StoredDocument) -> bool:
    return item.size <= MAX_MANIFEST_CHARS and item.n_lines <= _MOST_MANIFEST_LINES


def _manifest(catalog: SearchCatalog, path: str) -> str:
    """Return the text of a manifest; "" where it is too large for one, so that little is read of it."""
    text = catalog.lines(path, 1, _MOST_MANIFEST_LINES)
    return text if len(text) <= MAX_MANIFEST_CHARS else ""


def _go_modules(catalog: SearchCatalog, paths: Iterable[str]) -> dict[str, str]:
    """Return the folder of each Go module by its name, as the go.mod and go.work files say."""
    modules: dict[str, str] = {}
    replaced: dict[str, str] = {}
    named = (path for path in paths if path.endswith(GO_MANIFESTS))
    manifests = [path for path in named if path.rpartition("/")[2] in GO_MANIFESTS]
    for path, text in _manifests(catalog, manifests):
        folder, _, name = path.rpartition("/")
        match = re.search(r"^module\s+\"?([^\s\"]+)", text, re.MULTILINE)
        if match and name == "go.mod":
            modules[match[1]] = folder
        places = {module: path_in(folder, place) for module, place in go_replacements(text).items()}
        replaced |= {module: place for module, place in places.items() if place is not None}
    return replaced | modules
