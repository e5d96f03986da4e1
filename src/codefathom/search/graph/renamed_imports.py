"""The names that a project gives to what it imports, where they differ from those of the definitions. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from codefathom.search.graph.exports import DEFAULT
from codefathom.search.graph.name_bindings import EVERY, BoundName, bindings_of
from codefathom.stores.catalog.import_table import ImportForm
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.types import Reference


class RenamedImports(NamedTuple):
    """The names of one generation of the catalogue."""

    bound: Mapping[ImportForm, Sequence[BoundName]]  # by what an import says; also what is exported by default
    names: Mapping[str, AbstractSet[str]]  # other names, by the one of the definition


def renamed_imports(catalog: SearchCatalog, before: RenamedImports | None) -> RenamedImports:
    """Return the names; of an import that says the same as one before, these are known."""
    earlier = before.bound if before else {}
    bound = {form: earlier[form] if form in earlier else _renamed(form) for form in catalog.import_forms()}
    names: dict[str, set[str]] = defaultdict(set)
    for bindings in bound.values():
        for original, local in ((one.original, one.local) for one in bindings if one.original != DEFAULT):
            names[original].add(local)
    return RenamedImports(bound, dict(names))


def _renamed(form: ImportForm) -> tuple[BoundName, ...]:
    if not (form.qualifier or " as " in form.name or "=>" in form.name):
        return ()
    bindings = bindings_of(Reference("import", form.name, 1, qualifier=form.qualifier), form.language)
    return tuple(one for one in bindings if one.original == DEFAULT or (EVERY not in one and one.local != one.original))
