"""The value on which a member is used → which definitions it can mean, where the file declares a type for the value.

What a definition belongs to is compared with the type: it must be the type, one above it or one below it, as far as the
signatures of types tell. Where nothing is declared, or nothing fits, all definitions stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from codefathom.search.graph.name_bindings import bindings_of
from codefathom.search.graph.receiver_types import DeclaredType, declared_types
from codefathom.search.graph.reference_graph import NameUse, ReferenceGraph
from codefathom.types import TYPE_KINDS, FoundSymbol, Symbol

_SELF = frozenset({"self", "this", "cls", "Self", "static", "$this"})
# The word for the type above; `super` is a module in Rust, and in the others perhaps a variable.
_SUPER = dict.fromkeys(("java", "kotlin", "scala", "javascript", "jsx", "typescript", "tsx", "swift"), "super")
_SUPER |= {"csharp": "base", "php": "parent"}
# Nobody outside of a type adds members to it: on a value of another project's type, nothing of ours is used.
_CLOSED_TYPES = frozenset({"python", "java", "go", "typescript", "tsx", "javascript", "jsx"})
# A value fits an interface without naming it.
_FITS_BY_FORM = frozenset({"go", "typescript", "tsx", "vue", "svelte", "rust", "swift", "python"})
_ABSTRACT = frozenset({"interface", "trait", "type"})
_PARAMETER = re.compile(r"T[A-Z]\w*|\w*[a-z]T|[A-Z]\d?")  # as parameters of types are called
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST_STEPS = 6  # between a type and one above it
_MOST_KEPT_FILES = 300


class _Receiver(NamedTuple):
    """The types that a value can have, at least one."""

    types: frozenset[str]
    is_made: bool  # it is of one of these very types


class Receivers:
    """The types of values, from the texts of the files that use them; what is read of a file is kept for a while."""

    def __init__(self, graph: ReferenceGraph) -> None:
        self._graph = graph
        self._declared = lru_cache(_MOST_KEPT_FILES)(self._read)
        self._above: dict[str, frozenset[str]] = {}

    def possible(self, definitions: Sequence[FoundSymbol], use: NameUse) -> tuple[FoundSymbol, ...]:
        """Return those definitions of a member that can be meant."""
        if not definitions:
            return ()
        if self._is_super(use):
            around = self._types_around(use)
            types = self._types_above(_around(around))
            is_mixin = self._language(use) == "python" and not any("(" in item.signature for item in around[:1])
            return tuple(item for item in definitions if is_mixin or _owner(item) in types)
        receiver = self._receiver(use)
        if receiver is None or self._is_by_form(receiver, use):
            return tuple(definitions)
        own = [item for item in definitions if _owner(item) in receiver.types]
        if own and receiver.is_made:
            return tuple(own)
        below = [item for item in definitions if receiver.types & self._types_above(_owner(item))]
        above = [] if own else [item for item in definitions if self._is_above(_owner(item), receiver)]
        if own or below or above:
            return tuple(dict.fromkeys((*own, *below, *above)))
        is_foreign = self._language(use) in _CLOSED_TYPES and all(
            self._is_foreign(name, use) for name in receiver.types
        )
        return () if is_foreign else tuple(definitions)

    # ---- the value

    def _receiver(self, use: NameUse) -> _Receiver | None:
        """Return the types of the value that stands before a name, where the file tells."""
        parts = use.reference.qualifier.split(".")
        if parts[0] == "?":
            parts = parts[1:]
        around = self._types_around(use)
        if len(parts) == 1 and parts[0] in _SELF:
            name = _around(around)
            return _Receiver(frozenset({name}), False) if name else None
        is_field = len(parts) == 2 and parts[0] in _SELF
        if len(parts) != 1 and not is_field:
            return None
        scopes = around if is_field else [*self._functions_around(use), *around]
        return self._declared_in(scopes, parts[-1], use.path)

    def _declared_in(self, scopes: Iterable[Symbol], name: str, path: str) -> _Receiver | None:
        """Return the types that the innermost of some scopes declares for a name."""
        types = self._declared(path).get(name, ())
        for scope in scopes if types else ():
            own = [item for item in types if scope.start_line <= item.line <= scope.end_line]
            if own:
                return _Receiver(frozenset(item.name for item in own), all(item.is_made for item in own))
        return None

    def _read(self, path: str) -> Mapping[str, Sequence[DeclaredType]]:
        return declared_types(self._graph.catalog.text(path), self._graph.resolver.language_of.get(path, ""))

    def _is_super(self, use: NameUse) -> bool:
        qualifier = use.reference.qualifier
        if qualifier != "?" or self._language(use) != "python":
            return qualifier != "" and qualifier == _SUPER.get(self._language(use))
        line = self._graph.catalog.lines(use.path, use.reference.line, use.reference.line)
        return re.search(rf"\bsuper\([^()]*\)\.{re.escape(use.reference.name)}\b", line) is not None

    def _is_by_form(self, receiver: _Receiver, use: NameUse) -> bool:
        if receiver.is_made or self._language(use) not in _FITS_BY_FORM:
            return False
        types = [item for name in receiver.types for item in self._types_named(name)]
        return any(item.symbol.kind in _ABSTRACT or "Protocol" in item.symbol.signature for item in types)

    def _is_foreign(self, name: str, use: NameUse) -> bool:
        """Return True for a type of another project or of the language; not for an alias or a parameter of a type."""
        if _PARAMETER.fullmatch(name) or self._graph.defined(name):
            return False
        language = self._language(use)
        imports = (item for item in self._graph.references_of(use.path) if item.kind == "import")
        names = (item.name for item in imports if any(bound.local == name for bound in bindings_of(item, language)))
        return not any(self._graph.resolve(item, use.path) for item in names)

    def _language(self, use: NameUse) -> str:
        return self._graph.resolver.language_of.get(use.path, "")

    # ---- what stands around a use

    def _types_around(self, use: NameUse) -> list[Symbol]:
        return [item for item in self._symbols_around(use) if item.kind in TYPE_KINDS]

    def _functions_around(self, use: NameUse) -> list[Symbol]:
        return [item for item in self._symbols_around(use) if item.kind not in TYPE_KINDS]

    def _symbols_around(self, use: NameUse) -> Iterator[Symbol]:
        """Yield the symbols in which a use stands, the innermost first; several can share a name."""
        inside = f"{use.reference.container}."
        symbols = [item for item in self._graph.symbols_of(use.path) if inside.startswith(f"{item.qualified_name}.")]
        yield from sorted(symbols, key=lambda item: -len(item.qualified_name))

    # ---- types above one another

    def _types_named(self, name: str) -> list[FoundSymbol]:
        return [item for item in self._graph.defined(name) if item.symbol.kind in TYPE_KINDS]

    def _types_above(self, name: str) -> frozenset[str]:
        """Return the names that the signature of a type mentions, those that these mention, and so on."""
        if name not in self._above:
            names: set[str] = set()
            front = {name} - {""}
            for _ in range(_MOST_STEPS):
                types = [item for one in front for item in self._types_named(one)]
                mentioned = {word for item in types for word in _WORD.findall(item.symbol.signature)}
                front = mentioned - names - {name}
                names |= front
            self._above[name] = frozenset(names)
        return self._above[name]

    def _is_above(self, owner: str, receiver: _Receiver) -> bool:
        return any(owner in self._types_above(name) for name in receiver.types)


def _around(types: Sequence[Symbol]) -> str:
    return types[0].name if types else ""


def _owner(item: FoundSymbol) -> str:
    """Return the name of what a definition belongs to, "" for nothing."""
    return item.symbol.qualified_name.rpartition(".")[0].rpartition(".")[2]
