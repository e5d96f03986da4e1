"""What an editor asks of a project: names by words and by meaning, definitions, uses, outlines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsprotocol.types import (
    DocumentSymbol,
    Hover,
    Location,
    MarkupContent,
    MarkupKind,
    Position,
    Range,
    SymbolKind,
    WorkspaceSymbol,
)

from codefathom.engine import Engine
from codefathom.errors import SourceError, UsageError
from codefathom.facts.reasons import n_standing_elsewhere
from codefathom.lsp.shown_files import ShownFile, ShownFiles
from codefathom.question.extents import MOST_ITEMS
from codefathom.text.printable import show_text
from codefathom.types import Direction, EdgeKind, FoundSymbol, NamedPlace, RelatedResult, Symbol

MOST_SYMBOLS = 50
MOST_BY_MEANING = 20
_KINDS = {
    "function": SymbolKind.Function,
    "method": SymbolKind.Method,
    "class": SymbolKind.Class,
    "interface": SymbolKind.Interface,
    "struct": SymbolKind.Struct,
    "enum": SymbolKind.Enum,
    "trait": SymbolKind.Interface,
    "type": SymbolKind.Class,
    "module": SymbolKind.Module,
    "constant": SymbolKind.Constant,
    "macro": SymbolKind.Function,
    "component": SymbolKind.Class,
    "section": SymbolKind.String,
}
_CERTAINTY = {
    "by-compiler": "a compiler's index says so",
    "exact": "by scopes and imports",
    "by-name": "by the name alone, so it may be another one",
}


class NamedAt(NamedTuple):
    """A name that stands at a position, and what it means."""

    range: Range
    place: NamedPlace


class EditorAnswers:
    """The answers of one request. Each place is where the editor shows it, or is left out. Raises FathomError."""

    def __init__(self, engine: Engine, files: ShownFiles) -> None:
        self._engine = engine
        self._files = files
        self.remarks: list[str] = []  # on the answer, for the log of the editor
        engine.current.refresh()

    def symbols(self, query: str) -> list[WorkspaceSymbol]:
        """Return symbols with a name like the query; for words, and where no name is like it, those that they mean."""
        symbols = self._engine.symbols(query, limit=MOST_SYMBOLS) if query.strip() else ()
        if self._files.take_in_changes(item.path for item in symbols):
            symbols = self._engine.symbols(query, limit=MOST_SYMBOLS)
        items = [self._symbol(item) for item in symbols]
        if len(query.split()) > 1 or (query.strip() and not symbols):
            items += self._by_meaning(query)
        return [item for item in items if item is not None]

    def _symbol(self, item: FoundSymbol) -> WorkspaceSymbol | None:
        symbol = item.symbol
        location = self._files.located(item.path, symbol.name_line, symbol.name)
        within = symbol.qualified_name.removesuffix(symbol.name).rstrip(".> ")
        kind = kind_of(symbol)
        about = f"{within} in {item.path}" if within else item.path
        return (
            WorkspaceSymbol(location, show_text(symbol.name), kind, container_name=show_text(about))
            if location
            else None
        )

    def _by_meaning(self, query: str) -> Iterator[WorkspaceSymbol]:
        result = self._engine.search(query, level="symbol", limit=MOST_BY_MEANING)
        if self._files.take_in_changes(hit.chunk.path for hit in result.hits):
            result = self._engine.search(query, level="symbol", limit=MOST_BY_MEANING)
        for hit in () if result.unanswerable else result.hits:
            name = hit.name.rpartition(".")[2] or hit.chunk.path
            location = self._files.located(hit.chunk.path, hit.line or hit.chunk.start_line, name)
            kind = _KINDS.get(hit.kind, SymbolKind.File)
            container = show_text(hit.chunk.path)
            if location:
                yield WorkspaceSymbol(location, show_text(name), kind, container_name=container)

    def named_at(self, path: str, position: Position) -> NamedAt | None:
        """Return what the name at a position means; None where none stands, or nothing of the project is meant."""
        self._files.take_in_changes([path])
        file = self._files.file(path)
        if file is None:
            return None
        line = file.indexed_line(position.line + 1)
        for name, span in file.names_at(position):
            place = self._engine.name_at(path, line, name)
            if self._files.take_in_changes(item.path for item in place.definitions):
                place = self._engine.name_at(path, line, name)
            if place.definitions:
                return NamedAt(span, place)
        return None

    def definitions(self, place: NamedPlace) -> list[Location]:
        """Return where the definitions stand that a name can mean, the nearest first."""
        return _all(self._files.located(it.path, it.symbol.name_line, it.symbol.name) for it in place.definitions)

    def declarations(self, place: NamedPlace) -> list[Location]:
        """Return the definitions that a name can mean, and the overloads of the first one in its file."""
        first = place.definitions[0]
        overloads = [
            self._files.located(item.path, item.symbol.name_line, item.symbol.name)
            for item in self.symbols_of(first.path)
            if item.symbol.qualified_name == first.symbol.qualified_name
        ]
        return _all([*self.definitions(place), *overloads])

    def uses(self, place: NamedPlace) -> list[Location]:
        """Return every use of the first definition that is known, what is certain first."""
        target = target_of(place.definitions[0])
        result = self.edges(target, "callers")
        if n_files := n_standing_elsewhere(result.notes):
            files = "1 more file, which is" if n_files == 1 else f"{n_files:,} more files, which are"
            self.remarks.append(f"{target}: the name also stands in {files} not listed")
        surest_first = sorted(result.edges, key=lambda edge: edge.certainty == "by-name")
        first = place.definitions[0]
        others = [at for edge in surest_first for at in self._files.of_use(edge, first.symbol.name)]
        return _all([*self._files.in_itself(first.path, first.symbol), *others])

    def edges(self, target: str, direction: Direction, *kinds: EdgeKind) -> RelatedResult:
        """Return all connections of a symbol in one direction; none of one that is not there any more."""
        result = self.indexed_edges(target, direction, *kinds)
        if self._files.take_in_changes(edge.path for edge in result.edges):
            result = self.indexed_edges(target, direction, *kinds)
        return result

    def indexed_edges(self, target: str, direction: Direction, *kinds: EdgeKind) -> RelatedResult:
        """Return the same as the index has them. Their files are not compared with it, as places in them would need."""
        try:
            return self._engine.related(target, direction=direction, kind=kinds, limit=MOST_ITEMS)
        except (UsageError, SourceError):
            return RelatedResult(target, (), ())

    def hover(self, named: NamedAt) -> Hover:
        """Return the first definition in words, how sure that is, and how often it is used."""
        place, item = named.place, named.place.definitions[0]
        lines = [item.symbol.signature or item.symbol.qualified_name]
        lines += ["", item.symbol.doc] if item.symbol.doc else []
        lines += ["", f"{item.path}:{item.symbol.name_line}, {certainty(place)}"]
        more = "" if place.n_uses_is_exact else "at least "
        lines += [f"uses known to Codefathom: {more}{place.n_uses}"]
        return Hover(MarkupContent(MarkupKind.PlainText, show_text("\n".join(lines))), named.range)

    def symbols_of(self, path: str) -> Sequence[FoundSymbol]:
        """Return the symbols of a file in line order, outer before inner; none of one that is not shown."""
        self._files.take_in_changes([path])
        return self._files.symbols(path) if self._files.file(path) else ()

    def outline(self, path: str) -> list[DocumentSymbol]:
        """Return the symbols of a file as a tree, those inside others below them."""
        symbols, file = self.symbols_of(path), self._files.file(path)
        top: list[DocumentSymbol] = []
        around: list[tuple[int, list[DocumentSymbol]]] = []  # the last line of each symbol that is open, what is in it
        for item in symbols:
            symbol = item.symbol
            while around and around[-1][0] < symbol.end_line:
                around.pop()
            if (node := _node(file, item)) is None:
                continue
            (around[-1][1] if around else top).append(node)
            inside: list[DocumentSymbol] = []
            node.children = inside
            around.append((symbol.end_line, inside))
        return top


def certainty(place: NamedPlace) -> str:
    """Return in words how sure it is what a name means."""
    others = f"; {place.n_definitions} definitions can be meant" if place.n_definitions > 1 else ""
    return "this is the definition" if place.is_definition else f"known {_CERTAINTY[place.certainty]}{others}"


def kind_of(symbol: Symbol) -> SymbolKind:
    """Return what a symbol is, as editors name it."""
    return _KINDS.get(symbol.kind, SymbolKind.Variable)


def target_of(item: FoundSymbol) -> str:
    """Return a symbol as a question for connections names it."""
    return f"{item.path} @@{item.symbol.qualified_name}"


def _all(locations: Iterable[Location | None]) -> list[Location]:
    # Two uses in one line are one place for an editor.
    return list({(at.uri, str(at.range)): at for at in locations if at is not None}.values())


def _node(file: ShownFile | None, item: FoundSymbol) -> DocumentSymbol | None:
    symbol = item.symbol
    place = file and file.place(symbol.name_line, symbol.name)
    span = file and file.span(symbol.start_line, symbol.end_line)
    if not place or not span:
        return None
    kind = kind_of(symbol)
    return DocumentSymbol(show_text(symbol.name), kind, span, place.range)
