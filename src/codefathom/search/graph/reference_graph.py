"""The references of a project as a graph: which documents an import means, who uses a name, who defines it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from codefathom.search.graph.imports import written_out
from codefathom.search.graph.resolve import Resolver, family
from codefathom.source.languages import CODE
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.types import FoundSymbol, Reference, Symbol

# A name that more files define does not tell which file a use belongs to.
MAX_DEFINING_FILES = 3
# In these languages an import names a definition, whose file may be called anything.
NAMED_IMPORTS = frozenset({"java", "kotlin", "scala", "groovy", "csharp", "php", "elixir"})
# Packages of the standard libraries are not in the project, though one of their names may be.
_STANDARD = frozenset({"java", "javax", "kotlin", "kotlinx", "scala", "android", "system"})


class NameUse(NamedTuple):
    """A reference and its document."""

    path: str
    reference: Reference


class ReferenceGraph:
    """The catalogue, with the lookups that are needed more than once."""

    def __init__(self, catalog: SearchCatalog) -> None:
        self.catalog = catalog
        self._references: dict[str, Sequence[Reference]] = {}  # of the documents with uses
        self._symbols: dict[str, Sequence[Symbol]] = {}
        self._defined: dict[str, Sequence[FoundSymbol]] = {}
        documents = [(item.path, item.language) for item in catalog.documents()]
        self.resolver = Resolver(documents, _go_modules(catalog, [path for path, _ in documents]))

    def imports_of(self, path: str) -> Iterator[Reference]:
        """Yield the imports of one document."""
        return (item for item in self.catalog.references_of(path) if item.kind == "import")

    def imports(self) -> Iterator[NameUse]:
        """Yield every import of the project."""
        return (NameUse(*item) for item in self.catalog.imports())

    def uses(self, name: str) -> Iterator[NameUse]:
        """Yield the calls and type uses of a name."""
        return (NameUse(*item) for item in self.catalog.references(name))

    def defined(self, name: str) -> Sequence[FoundSymbol]:
        """Return the definitions of exactly this name."""
        if name not in self._defined:
            self._defined[name] = [item for item in self.catalog.symbols_named(name) if item.symbol.name == name]
        return self._defined[name]

    def symbols_of(self, path: str) -> Sequence[Symbol]:
        """Return the symbols of one document; each is read once."""
        if path not in self._symbols:
            self._symbols[path] = self.catalog.symbols_of(path)
        return self._symbols[path]

    def resolve(self, name: str, path: str) -> tuple[str, ...]:
        """Return the documents an import means: by its path, else as the one place where that name is defined."""
        documents = self.resolver.resolve(name, path)
        if documents or "/" in name or self.resolver.language_of.get(path) not in NAMED_IMPORTS:
            return documents
        return tuple(sorted({place for one in written_out(name) for place in self._defining(one, path)} - {path}))

    def _defining(self, name: str, path: str) -> set[str]:
        """Return the few files that define a name in a folder called like one of its last packages."""
        dotted = "." + dotted_name(name.rpartition(" ")[2])
        last = dotted.rpartition(".")[2]
        if dotted.count(".") < 2 or dotted.split(".")[1].lower() in _STANDARD:
            return set()
        paths: set[str] = set()
        for item in self.defined(last):
            qualified = "." + dotted_name(item.symbol.qualified_name)
            packages = dotted[: -len(qualified)].lower().split(".")[1:][-2:]
            folders = item.path.lower().split("/")[:-1]
            here = not packages or any(package in folders for package in packages)
            if dotted.endswith(qualified) and here and self.are_family(item.path, path):
                paths.add(item.path)
        return paths if len(paths) <= MAX_DEFINING_FILES else set()

    def references_of(self, path: str) -> Sequence[Reference]:
        """Return the imports and uses in one document; each is read once."""
        if path not in self._references:
            self._references[path] = self.catalog.references_of(path)
        return self._references[path]

    def unseen_languages(self) -> list[str]:
        """Return the languages of code in the project of which no use was seen in any file."""
        return sorted(CODE.intersection(self.resolver.language_of.values()) - self.catalog.languages_with_uses())

    def are_family(self, one: str, other: str) -> bool:
        """Return True if the languages of two documents import and call one another."""
        languages = self.resolver.language_of
        return family(languages.get(one, "")) == family(languages.get(other, ""))


def _go_modules(catalog: SearchCatalog, paths: Iterable[str]) -> dict[str, str]:
    """Return the folder of each Go module by its name, as the go.mod files say."""
    modules: dict[str, str] = {}
    for path in paths:
        if path == "go.mod" or path.endswith("/go.mod"):
            match = re.search(r"^module\s+\"?([^\s\"]+)", catalog.lines(path, 1, 100), re.MULTILINE)
            if match:
                modules[match[1]] = path.rpartition("/")[0]
    return modules


def dotted_name(name: str) -> str:
    """Return a qualified name of any language with dots between its parts."""
    return re.sub(r"::|#|->|\\", ".", name.removesuffix("()")).strip(".")
