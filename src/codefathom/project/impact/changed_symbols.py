"""Two versions of a document → the symbols that differ. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from codefathom.search.graph.impact import Change, ChangedSymbol
from codefathom.types import ParsedDocument, Symbol

# Lines outside of symbols that change nothing by themselves: of imports, and what is left of them.
_IMPORT = re.compile(r"\s*(?:from|import|use|using|require|package|namespace|#\s*include)\b|\W*$")


def changed_symbols(before: ParsedDocument | None, after: ParsedDocument | None) -> list[ChangedSymbol]:
    """Return the symbols that were added, removed or changed, in the order of lines.

    A symbol has changed when a line of it has that is in no symbol inside of it. A change outside of all symbols is one
    of the document, whose symbol is "".
    """
    old, new = _parts_of(before), _parts_of(after)
    path = after.document.path if after is not None else before.document.path if before is not None else ""
    changes = list(_changes(path, old, new))
    return sorted(changes, key=lambda item: (item.line, item.symbol))


class _Part:
    """A symbol, and the lines that are its own."""

    def __init__(self, kind: str, line: int) -> None:
        self.kind, self.line = kind, line
        self.lines: list[str] = []


def _parts_of(parsed: ParsedDocument | None) -> Mapping[str, _Part]:
    """Return the parts by qualified name; those that share one are joined."""
    if parsed is None:
        return {}
    lines = parsed.document.text.split("\n")
    imports = {item.line for item in parsed.references if item.kind == "import"}
    owners = _owners(parsed.symbols, len(lines))
    parts = {"": _Part("file", 1)}
    for symbol in parsed.symbols:
        parts.setdefault(symbol.qualified_name, _Part(symbol.kind, symbol.name_line))
    for number, (line, owner) in enumerate(zip(lines, owners, strict=True), start=1):
        is_import = not owner and (number in imports or _IMPORT.match(line) is not None)
        if line.strip() and not is_import:
            parts[owner].lines.append(line.rstrip())
    return parts


def _owners(symbols: Sequence[Symbol], n_lines: int) -> list[str]:
    """Return the name of the innermost symbol of each line."""
    owners = [""] * n_lines
    for symbol in symbols:  # outer before inner
        start, end = symbol.start_line - 1, min(symbol.end_line, n_lines)
        owners[start:end] = [symbol.qualified_name] * max(end - start, 0)
    return owners


def _changes(path: str, old: Mapping[str, _Part], new: Mapping[str, _Part]) -> Iterator[ChangedSymbol]:
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before is not None and after is not None:
            if before.lines != after.lines:
                yield _changed(path, name, "changed", after)
        elif after is not None and (name or after.lines):
            yield _changed(path, name, "added", after)
        elif before is not None and (name or before.lines):
            yield _changed(path, name, "removed", before)


def _changed(path: str, name: str, change: Change, part: _Part) -> ChangedSymbol:
    return ChangedSymbol(path, name, part.kind, change, part.line)


def changed_lines(before: str, after: str) -> list[str]:
    """Return the lines that are on one side only, in no order that tells anything."""
    old, new = Counter(before.split("\n")), Counter(after.split("\n"))
    return [*(old - new).elements(), *(new - old).elements()]
