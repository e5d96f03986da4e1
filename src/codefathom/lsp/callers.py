"""Who calls what, for an editor: the hierarchy of calls, and a line above each symbol that counts its callers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lsprotocol.types import (
    CallHierarchyIncomingCall,
    CallHierarchyItem,
    CallHierarchyOutgoingCall,
    CodeLens,
    Command,
    Position,
    Range,
    SymbolKind,
)

from codefathom.facts.paths import has_tests
from codefathom.lsp.editor_answers import EditorAnswers, NamedAt, kind_of, target_of
from codefathom.lsp.shown_files import ShownFiles
from codefathom.text.printable import show_text
from codefathom.types import CALLABLE_KINDS, TYPE_KINDS, FoundSymbol, Related

_WITH_LENS = CALLABLE_KINDS | TYPE_KINDS
_TOP = Range(Position(0, 0), Position(0, 0))


class Callers:
    """The calls around symbols. What an item or a lens stands for is kept in its `data`, which comes back."""

    def __init__(self, answers: EditorAnswers, files: ShownFiles) -> None:
        self._answers, self._files = answers, files

    def items(self, named: NamedAt) -> list[CallHierarchyItem]:
        """Return what a name can mean as items, the nearest first."""
        return [item for definition in named.place.definitions if (item := self._item(definition)) is not None]

    def incoming(self, data: Any) -> list[CallHierarchyIncomingCall]:
        """Return the callers of an item with their calls: of each symbol that calls it, else of the file."""
        calls: dict[tuple[str, str], list[Related]] = defaultdict(list)
        for edge in self._answers.edges(_target(data), "callers", "calls").edges:
            if edge.kind == "called by":
                calls[edge.path, edge.symbol].append(edge)
        incoming = []
        for (path, symbol), edges in calls.items():
            item = self._around(path, symbol)
            ranges = {
                str(at.range): at.range for edge in edges for at in self._files.of_use(edge, edge.name, calls_only=True)
            }
            if item is not None and ranges:
                incoming.append(CallHierarchyIncomingCall(item, list(ranges.values())))
        return incoming

    def outgoing(self, data: Any) -> list[CallHierarchyOutgoingCall]:
        """Return what an item calls, and where it does; the nearest definition of each name."""
        target = _target(data)
        path, _, caller = target.partition(" @@")
        called: dict[tuple[str, str], list[Range]] = defaultdict(list)
        for edge in self._answers.edges(target, "callees", "calls").edges:
            called[edge.path, edge.symbol] += self._files.inside(path, caller, edge.name)
        items = ((self._around(*place), ranges) for place, ranges in called.items())
        return [CallHierarchyOutgoingCall(item, ranges) for item, ranges in items if item is not None and ranges]

    def lenses(self, path: str) -> list[CodeLens]:
        """Return a lens for each function and type of a file. Its words are asked for when it is shown."""
        symbols = self._answers.symbols_of(path)
        return [lens for item in symbols if item.symbol.kind in _WITH_LENS and (lens := self._lens(item)) is not None]

    def _lens(self, item: FoundSymbol) -> CodeLens | None:
        place = self._files.located(item.path, item.symbol.name_line, item.symbol.name)
        data = [target_of(item), item.symbol.kind in CALLABLE_KINDS]
        return None if place is None else CodeLens(place.range, data=data)

    def resolved(self, lens: CodeLens) -> CodeLens:
        """Return a lens with its words."""
        data = lens.data if isinstance(lens.data, list) and len(lens.data) == 2 else ["", False]
        users = self._answers.indexed_edges(_target(data[0]), "callers").edges
        edges = [edge for edge in users if edge.kind != "imported by"]
        calls = [edge for edge in edges if edge.kind == "called by"]
        words = counted(calls, "caller") if data[1] is True else counted(edges, "user")
        return CodeLens(lens.range, Command(words, ""), lens.data)

    def _around(self, path: str, name: str) -> CallHierarchyItem | None:
        """Return the item of a symbol of a file; without a name that of the file."""
        if name:
            own = (item for item in self._answers.symbols_of(path) if item.symbol.qualified_name == name)
            return next((item for definition in own if (item := self._item(definition)) is not None), None)
        file = self._files.file(path)
        words = (show_text(path), SymbolKind.File)
        return None if file is None else CallHierarchyItem(*words, file.uri, _TOP, _TOP, detail="its top level")

    def _item(self, definition: FoundSymbol) -> CallHierarchyItem | None:
        symbol, file = definition.symbol, self._files.file(definition.path)
        place = file and file.place(symbol.name_line, symbol.name)
        span = file and file.span(min(symbol.start_line, symbol.name_line), symbol.end_line)
        if not place or not span:
            return None
        words = (show_text(symbol.name), kind_of(symbol), place.uri)
        return CallHierarchyItem(
            *words, span, place.range, detail=show_text(definition.path), data=target_of(definition)
        )


def _target(data: Any) -> str:
    """Return the symbol of an item as questions name it: of one that we did not send, a name that nothing has."""
    return data if isinstance(data, str) and " @@" in data else " @@"


def counted(edges: Iterable[Related], word: str) -> str:
    """Return in words how many symbols are at the near ends of edges, those in tests apart; and how many by name."""
    sure: dict[tuple[str, str], bool] = {}
    for edge in edges:
        place = edge.path, edge.symbol
        sure[place] = sure.get(place, False) or edge.certainty != "by-name"
    tests = [is_sure for (path, _), is_sure in sure.items() if has_tests(path)]
    others = [is_sure for (path, _), is_sure in sure.items() if not has_tests(path)]
    return ", ".join((*_words(others, word), *(_words(tests, "test") if tests else ())))


def _words(sure: Sequence[bool], word: str) -> Iterator[str]:
    n, n_by_name = len(sure), sure.count(False)
    by_name = " by name" if n == n_by_name else f" ({n_by_name} by name)" if n_by_name else ""
    yield f"{n:,} {word}{'' if n == 1 else 's'}{by_name}" if n else f"no {word}s known"
