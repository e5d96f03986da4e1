"""What the texts of files tell of values: the types that a file declares for them, and calls on what is above a type.

Texts are read for many uses at a time. What was read is kept, also beside the catalogue: it depends on the text of one
file alone, so that a change makes only the changed files be read again.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

from codefathom.search.graph.receiver_types import DeclaredType, declared_types
from codefathom.stores.catalog.readers import SearchCatalog

if TYPE_CHECKING:
    from codefathom.stores.kept_file import Kept

_ENOUGH = 2_000  # answers that were read since the file was written; fewer are read again as fast
_MOST = 300_000  # answers that are kept, some 50 MB
_MOST_WRITTEN = 1_000  # documents; after more changes nothing that was known before is looked through
_MOST_TEXTS, _MOST_CHARS = 300, 100_000  # texts that are kept for further names, and of each
_MOST_BYTES = 32_000_000  # of the file; a larger one is made anew
_VERSION = 1  # of the packed form, and of the patterns of `receiver_types`


class TextQuestion(NamedTuple):
    """A question to a text: the types of a value, or whether a line calls a name on what is above a type."""

    path: str
    name: str
    line: int = 0  # 0: the types of the value that has this name


class _FileValues(NamedTuple):
    """What the text of one file has told so far."""

    types: dict[str, Sequence[DeclaredType]]  # by the name of a value
    is_super: dict[str, bool]  # by line and name


class ValueTypes:
    """The answers of the texts of one generation of a catalogue, as far as they were asked for.

    Threads can share them: each reads the same.
    """

    def __init__(self, catalog: SearchCatalog, language_of: Mapping[str, str]) -> None:
        self._catalog, self._language_of = catalog, language_of
        self._file = catalog.beside("values", _VERSION)
        self._generation = catalog.generation  # before all that is read: a later write is seen as one
        self._values_of: dict[str, _FileValues] = {}
        self._packed: dict[bytes, bytes] = {}  # of files of which nobody has asked yet, by their path
        self._texts: dict[str, str] = {}
        self._n_read = self._n_saved = 0

    @classmethod
    def of(cls, catalog: SearchCatalog, before: ValueTypes | None, language_of: Mapping[str, str]) -> ValueTypes:
        """Return what is known of a catalogue as it is now: all but what was read of changed documents."""
        values = cls(catalog, language_of)
        if before is not None:
            generation, own_values, packed = before._generation, dict(before._values_of), dict(before._packed)
        else:
            generation, own_values, packed = -1, {}, {}
            if (stored := values._file.load()) is not None and len(stored.content) <= _MOST_BYTES:
                generation, packed = _unpacked(stored)
        written = catalog.paths_since(generation) if own_values or packed else []
        if len(written) > _MOST_WRITTEN:
            return values
        changed = set(written)
        lost = {_key(path) for path in changed}
        values._values_of = {
            path: own for path, own in own_values.items() if path in language_of and path not in changed
        }
        values._packed = {key: line for key, line in packed.items() if key not in lost}
        values._n_read = before._n_read if before is not None else 0
        values._n_saved = before._n_saved if before is not None else 0
        return values

    def save(self) -> None:
        """Write what is known to the file, where that is much more than what lies there."""
        if self._n_read - self._n_saved < _ENOUGH:
            return
        self._n_saved = self._n_read
        present = set(map(_key, self._language_of))  # nobody asks of files that are gone
        lines = {key: line for key, line in list(self._packed.items()) if key in present}
        lines |= {_key(path): _line(own) for path, own in list(self._values_of.items())}
        content = b"\n".join(key + b"\t" + line for key, line in sorted(lines.items()))
        self._file.save([str(self._generation).encode(), b"\n", content])

    def declared(self, path: str, name: str) -> Sequence[DeclaredType]:
        """Return the types that a file declares for a value of a name, by line."""
        self.read([TextQuestion(path, name)])
        return self._of(path).types.get(name, ())

    def is_super(self, path: str, line: int, name: str) -> bool:
        """Return True if a line of Python calls a name on what is above the type around it."""
        self.read([TextQuestion(path, name, line)])
        return self._of(path).is_super.get(_place(line, name), False)

    def read(self, questions: Iterable[TextQuestion]) -> None:
        """Answer many questions: each text is read once, and many in one statement."""
        missing: dict[str, set[TextQuestion]] = defaultdict(set)
        for question in questions:
            if not self._has(question):
                missing[question.path].add(question)
        texts = self._texts  # another thread may replace it
        for path in [path for path in missing if path in texts]:
            self._answer(missing.pop(path), path, texts[path])
        if not missing:
            return
        if self._n_read > _MOST:
            self._values_of, self._packed, self._n_read, self._n_saved = {}, {}, 0, 0
        if len(texts) > _MOST_TEXTS:
            texts = self._texts = {}
        for document in self._catalog.texts(sorted(missing)):
            self._answer(missing[document.path], document.path, document.text)
            if len(texts) <= _MOST_TEXTS and len(document.text) <= _MOST_CHARS:
                texts[document.path] = document.text

    # ---- inside

    def _of(self, path: str) -> _FileValues:
        own = self._values_of.get(path)
        if own is None:
            packed = self._packed.pop(_key(path), None) if self._packed else None
            own = self._values_of.setdefault(path, _FileValues({}, {}) if packed is None else _from_line(packed))
        return own

    def _has(self, question: TextQuestion) -> bool:
        own = self._of(question.path)
        return _place(question.line, question.name) in own.is_super if question.line else question.name in own.types

    def _answer(self, questions: AbstractSet[TextQuestion], path: str, text: str) -> None:
        own, language = self._of(path), self._language_of.get(path, "")
        lines: Sequence[str] = ()
        for question in questions:
            if question.line:
                lines = lines or text.split("\n")
                line = lines[question.line - 1] if question.line <= len(lines) else ""
                called = (
                    re.search(rf"\bsuper\([^()]*\)\.{re.escape(question.name)}\b", line) if "super(" in line else None
                )
                own.is_super[_place(question.line, question.name)] = called is not None
            else:
                own.types[question.name] = tuple(declared_types(text, language, question.name).get(question.name, ()))
        self._n_read += len(questions)


def _place(line: int, name: str) -> str:
    return f"{line} {name}"


def _key(path: str) -> bytes:
    return json.dumps(path).encode()


def _line(own: _FileValues) -> bytes:
    empty = [name for name, types in list(own.types.items()) if not types]
    typed = {name: types for name, types in list(own.types.items()) if types}
    return json.dumps([empty, typed, own.is_super], separators=(",", ":")).encode()


def _from_line(line: bytes) -> _FileValues:
    empty, typed, is_super = json.loads(line)
    types: dict[str, Sequence[DeclaredType]] = dict.fromkeys(empty, ())
    types |= {name: tuple(DeclaredType(*item) for item in items) for name, items in typed.items()}
    return _FileValues(types, is_super)


def _unpacked(stored: Kept) -> tuple[int, dict[bytes, bytes]]:
    """Return the generation of a file, and its lines by their paths as they are written there."""
    first, *lines = bytes(stored.content).split(b"\n")
    return int(first), {key: line for key, _, line in (line.partition(b"\t") for line in lines)}
