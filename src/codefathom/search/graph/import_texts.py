"""The imports of a project that contain a word, lead to some documents or belong to packages, without a look at each.

They are looked up once a generation of the catalogue. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from codefathom.facts.paths import may_go_unnamed
from codefathom.search.graph.imports import written_out
from codefathom.search.graph.resolve import Resolver
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.stores.catalog.import_table import ImportTable
from codefathom.text.file_stems import flattened

_IN_PIECES = re.compile(r"[^\s.:\\,{}]\s*\{")


class ImportTexts:
    """All that the imports of one generation say."""

    def __init__(self, forms: ImportTable, resolver: Resolver) -> None:
        self._forms = forms
        self._resolver = resolver
        self.with_word = forms.with_word

    def leading_to(self, paths: Iterable[str], names: AbstractSet[str]) -> Collection[ImportForm]:
        """Return the imports that could mean one of some documents, as `Resolver.may_mean` has it, or one of some
        definitions."""
        forms = {form for name in names for form in self._by_last_part.get(name, ())}
        for path in paths:
            folder, _, file_name = path.rpartition("/")
            stem = file_name.partition(".")[0]
            if not can_tell(path):
                return self._forms
            words = {flattened(stem), *((flattened(folder.rpartition("/")[2]),) if folder else ())}
            forms.update(self._of_packages, *map(self._forms.with_flat_word, words))
        return forms

    @cached_property
    def put_together(self) -> Sequence[ImportForm]:
        """The imports with a name that does not stand there in one piece: `a{b}` is `ab`."""
        return [form for form in self.with_word("{") if _IN_PIECES.search(form.name)]

    @cached_property
    def _of_packages(self) -> Sequence[ImportForm]:
        beginning = {form for start in self._resolver.package_names for form in self._forms.beginning(start)}
        return [form for form in beginning if self._resolver.is_of_package(form.name)]

    @cached_property
    def _by_last_part(self) -> Mapping[str, Sequence[ImportForm]]:
        forms: dict[str, list[ImportForm]] = defaultdict(list)
        for form in self._forms:
            for name in last_parts(form.name):
                forms[name].append(form)
        return forms


def last_parts(name: str) -> AbstractSet[str]:
    """Return the names of definitions that an import of this name can mean."""
    return {re.split(r"[.\\]|::", one)[-1] for one in written_out(name)}


def can_tell(path: str) -> bool:
    """Return True if what an import says can tell that it means a document."""
    return not may_go_unnamed(path) and bool(path.rpartition("/")[2].partition(".")[0])
