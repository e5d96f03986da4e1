"""What the imports of a project say, each text once, with the documents that say it. Pure.

A project has hundreds of thousands of imports, and most questions are about those that contain one name. So the texts
alone are kept, and brought up to date with the documents that changed; the references of a document are read, and
compared with their checksum, where one is a part of an answer. The table is used as it lies in its file; what has
changed since is kept apart from it.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import accumulate, chain, pairwise
from types import MappingProxyType
from typing import Any

from codefathom.stores.catalog.import_forms import FormTexts, ImportForm, ImportForms

VERSION = 3  # of the packed form
_MOST_APART = 2_000  # documents, or imports, that have changed, after which all are put together again
_LENGTH = struct.Struct("<q")
_NOTHING: Mapping[ImportForm, array[int]] = MappingProxyType({})


class _Places:
    """Imports, and the numbers of the documents of each."""

    def __init__(self, forms: ImportForms, ends: array[int], documents: array[int]) -> None:
        """`ends` are the places behind the documents of each import, from 0 on."""
        self.forms, self.ends, self.documents = forms, ends, documents

    @classmethod
    def of(cls, places: Mapping[ImportForm, array[int]]) -> _Places:
        """Return the documents of some imports."""
        forms = ImportForms.of(places)
        ordered = [places[form] for form in forms]
        return cls(
            forms, array("I", accumulate(map(len, ordered), initial=0)), array("q", chain.from_iterable(ordered))
        )

    def __getitem__(self, number: int) -> array[int]:
        return self.documents[self.ends[number] : self.ends[number + 1]]


class ImportTable(Collection[ImportForm]):
    """The imports of one generation of the catalogue. It is never changed, so that threads can share it."""

    def __init__(
        self,
        generation: int,
        base: _Places,
        left_out: AbstractSet[int] = frozenset(),
        added: Mapping[ImportForm, array[int]] = _NOTHING,
    ) -> None:
        """Take the imports of an earlier generation, the documents whose imports there do not count, and others."""
        self.generation = generation
        self._base, self._left_out, self._added = base, left_out, added

    @classmethod
    def of(cls, generation: int, places: Mapping[ImportForm, array[int]]) -> ImportTable:
        """Return the table of imports and the numbers of their documents."""
        return cls(generation, _Places.of(places))

    def __len__(self) -> int:
        return sum(map(self._is_there, range(len(self._base.forms)))) + len(self._late)

    def __iter__(self) -> Iterator[ImportForm]:
        yield from self._chosen(lambda forms: range(len(forms)))

    def __contains__(self, form: object) -> bool:
        return form in self._late or self._number_of(form) is not None

    def with_word(self, word: str) -> list[ImportForm]:
        """Return the imports whose name or qualifier contains a text as it is written."""
        return self._chosen(lambda forms: forms.with_word(word))

    def with_flat_word(self, word: str) -> list[ImportForm]:
        """Return the imports whose name contains a flat text, once it is as flat."""
        return self._chosen(lambda forms: forms.with_flat_word(word))

    def beginning(self, start: str) -> list[ImportForm]:
        """Return the imports whose name begins so."""
        return self._chosen(lambda forms: forms.beginning(start))

    def documents(self, forms: Iterable[ImportForm] | None = None) -> set[int]:
        """Return the numbers of the documents that say one of these, or anything."""
        if forms is None:
            return {*self._base.documents} - self._left_out | {*chain.from_iterable(self._added.values())}
        return set(chain.from_iterable(map(self._documents_of, forms)))

    def updated(self, generation: int, changed: AbstractSet[int], rows: Iterable[tuple[Any, ...]]) -> ImportTable:
        """Return the table of a later generation: without what some documents had before, and with these rows.

        Of each row: the number of its document, and the parts of its form. No two rows are the same.
        """
        kept = ((form, _without(changed, places)) for form, places in self._added.items())
        added = {form: places for form, places in kept if places}
        late: dict[tuple[Any, ...], array[int]] = {}  # a form is slow to make for each of very many rows
        for row in rows:
            form = row[1:]
            if form not in late:
                late[form] = array("q")
            late[form].append(row[0])
        for form, places in late.items():
            written = ImportForm(*form)
            added[written] = added[written] + places if written in added else places
        table = ImportTable(generation, self._base, self._left_out | changed, added)
        is_small = self._base.forms and len(added) <= _MOST_APART and len(table._left_out) <= _MOST_APART
        return table if is_small else table.whole()

    def whole(self) -> ImportTable:
        """Return the same with nothing kept apart."""
        if not (self._left_out or self._added):
            return self
        return ImportTable.of(self.generation, {form: array("q", self._documents_of(form)) for form in self})

    def packed(self) -> list[bytes]:
        """Return the table as bytes."""
        base = self.whole()._base
        texts = base.forms.texts
        lists = [base.documents, base.ends, texts.starts, texts.middles, texts.kinds, texts.flat_starts]
        written, flat = map(_encoded, (texts.written, texts.flat))
        lengths = [*(len(one) * one.itemsize for one in lists), len(written), len(flat)]
        head = json.dumps([self.generation, texts.languages, lengths], separators=(",", ":")).encode()
        return [_LENGTH.pack(len(head)), head, *(one.tobytes() for one in lists), written, flat]

    @classmethod
    def unpacked(cls, data: memoryview) -> ImportTable:
        """Return the table of bytes that `packed` has made on a machine of this kind."""
        (length,) = _LENGTH.unpack_from(data)
        start = _LENGTH.size + length
        generation, languages, lengths = json.loads(bytes(data[_LENGTH.size : start]))
        places = list(accumulate(lengths, initial=start))
        parts = [data[begin:end] for begin, end in pairwise(places)]
        documents, *numbers = (array(code, bytes(part)) for code, part in zip("qIIIII", parts, strict=False))
        ends, starts, middles, kinds, flat_starts = numbers
        written, flat = (str(part, "utf-8", "surrogatepass") for part in parts[-2:])
        texts = FormTexts(languages, written, starts, middles, kinds, flat, flat_starts)
        return cls(generation, _Places(ImportForms(texts), ends, documents))

    # ---- inside

    @cached_property
    def _late(self) -> ImportForms:
        """The imports that are new since the base was made."""
        return ImportForms.of(form for form in self._added if self._number_of(form) is None)

    def _chosen(self, numbers_in: Callable[[ImportForms], Iterable[int]]) -> list[ImportForm]:
        parts = ((self._base.forms, self._is_there), (self._late, lambda _: True))
        return [forms[number] for forms, is_there in parts for number in numbers_in(forms) if is_there(number)]

    def _number_of(self, form: object) -> int | None:
        number = self._base.forms.number_of(form) if isinstance(form, ImportForm) else None
        return number if number is not None and self._is_there(number) else None

    def _is_there(self, number: int) -> bool:
        return not self._left_out or not self._left_out >= {*self._base[number]}

    def _documents_of(self, form: ImportForm) -> Iterator[int]:
        number = self._base.forms.number_of(form)
        if number is not None:
            yield from (one for one in self._base[number] if one not in self._left_out)
        yield from self._added.get(form, ())


NO_IMPORTS = ImportTable.of(-1, _NOTHING)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _without(documents: AbstractSet[int], places: array[int]) -> array[int]:
    if documents.isdisjoint(places):
        return places
    return array("q", (number for number in places if number not in documents))
