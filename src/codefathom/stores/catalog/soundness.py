"""The check of the catalogue for damage: of its file by the seal, and of each row that is read by its checksum."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from codefathom.errors import DamagedError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, Told
from codefathom.stores import packed_chunks
from codefathom.stores.catalog import checksums, compiler_uses, digests, packed_outlines, packed_references
from codefathom.stores.catalog.records import CompilerUses
from codefathom.stores.catalog.writing import HAS_USED_NAMES
from codefathom.stores.database import Database, mark
from codefathom.types.symbols import FoundSymbol, Symbol

CHUNK = (
    "c.id, d.path, d.language, c.kind, c.symbol, c.names, c.start_line, c.end_line, CAST(c.packed AS BLOB), "
    "c.start_column"
)
CHECKED_CHUNK = f"c.key, {CHUNK}, c.checksum, d.n_lines, c.text_hash"
_PACKED = 9  # column of it; `with_texts` gives text, signature and doc comment in its place
PATH, START, END, TEXT, COLUMN, CHECKSUM, N_LINES, TEXT_HASH = 2, 7, 8, 9, 12, 13, 14, 15  # columns of its rows then
FROM_CHUNKS = "FROM chunks c JOIN documents d ON d.id = c.document_id"
SYMBOL = (
    "d.path, d.language, s.kind, s.name, s.qualified_name, s.start_line, s.end_line, s.name_line, s.place, s.checksum"
)
FROM_SYMBOLS = "FROM symbols s JOIN documents d ON d.id = s.document_id"
_ID, _DOCUMENT_ID = 0, 1
# The rows of symbols, and each outline that they need once: in one statement, so that both are of one state.
_SYMBOLS_AND_OUTLINES = (
    f"SELECT s.id, s.document_id, {SYMBOL} {FROM_SYMBOLS} WHERE {{0}} UNION ALL "
    "SELECT NULL, o.document_id, CAST(o.packed AS BLOB), '', '', '', '', 0, 0, 0, 0, 0 FROM outlines o WHERE {1}"
)
_NUMBERS = "SELECT value FROM json_each(?1)"
_BY_ID = _SYMBOLS_AND_OUTLINES.format(
    f"s.id IN ({_NUMBERS})", f"o.document_id IN (SELECT document_id FROM symbols WHERE id IN ({_NUMBERS}))"
)
_BY_PATH = _SYMBOLS_AND_OUTLINES.format("d.path = ?1", "o.document_id = (SELECT id FROM documents WHERE path = ?1)")
_OUTLINE = "SELECT CAST(packed AS BLOB) FROM outlines WHERE document_id = ?"
_AT_ONCE = 1_000  # symbols that are read together
# Whatever kinds of values a damaged file holds.
PACKED_REFERENCES = "SELECT CAST(d.path AS TEXT), r.checksum, CAST(r.packed AS BLOB), d.id, d.language"
FROM_REFERENCES = "FROM refs r JOIN documents d ON d.id = r.document_id"
_NAMED_REFERENCES = f"{PACKED_REFERENCES}, CAST(r.names AS BLOB) {FROM_REFERENCES}"

_ALL_LINES = 1 << 62
_Read = TypeVar("_Read")


class Soundness:
    """The checks of one catalogue, and the documents that were left out because of damage so far."""

    def __init__(self, database: Database) -> None:
        self.damaged_paths: set[str] = set()  # paths of documents with damaged rows, which are not shown
        self._database = database

    # ---- the file

    @property
    def is_sealed(self) -> bool:
        """True if the file has a seal to compare it with; else `check` reads its rows."""
        return self._database.is_sealed

    def damage(self) -> str:
        """Return the difference between the file and its seal, or nothing; reads all of it.

        Nothing also when there is no seal, or when another process writes at this moment.
        """
        return self._database.damage()

    def check(self) -> str:
        """Like `damage`; without a seal read all rows, and seal the file if they are sound. Needs the writer lock."""
        if self.is_sealed:
            return self.damage()
        problem = self._wrong_row()
        if not problem:
            self._database.seal()
        return problem

    def damaged(self, how: Told) -> DamagedError:
        """Have the next one that opens the file make it anew, and return the error that says so."""
        return self._database.damaged(how)

    def settle(self) -> None:
        """Move the log into the file and seal what changed. Needs the writer lock. Raises DamagedError."""
        self._database.settle()

    @property
    def moved(self) -> Collection[int]:
        """The blocks of `seal.BLOCK` bytes that have changed in the file, perhaps some more, since it was opened."""
        return self._database.moved

    @contextmanager
    def held(self) -> Iterator[None]:
        """Mark the writer lock as held for this catalogue; settle at the end of the block. Raises DamagedError."""
        self._database.is_held = True
        try:
            yield
            self.settle()
        finally:
            self._database.is_held = False

    # ---- rows

    def number(self, name: str, value: str) -> int:
        """Return a small value that is a number. Raises DamagedError."""
        try:
            return int(value)
        except ValueError:
            raise self.damaged(Note(say.VALUE_WRONG, {"name": name, "value": repr(value)})) from None

    def chunk_rows(self, condition: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        """Return rows of `CHECKED_CHUNK`, with their texts, of the chunks for which a condition of SQL holds."""
        rows = self._database.read(f"SELECT {CHECKED_CHUNK} {FROM_CHUNKS} WHERE {condition}", parameters)
        return [(*with_texts(row[:-1]), digests.shown(row[-1])) for row in rows]

    def sound_chunk_rows(self, condition: str, parameters: Sequence[object]) -> Iterator[tuple[Any, ...]]:
        """Yield those of the same rows that are as they were written; the documents of the others are noted."""
        rows = self._database.read(f"SELECT {CHECKED_CHUNK} {FROM_CHUNKS} WHERE {condition}", parameters)
        for key, chunk_id, *values, packed, column, checksum, n_lines, text_hash in rows:
            text, signature, doc = packed_chunks.encoded(packed)
            head = (digests.shown(chunk_id), *values)
            if checksums.of_encoded_chunk((*head, column), text, signature, doc) != checksum:
                self.leave_out(values[0])
                continue
            texts = (text.decode(errors="replace"), signature.decode(errors="replace"), doc.decode(errors="replace"))
            yield (key, *head, *texts, column, checksum, n_lines, digests.shown(text_hash))

    def is_sound(self, row: Sequence[Any]) -> bool:
        """Return True if a row of `CHECKED_CHUNK` is as it was written; the document of a damaged row is noted."""
        if checksums.of_chunk(row[1:CHECKSUM]) == row[CHECKSUM]:
            return True
        self.leave_out(row[PATH])
        return False

    def sound(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a row of `CHECKED_CHUNK`. Raises DamagedError when it is not as it was written."""
        if not self.is_sound(row):
            raise self._database.damaged(Note(say.PART_OF_FILE_DIFFERS, {"path": repr(row[PATH])}))
        return row

    def pieces(self, path: str, start_line: int = 1, end_line: int = _ALL_LINES) -> list[tuple[Any, ...]]:
        """Return rows of `CHECKED_CHUNK`: the chunks of a document, in line order, that hold these lines.

        None when one of them is damaged or missing: without it the others do not join up, and line numbers are wrong.
        """
        rows = self.chunk_rows(
            "d.path = ? AND c.start_line <= ? AND c.end_line >= ? ORDER BY c.start_line, c.start_column",
            (path, end_line, start_line),
        )
        return self._joining(path, rows, start_line, end_line)

    def _joining(self, path: str, rows: list[tuple[Any, ...]], start_line: int, end_line: int) -> list[tuple[Any, ...]]:
        """Return the rows of these lines of a document if they are sound and join up, else none."""
        line, column = max(start_line, 1), 1  # where the next one begins at the latest
        for row in rows:
            if not self.is_sound(row):
                return []
            if (row[START], row[COLUMN]) > (line, column):
                self.leave_out(path)
                return []
            is_ended = row[TEXT].endswith("\n") or row[START] < row[END]
            line, column = (row[END] + 1, 1) if is_ended else (row[END], row[COLUMN] + len(row[TEXT]))
        if column > 1 and line == rows[-1][N_LINES]:  # the last line of a file may have no end
            line += 1
        if line <= min(end_line, rows[0][N_LINES] if rows else self._n_lines(path)):
            self.leave_out(path)
            return []
        return rows

    def leave_out(self, path: object) -> None:
        """Note that a document is damaged and is not shown."""
        if not self.damaged_paths:
            mark(self._database.file)
        self.damaged_paths.add(str(path))

    def symbols(self, numbers: Sequence[int]) -> list[FoundSymbol]:
        """Return the symbols of these numbers, in this order, without those that are damaged or gone."""
        by_number: dict[int, FoundSymbol] = {}
        for start in range(0, len(numbers), _AT_ONCE):
            listed = json.dumps(numbers[start : start + _AT_ONCE])
            by_number.update(self._sound_symbols(self._database.read(_BY_ID, (listed,))))
        return [by_number[number] for number in numbers if number in by_number]

    def symbols_of(self, path: str) -> list[Symbol]:
        """Return the symbols of a document, outer before inner."""
        by_number = self._sound_symbols(self._database.read(_BY_PATH, (path,)))
        items = sorted(
            by_number.items(), key=lambda item: (item[1].symbol.start_line, -item[1].symbol.end_line, item[0])
        )
        return [item.symbol for _, item in items]

    def _sound_symbols(self, rows: Sequence[Sequence[Any]]) -> dict[int, FoundSymbol]:
        """Return the symbols of rows of `_SYMBOLS_AND_OUTLINES` by their numbers."""
        texts = {row[_DOCUMENT_ID]: packed_outlines.unpacked(row[2]) for row in rows if row[_ID] is None}
        by_number = {}
        for number, document_id, path, language, *values, place, checksum in rows:
            if number is None:
                continue
            symbol = (*values, *packed_outlines.texts_at(texts.get(document_id, ()), place))
            if checksums.of_symbol((path, language, *symbol)) == checksum:
                by_number[number] = FoundSymbol(path, language, Symbol(*symbol))
            else:
                self.leave_out(path)
        return by_number

    def references(
        self, rows: Iterable[Sequence[Any]], read: Callable[[bytes], Iterable[_Read]]
    ) -> Iterator[tuple[str, _Read]]:
        """Yield what a function reads in rows of `PACKED_REFERENCES`, each with the path."""
        for path, checksum, data, *_ in rows:
            references = _read_references(path, checksum, data, read)
            if references is None:
                self.leave_out(path)
            else:
                yield from ((path, reference) for reference in references)

    def compiler_uses(self, rows: Iterable[Sequence[Any]]) -> list[CompilerUses]:
        """Return the uses of rows of `compiler_uses.ROWS`, for each pair of files."""
        uses = []
        for path, target, data, checksum in rows:
            if compiler_uses.checksum(path, target, data) == checksum:
                uses.append(CompilerUses(path, target, compiler_uses.unpacked(data)))
            else:
                self.leave_out(path)
        return uses

    # ---- inside

    def _wrong_row(self) -> str:
        """Return the first problem of the file, or nothing: one that SQLite finds, or a row that differs."""
        answer = self._database.read("PRAGMA integrity_check(1)")[0][0]
        if answer != "ok":
            return str(answer)
        for row in map(with_texts, self._database.rows(f"SELECT {CHECKED_CHUNK} {FROM_CHUNKS}")):
            if checksums.of_chunk(row[1:CHECKSUM]) != row[CHECKSUM]:
                return f"a row of {row[PATH]!r} differs from what was written"
        if problem := self._wrong_symbol():
            return problem
        for path_of_row, target, data, checksum in self._database.rows(compiler_uses.ROWS):
            if compiler_uses.checksum(path_of_row, target, data) != checksum:
                return f"a row of {path_of_row!r} differs from what was written"
        return self._wrong_reference()

    def _wrong_symbol(self) -> str:
        """Return the first problem of the symbols, or nothing: the rows, and the texts that belong to them."""
        rows = self._database.rows(f"SELECT s.document_id, {SYMBOL} {FROM_SYMBOLS} ORDER BY s.document_id")
        for document_id, group in groupby(rows, itemgetter(0)):
            outline = self._database.read(_OUTLINE, (document_id,))
            texts = packed_outlines.unpacked(outline[0][0]) if outline else ()
            for _, path, *values, place, checksum in group:
                if checksums.of_symbol((path, *values, *packed_outlines.texts_at(texts, place))) != checksum:
                    return f"a row of {path!r} differs from what was written"
        return ""

    def _wrong_reference(self) -> str:
        """Return the first problem of the references, or nothing: the rows, and the names that lead to them."""
        n_names = total = 0
        for path, checksum, data, document_id, _, names in self._database.rows(_NAMED_REFERENCES):
            references = _read_references(path, checksum, data, packed_references.unpacked)
            if references is None:
                return f"a row of {path!r} differs from what was written"
            if names != packed_references.used_names(references):
                return f"the names that {path!r} uses differ from what was written"
            numbers = packed_references.numbers_in(names)
            n_names, total = n_names + len(numbers), total + sum(number * (document_id % 997) for number in numbers)
        sums = "count(*), coalesce(sum(name * (document_id % 997)), 0)"
        summed = self._database.read_if(HAS_USED_NAMES, f"SELECT {sums} FROM used_names")
        is_right = summed in (None, [(n_names, total)])
        return "" if is_right else "the names that lead to documents differ from what was written"

    def _n_lines(self, path: str) -> int:
        rows = self._database.read("SELECT CAST(n_lines AS INTEGER) FROM documents WHERE path = ?", (path,))
        return int(rows[0][0]) if rows else 0


def with_texts(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row of `CHECKED_CHUNK`, or one that begins as it does, with its texts in the place of the packed one."""
    return (row[0], digests.shown(row[1]), *row[2:_PACKED], *packed_chunks.unpacked(row[_PACKED]), *row[_PACKED + 1 :])


def _read_references(
    path: str, checksum: object, data: bytes, read: Callable[[bytes], Iterable[_Read]]
) -> Iterable[_Read] | None:
    """Return what a function reads in packed references; None where these are not what was written."""
    content = packed_references.inflated(data)
    if packed_references.checksum(path, content) != checksum:
        return None
    try:
        return read(content)
    except (ValueError, IndexError, TypeError):  # somebody knows how checksums are made
        return None
