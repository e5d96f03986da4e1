"""The texts of all imports of a project, arranged so that those which contain a word are found without a look at each.

They are made once a generation of the catalogue. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from codefathom.facts.paths import may_go_unnamed
from codefathom.search.graph.imports import written_out
from codefathom.search.graph.resolve import Resolver, plain
from codefathom.stores.catalog.import_table import ImportForm

_IN_PIECES = re.compile(r"[^\s.:\\,{}]\s*\{")
_BETWEEN = "\0"  # no name has it


class ImportTexts:
    """All that the imports of one generation say."""

    def __init__(self, forms: Collection[ImportForm], resolver: Resolver) -> None:
        self._forms = tuple(forms)
        self._resolver = resolver

    def with_word(self, word: str) -> list[ImportForm]:
        """Return the imports whose name or qualifier contains a text as it is written."""
        return self._written.with_word(word)

    def leading_to(self, paths: Iterable[str], names: AbstractSet[str]) -> Collection[ImportForm]:
        """Return the imports that could mean one of some documents, as `Resolver.may_mean` has it, or one of some
        definitions."""
        forms = {form for name in names for form in self._by_last_part.get(name, ())}
        for path in paths:
            folder, _, file_name = path.rpartition("/")
            stem = file_name.partition(".")[0]
            if not can_tell(path):
                return self._forms
            words = {plain(stem), *((plain(folder.rpartition("/")[2]),) if folder else ())}
            forms.update(self._of_packages, *map(self._plain.with_word, words))
        return forms

    @cached_property
    def put_together(self) -> Sequence[ImportForm]:
        """The imports with a name that does not stand there in one piece: `a{b}` is `ab`."""
        return [form for form in self.with_word("{") if _IN_PIECES.search(form.name)]

    @cached_property
    def _written(self) -> _Texts:
        return _Texts(self._forms, (f"{form.name}{_BETWEEN}{form.qualifier}" for form in self._forms))

    @cached_property
    def _plain(self) -> _Texts:
        return _Texts(self._forms, (plain(form.name) for form in self._forms))

    @cached_property
    def _of_packages(self) -> Sequence[ImportForm]:
        return [form for form in self._forms if self._resolver.is_of_package(form.name)]

    @cached_property
    def _by_last_part(self) -> Mapping[str, Sequence[ImportForm]]:
        forms: dict[str, list[ImportForm]] = defaultdict(list)
        for form in self._forms:
            for name in {re.split(r"[.\\]|::", one)[-1] for one in written_out(form.name)}:
                forms[name].append(form)
        return forms


def can_tell(path: str) -> bool:
    """Return True if what an import says can tell that it means a document."""
    return not may_go_unnamed(path) and bool(path.rpartition("/")[2].partition(".")[0])


class _Texts:
    """Texts one behind the other, each with the import that it belongs to."""

    def __init__(self, forms: Sequence[ImportForm], texts: Iterable[str]) -> None:
        self._forms = forms
        self._starts: list[int] = []
        parts: list[str] = []
        length = 0
        for text in texts:
            self._starts.append(length)
            parts.append(text)
            length += len(text) + len(_BETWEEN)
        self._text = _BETWEEN.join(parts)

    def with_word(self, word: str) -> list[ImportForm]:
        """Return the imports whose text contains a word."""
        return [self._forms[number] for number in self._numbers(word)] if word else list(self._forms)

    def _numbers(self, word: str) -> Iterator[int]:
        """Yield the number of each text that contains a word."""
        place = self._text.find(word)
        while place >= 0:
            number = bisect_right(self._starts, place) - 1
            yield number
            following = number + 1
            place = self._text.find(word, self._starts[following]) if following < len(self._starts) else -1
