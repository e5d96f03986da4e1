"""The names that a project gives to what it imports, where they differ from those of the definitions. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from codefathom.search.graph.exports import DEFAULT
from codefathom.search.graph.import_texts import ImportTexts
from codefathom.search.graph.name_bindings import EVERY, BoundName, bindings_of
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.types import Reference

_MOST_NAMES = 10_000  # that are kept


class RenamedImports:
    """The names of one generation of the catalogue. Of what imports say, only what a question asks for is looked at."""

    def __init__(self, texts: ImportTexts) -> None:
        self._texts = texts
        self.names_of = lru_cache(_MOST_NAMES)(self._find_names)

    def _find_names(self, original: str) -> AbstractSet[str]:
        """Return the other names of a definition by its name."""
        # The name stands in the text, but where one is put together of parts.
        forms = (*self._texts.with_word(original), *self._texts.put_together)
        bound = (one for form in forms for one in renamed(form))
        return {one.local for one in bound if one.original == original != DEFAULT}


def renamed(form: ImportForm) -> Sequence[BoundName]:
    """Return the names that an import gives to what has another one; also to what is exported by default."""
    if not (form.qualifier or " as " in form.name or "=>" in form.name):
        return ()
    bindings = bindings_of(Reference("import", form.name, 1, qualifier=form.qualifier), form.language)
    return tuple(one for one in bindings if one.original == DEFAULT or (EVERY not in one and one.local != one.original))
