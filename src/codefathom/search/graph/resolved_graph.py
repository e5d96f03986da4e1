"""A use of a name → the definitions that it can mean, and how that is known: by scope and imports, or by name alone."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from hashlib import blake2b
from heapq import merge
from itertools import chain
from typing import NamedTuple, Self, cast

from codefathom.facts.paths import folders_of, may_go_unnamed
from codefathom.search.graph.exports import DEFAULT, exported_names
from codefathom.search.graph.name_bindings import EVERY, bindings_of
from codefathom.search.graph.read_sets import (
    ABOVE,
    ALIASES,
    DEFAULTS,
    EXPORTS,
    IMPORTERS,
    OWNERS,
    THROUGH,
    TYPE,
    Note,
    ReadSet,
)
from codefathom.search.graph.receivers import Receivers
from codefathom.search.graph.reference_graph import (
    MAX_DEFINING_FILES,
    NO_DEFINITIONS,
    Definitions,
    NameUse,
    ReferenceGraph,
    import_texts,
    joined,
    outward,
    owner_name,
    owner_of,
    path_of,
)
from codefathom.search.graph.renamed_imports import RenamedImports, renamed
from codefathom.search.graph.resolve import family
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.types import TYPE_KINDS, Certainty, FoundSymbol

# Here a plain name is one of the file, of an import or of the language: nothing else of the project can be meant.
PLAIN_NAMES_ARE_BOUND = frozenset({"python", "javascript", "go"})
# Files of one folder see one another's names.
SHARED_FOLDERS = frozenset({"go", "java", "csharp", "swift", "dart"})
# A plain name may be a member of the class around it.
_OWN_MEMBERS = frozenset({"java", "csharp", "c", "swift", "ruby", "dart"})
# A function that stands in no class is not called on a value.
_FUNCTIONS_ALONE = frozenset({"python", "javascript", "go", "java", "c", "csharp", "php", "rust", "swift", "dart"})
# A function inside of another one is no member of anything, and a plain name is never that of a method.
_FUNCTIONS_ARE_NO_MEMBERS = frozenset({"python", "rust"})
# A name with a capital that stands before another one is that of a type or module.
_TYPES_HAVE_CAPITALS = frozenset({"python", "javascript", "java", "csharp", "php", "rust", "ruby", "elixir", "swift"})
_SCRIPTS = frozenset({"javascript", "jsx", "typescript", "tsx", "vue", "svelte"})
# Here an import of all names of a module is marked as such, and passes them on to whoever imports them from the file.
_WHOLE_MODULES = frozenset({"python", "javascript"})
_SELF = frozenset({"self", "this", "cls", "Self", "static", "$this", "__MODULE__"})
_STANDARD = frozenset({"std", "core", "alloc", "console", "Math", "JSON"})
_RUST_TYPES = frozenset(
    {"bool", "char", "str", "f32", "f64"} | {f"{sign}{size}" for sign in "iu" for size in (8, 16, 32, 64, 128, "size")}
)
_SOURCE_ROOT = re.compile(r"^(?:.*/)?src/\w+/(?:java|kotlin|scala|groovy)(?:/|$)")
_MOST_HOPS = 5  # through files that only pass a name on
_MOST_EXPORTING_FILES = 50  # that define one name, whose texts are read for other names that they give to it


class UseTargets(NamedTuple):
    """The definitions that a use can mean: none when it is one of another project or of the language."""

    definitions: Definitions = NO_DEFINITIONS
    certainty: Certainty = "exact"
    unfollowed: NameUse | None = None  # the import of the name, where nobody knows what it means

    def n_definitions(self) -> int:
        """Return the number of different definitions; overloads in one file are one."""
        return max(len(self.definitions.names), 1)

    def means(self, path: str, qualified_name: str) -> bool:
        """Return True if a definition is among these."""
        return (path, qualified_name) in self.definitions.names


class ResolvedUse(NamedTuple):
    """A use, and what it can mean."""

    use: NameUse
    targets: UseTargets

    @property
    def depends_on_value(self) -> bool:
        """True if the type of the value before the name tells more."""
        return self.targets.certainty == "by-name" and self.use.reference.qualifier != ""


class _Source(NamedTuple):
    """The origin of a name in a file."""

    original: str  # EVERY: the module itself
    documents: tuple[str, ...]  # none: outside the project, or unknown
    use: NameUse  # the import
    is_open: bool  # nobody knows where it leads

    @property
    def leads_out(self) -> bool:
        """True where it is known to lead out of the project."""
        return not (self.documents or self.is_open)


class _OfAll(NamedTuple):
    """An import of all names of a module of the project."""

    use: NameUse
    language: str  # the family
    documents: frozenset[str]


class ResolvedGraph(ReferenceGraph):
    """The references of a project, and what its uses of names mean; what is read of a file is kept."""

    def __init__(self, catalog: SearchCatalog) -> None:
        super().__init__(catalog)
        self._sources: dict[str, dict[str, list[_Source]]] = {}
        self._resolved: dict[tuple[str, str], Sequence[ResolvedUse]] = {}  # by name and family of languages
        self._of_all: dict[str, Sequence[_OfAll]] = {}  # by family
        self.receivers = Receivers(self)
        # Of many uses each asks the same about the same.
        self._name_at_source = self.reads.remembered(self._find_name_at_source)
        self._elsewhere = self.reads.remembered(self._find_elsewhere)
        self._in_package = self.reads.remembered(self._find_in_package)
        self._behind = self.reads.remembered(self._find_behind)
        self._is_type = self.reads.remembered(self._find_type)
        self._exports = cache(self._read_exports)

    @property
    def n_rows(self) -> int:
        """See `ReferenceGraph`."""
        return super().n_rows + sum(map(len, self._resolved.values()))

    def without_rows(self) -> Self:
        """See `ReferenceGraph`."""
        light = super().without_rows()
        light._resolved = self._resolved
        return light

    def read_set_of(self, notes: AbstractSet[Note]) -> ReadSet:
        """Return what was noted as numbers, with all types that stand above the noted ones."""
        above = {str(note[1]) for note in notes if note[0] == ABOVE}
        for note in notes:
            if note[0] == OWNERS:
                above.update(map(str, cast(Definitions, note[1]).by(owner_name)))
        types = above.union(*map(self.type_words.above, above))
        plain = (note for note in notes if note[0] not in (ABOVE, OWNERS))
        exports = (self.exports_number(str(note[1])) for note in notes if note[0] == EXPORTS)
        return ReadSet.of(chain(plain, ((TYPE, name) for name in types)), exports)

    def resolved_uses(self, name: str, language: str = "") -> Sequence[ResolvedUse]:
        """Return the uses of a name that mean something of this project, also those under another name.

        With `language`, only uses in a family of languages: others mean no definition in it.
        """
        key = name, language
        if key not in self._resolved:
            self._resolved[key] = self.find_uses(name, language)
        return self._resolved[key]

    def find_uses(self, name: str, language: str, within: AbstractSet[str] | None = None) -> list[ResolvedUse]:
        """Return the same, found now; with `within`, only uses in these files."""
        names = self.local_names(name, language)
        uses_of = self.uses_of(names, language, within)
        uses = [use for local in names for use in uses_of.get(local, ())]
        broad = [ResolvedUse(use, self.broad_targets(use, name)) for use in uses]
        broad = [item for item in broad if item.targets.definitions]
        self.receivers.read_ahead(item.use for item in broad if item.depends_on_value)
        each = (ResolvedUse(use, self.narrowed(targets, use)) for use, targets in broad)
        return [item for item in each if item.targets.definitions]

    def targets(self, use: NameUse, name: str = "") -> UseTargets:
        """Return all that a use can mean; `name` is that of the definitions, where the file has another one for it."""
        return self.narrowed(self.broad_targets(use, name), use)

    def broad_targets(self, use: NameUse, name: str = "") -> UseTargets:
        """Return the same without a look at the types of values, as far as names and imports tell."""
        name = name or self._original(use)
        language = family(self.resolver.language_of.get(use.path, ""))
        symbols = self.definitions(name, language)
        if not symbols:
            return UseTargets()
        scope = _Scope(use.path, name, language, symbols)
        return self._named(scope, use) if use.reference.qualifier else self._plain(scope, use)

    def narrowed(self, targets: UseTargets, use: NameUse) -> UseTargets:
        """Return what the type of the value before a name leaves of all that a use can mean."""
        if not ResolvedUse(use, targets).depends_on_value:
            return targets
        definitions = self.receivers.possible(targets.definitions, use)
        if (
            use.reference.kind == "type"
            and use.reference.name.islower()
            and len(definitions.paths) > MAX_DEFINING_FILES
        ):
            return UseTargets()  # a value behind something imported: so usual a name tells nothing
        return targets._replace(definitions=definitions)

    def local_names(self, name: str, language: str = "") -> Sequence[str]:
        """Return a name, and those that files of the project, or of a family of languages, give to it."""
        return (name, *self._other_names(name, language))

    def n_uses(self, name: str, language: str) -> int:
        """Return the number of all uses of a name, whatever they mean."""
        return sum(len(self.uses(local, language)) for local in self.local_names(name, language))

    def imports_named(self, name: str) -> Iterator[ResolvedUse]:
        """Yield the imports that give a file a name of this project, or of which nobody knows what they mean.

        An import of all names of a module, such as `export * from` or `from a import *`, has no name that tells.
        """
        names = {name, *self._other_names(name)}
        has_name = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)").search
        for use in self.imports_with(names, lambda form: has_name(form.name) or has_name(form.qualifier)):
            language = self.resolver.language_of.get(use.path, "")
            bound = [binding for binding in bindings_of(use.reference, language) if names.intersection(binding)]
            for targets in [self._imported(use, binding.local, name) for binding in bound][:1]:
                if targets.definitions:
                    yield ResolvedUse(use, targets)
        if not name.startswith("_"):
            yield from self._imports_of_all(name)

    def _imports_of_all(self, name: str) -> Iterator[ResolvedUse]:
        """Yield the imports of all names of a module that is known to have a name, itself or from others."""
        languages = self.resolver.language_of
        families = {family(languages.get(item.path, "")) for item in self.defined(name)}
        meant: dict[tuple[str, frozenset[str]], Definitions] = {}
        for use, language, documents in merge(*map(self._whole_modules, sorted(families)), key=_path_of_import):
            key = language, documents
            if key not in meant:
                meant[key] = self._passed_by(name, *key)
            if meant[key]:
                yield ResolvedUse(use, UseTargets(meant[key]))

    def _whole_modules(self, language: str) -> Sequence[_OfAll]:
        """Return the imports of all names of a module in a family of languages; others mean nothing of that family."""
        if language in _WHOLE_MODULES and language not in self._of_all:
            forms = [form for form in self._import_texts.with_word(EVERY) if _is_of_all(form, language)]
            means = ((use, frozenset(self.resolve(use.reference.name, use.path))) for use in self.imports(forms))
            self._of_all[language] = [_OfAll(use, language, documents) for use, documents in means if documents]
        return self._of_all.get(language, ())

    def _passed_by(self, name: str, language: str, documents: frozenset[str]) -> Definitions:
        """Return the definitions of a name that an import of all names of these documents gives."""
        scope = _Scope("", name, language, self.definitions(name, language))
        definitions = self._in_package(scope, None, documents) if scope.symbols else NO_DEFINITIONS
        return definitions if any(not owner_of(item) for item in definitions.items) else NO_DEFINITIONS

    def _imported(self, use: NameUse, local: str, name: str) -> UseTargets:
        language = family(self.resolver.language_of.get(use.path, ""))
        symbols = self.definitions(name, language)
        return self._elsewhere(_Scope(use.path, name, language, symbols), local) if symbols else UseTargets()

    def _original(self, use: NameUse) -> str:
        """Return the name that a used name has where it is defined."""
        return use.reference.name if use.reference.qualifier else self._name_at_source(use.path, use.reference.name)

    def _find_name_at_source(self, path: str, name: str) -> str:
        sources: Sequence[_Source] = self._sources_of(path).get(name, ())
        for _ in range(_MOST_HOPS):
            named = [source for source in sources if source.original != EVERY]
            if not named:
                break
            original, documents = named[0].original, set(named[0].documents)
            own = [self._exports_of(path).get(original, "") for path in documents]
            name = next(filter(None, own), name if original == DEFAULT else original)
            sources = [source for path in documents for source in self._given_to(path, name)]
        return name

    def is_foreign_name(self, path: str, local: str) -> bool:
        """Return True if a name of a file is that of an import which is known to lead outside of the project."""
        sources = self._sources_of(path).get(local, ())
        return bool(sources) and all(source.leads_out for source in sources)

    # ---- a name alone

    def _plain(self, scope: _Scope, use: NameUse) -> UseTargets:
        local = use.reference.name
        here = scope.visible(use.reference.container) if local == scope.name else NO_DEFINITIONS
        return UseTargets(here) if here else self._elsewhere(scope, local)

    def _find_elsewhere(self, scope: _Scope, local: str) -> UseTargets:
        """Return the definitions of other files that a name of a file means."""
        sources = self._sources_of(scope.path)
        if local in sources or local != scope.name:
            bound = sources.get(local, ())
            each = (self._exported(scope, item.documents, scope.original(item), _MOST_HOPS) for item in bound)
            definitions = joined(each)
            return UseTargets(definitions) if definitions else self._unknown(scope, bound)
        everything = {path for source in sources.get(EVERY, ()) for path in source.documents}
        if scope.language not in PLAIN_NAMES_ARE_BOUND and not sources:
            everything |= {path for item in self.imports_of(scope.path) for path in self.resolve(item.name, scope.path)}
        package = _package(scope.path) if scope.language in SHARED_FOLDERS else None
        near = self._in_package(scope.anywhere(), package, frozenset(everything))
        near = near or self._in_modules(scope)
        if near:
            return UseTargets(near)
        if scope.language in PLAIN_NAMES_ARE_BOUND:
            return self._unknown(scope, sources.get(EVERY, ()))
        return scope.plain()

    def _in_modules(self, scope: _Scope) -> Definitions:
        """Return what stands outside of types in the module of a file of Swift, else in the modules that it imports."""
        if scope.language != "swift":
            return NO_DEFINITIONS
        outside = scope.symbols.by(owner_of).get("", NO_DEFINITIONS)
        imported = {path for item in self.imports_of(scope.path) for path in self.resolve(item.name, scope.path)}
        own = outside.of(frozenset(self.resolver.of_module(scope.path)), path_of)
        return own or outside.of(imported, path_of)

    def _unknown(self, scope: _Scope, sources: Sequence[_Source]) -> UseTargets:
        """Return all definitions of a name whose import is lost somewhere; none where it leads out of the project."""
        lost = self._lost(sources, scope.name, _MOST_HOPS)
        return scope.plain()._replace(unfollowed=lost) if lost else UseTargets()

    def _lost(self, sources: Sequence[_Source], name: str, hops: int) -> NameUse | None:
        """Return the import behind which nobody knows what a name is; None where one leads out of the project.

        Several imports of one name stand for each other, as in `try: from a import x` and `except: from b import x`.
        """
        if any(source.leads_out for source in sources if source.original != EVERY):
            return None
        for source in sources:
            if source.is_open:
                return source.use
            original = name if source.original == EVERY else source.original
            for path in source.documents:
                onwards = (*self._given_to(path, original), *self._given_to(path, EVERY))
                if not onwards and source.original != EVERY:
                    return source.use
                lost = self._lost(onwards, original, hops - 1) if hops else None
                if lost:
                    return lost
        return None

    def _find_in_package(self, scope: _Scope, package: str | None, others: frozenset[str]) -> Definitions:
        """Return the definitions in a package, if there is one, and in other files, or in those they have it from."""
        own = NO_DEFINITIONS if package is None else scope.symbols.by(_package_of).get(package, NO_DEFINITIONS)
        return self._exported(scope, {*map(str, own.paths), *others}, scope.name, _MOST_HOPS)

    # ---- a name behind others

    def _named(self, scope: _Scope, use: NameUse) -> UseTargets:
        """Return the definitions that the names before a name lead to; else those of any value."""
        qualifier, is_type = use.reference.qualifier, use.reference.kind == "type"
        own = scope.own_members(use.reference.container) if qualifier in _SELF else NO_DEFINITIONS
        return UseTargets(own) if own else self._behind(scope, qualifier, use.reference.name, is_type)

    def _find_behind(self, scope: _Scope, qualifier: str, name: str, is_type: bool) -> UseTargets:
        """Return what is meant by a name behind others; a module may pass the definitions of `scope` on under it."""
        parts = qualifier.split(".")
        if parts[0] == "?" or qualifier in _SELF:
            return scope.members(is_type)
        sources = self._sources_of(scope.path) if self._may_bind(scope.path, parts[0]) else {}
        for end in range(len(parts), 0, -1):
            bound = sources.get(".".join(parts[:end]))
            if bound:
                targets = self._from_sources(scope, bound, (*parts, name), end)
                break
        else:
            exact = self._by_whole_path(scope, parts) if scope.language == "rust" else NO_DEFINITIONS
            targets = UseTargets(exact) if exact else self._of_owner(scope, parts[-1])
        return scope.members(is_type) if targets is None else targets

    def _by_whole_path(self, scope: _Scope, parts: Sequence[str]) -> Definitions:
        """Return what a path of Rust means that no import of its file begins: `$crate::a::B`, `other_crate::a::B`."""
        documents = self.resolve("::".join(parts).removeprefix("$"), scope.path)
        return self._exported(scope, documents, scope.name, _MOST_HOPS)

    def _of_owner(self, scope: _Scope, owner: str) -> UseTargets | None:
        """Return the members of a type or module that is named before the name; None: those of any type."""
        owned = scope.symbols.by(owner_name).get(owner, NO_DEFINITIONS)
        here = owned.by(path_of).get(scope.path)
        if here:
            return UseTargets(here)
        if not owned:
            owned = scope.outer().by(_stem_of).get(owner, NO_DEFINITIONS)
        if owned and scope.language not in PLAIN_NAMES_ARE_BOUND:
            return UseTargets(owned, "exact" if len(owned.paths) == 1 else "by-name")
        is_type = owner[:1].isupper() and scope.language in _TYPES_HAVE_CAPITALS
        if owner in _STANDARD or (scope.language == "rust" and owner in _RUST_TYPES):
            return UseTargets()
        return UseTargets() if is_type and not self._is_type(owner) else None

    def _find_type(self, name: str) -> bool:
        return any(item.symbol.kind in TYPE_KINDS or item.symbol.kind == "module" for item in self.defined(name))

    # ---- imports

    def _from_sources(
        self, scope: _Scope, sources: Iterable[_Source], parts: Sequence[str], n_bound: int
    ) -> UseTargets | None:
        """Return all that the last part means, which stands behind one of these sources and perhaps further names.

        The first `n_bound` parts are the name of the sources. None: those of any type.
        """
        sources = list(sources)
        documents = {path for source in sources for path in source.documents}
        if not documents:
            is_lost = not any(source.leads_out for source in sources)
            lost = next((source.use for source in sources if source.is_open and is_lost), None)
            return UseTargets(scope.symbols, "by-name", lost) if lost else UseTargets()
        local = ".".join(parts[:n_bound])
        originals = {self._owner(scope.path, local, source) for source in sources} - {EVERY}
        *before, name = parts
        owner = (before[-1] if n_bound < len(before) else "") or min(originals, default="")
        if owner:
            places = documents | self._passed_on(scope, documents, owner)
            owned = scope.symbols.by(owner_name).get(owner, NO_DEFINITIONS).of(places, path_of)
            owned = owned or scope.in_file(owner, documents)
            return UseTargets(owned) if owned else None
        exact = self._exported(scope, documents, name, _MOST_HOPS)
        return UseTargets(exact) if exact else None

    def _owner(self, path: str, local: str, source: _Source) -> str:
        """Return the name that what a file imports has where it is defined."""
        if source.original == EVERY or self.resolver.language_of.get(path, "") not in _SCRIPTS:
            return source.original
        return self._name_at_source(path, local)

    def _passed_on(self, scope: _Scope, documents: Iterable[str], name: str) -> set[str]:
        """Return the files that define a name which others pass on."""
        inner = scope._replace(symbols=self.definitions(name, scope.language), name=name)
        return set(map(str, self._exported(inner, documents, name, _MOST_HOPS).paths))

    def _exported(self, scope: _Scope, documents: Iterable[str], name: str, hops: int) -> Definitions:
        """Return the definitions of a name in files, or in those from which they have it."""
        documents = set(documents)
        matches = self._defined_in(scope, documents, name)
        if matches or not hops:
            return matches
        onwards: dict[str, set[str]] = defaultdict(set)
        for path in documents:
            own = self._exports_of(path).get(name, name)
            for source in (*self._given_to(path, own), *self._given_to(path, EVERY)):
                original = own if source.original == EVERY else source.original
                onwards[original].update(set(source.documents) - documents)
        each = (self._exported(scope, paths, original, hops - 1) for original, paths in onwards.items() if paths)
        return next((matches for matches in each if matches), NO_DEFINITIONS)

    def _defined_in(self, scope: _Scope, documents: set[str], name: str) -> Definitions:
        """Return the definitions in files which these pass on under a name."""
        matches = self._outer(scope, name).of(documents, path_of)
        if matches or scope.language != "javascript":
            return matches
        own = {path: self._exports_of(path).get(name, "") for path in documents}
        if name == DEFAULT:  # of what has no name, such as a component that is a file, the name is that of its use
            own = {path: local or scope.name for path, local in own.items()}
        return joined(self._outer(scope, local).of({path}, path_of) for path, local in own.items() if local)

    def _outer(self, scope: _Scope, name: str) -> Definitions:
        symbols = self.definitions(name, scope.language) if name != scope.name else scope.symbols
        return scope._replace(symbols=symbols).outer()

    def _given_to(self, path: str, name: str) -> Sequence[_Source]:
        """Return what the imports of another file than that of a use give to it under a name."""
        self.reads.add(THROUGH, path)
        self.reads.add(THROUGH, path, name)
        return self._sources_of(path).get(name, ())

    def _exports_of(self, path: str) -> Mapping[str, str]:
        """Return by the names that others import from a script the names that it has for its own definitions."""
        exports = self._exports(path)
        if self.resolver.language_of.get(path, "") in _SCRIPTS:
            self.reads.add(EXPORTS, path)
        return exports

    def exports_number(self, path: str) -> int:
        """Return a number that tells a file with what it exports from all others."""
        text = json.dumps([path, sorted(self._exports(path).items())])
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())

    def _read_exports(self, path: str) -> Mapping[str, str]:
        if self.resolver.language_of.get(path, "") not in _SCRIPTS:
            return {}
        return exported_names(self.catalog.text(path))

    def _may_bind(self, path: str, local: str) -> bool:
        """Return False if no import of a file can give it a name: the name would be a part of what is written there."""
        return any(local in item.name or local in item.qualifier for item in self.imports_of(path))

    def _sources_of(self, path: str) -> dict[str, list[_Source]]:
        if path not in self._sources:
            language = self.resolver.language_of.get(path, "")
            sources: dict[str, list[_Source]] = defaultdict(list)
            for item in self.imports_of(path):
                documents = self.resolve(item.name, path)
                is_open = not documents and not self.is_foreign(item.name, path)
                for binding in bindings_of(item, language):
                    is_module = language == "python" and _is_module(item.name, documents)
                    original = EVERY if is_module else binding.original
                    sources[binding.local].append(_Source(original, documents, NameUse(path, item), is_open))
                    if language == "python" and binding.local == item.name:
                        self._add_packages(sources, NameUse(path, item))
            self._sources[path] = dict(sources)
        return self._sources[path]

    def _add_packages(self, sources: dict[str, list[_Source]], use: NameUse) -> None:
        """Add the packages that `import a.b` of Python gives to a file beside the module: a."""
        path, name = use.path, use.reference.name
        while "." in name:
            name = name.rpartition(".")[0]
            documents = self.resolve(name, path)
            is_open = not documents and not self.is_foreign(name, path)
            sources[name].append(_Source(EVERY, documents, use, is_open))

    def _other_names(self, name: str, language: str = "") -> Sequence[str]:
        """Return the names that files of the project give to a name when they import it or pass it on."""
        aliases = self.catalog.kept(_renamed_imports)
        # The name under which a script passes something on is none for a file in another language.
        names = {name, *(self._exported_as(name) if language in ("", "javascript") else ())}
        front = set(names)
        for _ in range(_MOST_HOPS):
            for one in front:
                self.reads.add(ALIASES, one)
            front = {alias for one in front for alias in aliases.names_of(one)} - names
            names |= front
        return sorted(names - {name, DEFAULT})

    def _exported_as(self, name: str) -> Iterator[str]:
        """Yield the other names that the scripts which define a name give to it, also those of default imports."""
        paths = sorted(map(str, self.definitions(name, "javascript").paths))[:_MOST_EXPORTING_FILES]
        exports = {path: self._exports_of(path) for path in (*paths, *(self._importing(name) if paths else ()))}
        for names in exports.values():
            yield from (exported for exported, own in names.items() if own == name != exported != DEFAULT)
        passing = {path for path, names in exports.items() if names.get(DEFAULT) == name}
        for _ in range(_MOST_HOPS if passing else 0):
            users = list(self._default_imports(passing))
            yield from (local for _, local in users)
            # `export { default } from './a'` passes it on as it is.
            passing = {path for path, local in users if local == DEFAULT} - passing
            if not passing:
                break

    def _importing(self, name: str) -> Sequence[str]:
        """Return scripts that import a name, and may pass it on under another one; first those made for that."""

        def has_name(form: ImportForm) -> bool:
            return form.language in _SCRIPTS and name in form.qualifier.split(", ")

        self.reads.add(IMPORTERS, name)
        paths = {use.path for use in self.imports_with([name], has_name)}
        return sorted(paths, key=lambda path: (not may_go_unnamed(path), path))[:_MOST_EXPORTING_FILES]

    def _default_imports(self, targets: set[str]) -> Iterator[tuple[str, str]]:
        """Yield the files that import what some files export by default, each with the name that it has there."""
        self.reads.add(DEFAULTS)
        for path, item in self.imports_leading_to(sorted(targets), _has_default):
            form = ImportForm(item.name, item.qualifier, self.resolver.language_of.get(path, ""))
            yield from ((path, one.local) for one in renamed(form) if one.original == DEFAULT)


def _renamed_imports(catalog: SearchCatalog, _: RenamedImports | None) -> RenamedImports:
    return RenamedImports(catalog.kept(import_texts))


def _has_default(form: ImportForm) -> bool:
    return any(one.original == DEFAULT for one in renamed(form))


def _is_of_all(form: ImportForm, language: str) -> bool:
    return form.qualifier == EVERY and family(form.language) == language


def _path_of_import(item: _OfAll) -> str:
    return item.use.path


class _Scope(NamedTuple):
    """A file that uses a name, and the definitions of that name in languages that it can be of."""

    path: str
    name: str
    language: str  # the family
    symbols: Definitions

    def anywhere(self) -> _Scope:
        """Return the same for a file that does not matter."""
        return self._replace(path="")

    def original(self, source: _Source) -> str:
        """Return the name that the use has in the documents of a source."""
        if source.original == DEFAULT and self.language == "javascript":
            return DEFAULT
        return self.name if source.original == EVERY else source.original

    def plain(self) -> UseTargets:
        """Return all that a name alone can mean where nobody knows the file."""
        return UseTargets(self.symbols.by(_is_plain, self.language).get(True, NO_DEFINITIONS), "by-name")

    def outer(self) -> Definitions:
        """Return the definitions that can be imported by their name."""
        return self.symbols.by(_is_outer, self.language).get(True, NO_DEFINITIONS)

    def in_file(self, stem: str, documents: Iterable[str]) -> Definitions:
        """Return the definitions in a file of this name that is one of some documents, or beside or below one."""
        folders = {path.rpartition("/")[0] for path in documents}
        named = self.outer().by(_stem_of).get(stem, NO_DEFINITIONS)
        near = {path for path in map(str, named.paths) if not folders.isdisjoint(folders_of(path))}
        return named.of(near, path_of)

    def visible(self, container: str) -> Definitions:
        """Return the definitions of the same file that a symbol can see without naming what they belong to."""
        places = self.symbols.by(_place_of)
        for owner in (*outward(container), ""):
            near = places.get((self.path, owner), NO_DEFINITIONS)
            if near and owner not in ("", container) and self.language not in _OWN_MEMBERS:
                near = near.by(_is_method).get(False, NO_DEFINITIONS)
            if near:
                return near
        return NO_DEFINITIONS

    def own_members(self, container: str) -> Definitions:
        """Return the members of the class around a symbol."""
        places = self.symbols.by(_place_of)
        near = (places.get((self.path, owner)) for owner in outward(container))
        return next(filter(None, near), NO_DEFINITIONS)

    def members(self, is_type: bool) -> UseTargets:
        """Return all that can be called on a value that is not known."""
        if self.language == "rust" and is_type:
            return UseTargets()  # `S::Error` of a parameter: whatever fills it has the type
        return UseTargets(self.symbols.by(_is_member, self.language).get(True, NO_DEFINITIONS), "by-name")


def _is_plain(item: FoundSymbol, language: str) -> bool:
    """Return True if a definition can be meant by its name alone in some file."""
    if language == "rust" and item.symbol.kind == "type" and owner_of(item):
        return False  # a type of a trait or of what implements it
    return language in _OWN_MEMBERS or item.symbol.kind != "method"


def _is_outer(item: FoundSymbol, language: str) -> bool:
    """Return True if a definition can be imported by its name."""
    bound = language in PLAIN_NAMES_ARE_BOUND or language in _FUNCTIONS_ARE_NO_MEMBERS
    return item.symbol.kind != "method" or not bound


def _is_member(item: FoundSymbol, language: str) -> bool:
    """Return True if a definition can be called on a value."""
    if language in _FUNCTIONS_ALONE and not owner_of(item):
        return False
    return language not in _FUNCTIONS_ARE_NO_MEMBERS or item.symbol.kind != "function"


def _is_method(item: FoundSymbol) -> bool:
    return item.symbol.kind == "method"


def _place_of(item: FoundSymbol) -> tuple[str, str]:
    """Return the file of a definition, and the qualified name of what it belongs to."""
    return item.path, owner_of(item)


def _stem_of(item: FoundSymbol) -> str:
    return _stem(item.path)


def _package_of(item: FoundSymbol) -> str:
    return _package(item.path)


def _is_module(name: str, documents: Iterable[str]) -> bool:
    """Return True if an import such as `a.b` in Python means the file a/b, and no definition in a."""
    body = "/" + name.strip(".").replace(".", "/")
    return any(f"/{path}".removesuffix(".py").removesuffix("/__init__").endswith(body) for path in documents)


def _stem(path: str) -> str:
    """Return the name of a file without its ending; of its folder where it stands for that."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if folder and may_go_unnamed(path) else stem


def _package(path: str) -> str:
    """Return the folder of a file, from the root of its sources on where the tools of Java lay them."""
    return _SOURCE_ROOT.sub("", path.rpartition("/")[0])
