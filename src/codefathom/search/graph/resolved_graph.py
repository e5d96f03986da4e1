"""A use of a name → the definitions that it can mean, and how that is known: by scope and imports, or by name alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from codefathom.search.graph.name_bindings import EVERY, bindings_of
from codefathom.search.graph.receivers import Receivers
from codefathom.search.graph.reference_graph import NameUse, ReferenceGraph
from codefathom.search.graph.resolve import BARRELS, family
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.types import TYPE_KINDS, Certainty, FoundSymbol

# Here a plain name is one of the file, of an import or of the language: nothing else of the project can be meant.
_PLAIN_NAMES_ARE_BOUND = frozenset({"python", "javascript", "go"})
# Files of one folder see one another's names.
_SHARED_FOLDERS = frozenset({"go", "java", "csharp", "swift", "dart"})
# A plain name may be a member of the class around it.
_OWN_MEMBERS = frozenset({"java", "csharp", "c", "swift", "ruby", "dart"})
# A function that stands in no class is not called on a value.
_FUNCTIONS_ALONE = frozenset({"python", "javascript", "go", "java", "c", "csharp", "php", "rust", "swift", "dart"})
# A function inside of another one is no member of anything, and a plain name is never that of a method.
_FUNCTIONS_ARE_NO_MEMBERS = frozenset({"python", "rust"})
# A name with a capital that stands before another one is that of a type or module.
_TYPES_HAVE_CAPITALS = frozenset({"python", "javascript", "java", "csharp", "php", "rust", "ruby", "elixir", "swift"})
_SELF = frozenset({"self", "this", "cls", "Self", "static", "$this", "__MODULE__"})
_STANDARD = frozenset({"std", "core", "alloc", "console", "Math", "JSON"})
_RUST_TYPES = frozenset(
    {"bool", "char", "str", "f32", "f64"} | {f"{sign}{size}" for sign in "iu" for size in (8, 16, 32, 64, 128, "size")}
)
_SOURCE_ROOT = re.compile(r"^(?:.*/)?src/\w+/(?:java|kotlin|scala|groovy)(?:/|$)")
_MOST_HOPS = 5  # through files that only pass a name on

_Symbols = tuple[FoundSymbol, ...]


class UseTargets(NamedTuple):
    """The definitions that a use can mean: none when it is one of another project or of the language."""

    definitions: _Symbols = ()
    certainty: Certainty = "exact"

    def n_definitions(self) -> int:
        """Return the number of different definitions; overloads in one file are one."""
        return len({(item.path, item.symbol.qualified_name) for item in self.definitions})

    def means(self, path: str, qualified_name: str) -> bool:
        """Return True if a definition is among these."""
        return any(item.path == path and item.symbol.qualified_name == qualified_name for item in self.definitions)


class ResolvedUse(NamedTuple):
    """A use, and what it can mean."""

    use: NameUse
    targets: UseTargets


class _Source(NamedTuple):
    """The origin of a name in a file."""

    original: str  # EVERY: the module itself
    documents: tuple[str, ...]  # none: outside the project


class ResolvedGraph(ReferenceGraph):
    """The references of a project, and what its uses of names mean; what is read of a file is kept."""

    def __init__(self, catalog: SearchCatalog) -> None:
        super().__init__(catalog)
        self._sources: dict[str, dict[str, list[_Source]]] = {}
        self._resolved: dict[str, Sequence[ResolvedUse]] = {}
        self._aliases: dict[str, set[str]] | None = None
        self._receivers = Receivers(self)

    def resolved_uses(self, name: str) -> Sequence[ResolvedUse]:
        """Return the uses of a name that mean something of this project, also those under another name."""
        if name not in self._resolved:
            uses = [use for local in (name, *self._other_names(name)) for use in self.uses(local)]
            matches = ((use, self.targets(use, name)) for use in uses)
            self._resolved[name] = [ResolvedUse(use, targets) for use, targets in matches if targets.definitions]
        return self._resolved[name]

    def targets(self, use: NameUse, name: str = "") -> UseTargets:
        """Return all that a use can mean; `name` is that of the definitions, where the file has another one for it."""
        name = name or self._original(use)
        language = family(self.resolver.language_of.get(use.path, ""))
        symbols = [item for item in self.defined(name) if self.are_family(item.path, use.path)]
        if not symbols:
            return UseTargets()
        scope = _Scope(use, name, language, tuple(symbols))
        return self._qualified(scope) if use.reference.qualifier else self._plain(scope)

    def _original(self, use: NameUse) -> str:
        """Return the name that a used name has where it is defined."""
        name, documents = use.reference.name, {use.path}
        for _ in range(_MOST_HOPS if not use.reference.qualifier else 0):
            sources = [source for path in documents for source in self._sources_of(path).get(name, ())]
            named = [source for source in sources if source.original not in (EVERY, "default")]
            if not named:
                break
            name, documents = named[0].original, set(named[0].documents)
        return name

    # ---- a name alone

    def _plain(self, scope: _Scope) -> UseTargets:
        local = scope.use.reference.name
        here = scope.visible() if local == scope.name else ()
        if here:
            return UseTargets(here)
        sources = self._sources_of(scope.path)
        if local in sources or local != scope.name:
            bound = sources.get(local, ())
            each = (self._exported(scope, item.documents, scope.original(item), _MOST_HOPS) for item in bound)
            return UseTargets(tuple(dict.fromkeys(item for matches in each for item in matches)))
        everything = {path for source in sources.get(EVERY, ()) for path in source.documents}
        if scope.language in _SHARED_FOLDERS:
            package = _package(scope.path)
            everything |= {item.path for item in scope.symbols if _package(item.path) == package}
        if scope.language not in _PLAIN_NAMES_ARE_BOUND and not sources:
            everything |= {path for item in self.imports_of(scope.path) for path in self._at(item.name, scope)}
        near = self._exported(scope, everything, scope.name, _MOST_HOPS) if everything else ()
        if near:
            return UseTargets(near)
        if scope.language in _PLAIN_NAMES_ARE_BOUND:
            return UseTargets()
        others = [item for item in scope.symbols if scope.is_plain(item)]
        return UseTargets(tuple(others), "by-name")

    def _at(self, name: str, scope: _Scope) -> tuple[str, ...]:
        return self.resolve(name, scope.path)

    # ---- a name behind others

    def _qualified(self, scope: _Scope) -> UseTargets:
        targets = self._named(scope)
        if targets.certainty == "exact":
            return targets
        return targets._replace(definitions=self._receivers.possible(targets.definitions, scope.use))

    def _named(self, scope: _Scope) -> UseTargets:
        """Return the definitions that the names before a name lead to; else those of any value."""
        parts = scope.use.reference.qualifier.split(".")
        if parts[0] == "?":
            return scope.members()
        if len(parts) == 1 and parts[0] in _SELF:
            own = scope.own_members()
            return UseTargets(own) if own else scope.members()
        sources = self._sources_of(scope.path)
        for end in range(len(parts), 0, -1):
            bound = sources.get(".".join(parts[:end]))
            if bound:
                return self._from_sources(scope, bound, ".".join(parts[end:]))
        return self._of_owner(scope, parts[-1])

    def _of_owner(self, scope: _Scope, owner: str) -> UseTargets:
        """Return the members of a type or module that is named before the name; else those of any type."""
        owned = [item for item in scope.symbols if _last(_owner(item)) == owner]
        here = tuple(item for item in owned if item.path == scope.path)
        if here:
            return UseTargets(here)
        if not owned:
            owned = [item for item in scope.symbols if scope.is_outer(item) and _stem(item.path) == owner]
        if owned and scope.language not in _PLAIN_NAMES_ARE_BOUND:
            return UseTargets(tuple(owned), "exact" if len({item.path for item in owned}) == 1 else "by-name")
        is_type = owner[:1].isupper() and scope.language in _TYPES_HAVE_CAPITALS
        if owner in _STANDARD or (scope.language == "rust" and owner in _RUST_TYPES):
            return UseTargets()
        if is_type and not self._is_type(owner):
            return UseTargets()
        return scope.members()

    def _is_type(self, name: str) -> bool:
        return any(item.symbol.kind in TYPE_KINDS or item.symbol.kind == "module" for item in self.defined(name))

    # ---- imports

    def _from_sources(self, scope: _Scope, sources: Iterable[_Source], rest: str) -> UseTargets:
        """Return all that a name means that stands behind one of these sources and perhaps further names."""
        documents = {path for source in sources for path in source.documents}
        if not documents:
            return UseTargets()
        qualifier = scope.use.reference.qualifier
        local = qualifier.removesuffix(rest).rstrip(".")
        originals = {local if source.original == "default" else source.original for source in sources} - {EVERY}
        owner = _last(rest) or next(iter(originals), "")
        if owner:
            places = documents | self._passed_on(scope, documents, owner)
            owned = tuple(item for item in scope.symbols if item.path in places and _last(_owner(item)) == owner)
            owned = owned or scope.in_file(owner, documents)
            return UseTargets(owned) if owned else scope.members()
        exact = self._exported(scope, documents, scope.name, _MOST_HOPS)
        return UseTargets(exact) if exact else scope.members()

    def _passed_on(self, scope: _Scope, documents: Iterable[str], name: str) -> set[str]:
        """Return the files that define a name which others pass on."""
        symbols = tuple(item for item in self.defined(name) if self.are_family(item.path, scope.path))
        inner = scope._replace(symbols=symbols, name=name)
        return {item.path for item in self._exported(inner, documents, name, _MOST_HOPS)}

    def _exported(self, scope: _Scope, documents: Iterable[str], name: str, hops: int) -> _Symbols:
        """Return the definitions of a name in files, or in those from which they have it."""
        documents = set(documents)
        symbols = self.defined(name) if name != scope.name else scope.symbols
        matches = tuple(item for item in symbols if item.path in documents and scope.is_outer(item))
        if matches or not hops:
            return matches
        onwards: dict[str, set[str]] = defaultdict(set)
        for path in documents:
            sources = self._sources_of(path)
            for source in (*sources.get(name, ()), *sources.get(EVERY, ())):
                original = name if source.original in (EVERY, "default") else source.original
                onwards[original].update(set(source.documents) - documents)
        each = (self._exported(scope, paths, original, hops - 1) for original, paths in onwards.items() if paths)
        return next((matches for matches in each if matches), ())

    def _sources_of(self, path: str) -> dict[str, list[_Source]]:
        if path not in self._sources:
            language = self.resolver.language_of.get(path, "")
            sources: dict[str, list[_Source]] = defaultdict(list)
            for item in self.references_of(path):
                if item.kind == "import":
                    documents = self.resolve(item.name, path)
                    for binding in bindings_of(item, language):
                        is_module = language == "python" and _is_module(item.name, documents)
                        original = EVERY if is_module else binding.original
                        sources[binding.local].append(_Source(original, documents))
            self._sources[path] = dict(sources)
        return self._sources[path]

    def _other_names(self, name: str) -> Sequence[str]:
        """Return the names that files of the project give to a name when they import it or pass it on."""
        if self._aliases is None:
            self._aliases = defaultdict(set)
            for path, item in self.imports():
                for binding in bindings_of(item, self.resolver.language_of.get(path, "")):
                    if EVERY not in binding and binding.local != binding.original:
                        self._aliases[binding.original].add(binding.local)
        return sorted(self._aliases.get(name, ()))


class _Scope(NamedTuple):
    """A use, and the definitions of its name in languages that it can be of."""

    use: NameUse
    name: str
    language: str  # the family
    symbols: _Symbols

    @property
    def path(self) -> str:
        return self.use.path

    def original(self, source: _Source) -> str:
        """Return the name that the use has in the documents of a source."""
        return self.name if source.original in (EVERY, "default") else source.original

    def is_plain(self, item: FoundSymbol) -> bool:
        """Return True if a definition can be meant by its name alone in some file."""
        if self.language == "rust" and item.symbol.kind == "type" and _owner(item):
            return False  # a type of a trait or of what implements it
        return self.language in _OWN_MEMBERS or item.symbol.kind != "method"

    def is_outer(self, item: FoundSymbol) -> bool:
        """Return True if a definition can be imported by its name."""
        bound = self.language in _PLAIN_NAMES_ARE_BOUND or self.language in _FUNCTIONS_ARE_NO_MEMBERS
        return item.symbol.kind != "method" or not bound

    def in_file(self, stem: str, documents: Iterable[str]) -> _Symbols:
        """Return the definitions in a file of this name that is one of some documents, or beside or below one."""
        folders = tuple(path.rpartition("/")[0] for path in documents)
        named = (item for item in self.symbols if self.is_outer(item) and _stem(item.path) == stem)
        return tuple(item for item in named if any(_is_below(item.path, folder) for folder in folders))

    def visible(self) -> _Symbols:
        """Return the definitions of the same file that the use can see without naming what they belong to."""
        inside = f"{self.use.reference.container}."
        return self._innermost(lambda owner, kind: _sees(inside, owner, kind, self.language))

    def own_members(self) -> _Symbols:
        """Return the members of the class around the use."""
        inside = f"{self.use.reference.container}."
        return self._innermost(lambda owner, kind: bool(owner) and inside.startswith(f"{owner}."))

    def _innermost(self, is_near: Callable[[str, str], bool]) -> _Symbols:
        near = [item for item in self.symbols if item.path == self.path and is_near(_owner(item), item.symbol.kind)]
        longest = max((len(_owner(item)) for item in near), default=0)
        return tuple(item for item in near if len(_owner(item)) == longest)

    def members(self) -> UseTargets:
        """Return all that can be called on a value that is not known."""
        if self.language == "rust" and self.use.reference.kind == "type":
            return UseTargets()  # `S::Error` of a parameter: whatever fills it has the type
        alone = self.language in _FUNCTIONS_ALONE
        members = (item for item in self.symbols if not alone or _owner(item))
        if self.language in _FUNCTIONS_ARE_NO_MEMBERS:
            members = (item for item in members if item.symbol.kind != "function")
        return UseTargets(tuple(members), "by-name")


def _is_module(name: str, documents: Iterable[str]) -> bool:
    """Return True if an import such as `a.b` in Python means the file a/b, and no definition in a."""
    body = "/" + name.strip(".").replace(".", "/")
    return any(f"/{path}".removesuffix(".py").removesuffix("/__init__").endswith(body) for path in documents)


def _sees(inside: str, owner: str, kind: str, language: str) -> bool:
    if not owner:
        return True
    if kind == "method" and language not in _OWN_MEMBERS:
        return inside == f"{owner}."
    return inside.startswith(f"{owner}.")


def _stem(path: str) -> str:
    """Return the name of a file without its ending; of its folder where it stands for that."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in BARRELS and folder else stem


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _owner(item: FoundSymbol) -> str:
    return item.symbol.qualified_name.rpartition(".")[0]


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _package(path: str) -> str:
    """Return the folder of a file, from the root of its sources on where the tools of Java lay them."""
    return _SOURCE_ROOT.sub("", path.rpartition("/")[0])
