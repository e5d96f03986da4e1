"""SCIP indexes of compilers → the uses that the catalogue keeps of each file.

An index says where a symbol is defined and where it is used. Here a definition is the symbol of ours that stands at the
same place, so that what compilers say and what we see ourselves speak of the same things. A file is taken only where
the words at these places are those that the index names: an index of another version of a file is left out.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from codefathom.errors import SourceError
from codefathom.facts import reasons as say
from codefathom.facts.languages import LANGUAGES
from codefathom.facts.paths import folders_of
from codefathom.facts.reasons import Note
from codefathom.source.documents import fingerprint
from codefathom.source.scip import UTF8, UTF32, Occurrence, ScipDocument, ScipFile
from codefathom.stores.catalog.readers import CompilerCatalog
from codefathom.stores.catalog.records import CompilerRecord, CompilerUse, UseKind
from codefathom.system.stopping import check_stopped
from codefathom.types import ScipReport, Skipped, Symbol

MAX_DEFINITIONS = 5_000_000
_AT_ONCE = 200  # files that are written in one transaction
_MOST_EXAMPLES = 20  # of documents that were left out
_SAMPLE = 1_000  # documents by which the folder of an index is told
_MOST_PLACES = 8  # of one symbol, such as the overloads of a function
_MOST_WRONG = 0.1  # share of the names that do not stand where an index of this version of a file has them
_MOST_IMPORT_LINES = 500  # of one statement
_NAME = re.compile(r"[\w$#@]+[!?]?")
_DESCRIPTOR = re.compile(r"(?:^|[/#.!:)\]`])([A-Za-z_]\w*)(?:#|\.|!|\(\w*\)\.)$")
_CALLED = re.compile(r"\s*\(")
_QUOTES = "'\"`<>"
_INSIDE_IMPORT = re.compile(r"[\s\w$,{}*]*(?://.*)?")
_BEGINS_IMPORT = re.compile(r"\s*(?:import|export)\b")
_NEW_OBJECT = frozenset({"<constructor>", "constructor", "__init__"})  # names of what makes an object of a class

Targets = frozenset[tuple[str, str]]  # path and qualified name of definitions; none: no symbol of the project


class _Place(NamedTuple):
    """A document of an index, as a file of the project."""

    path: str
    symbols: Mapping[int, Sequence[Symbol]]  # by the line of the name
    lines: _Lines


def import_scip(catalog: CompilerCatalog, files: Sequence[ScipFile]) -> ScipReport:
    """Keep what the indexes say of files as they are in the catalogue, in place of what was kept of these files.

    The indexes are read as a whole before anything is written. Needs the writer lock. Raises SourceError for one that
    is damaged, or that no file of the project belongs to.
    """
    reading = _Reading(catalog)
    folders = [_folder_of(file, reading.paths) for file in files]
    for file, folder in zip(files, folders, strict=True):
        reading.add_definitions(file, folder)
    if not reading.accepted:
        raise SourceError(_nothing_here(files, reading), hint=_NOTHING_HINT)
    for file, folder in zip(files, folders, strict=True):
        reading.keep_uses(file, folder)
    return reading.report(files)


_NOTHING_HINT = "run the indexer in this project, at the version of its files that is here, and import its index again"


def _nothing_here(files: Sequence[ScipFile], reading: _Reading) -> str:
    names = ", ".join(repr(file.path) for file in files)
    counts = f"{reading.n_unknown:,} are not in the index, {reading.n_refused:,} lie outside of the project"
    return f"no document of {names} is a file of this project: {counts}, {len(reading.others):,} have changed"


class _Reading:
    """Two passes over indexes: definitions first, then the uses of these."""

    def __init__(self, catalog: CompilerCatalog) -> None:
        self._catalog = catalog
        self._entries = catalog.entries()
        self.paths = frozenset(self._entries)
        self._names = {name.lower() for name in catalog.symbol_names()}
        self._definitions: dict[str, Targets] = {}
        self._packages: set[str] = set()  # that define something here
        self.accepted: set[tuple[str, str]] = set()  # of an index, and of a document in it
        self.others: set[str] = set()  # paths of documents of which an index describes another version
        self.n_unknown = self.n_refused = self._n_uses = 0
        self._examples: list[Skipped] = []
        self._records: dict[str, CompilerRecord] = {}
        self._written: set[str] = set()

    def report(self, files: Sequence[ScipFile]) -> ScipReport:
        """Return what was kept, and what was left out."""
        return ScipReport(
            tools=tuple(dict.fromkeys(file.tool for file in files)),
            n_files=len({path for _, path in self.accepted}),
            n_uses=self._n_uses,
            n_unknown=self.n_unknown,
            n_refused=self.n_refused,
            n_other_version=len(self.others),
            skipped=tuple(self._examples),
        )

    # ---- definitions

    def add_definitions(self, file: ScipFile, folder: str) -> None:
        """Note which symbols of an index are symbols of the project."""
        for document in file.documents():
            check_stopped()
            place = self._place(document, folder)
            if place is None:
                continue
            self.accepted.add((file.path, place.path))
            for item in document.occurrences:
                if item.is_definition and not item.symbol.startswith("local "):
                    self._packages.add(package_of(item.symbol))
                    self._define(item.symbol, _targets_at(item, place))
            if len(self._definitions) > MAX_DEFINITIONS:
                raise SourceError(
                    f"{file.path!r} defines more than {MAX_DEFINITIONS:,} symbols",
                    hint="write an index for each part of the project, and import them one after the other",
                )

    def _define(self, symbol: str, targets: Targets) -> None:
        before = self._definitions.get(symbol, frozenset())
        if len(before) < _MOST_PLACES:
            self._definitions[symbol] = before | targets

    def _place(self, document: ScipDocument, folder: str) -> _Place | None:
        """Return a document as a file of the project; None, and why is noted, for one that is left out."""
        path = _path_in_project(document.path, folder)
        if path is None:
            self.n_refused += 1
            self._leave_out(document.path, say.SCIP_OUTSIDE)
            return None
        if path not in self.paths:
            self.n_unknown += 1
            self._leave_out(path, say.SCIP_UNKNOWN)
            return None
        place = self._opened(path, document)
        if not (self._is_same_text(document, path) and place.lines.fit(document.occurrences)):
            if path not in self.others:
                self._leave_out(path, say.SCIP_OTHER_VERSION)
            self.others.add(path)
            return None
        return place

    def _opened(self, path: str, document: ScipDocument) -> _Place:
        symbols: dict[int, list[Symbol]] = defaultdict(list)
        for symbol in self._catalog.symbols_of(path):
            symbols[symbol.name_line].append(symbol)
        return _Place(path, symbols, _Lines(self._catalog.text(path), document.columns))

    def _leave_out(self, path: str, why: str) -> None:
        if len(self._examples) < _MOST_EXAMPLES:
            self._examples.append(Skipped(path, Note(why)))

    def _is_same_text(self, document: ScipDocument, path: str) -> bool:
        if not document.text:
            return True
        own = self._entries[path].fingerprint
        return fingerprint(document.text.encode("utf-8", "surrogatepass")) == own or document.text == self._text(path)

    def _text(self, path: str) -> str:
        return self._catalog.text(path)

    # ---- uses

    def keep_uses(self, file: ScipFile, folder: str) -> None:
        """Keep the uses in the documents of an index that belong to files here."""
        for document in file.documents():
            check_stopped()
            path = _path_in_project(document.path, folder) or ""
            if (file.path, path) in self.accepted:
                self._add(path, file.tool, self._uses(document, self._opened(path, document)))
                if len(self._records) >= _AT_ONCE:
                    self._write()
        self._write()

    def _add(self, path: str, tool: str, uses: Mapping[str, set[CompilerUse]]) -> None:
        """Add the uses in a file, which several indexes may describe, also one more than once."""
        before = self._records.get(path)
        earlier = before.uses if before is not None else self._kept(path) if path in self._written else {}
        joined = {
            target: frozenset(uses.get(target, ())) | earlier.get(target, frozenset()) for target in {*uses, *earlier}
        }
        self._records[path] = CompilerRecord(path, self._entries[path].fingerprint, tool, joined)

    def _kept(self, path: str) -> dict[str, frozenset[CompilerUse]]:
        return {item.target_path: frozenset(item.uses) for item in self._catalog.compiler_uses_in(path)}

    def _write(self) -> None:
        if self._records:
            self._catalog.put_compiler_uses(list(self._records.values()))
            self._n_uses += sum(
                len(uses) for record in self._records.values() for target, uses in record.uses.items() if target
            )
            self._written.update(self._records)
            self._records = {}

    def _uses(self, document: ScipDocument, place: _Place) -> dict[str, set[CompilerUse]]:
        uses: dict[str, set[CompilerUse]] = defaultdict(set)
        own = {
            item.symbol: _targets_at(item, place)
            for item in document.occurrences
            if item.is_definition and item.symbol.startswith("local ")
        }
        imports = self._import_lines(place)
        for item in document.occurrences:
            targets = None if item.is_definition else self._targets_of(item.symbol, own)
            if targets is not None:
                is_import = item.is_import or item.line in imports
                for path, use in _uses_at(item, targets, place.lines, is_import=is_import):
                    if path or use.name.lower() in self._names:
                        uses[path].add(use)
        return uses

    def _targets_of(self, symbol: str, own: Mapping[str, Targets]) -> Targets | None:
        """Return the definitions that a symbol is, none for one of elsewhere; None where the index does not tell."""
        if symbol.startswith("local "):
            return own.get(symbol)
        targets = self._definitions.get(symbol)
        if targets is None and package_of(symbol) in self._packages:
            return None  # an indexer may give a symbol of this project one more name
        return targets or frozenset()

    def _import_lines(self, place: _Place) -> frozenset[int]:
        document = self._catalog.document(place.path)
        language = LANGUAGES.get(document.language) if document is not None else None
        lines = {item.line for item in self._catalog.imports_of(place.path)}
        if language is not None and language.family == "javascript":
            lines.update(above for line in tuple(lines) for above in place.lines.statement_above(line))
        return frozenset(lines)


def _uses_at(
    item: Occurrence, targets: Targets, lines: _Lines, *, is_import: bool
) -> Iterator[tuple[str, CompilerUse]]:
    """Yield the use at a place for each of its targets, with the path of the target."""
    word = lines.word(item)
    kind: UseKind = "import" if is_import else "call" if lines.is_called(item) else "type"
    if not targets:
        if _NAME.fullmatch(word):
            yield "", CompilerUse(item.line, word, "", kind)
        return
    for path, name in targets:
        if not name:
            if is_import:
                yield path, CompilerUse(item.line, word, "", kind)
        elif _NAME.fullmatch(word):
            owner, _, last = name.rpartition(".")
            is_new = last in _NEW_OBJECT and owner.rpartition(".")[2] == word
            yield path, CompilerUse(item.line, word, owner if is_new else name, kind)


def _targets_at(item: Occurrence, place: _Place) -> Targets:
    """Return the symbol of ours that is defined at a place, or the file for one that is defined by all of it."""
    if item.start == item.end and item.line == 1:
        return frozenset({(place.path, "")})
    word = place.lines.word(item)
    named = [symbol for symbol in place.symbols.get(item.line, ()) if symbol.name == word]
    return frozenset((place.path, symbol.qualified_name) for symbol in named[:1])


def package_of(symbol: str) -> str:
    """Return the part of a symbol that names its package: scheme, manager and name.

    The version does not count: where a project is installed beside itself, its tests are said to use that copy.
    """
    return " ".join(symbol.replace("  ", "\0").split(" ", 3)[:3])


# ---- places


def _folder_of(file: ScipFile, paths: frozenset[str]) -> str:
    """Return the folder of the project in which an index was written, "" for its root, by the files that are there.

    The project may lie elsewhere now: only the end of the written folder can be one of its folders.
    """
    sample = file.paths(_SAMPLE)
    parts = [part for part in unquote(urlsplit(file.root).path).split("/") if part not in ("", ".", "..")]
    folders = ["/".join(parts[start:]) for start in range(len(parts))]
    here = {folder for path in paths for folder in folders_of(path)}
    choices = ["", *(folder for folder in folders if folder in here)]
    return max(choices, key=lambda folder: sum(_path_in_project(path, folder) in paths for path in sample))


def _path_in_project(path: str, folder: str) -> str | None:
    """Return the path of a document from the root of the project; None for one that leads out of it."""
    if not path or path.startswith("/") or "\\" in path or "\0" in path or re.match(r"[A-Za-z]:", path):
        return None
    whole = posixpath.normpath(posixpath.join(folder, path))
    return None if whole in (".", "..") or whole.startswith("../") else whole


def _is_of_name(sign: str) -> bool:
    return sign.isalnum() or sign in "_$"


class _Lines:
    """The lines of a document, at which an index names places."""

    def __init__(self, text: str, columns: int) -> None:
        self._lines = text.split("\n")
        self._columns = columns

    def word(self, item: Occurrence) -> str:
        """Return the text at a place without quotes, of `a as b` the first name; "" for a place that is not there."""
        line = self._line(item.line)
        start, end = self._span(line, item)
        return line[start:end].partition(" as ")[0].strip(_QUOTES)

    def is_called(self, item: Occurrence) -> bool:
        """Return True if an opening bracket stands behind a place."""
        line = self._line(item.line)
        return _CALLED.match(line, self._span(line, item)[1]) is not None

    def fit(self, occurrences: Iterable[Occurrence]) -> bool:
        """Return True if nearly all names stand where an index says; where few do, it is of another version."""
        n = n_wrong = 0
        for item in occurrences:
            match = _DESCRIPTOR.search(item.symbol)
            if match is not None and match[1] not in _NEW_OBJECT and item.end > item.start:
                n += 1
                # A file may use a symbol under another name; what is cut out of a line by chance is seldom a name.
                is_there = self.word(item) == match[1] or (not item.is_definition and self._is_name(item))
                n_wrong += not is_there
        return n_wrong <= max(_MOST_WRONG * n, 1)

    def _is_name(self, item: Occurrence) -> bool:
        line = self._line(item.line)
        start, end = self._span(line, item)
        around = line[max(start - 1, 0) : start] + line[end : end + 1]
        return _NAME.fullmatch(line, start, end) is not None and not any(map(_is_of_name, around))

    def _span(self, line: str, item: Occurrence) -> tuple[int, int]:
        """Return the place of an occurrence in characters of its line."""
        if line.isascii() or self._columns == UTF32:
            return item.start, item.end
        encoding, width = ("utf-8", 1) if self._columns == UTF8 else ("utf-16-le", 2)
        data = line.encode(encoding, "surrogatepass")
        start, end = (len(data[: width * place].decode(encoding, "replace")) for place in (item.start, item.end))
        return start, end

    def statement_above(self, line: int) -> Sequence[int]:
        """Return the lines of an import over several lines that ends on a line; none for another statement."""
        above: list[int] = []
        for number in range(line, max(line - _MOST_IMPORT_LINES, 0), -1):
            text = self._line(number)
            above.append(number)
            if _BEGINS_IMPORT.match(text):
                return above
            if number != line and not _INSIDE_IMPORT.fullmatch(text):
                break
        return ()

    def _line(self, number: int) -> str:
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""
