"""The indexed files one by one: for those who look around instead of asking."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from typing import NamedTuple

from codefathom.errors import DamagedError, IndexingError, SourceError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.paths import folders_of
from codefathom.facts.reasons import Note, from_line
from codefathom.project.by_head import marked
from codefathom.project.originals import Lines
from codefathom.search.filter.filter_options import folder_of, is_glob
from codefathom.source.pictures import is_picture_name
from codefathom.stores.catalog.catalog import CATALOGUE, Catalog
from codefathom.stores.catalog.records import StoredDocument
from codefathom.stores.folder import Folder
from codefathom.text.kept_names import KEPT_TEXTS, is_kept_text
from codefathom.text.printable import is_text
from codefathom.types import FileLines, FoundSymbol, IndexedFile, Symbol

_MAX_NAMED = 10  # folders in a message


class TreeEntry(NamedTuple):
    """A file or folder in a folder."""

    name: str
    path: str
    file: IndexedFile | None  # None for a folder
    n_files: int  # below a folder; 1 for a file


class Files:
    """The files of one index. What is not indexed cannot be seen.

    Raises DamagedError for a file of which the index does not hold what was written.
    """

    def __init__(self, catalog: Catalog, lines: Lines) -> None:
        """`lines` gives lines of a document as they are shown."""
        self._catalog = catalog
        self._lines = lines

    def listed(self, folder: str = "") -> tuple[IndexedFile, ...]:
        """Return the files at or below a folder, ordered by path."""
        below = _below(folder)
        return tuple(_file(item) for item in self._catalog.documents() if item.path.startswith(below))

    def entries(self, folder: str = "") -> tuple[TreeEntry, ...]:
        """Return the entries of a folder with its pictures, folders first. Raises SourceError for an unknown folder."""
        below = _below(folder)
        listed = (*self.listed(folder), *self._pictures(below))
        if not listed and below:
            raise SourceError(f"no such folder in the index: {folder!r}", hint='use "" for the root of the project')
        folders: dict[str, int] = {}
        files = []
        for file in listed:
            name, mark, _ = file.path.removeprefix(below).partition("/")
            if not below and is_kept_text(file.path):
                folders[KEPT_TEXTS] = folders.get(KEPT_TEXTS, 0) + 1
            elif mark:
                folders[name] = folders.get(name, 0) + 1
            else:
                files.append(TreeEntry(name, file.path, file, 1))
        named = sorted(files, key=lambda entry: entry.name)
        return (*(TreeEntry(name, below + name, None, count) for name, count in sorted(folders.items())), *named)

    def _pictures(self, below: str) -> Iterator[IndexedFile]:
        """Yield the picture files at or below a folder, which have no text and can be looked at all the same."""
        for file in self._catalog.rejected():
            if file.path.startswith(below) and is_picture_name(file.path):
                yield IndexedFile(file.path, "", file.size, 0)

    def check_folders(self, folders: Iterable[str]) -> None:
        """Raise UsageError for a folder below which nothing is indexed. A pattern may match nothing."""
        names = [name for name in map(folder_of, folders) if name and not is_glob(name)]
        if not names:
            return
        here = {folder for document in self._catalog.documents() for folder in folders_of(document.path)} - {""}
        lowered = {folder.lower() for folder in here}
        for name in names:
            if name.lower() not in lowered:
                raise UsageError(f"no folder in the index is called {name!r}", hint=_top_folders(here))

    def lines(self, path: str, start_line: int = 1, end_line: int = 0) -> FileLines:
        """Return lines of a file as it is now; without `end_line`, up to the last; lines behind the last are left out.

        Raises SourceError for a file that is not indexed or is gone, and UsageError for a range that has none of its
        lines.
        """
        file, changed = self._find(path), self._lines.changed(path)
        if changed is not None:
            file = file._replace(size=changed.size, n_lines=changed.n_lines)
        last = min(end_line or file.n_lines, file.n_lines)
        if not (1 <= start_line <= max(last, 1)):
            raise UsageError(
                f"{path} has no lines {start_line} to {end_line or 'the last'}", hint=f"it has {file.n_lines} lines"
            )
        if changed is not None:
            return FileLines(file, start_line, last, changed.lines(start_line, max(last, 1)), stale=True)
        text = self._lines.lines(path, start_line, max(last, 1))
        self._refuse_damage(path)
        return FileLines(file, start_line, last, text)

    def outline(self, path: str) -> tuple[FoundSymbol, ...]:
        """Return the symbols of a file in line order, outer before inner. Raises SourceError."""
        file = self._find(path)
        symbols = self._catalog.symbols_of(path)
        self._refuse_damage(path)
        return marked(self._catalog, [FoundSymbol(path, file.language, symbol) for symbol in symbols])

    def _refuse_damage(self, path: str) -> None:
        if path in self._catalog.soundness.damaged_paths:
            raise self._catalog.soundness.damaged(Note(say.CONTENT_DIFFERS, {"path": path}))

    def _find(self, path: str) -> IndexedFile:
        document = self._catalog.document(path) if is_text(path) else None
        if document is None:
            raise SourceError(
                f"no such file in the index: {path!r}",
                hint="give a path relative to the project; `fathom status --skipped` lists what is left out",
            )
        return _file(document)


def imports(catalog: Catalog, query: str, path: str) -> list[FoundSymbol]:
    """Return the imports whose name is, begins with or contains `query`, in that order; then by path and line.

    `path` is that of a file or of a folder above it. The lines are those of the import.
    """
    lowered, below = query.lower(), f"{path}/"
    languages = {document.path: document.language for document in catalog.documents()}
    listed = []
    for place, reference in catalog.imports():
        if lowered in reference.name.lower() and (not path or place == path or place.startswith(below)):
            last = re.split(r"[./\\]|::", reference.name.strip("\"'<>"))[-1] or reference.name
            line = reference.line
            symbol = Symbol("import", last, reference.name, line, line, line)
            listed.append(FoundSymbol(place, languages.get(place, ""), symbol))
    return sorted(listed, key=lambda item: _import_order(item, lowered))


def _import_order(item: FoundSymbol, query: str) -> tuple[bool, bool, str, int]:
    names = (item.symbol.name.lower(), item.symbol.qualified_name.lower())
    return query not in names, not any(name.startswith(query) for name in names), item.path, item.symbol.name_line


def _top_folders(folders: Collection[str]) -> str:
    top = sorted(folder for folder in folders if "/" not in folder)
    if not top:
        return "this project has no folders"
    return f"the folders here are {', '.join(top[:_MAX_NAMED])}" + (", …" if len(top) > _MAX_NAMED else "")


def _below(folder: str) -> str:
    trimmed = folder.strip("/")
    if is_kept_text(f"{trimmed}//"):
        return KEPT_TEXTS
    return f"{trimmed}/" if trimmed not in {"", "."} else ""


def _file(document: StoredDocument) -> IndexedFile:
    return IndexedFile(document.path, document.language, document.size, document.n_lines)


class IndexSummary(NamedTuple):
    """The size of an index, read without opening its views."""

    generation: int
    n_documents: int
    n_chunks: int
    n_symbols: int
    indexed_at: float  # seconds since the epoch
    languages: Mapping[str, int]  # documents by language, most first
    kinds: Mapping[str, int]  # chunks by kind, most first


def index_summary(folder: Folder, word: str, earlier: IndexSummary | None = None) -> IndexSummary | None:
    """Return the summary of the index in a folder; None where no index can be read. Raises DamagedError.

    `word` is the one by which the index is known here: of another one nothing is told. What an earlier summary of this
    index has counted is not counted again while no run has ended since.
    """
    try:
        catalog = Catalog.open(folder.file(CATALOGUE), read_only=True)
    except DamagedError:
        raise
    except IndexingError:
        return None
    with closing(catalog):
        generation = catalog.generation
        if not generation and (reason := catalog.get_meta("set_aside")):
            raise DamagedError(Note(say.SET_ASIDE, {"reason": from_line(reason)}), hint=Note(say.RUN_INDEX))
        if not generation or not catalog.is_marked_with(word):
            return None
        indexed_at = int(catalog.get_meta("indexed_at_ns", "0")) / 1e9
        # One that was removed and made again can have the same number of changes.
        if earlier is not None and (earlier.generation, earlier.indexed_at) == (generation, indexed_at):
            return earlier
        n_documents, n_chunks, n_symbols, languages, kinds = catalog.counts()
        return IndexSummary(generation, n_documents, n_chunks, n_symbols, indexed_at, languages, kinds)
