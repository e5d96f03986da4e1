"""The files of a project as an editor shows them: of an open one its unsaved text, of any other the saved one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lsprotocol.types import Location, Position, Range
from pygls.uris import from_fs_path, to_fs_path

from codefathom.engine import Engine
from codefathom.errors import FathomError, SourceError, UsageError
from codefathom.lsp.positions import column_of, from_wire, has_other_ends, lines_of, names_at, same_lines, to_wire
from codefathom.lsp.use_spots import Spot, UseSpots
from codefathom.types import FileLines, FoundSymbol, Related, Symbol


@dataclass(frozen=True, slots=True)
class OpenText:
    """A document that the editor has open: its address as the editor writes it, and its text."""

    uri: str
    text: str


@dataclass(frozen=True)
class ShownFile:
    """A file with the lines that the index knows, and those that the editor shows. Lines count from 1."""

    path: str  # in the project
    language: str
    uri: str
    indexed: list[str]
    shown: list[str]
    encoding: str  # of positions

    @cached_property
    def _shown_of(self) -> Mapping[int, int]:
        return same_lines(self.indexed, self.shown)

    def shown_line(self, line: int) -> int | None:
        """Return where an indexed line is shown; None where it was changed or taken out since it was saved."""
        return self._shown_of.get(line)

    def indexed_line(self, line: int) -> int:
        """Return the indexed line of a shown one; of one that is not saved, the nearest one above; else the first."""
        above = [mine for mine, theirs in self._shown_of.items() if theirs <= line]
        return max(above, default=1)

    def names_at(self, position: Position) -> list[tuple[str, Range]]:
        """Return the names that stand at a position, the likeliest first. A position may be anywhere."""
        if not 0 <= position.line < len(self.shown):
            return []
        line = self.shown[position.line]
        names = names_at(line, from_wire(line, position.character, self.encoding))
        return [(name, self._range(position.line + 1, column, column + len(name))) for name, column in names]

    def place(self, line: int, name: str = "") -> Location | None:
        """Return where a name stands in an indexed line, or the line; None where the editor does not show it."""
        shown = self.shown_line(line)
        if shown is None:
            return None
        text = self.shown[shown - 1]
        column = column_of(text, name)
        start, end = (0, len(text)) if column is None else (column, column + len(name))
        return Location(self.uri, self._range(shown, start, end))

    def spot(self, spot: Spot, name: str) -> Location | None:
        """Return where a name stands at a place in an indexed line; None where the editor does not show the line."""
        shown = self.shown_line(spot.line)
        return None if shown is None else Location(self.uri, self._range(shown, spot.column, spot.column + len(name)))

    def span(self, start_line: int, end_line: int) -> Range | None:
        """Return the range of indexed lines, as far as they are shown; None where none of them is."""
        inside = [shown for line in range(start_line, end_line + 1) if (shown := self.shown_line(line))]
        if not inside:
            return None
        last = inside[-1]
        return Range(Position(inside[0] - 1, 0), self._range(last, 0, len(self.shown[last - 1])).end)

    def _range(self, line: int, start: int, end: int) -> Range:
        text = self.shown[line - 1]
        units = [to_wire(text, column, self.encoding) for column in (start, end)]
        return Range(Position(line - 1, units[0]), Position(line - 1, units[1]))


class ShownFiles:
    """The files of one request; each is read once. A file that the index does not know as it is now has no lines."""

    def __init__(self, engine: Engine, open_texts: Mapping[str, OpenText], encoding: str) -> None:
        """`open_texts` are those of the open documents of the project by their paths in it."""
        self._engine = engine
        self._open_texts = open_texts
        self._encoding = encoding
        self._saved: dict[str, FileLines | SourceError | UsageError] = {}
        self._outlines: dict[str, Sequence[FoundSymbol]] = {}
        self._read: dict[str, ShownFile | None] = {}
        self._spots: dict[str, UseSpots] = {}

    def file(self, path: str) -> ShownFile | None:
        """Return a file; what was saved since it was indexed is taken in first. None for a file without an index."""
        if path not in self._read:
            self._read[path] = self._find(path)
        return self._read[path]

    def located(self, path: str, line: int, name: str = "") -> Location | None:
        """Return where a name stands in an indexed line of a file; None where that is not known."""
        file = self.file(path)
        return None if file is None else file.place(line, name)

    def of_use(self, edge: Related, definition: str, *, calls_only: bool = False) -> list[Location]:
        """Return where the name of a use stands: in the symbol around it each place at which it is used like that.

        Imports of the name in the same file are among them, but not with `calls_only`. `definition` is the name of
        what is used: an import is known by where it leads to.
        """
        file, text = self.file(edge.path), self._text(edge.path)
        if file is None or text is None:
            return []
        name = definition if edge.kind == "imported by" else edge.name
        also_top = edge.certainty != "by-name" and not calls_only
        if edge.kind == "imported by":
            spots = text.in_imports(name, edge.line, edge.symbol)
        else:
            spots = text.of_use(name, edge.line, edge.symbol, also_top=also_top)
        if calls_only:  # the line of an edge is that of the first call in its symbol
            spots = [spot for spot in spots if spot.line >= edge.line]
        places = [file.spot(spot, name) for spot in spots] or [file.place(edge.line, name)]
        if also_top and name != definition:
            places += [file.spot(spot, definition) for spot in text.renamed(definition, name)]
        return [place for place in places if place is not None]

    def in_itself(self, path: str, symbol: Symbol) -> list[Location]:
        """Return where a symbol of a file uses itself."""
        file, text = self.file(path), self._text(path)
        spots = text.in_itself(symbol) if text else ()
        places = (file.spot(spot, symbol.name) for spot in spots) if file else ()
        return [place for place in places if place is not None]

    def inside(self, path: str, symbol: str, name: str) -> list[Range]:
        """Return where a name stands as code in a symbol of a file."""
        file, text = self.file(path), self._text(path)
        spots = text.inside(name, symbol) if text else ()
        places = (file.spot(spot, name) for spot in spots) if file else ()
        return [place.range for place in places if place is not None]

    def take_in_changes(self, paths: Iterable[str]) -> bool:
        """Take in those of some files that are not as they were indexed; return whether there were any."""
        changed = sorted(path for path in set(paths) if _is_changed(self._lines(path)))
        if changed:
            self._engine.take_in(changed)
            for kept in (self._saved, self._outlines, self._read, self._spots):
                kept.clear()
        return bool(changed)

    def symbols(self, path: str) -> Sequence[FoundSymbol]:
        """Return the indexed symbols of a file in line order, outer before inner."""
        if path not in self._outlines:
            self._outlines[path] = self._engine.files.outline(path)
        return self._outlines[path]

    def _lines(self, path: str) -> FileLines | SourceError | UsageError:
        """Return a file as it is saved, or why there is none."""
        if path not in self._saved:
            try:
                self._saved[path] = self._engine.files.lines(path)
            except (SourceError, UsageError) as error:
                self._saved[path] = error
        return self._saved[path]

    def _text(self, path: str) -> UseSpots | None:
        """Return a file in which uses of names can be looked up; None for one without an index."""
        if path not in self._spots and (file := self.file(path)):
            symbols = [item.symbol for item in self.symbols(path)]
            self._spots[path] = UseSpots("\n".join(file.indexed), file.language, symbols)
        return self._spots.get(path)

    def _find(self, path: str) -> ShownFile | None:
        saved = self._lines(path)
        if isinstance(saved, FathomError):
            return None
        indexed = lines_of(saved.text)
        open_text = self._open_texts.get(path)
        if saved.stale or has_other_ends(indexed):
            return None
        uri = open_text.uri if open_text else from_fs_path(os.path.join(self._engine.folder, path))
        shown = lines_of(open_text.text) if open_text else indexed
        if not uri or has_other_ends(shown):
            return None
        return ShownFile(path, saved.file.language, uri, indexed, shown, self._encoding)


def _is_changed(saved: FileLines | SourceError | UsageError) -> bool:
    if isinstance(saved, FathomError):
        return isinstance(saved, SourceError)  # it is gone, or was never there
    return saved.stale


def path_of(uri: str, root: str) -> str | None:
    """Return the path in a project of an address; None for one outside, or that is not a file's."""
    try:
        path = to_fs_path(uri) if uri.startswith("file:") else None
        if not path or "\0" in path:
            return None
        real_root, real = os.path.realpath(root), os.path.realpath(path)
    except (OSError, ValueError):
        return None
    if not _is_below(real, real_root):  # also by a link
        return None
    written = os.path.normpath(path)
    inside, top = (written, root) if _is_below(written, root) else (real, real_root)
    return os.path.relpath(inside, top).replace(os.sep, "/")


def _is_below(path: str, top: str) -> bool:
    return path.startswith(top.rstrip(os.sep) + os.sep)
