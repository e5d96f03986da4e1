"""What a caller can choose: levels, modes, kinds of symbols and edges. Pure."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Level: TypeAlias = Literal["file", "symbol", "chunk"]
Branches: TypeAlias = Literal["default", "all"] | None  # of repositories of a fleet; None: it has one of each
# How a caller names a level: "function" is the level "symbol", kept to FUNCTION_KINDS.
LevelName: TypeAlias = Literal["file", "symbol", "function", "chunk"]
# Whether the hits of a page are by rank, or gathered by repository and file.
Grouping: TypeAlias = Literal["none", "repository"]
# How a search ranks; "auto" leaves the choice to the planner.
Mode: TypeAlias = Literal["auto", "hybrid", "vector", "lexical", "symbol", "regex", "graph"]
# How the definition of a use is known: a compiler has written the edge, by scope and imports, or by its name alone.
Certainty: TypeAlias = Literal["by-compiler", "exact", "by-name"]
Route: TypeAlias = Literal["regex", "symbol", "semantic", "graph", "answer"]
LEVELS: tuple[LevelName, ...] = ("file", "symbol", "function", "chunk")
GROUPINGS: tuple[Grouping, ...] = ("none", "repository")
MODES: tuple[Mode, ...] = ("auto", "hybrid", "vector", "lexical", "symbol", "regex", "graph")
# Which connections of a file or symbol are listed.
Direction: TypeAlias = Literal["both", "callers", "callees"]
EdgeKind: TypeAlias = Literal["calls", "imports", "references", "tests"]
DIRECTIONS: tuple[Direction, ...] = ("both", "callers", "callees")
EDGE_KINDS: tuple[EdgeKind, ...] = ("calls", "imports", "references", "tests")
# A C-contiguous buffer of float32, shape (n, dimensions), unit rows: a memoryview, so that a search needs no numpy.
Matrix: TypeAlias = memoryview
SymbolKind: TypeAlias = Literal[
    "function",  # code that is called by its name, outside a class
    "method",  # the same inside a class, or with an owner such as a receiver in Go
    "class",  # also a record or an object that a language calls a class
    "interface",  # also a protocol
    "struct",  # also a union
    "enum",
    "trait",
    "type",  # another name for a type, or a type that is none of the kinds above
    "module",  # a module, namespace or package inside a file
    "constant",  # a value of the top level or of a class that does not change
    "variable",  # any other value of the top level or of a class; also a field
    "macro",
    "component",  # a component of a user interface, such as one of React or Vue
    "section",  # a heading of a text with all below it
]
SYMBOL_KINDS: tuple[SymbolKind, ...] = get_args(SymbolKind)
KIND_ALIASES: dict[str, SymbolKind] = {  # words that users and models write for them
    "func": "function",
    "fn": "function",
    "def": "function",
    "procedure": "function",
    "subroutine": "function",
    "constructor": "method",
    "cls": "class",
    "record": "struct",
    "iface": "interface",
    "protocol": "interface",
    "const": "constant",
    "var": "variable",
    "field": "variable",
    "property": "variable",
    "mod": "module",
    "namespace": "module",
    "package": "module",
}
TYPE_KINDS: frozenset[SymbolKind] = frozenset({"class", "interface", "struct", "enum", "trait", "type"})
VALUE_KINDS: frozenset[SymbolKind] = frozenset({"constant", "variable"})
FUNCTION_KINDS: tuple[SymbolKind, ...] = ("function", "method")
CALLABLE_KINDS: frozenset[SymbolKind] = frozenset({*FUNCTION_KINDS, "macro"})
SECTION_SEPARATOR = " > "  # between the names of nested sections: a heading may contain dots
USUAL_ENCODING = "windows-1252"  # of files that are not UTF-8, where nothing speaks for another one
