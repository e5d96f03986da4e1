"""The languages of all documents by their paths, in a form that is read in a fraction of the time of a query. Pure.

Beside them it says in which languages uses were seen: to learn that of a language without any, all its documents are
read.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

VERSION = 1  # of the packed form
_LENGTH = struct.Struct("<q")


class LanguageTable(NamedTuple):
    """The languages of one generation of the catalogue. They are never changed, so that threads can share them."""

    generation: int
    languages: Mapping[str, str]  # by path, ordered by path
    has_uses: Mapping[str, bool] = MappingProxyType({})  # by language, as far as it is known

    def later(self, generation: int, n_paths: int, written: Mapping[str, str]) -> LanguageTable | None:
        """Return the table of a later generation, in which documents were written, here with their languages.

        So many paths are in it. None where paths are gone, which only a whole table shows.
        """
        languages = {**self.languages, **written}
        if len(languages) != n_paths:
            return None
        if len(languages) > len(self.languages):
            languages = dict(sorted(languages.items()))
        return self._followed(generation, languages, written)

    def replaced(self, generation: int, languages: Mapping[str, str], written: Collection[str]) -> LanguageTable:
        """Return the table of a later generation with these languages, in which these documents were written."""
        gone = self.languages.keys() - languages.keys()
        return self._followed(generation, languages, {*written, *gone})

    def _followed(self, generation: int, languages: Mapping[str, str], changed: Iterable[str]) -> LanguageTable:
        touched = {own.get(path, "") for path in changed for own in (languages, self.languages)}
        has_uses = {language: has_some for language, has_some in self.has_uses.items() if language not in touched}
        return LanguageTable(generation, languages, has_uses)

    def packed(self) -> list[bytes]:
        """Return the table as bytes; nothing where a path has a NUL."""
        names = sorted(set(self.languages.values()))
        number = {name: place for place, name in enumerate(names)}
        paths = "\0".join(self.languages)
        if not self.languages or paths.count("\0") != len(self.languages) - 1:
            return []
        kinds = array("H", map(number.__getitem__, self.languages.values()))
        head = json.dumps([self.generation, dict(self.has_uses), names, len(kinds)], separators=(",", ":")).encode()
        return [_LENGTH.pack(len(head)), head, kinds.tobytes(), paths.encode("utf-8", "surrogatepass")]

    @classmethod
    def unpacked(cls, content: memoryview) -> LanguageTable:
        """Return the table that `packed` has made on a machine of this kind."""
        (length,) = _LENGTH.unpack_from(content)
        start = _LENGTH.size + length
        generation, has_uses, names, n = json.loads(bytes(content[_LENGTH.size : start]))
        end = start + 2 * n
        kinds = array("H", bytes(content[start:end]))
        paths = str(content[end:], "utf-8", "surrogatepass").split("\0")
        return cls(generation, dict(zip(paths, map(names.__getitem__, kinds), strict=True)), has_uses)
