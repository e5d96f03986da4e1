"""What documents show to others: languages, definitions and imports, whatever lines these stand on.

What a use means, in a document that was not written, changes only where some document shows something else than before.
So each write notes what is shown otherwise, up to a limit.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from codefathom.stores.catalog import packed_outlines, packed_references
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.types.choices import TYPE_KINDS

if TYPE_CHECKING:
    import sqlite3

    from codefathom.types.parsed_documents import ParsedDocument
    from codefathom.types.symbols import Reference

_MOST_SHOWN = 2_000  # names, imports and documents of one write; more are not noted
_MOST_STATES = 100
_MOST_CHARS = 100_000  # of the notes of all states: each write reads and writes them
_Definition = tuple[str, ...]  # kind, name, qualified name, of types the signature
_Form = tuple[str, ...]  # name and qualifier of an import, and what it stands in


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class OutwardChange(NamedTuple):
    """What documents show otherwise than they did."""

    names: frozenset[tuple[str, str]] = frozenset()  # language of the document, and name of the definitions
    types: frozenset[str] = frozenset()  # those of them that are names of types
    imports: Mapping[str, frozenset[ImportForm]] = _NOTHING  # by path, those that came or left
    come: Mapping[str, str] = _NOTHING  # language by path; a document with another language has gone and come
    gone: Mapping[str, str] = _NOTHING

    def __bool__(self) -> bool:
        return any(self)

    def and_then(self, other: OutwardChange) -> OutwardChange:
        """Return what these and later writes show otherwise."""
        imports = dict(self.imports)
        for path, forms in other.imports.items():
            imports[path] = imports.get(path, frozenset()) | forms
        come, gone = {**self.come, **other.come}, {**self.gone, **other.gone}
        return OutwardChange(self.names | other.names, self.types | other.types, imports, come, gone)


class ShownState(NamedTuple):
    """A state of a catalogue, and what its write has shown otherwise."""

    generation: int
    word: str
    note: str  # a packed `OutwardChange`; of the first state that is told of, it says nothing


def states_in(value: str, word: str) -> Sequence[ShownState]:
    """Return the states that a note tells of, up to the present one with this word; none if something else wrote it."""
    told, _, checksum = value.rpartition("\n")
    if not told or checksum != _checksum(told):  # damaged, or there is none
        return ()
    rows = (line.split(" ", 2) for line in told.split("\n"))
    states = [ShownState(int(generation), own, note) for generation, own, note in rows]
    return states if states and states[-1].word == word else ()


def with_state(states: Sequence[ShownState], state: ShownState) -> str:
    """Return the note with a state more; as many of the earlier ones are forgotten as there is no room for."""
    lines = [" ".join((str(own.generation), own.word, own.note)) for own in [*states, state][-_MOST_STATES:]]
    sizes = accumulate(len(line) + 1 for line in reversed(lines))
    n_lines = sum(size <= _MOST_CHARS for size in sizes)
    value = "\n".join(lines[-max(n_lines, 1) :])
    return f"{value}\n{_checksum(value)}"


def _checksum(value: str) -> str:
    return f"{crc32(value.encode('utf-8', 'surrogatepass')):08x}"


def shown_after(states: Sequence[ShownState], generation: int) -> OutwardChange | None:
    """Return what was shown otherwise after a generation; None where that is not known any more."""
    if not states or generation < states[0].generation:
        return None
    shown = OutwardChange()
    for state in states:
        if state.generation > generation:
            shown = shown.and_then(_unpacked(state.note))
    return shown


class OutwardDifference:
    """What the documents of one write show otherwise; to be told of each before it is written."""

    def __init__(self, db: sqlite3.Connection, *, is_first: bool = False) -> None:
        """With `is_first`, in the first run of a catalogue, nothing was made yet that could be followed."""
        self._db = db
        self._is_all = is_first
        self._names: set[tuple[str, str]] = set()
        self._types: set[str] = set()
        self._imports: dict[str, frozenset[ImportForm]] = {}
        self._come: dict[str, str] = {}
        self._gone: dict[str, str] = {}

    def remove(self, path: str) -> None:
        """Note that a document goes."""
        row = None if self._is_all else self._row(path)
        if row is not None:
            self._go(path, *row)

    def write(self, parsed: ParsedDocument) -> None:
        """Note what a document shows otherwise than the one before it."""
        if self._is_all:
            return
        path, language = parsed.document.path, parsed.document.language
        values = ((item.kind, item.name, item.qualified_name, item.signature) for item in parsed.symbols)
        definitions = list(map(_shown, values))
        references = (item for item in parsed.references if item.kind == "import")
        imports = _forms(sorted(references, key=lambda item: item.line))
        row = self._row(path)
        if row is not None and row[1] == language:
            self._compare(language, _definitions(self._db, row[0]), definitions)
            self._compare_imports(path, language, _imports(self._db, row[0]), imports)
            return
        if row is not None:
            self._go(path, *row)
        self._come[path] = language
        self._compare(language, [], definitions)
        self._compare_imports(path, language, [], imports)

    def packed(self) -> str | None:
        """Return the note of the write; None where it may show anything otherwise."""
        if self._is_all:
            return None
        by_language: dict[str, list[str]] = defaultdict(list)
        for language, name in sorted(self._names):
            by_language[language].append(name)
        imports = {path: sorted(forms) for path, forms in self._imports.items()}
        note = [by_language, sorted(self._types), imports, self._come, self._gone]
        return json.dumps(note, separators=(",", ":")) if any(note) else ""

    # ---- inside

    def _row(self, path: str) -> tuple[int, str] | None:
        row = self._db.execute("SELECT id, language FROM documents WHERE path = ?", (path,)).fetchone()
        return None if row is None else (row[0], row[1])

    def _go(self, path: str, document_id: int, language: str) -> None:
        self._gone[path] = language
        self._compare(language, _definitions(self._db, document_id), [])
        self._compare_imports(path, language, _imports(self._db, document_id), [])

    def _compare(self, language: str, before: list[_Definition], now: list[_Definition]) -> None:
        if before == now:
            return
        sides = [_by_name(side) for side in (before, now)]
        for name in sides[0].keys() | sides[1].keys():
            own = [side.get(name, []) for side in sides]
            if own[0] != own[1]:
                self._names.add((language, name))
                if any(definition[0] in TYPE_KINDS for side in own for definition in side):
                    self._types.add(name)
        self._limit()

    def _compare_imports(self, path: str, language: str, before: list[_Form] | None, now: list[_Form]) -> None:
        if before is None:
            self._is_all = True
        elif before != now:
            forms = {ImportForm(name, qualifier, language) for name, qualifier, _ in _changed(before, now)}
            self._imports[path] = self._imports.get(path, frozenset()) | forms
            self._limit()

    def _limit(self) -> None:
        n_forms = sum(map(len, self._imports.values()))
        n_documents = len(self._come) + len(self._gone)
        self._is_all = self._is_all or len(self._names) + n_forms + n_documents > _MOST_SHOWN


def _unpacked(note: str) -> OutwardChange:
    if not note:
        return OutwardChange()
    by_language, types, imports, come, gone = json.loads(note)
    return OutwardChange(
        frozenset((language, name) for language, names in by_language.items() for name in names),
        frozenset(types),
        {path: frozenset(ImportForm(*form) for form in forms) for path, forms in imports.items()},
        come,
        gone,
    )


def _by_name(definitions: Iterable[_Definition]) -> Mapping[str, list[_Definition]]:
    by_name: dict[str, list[_Definition]] = defaultdict(list)
    for definition in definitions:
        by_name[definition[1]].append(definition)
    return by_name


def _changed(before: Sequence[_Form], now: Sequence[_Form]) -> set[_Form]:
    """Return what only one of two lists has, or has more often; all, where the rest has another order."""
    counts, others = Counter(before), Counter(now)
    less, more = counts - others, others - counts
    rests = [[form for form in side if form not in less and form not in more] for side in (before, now)]
    return {*less, *more} if rests[0] == rests[1] else {*before, *now}


def _shown(definition: tuple[str, str, str, str]) -> _Definition:
    """Return what of a definition matters to others: of types alone the signature, which names those above them."""
    kind, name, qualified_name, signature = definition
    return kind, name, qualified_name, signature if kind in TYPE_KINDS else ""


def _definitions(db: sqlite3.Connection, document_id: int) -> list[_Definition]:
    columns = "kind, name, qualified_name, place"
    rows = db.execute(f"SELECT {columns} FROM symbols WHERE document_id = ? ORDER BY place", (document_id,)).fetchall()
    row = db.execute("SELECT CAST(packed AS BLOB) FROM outlines WHERE document_id = ?", (document_id,)).fetchone()
    texts = packed_outlines.unpacked(row[0]) if row else ()
    return [_shown((*values, packed_outlines.texts_at(texts, place).signature)) for *values, place in rows]


def _imports(db: sqlite3.Connection, document_id: int) -> list[_Form] | None:
    """Return the imports of a document; None where they cannot be read."""
    row = db.execute("SELECT CAST(packed AS BLOB) FROM refs WHERE document_id = ?", (document_id,)).fetchone()
    if row is None:
        return []
    try:
        return _forms(packed_references.imports_in(packed_references.inflated(row[0])))
    except (ValueError, IndexError, TypeError):  # damaged
        return None


def _forms(imports: Iterable[Reference]) -> list[_Form]:
    return [(item.name, item.qualifier, item.container) for item in imports]
