"""What the imports of a project say, each text once, with the documents that say it. Pure.

A project has hundreds of thousands of imports, and most questions are about those that contain one name. So the texts
alone are kept, and brought up to date with the documents that changed; the references of a document are read, and
compared with their checksum, where one is a part of an answer.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any, NamedTuple

VERSION = 2  # of the packed form
_LENGTH = struct.Struct("<q")


class ImportForm(NamedTuple):
    """An import as it is written, and the language of its document."""

    name: str
    qualifier: str
    language: str


class ImportTable:
    """The imports of one generation of the catalogue. It is never changed, so that threads can share it."""

    def __init__(
        self,
        generation: int = -1,
        places: Mapping[ImportForm, array[int]] = MappingProxyType({}),
    ) -> None:
        """Take by form the numbers of the documents."""
        self.generation = generation
        self.places = places

    @property
    def forms(self) -> Collection[ImportForm]:
        """All that imports say, each once."""
        return self.places.keys()

    def documents(self, forms: Iterable[ImportForm] | None = None) -> set[int]:
        """Return the numbers of the documents that say one of these, or anything."""
        choice = self.places.values() if forms is None else (self.places.get(form, ()) for form in forms)
        return set().union(*choice)

    def updated(self, generation: int, changed: AbstractSet[int], rows: Iterable[tuple[Any, ...]]) -> ImportTable:
        """Return the table of a later generation: without what some documents had before, and with these rows.

        Of each row: the number of its document, and the parts of its form. No two rows are the same.
        """
        kept = ((form, _without(changed, places)) for form, places in self.places.items())
        result = {form: places for form, places in kept if places}
        added: dict[tuple[Any, ...], array[int]] = {}  # a form is slow to make for each of very many rows
        for row in rows:
            form = row[1:]
            if form not in added:
                added[form] = array("q")
            added[form].append(row[0])
        for form, places in added.items():
            written = ImportForm(*form)
            result[written] = result[written] + places if written in result else places
        return ImportTable(generation, result)


def packed(table: ImportTable) -> list[bytes]:
    """Return the table as bytes."""
    forms = [[*form, len(places)] for form, places in table.places.items()]
    head = json.dumps([table.generation, forms], separators=(",", ":")).encode()
    return [_LENGTH.pack(len(head)), head, *(places.tobytes() for places in table.places.values())]


def unpacked(data: memoryview) -> ImportTable:
    """Return the table of bytes that `packed` has made on a machine of this kind."""
    (length,) = _LENGTH.unpack_from(data)
    generation, forms = json.loads(bytes(data[_LENGTH.size : _LENGTH.size + length]))
    numbers = array("q", bytes(data[_LENGTH.size + length :]))
    places, start = {}, 0
    for name, qualifier, language, n in forms:
        places[ImportForm(name, qualifier, language)] = numbers[start : start + n]
        start += n
    return ImportTable(generation, places)


def _without(documents: AbstractSet[int], places: array[int]) -> array[int]:
    if documents.isdisjoint(places):
        return places
    return array("q", (number for number in places if number not in documents))
