"""The value on which a member is used → which definitions it can mean, where the file declares a type for the value.

What a definition belongs to is compared with the type: it must be the type, one above it or one below it, as far as the
signatures of types tell. Where nothing is declared, or nothing fits, all definitions stay.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import NamedTuple

from codefathom.search.graph.name_bindings import bindings_of
from codefathom.search.graph.read_sets import ABOVE, OWNERS, TYPE
from codefathom.search.graph.receiver_types import DeclaredType
from codefathom.search.graph.reference_graph import (
    NO_DEFINITIONS,
    Definitions,
    NameUse,
    ReferenceGraph,
    joined,
    outward,
    owner_name,
)
from codefathom.search.graph.value_types import TextQuestion
from codefathom.types import TYPE_KINDS, Symbol

_SELF = frozenset({"self", "this", "cls", "Self", "static", "$this"})
# The word for the type above; `super` is a module in Rust, and in the others perhaps a variable.
_SUPER = dict.fromkeys(("java", "kotlin", "scala", "javascript", "jsx", "typescript", "tsx", "swift"), "super")
_SUPER |= {"csharp": "base", "php": "parent"}
# Nobody outside of a type adds members to it: on a value of another project's type, nothing of ours is used.
_CLOSED_TYPES = frozenset({"python", "java", "go", "typescript", "tsx", "javascript", "jsx"})
# A value fits an interface without naming it.
_FITS_BY_FORM = frozenset({"go", "typescript", "tsx", "vue", "svelte", "rust", "swift", "python"})
_PARAMETER = re.compile(r"T[A-Z]\w*|\w*[a-z]T|[A-Z]\d?")  # as parameters of types are called


class _Receiver(NamedTuple):
    """The types that a value can have, at least one."""

    types: frozenset[str]
    is_made: bool  # it is of one of these very types


class Receivers:
    """The types of values, from the texts of the files that use them; what is read of a file is kept for a while."""

    def __init__(self, graph: ReferenceGraph) -> None:
        self._graph = graph
        # Of many uses each asks the same about the same.
        remembered = graph.reads.remembered
        self._above = remembered(self._read_above)
        self._fitting = remembered(self._fit)
        self._is_foreign = remembered(self._find_foreign)
        self._is_near = remembered(self._find_near)
        self._imports_as = cache(self._read_imports)

    def read_ahead(self, uses: Iterable[NameUse]) -> None:
        """Read what `possible` asks the texts of many files for, together."""
        self._graph.value_types.read(item for use in uses if (item := self._question(use)) is not None)

    def _question(self, use: NameUse) -> TextQuestion | None:
        """Return the question about a use that only the text of its file answers."""
        if use.reference.qualifier == "?":
            is_asked = self._language(use) == "python"
            return TextQuestion(use.path, use.reference.name, use.reference.line) if is_asked else None
        value = "" if self._is_super(use) else _value(use)
        return TextQuestion(use.path, value) if value else None

    def read_types_around(self, uses: Iterable[NameUse]) -> None:
        """Read the types above those that may stand around many uses, together."""
        self._graph.type_words.read_above({name for use in uses if not _value(use) for name in _names_around(use)})

    def read_types_of(self, uses: Iterable[NameUse]) -> None:
        """Read the types above those of the values of many uses, together."""
        self._graph.type_words.read_above({name for use in uses for name in self._types_of(use)})

    def may_choose(self, use: NameUse, owners: AbstractSet[str]) -> bool:
        """Return False if it is seen, without the text of its file, that `possible` chooses no member of some types.

        It leaves all members then, or those of other types.
        """
        qualifier = use.reference.qualifier
        if qualifier == _SUPER.get(self._language(use), "?" if self._language(use) == "python" else ""):
            above = self._types_above
            return any(not above(name).isdisjoint(owners) for name in _names_around(use))
        if _is_of_own(qualifier):
            return self._are_near(_names_around(use), owners)
        return _value(use) != ""

    def may_choose_by_value(self, use: NameUse, owners: AbstractSet[str]) -> bool:
        """Return False if the types of a value, which its file declares, have nothing to do with some types."""
        return not _value(use) or self._are_near(self._types_of(use), owners)

    def _are_near(self, names: Iterable[str], owners: AbstractSet[str]) -> bool:
        """Return True if one of some types is one of others, stands above one of these, or below one."""
        return any(self._is_near(name, frozenset(owners)) for name in names)

    def _find_near(self, name: str, owners: frozenset[str]) -> bool:
        above = self._types_above
        is_upper = name in owners or any(name in above(owner) for owner in owners)
        return is_upper or not above(name).isdisjoint(owners)

    def _types_of(self, use: NameUse) -> frozenset[str]:
        """Return the types that a file declares anywhere for a value of the name that stands before a use."""
        value = _value(use)
        declared = self._graph.value_types.declared(use.path, value) if value else ()
        return frozenset(item.name for item in declared)

    def possible(self, definitions: Definitions, use: NameUse) -> Definitions:
        """Return those definitions of a member that can be meant."""
        if not definitions:
            return NO_DEFINITIONS
        if self._is_super(use):
            around = self._types_around(use)
            is_mixin = self._language(use) == "python" and not any("(" in item.signature for item in around[:1])
            return definitions if is_mixin else definitions.of(self._types_above(_around(around)), owner_name)
        receiver = self._receiver(use)
        if receiver is None or self._is_by_form(receiver, use):
            return definitions
        fitting = self._fitting(definitions, receiver)
        if fitting:
            return fitting
        is_foreign = self._language(use) in _CLOSED_TYPES and all(
            self._is_foreign(name, use.path) for name in receiver.types
        )
        return NO_DEFINITIONS if is_foreign else definitions

    def _fit(self, definitions: Definitions, receiver: _Receiver) -> Definitions:
        """Return the members of a type of a value, of those below it, and, where it has none, of those above it."""
        own = definitions.of(receiver.types, owner_name)
        if own and receiver.is_made:
            return own
        above_of = self._above(definitions)
        below = (group for above, group in above_of if not receiver.types.isdisjoint(above))
        parts = [own, definitions.union(below)]
        if not own:
            above = frozenset[str]().union(*map(self._types_above, receiver.types))
            parts.append(definitions.of(above, owner_name))
        return joined(parts)

    def _read_above(self, definitions: Definitions) -> Sequence[tuple[frozenset[str], Definitions]]:
        """Return members by their owners: the types above one, and its members."""
        self._graph.reads.add(OWNERS, definitions)
        owners = definitions.by(owner_name)
        self._graph.type_words.read_above(map(str, owners))
        return [(self._graph.type_words.above(str(owner)), members) for owner, members in owners.items()]

    # ---- the value

    def _receiver(self, use: NameUse) -> _Receiver | None:
        """Return the types of the value that stands before a name, where the file tells."""
        if _is_of_own(use.reference.qualifier):
            name = _around(self._types_around(use))
            return _Receiver(frozenset({name}), False) if name else None
        # Most values have no type anywhere in their file: then nobody has to know what stands around the use.
        value = _value(use)
        types = self._graph.value_types.declared(use.path, value) if value else ()
        if not types:
            return None
        around = self._types_around(use)
        is_field = use.reference.qualifier.removeprefix("?.") != value
        return _declared_in(around if is_field else [*self._functions_around(use), *around], types)

    def _is_super(self, use: NameUse) -> bool:
        qualifier = use.reference.qualifier
        if qualifier != "?" or self._language(use) != "python":
            return qualifier != "" and qualifier == _SUPER.get(self._language(use))
        return self._graph.value_types.is_super(use.path, use.reference.line, use.reference.name)

    def _is_by_form(self, receiver: _Receiver, use: NameUse) -> bool:
        if receiver.is_made or self._language(use) not in _FITS_BY_FORM:
            return False
        for name in receiver.types:
            self._graph.reads.add(TYPE, name)
        return any(map(self._graph.type_words.is_abstract, receiver.types))

    def _types_above(self, name: str) -> frozenset[str]:
        """Return the names of the types above one."""
        self._graph.reads.add(ABOVE, name)
        return self._graph.type_words.above(name)

    def _find_foreign(self, name: str, path: str) -> bool:
        """Return True for a type of another project or of the language; not for an alias or a parameter of a type."""
        if _PARAMETER.fullmatch(name) or self._graph.defined(name):
            return False
        return not any(self._graph.resolve(item, path) for item in self._imports_as(path).get(name, ()))

    def _read_imports(self, path: str) -> Mapping[str, Sequence[str]]:
        """Return the imports of a file by the names that they have in it."""
        language = self._graph.resolver.language_of.get(path, "")
        names: dict[str, list[str]] = defaultdict(list)
        for item in self._graph.imports_of(path):
            for local in dict.fromkeys(bound.local for bound in bindings_of(item, language)):
                names[local].append(item.name)
        return names

    def _language(self, use: NameUse) -> str:
        return self._graph.resolver.language_of.get(use.path, "")

    # ---- what stands around a use

    def _types_around(self, use: NameUse) -> list[Symbol]:
        return [item for item in self._graph.symbols_around(use) if item.kind in TYPE_KINDS]

    def _functions_around(self, use: NameUse) -> list[Symbol]:
        return [item for item in self._graph.symbols_around(use) if item.kind not in TYPE_KINDS]


def _is_of_own(qualifier: str) -> bool:
    """Return True for the word of a value for itself."""
    return qualifier.removeprefix("?.") in _SELF


def _value(use: NameUse) -> str:
    """Return the name of the value or field before a name; "" where something else stands there."""
    parts = use.reference.qualifier.split(".")
    if parts[0] == "?":
        parts = parts[1:]
    is_field = len(parts) == 2 and parts[0] in _SELF
    return parts[-1] if is_field or (len(parts) == 1 and parts[0] not in _SELF) else ""


def _names_around(use: NameUse) -> Iterator[str]:
    """Yield all that can be the name of a symbol around a use: it may have dots itself."""
    for qualified in outward(use.reference.container):
        parts = qualified.split(".")
        yield from (".".join(parts[start:]) for start in range(len(parts)))


def _around(types: Sequence[Symbol]) -> str:
    return types[0].name if types else ""


def _line(declared: DeclaredType) -> int:
    return declared.line


def _declared_in(scopes: Iterable[Symbol], types: Sequence[DeclaredType]) -> _Receiver | None:
    """Return the types that the innermost of some scopes declares for a name, of all that the file declares for it."""
    for scope in scopes:
        first = bisect_left(types, scope.start_line, key=_line)
        own = types[first : bisect_right(types, scope.end_line, first, key=_line)]
        if own:
            return _Receiver(frozenset(item.name for item in own), all(item.is_made for item in own))
    return None
