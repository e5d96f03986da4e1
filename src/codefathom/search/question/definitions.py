"""The head of a name: a type before its constructors, its namespace and its fields."""

from __future__ import annotations

from codefathom.stores.catalog.readers import Symbols
from codefathom.stores.catalog.records import DefinitionPlace

# A name that so many places define says next to nothing; more of them are not read.
_MOST = 200
# The lower one is what a person means by the name. A heading defines nothing, and so a section is not among them.
_ORDER: dict[str, int] = {
    "class": 0,
    "interface": 0,
    "struct": 0,
    "enum": 0,
    "trait": 0,
    "type": 1,
    "component": 1,
    "module": 2,
    "function": 3,
    "method": 3,
    "macro": 3,
    "constant": 3,
    "variable": 3,
}


def heads_of(name: str, catalog: Symbols) -> list[DefinitionPlace]:
    """Return the places that define a name as a person means it: those in its very case, where there are some, and of
    these the types, then modules, then all others."""
    places = [(_order(one, name), one) for one in catalog.definitions(name, limit=_MOST) if one.kind in _ORDER]
    first = min((order for order, _ in places), default=(False, 0))
    return [one for order, one in places if order == first]


def _order(one: DefinitionPlace, name: str) -> tuple[bool, int]:
    return one.name != name, _ORDER[one.kind]
